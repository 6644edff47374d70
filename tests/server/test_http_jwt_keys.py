"""Published keys: fetched when they are needed, kept while the issuer is out of reach, and no token blamed for that."""

from __future__ import annotations

import logging
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import jwt
import pytest

from historian.errors import IssuerUnreachableError
from server.http.identity import Identity
from server.http.jwks import KeyClient
from server.http.jwt_keys import UNREACHABLE, PublishedKeys
from server.http.jwt_tokens import JwtVerifier, make_jwt_verifier
from server.http.watching import Watch
from server.web.words import WORDS
from tests.kit.http import Served
from tests.kit.issuer import AUDIENCE, ISSUER, Issuer, KeyServer, base64url, claims_of, publishing, settings

BRIEFLY = 1e-9
"""Seconds that fetched keys count as fresh."""


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@contextmanager
def silent() -> Generator[str]:
    """Give an address at which nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/jwks"


def closed() -> str:
    """Return an address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}/jwks"


def short_lived(server: KeyServer) -> JwtVerifier:
    """Return a verifier that wants to fetch the keys for each token."""
    return JwtVerifier(PublishedKeys(KeyClient(server.url, lifespan=BRIEFLY)), settings(), AUDIENCE)


async def test_published_keys_are_fetched_once_and_unknown_ones_do_not_make_us_fetch_again_and_again(
    issuer: Issuer,
) -> None:
    with publishing(issuer) as server:
        verifier = make_jwt_verifier(settings(jwt_jwks_url=server.url), AUDIENCE)
        for _ in range(5):
            assert await verifier.verify(issuer.sign()) is not None
        assert server.fetches == 1
        for number in range(20):
            assert await verifier.verify(Issuer.sign(issuer, head={"kid": f"made-up-{number}"})) is None
        assert server.fetches <= 2
        assert await verifier.verify(issuer.sign(head={"kid": "../../etc"})) is None


async def test_a_published_shared_secret_is_no_key(issuer: Issuer) -> None:
    secret = base64url(b"s" * 48)
    with publishing(issuer) as server:
        server.keys = [{"kty": "oct", "k": secret, "kid": "k1", "alg": "HS256"}]
        verifier = make_jwt_verifier(settings(jwt_jwks_url=server.url), AUDIENCE)
        token = jwt.encode(claims_of(issuer.sign()), "s" * 48, "HS256", headers={"kid": "k1"})
        assert await verifier.verify(token) is None
        assert await verifier.verify(issuer.sign()) is None


# ---- an issuer out of reach


async def test_a_key_server_that_fails_keeps_everybody_out_but_is_not_asked_each_time(issuer: Issuer) -> None:
    with publishing(issuer) as server:
        server.is_broken = True
        verifier = make_jwt_verifier(settings(jwt_jwks_url=server.url), AUDIENCE)
        for _ in range(10):
            with pytest.raises(IssuerUnreachableError):
                await verifier.verify(issuer.sign())
        assert server.fetches == 1


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b'{"keys": []}', b'{"keys": 7}', b"\xff", b"[" * 100_000])
async def test_an_answer_without_keys_blames_no_token(issuer: Issuer, answer: bytes) -> None:
    with publishing(issuer) as server:
        server.instead = answer
        verifier = make_jwt_verifier(settings(jwt_jwks_url=server.url), AUDIENCE)
        with pytest.raises(IssuerUnreachableError):
            await verifier.verify(issuer.sign())


