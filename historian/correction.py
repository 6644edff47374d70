"""An observation that words an earlier one anew."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Correction:
    """The observation `index` of an earlier job is worded anew by the observation `by` of this one."""

    job_id: str
    request_id: str
    end_seq: int | None
    index: int
    by: int

    def as_payload(self) -> dict[str, object]:
        """Return it as a JSON object for the queue."""
        return {name: getattr(self, name) for name in self.__slots__}
