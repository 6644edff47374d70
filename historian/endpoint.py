"""What goes wrong at an OpenAI-compatible endpoint, in our words: which failures pass and which do not."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from historian.clock import SystemClock
from historian.errors import ModelError, ModelSettingsError, PermanentModelError, RetryableModelError
from historian.patterns import lazy_pattern

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, OpenAIError

_RETRYABLE = frozenset({408, 409, 425, 429})
_HINTS = {
    401: "refused the key; check api_key",
    402: "wants to be paid first; check the account",
    403: "does not allow this key to use the model; check api_key and model",
    404: "does not know this address or model; check base_url and model",
}
_NO_MODEL = lazy_pattern(
    r"\b(?:invalid|unknown|unexpected) model\b"
    r"|\bmodel\b[^.]{0,80}\b(?:not found|(?:does not|doesn['’]t) exist|unknown)\b",
    re.IGNORECASE,
)
"""How servers say that they do not know a model, with 400 where others say 404."""


def model_error(error: OpenAIError, what: str) -> ModelError:
    """Return our error for one of the `openai` package; `what` names the endpoint ("embedding endpoint").

    The sentence holds no key, no address and nothing that the endpoint said.
    """
    import openai

    if isinstance(error, openai.APIConnectionError):
        return RetryableModelError(f"The {what} {_no_answer(error)}.")
    if not isinstance(error, openai.APIStatusError):
        return RetryableModelError(f"The {what} gave an answer that cannot be read.")
    status = error.status_code
    if status in _RETRYABLE or status >= 500:
        reason = _too_often(error) if status == 429 else f"failed with status {status}"
        return RetryableModelError(f"The {what} {reason}.", retry_after=retry_after(error.response.headers))
    if status == 400 and _NO_MODEL.search(error.message):
        status = 404
    if status in _HINTS:
        return ModelSettingsError(f"The {what} {_HINTS[status]}.")
    return PermanentModelError(f"The {what} refused the request with status {status}.")


def _too_often(error: APIStatusError) -> str:
    return "has no quota left; check the account" if error.code == "insufficient_quota" else "is asked too often"


def _no_answer(error: APIConnectionError) -> str:
    import httpx2
    import openai

    if isinstance(error, openai.APITimeoutError):
        return "did not answer in time"
    if isinstance(error.__cause__, (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.DecodingError)):
        return "broke off its answer"
    return "cannot be reached; check that it runs and base_url"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait (`retry-after-ms`, or `retry-after` in seconds or as a date), or None if not said."""
    seconds = _number(headers.get("retry-after-ms"), 0.001)
    if seconds is None:
        seconds = _number(headers.get("retry-after"), 1.0)
    if seconds is None:
        until, now = _date(headers.get("retry-after")), _date(headers.get("date")) or SystemClock().now()
        seconds = max(0.0, (until - now).total_seconds()) if until is not None else None
    return seconds


def _number(text: str | None, unit: float) -> float | None:
    try:
        value = float(text or "") * unit
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
