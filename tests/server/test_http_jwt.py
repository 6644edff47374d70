"""JSON Web Tokens: what is forged, foreign, expired or confused stays out; what is sound says who asks."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from historian.errors import InvalidInputError, NotConfiguredError
from server.http.identity import ACT_AS, READ, WRITE, Identity
from server.http.jwt_tokens import make_jwt_verifier
from tests.kit.http import Served
from tests.kit.issuer import AUDIENCE, ISSUER, Issuer, base64url, claims_of, publishing, settings


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def key_file(tmp_path: Path, issuer: Issuer) -> Path:
    path = tmp_path / "issuer.pem"
    path.write_bytes(issuer.public_pem)
    return path


def forged(head: Mapping[str, Any], claims: Mapping[str, Any], signature: bytes = b"") -> str:
    parts = [base64url(json.dumps(part).encode()) for part in (head, claims)]
    return ".".join([*parts, base64url(signature)])


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


async def test_a_token_that_names_no_user_stays_out_unless_it_may_name_one_in_each_call(
    key_file: Path, issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file), jwt_user_claim="email"), AUDIENCE)
    assert await verifier.verify(issuer.sign()) is None
    assert "the claim email is missing, which names the user (server.jwt_user_claim)" in caplog.text
    bot = await verifier.verify(issuer.sign(scope=f"{READ} {ACT_AS}"))
    assert bot is not None
    assert (bot.user_id, bot.scopes) == (None, {READ, ACT_AS})


REASONS: list[tuple[dict[str, Any], str]] = [
    ({"exp": 1}, "it has expired (exp)"),
    ({"exp": None}, "the claim exp is missing"),
    ({"nbf": 4_000_000_000}, "not valid yet"),
    ({"aud": "https://sekret.example.com/mcp"}, f"its audience (aud) is not {AUDIENCE}; see server.jwt_audience"),
    ({"aud": None}, "the claim aud is missing"),
    ({"iss": "https://sekret.example.com"}, f"its issuer (iss) is not {ISSUER}; see server.jwt_issuer"),
    ({"sub": None}, "the claim sub is missing"),
    ({"email": "sekret", "sub": ""}, "The claim sub is empty"),
    ({"groups": {"sekret": 1}}, "the claim groups must be a list of texts"),
    ({"scope": 7}, "the claim scope must be a list of texts"),
]


@pytest.mark.parametrize(("change", "words"), REASONS, ids=[words for _, words in REASONS])
async def test_the_log_says_what_is_wrong_with_a_token_and_repeats_nothing_of_it(
    key_file: Path, issuer: Issuer, caplog: pytest.LogCaptureFixture, change: dict[str, Any], words: str
) -> None:
    caplog.set_level(logging.INFO)
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file)), AUDIENCE)
    token = issuer.sign(**change)
    assert await verifier.verify(token) is None
    assert "a JWT was refused: " in caplog.text
    assert words in caplog.text
    assert "sekret" not in caplog.text
    assert not any(part in caplog.text for part in token.split("."))


async def test_the_log_tells_a_wrong_key_from_a_wrong_algorithm(
    key_file: Path, issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    verifier = make_jwt_verifier(settings(jwt_key_file=str(key_file)), AUDIENCE)
    assert await verifier.verify(Issuer().sign()) is None
    assert "its signature was not made with the issuer's key" in caplog.text
    assert await verifier.verify(jwt.encode(claims_of(issuer.sign()), issuer.key, "RS512")) is None
    assert "its algorithm (alg) is not one of server.jwt_algorithms" in caplog.text


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
        ({"jwt_key_file": "{short}", "jwt_algorithms": ("HS256",)}, "too short: HS256 needs at least 32 bytes"),
        ({"jwt_key_file": "{short}", "jwt_algorithms": ("HS512",)}, "too short: HS512 needs at least 64 bytes"),
        ({"jwt_key_file": "{weak}"}, "too short: RS256 needs at least 2048 bits"),
    ],
)
def test_settings_that_would_let_anybody_in_are_refused_at_the_start(
    tmp_path: Path, key_file: Path, issuer: Issuer, given: dict[str, Any], words: str
) -> None:
    private = issuer.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024).public_key()
    written = {
        "empty": b"\n",
        "private": private,
        "short": b"secret",
        "weak": weak.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
    }
    for name, data in written.items():
        (tmp_path / name).write_bytes(data)
    places = {"pem": key_file, "folder": tmp_path, **{name: tmp_path / name for name in written}}
    filled = {name: value.format(**places) if isinstance(value, str) else value for name, value in given.items()}
    with pytest.raises((InvalidInputError, NotConfiguredError)) as caught:
        make_jwt_verifier(settings(**filled), AUDIENCE)
    assert words in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert caught.value.path == (str(tmp_path / "absent") if "absent" in str(given) else None)


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
