"""What several commands share: settings from the parsed flags, and speaking to a person."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from historian.errors import InvalidInputError, ShiguanError, told
from server.bare import (
    BareSettings,
    folder_alone,
    given_setting,
    meant_variable,
    read_bare_settings,
    read_config,
    unknown_variables,
)

if TYPE_CHECKING:
    from historian.model import Scope
    from server.settings import Settings

NO_MEMORY = "There is no memory in this folder; name the folder with --data-dir."
_SETTINGS = BareSettings._fields


def settings_from(arguments: argparse.Namespace) -> Settings:
    """Return all settings. Slow: loads pydantic. Raises InvalidInputError."""
    from server.settings import load_settings

    return load_settings(_flags(arguments), os.environ)


def bare_settings_from(arguments: argparse.Namespace) -> BareSettings:
    """Return the few settings that need the standard library only.

    While the file cannot be read and an owner runs, those that it runs on hold, and that is said.

    Raises:
        InvalidInputError, StoreError: as `read_bare_settings`.
    """
    return read_bare_settings(_flags(arguments), os.environ, _config_and_word)


def config_in_force(folder: Path) -> Mapping[str, Any]:
    """Return the settings file, or, while it cannot be read, what the running owner took from it last.

    Raises:
        InvalidInputError, StoreError: it cannot be read, and no owner runs that knows it.
    """
    return _config(folder, lambda _: None)


def _config_and_word(folder: Path) -> Mapping[str, Any]:
    kept = "shiguan: The changed settings have no effect, the former ones stay: "
    return _config(folder, lambda error: complain(f"{kept}{told(error)}"))


def _config(folder: Path, note: Callable[[ShiguanError], None]) -> Mapping[str, Any]:
    try:
        return read_config(folder)
    except ShiguanError as error:
        from server.owner.ask import former_config

        former = former_config(folder)
        if former is None:
            raise
        note(error)
        return former


def folder_from(arguments: argparse.Namespace) -> BareSettings:
    """Return settings of which only the data folder is read: for what works whatever else is wrong."""
    return folder_alone(_flags(arguments), os.environ)


def wrong_settings(arguments: argparse.Namespace) -> ShiguanError | None:
    """Return what is wrong with the settings of an owner, or None where nothing is. Slow, as `settings_from`."""
    try:
        settings_from(arguments)
    except ShiguanError as error:
        return error
    return None


def existing_settings_from(arguments: argparse.Namespace) -> BareSettings:
    """Return the settings of a command that only looks: it makes no folder where somebody mistyped the name of one.

    The folder that is taken where none is named may be new.

    Raises:
        InvalidInputError: the folder that is named is not there, or as `bare_settings_from`.
    """
    settings = bare_settings_from(arguments)
    _require_folder(arguments, settings)
    return settings


def existing_folder_from(arguments: argparse.Namespace) -> BareSettings:
    """Return as `folder_from` what `existing_settings_from` returns in full. Raises InvalidInputError as it does."""
    settings = folder_from(arguments)
    _require_folder(arguments, settings)
    return settings


def _require_folder(arguments: argparse.Namespace, settings: BareSettings) -> None:
    is_named = given_setting("data_dir", _flags(arguments), os.environ) is not None
    if is_named and not settings.data_dir.is_dir():
        raise InvalidInputError(NO_MEMORY)


def require_one_identity(arguments: argparse.Namespace, settings: Settings | BareSettings) -> None:
    """Refuse to serve one user by flags where the host is to name the user of every call.

    Raises:
        InvalidInputError: both are asked for.
    """
    if settings.trust_host and (arguments.user or arguments.groups or arguments.name):
        raise InvalidInputError("A trusted host names the user of each call; leave --user, --group and --name out.")


def scope_of(settings: Settings | BareSettings) -> Scope:
    """Return the scope: one group binds the requests to it, several only make those groups readable."""
    from historian.model import Scope

    groups = settings.groups
    return Scope(settings.user, groups[0] if len(groups) == 1 else None, frozenset(groups))


def scope_request(settings: BareSettings) -> dict[str, Any]:
    """Return the scope as a request to the owner holds it; loads nothing, since a hook's host waits for it."""
    groups = settings.groups
    return {
        "user_id": settings.user,
        "group_id": groups[0] if len(groups) == 1 else None,
        "groups": sorted(groups),
    }


def context_request(settings: BareSettings, message: str, conversation_id: str | None) -> dict[str, Any]:
    """Return the request for what to know before a message is answered."""
    return {
        "op": "context",
        "scope": scope_request(settings),
        "timezone": settings.timezone,
        "name": settings.name,
        "conversation_id": conversation_id,
        "message": message,
    }


def tell_unknown_variables() -> None:
    """Say on stderr which variables of the environment look like settings and are none: a typo would go unnoticed."""
    for name in unknown_variables(os.environ):
        meant = meant_variable(name)
        hint = f" Did you mean {meant}?" if meant else ""
        complain(f"shiguan: There is no setting {name}; the variable has no effect.{hint}")


def tell_terminal() -> None:
    """Say on stderr that a host is waited for, where a person is on the other end of stdin and sees nothing happen."""
    if sys.stdin is not None and sys.stdin.isatty():
        complain("shiguan: waiting for an MCP host on standard input; see `shiguan install --help`. Ctrl-C ends it.")


def log_to_stderr() -> None:
    """Send the log to stderr. Of others only what is wrong: they log what was asked for, of whom, and whose it was."""
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in ("mcp", "uvicorn", "httpx", "httpx2", "openai", "chromadb"):
        logging.getLogger(name).setLevel(logging.WARNING)


def say(line: str) -> None:
    """Print one line to a person on stdout; what its encoding lacks is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def complain(line: str) -> None:
    """Print one line to a person on stderr, which escapes by itself."""
    sys.stderr.write(f"{line}\n")


def _flags(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name, None) for name in _SETTINGS}
