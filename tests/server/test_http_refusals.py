"""What the protocol's own client tells its user of a refusal at the door: the sentence, in both eras."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST

from server.http.admission import challenge_sentence
from server.http.binder import MAY_NOT_ACT
from server.http.door import TOO_LARGE, WRONG_HOST, WRONG_TOKEN
from server.http.identity import READ, WRITE
from tests.kit.http import Served, connected, initialize, request

pytestmark = pytest.mark.process

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
WRONG = "shiguan_00000000_" + "A" * 43


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    toml = "[server]\nrate_limit = 30\nmax_body_bytes = 4096\n"
    server = Served(tmp_path_factory.mktemp("refusals") / "data", toml=toml)
    server.token("first")
    with server:
        yield server


async def refused(served: Served, token: str, mode: str, tool: str, /, meta: Any = None, **arguments: Any) -> MCPError:
    """Return what the client raises when it calls a tool."""
    async with served.client(token, mode) as person:
        with pytest.raises(MCPError) as caught:
            await person.client.call_tool(tool, arguments, meta=meta)
    return caught.value


@ERAS
async def test_a_client_is_told_which_scope_its_token_lacks(served: Served, mode: str) -> None:
    error = await refused(served, served.token("ann", scopes=[READ]), mode, "end", memo="今天下雨")
    assert (error.code, error.message) == (INVALID_REQUEST, challenge_sentence(WRITE))
    assert error.data == {"error": "insufficient_scope"}


@ERAS
async def test_a_client_is_told_that_its_token_may_not_name_a_user(served: Served, mode: str) -> None:
    error = await refused(served, served.token("ben"), mode, "get_profile", {"shiguan/user_id": "小林"})
    assert error.message == MAY_NOT_ACT


@ERAS
async def test_a_client_is_told_that_its_token_is_unknown(served: Served, mode: str) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(MCPError, match=WRONG_TOKEN), flatten_subgroups=True):
        async with connected(served.url, WRONG, mode):
            pass


@ERAS
async def test_a_client_is_told_how_long_to_wait(served: Served, mode: str) -> None:
    token = served.token("cleo")
    async with served.client(token, mode) as person:
        with pytest.raises(MCPError) as caught:
            for _ in range(40):
                await person.client.call_tool("get_profile", {})
    seconds = caught.value.data["retry_after"]
    assert caught.value.data == {"error": "too_many", "retry_after": seconds}
    assert 1 <= seconds <= 2
    assert caught.value.message == f"Too many requests with this token; try again in {seconds} s."


@ERAS
async def test_a_client_is_told_that_its_message_is_too_large(served: Served, mode: str) -> None:
    error = await refused(served, served.token("dee"), mode, "end", memo="长" * 4096)
    assert error.message == TOO_LARGE


def test_a_refused_message_is_answered_with_an_error_of_the_protocol_and_the_same_headers(served: Served) -> None:
    answer = served.ask("POST", token=WRONG, body=initialize())
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token"')
    assert answer.headers["connection"] == "close"
    error = {"code": INVALID_REQUEST, "message": WRONG_TOKEN, "data": {"error": "invalid_token"}}
    assert answer.message == {"jsonrpc": "2.0", "id": None, "error": error}
    elsewhere = served.ask("POST", body=request("ping"), headers={"Host": "evil.example"})
    assert (elsewhere.status, elsewhere.message["error"]["message"]) == (421, WRONG_HOST)


@pytest.mark.parametrize(("method", "path"), [("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/metrics"), ("POST", "/x")])
def test_what_is_no_message_to_the_endpoint_is_refused_as_before(served: Served, method: str, path: str) -> None:
    answer = served.ask(method, path, token=WRONG)
    assert answer.status == 401
    assert answer.message == {"error": "invalid_token", "error_description": WRONG_TOKEN}
