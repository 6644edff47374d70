"""Where the log goes and what is said in it. Standard library only."""

from __future__ import annotations

import logging
import sys

TALKATIVE = ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "chromadb")
"""Packages that tell of every request, with its address."""


def log_to_stderr() -> None:
    """Log what concerns an operator on stderr; of other packages only what went wrong."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
