"""JSON Web Tokens: what is forged, foreign, expired or confused stays out; what is sound says who asks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from historian.errors import InvalidInputError, NotConfiguredError
from server.http.identity import READ, WRITE, Identity
from server.http.jwt_tokens import make_jwt_verifier
from server.server_settings import ServerSettings
from tests.kit.http import Served

ISSUER = "https://login.example.com"
AUDIENCE = "https://memory.example.com/mcp"


class Issuer:
    """Somebody who signs tokens and publishes keys."""

    def __init__(self, key_id: str = "k1") -> None:
        self.key_id = key_id
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def public_pem(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    @property
    def jwk(self) -> dict[str, Any]:
        return {
            **jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True),
            "kid": self.key_id,
            "use": "sig",
        }

    def sign(self, *, head: Mapping[str, Any] | None = None, **claims: Any) -> str:
        """Return a sound token, changed by `claims`; None leaves one out."""
        given = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "alice",
            "scope": f"openid {READ}",
            "exp": int(time.time()) + 300,
        }
        kept = {name: value for name, value in {**given, **claims}.items() if value is not None}
        headers = {"kid": self.key_id, "typ": "JWT", **(head or {})}
        return jwt.PyJWS().encode(json.dumps(kept).encode(), self.key, "RS256", headers=headers)


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def key_file(tmp_path: Path, issuer: Issuer) -> Path:
    path = tmp_path / "issuer.pem"
    path.write_bytes(issuer.public_pem)
    return path


def settings(**given: Any) -> ServerSettings:
    return ServerSettings(**{"jwt_issuer": ISSUER, **given})


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def forged(head: Mapping[str, Any], claims: Mapping[str, Any], signature: bytes = b"") -> str:
    parts = [base64url(json.dumps(part).encode()) for part in (head, claims)]
    return ".".join([*parts, base64url(signature)])


def claims_of(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


# ---- what a sound one says


async def test_a_sound_token_says_who_asks_and_what_it_may(key_file: Path, issuer: Issuer) -> None:
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file)), AUDIENCE)
    token = issuer.sign(
        sub=" 小明 ",
        groups=["team", "家"],
        azp="claude",
        name="Xiao  Ming",
        zoneinfo="Asia/Shanghai",
        scope=f"{READ} {WRITE} x",
    )
    identity = await verifier.verify(token)
    assert identity == Identity(
        client_id="claude",
        user_id="小明",
        groups=frozenset({"team", "家"}),
        scopes=frozenset({READ, WRITE}),
        issuer=ISSUER,
        expires_at=claims_of(token)["exp"],
        timezone="Asia/Shanghai",
        name="Xiao Ming",
    )


async def test_the_claims_are_named_by_settings(key_file: Path, issuer: Issuer) -> None:
    named = settings(
        jwt_key_file=str(key_file), jwt_user_claim="email", jwt_groups_claim="roles", jwt_scope_claim="permissions"
    )
    verifier = make_jwt_verifier(named, AUDIENCE)
    token = issuer.sign(email="a@example.com", roles="red green", permissions=[WRITE], scope=None, groups=["other"])
    identity = await verifier.verify(token)
    assert identity is not None
    assert (identity.user_id, identity.groups, identity.scopes) == ("a@example.com", {"red", "green"}, {WRITE})


async def test_a_token_without_our_scopes_may_nothing(key_file: Path, issuer: Issuer) -> None:
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file)), AUDIENCE)
    for scope in (None, "", "read write admin", "shiguan:everything", "shiguan:*"):
        identity = await verifier.verify(issuer.sign(scope=scope))
        assert identity is not None
        assert identity.scopes == frozenset()


async def test_one_of_several_audiences_suffices_and_a_zone_that_is_none_is_left_out(
    key_file: Path, issuer: Issuer
) -> None:
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file)), AUDIENCE)
    identity = await verifier.verify(issuer.sign(aud=["other", AUDIENCE], zoneinfo="Mars/Olympus"))
    assert identity is not None
    assert identity.timezone is None


# ---- what stays out


CHANGES: list[dict[str, Any]] = [
    {"exp": 1_700_000_000},
    {"exp": None},
    {"exp": "soon"},
    {"nbf": 4_000_000_000},
    {"iat": "yesterday"},
    {"aud": "https://other.example.com/mcp"},
    {"aud": None},
    {"aud": AUDIENCE + "/"},
    {"aud": AUDIENCE.upper()},
    {"iss": "https://evil.example.com"},
    {"iss": ISSUER + "/"},
    {"iss": None},
    {"iss": [ISSUER]},
    {"sub": 7},
    {"sub": ""},
    {"sub": "a\u0000b"},
    {"sub": "x" * 600},
    {"groups": {"team": True}},
    {"groups": [1]},
    {"groups": [""]},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: "-".join(f"{k}={v}"[:30] for k, v in change.items()))
async def test_a_wrong_claim_keeps_a_signed_token_out(key_file: Path, issuer: Issuer, change: dict[str, Any]) -> None:
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file)), AUDIENCE)
    assert await verifier.verify(issuer.sign(**change)) is None


async def test_forged_signatures_and_other_algorithms_stay_out(key_file: Path, issuer: Issuer) -> None:
    """`alg: none`; the public key used as a shared secret; a key that the token brings along; another issuer's key."""
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file)), AUDIENCE)
    sound = issuer.sign()
    claims = claims_of(sound)
    head, body, signature = sound.split(".")
    confused = [
        (lambda text, key=key: hmac.new(key, text, hashlib.sha256).digest())
        for key in (issuer.public_pem, issuer.public_pem.strip(), b"", b"secret")
    ]
    hs256 = forged({"alg": "HS256", "typ": "JWT"}, claims).rpartition(".")[0]
    stranger = Issuer()
    tokens = [
        *(forged({"alg": alg, "typ": "JWT"}, claims) for alg in ("none", "None", "NONE", "nOnE", "", "RS256", "HS256")),
        forged({"typ": "JWT"}, claims),
        *(f"{hs256}.{base64url(sign(hs256.encode()))}" for sign in confused),
        stranger.sign(),
        stranger.sign(head={"jwk": stranger.jwk, "jku": "https://evil.example.com/jwks", "x5u": "file:///etc/passwd"}),
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{head}.{body}.{signature}.{signature}",
        f"{head}.{base64url(json.dumps(claims | {'sub': 'bob'}).encode())}.{signature}",
        f"{head}.{body}.{signature[:-4]}AAAA",
        "",
        "..",
        "a.b.c",
        "x" * 100_000 + ".b.c",
        jwt.encode(claims, issuer.key, "RS512"),
        jwt.encode(claims, issuer.key, "PS256"),
        jwt.encode(claims, ec.generate_private_key(ec.SECP256R1()), "ES256"),
    ]
    for token in tokens:
        assert await verifier.verify(token) is None, token[:120]
    assert await verifier.verify(sound) is not None


