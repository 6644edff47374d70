"""The pages: what they show, to whom, and what nobody can do with them."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from urllib.parse import quote_plus, urlencode

import anyio.to_thread
import httpx2
import pytest
from typing_extensions import override

from historian.group_model import Action
from historian.group_store import GroupStore
from historian.group_strength import StrengthRule
from historian.group_versions import Moment
from historian.model import Owner
from historian.timeline import KINDS
from historian.views import JobState
from server.http.identity import ADMIN, READ, WRITE
from server.web.rendering import TEMPLATES
from server.web.words import WORDS
from tests.kit.home import Home, Person, home
from tests.kit.web import BASE, ORIGIN, Pages, forms, guest
from tests.server.test_receipts import blocked, failed

PAGES = ("", "profile", "groups", "reviews", "queue", "status")
SCRIPT = "<script>alert('x')</script>"
HOSTILE = f'{SCRIPT} \u202eoverride \u2067isolate 😀 "q" & 吉他 {{{{ 7*7 }}}} <img src=x onerror=alert(1)>'
FAR = "http://e.example/p.png"
LONG = "长line" * 2000


class Elements(HTMLParser):
    """The elements of a page, as a browser would understand it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[Home]:
    async with home(tmp_path / "data") as made:
        yield made


@pytest.fixture
async def still(tmp_path: Path) -> AsyncGenerator[Home]:
    """A memory whose historian does not run."""
    async with home(tmp_path / "data", run=False) as made:
        yield made


def message(number: int, content: str, *, minutes: int = 0, **more: str) -> dict[str, object]:
    said = datetime(2026, 3, 1, 8, 0, tzinfo=UTC) + timedelta(minutes=minutes)
    return {"message_id": f"m{number}", "conversation_id": "c", "role": "user", "content": content} | {
        "ts": said.isoformat(),
        **more,
    }


async def recorded(person: Person, *contents: str) -> None:
    messages = [message(number, content, minutes=number) for number, content in enumerate(contents)]
    assert (await person.call("messages_append", messages=messages))["inserted"] == len(contents)


# ---- what is shown


async def test_the_pages_of_an_empty_folder_say_so(still: Home) -> None:
    async with Pages(still.household).browser(guest()) as browser:
        assert "Nothing is remembered yet" in await browser.get()
        assert "Nothing is known yet" in await browser.get("profile")
        assert "No job failed" in await browser.get("queue")
        assert "<svg" in await browser.get("status")
        assert "Nothing was found" in await browser.get(q="吉他")


async def test_the_timeline_has_messages_and_events_newest_first_and_leads_to_all_of_them(house: Home) -> None:
    async with house.client("alice") as alice:
        await alice.remember("Bo 住在杭州。")
        await recorded(alice, *(f"said number {n}" for n in range(120)))
    async with Pages(house.household).browser(guest()) as browser:
        first = await browser.get()
        assert first.index("Bo 住在杭州") < first.index("said number 119") < first.index("said number 118")
        seen: list[str] = []
        shown = first
        while True:
            seen += re.findall(r"said number (\d+)", shown)
            older = re.search(rf'class="more"><a href="{BASE}/\?([^"]*cursor=[^"]*)"', shown)
            if older is None:
                break
            answer = await browser.client.get(f"{BASE}/?{older[1].replace('&amp;', '&')}")
            shown = answer.text
        assert [int(one) for one in seen] == [*range(119, -1, -1)]
        only = await browser.get(kind="events")
        assert "Bo 住在杭州" in only
        assert "said number" not in only
        assert "Bo 住在杭州" not in await browser.get(kind="messages", cursor="")
        await browser.get(cursor="AAAAAAAAAAAAAAAAAAAAAAAAAAAA", status=400)


