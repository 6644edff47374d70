"""A real Chromium of the system, driven by Playwright: what it complains about, and whom it asks for anything."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str | None:
    """Return the program, or None where the system has none."""
    return next((found for name in NAMES if (found := shutil.which(name)) is not None), None)


def missing() -> str:
    """Return why no browser can be driven here, or "" where one can."""
    if chromium() is None:
        return "the system has no Chromium"
    return "" if importlib.util.find_spec("playwright") is not None else "playwright is not installed (extra: browser)"


@dataclass(slots=True)
class Window:
    """A page in a context of its own, and what went wrong in it."""

    page: Page
    complaints: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])

    def open(self, address: str) -> None:
        """Go to an address and wait until everything is there."""
        answer = self.page.goto(address, wait_until="networkidle")
        assert answer is not None
        assert answer.ok, (address, answer.status)


@contextmanager
def browser() -> Generator[Browser]:
    """Start the browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=[*SWITCHES])
        try:
            yield started
        finally:
            started.close()


@contextmanager
def window(started: Browser, **more: Any) -> Generator[Window]:
    """Open a page with no cookies; `more` are options of Playwright's contexts."""
    options: Mapping[str, Any] = {"locale": "en-GB", "viewport": {"width": 1280, "height": 800}} | more
    context = started.new_context(**options)
    try:
        opened = Window(context.new_page())
        page = opened.page
        page.on("console", lambda message: opened.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("dialog", lambda dialog: opened.complaints.append(f"dialog: {dialog.message}") or dialog.dismiss())
        page.on("request", lambda request: opened.asked.append(request.url))
        yield opened
    finally:
        context.close()
