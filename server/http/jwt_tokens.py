"""JSON Web Tokens of an identity provider: signature, issuer, audience and times checked, the algorithms fixed."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from historian.errors import InvalidInputError, NotConfiguredError, ShiguanError, about
from historian.ids import normalise_id
from historian.zones import load_zone
from server.http.identity import SCOPES, Identity
from server.paths import whole_path
from server.server_settings import ServerSettings

if TYPE_CHECKING:
    from jwt import PyJWK, PyJWKClient, PyJWKSet

LEEWAY_SECONDS = 30
FETCH_SECONDS = 5.0
FETCHES_AT_ONCE = 4
AFTER_FAILURE_SECONDS = 10.0
"""How long no key is fetched after a fetch failed."""
KEPT_SECONDS = 3600.0
"""How long keys go on being used that cannot be fetched again."""
MAX_TOKEN_LENGTH = 16_384
MAX_NAME_LENGTH = 100
MAX_GROUPS = 1000
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claims:
    """Which claims say what."""

    user: str
    groups: str
    scope: str


class Keys(Protocol):
    """Where the key of a token comes from."""

    async def key_for(self, token: str) -> Any:
        """Return the key that the token must be signed with.

        Raises:
            jwt.PyJWTError: there is none.
        """
        ...


class OneKey:
    """One key, read from a file when the server starts."""

    def __init__(self, key: Any) -> None:
        self._key = key

    async def key_for(self, token: str) -> Any:
        """Return the key."""
        return self._key


class PublishedKeys:
    """The keys that an issuer publishes as JWKS, fetched when they are needed, and again for a key not seen yet."""

    def __init__(self, client: PyJWKClient) -> None:
        self._client = client
        self._limiter = anyio.CapacityLimiter(FETCHES_AT_ONCE)
        self._failed_at = -AFTER_FAILURE_SECONDS
        self._last: tuple[float, PyJWKSet] | None = None

    async def key_for(self, token: str) -> Any:
        """Return the key that the head of the token names. Raises as `Keys.key_for`."""
        from jwt import get_unverified_header

        key_id = get_unverified_header(token).get("kid")
        cache = self._client.jwk_set_cache
        fresh = _picked(cache.get() if cache is not None else None, key_id)
        return fresh or await anyio.to_thread.run_sync(self._fetch, key_id, limiter=self._limiter)

    def _fetch(self, key_id: str | None) -> PyJWK:
        from jwt import PyJWKClientConnectionError

        if time.monotonic() - self._failed_at >= AFTER_FAILURE_SECONDS:
            try:
                key = self._client.get_signing_key(key_id or "")
                self._last = (time.monotonic(), self._client.get_jwk_set())
                return key
            except PyJWKClientConnectionError:
                self._failed_at = time.monotonic()
                log.warning("the keys of the token issuer could not be fetched")
        kept = self._last is not None and time.monotonic() - self._last[0] < KEPT_SECONDS
        key_kept = _picked(self._last[1] if self._last is not None and kept else None, key_id)
        if key_kept is None:
            raise PyJWKClientConnectionError("the last fetch failed")
        return key_kept


def _picked(known: PyJWKSet | None, key_id: str | None) -> PyJWK | None:
    usable = (key for key in (known.keys if known is not None else ()) if key.public_key_use in ("sig", None))
    return next((key for key in usable if key_id is not None and key.key_id == key_id), None)


class JwtVerifier:
    """Verifies the tokens of one issuer for one audience."""

    def __init__(self, keys: Keys, settings: ServerSettings, audience: str) -> None:
        self._keys = keys
        self._issuer = settings.jwt_issuer
        self._audience = audience
        self._algorithms = list(settings.jwt_algorithms)
        self._claims = Claims(settings.jwt_user_claim, settings.jwt_groups_claim, settings.jwt_scope_claim)

    async def verify(self, token: str) -> Identity | None:
        """Return whom the token speaks for, or None: it is no JWT, not meant for us, has expired, or is forged."""
        import jwt

        if token.count(".") != 2 or len(token) > MAX_TOKEN_LENGTH:
            return None
        try:
            head = jwt.get_unverified_header(token)
            if head.get("alg") not in self._algorithms:  # before a key is looked for
                return None
            claims: dict[str, Any] = jwt.decode(
                token,
                key=await self._keys.key_for(token),
                algorithms=self._algorithms,
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
            return self._identity(claims)
        except (jwt.PyJWTError, ShiguanError, ValueError, TypeError) as error:
            log.info("a JWT was refused: %s", type(error).__name__)
            return None

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        """Return who the claims name. Raises InvalidInputError, TypeError."""
        user = claims.get(self._claims.user)
        client = claims.get("client_id") or claims.get("azp") or "jwt"
        groups = _names(claims.get(self._claims.groups))[:MAX_GROUPS]
        scopes = _names(claims.get(self._claims.scope)) + _names(claims.get("scp"))
        if user is not None and not isinstance(user, str):
            raise TypeError
        return Identity(
            client_id=str(client)[:MAX_NAME_LENGTH],
            user_id=normalise_id(user, "user") if user is not None else None,
            groups=frozenset(normalise_id(group, "group") for group in groups),
            scopes=frozenset(scopes) & frozenset(SCOPES),
            issuer=self._issuer,
            expires_at=int(claims["exp"]),
            timezone=_zone(claims.get("zoneinfo")),
            name=_display_name(claims.get("name")),
        )


def make_jwt_verifier(settings: ServerSettings, audience: str) -> JwtVerifier:
    """Return the verifier that the settings describe; `audience` holds unless they name another one.

    Raises:
        NotConfiguredError: a setting that it needs is missing, or two contradict each other.
        InvalidInputError: the key file or the URL cannot be used.
    """
    _check(settings)
    if settings.jwt_key_file:
        keys: Keys = OneKey(_read_key(settings))
    else:
        from jwt import PyJWKClient

        _check_url(settings.jwt_jwks_url)
        keys = PublishedKeys(PyJWKClient(settings.jwt_jwks_url, timeout=FETCH_SECONDS, lifespan=300))
    return JwtVerifier(keys, settings, settings.jwt_audience or audience)


def _check(settings: ServerSettings) -> None:
    is_shared = [name.startswith("HS") for name in settings.jwt_algorithms]
    if not settings.jwt_issuer:
        raise NotConfiguredError("server.jwt_issuer is missing: name who issues the tokens.")
    if bool(settings.jwt_jwks_url) == bool(settings.jwt_key_file):
        raise NotConfiguredError("Set either server.jwt_jwks_url or server.jwt_key_file.")
    if any(is_shared) and not all(is_shared):
        raise NotConfiguredError("server.jwt_algorithms mixes shared secrets (HS…) with public keys; name one kind.")
    if any(is_shared) and settings.jwt_jwks_url:
        raise NotConfiguredError("server.jwt_algorithms names shared secrets (HS…), which no URL may publish.")


def _read_key(settings: ServerSettings) -> Any:
    """Return the key of the file, tried with every algorithm, so that a wrong one is told when the server starts."""
    import jwt
    from jwt.algorithms import get_default_algorithms

    try:
        data = whole_path(settings.jwt_key_file).read_bytes().strip()
        key: Any = None
        for name in settings.jwt_algorithms:
            algorithm = get_default_algorithms()[name]
            key = algorithm.prepare_key(data)
            if not data or algorithm.check_key_length(key):
                raise InvalidInputError("The key of server.jwt_key_file is too short.")
    except OSError:
        unread = InvalidInputError("The file of server.jwt_key_file cannot be read.")
        raise about(unread, whole_path(settings.jwt_key_file)) from None
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        raise InvalidInputError(
            "The file of server.jwt_key_file holds no key for server.jwt_algorithms; a public key must be PEM."
        ) from None
    if hasattr(key, "private_bytes"):
        raise InvalidInputError("The file of server.jwt_key_file holds a private key; put the public one there.")
    return key


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise InvalidInputError("server.jwt_jwks_url must be an https:// address.")


def _names(value: object) -> list[str]:
    """Return a claim that is a list, or words in one text, as texts. Raises TypeError for anything else."""
    if value is None:
        return []
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return [str(name) for name in value]
    raise TypeError


def _zone(value: object) -> str | None:
    try:
        return load_zone(value).key if isinstance(value, str) and value else None
    except InvalidInputError:
        return None


def _display_name(value: object) -> str | None:
    return (" ".join(value.split())[:MAX_NAME_LENGTH] or None) if isinstance(value, str) else None