async def test_search_finds_messages_and_events_in_both_languages(house: Home) -> None:
    async with house.client("alice") as alice:
        await alice.remember("Bo plays the guitar, 也会弹吉他。")
        await recorded(alice, "The guitar stands in the hall.", "吉他在走廊里。", "Something else.")
    async with Pages(house.household).browser(guest()) as browser:
        for query in ("guitar", "吉他"):
            found = await browser.get(q=query)
            assert "Bo plays the guitar" in found
            assert "走廊" in found or "hall" in found
        assert "Bo plays" not in (await browser.get(q="hall", kind="messages")).partition('id="results"')[2]


async def test_an_event_leads_to_its_messages_and_the_profile_lines_that_rest_on_it(house: Home) -> None:
    async with house.client("alice") as alice:
        await recorded(alice, "I live in Bern <now>.")
        await alice.remember("I live in Bern", message_ids=["m0"], source_message="I live in Bern <now>.")
        event_id = (await alice.call("search_events", query="Bern"))["events"][0]["event_id"]
    async with Pages(house.household).browser(guest()) as browser:
        shown = await browser.get("event", id=event_id)
        assert "I live in Bern &lt;now&gt;." in shown
        assert "Profile lines that rest on it" in shown
        assert f"{BASE}/message?id=m0" in shown
        assert "I live in Bern &lt;now&gt;." in await browser.get("message", id="m0")
        assert f"event?id={quote_plus(event_id)}" in await browser.get("profile")
        assert "no event" in await browser.get("event", id="nothing", status=404)
        assert "no message" in await browser.get("message", id="nothing", status=404)


async def test_what_a_person_looks_at_is_no_echo_when_it_is_said_later(house: Home) -> None:
    """P80: only what was handed to an agent may come back as an echo of it."""
    async with house.client("alice") as alice:
        await alice.remember("Bo 住在杭州。")
        async with Pages(house.household).browser(guest()) as browser:
            await browser.get()
            await browser.get(q="杭州")
            await browser.get("profile")
        await alice.remember("Bo 住在杭州。", memo="He said so.")
        await alice.call("search_events", query="杭州")
        await alice.remember("Bo 住在杭州。", memo="It was looked up.")
        with house.household.database.read() as connection:
            rows = connection.execute("SELECT flags FROM events WHERE original = 'Bo 住在杭州。' ORDER BY row")
            assert ["echo" in flags for (flags,) in rows] == [False, False, True]


async def test_a_profile_is_shown_beside_its_history_and_goes_back(house: Home) -> None:
    async with house.client("alice") as alice:
        await alice.remember("Alice keeps three bees.")
        await alice.remember("小爱喜欢爬山。")
    async with Pages(house.household).browser(guest()) as browser:
        shown = await browser.get("profile")
        assert 'class="plus"' in shown
        assert shown.count("小爱喜欢爬山") >= 2
        done = await browser.submit("profile", "profile/rollback")
        assert done.status_code == 303
        after = (await browser.client.get(done.headers["location"])).text
        assert "Went back." in after
        assert "小爱喜欢爬山" not in after.partition("aria-labelledby")[0]


async def test_failed_jobs_are_tried_again_or_thrown_away(tmp_path: Path) -> None:
    blocked(tmp_path)
    async with home(tmp_path) as house, house.client("alice") as alice, house.client("bob") as bob:
        first, second = await failed(alice, "Bo 住在杭州。"), await failed(alice, "Bo 养了一只猫。")
        theirs = await failed(bob, "Bo owns a boat.")
        async with Pages(house.household).browser(guest()) as browser:
            shown = await browser.get("queue")
            assert first in shown
            assert theirs not in shown
            token = forms(shown)[0][1]["csrf"]
            gone = await browser.post("queue/discard", {"csrf": token, "job_id": second})
            assert "1 discarded." in (await browser.client.get(gone.headers["location"])).text
            assert (await browser.post("queue/discard", {"csrf": token, "job_id": theirs})).status_code == 404
            (tmp_path / "profiles").unlink()
            again = await browser.post("queue/retry", {"csrf": token})
            assert "1 will run again." in (await browser.client.get(again.headers["location"])).text
            await alice.settled(first)
        assert (await bob.call("memory_status"))["failed"] == 1


