"""Identifiers: one normalisation for what callers send, safe file names for any of them, time-ordered job ids."""

from __future__ import annotations

import os
import re
import time
import unicodedata

from historian.errors import InvalidInputError

MAX_ID_LENGTH = 512
"""Characters an identifier may have; longer ones are refused, never cut."""

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_WINDOWS_DEVICES = frozenset({"con", "prn", "aux", "nul"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(10)})


def normalise_id(raw: str, what: str = "id") -> str:
    """Return the identifier by which `raw` is compared and stored: Unicode NFC without surrounding white space.

    Nothing else is folded: prefixes, letter case and full-width forms are different identifiers.

    Raises:
        InvalidInputError: it is empty, longer than 512 characters, or holds control characters or half a surrogate.
    """
    text = unicodedata.normalize("NFC", raw).strip()
    if not text:
        raise InvalidInputError(f"The {what} is empty; send a non-empty text.")
    if len(text) > MAX_ID_LENGTH:
        raise InvalidInputError(f"The {what} has {len(text)} characters; at most {MAX_ID_LENGTH} are accepted.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise InvalidInputError(f"The {what} holds control characters or broken Unicode; send plain text.")
    return text


def safe_name(identifier: str) -> str:
    """Return a file name for `identifier` that is valid and distinct on every common file system.

    Plain lower-case names stay readable. Anything else becomes a readable stem plus 128 bits of SHA-256, so that
    `a/b`, `A/B`, `..`, `CON` and 300 characters of emoji neither collide nor escape, also where case is ignored.
    """
    if _PLAIN.match(identifier) and identifier not in _WINDOWS_DEVICES:
        return identifier
    import hashlib

    digest = hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    stem = re.sub(r"[^a-z0-9]+", "-", identifier.lower()).strip("-")[:24]
    return f"{stem}~{digest}" if stem else f"~{digest}"


def new_job_id() -> str:
    """Return a job id that sorts by time of creation: 48 bits of milliseconds and 80 random bits, in hex."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"
