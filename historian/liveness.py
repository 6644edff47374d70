"""Is the one who claimed a job still alive? Told by process identity where the platform tells, else by heartbeat."""

# ruff: noqa: PTH115, PTH123
from __future__ import annotations

import json
import os
import sys

HEARTBEAT_STALE_SECONDS = 120.0
"""A claimer that cannot be looked up counts as dead when its last heartbeat is older than this."""

_FIELDS = ("host", "boot", "space", "pid", "start", "instance")


class Claimer:
    """Who claimed a job: host, boot of that host, pid name space, pid, start of the process (ticks; "" if unknown), and
    which open queue of that process.
    """

    __slots__ = _FIELDS

    def __init__(self, host: str, boot: str, space: str, pid: int, start: str, instance: str) -> None:
        self.host = host
        self.boot = boot
        self.space = space
        self.pid = pid
        self.start = start
        self.instance = instance

    @classmethod
    def here(cls, instance: str) -> Claimer:
        """Return the identity of this process."""
        pid = os.getpid()
        return cls(_host(), _boot(), _pid_space(), pid, process_start(pid) or "", instance)

    def encode(self) -> bytes:
        """Return the identity as JSON."""
        return json.dumps({name: getattr(self, name) for name in _FIELDS}).encode()

    @classmethod
    def decode(cls, data: bytes) -> Claimer | None:
        """Return the identity that `encode` wrote, or None for anything else."""
        try:
            fields = json.loads(data)
            claimer = cls(*(fields[name] for name in _FIELDS))
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return claimer if str(claimer.pid).isdecimal() and claimer.pid > 0 else None

    def same_process(self, other: Claimer) -> bool:
        """Tell whether both are the same process."""
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS[:-1])

    def is_alive(self, me: Claimer, silent_seconds: float) -> bool:
        """Tell whether this claimer, silent for so long, still lives as seen from the process `me`.

        A process of the same machine is looked up; a pid that was given away again has another start. A process of
        another host or container cannot be looked up: there the heartbeat decides.
        """
        if self.host == me.host and self.boot and me.boot and self.boot != me.boot:
            return False
        if self.host == me.host and self.boot == me.boot and self.space == me.space:
            found = look_up(self.pid, self.start)
            if found is not None:
                return found
        return silent_seconds < HEARTBEAT_STALE_SECONDS


def look_up(pid: int, start: str) -> bool | None:
    """Tell whether the process that had `pid` and `start` runs; None where that cannot be told."""
    if sys.platform == "win32":
        return None
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    now = process_start(pid)
    return None if now is None or not start else now == start


def process_start(pid: int) -> str | None:
    """Return when the process started, in clock ticks since boot; "dead" for a zombie; None where that is unknown."""
    fields = _fields_of(pid)
    if not fields:
        return None
    return "dead" if fields[0] in (b"Z", b"X") else fields[19].decode("ascii", "replace")


def is_stopped(pid: int, start: str) -> bool:
    """Say whether the process that had `pid` and `start` runs no more until somebody continues it, as far as is known:
    it was sent SIGSTOP, or a debugger holds it.
    """
    fields = _fields_of(pid)
    return bool(fields) and fields[0] in (b"T", b"t") and fields[19].decode("ascii", "replace") == start


def _fields_of(pid: int) -> list[bytes]:
    """Return what the system says of a process, from its state on; empty where it does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return []
    return fields if len(fields) >= 20 else []


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return ""


def _pid_space() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except (OSError, AttributeError):
        return ""