async def test_status_counts_a_month_in_the_zone_of_the_guest(house: Home) -> None:
    async with house.client("alice") as alice:
        await alice.remember("Bo 住在杭州。", "He did it yesterday.")
    look = house.household.memory.of(guest().binding.scope, guest().binding.session).look
    days = await anyio.to_thread.run_sync(look.days, 30)
    assert len(days) == 30
    assert days[-1].events == 2
    assert days[-1].passed == 1, "who is he?"
    assert days[-1].jobs == 1
    async with Pages(house.household).browser(guest()) as browser:
        shown = await browser.get("status")
        assert f"{days[-1].day.isoformat()}: 50%" in shown


# ---- hostile text


async def test_nothing_that_is_stored_becomes_markup(house: Home) -> None:
    async with house.client("alice", sender_name=HOSTILE[:80]) as alice:
        await recorded(alice, HOSTILE, LONG)
        await alice.remember(f"Bo said {HOSTILE}", f"Bo wrote {LONG[:2500]}", memo=HOSTILE)
        events = (await alice.call("search_events", query="Bo"))["events"]
        profile = house.household.folder / "profiles" / "users" / "alice.md"
        text = profile.read_text("utf-8")
        profile.write_text(f"{text}\n- {SCRIPT}[x](javascript:alert(1)) ![y]({FAR}) <b onclick=a>\n")
    async with Pages(house.household).browser(guest()) as browser:
        pages = [await browser.get(page) for page in PAGES]
        pages += [await browser.get("event", id=event["event_id"]) for event in events]
        pages += [await browser.get("message", id=one) for one in ("m0", "m1")]
        pages += [await browser.get(q=HOSTILE), await browser.get("profile", of=f"user:{SCRIPT}", status=404)]
        pages += [await browser.get(**{SCRIPT: SCRIPT}), await browser.get(kind=SCRIPT, lang=SCRIPT, done=SCRIPT)]
    assert any("&lt;script&gt;" in page for page in pages)
    for page in pages:
        elements = Elements(page).found
        assert [one for one in elements if one[0] == "script"] == [
            ("script", {"src": f"{BASE}/static/htmx.min.js", "defer": None})
        ]
        assert not {"img", "iframe", "style", "b", "object", "base"} & {name for name, _ in elements}
        for _, attributes in elements:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            for name in ("href", "src", "action", "hx-get"):
                is_ours = (attributes.get(name) or "/").startswith(("/", "#"))
                assert is_ours or (attributes["href"] == FAR and "noreferrer" in (attributes["rel"] or ""))
        assert "49" not in re.findall(r"吉他 (\d+)", page)
    assert LONG in pages[len(PAGES) + len(events) + 1]


async def test_a_long_message_is_cut_in_lists_and_whole_on_its_page(still: Home) -> None:
    async with still.client("alice") as alice:
        await recorded(alice, LONG)
    async with Pages(still.household).browser(guest()) as browser:
        listed = await browser.get()
        assert LONG not in listed
        assert f"{len(LONG)} characters" in listed
        assert LONG in await browser.get("message", id="m0")


# ---- who sees what


async def test_a_page_never_shows_what_is_somebody_elses(house: Home) -> None:
    """P46: a foreign id is answered in the words of one that never was."""
    async with house.client("bob") as bob, house.client("bob", group="hikers") as in_group:
        await recorded(bob, "bob's secret guitar")
        await bob.remember("Bob hides a guitar.", memo="secret memo")
        await in_group.remember("Bob has a tent.")
        event_id = (await bob.call("search_events", query="guitar"))["events"][0]["event_id"]
    pages = Pages(house.household)
    for who in (guest("alice"), guest("alice", group="climbers"), guest("alice", groups=frozenset({"climbers"}))):
        async with pages.browser(who) as browser:
            shown = [await browser.get(page) for page in PAGES] + [await browser.get(q="guitar secret tent")]
            shown.append(await browser.get("event", id=event_id, status=404))
            never = await browser.get("event", id="0" * len(event_id), status=404)
            assert shown[-1].replace(quote_plus(event_id), "") == never.replace("0" * len(event_id), "")
            shown.append(await browser.get("message", id="m0", status=404))
            shown += [await browser.get("profile", of=one, status=404) for one in ("user:bob", "group:hikers")]
            for page in shown:
                assert not re.search("hides|secret memo|tent\\.|bob's", page)
    async with pages.browser(guest("alice", groups=frozenset({"hikers"}))) as browser:
        assert "Bob has a tent" in await browser.get("profile", of="group:hikers")


