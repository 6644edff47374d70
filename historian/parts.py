"""What a scoped memory works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from historian.capturing import CaptureDesk
from historian.closing import TurnCloser
from historian.context import ContextReader
from historian.desk import Desk
from historian.evidence_reading import EvidenceReader
from historian.failures import FailureKeeper
from historian.group_memory import GroupParts
from historian.indexer import Indexer
from historian.looking import Looking
from historian.pinned import NoteKeeper
from historian.profile_reading import ProfileReader
from historian.profile_versions import ProfileVersions
from historian.recall_parts import RecallParts
from historian.record import Record
from historian.reviewing import ReviewDesk
from historian.searching import EventSearch
from historian.status import StatusReader

if TYPE_CHECKING:  # loaded when somebody comes or leaves: a client waits for all that a start imports
    from historian.exporting import Exporter
    from historian.forgetting import Forgetter
    from historian.taking_in import Intaker


@dataclass(frozen=True, slots=True)
class LeavingParts:
    """What people need who bring their history, take it away, or leave."""

    exporter: Exporter
    intaker: Intaker
    forgetter: Forgetter


@dataclass(frozen=True, slots=True)
class Parts:
    """What a scoped memory works with; made once by the composition root."""

    record: Record
    closer: TurnCloser
    desk: Desk
    search: EventSearch
    profiles: ProfileReader
    versions: ProfileVersions
    reviews: ReviewDesk
    status: StatusReader
    failures: FailureKeeper
    evidence: EvidenceReader
    indexer: Indexer
    leaving: Callable[[], LeavingParts]
    captures: CaptureDesk
    looking: Looking
    context: ContextReader
    pinned: NoteKeeper
    recalling: RecallParts
    groups: GroupParts
