"""Reading profiles within a scope: whose profile may be seen, and which of its lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from historian.biographer import Biographer
from historian.clock import Clock
from historian.errors import InvalidInputError, NotFoundError
from historian.model import EntityType, Owner, Reach, Scope
from historian.options import QueryOptions
from historian.profile import PRIVATE, Profile
from historian.profile_index import IndexedLine, ProfileIndex
from historian.ranking import Candidate, Ranked, fused, rank
from historian.retrieval import Patience, Retrieval
from historian.views import FoundProfile, FoundProfiles, ProfileView, VisibleLine

EXACT = 6
"""Digits of a score; further ones differ with the size of a matrix and the second of the question."""
LINES = 200
"""Nearest profile lines looked at before they are gathered by profile."""


class ProfileReader:
    """Reads and searches profiles. Thread-safe."""

    def __init__(
        self,
        biographer: Biographer,
        index: ProfileIndex,
        retrieval: Retrieval,
        options: Callable[[], QueryOptions],
        clock: Clock,
    ) -> None:
        self._biographer = biographer
        self._index = index
        self._retrieval = retrieval
        self._options = options
        self._clock = clock

    def read(self, scope: Scope, entity_type: EntityType, entity_id: str | None) -> ProfileView:
        """Return the lines that this request may see.

        Raises:
            InvalidInputError: a group is meant, but none is named and the request is in none.
            NotFoundError: nothing of that profile is in scope, whether or not it exists.
        """
        entity = named_entity(scope, entity_type, entity_id)
        if entity.kind == "group" and entity.id not in scope.readable_groups:
            raise no_profile(entity)
        profile, warning = self._biographer.read(entity)
        is_own = entity == Owner("user", scope.user_id)
        visible = profile.visible(places(scope, profile, is_own=is_own)) if profile else None
        is_foreign = entity.kind == "user" and not is_own
        if is_foreign and (visible is None or not visible.lines):
            raise no_profile(entity)
        return _view(entity, visible, () if is_foreign or warning is None else (warning,))

    def search(
        self, scope: Scope, query: str, entity_type: EntityType | None, entity_id: str | None, top_k: int
    ) -> FoundProfiles:
        """Return the profiles whose visible lines fit the query, best first, each with its best line."""
        reach = profile_reach(scope)
        hits = self._retrieval.find("profiles", query, reach, limit=LINES, since=None, until=None)
        lines = {
            row: line
            for row, line in self._index.lines(reach, hits.scores).items()
            if entity_type in (None, line.entity_type) and entity_id in (None, line.entity_id)
        }
        by_entity: defaultdict[Owner, list[Candidate]] = defaultdict(list)
        for row, line in lines.items():
            by_entity[Owner(line.entity_type, line.entity_id)].append(_candidate(line, *hits.scores[row]))
        best = [(entity, top) for entity, candidates in by_entity.items() for top in self._best(candidates)]
        best.sort(key=lambda pair: (-round(pair[1].score, EXACT), pair[0].key))
        found = [
            FoundProfile(entity.kind, entity.id, self._name(scope, entity), lines[int(top.id)].text, top.score)
            for entity, top in best[:top_k]
        ]
        return FoundProfiles(tuple(found), hits.degraded)

    def fitting_lines(
        self, scope: Scope, entity_type: EntityType, entity_id: str, query: str, patience: Patience
    ) -> Mapping[str, float]:
        """Return the visible lines of one profile that fit the query, by their text, with how well they do."""
        reach = profile_reach(scope)
        hits = self._retrieval.find(
            "profiles", query, reach, limit=LINES, since=None, until=None, patience=patience.left
        )
        floor = self._options().time_decay_min_similarity
        return {
            line.text: fused(*hits.scores[row])
            for row, line in self._index.lines(reach, hits.scores).items()
            if (line.entity_type, line.entity_id) == (entity_type, entity_id)
            and (hits.scores[row][1] or (hits.scores[row][0] or 0.0) >= floor)
        }

    def _best(self, candidates: list[Candidate]) -> list[Ranked]:
        """Return the best line of one profile: two people who share a fact are two answers, not one."""
        options = self._options()
        return rank(
            candidates,
            now=self._clock.now().timestamp(),
            top_k=1,
            floor=options.time_decay_min_similarity,
            half_life_days=options.time_decay_half_life_days_tool,
            boost=options.time_decay_boost,
            decay_enabled=options.time_decay_enabled,
        )

    def _name(self, scope: Scope, entity: Owner) -> str | None:
        try:
            return self.read(scope, entity.kind, entity.id).name
        except NotFoundError:
            return None


def places(scope: Scope, profile: Profile, *, is_own: bool) -> frozenset[str]:
    """Return the places whose lines this request may see.

    Of others what was said in the groups of the request. Of oneself also what was said in private, and in a private
    request wherever it was said.
    """
    groups = frozenset(Owner("group", group).key for group in scope.readable_groups)
    if not is_own:
        return groups
    elsewhere = frozenset(line.shown_in for line in profile.lines) if scope.group_id is None else frozenset[str]()
    return frozenset({PRIVATE}) | groups | elsewhere


def profile_reach(scope: Scope) -> Reach:
    """Return the audiences of all profile lines that this request may see; in a group too one's own private ones."""
    return scope.whole_reach | {Owner("user", scope.user_id).key}


def entities_of(scope: Scope) -> list[Owner]:
    """Return the profiles that this request may change: the own one and those of its groups; in a group, only that."""
    groups = [Owner("group", group) for group in sorted(scope.readable_groups)]
    return groups if scope.group_id is not None else [Owner("user", scope.user_id), *groups]


def named_entity(scope: Scope, entity_type: EntityType, entity_id: str | None) -> Owner:
    """Return whose profile is meant: the asker's or the group's own where no id is given. Raises InvalidInputError."""
    if entity_id is not None:
        return Owner(entity_type, entity_id)
    if entity_type == "user":
        return Owner("user", scope.user_id)
    groups = sorted(scope.readable_groups)
    if len(groups) != 1:
        raise InvalidInputError("This request is in no single group; name the group in entity_id.")
    return Owner("group", groups[0])


def no_profile(entity: Owner) -> NotFoundError:
    """Return what is said of a profile that is not there or not in scope."""
    return NotFoundError(
        f"There is no profile of {entity.kind} {entity.id!r} in this scope; name it by its id, not by a name."
    )


def _view(entity: Owner, profile: Profile | None, warnings: tuple[str, ...]) -> ProfileView:
    if profile is None:
        return ProfileView(entity.kind, entity.id, None, (), None, "", (), warnings)
    return ProfileView(
        entity_type=entity.kind,
        entity_id=entity.id,
        name=profile.name,
        tags=profile.tags,
        updated_at=profile.updated_at,
        text=profile.render() if profile.parts else "",
        lines=tuple(VisibleLine(line.text, line.events, line.shown_in, line.confirmed) for line in profile.lines),
        warnings=warnings,
    )


def _candidate(line: IndexedLine, similarity: float | None, lexical: float | None) -> Candidate:
    return Candidate(
        id=str(line.row), similarity=similarity, lexical=lexical, epoch=line.at.timestamp(), text=line.text
    )