async def test_a_cursor_of_one_guest_is_worth_nothing_to_another(still: Home) -> None:
    async with still.client("alice") as alice, still.client("bob") as bob:
        for person in (alice, bob):
            await recorded(person, *(f"number {n}" for n in range(60)))
    pages = Pages(still.household)
    async with pages.browser(guest("alice")) as hers, pages.browser(guest("bob")) as his:
        cursor = re.search(r"cursor=([\w-]+)", await hers.get())
        assert cursor is not None
        await hers.get(kind="all", cursor=cursor[1])
        await his.get(kind="all", cursor=cursor[1], status=400)
        await hers.get(kind="messages", cursor=cursor[1], status=400)


async def test_without_a_visit_there_is_nothing_but_the_way_in(still: Home) -> None:
    async with Pages(still.household).browser() as browser:
        for page in (*PAGES, "event", "message"):
            shown = await browser.get(page, status=401, id="x")
            assert "shiguan ui" in shown
            assert "<nav" not in shown
            assert "password" not in shown, "no tokens are taken here"
        for act in ("queue/retry", "queue/discard", "profile/rollback", "leave", "sign-in"):
            assert (await browser.post(act, {"csrf": ""})).status_code in (401, 403)
        assert (await browser.client.get("/")).status_code == 404
        assert (await browser.client.get(f"{BASE}/static/../site.py")).status_code == 404
        assert (await browser.client.get(f"{BASE}/nothing")).status_code == 404


async def test_a_file_that_is_not_there_and_a_method_that_is_none_are_told_as_such(still: Home) -> None:
    async with Pages(still.household).browser() as browser:
        style = f"{BASE}/static/style.css"
        for path in ("static/nosuch.css", "static/", "static/样式.css", "static/" + "x" * 300, "static/a%00b"):
            answer = await browser.client.get(f"{BASE}/{path}")
            assert answer.status_code == 404, path
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        for method in ("DELETE", "PUT", "POST", "OPTIONS"):
            assert (await browser.client.request(method, style)).status_code == 405, method
        assert (await browser.client.request("DELETE", f"{BASE}/queue")).status_code == 405
        assert (await browser.client.get(style)).status_code == 200
        assert (await browser.client.head(style)).status_code == 200


async def test_a_link_opens_the_pages_once_and_the_key_is_no_cookie(still: Home) -> None:
    pages = Pages(still.household)
    link = pages.link(guest())
    async with pages.browser() as first, pages.browser() as second:
        assert (await first.client.head(link)).status_code == 401, "a look ahead costs nothing"
        entered = await first.client.get(link)
        assert entered.status_code == 303
        cookie = entered.headers["set-cookie"].lower()
        assert all(part in cookie for part in ("httponly", "samesite=strict", f"path={BASE}", "max-age="))
        assert link.partition("key=")[2].lower() not in cookie
        assert await first.get()
        again = await second.client.get(link)
        assert again.status_code == 401
        assert "used already" in again.text
        await second.get(status=401)
        assert await first.get()


