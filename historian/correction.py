"""An observation that words an earlier one anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Correction:
    """The observation `index` of an earlier job is worded anew by the observation `by` of this one."""

    job_id: str
    request_id: str
    index: int
    by: int

    @classmethod
    def read(cls, payload: Mapping[str, Any]) -> Correction:
        """Return what `as_payload` wrote, also by an earlier version, which wrote more."""
        return cls(**{name: payload[name] for name in cls.__slots__})

    def as_payload(self) -> dict[str, object]:
        """Return it as a JSON object for the queue."""
        return {name: getattr(self, name) for name in self.__slots__}
