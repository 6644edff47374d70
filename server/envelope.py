"""What a JSON-RPC message is, and what is answered to a line that is none: whoever sent it may be waiting."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from math import isfinite
from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR

NO_JSON = "The line is not JSON; send one JSON-RPC 2.0 message a line."
NO_MESSAGE = (
    "The line is not one JSON-RPC 2.0 message; send an object with jsonrpc, method and params, and an id or none."
)
NOT_READ = "The message is nested too deep, or has a number that is too long; send a simpler one."
A_LIST = "Messages in a list are not read; send each one on a line of its own."
MOST_REFUSALS = 100
"""So many messages of one list are answered."""
_LONGEST_NUMBER = 4_000


def is_message(message: object) -> bool:
    """Say whether something is a call, a notification or a reply."""
    if not isinstance(message, Mapping) or message.get("jsonrpc") != "2.0":
        return False
    number = message.get("id")
    is_numbered = isinstance(number, str | int) and not isinstance(number, bool)
    is_call = isinstance(message.get("method"), str) and (is_numbered or "id" not in message)
    is_call = is_call and isinstance(message.get("params", {}), Mapping)
    return is_call or (is_reply(message) and is_numbered)


def is_reply(message: object) -> bool:
    """Say whether something at least looks like a reply, which is never answered."""
    return isinstance(message, Mapping) and "method" not in message and ("result" in message or "error" in message)


def refusals(line: str, *, is_read: bool) -> list[dict[str, Any]]:
    """Return the answers to a line that is no message. `is_read` says that it is JSON nevertheless."""
    try:
        found: Any = json.loads(line, parse_int=_number)
    except RecursionError:
        return [_refusal(_top_id(line), INVALID_REQUEST, NOT_READ)]
    except ValueError:
        return [_refusal(None, PARSE_ERROR, NO_JSON)]
    if isinstance(found, list) and found:
        calls = [one for one in found if not is_reply(one)]
        return [_refusal(_id(one), INVALID_REQUEST, A_LIST) for one in calls[:MOST_REFUSALS]]
    if is_reply(found):
        return []
    return [_refusal(_id(found), INVALID_REQUEST, NO_MESSAGE if is_read else NOT_READ)]


def _refusal(number: Any, code: int, sentence: str) -> dict[str, Any]:
    is_id = isinstance(number, str | int | float) and not isinstance(number, bool)
    known = number if is_id and (isinstance(number, str) or isfinite(number)) else None
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": sentence}}


def _id(message: Any) -> Any:
    return message.get("id") if isinstance(message, dict) else None


def _number(digits: str) -> int | None:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else None


def _top_id(line: str) -> Any:
    """Return the id of a message that is nested too deep to be read as a whole, or None."""
    import ijson

    depth, key = 0, ""
    try:
        for event, value in ijson.basic_parse(BytesIO(line.encode("utf-8", "replace")), use_float=True):
            if depth == 1 and event == "map_key":
                key = value
            elif event.startswith("start_"):
                depth += 1
            elif event.startswith("end_"):
                depth -= 1
            elif depth == 1 and key == "id":
                return value
    except (ijson.JSONError, ValueError):
        return None
    return None
