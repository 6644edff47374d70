"""Quoting what is stored, so that it stays data wherever a model reads it."""

from __future__ import annotations

_INNER = str.maketrans("「」", "『』")


def quoted(text: str) -> str:
    """Return stored text as one quoted line, so that it cannot pass for prose of the server.

    Quotation marks in it become inner ones, as is usual: it cannot close the quotation that it stands in.
    """
    return "「" + " ".join(text.split()).translate(_INNER) + "」"