async def test_a_shared_secret_works_where_it_is_asked_for_and_public_keys_do_not_count_as_one(
    tmp_path: Path, issuer: Issuer
) -> None:
    path = tmp_path / "secret"
    path.write_text("s" * 48 + "\n", encoding="ascii")
    verifier = make_jwt_verifier(settings(jwt_key_file=str(path), jwt_algorithms=("HS256",)), AUDIENCE)
    assert await verifier.verify(jwt.encode(claims_of(issuer.sign()), "s" * 48, "HS256")) is not None
    assert await verifier.verify(issuer.sign()) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"jwt_issuer": "", "jwt_key_file": "{pem}"}, "jwt_issuer"),
        ({}, "jwt_jwks_url or server.jwt_key_file"),
        ({"jwt_key_file": "{pem}", "jwt_jwks_url": "https://x.example/jwks"}, "either"),
        ({"jwt_key_file": "{pem}", "jwt_algorithms": ("RS256", "HS256")}, "mixes"),
        ({"jwt_jwks_url": "https://x.example/jwks", "jwt_algorithms": ("HS256",)}, "no URL may publish"),
        ({"jwt_jwks_url": "http://x.example/jwks"}, "https"),
        ({"jwt_jwks_url": "file:///etc/passwd"}, "https"),
        ({"jwt_key_file": "{folder}/absent"}, "cannot be read"),
        ({"jwt_key_file": "{empty}"}, "no key"),
        ({"jwt_key_file": "{private}"}, "private key"),
        ({"jwt_key_file": "{pem}", "jwt_algorithms": ("ES256",)}, "no key for"),
        ({"jwt_key_file": "{pem}", "jwt_algorithms": ("HS256",)}, "no key for"),
        ({"jwt_key_file": "{short}", "jwt_algorithms": ("HS256",)}, "too short"),
    ],
)
def test_settings_that_would_let_anybody_in_are_refused_at_the_start(
    tmp_path: Path, key_file: Path, issuer: Issuer, given: dict[str, Any], words: str
) -> None:
    private = issuer.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for name, data in (("empty", b"\n"), ("private", private), ("short", b"secret")):
        (tmp_path / name).write_bytes(data)
    places = {"pem": key_file, "folder": tmp_path, **{name: tmp_path / name for name in ("empty", "private", "short")}}
    filled = {name: value.format(**places) if isinstance(value, str) else value for name, value in given.items()}
    with pytest.raises((InvalidInputError, NotConfiguredError)) as caught:
        make_jwt_verifier(settings(**filled), AUDIENCE)
    assert words in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert caught.value.path == (str(tmp_path / "absent") if "absent" in str(given) else None)


# ---- keys from a URL