async def test_links_and_visits_end_by_themselves(still: Home) -> None:
    from server.web.visits import LINK_SECONDS, LONGEST_SECONDS, UNUSED_SECONDS, Visits

    now = [0.0]
    visits = Visits(lambda: now[0])
    assert not visits.is_anybody_expected
    early, late = visits.invite(guest()), visits.invite(guest())
    assert visits.is_anybody_expected
    key = visits.accept(early)
    assert key is not None
    now[0] = LINK_SECONDS
    assert visits.accept(late) is None
    for _ in range(int(LONGEST_SECONDS / UNUSED_SECONDS) * 2):
        now[0] += UNUSED_SECONDS / 2 - 10
        assert visits.find(key) is not None
    now[0] = LONGEST_SECONDS + LINK_SECONDS
    assert visits.find(key) is None
    other = visits.begin(guest())
    now[0] += UNUSED_SECONDS
    assert visits.find(other) is None
    assert not visits.is_anybody_expected


async def test_leaving_ends_the_visit(still: Home) -> None:
    async with Pages(still.household).browser(guest()) as browser:
        cookies = dict(browser.client.cookies)
        left = await browser.submit("", "leave")
        assert left.status_code == 200
        await browser.get(status=401)
        browser.client.cookies.update(cookies)
        await browser.get(status=401)


async def test_doing_something_needs_the_scope_that_the_tool_of_it_needs(still: Home) -> None:
    pages = Pages(still.household)
    for scopes, status in (({READ}, 403), ({WRITE, READ}, 403), ({ADMIN, READ}, 303)):
        async with pages.browser(guest(scopes=frozenset(scopes))) as browser:
            csrf = forms(await browser.get())[0][1]["csrf"]
            assert (await browser.post("queue/retry", {"csrf": csrf})).status_code == status


async def test_a_guest_who_may_not_read_sees_nothing(still: Home) -> None:
    async with Pages(still.household).browser(guest(scopes=frozenset({WRITE}))) as browser:
        for page in PAGES:
            await browser.get(page, status=403)


# ---- pages of others


async def test_another_host_or_origin_gets_no_page(still: Home) -> None:
    """A page whose name was made to point here names itself in Host."""
    foreign = ({"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example:4000"}, {"Origin": "http://evil.example"})
    async with Pages(still.household).browser(guest()) as browser:
        for headers in foreign:
            answer = await browser.client.get(f"{BASE}/", headers=headers)
            assert answer.status_code in (403, 421)
            assert "<html" not in answer.text


async def test_a_form_that_is_not_ours_does_nothing(still: Home) -> None:
    pages = Pages(still.household)
    async with pages.browser(guest()) as browser, pages.browser(guest()) as other:
        csrf = forms(await browser.get())[0][1]["csrf"]
        foreign = forms(await other.get())[0][1]["csrf"]
        for act in ("queue/retry", "queue/discard", "profile/rollback", "leave"):
            for fields in ({}, {"csrf": ""}, {"csrf": foreign}, {"csrf": "é"}, {"csrf": csrf + "x"}):
                assert (await browser.post(act, fields)).status_code == 403
            good = {"csrf": csrf}
            for origin in (None, "null", "http://evil.example", "http://127.0.0.1:4001"):
                assert (await browser.post(act, good, origin)).status_code == 403
            url, headers = f"{BASE}/{act}", {"Origin": ORIGIN}
            crossed = await browser.client.post(url, data=good, headers=headers | {"Sec-Fetch-Site": "same-site"})
            plain = await browser.client.post(
                url, content=urlencode(good), headers=headers | {"Content-Type": "text/plain"}
            )
            large = await browser.client.post(url, data=good | {"more": "x" * 70_000}, headers=headers)
            assert [one.status_code for one in (crossed, plain, large)] == [403, 403, 403]
            assert (await browser.client.get(url)).status_code in (404, 405)
        assert await browser.get()


async def test_every_answer_carries_the_policy(still: Home) -> None:
    async with Pages(still.household).browser(guest()) as browser:
        answers = [await browser.client.get(f"{BASE}/{page}") for page in (*PAGES, "nothing", "static/style.css")]
        answers.append(await browser.client.get(f"{BASE}/enter?key=x"))
        answers.append(await browser.post("queue/retry", {}))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store" or "static" in str(answer.url)


# ---- languages


