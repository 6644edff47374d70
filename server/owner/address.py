"""Where the owner of a data folder listens, and the secret that shows a client may read that folder.

A Unix domain socket (mode 0600) where there are any, else a loopback port; either way the client must know the token,
which lies in the data folder, readable by its user only.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from historian.durable import DiskErrors, write_durably
from historian.errors import StoreError
from historian.hold import HOLDER_NAME, identity_of, is_held
from historian.liveness import look_up

OWNER = "owner"
HTTP = "serve --http"
"""What the two kinds of processes that serve local clients write as their purpose when they hold a folder."""
TOKEN_NAME = "owner.token"
SOCKET_NAME = "owner.sock"
MAX_PATH_BYTES = 100
"""Longest path of a Unix socket that every platform takes (macOS: 104 with the final NUL)."""
LOCALHOST = "127.0.0.1"
CONNECT_SECONDS = 5.0


def has_unix_sockets() -> bool:
    """Say whether this platform serves Unix sockets; `SHIGUAN_TCP=1` behaves as one that does not."""
    return hasattr(socket, "AF_UNIX") and os.name != "nt" and os.environ.get("SHIGUAN_TCP") != "1"


def socket_path(folder: Path) -> Path:
    """Return where the socket of a data folder goes: inside it, or in a private folder when that path is too long."""
    inside = folder / SOCKET_NAME
    if len(os.fsencode(inside)) <= MAX_PATH_BYTES:
        return inside
    import hashlib

    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return _private_folder() / f"{name}.sock"


def _private_folder() -> Path:
    """Return a folder of short path that only this user can enter.

    Raises:
        StoreError: somebody else made it first.
    """
    import stat
    import tempfile

    folder = Path(tempfile.gettempdir()) / f"shiguan-{os.getuid()}"
    with DiskErrors():
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise StoreError("The folder for local sockets belongs to somebody else; set TMPDIR to a folder of yours.")
    return folder


def read_token(folder: Path) -> str:
    """Return the folder's secret, or "" where there is none yet: its owner makes it before it listens.

    Raises:
        StoreError: it cannot be read.
    """
    with DiskErrors():
        try:
            return (folder / TOKEN_NAME).read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return ""


def token_of(folder: Path) -> str:
    """Return the folder's secret, making it where there is none yet. For the process that holds the folder.

    Raises:
        StoreError: it cannot be read or made.
    """
    known = read_token(folder)
    if len(known) < 32:
        known = os.urandom(32).hex()
        write_durably(folder / TOKEN_NAME, known.encode())
    return known


def read_holder(folder: Path) -> dict[str, Any]:
    """Return what the present or last holder of the folder wrote about itself; empty when nobody did."""
    try:
        holder: Any = json.loads((folder / HOLDER_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def connect(folder: Path) -> socket.socket | None:
    """Return a connection to the owner of the folder, or None when none listens."""
    holder = read_holder(folder)
    address = holder.get("address")
    if holder.get("folder") != identity_of(folder):  # a copy of a folder brings along where its original is served
        return None
    if isinstance(address, int) and not (is_held(folder) and _may_live(holder)):
        return None  # the port of a dead owner may be anybody's by now
    connection: socket.socket | None = None
    try:
        if isinstance(address, str) and hasattr(socket, "AF_UNIX"):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(CONNECT_SECONDS)
            connection.connect(address)
        elif isinstance(address, int):
            connection = socket.create_connection((LOCALHOST, address), timeout=CONNECT_SECONDS)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        if connection is not None:
            connection.close()
        return None
    if connection is not None:
        connection.settimeout(None)
    return connection


def _may_live(holder: dict[str, Any]) -> bool:
    """Tell dead holders: a new one has the lock for a moment before it writes over what the last one said."""
    pid, start = holder.get("pid"), holder.get("start", "")
    return isinstance(pid, int) and isinstance(start, str) and look_up(pid, start) is not False
