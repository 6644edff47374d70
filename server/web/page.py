"""What a page is made of: the request as pages see it, and the template with its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from historian.memory import ScopedMemory


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a page, or to do something: the memory of the guest, and the fields of the address or form."""

    memory: ScopedMemory
    fields: Mapping[str, str]

    def field(self, name: str) -> str:
        """Return a field without blanks around it; "" where there is none."""
        return self.fields.get(name, "").strip()


@dataclass(frozen=True, slots=True)
class Page:
    """A template and what stands in it."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: int = 200


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: the page to go on with, under the base of all pages, and the fields of its address."""

    page: str
    fields: Mapping[str, str]
