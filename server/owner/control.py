"""What the command line asks of the owner: one JSON object a line each way, so that nothing else opens the folder."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from historian.errors import InvalidInputError, NotFoundError, ShiguanError
from historian.session import Session
from historian.work import scope_from
from server.household import Household
from server.owner.groups import GroupRequests
from server.owner.lines import MAX_LINE_BYTES
from server.owner.looking_after import LookingAfter
from server.owner.overview import Overview
from server.owner.preamble import encode
from server.owner.profiles import ProfileRequests
from server.owner.remembering import RememberRequests
from server.owner.turns import TurnRequests
from server.recall_prose import view_prose
from server.tools.evidence_results import messages_answer
from server.tools.recall_results import view_answer

Operation = Callable[[Mapping[str, Any]], dict[str, Any]]
Link = Callable[[], Awaitable[str]]
"""Makes an address that opens the pages once, for whoever asks over a connection."""
NO_EVENT_HERE = "There is no event with this id in this scope; `shiguan export` and `shiguan profile show` tell ids."
"""What a person is told, who has not the tools of a model."""


class Control:
    """Answers operations in worker threads."""

    def __init__(self, household: Household, stop: Callable[[], None], url: str | None = None) -> None:
        self._household = household
        overview = Overview(household, url)
        self._stop = stop
        self._operations: dict[str, Operation] = {
            "status": overview.status,
            "append": self._append,
            "queue": overview.queue,
            "reindex": self._reindex,
            "search": self._search,
            "verify": self._verify,
            "doctor": self._examine,
            "backup": self._backup,
            "export": self._export,
            "take_in": self._take_in,
            "forget": self._forget,
            "profile": ProfileRequests(household.profiles).answer,
            "context": TurnRequests(household).context,
            "migrate": TurnRequests(household).migrate,
            "rewrite": LookingAfter(household).rewrite,
            "audit": LookingAfter(household).audit,
            "remember": RememberRequests(household).answer,
            "group": GroupRequests(household).answer,
            "settings": lambda _: {"file": household.watch.former()},
        }

    async def serve(self, lines: BufferedByteReceiveStream, stream: SocketStream, link: Link) -> None:
        """Answer until the client hangs up."""
        while True:
            try:
                request: Any = json.loads(await lines.receive_until(b"\n", MAX_LINE_BYTES))
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound, ValueError):
                return
            if not isinstance(request, dict):
                return
            if request.get("op") == "stop":
                await stream.send(encode({"ok": True, "result": {"pid": os.getpid()}}))
                self._stop()
                return
            if request.get("op") == "ui":
                await stream.send(encode(await _linked(link)))
                continue
            await stream.send(encode(await anyio.to_thread.run_sync(partial(self._do, request))))

    def _do(self, request: Mapping[str, Any]) -> dict[str, Any]:
        operation = self._operations.get(str(request.get("op")))
        try:
            if operation is None:
                raise InvalidInputError("The owner does not know this operation; use the same version on both sides.")
            return {"ok": True, "result": operation(request)}
        except ShiguanError as error:
            return {"ok": False, "error": str(error)}
        except (KeyError, TypeError, AttributeError):
            return {"ok": False, "error": "The owner cannot read this request; use the same version on both sides."}

    def _append(self, request: Mapping[str, Any]) -> dict[str, Any]:
        memory = self._household.memory.of(scope_from(request["scope"]), Session(timezone=str(request["timezone"])))
        result = memory.append(request["messages"], again=bool(request.get("again")))
        failed = [[index, reason] for index, reason in result.failed]
        return {
            "inserted": result.inserted,
            "ignored": result.ignored - result.forgotten,
            "forgotten": result.forgotten,
            "failed": failed,
            "warnings": [*result.warnings],
        }

    def _export(self, request: Mapping[str, Any]) -> dict[str, Any]:
        memory = self._household.memory.of(scope_from(request["scope"]))
        page = memory.export(str(request["cursor"]), int(request["limit"]))
        return {"lines": [*page.lines], "cursor": page.cursor}

    def _take_in(self, request: Mapping[str, Any]) -> dict[str, Any]:
        taken = self._household.memory.of(scope_from(request["scope"])).take_in(
            request["lines"], again=bool(request.get("again"))
        )
        return {
            "inserted": taken.inserted,
            "ignored": taken.ignored,
            "forgotten": taken.forgotten,
            "failed": [[*one] for one in taken.failed],
        }

    def _forget(self, request: Mapping[str, Any]) -> dict[str, Any]:
        memory = self._household.memory.of(scope_from(request["scope"]), Session(timezone=str(request["timezone"])))
        try:
            done = memory.forget(**request["what"], confirm=str(request.get("confirm", "")))
        except NotFoundError as error:
            from historian.forget_selection import NO_EVENT

            raise NotFoundError(NO_EVENT_HERE if str(error) == NO_EVENT else str(error)) from None
        return {
            "done": done.done,
            "counts": dict(done.counts),
            "token": done.token,
            "notes": [*done.notes],
            "samples": [[one.what, one.text] for one in done.samples if not one.along],
            "along": [[one.what, one.text] for one in done.samples if one.along],
        }

    def _search(self, request: Mapping[str, Any]) -> dict[str, Any]:
        memory = self._household.memory.of(scope_from(request["scope"]), Session(timezone=str(request["timezone"])))
        query, filters, limit, mode = request["query"], request["filter"], request["limit"], request["mode"]
        if mode == "lexical":
            page = memory.evidence.by_words(query, filters, page_size=limit)
        else:
            page = memory.evidence.by_meaning(query, filters, top_k=limit, mode=mode)
        return messages_answer(page)

    def _verify(self, request: Mapping[str, Any]) -> dict[str, Any]:
        memory = self._household.memory.of(scope_from(request["scope"]), Session(timezone=str(request["timezone"])))
        view = memory.recollection.verify(request["view"])
        return {"view": view_answer(view).model_dump(mode="json"), "prose": view_prose(view)}

    def _reindex(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return {"embedded": self._household.reindex(), "embedder": self._household.engine.embedder.identity}

    def _examine(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return self._household.doctor.run(fix=bool(request.get("fix"))).answer()

    def _backup(self, request: Mapping[str, Any]) -> dict[str, Any]:
        made = self._household.back_up(Path(str(request["file"])))
        return {"counts": dict(made.counts), "bytes": made.size}


async def _linked(link: Link) -> dict[str, Any]:
    try:
        return {"ok": True, "result": {"link": await link()}}
    except ShiguanError as error:
        return {"ok": False, "error": str(error)}
