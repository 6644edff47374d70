"""The options as they stand now: one value, replaced as a whole while the memory runs."""

from __future__ import annotations

from historian.options import HistorianOptions, Options, QueryOptions

SWITCHED_OFF = "the memory is switched off: `end` keeps memos only, and jobs wait until enabled = true in shiguan.toml"


class LiveOptions:
    """Holds the present options. Readers take one value and keep to it for one piece of work. Thread-safe."""

    def __init__(self, options: Options) -> None:
        self._now = options

    @property
    def now(self) -> Options:
        """The options that hold at this moment."""
        return self._now

    @property
    def query(self) -> QueryOptions:
        """How searches rank at this moment."""
        return self._now.query

    @property
    def historian(self) -> HistorianOptions:
        """How the background works at this moment."""
        return self._now.historian

    @property
    def enabled(self) -> bool:
        """Whether the memory learns; switched off, `end` keeps memos and jobs wait."""
        return self._now.enabled

    def replace(self, options: Options) -> None:
        """Let other options hold from now on."""
        self._now = options

    def switched_off(self) -> tuple[str, ...]:
        """Return the sentence that says so while the memory is switched off, else nothing."""
        return () if self.enabled else (SWITCHED_OFF,)
