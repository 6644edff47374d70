"""The keys that JSON Web Tokens are checked with: one of a file, or those that an issuer publishes."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from historian.complaints import Complaints
from historian.errors import InvalidInputError, IssuerUnreachableError, NotConfiguredError, about
from server.paths import whole_path
from server.server_settings import ServerSettings

if TYPE_CHECKING:
    from jwt import PyJWK, PyJWKClient, PyJWKSet

FETCH_SECONDS = 5.0
"""How long a whole answer with keys may take."""
FETCHES_AT_ONCE = 4
AFTER_FAILURE_SECONDS = 10
"""How long no key is fetched after a fetch failed."""
KEPT_SECONDS = 3600.0
"""How long keys go on being used that cannot be fetched again."""
UNREACHABLE = "This token cannot be checked now: its issuer does not answer with keys; try again shortly."
KEYS = "the keys of the token issuer"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

log = logging.getLogger(__name__)


class Keys(Protocol):
    """Where the key of a token comes from."""

    async def key_for(self, token: str) -> Any:
        """Return the key that the token must be signed with.

        Raises:
            jwt.PyJWTError: there is none.
            IssuerUnreachableError: whether there is one cannot be told now.
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
        self._fetching = threading.Lock()
        self._failed_at: float = -AFTER_FAILURE_SECONDS
        self._last: tuple[float, PyJWKSet] | None = None
        self._complaints = Complaints(log)

    async def key_for(self, token: str) -> Any:
        """Return the key that the head of the token names. Raises as `Keys.key_for`."""
        from jwt import get_unverified_header

        key_id = get_unverified_header(token).get("kid")
        key = _picked(self._cached(), key_id)
        if key is None:
            key = await anyio.to_thread.run_sync(self._fetch, key_id, limiter=self._limiter)
        return _usable(key)

    def _fetch(self, key_id: str | None) -> PyJWK:
        with self._fetching:  # who waited meanwhile profits from what came, and waits no second time for what did not
            if time.monotonic() - self._failed_at >= AFTER_FAILURE_SECONDS:
                try:
                    return self._published(key_id)
                except IssuerUnreachableError as error:
                    self._failed_at = time.monotonic()
                    self._complaints.say(KEYS, f"cannot be fetched from {_shown(self._client.uri)}: {_cause(error)}")
            kept = self._last is not None and time.monotonic() - self._last[0] < KEPT_SECONDS
            key = _picked(self._last[1] if self._last is not None and kept else None, key_id)
            if key is None:
                raise IssuerUnreachableError(UNREACHABLE)
            return key

    def _published(self, key_id: str | None) -> PyJWK:
        """Return a key of the issuer as it is now.

        Raises:
            jwt.PyJWTError: it publishes none of that id.
            IssuerUnreachableError: it does not answer, or not with keys.
        """
        from jwt import PyJWKClientConnectionError, PyJWKSetError, PyJWTError

        try:
            known = self._client.get_jwk_set()
        except (PyJWTError, OSError, ValueError) as error:
            raise IssuerUnreachableError(UNREACHABLE) from error
        try:
            key = self._client.get_signing_key(key_id or "")
        except (PyJWKClientConnectionError, PyJWKSetError, OSError, ValueError) as error:  # it asks again for a new id
            raise IssuerUnreachableError(UNREACHABLE) from error
        finally:
            self._last = (time.monotonic(), self._cached() or known)
        self._complaints.over(KEYS)
        return key

    def _cached(self) -> PyJWKSet | None:
        cache = self._client.jwk_set_cache
        return cache.get() if cache is not None else None


def make_keys(settings: ServerSettings) -> Keys:
    """Return the keys that the settings name.

    Raises:
        NotConfiguredError: a setting is missing, or two contradict each other.
        InvalidInputError: the key file or the URL cannot be used.
    """
    _check(settings)
    if settings.jwt_key_file:
        return OneKey(_read_key(settings))
    from server.http.jwks import KeyClient

    _check_url(settings.jwt_jwks_url)
    return PublishedKeys(KeyClient(settings.jwt_jwks_url, timeout=FETCH_SECONDS, lifespan=300))


def _picked(known: PyJWKSet | None, key_id: str | None) -> PyJWK | None:
    usable = (key for key in (known.keys if known is not None else ()) if key.public_key_use in ("sig", None))
    return next((key for key in usable if key_id is not None and key.key_id == key_id), None)


def _usable(key: PyJWK) -> Any:
    """Return a key as it is checked with: one that names its algorithm for that one, another for all that are set.

    Naming it is optional (RFC 7517 §4.4); the library then takes RS256 of a key of RSA, and refuses RS512 and PS256.
    """
    named = key._jwk_data.get("alg")  # pyright: ignore[reportPrivateUsage]
    return key if named else key.key


def _shown(url: str) -> str:
    """Return an address for the log, without what may be a password in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _cause(error: IssuerUnreachableError) -> str:
    """Return what the system said, which the library wraps twice."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return " ".join(str(cause).split())[:200] or type(cause).__name__


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
                raise InvalidInputError(
                    f"The key of server.jwt_key_file is too short: {name} needs at least {_least(name)}."
                )
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


def _least(algorithm: str) -> str:
    """Return how long a key must be: as many bits as the digest of a shared secret has (RFC 7518 §3.2)."""
    return f"{int(algorithm[2:]) // 8} bytes" if algorithm.startswith("HS") else "2048 bits"


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise InvalidInputError("server.jwt_jwks_url must be an https:// address.")