ACCEPTED = (
    ("", "en"),
    ("zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
    ("en-GB,en;q=0.9,zh;q=0.1", "en"),
    ("de,fr;q=0.8", "en"),
    ("de, zh-TW;q=0.5, en;q=0.4", "zh-Hans"),
    ("zh;q=0, en", "en"),
    ("zh;q=abc,en;q=0.2", "en"),
    (";;;,,q=" * 400, "en"),
)


async def test_a_page_speaks_as_the_browser_asks(still: Home) -> None:
    async with Pages(still.household).browser(guest()) as browser:
        for wanted, language in ACCEPTED:
            answer = await browser.client.get(f"{BASE}/", headers={"Accept-Language": wanted})
            assert f'<html lang="{language}">' in answer.text, wanted


async def test_a_language_once_chosen_stays(still: Home) -> None:
    async with Pages(still.household).browser(guest()) as browser:
        assert "时间线" in await browser.get(lang="zh")
        assert "档案" in await browser.get("profile")
        assert "Profile" in await browser.get("profile", lang="en")
        assert 'lang="en"' in await browser.get(lang="xx")


def test_every_word_of_the_templates_is_there_in_both_languages() -> None:
    used: set[str] = set()
    for template in TEMPLATES.glob("*.html"):
        used |= set(re.findall(r'\bt\("(\w+)"[,)]', template.read_text("utf-8")))
    used |= {f"change_{action}" for action in get_args(Action)} | {*get_args(JobState)} | {*KINDS}
    assert not used - {"done"} - WORDS.keys()
    for key, (english, chinese) in WORDS.items():
        assert english.count("{}") == chinese.count("{}"), key
        assert re.search(r"[一-龥]", chinese), key
        assert not re.search(r"[一-龥]", english), key


# ---- what goes along


async def test_what_the_pages_need_is_served_and_nothing_else_is_asked_for(still: Home) -> None:
    async with Pages(still.household).browser(guest()) as browser:
        shown = await browser.get()
        needed = re.findall(r'(?:src|href)="([^"]+static/[^"]+)"', shown)
        assert len(needed) == 3
        for address in needed:
            answer: httpx2.Response = await browser.client.get(address)
            assert answer.status_code == 200
            assert not re.search(rb"https?://(?!www\.w3\.org)", answer.content) or "htmx" in address
        assert not re.search(r'(?:src|href|action)="(?!/|#)', shown)


# ---- groups


async def test_statements_of_a_group_are_shown_with_the_chain_of_their_versions(still: Home) -> None:
    async with still.client("bob", group="hikers") as bob:
        await recorded(bob, f"大家周日在北门集合。{SCRIPT}")
    memory_id = await anyio.to_thread.run_sync(stated, still, f"The hikers meet at the gate. {SCRIPT}")
    pages = Pages(still.household)
    who = guest("bob", groups=frozenset({"hikers"}))
    async with pages.browser(who) as browser, pages.browser(guest("alice")) as other:
        listed = await browser.get("groups")
        assert "The hikers meet at the north gate on Sundays." in listed
        assert "meet at the gate." not in listed, "only the newest version"
        shown = await browser.get("statement", id=memory_id)
        assert shown.index("north gate on Sundays") < shown.index("meet at the gate. &lt;script&gt;")
        assert "message?id=m0" in shown
        assert "They said where." in shown
        assert "Nothing is known of a group" in await other.get("groups")
        await other.get("groups", of="hikers", status=404)
        await other.get("statement", id=memory_id, status=404)


def stated(house: Home, statement: str) -> str:
    """Write a statement about the hikers, and a second version of it."""
    store, group = GroupStore(house.household.database), Owner("group", "hikers")
    moment = Moment(int(datetime.now(UTC).timestamp() * 1000), StrengthRule())
    first = moment.create(statement, ["meeting"], "They said so.", ["m0"])
    then = moment.update(
        first.after, "The hikers meet at the north gate on Sundays.", ["meeting"], "They said where.", ["m0"]
    )
    with house.household.database.write() as connection:
        for step in (first, then):
            store.apply(connection, group, step)
    return first.after.memory_id
