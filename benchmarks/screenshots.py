"""Pictures of every page at two widths, into docs/images: `python -m benchmarks.screenshots`, or `make screenshots`.

Needs a Chromium of the system and Playwright (`pip install 'shiguan[browser]'`). Fails where the browser complains.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from benchmarks.kit import ROOT, environment, folder
from tests.kit.browser import Window, browser, missing, window
from tests.kit.filled import GROUP, fill

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = ROOT / "docs" / "images"
EVENTS = 400
WIDTHS = {"wide": {"width": 1100, "height": 760}, "narrow": {"width": 390, "height": 760}}
PAGES = {
    "timeline": "",
    "search": "?q=花生",
    "profile": "profile",
    "groups": "groups",
    "reviews": "reviews",
    "queue": "queue",
    "status": "status",
}
BEHIND = {"event": ("?q=花生", "event"), "statement": ("groups", "statement"), "review": ("reviews", "review")}
"""Pages that a list leads to: which list, and where its first link goes."""
SHIGUAN = (sys.executable, "-c", "import sys; from server.cli import main; sys.exit(main())")


def shiguan(data: Path, *arguments: str) -> str:
    """Run a command on a data folder and return what it printed."""
    command = [*SHIGUAN, arguments[0], "--data-dir", str(data), *arguments[1:]]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout.strip()


def take(opened: Window, base: str, prefix: str) -> None:
    """Go to each page and keep a picture of it."""
    for name, path in PAGES.items():
        opened.open(f"{base}/{path}")
        opened.page.screenshot(path=IMAGES / f"{name}-{prefix}.png")
    for name, (path, target) in BEHIND.items():
        opened.open(f"{base}/{path}")
        opened.page.locator(f'a[href*="/{target}?"]').first.click()
        opened.page.wait_for_load_state("networkidle")
        opened.page.screenshot(path=IMAGES / f"{name}-{prefix}.png")


def main() -> int:
    """Take all pictures; the exit code is 1 where there is no browser, or where it complained."""
    if missing():
        print(f"No pictures: {missing()}.", file=sys.stderr)
        return 1
    IMAGES.mkdir(parents=True, exist_ok=True)
    with folder() as data:
        anyio.run(partial(fill, data, events=EVENTS, hostile=False))
        with browser() as started:
            complaints = walk(started, data)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return int(bool(complaints))


def walk(started: Browser, data: Path) -> list[str]:
    """Take all pictures of one data folder and return what the browser complained about."""
    complaints: list[str] = []
    try:
        for prefix, size in WIDTHS.items():
            more = {"color_scheme": "dark", "locale": "zh-CN"} if prefix == "narrow" else {}
            with window(started, viewport=size, **more) as opened:
                link = shiguan(data, "ui", "--user", "alice", "--group", GROUP, "--group", "climbers")
                opened.open(link)
                take(opened, link.partition("/enter")[0], prefix)
                complaints += opened.complaints
    finally:
        shiguan(data, "owner", "stop")
    return complaints


if __name__ == "__main__":
    sys.exit(main())
