"""What the command line asks about profiles, answered by the owner: any profile, since the person holds the folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from historian.errors import InvalidInputError, NotFoundError
from historian.ids import normalise_id
from historian.merge_reviews import Review
from historian.model import Owner
from historian.profile import Profile
from server.profile_parts import ProfileParts
from server.profile_prose import history_prose, rollback_prose

Request = Mapping[str, Any]
NO_PROFILE = "There is no profile of {}; `shiguan profile list` names those that there are."


class ProfileRequests:
    """Answers `shiguan profile`. Thread-safe."""

    def __init__(self, parts: ProfileParts) -> None:
        self._parts = parts
        self._actions: dict[str, Callable[[Request], dict[str, Any]]] = {
            "list": self._list,
            "show": self._show,
            "history": self._history,
            "diff": self._diff,
            "rollback": self._rollback,
            "review list": self._reviews,
            "review show": self._review,
            "review accept": self._accept,
            "review reject": self._reject,
        }

    def answer(self, request: Request) -> dict[str, Any]:
        """Return the answer to one request.

        Raises:
            InvalidInputError: there is no such action, or its arguments are wrong.
            ShiguanError: as the action.
        """
        action = self._actions.get(str(request.get("action")))
        if action is None:
            raise InvalidInputError("The owner does not know this action; use the same version on both sides.")
        return action(request)

    def _list(self, _: Request) -> dict[str, Any]:
        held = [review.entity for review in self._parts.desk.held()]
        return {
            "profiles": [
                {
                    "entity": entity.key,
                    "revisions": len(self._parts.store.history(entity)),
                    "held": held.count(entity),
                }
                for entity in dict.fromkeys((*self._parts.store.list(), *held))
            ]
        }

    def _show(self, request: Request) -> dict[str, Any]:
        entity = _entity(request)
        profile = self._parts.versions.show(entity, str(request.get("revision") or ""))
        if profile is None:
            raise NotFoundError(NO_PROFILE.format(entity.key))
        return _shown(profile)

    def _history(self, request: Request) -> dict[str, Any]:
        found = self._parts.versions.history(_entity(request))
        return {
            "entity": found.entity.key,
            "revisions": [
                {
                    "revision": one.revision,
                    "kept_at": one.kept_at.isoformat(timespec="seconds"),
                    "readable": one.readable,
                    "lines": one.lines,
                    "diff": [*one.diff],
                }
                for one in found.versions
            ],
            "left_out": [
                {"line": one.line, "reason": one.reason, "at": one.at.isoformat(timespec="seconds")}
                for one in found.drops
            ],
            "prose": history_prose(found),
        }

    def _diff(self, request: Request) -> dict[str, Any]:
        entity = _entity(request)
        return {"diff": [*self._parts.versions.diff(entity, str(request.get("revision") or ""))]}

    def _rollback(self, request: Request) -> dict[str, Any]:
        done = self._parts.versions.rollback(_entity(request), str(request.get("revision") or ""))
        return {"revision": done.revision, "diff": [*done.diff], "undo": done.undo, "prose": rollback_prose(done)}

    def _reviews(self, _: Request) -> dict[str, Any]:
        return {"reviews": [_summary(review) for review in self._parts.desk.held()]}

    def _review(self, request: Request) -> dict[str, Any]:
        review, statements = self._parts.desk.show(_number(request))
        said = [{"event_id": one.event_id, "text": one.text} for one in statements]
        proposal = self._parts.desk.proposal(review)
        return {**_summary(review), "statements": said, "proposed": proposal.text, "diff": [*proposal.diff]}

    def _accept(self, request: Request) -> dict[str, Any]:
        review = self._parts.desk.accept(_number(request))
        return _summary(review)

    def _reject(self, request: Request) -> dict[str, Any]:
        return _summary(self._parts.desk.reject(_number(request), str(request.get("reason") or "")))


def _entity(request: Request) -> Owner:
    kind, colon, identifier = str(request.get("entity", "")).partition(":")
    if not colon:
        raise InvalidInputError(f"Name a profile as user:ID or group:ID; did you mean user:{kind}?")
    if kind not in ("user", "group"):
        raise InvalidInputError("Name a profile as user:ID or group:ID.")
    return Owner("group" if kind == "group" else "user", normalise_id(identifier, "id of a profile"))


def _number(request: Request) -> int:
    number = str(request.get("review", ""))
    if not (number.isascii() and number.isdigit() and len(number) < 18):
        raise InvalidInputError("Name the held merge by its number; `shiguan profile review list` shows them.")
    return int(number)


def _shown(profile: Profile) -> dict[str, Any]:
    return {
        "entity": profile.entity.key,
        "name": profile.name,
        "tags": [*profile.tags],
        "text": profile.render(),
        "provenance": [
            {"line": line.text, "events": [*line.events], "shown_in": line.shown_in, "confirmed": line.confirmed}
            for line in profile.lines
        ],
    }


def _summary(review: Review) -> dict[str, Any]:
    return {
        "review": review.id,
        "entity": review.entity.key,
        "made_at": review.made_at.isoformat(timespec="seconds"),
        "reasons": [*review.reasons],
    }
