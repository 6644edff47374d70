"""`shiguan install HOST` and `shiguan uninstall HOST`: the settings of agent hosts, with a copy of what was there."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from historian.errors import InvalidInputError
from historian.ids import normalise_id
from server.bare import VARIABLES, given_setting, names_in
from server.commands.common import say
from server.install import jsonc, toml_file
from server.install.hooks import with_hooks, without_hooks
from server.install.hosts import HOSTS, Host, hooks_file
from server.install.places import Places
from server.install.settings_file import Change, changed
from server.paths import whole_path

FLAGS = ("data_dir", "user", "groups", "name", "timezone", "toolsets")
"""What `install` passes on to `serve`, given as flags or in the environment; the hooks get all but the toolsets."""
NOT_WRITTEN = "Not written, and hosts do not pass it on: {}. Put what the memory needs into its shiguan.toml."
_NO_SETTINGS = frozenset({"SHIGUAN_HOOKS", "SHIGUAN_TCP"})


def install(arguments: argparse.Namespace, places: Places | None = None) -> int:
    """Write the memory into the settings of a host; repeating it changes nothing.

    Raises:
        InvalidInputError: with these settings the server would not start, or the file of the host cannot be changed.
    """
    places, host = places or Places.here(), HOSTS[arguments.host]
    _require_startable(arguments, places)
    command = own_command()
    entry = host.entry(command, ["serve", *_flags(arguments, places, FLAGS)])

    def edit(text: str) -> str:
        form = jsonc if host.form == "json" else toml_file
        return text if form.value_at(text, host.path) == entry else form.with_member(text, host.path, entry)

    changes = [_changed(host, arguments, places, edit)]
    if arguments.hooks:
        flags = _flags(arguments, places, FLAGS[:-1])
        changes.append(changed(_hooks_file(arguments, places), "{}\n", lambda text: with_hooks(text, command, flags)))
    done = _carry_out(changes, f"{host.title} knows the memory already.", host.after, dry=arguments.dry_run)
    if others := _others(places):
        say(NOT_WRITTEN.format(", ".join(others)))
    return done


def uninstall(arguments: argparse.Namespace, places: Places | None = None) -> int:
    """Take the memory out of the settings of a host. What the memory holds stays."""
    places, host = places or Places.here(), HOSTS[arguments.host]
    form = jsonc if host.form == "json" else toml_file
    changes = [_changed(host, arguments, places, lambda text: form.without_member(text, host.path))]
    if arguments.host == "claude-code" and not arguments.file:
        changes.append(changed(hooks_file(places), "{}\n", without_hooks))
    there = [one for one in changes if one.before is not None]
    return _carry_out(there, f"{host.title} does not know the memory.", "", dry=arguments.dry_run)


def own_command() -> str:
    """Return the path of the command `shiguan`: hosts that are no shell do not search for it."""
    beside = Path(sys.executable).with_name("shiguan.exe" if sys.platform == "win32" else "shiguan")
    return str(beside) if beside.is_file() else shutil.which("shiguan") or "shiguan"


def _changed(host: Host, arguments: argparse.Namespace, places: Places, edit: Callable[[str], str]) -> Change:
    path = whole_path(arguments.file) if arguments.file else host.file(places)
    return changed(path, "{}\n" if host.form == "json" else "", edit)


def _hooks_file(arguments: argparse.Namespace, places: Places) -> Path:
    if arguments.host != "claude-code" or arguments.file:
        raise InvalidInputError("Only `shiguan install claude-code`, without --file, can install hooks.")
    return hooks_file(places)


def _flags(arguments: argparse.Namespace, places: Places, names: tuple[str, ...]) -> list[str]:
    """Return what was given here as flags of a command: a host starts it in an environment of its own."""
    flags: list[str] = []
    for name in names:
        value = given_setting(name, vars(arguments), places.environment)
        if value is None:
            continue
        if name == "data_dir":
            value = whole_path(value)
        flag = "--group" if name == "groups" else f"--{name.replace('_', '-')}"
        for one in names_in(name, value) if name == "groups" else [value]:
            flags += [flag, str(one)]
    return flags


def _require_startable(arguments: argparse.Namespace, places: Places) -> None:
    """Raise InvalidInputError for what `serve` would refuse later, where nobody sees why the host has no memory."""

    def given(name: str) -> Any:
        return given_setting(name, vars(arguments), places.environment)

    if (user := given("user")) is not None:
        normalise_id(str(user), "user")
    for group in names_in("groups", given("groups")):
        normalise_id(group, "group")
    if (zone := given("timezone")) is not None:
        from historian.zones import load_zone

        load_zone(str(zone))
    if toolsets := names_in("toolsets", given("toolsets")):
        from server.toolsets import require_toolsets

        require_toolsets(toolsets)


def _others(places: Places) -> list[str]:
    """Return the settings in the environment that have no flag."""
    written = {variable for name in FLAGS for variable in VARIABLES[name]} | _NO_SETTINGS
    return sorted(name for name in places.environment if name.startswith("SHIGUAN_") and name not in written)


def _carry_out(changes: list[Change], nothing: str, after: str, *, dry: bool) -> int:
    wanted = [change for change in changes if not change.is_none]
    for change in wanted:
        if dry:
            say(f"Would change {change.path}:")
            for line in change.lines():
                say(line)
            continue
        backup = change.write(datetime.now().astimezone())
        say(f"Changed {change.path}." + (f" The file from before is {backup.name}." if backup else ""))
    if not wanted:
        say(nothing)
    elif after and not dry:
        say(after)
    return 0
