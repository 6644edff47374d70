"""One unit of work, its document on disk, and ids that always increase."""

from __future__ import annotations

import json
import math
import os
import re
import threading

from historian.errors import InvalidInputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NoReturn

    State = Literal["pending", "processing", "failed"]

SCHEMA = 1
STATES: tuple[State, ...] = ("pending", "processing", "failed")
UNREADABLE = "unreadable"
"""The kind of a failure document that stands for a file which was not a job; its payload names the kept original."""

MAX_ERRORS = 5
MAX_ERROR_LENGTH = 500
_JOB_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_FIELDS = (
    "job_id",
    "kind",
    "lane",
    "payload",
    "created_at",
    "attempts",
    "not_before",
    "errors",
    "step",
    "reason",
    "failed_at",
)
_SHAPE: dict[str, type] = {
    "kind": str,
    "lane": str,
    "payload": dict,
    "created_at": str,
    "attempts": int,
    "not_before": float,
    "errors": tuple,
    "step": str,
    "reason": str,
    "failed_at": str,
}
_OPTIONAL = frozenset({"not_before", "reason", "failed_at"})


class PoisonError(ValueError):
    """A file is not a job document; the message says why. Never leaves the queue."""


class Job:
    """A frozen value, like a frozen dataclass with slots. Written by hand: `dataclasses` loads `inspect`, which would
    cost every hook 9 ms.

    `payload` is an opaque JSON object. `created_at` and `failed_at` are ISO 8601 in UTC; `not_before` is in epoch
    seconds. `errors` holds the last few; `reason` says why the job is in failed/.
    """

    __slots__ = _FIELDS

    job_id: str
    kind: str
    lane: str
    payload: dict[str, object]
    created_at: str
    attempts: int
    not_before: float | None
    errors: tuple[str, ...]
    step: str
    reason: str | None
    failed_at: str | None

    def __init__(  # noqa: PLR0913, PLR0917 - one argument for each field, all but four optional
        self,
        job_id: str,
        kind: str,
        lane: str,
        payload: dict[str, object],
        created_at: str = "",
        attempts: int = 0,
        not_before: float | None = None,
        errors: tuple[str, ...] = (),
        step: str = "",
        reason: str | None = None,
        failed_at: str | None = None,
    ) -> None:
        values = (job_id, kind, lane, payload, created_at, attempts, not_before, errors, step, reason, failed_at)
        for name, value in zip(_FIELDS, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return self.as_dict() == other.as_dict() if isinstance(other, Job) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.job_id)

    def __repr__(self) -> str:
        return f"Job({', '.join(f'{name}={value!r}' for name, value in self.as_dict().items())})"

    def __reduce__(self) -> tuple[type[Job], tuple[object, ...]]:
        return Job, tuple(self.as_dict().values())

    def as_dict(self) -> dict[str, object]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in _FIELDS}

    def but(self, **changes: object) -> Job:
        """Return a copy with other values in some fields, like `dataclasses.replace`."""
        return Job(**(self.as_dict() | changes))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    def with_error(self, error: str) -> Job:
        """Return a copy that also remembers `error`; only the last five different ones in a row are kept."""
        text = error[:MAX_ERROR_LENGTH]
        return self if self.errors[-1:] == (text,) else self.but(errors=(*self.errors, text)[-MAX_ERRORS:])


class JobIds:
    """Makes ids that strictly increase in a process, also within one millisecond and when the clock jumps back."""

    _guard = threading.Lock()
    _last = ""
    _pid = 0

    @classmethod
    def new(cls) -> str:
        """Return the next id."""
        from historian.ids import new_job_id

        with cls._guard:
            job_id = new_job_id()
            # a forked child must not go on counting from the same id as its siblings
            if os.getpid() == cls._pid and job_id <= cls._last:
                job_id = f"{int(cls._last, 16) + 1:032x}"
            cls._pid, cls._last = os.getpid(), job_id
            return job_id


def is_job_id(text: str) -> bool:
    """Tell whether `text` may be a job id, and hence a file name: lower-case letters, digits, `-` and `_`."""
    return bool(_JOB_ID.match(text))


def encode(job: Job) -> bytes:
    """Return the document of a job: one line of pure ASCII, so that half surrogates and NUL survive as escapes.

    Raises:
        InvalidInputError: the payload is not plain JSON.
    """
    document: dict[str, object] = {"schema": SCHEMA} | job.as_dict()
    for optional in ("reason", "failed_at"):
        if document[optional] is None:
            del document[optional]
    try:
        return json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            "The payload is not plain JSON; send objects, lists, texts and finite numbers."
        ) from error


def decode(data: bytes, job_id: str) -> Job:
    """Return the job of a document whose file is called `job_id`.

    Raises:
        PoisonError: it is not one.
    """
    try:
        document = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise PoisonError("The file is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise PoisonError("The file is not a whole JSON document.") from error
    if not isinstance(document, dict):
        raise PoisonError("The document is not a JSON object.")
    if repr(document.get("schema")) != repr(SCHEMA):
        raise PoisonError(f"The document does not have schema {SCHEMA}.")
    if document.get("job_id") != job_id:
        raise PoisonError("The file name does not match the job id in it.")
    return _checked({name: document[name] for name in _FIELDS if name in document})


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _checked(fields: dict[str, object]) -> Job:
    """Return the job with these fields, each of the right type."""
    errors = fields.get("errors")
    if isinstance(errors, list) and all(isinstance(error, str) for error in errors):
        fields["errors"] = tuple(errors)
    not_before = fields.get("not_before")
    if isinstance(not_before, int) and not isinstance(not_before, bool):
        try:
            fields["not_before"] = float(not_before)
        except OverflowError as error:
            raise PoisonError("The field not_before of the document is too large.") from error
    for name, kind in _SHAPE.items():
        value = fields.get(name)
        absent = value is None and name in _OPTIONAL
        if not absent and (not isinstance(value, kind) or isinstance(value, bool)):
            raise PoisonError(f"The field {name} of the document is missing or of the wrong type.")
    job = Job(**fields)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    if job.attempts < 0 or (job.not_before is not None and not math.isfinite(job.not_before)):
        raise PoisonError("A number of the document is out of range.")
    return job
