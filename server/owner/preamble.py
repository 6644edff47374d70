"""The one line with which a client introduces itself to the owner, and the owner's one line back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from server import __version__
from server.bare import BareSettings, unknown_variables

IDENTITY_VARIABLES = frozenset(
    {
        "SHIGUAN_USER_ID",
        "SHIGUAN_USER",
        "SHIGUAN_USER_NAME",
        "SHIGUAN_GROUPS",
        "SHIGUAN_TIMEZONE",
        "SHIGUAN_TRUST_HOST",
        "SHIGUAN_TOOLSETS",
        "SHIGUAN_DATA_DIR",
    }
)
"""Variables that are a client's own; all others are settings of the memory, which the owner's environment decides."""
MAX_BYTES = 65_536


def greeting(settings: BareSettings, token: str, purpose: str) -> dict[str, Any]:
    """Return what a client says of itself. `purpose` is `mcp` or `control`."""
    return {
        "purpose": purpose,
        "token": token,
        "version": __version__,
        "user": settings.user,
        "name": settings.name,
        "groups": list(settings.groups),
        "timezone": settings.timezone,
        "toolsets": list(settings.toolsets),
        "trust_host": settings.trust_host,
        "settings": digests(os.environ),
    }


def is_greeting(hello: Mapping[str, Any]) -> bool:
    """Say whether `hello` has the shape that `greeting` gives it; it may have gained keys."""
    texts = ("purpose", "version", "user", "timezone")
    lists = [hello.get(name) for name in ("groups", "toolsets")]
    return (
        all(isinstance(hello.get(name), str) for name in texts)
        and all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists)
        and isinstance(hello.get("settings"), dict)
        and isinstance(hello.get("trust_host", False), bool)
    )


def digests(environment: Mapping[str, str]) -> dict[str, str]:
    """Return name → digest of every setting in the environment: values may be secret, that they differ is not."""
    import hashlib

    left_out = IDENTITY_VARIABLES.union(unknown_variables(environment))
    return {
        name: hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        for name, value in environment.items()
        if name.startswith("SHIGUAN_") and name not in left_out
    }


def differing(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """Return the names of settings that a client's environment has otherwise than the owner's."""
    return sorted(name for name in {*theirs, *ours} if theirs.get(name) != ours.get(name))


def encode(document: Mapping[str, Any]) -> bytes:
    """Return a document as one line."""
    return json.dumps(document).encode("ascii") + b"\n"


def is_newer(one: str, other: str) -> bool:
    """Say whether version `one` is newer than `other`; parts that are no numbers count as 0."""
    return _parts(one) > _parts(other)


def _parts(text: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in text.split("."))
