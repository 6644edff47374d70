"""Puts together what keeps the profiles: a part of the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from historian.biographer import Biographer
from historian.chat import Chat
from historian.clock import Clock
from historian.database import Database
from historian.live import LiveOptions
from historian.merge_model import MergeModel
from historian.merge_reviews import MergeReviews
from historian.merge_waiting import MergeWaiting
from historian.profile_drops import ProfileDrops
from historian.profile_index import ProfileIndex
from historian.profile_merging import ProfileMerger
from historian.profile_versions import ProfileVersions
from historian.profiles import ProfileStore
from historian.retries import RetryPolicy
from historian.reviewing import ReviewDesk
from prompts import PromptLibrary

MERGE_RETRY_SECONDS = 2.0
"""The first wait of a merge after the model failed; each further one is twice as long."""


@dataclass(frozen=True, slots=True)
class ProfileParts:
    """What keeps the profiles of one data folder."""

    store: ProfileStore
    index: ProfileIndex
    biographer: Biographer
    waiting: MergeWaiting
    merger: ProfileMerger
    versions: ProfileVersions
    desk: ReviewDesk


def make_profiles(
    folder: Path,
    database: Database,
    live: LiveOptions,
    clock: Clock,
    *,
    chat: Chat,
    prompts: PromptLibrary,
    discard: Callable[[list[int]], None],
    changed: Callable[[], None],
) -> ProfileParts:
    """Return the keepers of the profiles in a data folder; `discard` is told the search rows that are gone, and
    `changed` is called when a person changed a profile.
    """
    options = live.now
    store = ProfileStore(folder, clock=clock, revision_keep=options.profile.revision_keep)
    index = ProfileIndex(database)
    biographer = Biographer(store, index, options.profile.max_lines, discard)
    waiting, reviews, drops = (
        MergeWaiting(database, clock),
        MergeReviews(database, clock),
        ProfileDrops(database, clock),
    )
    merger = ProfileMerger(
        biographer=biographer,
        waiting=waiting,
        reviews=reviews,
        drops=drops,
        model=MergeModel(chat, prompts, lambda: live.historian.rewrite_max_retry),
        retries=RetryPolicy(options.queue.job_max_retries, MERGE_RETRY_SECONDS, None),
        clock=clock,
    )
    return ProfileParts(
        store=store,
        index=index,
        biographer=biographer,
        waiting=waiting,
        merger=merger,
        versions=ProfileVersions(biographer, store, drops, changed),
        desk=ReviewDesk(biographer, waiting, reviews, drops, changed),
    )
