"""The pages of an HTTP server: the same tokens open them, and nothing else but a link of the operator does."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from server.http.identity import ACT_AS, ADMIN, READ, WRITE
from tests.kit.http import Answer, Served
from tests.kit.stdio import environment, run

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="ends processes by signals")]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    folder = tmp_path_factory.mktemp("http") / "data"
    server = Served(folder)
    server.folder.mkdir(mode=0o700, exist_ok=True)
    server.token("alice")
    with server:
        yield server


def form(served: Served, path: str, fields: dict[str, str], *, cookie: str = "", origin: str = "") -> Answer:
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Origin": origin or f"http://127.0.0.1:{served.port}",
        **({"Cookie": cookie} if cookie else {}),
    }
    return served.ask("POST", path, body=urlencode(fields).encode(), headers=headers)


def sign_in(served: Served, token: str) -> str:
    """Return the cookie that a token is exchanged for."""
    answer = form(served, "/ui/sign-in", {"token": token})
    assert answer.status == 303, answer.text
    assert answer.headers["location"] == "/ui/"
    assert token not in str(answer.headers)
    return answer.headers["set-cookie"].partition(";")[0]


def page(served: Served, cookie: str, path: str = "/ui/") -> Answer:
    return served.ask("GET", path, headers={"Cookie": cookie})


def test_a_bearer_token_shows_the_pages_of_its_user(served: Served) -> None:
    answer = served.ask("GET", "/ui/", token=served.token("alice"))
    assert answer.status == 200
    assert "alice" in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert served.ask("GET", "/ui").status == 307
    for token in (None, "shiguan_00000000_" + "A" * 43):
        refused = served.ask("GET", "/ui/", token=token)
        assert refused.status == 401
        assert 'type="password"' in refused.text


def test_a_token_is_exchanged_for_a_cookie_that_ends_with_it(served: Served) -> None:
    stored, token = served.tokens.create("alice", scopes=[READ, WRITE])
    cookie = sign_in(served, token)
    assert page(served, cookie).status == 200
    assert served.ask("POST", "/mcp", body={}, headers={"Cookie": cookie}).status == 401, "it opens the pages only"
    csrf = re.search(r'name="csrf" value="([^"]+)"', page(served, cookie).text)
    assert csrf is not None
    refused = form(served, "/ui/queue/retry", {"csrf": csrf[1]}, cookie=cookie)
    assert refused.status == 403
    assert ADMIN in refused.text
    served.tokens.revoke(stored.token_id)
    assert page(served, cookie).status == 401


def test_a_token_with_the_scope_may_act_on_the_pages(served: Served) -> None:
    cookie = sign_in(served, served.token("alice", scopes=[READ, ADMIN]))
    csrf = re.search(r'name="csrf" value="([^"]+)"', page(served, cookie).text)
    assert csrf is not None
    assert form(served, "/ui/queue/retry", {"csrf": csrf[1]}, cookie=cookie).status == 303
    assert form(served, "/ui/queue/retry", {"csrf": "x"}, cookie=cookie).status == 403
    other = form(served, "/ui/queue/retry", {"csrf": csrf[1]}, cookie=cookie, origin="http://evil.example")
    assert other.status == 403
    assert form(served, "/ui/leave", {"csrf": csrf[1]}, cookie=cookie).status == 200
    assert page(served, cookie).status == 401


@pytest.mark.parametrize("scopes", [[WRITE], [ADMIN]])
def test_a_token_that_may_not_read_sees_nothing(served: Served, scopes: list[str]) -> None:
    assert served.ask("GET", "/ui/", token=served.token("alice", scopes=scopes)).status == 403


def test_a_token_that_speaks_for_nobody_opens_no_page(served: Served) -> None:
    token = served.token(None, scopes=[READ, ACT_AS])
    assert served.ask("GET", "/ui/", token=token).status == 401
    assert form(served, "/ui/sign-in", {"token": token}).status == 401


def test_nobody_is_signed_in_by_a_page_of_somebody_else(served: Served) -> None:
    token = served.token("mallory")
    answer = form(served, "/ui/sign-in", {"token": token}, origin="http://evil.example")
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    bare = served.ask(
        "POST",
        "/ui/sign-in",
        body=urlencode({"token": token}).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert bare.status == 403


def test_the_operator_opens_the_pages_by_a_link_too(served: Served) -> None:
    done = run("ui", "--data-dir", str(served.folder), "--user", "bob", env=environment("fast"))
    link = done.stdout.decode().strip()
    assert link.startswith(f"http://127.0.0.1:{served.port}/ui/enter?key=")
    path = link.removeprefix(f"http://127.0.0.1:{served.port}")
    entered = served.ask("GET", path)
    assert entered.status == 303
    assert "bob" in page(served, entered.headers["set-cookie"].partition(";")[0]).text
    assert served.ask("GET", path).status == 401


def test_where_one_person_is_served_without_tokens_the_pages_are_open_to_that_person(tmp_path: Path) -> None:
    with Served(tmp_path / "data", "--user", "me") as served:
        answer = served.ask("GET", "/ui/status")
        assert answer.status == 200
        cookie = answer.headers["set-cookie"].partition(";")[0]
        csrf = re.search(r'name="csrf" value="([^"]+)"', page(served, cookie).text)
        assert csrf is not None
        assert form(served, "/ui/queue/retry", {"csrf": csrf[1]}, cookie=cookie).status == 303
        assert form(served, "/ui/queue/retry", {"csrf": csrf[1]}).status == 401
        assert served.ask("GET", "/ui/", headers={"Host": "evil.example"}).status == 421


def test_behind_a_proxy_the_links_are_those_of_the_public_address(tmp_path: Path) -> None:
    toml = '[server]\npublic_url = "https://memory.example.com/shiguan/mcp"\n'
    server = Served(tmp_path / "data", toml=toml)
    token = server.token("alice")
    with server as served:
        host = {"Host": "memory.example.com", "Origin": "https://memory.example.com"}
        shown = served.ask("GET", "/ui/", token=token, headers=host)
        assert 'href="/shiguan/ui/status"' in shown.text
        headers = host | {"Content-Type": "application/x-www-form-urlencoded"}
        answer = served.ask("POST", "/ui/sign-in", body=urlencode({"token": token}).encode(), headers=headers)
        assert answer.status == 303
        assert answer.headers["location"] == "/shiguan/ui/"
        cookie = answer.headers["set-cookie"].lower()
        assert "secure" in cookie
        assert "path=/shiguan/ui" in cookie
