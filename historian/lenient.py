"""Kinds of fields that take what weak models write for them. Imports pydantic: load it where a model is asked."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator


def several(given: object) -> object:
    """Take one for a list of it, and nothing for an empty one."""
    if given is None or given == "":
        return []
    return given if isinstance(given, list) else [given]


def _text(given: object) -> object:
    return "" if given is None else given


def _number(given: object) -> object:
    return 0 if given is None or given == "" else given


Text = Annotated[str, BeforeValidator(_text)]
Number = Annotated[int, BeforeValidator(_number)]
Numbers = Annotated[list[int], BeforeValidator(several)]
