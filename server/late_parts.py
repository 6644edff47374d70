"""Parts that are seldom asked for, loaded and made when they are: a client waits for all that a start imports."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from historian.database import Database
from historian.returned import ReturnedTexts
from historian.standstill import Standstill
from historian.unwiped import is_due
from server.finding_parts import FindingParts
from server.ground import Ground
from server.profile_parts import ProfileParts

if TYPE_CHECKING:
    from historian.doctor import Doctor
    from historian.parts import LeavingParts


def late_leaving(
    ground: Ground, finding: FindingParts, profiles: ProfileParts, returned: ReturnedTexts, standstill: Standstill
) -> Callable[[], LeavingParts]:
    """Return what makes the parts for those who bring their history or leave."""

    @cache
    def make() -> LeavingParts:
        from server.leaving_parts import Sources, Traces, make_leaving

        stores = ground.stores
        return make_leaving(
            ground.settings.data_dir,
            Sources(stores.database, stores.record, stores.events, stores.memos, profiles, ground.queue),
            Traces(finding.engine, finding.indexer, finding.rankings, returned),
            standstill,
            ground.clock,
        )

    return make


def finish_forgetting(database: Database, leaving: Callable[[], LeavingParts]) -> None:
    """Wipe what an interrupted forgetting left on the disk, if it did. Raises StoreError."""
    with database.read() as connection:
        due = is_due(connection)
    if due:
        leaving().forgetter.finish()


def late_doctor(ground: Ground, finding: FindingParts, profiles: ProfileParts) -> Callable[[], Doctor]:
    """Return what makes a doctor for the folder; all of them examine it one after the other."""
    busy = threading.Lock()

    def make() -> Doctor:
        from server.checkup import Patient, make_doctor

        patient = Patient(ground.stores.database, finding.engine, finding.indexer, profiles.biographer, ground.queue)
        return make_doctor(ground.settings, patient, ground.clock, busy)

    return make
