"""The settings that every command needs, read without pydantic: whose memory, where it lies, and in which time zone.

Flags > environment > `shiguan.toml` in the data folder > defaults.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from historian.errors import InvalidInputError, StoreError, about
from historian.ids import normalise_id
from server.json_object import object_in
from server.paths import whole_path

if TYPE_CHECKING:
    from historian.guard import Credentials

CONFIG_NAME = "shiguan.toml"
Reading = Callable[[Path], Mapping[str, Any]]
"""Returns the settings file of a data folder."""
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "data_dir": ("SHIGUAN_DATA_DIR",),
    "user": ("SHIGUAN_USER_ID", "SHIGUAN_USER"),
    "groups": ("SHIGUAN_GROUPS",),
    "name": ("SHIGUAN_USER_NAME",),
    "timezone": ("SHIGUAN_TIMEZONE",),
    "toolsets": ("SHIGUAN_TOOLSETS",),
    "trust_host": ("SHIGUAN_TRUST_HOST",),
}
"""Settings that are read here, and the variables that name each, the first one counting."""
TABLES = frozenset(
    {"enabled", "embedding", "chat", "rerank", "prompts", "query", "historian", "profile", "queue", "context", "guard"}
) | frozenset({"recall", "group", "server"})
"""Settings that are read with pydantic."""
_PREFIX = "SHIGUAN_"
_NO_SETTINGS = frozenset({"SHIGUAN_HOOKS", "SHIGUAN_TCP"})
_NOTHING: tuple[object, ...] = (None, "", (), [])


class BareSettings(NamedTuple):
    """Whose memory, where, and which toolsets. `timezone` is an IANA name, ids are normalised, `name` is shown.

    With `trust_host` each call over stdio says itself whose it is, and `user`, `groups` and `name` do not count there.
    """

    data_dir: Path
    user: str
    groups: tuple[str, ...]
    timezone: str
    toolsets: tuple[str, ...]
    name: str | None = None
    trust_host: bool = False


def read_bare_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str], read: Reading | None = None
) -> BareSettings:
    """Return the settings; `flags` may hold None for what was not given. `read` takes the place of `read_config`.

    Raises:
        InvalidInputError: an id or the time zone is wrong, or the file is not TOML.
    """
    folder = data_folder(flags.get("data_dir"), environment)
    file = (read or read_config)(folder)

    def first(name: str) -> Any:
        given = given_setting(name, flags, environment)
        return given if given is not None or file.get(name) in _NOTHING else file[name]

    user = first("user")
    groups = names_in("groups", first("groups"))
    named = first("timezone")
    return BareSettings(
        data_dir=folder,
        user=normalise_id(str(user or system_user()), "user"),
        groups=tuple(normalise_id(group, "group") for group in groups),
        timezone=system_timezone(environment) if named is None else _zone_name(str(named)),
        toolsets=names_in("toolsets", first("toolsets")),
        name=_display_name(first("name")),
        trust_host=_truth("trust_host", first("trust_host")),
    )


def given_setting(name: str, flags: Mapping[str, Any], environment: Mapping[str, str]) -> Any:
    """Return what a flag, or else the environment, says of one of these settings as it was given; None if neither."""
    given = [flags.get(name), *(environment.get(variable) for variable in VARIABLES[name])]
    return next((value for value in given if value not in _NOTHING), None)


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the variables that look like settings and are none. Those within a table are refused with its settings."""
    known = _known_variables()
    return sorted(name for name in environment if name.startswith(_PREFIX) and name.partition("__")[0] not in known)


def meant_variable(unknown: str) -> str | None:
    """Return the variable that was probably meant by one that is no setting, or None where none is near."""
    from difflib import get_close_matches

    head, two, rest = unknown[:80].removeprefix(_PREFIX).partition("__")
    close = get_close_matches(head, sorted(name.removeprefix(_PREFIX) for name in _known_variables()), n=1)
    return f"{_PREFIX}{close[0]}{two}{rest}" if close else None


def _known_variables() -> set[str]:
    return {*_NO_SETTINGS, *(f"{_PREFIX}{name.upper()}" for name in TABLES)}.union(*VARIABLES.values())


def folder_alone(flags: Mapping[str, Any], environment: Mapping[str, str]) -> BareSettings:
    """Return settings of which only the data folder is read, for what must work while the file is wrong."""
    return BareSettings(data_folder(flags.get("data_dir"), environment), "local", (), "UTC", ())