async def test_the_log_names_the_address_and_the_cause_once_and_not_the_token(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    url = closed()
    verifier = make_jwt_verifier(settings(jwt_jwks_url=f"{url}?key=hidden"), AUDIENCE)
    token = issuer.sign()
    for _ in range(3):
        with pytest.raises(IssuerUnreachableError):
            await verifier.verify(token)
    assert caplog.text.count(f"cannot be fetched from {url}: ") == 1
    assert "refused" in caplog.text
    assert token not in caplog.text
    assert "hidden" not in caplog.text


async def test_an_issuer_that_does_not_answer_in_time_is_out_of_reach(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    with silent() as url:
        verifier = JwtVerifier(PublishedKeys(KeyClient(url, timeout=0.1)), settings(), AUDIENCE)
        with pytest.raises(IssuerUnreachableError):
            await verifier.verify(issuer.sign())
    assert "timed out" in caplog.text


async def test_an_answer_that_comes_a_byte_at_a_time_is_waited_for_no_longer_than_a_whole_one(issuer: Issuer) -> None:
    with publishing(issuer) as server:
        server.drips = 0.1
        verifier = JwtVerifier(PublishedKeys(KeyClient(server.url, timeout=0.5)), settings(), AUDIENCE)
        with anyio.fail_after(20), pytest.raises(IssuerUnreachableError):
            await verifier.verify(issuer.sign())


async def test_a_connection_that_is_reset_is_an_outage_like_any_other(issuer: Issuer) -> None:
    with publishing(issuer) as server:
        server.resets = True
        verifier = make_jwt_verifier(settings(jwt_jwks_url=server.url), AUDIENCE)
        with pytest.raises(IssuerUnreachableError):
            await verifier.verify(issuer.sign())
        server.resets = False
        kept = short_lived(server)
        assert await kept.verify(issuer.sign()) is not None
        server.resets = True
        assert await kept.verify(issuer.sign()) is not None


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256"])
async def test_a_key_that_names_no_algorithm_is_good_for_all_that_are_set(issuer: Issuer, algorithm: str) -> None:
    with publishing(issuer) as server:
        wanted = settings(jwt_jwks_url=server.url, jwt_algorithms=["RS256", "RS512", "PS256"])
        signed = jwt.encode(claims_of(issuer.sign()), issuer.key, algorithm, headers={"kid": issuer.key_id})
        assert await make_jwt_verifier(wanted, AUDIENCE).verify(signed) is not None
        server.keys = [issuer.jwk | {"alg": "RS256"}]
        found = await make_jwt_verifier(wanted, AUDIENCE).verify(signed)
        assert (found is not None) is (algorithm == "RS256")


async def test_what_is_wrong_on_its_face_is_no_fault_of_the_issuer(issuer: Issuer) -> None:
    verifier = make_jwt_verifier(settings(jwt_jwks_url=closed()), AUDIENCE)
    changes: list[dict[str, Any]] = [{"exp": 1}, {"iss": "https://evil.example.com"}, {"aud": "other"}, {"aud": None}]
    sound = issuer.sign()
    wrong = [
        *(issuer.sign(**change) for change in changes),
        jwt.encode(claims_of(sound), key=None, algorithm="none"),
        jwt.encode(claims_of(sound), "s" * 48, "HS256"),
        "a.b.c",
        sound.replace(".", "!", 1),
    ]
    for token in wrong:
        assert await verifier.verify(token) is None, token[:120]


async def test_keys_that_were_fetched_once_count_on_while_the_issuer_is_out_of_reach(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with publishing(issuer) as server:
        verifier = short_lived(server)
        assert await verifier.verify(issuer.sign()) is not None
        server.is_broken = True
        assert await verifier.verify(issuer.sign(sub="小明")) is not None
        assert "500" in caplog.text
        with pytest.raises(IssuerUnreachableError):  # its key may have come meanwhile
            await verifier.verify(issuer.sign(head={"kid": "new"}))


async def test_an_open_stream_goes_on_while_its_issuer_is_out_of_reach(issuer: Issuer) -> None:
    with publishing(issuer) as server:
        watch = Watch(short_lived(server), 1.0)
        token = issuer.sign()
        identity = await watch.verify(token)
        assert identity is not None
        server.is_broken = True
        with watch.over(token, identity) as stream:
            await watch.look()
            assert not stream.cancel_called
        assert server.fetches > 2


class OneIsSlow:
    """Knows two tokens; about `slow` it is asked in vain until `go` is set."""

    def __init__(self) -> None:
        self.go, self.asked = anyio.Event(), anyio.Event()
        self.times = 0
        self.known = {"slow": Identity("t1", "alice"), "quick": Identity("t2", "bob")}

    async def verify(self, token: str) -> Identity | None:
        """Return whom a token speaks for."""
        if token == "slow":
            self.times += 1
            self.asked.set()
            await self.go.wait()
        return self.known.get(token)


async def test_a_slow_issuer_keeps_no_stream_of_another_token_open() -> None:
    verifier = OneIsSlow()
    watch = Watch(verifier, 0.01)
    ended = {token: anyio.Event() for token in verifier.known}

    async def stream(token: str) -> None:
        with watch.over(token, verifier.known[token]):
            await anyio.sleep_forever()
        ended[token].set()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for token in verifier.known:
                tasks.start_soon(stream, token)
            tasks.start_soon(watch.run)
            await verifier.asked.wait()
            del verifier.known["quick"]
            await ended["quick"].wait()
            assert not ended["slow"].is_set()
            assert verifier.times == 1
            del verifier.known["slow"]
            verifier.go.set()
            await ended["slow"].wait()
            tasks.cancel_scope.cancel()


@pytest.mark.process
def test_over_http_an_issuer_out_of_reach_is_503_and_a_bad_token_is_401(tmp_path: Path, issuer: Issuer) -> None:
    url = closed()
    toml = f'[server]\njwt_audience = "{AUDIENCE}"\njwt_issuer = "{ISSUER}"\njwt_jwks_url = "{url}"\n'
    with Served(tmp_path / "data", toml=toml) as served:
        stored = served.token("bob")
        token = issuer.sign()
        answer = served.call(token, "get_profile")
        assert answer.status == 503
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert answer.message["error"]["message"] == UNREACHABLE
        assert "www-authenticate" not in answer.headers
        assert served.call(issuer.sign(exp=1), "get_profile").status == 401
        assert served.call(stored, "get_profile").status == 200
        for number, language in enumerate(("en", "zh")):
            page = served.ask("GET", "/ui/", token=token, headers={"Accept-Language": language})
            assert page.status == 503
            assert WORDS["issuer_unreachable"][number] in page.text
            assert int(page.headers["retry-after"]) > 0
        assert served.said(f"cannot be fetched from {url}: ")
        assert token not in served.stderr
