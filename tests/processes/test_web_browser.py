"""The pages in a real Chromium, from the command that prints the link: every page, in two languages and widths."""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import pytest

from tests.kit.browser import Window, browser, missing, window
from tests.kit.clients import House
from tests.kit.filled import GROUP, fill

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.process, pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")]

COUNTS = [pytest.param(300, id="300"), pytest.param(10_000, id="10k", marks=pytest.mark.soak)]
NAV = ("", "profile", "groups", "reviews", "queue", "status")
NARROW = {"width": 390, "height": 800}


@pytest.fixture(scope="module", params=COUNTS)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[House]:
    folder = tmp_path_factory.mktemp("filled") / "data"
    anyio.run(partial(fill, folder, events=request.param, hostile=True))
    with House(folder) as house:
        yield house


@pytest.fixture(scope="module")
def chrome() -> Generator[Browser]:
    with browser() as started:
        yield started


def link(house: House, *flags: str) -> str:
    """Return a link as the command prints it: alone on stdout."""
    flags = flags or ("--user", "alice", "--group", GROUP, "--group", "other", "--timezone", "Asia/Shanghai")
    done = house.command("ui", *flags)
    house.owner()
    return str(done.stdout.decode().strip())


def base_of(address: str) -> str:
    return address.partition("/enter")[0]


def every_page(opened: Window, base: str) -> Generator[str]:
    """Go through the pages of the menu, and one behind each of their lists."""
    for path in NAV:
        opened.open(f"{base}/{path}")
        yield path
    behind = {"event": "?kind=events", "message": "?kind=messages", "statement": "groups", "review": "reviews"}
    for path, list_path in behind.items():
        opened.open(f"{base}/{list_path}")
        opened.page.locator(f'a[href*="/{path}?"]').first.click()
        opened.page.wait_for_load_state("networkidle")
        yield path
    opened.open(f"{base}/?q=override")
    yield "found"


@pytest.mark.parametrize(
    ("locale", "scheme", "size"), [("en-GB", "light", None), ("zh-CN", "dark", NARROW)], ids=["en", "zh-dark-narrow"]
)
def test_every_page_is_shown_without_a_complaint_and_asks_nobody_else(
    filled: House, chrome: Browser, locale: str, scheme: str, size: dict[str, int] | None
) -> None:
    more = {"viewport": size} if size else {}
    with window(chrome, locale=locale, color_scheme=scheme, **more) as opened:
        address = link(filled)
        opened.open(address)
        assert "enter" not in opened.page.url, "the key stands in no address any more"
        for path in every_page(opened, base_of(address)):
            page = opened.page
            assert page.evaluate("document.scripts.length") == 1, path
            width = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert width[0] <= width[1], (path, width)
            assert page.locator("main h1").count() == 1
            assert page.locator("html").get_attribute("lang") == ("zh-Hans" if locale == "zh-CN" else "en")
            dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (dark == "rgb(23, 22, 20)") == (scheme == "dark")
        assert opened.complaints == []
        assert {urlsplit(one).netloc for one in opened.asked} == {urlsplit(address).netloc}


def test_one_finds_and_reads_on_without_the_page_being_loaded_anew(filled: House, chrome: Browser) -> None:
    with window(chrome) as opened:
        opened.open(link(filled))
        page = opened.page
        page.evaluate("window.stays = true")
        items = page.locator("#stream > li .item")
        before = items.count()
        page.locator(".more a").click()
        items.nth(before).wait_for()  # waiting for a function would be eval, which our policy forbids
        assert items.count() == 2 * before
        page.locator("#q").press_sequentially("花生")
        page.locator("#results h2", has_text="花生").wait_for()
        page.wait_for_url(re.compile(r"[?&]q="))
        page.select_option("#kind", "messages")
        page.wait_for_url(re.compile(r"kind=messages"))
        assert page.evaluate("window.stays") is True
        assert opened.complaints == []


def test_everything_can_be_done_with_the_keyboard(filled: House, chrome: Browser) -> None:
    with window(chrome) as opened:
        opened.open(link(filled))
        page = opened.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("ferry")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"q=ferry"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"


def test_a_profile_goes_back_and_a_failed_job_is_discarded(filled: House, chrome: Browser) -> None:
    with window(chrome) as opened:
        address = link(filled)
        opened.open(address)
        page, base = opened.page, base_of(address)
        opened.open(f"{base}/profile")
        before = page.locator(".versions > li").count()
        page.locator('form[action$="/profile/rollback"] button').first.click()
        page.wait_for_selector(".done")
        assert page.locator(".versions > li").count() == before + 1
        opened.open(f"{base}/queue")
        page.locator('.failed form[action$="/queue/discard"] button').first.click()
        page.wait_for_selector(".done")
        assert "1 discarded" in page.locator(".done").inner_text()
        assert opened.complaints == []


def test_without_scripts_the_pages_work_as_well(filled: House, chrome: Browser) -> None:
    with window(chrome, java_script_enabled=False) as opened:
        opened.open(link(filled))
        page = opened.page
        page.locator(".more a").click()
        assert "cursor=" in page.url
        page.locator("#q").fill("花生")
        page.locator("form.search button").click()
        assert "花生" in page.locator("#results").inner_text()


def test_a_link_that_was_used_opens_nothing_and_bob_sees_nothing_of_alice(filled: House, chrome: Browser) -> None:
    with window(chrome) as opened, window(chrome) as other, window(chrome) as bobs:
        address = link(filled)
        opened.open(address)
        answer = other.page.goto(address)
        assert answer is not None
        assert answer.status == 401
        assert other.page.locator("nav").count() == 0
        address = link(filled, "--user", "bob")
        bobs.open(address)
        for path in NAV:
            bobs.open(f"{base_of(address)}/{path}")
            assert not re.search("花生|ferry|小爱", bobs.page.content())


def test_the_pages_close_with_the_owner(tmp_path: Path) -> None:
    with House(tmp_path / "data") as house:
        address = link(house, "--user", "alice")
        assert b"works once" in house.command("ui").stderr
        house.command("owner", "stop")
        import http.client

        with pytest.raises(OSError):
            http.client.HTTPConnection("127.0.0.1", urlsplit(address).port or 0, timeout=5).request("GET", "/")
