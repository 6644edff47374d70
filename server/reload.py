"""Settings that change while the memory runs: `shiguan.toml` is read again when it changes."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from historian.errors import ShiguanError
from historian.live import LiveOptions
from historian.options import Options
from server.bare import CONFIG_NAME, VARIABLES, read_config
from server.settings import Settings

LOOK_SECONDS = 1.0
"""How often the file is looked at."""
RELOADED = ("enabled", "query.", "historian.", "context.")
"""What takes effect while running: names, and beginnings of names."""
FIXED = frozenset({"historian.workers"})
"""What begins like them and yet does not."""

log = logging.getLogger(__name__)


class SettingsWatch:
    """Keeps `live` in step with the settings file. `read` reads all settings anew, `wake` is told of each change."""

    def __init__(self, settings: Settings, live: LiveOptions, read: Callable[[], Settings], wake: Callable[[], None]):
        self._path = settings.data_dir / CONFIG_NAME
        self._started = self._present = dict(named(settings.model_dump()))
        self._live = live
        self._read = read
        self._wake = wake
        self._digest = digest(self._path)
        self._notes: tuple[str, ...] = ()
        self._file = self._of_clients()

    def notes(self) -> tuple[str, ...]:
        """Return what of the file has no effect, and why; empty when all of it has."""
        return self._notes

    def former(self) -> dict[str, Any]:
        """Return what was taken last from the file and concerns its clients, in the form of the file."""
        started = {name: self._started[name] for name in ("guard.credentials", "server.token_file")}
        tables = {name.partition(".")[0]: {name.partition(".")[2]: value} for name, value in started.items()}
        return {**self._file, **tables}

    def _of_clients(self) -> dict[str, Any]:
        try:
            return {name: value for name, value in read_config(self._path.parent).items() if name in VARIABLES}
        except ShiguanError:
            return {}

    def look(self) -> bool:
        """Read the file if it changed, and say whether other options hold now. A file that is wrong changes nothing."""
        seen = digest(self._path)
        if seen == self._digest:
            return False
        self._digest = seen
        try:
            settings = self._read()
        except ShiguanError as error:
            self._notes = (f"The changed settings have no effect, the former ones stay: {error}",)
            log.warning("%s", self._notes[0])
            return False
        self._file = self._of_clients()
        return self._take(settings)

    def _take(self, settings: Settings) -> bool:
        values = dict(named(settings.model_dump()))
        changed = [name for name in values if values[name] != self._present.get(name)]
        waiting = [name for name in values if values[name] != self._started.get(name) and not is_reloaded(name)]
        self._present = values
        self._notes = tuple(f"{name} was changed and has no effect until a restart." for name in waiting)
        for note in self._notes:
            log.warning("%s", note)
        now = reloaded(self._live.now, settings.options)
        if now == self._live.now:
            return False
        log.info("settings took effect: %s", ", ".join(filter(is_reloaded, changed)))
        self._live.replace(now)
        return True

    async def run(self) -> None:
        """Look again and again until cancelled."""
        while True:
            await anyio.sleep(LOOK_SECONDS)
            if await anyio.to_thread.run_sync(self.look):
                self._wake()


def is_reloaded(name: str) -> bool:
    """Say whether a setting, named as in `query.auto_top_k`, takes effect while running."""
    return name.startswith(RELOADED) and name not in FIXED


def reloaded(now: Options, wanted: Options) -> Options:
    """Return the options that hold when `wanted` is read while `now` holds."""
    historian = replace(wanted.historian, workers=now.historian.workers)
    return replace(now, enabled=wanted.enabled, query=wanted.query, historian=historian, context=wanted.context)


def named(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    """Yield every setting with its name in full."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from named(value, f"{before}{name}.")
        else:
            yield before + name, value


def digest(path: Path) -> str:
    """Return what tells one content of a file from another; a file that cannot be read is one of its own."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return type(error).__name__
