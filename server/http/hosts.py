"""Which Host and Origin a request may name: a web page that had its name resolved to us names itself there."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from historian.errors import InvalidInputError
from server.server_settings import ServerSettings

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
ANY = frozenset({"0.0.0.0", "::", ""})


class Hosts:
    """The names by which the server may be called, at any port, and the origins whose pages may call it."""

    def __init__(self, names: Iterable[str], origins: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._origins = frozenset(origins)

    def knows(self, host: str | None) -> bool:
        """Say whether a Host header names this server."""
        return host is not None and _name_of(host) in self._names

    def admits(self, origin: str | None) -> bool:
        """Say whether a page of `origin` may call; programs send none."""
        return origin is None or origin.lower() in self._origins


def make_hosts(settings: ServerSettings, port: int) -> Hosts:
    """Return the names and origins of a server at `settings.host` and `port`.

    Raises:
        InvalidInputError: it listens on every address, and no setting says by which name it is called.
    """
    public = urlsplit(settings.public_url)
    names = {_name_of(name) for name in settings.allowed_hosts}
    names |= {public.hostname} if public.hostname else set()
    if settings.host in ANY and not names:
        raise InvalidInputError(
            f"Listening on {settings.host or 'every address'} needs the names by which clients call this server: set "
            "server.public_url, or server.allowed_hosts."
        )
    own = LOOPBACK if settings.host in LOOPBACK or settings.host in ANY else {_name_of(settings.host)}
    origins = {origin.lower().rstrip("/") for origin in settings.allowed_origins}
    origins |= {f"http://{bracketed(name)}:{port}" for name in own}
    origins |= {f"{public.scheme}://{public.netloc}".lower()} if public.hostname else set()
    return Hosts(names | own, origins)


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach a server that listens on `host`."""
    return host in LOOPBACK


def bracketed(host: str) -> str:
    """Return a host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def _name_of(host: str) -> str:
    """Return a Host header or a setting without its port, in lower case."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host
