"""The tokens file: who may come in over HTTP, with the digest of each token instead of it. Standard library only.

A token is `shiguan_`, eight digits that name it, and 256 random bits. A fast digest is enough for so many: guessing
them is hopeless, and a slow one would be paid with every request.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from historian.durable import DiskErrors, write_durably
from historian.errors import NotFoundError, StoreError
from historian.hold import try_lock
from server.paths import whole_path

TOKENS_NAME = "tokens.json"
PREFIX = "shiguan_"
FORMAT = "shiguan-tokens"
VERSION = 1
LOCK_SECONDS = 10.0
DAMAGED = "The tokens file is damaged; mend it, or delete it and create the tokens anew."
_SHAPE = re.compile(r"shiguan_([0-9a-f]{8})_[A-Za-z0-9_-]{43}\Z")
_NOBODY = hashlib.sha256(b"nobody's token").hexdigest()


@dataclass(frozen=True, slots=True)
class StoredToken:
    """What is known about one token. `digest` is SHA-256 in hex; times are epoch seconds, None is never."""

    token_id: str
    digest: str
    user: str | None
    groups: tuple[str, ...]
    scopes: tuple[str, ...]
    name: str | None
    timezone: str | None
    created_at: int
    expires_at: int | None

    def is_valid_at(self, now: float) -> bool:
        """Say whether the token has not expired."""
        return self.expires_at is None or now < self.expires_at


class TokenFile:
    """The tokens of one data folder. Several processes may read and change it at the same time.

    All methods raise StoreError when the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._known: Mapping[str, StoredToken] = {}

    def tokens(self) -> list[StoredToken]:
        """Return all tokens, the oldest first."""
        self._refresh()
        return sorted(self._known.values(), key=lambda token: token.created_at)  # in a second as the file has them

    def create(
        self,
        user: str | None,
        *,
        groups: Iterable[str] = (),
        scopes: Iterable[str],
        name: str | None = None,
        timezone: str | None = None,
        expires_at: int | None = None,
    ) -> tuple[StoredToken, str]:
        """Store a new token; return what is stored, and the token itself, which nobody can tell later."""
        with self._changing():
            token_id = os.urandom(4).hex()
            while token_id in self._known:
                token_id = os.urandom(4).hex()
            secret = base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode("ascii")
            text = f"{PREFIX}{token_id}_{secret}"
            stored = StoredToken(
                token_id=token_id,
                digest=_digest(text),
                user=user,
                groups=tuple(groups),
                scopes=tuple(scopes),
                name=name,
                timezone=timezone,
                created_at=int(time.time()),
                expires_at=expires_at,
            )
            self._write([*self._known.values(), stored])
        return stored, text

    def revoke(self, token_id: str) -> StoredToken:
        """Remove a token; from now on it is as good as made up.

        Raises:
            NotFoundError: there is none of that id.
        """
        with self._changing():
            found = self._known.get(token_id)
            if found is None:
                raise NotFoundError("There is no token of that id; `shiguan token list` shows them.")
            self._write([token for token in self._known.values() if token.token_id != token_id])
        return found

    def find(self, text: str, now: float) -> StoredToken | None:
        """Return the token that `text` is, unless it has expired. Takes as long for one that is known as for others."""
        self._refresh()
        shape = _SHAPE.match(text)
        stored = self._known.get(shape[1]) if shape is not None else None
        is_same = hmac.compare_digest(_digest(text), stored.digest if stored is not None else _NOBODY)
        return stored if stored is not None and is_same and stored.is_valid_at(now) else None

    def _refresh(self) -> None:
        """Read the file when it is not the one that was read last: another process may have changed it."""
        with DiskErrors():
            try:
                status = self._path.stat()
                found = (status.st_mtime_ns, status.st_ino, status.st_size)
                if found == self._seen:
                    return
                data = self._path.read_bytes()
            except FileNotFoundError:
                self._seen, self._known = None, {}
                return
        self._seen, self._known = None, {}  # nobody comes in by a file that cannot be understood
        self._known = {token.token_id: token for token in _decoded(data)}
        self._seen = found

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Let one process at a time read and write the file."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        with DiskErrors():
            lock = os.open(self._path.with_name(f"{self._path.name}.lock"), flags, 0o600)
        try:
            deadline = time.monotonic() + LOCK_SECONDS
            while not try_lock(lock):
                if time.monotonic() > deadline:
                    raise StoreError("Another process keeps changing the tokens; try again.")
                time.sleep(0.01)
            self._refresh()
            yield
        finally:
            os.close(lock)

    def _write(self, tokens: Iterable[StoredToken]) -> None:
        document = {"format": FORMAT, "version": VERSION, "tokens": [asdict(token) for token in tokens]}
        write_durably(self._path, json.dumps(document, indent=1).encode("ascii"))
        self._refresh()


def token_file_at(folder: Path, named: str) -> TokenFile:
    """Return the tokens file: the one that `server.token_file` names, or that of the data folder."""
    return TokenFile(whole_path(named) if named else folder / TOKENS_NAME)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _decoded(data: bytes) -> list[StoredToken]:
    try:
        document: Any = json.loads(data)
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise StoreError(DAMAGED)
        return [_token(entry) for entry in document["tokens"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StoreError(DAMAGED) from None


def _token(entry: dict[str, Any]) -> StoredToken:
    if not (isinstance(entry["groups"], list) and isinstance(entry["scopes"], list)):
        raise TypeError
    texts = [entry["token_id"], entry["digest"], *entry["groups"], *entry["scopes"]]
    optional = [entry["user"], entry["name"], entry["timezone"]]
    expires_at = entry["expires_at"]
    if not all(isinstance(text, str) for text in texts) or not entry["digest"].isascii():
        raise TypeError
    if not all(text is None or isinstance(text, str) for text in optional):
        raise TypeError
    if expires_at is not None and not isinstance(expires_at, int):
        raise TypeError
    known: dict[str, Any] = {**entry, "groups": tuple(entry["groups"]), "scopes": tuple(entry["scopes"])}
    return StoredToken(**known)
