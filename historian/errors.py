"""Everything that can go wrong, as one tree.

    ShiguanError
    ├── InvalidInputError    the caller sent something it could have known to be wrong; the sentence says what to do
    ├── NotFoundError        there is no such thing in the asker's scope (also: it is somebody else's)
    ├── NotConfiguredError   the feature needs a setting that is missing
    ├── ConflictError        somebody else changed it meanwhile; read again and retry
    ├── StoreError           a store cannot do its work now (disk full, read-only, locked, corrupt)
    │   ├── FolderInUseError another process holds the data folder
    │   └── EmbeddingMismatchError  the vectors on disk come from another embedding model
    ├── IssuerUnreachableError  the issuer of tokens does not answer, so it cannot be told who asks: try again later
    └── ModelError           an embedding or chat endpoint failed
        ├── RetryableModelError     time-out, 429, 5xx, refused connection: try again later
        ├── UnusableAnswerError     a chat model answered, but not what was asked for: ask again with what was wrong
        └── PermanentModelError     a request that the endpoint will never take: trying again does not help
            └── ModelSettingsError  401, 403, 404: the key, the model or the address is wrong

Each message is one plain sentence for a person or a model: never a path, a key or a stack trace. The path that it is
about stands beside it, and `told` shows it to who works on this machine, and to nobody else.
"""

from __future__ import annotations

PATH = " The path: "
"""What stands between a sentence and the path that it is about."""


class ShiguanError(Exception):
    """Root of the tree. `path` is what it is about, where that is known."""

    path: str | None = None


def about(error: ShiguanError, path: object) -> ShiguanError:
    """Let an error know which path it is about, and return it."""
    error.path = str(path)
    return error


def told(error: ShiguanError) -> str:
    """Return an error as a person at this machine reads it, with its path: for stderr and no answer to a client."""
    return str(error) if error.path is None else f"{error}{PATH}{error.path}"


class InvalidInputError(ShiguanError):
    """The caller sent something it could have known to be wrong."""


class NotFoundError(ShiguanError):
    """Nothing by that name in the asker's scope. Never tells "not yours" from "not there"."""


class NotConfiguredError(ShiguanError):
    """The feature needs a setting that is missing."""


class ConflictError(ShiguanError):
    """The thing changed between read and write."""


class StoreError(ShiguanError):
    """A store cannot do its work now."""


class UnreadyStoreError(StoreError):
    """A store cannot work at this moment, whoever asks and whatever for: it is locked, full or out of reach."""


class FolderInUseError(StoreError):
    """Another process holds the data folder."""


class EmbeddingMismatchError(StoreError):
    """The vectors on disk were made by another embedding model."""


class IssuerUnreachableError(ShiguanError):
    """The keys of the token issuer cannot be had now, so that a token can be told neither good nor bad."""


class ModelError(ShiguanError):
    """An embedding or chat endpoint failed."""


class RetryableModelError(ModelError):
    """Trying again later may help. `retry_after` is in seconds, when the endpoint named one."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PermanentModelError(ModelError):
    """Trying again does not help: the key, the model name or the request is wrong."""


class ModelSettingsError(PermanentModelError):
    """The endpoint refuses the key or does not know the model or address: nothing works until the settings change."""


class UnusableAnswerError(ModelError):
    """A chat model answered, but not in the shape that was asked for, even after repair.

    `kind` says how: empty, refused (the model declined), truncated (cut off), malformed (no JSON), invalid (JSON of
    another shape). `violations` are sentences to give back to the model, `wrote` is its answer; neither is for logs.
    """

    def __init__(self, message: str, *, kind: str, violations: tuple[str, ...] = (), wrote: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.violations = violations
        self.wrote = wrote
