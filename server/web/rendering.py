"""From a page to HTML: the templates, the words, and the times in the guest's zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from server.web.language import LANGUAGES, NAMES, TAGS, Language
from server.web.page import Page
from server.web.words import word

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
MINUTE, HOUR, DAY = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands on every page around its own content. `csrf` is "" where there is no visit to leave."""

    base: str
    language: Language
    zone: tzinfo
    path: str = ""
    query: Mapping[str, str] | None = None
    csrf: str = ""
    who: str = ""
    done: str = ""


class Renderer:
    """Renders pages. Thread-safe."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def html(self, page: Page, frame: Frame) -> str:
        """Return a page as HTML."""
        template = self._environment.get_template(page.template)
        return template.render(
            **page.values,
            frame=frame,
            t=partial(word, frame.language),
            at=partial(_at, frame.zone),
            link=partial(_link, frame.base),
            languages=[(one, NAMES[one], TAGS[one]) for one in LANGUAGES],
            tag=TAGS[frame.language],
        )


def make_renderer() -> Renderer:
    """Return a renderer of our templates. Slow: loads Jinja2."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["span"] = _span
    return Renderer(environment)


def address(base: str, page: str, fields: Mapping[str, Any]) -> str:
    """Return the address of a page of ours; a template escapes it."""
    query = urlencode({name: str(value) for name, value in fields.items() if value not in (None, "")})
    return f"{base}/{page}?{query}" if query else f"{base}/{page}"


def _link(base: str, page: str, /, **fields: Any) -> str:
    return address(base, page, fields)


def _at(zone: tzinfo, instant: datetime) -> str:
    try:
        return instant.astimezone(zone).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError):  # the first and last hours of the calendar
        return instant.isoformat(sep=" ", timespec="minutes")


def _span(seconds: float) -> str:
    """Return a length of time in the one unit that fits."""
    for unit, size in (("d", DAY), ("h", HOUR), ("min", MINUTE)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