def _truth(setting: str, value: object) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    known = False if value is None else words.get(str(value).strip().lower())
    if known is None:
        raise InvalidInputError(f"The setting {setting} is wrong: it must be true or false.")
    return known


def _display_name(value: object) -> str | None:
    return None if value is None else " ".join(str(value).split())[:100] or None


def data_folder(flag: str | Path | None, environment: Mapping[str, str]) -> Path:
    """Return the data folder: the flag, `SHIGUAN_DATA_DIR`, or the platform's user-data folder.

    Raises:
        InvalidInputError: the flag names nothing, as an unset variable of a shell does: another folder is not meant.
    """
    if flag is not None and not str(flag).strip():
        raise InvalidInputError("--data-dir is empty; name a folder, or leave it out.")
    named = given_setting("data_dir", {"data_dir": flag}, environment)
    if named:
        return whole_path(named)
    from platformdirs import user_data_path

    return user_data_path("shiguan", appauthor=False)


def read_config(folder: Path) -> dict[str, Any]:
    """Return the settings file of a data folder as it stands; an absent one is empty.

    Raises:
        InvalidInputError: it is not TOML.
        StoreError: it cannot be read, or the data folder is none.
    """
    import tomllib

    try:
        return tomllib.loads((folder / CONFIG_NAME).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        raise about(StoreError("The data folder is a file; name a folder with --data-dir."), folder) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        no_toml = InvalidInputError(f"{CONFIG_NAME} cannot be read as TOML: {error}.")
        raise about(no_toml, folder / CONFIG_NAME) from None
    except OSError:
        closed = StoreError(f"{CONFIG_NAME} cannot be read; check its permissions.")
        raise about(closed, folder / CONFIG_NAME) from None


def credentials_mode(folder: Path, environment: Mapping[str, str], read: Reading | None = None) -> Credentials:
    """Return `guard.credentials`, for the one command that writes without an owner and without pydantic.

    Raises:
        InvalidInputError: it has a wrong value, or the file is not TOML.
    """
    table = (read or read_config)(folder).get("guard")
    in_file = table.get("credentials") if isinstance(table, dict) else None
    named = environment.get("SHIGUAN_GUARD__CREDENTIALS") or in_file or "mask"
    modes: dict[object, Credentials] = {"mask": "mask", "refuse": "refuse", "off": "off"}
    if named not in modes:
        raise InvalidInputError("The setting guard.credentials is wrong: it must be mask, refuse or off.")
    return modes[named]


def token_file_name(folder: Path, environment: Mapping[str, str], read: Reading | None = None) -> str:
    """Return `server.token_file`, and look at no other setting: tokens are revoked whatever else is wrong.

    Raises:
        InvalidInputError: it is no text, or the file is not TOML.
    """
    named: Any = environment.get("SHIGUAN_SERVER__TOKEN_FILE")
    if named is None:
        named = object_in(environment.get("SHIGUAN_SERVER", "")).get("token_file")
    if named is None:
        table = (read or read_config)(folder).get("server")
        named = table.get("token_file", "") if isinstance(table, dict) else ""
    if not isinstance(named, str):
        raise InvalidInputError("The setting server.token_file is wrong: it must be the path of a file, as a text.")
    return named


def system_user() -> str:
    """Return the name of the operating-system user, the default identity over stdio."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "local"


def system_timezone(environment: Mapping[str, str]) -> str:
    """Return the IANA name of the system's time zone, or UTC where it cannot be told."""
    named = environment.get("TZ", "").lstrip(":")
    linked = os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    written = _first_line("/etc/timezone")
    if linked and not named:
        return linked.removeprefix("posix/").removeprefix("right/")
    return next((name for name in (named, linked, written) if name and _is_zone(name)), "UTC")


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _zone_name(name: str) -> str:
    from historian.zones import load_zone  # zoneinfo costs a client 4 ms, which most do not need

    return load_zone(name).key


def _is_zone(name: str) -> bool:
    try:
        _zone_name(name)
    except InvalidInputError:
        return False
    return True


def names_in(setting: str, value: Any) -> tuple[str, ...]:
    """Return a list, a JSON list, or names separated by commas as names. Raises InvalidInputError."""
    if value is None:
        return ()
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InvalidInputError(f"The setting {setting} is wrong: it is not a JSON list of names.") from None
    elif isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise InvalidInputError(f"The setting {setting} is wrong: send a list of names, or names separated by commas.")
    return tuple(dict.fromkeys(name.strip() for name in value if name.strip()))