class KeyServer(ThreadingHTTPServer):
    """Publishes keys, counts who fetches them, and can be broken."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Keys)
        self.keys: list[dict[str, Any]] = []
        self.fetches = 0
        self.is_broken = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/jwks"


class _Keys(BaseHTTPRequestHandler):
    server: KeyServer

    def do_GET(self) -> None:
        self.server.fetches += 1
        body = json.dumps({"keys": self.server.keys}).encode()
        self.send_response(500 if self.server.is_broken else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:  # type: ignore[override]
        return


@contextmanager
def publishing(*issuers: Issuer) -> Generator[KeyServer]:
    with KeyServer() as server:
        server.keys = [issuer.jwk for issuer in issuers]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


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


async def test_a_key_server_that_fails_keeps_everybody_out_but_is_not_asked_each_time(issuer: Issuer) -> None:
    with publishing(issuer) as server:
        server.is_broken = True
        verifier = make_jwt_verifier(settings(jwt_jwks_url=server.url), AUDIENCE)
        for _ in range(10):
            assert await verifier.verify(issuer.sign()) is None
        assert server.fetches == 1


async def test_a_published_shared_secret_is_no_key(issuer: Issuer) -> None:
    secret = base64url(b"s" * 48)
    with publishing(issuer) as server:
        server.keys = [{"kty": "oct", "k": secret, "kid": "k1", "alg": "HS256"}]
        verifier = make_jwt_verifier(settings(jwt_jwks_url=server.url), AUDIENCE)
        token = jwt.encode(claims_of(issuer.sign()), "s" * 48, "HS256", headers={"kid": "k1"})
        assert await verifier.verify(token) is None
        assert await verifier.verify(issuer.sign()) is None


# ---- over the wire


@pytest.mark.process
def test_a_server_takes_the_tokens_of_an_issuer_and_says_where_to_get_them(tmp_path: Path, issuer: Issuer) -> None:
    with publishing(issuer) as keys:
        toml = (
            f'[server]\npublic_url = "{AUDIENCE}"\njwt_issuer = "{ISSUER}"\njwt_jwks_url = "{keys.url}"\n'
            'allowed_hosts = ["127.0.0.1"]\n'
        )
        with Served(tmp_path / "data", toml=toml) as served:
            _check_metadata(served)
            _check_tokens(served, issuer)


def _check_metadata(served: Served) -> None:
    refused = served.ask("POST", body={})
    assert refused.status == 401
    path = "/.well-known/oauth-protected-resource"
    assert f'resource_metadata="https://memory.example.com{path}/mcp"' in refused.headers["www-authenticate"]
    for place in (path, f"{path}/mcp"):
        answer = served.ask("GET", place)
        assert answer.status == 200
        about = answer.message
        assert about["resource"] == AUDIENCE
        assert about["authorization_servers"] == [ISSUER]
        assert READ in about["scopes_supported"]
        assert about["bearer_methods_supported"] == ["header"]


def _check_tokens(served: Served, issuer: Issuer) -> None:
    assert served.call(issuer.sign(), "get_profile").status == 200
    for change in ({"aud": "https://other.example.com"}, {"exp": 1}, {"iss": "https://evil.example.com"}):
        assert served.call(issuer.sign(**change), "get_profile").status == 401
    claims = claims_of(issuer.sign())
    assert served.call(forged({"alg": "none"}, claims), "get_profile").status == 401
    assert served.call(jwt.encode(claims, issuer.public_pem[:64], "HS256"), "get_profile").status == 401
    _check_that_a_session_takes_each_request_for_what_its_own_token_may(served, issuer)


def _check_that_a_session_takes_each_request_for_what_its_own_token_may(served: Served, issuer: Issuer) -> None:
    """A refreshed token of the same person goes on with the session; one that may less may less in it too."""
    session = served.open_session(issuer.sign(scope=f"{READ} {WRITE}"))
    end = {"name": "end", "arguments": {"memo": "tea"}}
    assert served.legacy(issuer.sign(scope=f"{READ} {WRITE}"), session, "tools/call", end).status == 200
    assert served.legacy(issuer.sign(scope=READ), session, "tools/call", end).status == 403
    assert served.legacy(issuer.sign(sub="bob", scope=f"{READ} {WRITE}"), session, "tools/call", end).status == 404
    read = {"name": "search_events", "arguments": {"query": "x", "target_group_id": "club"}}
    assert served.legacy(issuer.sign(groups=["club"]), session, "tools/call", read).status == 200


async def test_an_audience_that_the_settings_name_takes_the_place_of_the_address(
    key_file: Path, issuer: Issuer
) -> None:
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file), jwt_audience="the-memory"), AUDIENCE)
    assert await verifier.verify(issuer.sign(aud="the-memory")) is not None
    assert await verifier.verify(issuer.sign(aud=AUDIENCE)) is None
