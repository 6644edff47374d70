"""`shiguan token create|list|revoke`: who may come in over HTTP."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from datetime import datetime

from historian.errors import InvalidInputError
from historian.ids import normalise_id
from historian.zones import load_zone, parse_instant
from server.bare import token_file_name
from server.commands.common import bare_settings_from, complain, config_in_force, folder_from, say
from server.folder import make_folder
from server.http.identity import ACT_AS, READ, SCOPES, WRITE
from server.http.tokens import StoredToken, TokenFile, token_file_at

NEVER = "never"
_SPAN = re.compile(r"(\d{1,6})([dhm])\Z")
_UNIT_SECONDS = {"d": 86_400, "h": 3600, "m": 60}
MAX_NAME_LENGTH = 100


def manage_tokens(arguments: argparse.Namespace) -> int:
    """Do what was asked. Only `create` prints a token, alone on stdout; nothing can tell it again.

    No setting counts but `server.token_file`: a server may run on with its former ones while others are wrong.
    """
    folder = folder_from(arguments).data_dir
    make_folder(folder)
    file = token_file_at(folder, token_file_name(folder, os.environ, config_in_force))
    match arguments.action:
        case "create":
            return _create(file, arguments)
        case "list":
            return _list(file, as_json=arguments.json)
        case _:
            return _revoke(file, arguments.token_id)


def _create(file: TokenFile, arguments: argparse.Namespace) -> int:
    scopes = _scopes(arguments.scopes or ())
    if arguments.user is None and ACT_AS not in scopes:
        raise InvalidInputError(
            "Name whom the token speaks for with --user; only one with --scope act-as needs nobody."
        )
    stored, text = file.create(
        normalise_id(arguments.user, "user") if arguments.user is not None else None,
        groups=dict.fromkeys(normalise_id(group, "group") for group in arguments.groups or ()),
        scopes=scopes,
        name=" ".join((arguments.name or "").split())[:MAX_NAME_LENGTH] or None,
        timezone=load_zone(arguments.timezone).key if arguments.timezone else None,
        expires_at=_expiry(arguments, time.time()),
    )
    complain(f"Token {_told(stored)}. It is shown this once:")
    sys.stderr.flush()
    say(text)
    return 0


def _list(file: TokenFile, *, as_json: bool) -> int:
    for token in file.tokens():
        about = {
            "token_id": token.token_id,
            "user": token.user,
            "name": token.name,
            "groups": list(token.groups),
            "scopes": list(token.scopes),
            "timezone": token.timezone,
            "created_at": _date(token.created_at),
            "expires_at": _date(token.expires_at) if token.expires_at is not None else None,
            "expired": not token.is_valid_at(time.time()),
        }
        say(json.dumps(about) if as_json else _told(token))
    return 0


def _revoke(file: TokenFile, token_id: str) -> int:
    say(f"Revoked {_told(file.revoke(token_id))}.")
    return 0


def _scopes(named: Sequence[str]) -> list[str]:
    full = {scope.partition(":")[2]: scope for scope in SCOPES}
    words = [word for name in named for word in name.replace(",", " ").split()]
    unknown = [word for word in words if word not in full and word not in SCOPES]
    if unknown:
        raise InvalidInputError(f"There is no scope {unknown[0]!r}; the scopes are {', '.join(full)}.")
    return [*dict.fromkeys(full.get(word, word) for word in words)] or [READ, WRITE]


def _expiry(arguments: argparse.Namespace, now: float) -> int | None:
    """Return when a token ends, in epoch seconds: after a span from `now`, at a date, or never."""
    text: str = arguments.expires
    if text == NEVER:
        return None
    span = _SPAN.match(text)
    if span is not None:
        ends = int(now) + int(span[1]) * _UNIT_SECONDS[span[2]]
    else:
        zone = load_zone(bare_settings_from(argparse.Namespace(data_dir=arguments.data_dir)).timezone)
        try:
            ends = int(parse_instant(text, zone)[0].timestamp())
        except InvalidInputError:
            wrong = "--expires is wrong: send 90d, 12h, 30m, a date such as 2030-01-31, or never."
            raise InvalidInputError(wrong) from None
    if ends <= now:
        raise InvalidInputError("--expires is in the past; send a time to come, or never.")
    return ends


def _told(token: StoredToken) -> str:
    scopes = ",".join(scope.partition(":")[2] for scope in token.scopes)
    groups = f" groups {','.join(token.groups)}" if token.groups else ""
    until = "never expires" if token.expires_at is None else f"expires {_date(token.expires_at)}"
    gone = "" if token.is_valid_at(time.time()) else " (expired)"
    return f"{token.token_id}  user {token.user or '-'}{groups}  scopes {scopes}  {until}{gone}"


def _date(epoch: int) -> str:
    return datetime.fromtimestamp(epoch).astimezone().isoformat(timespec="minutes")
