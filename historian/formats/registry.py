"""All formats, in the order in which they are tried: those with the plainest marks last."""

from __future__ import annotations

from collections.abc import Sequence

from historian.errors import InvalidInputError
from historian.formats.basic_memory import BasicMemory
from historian.formats.chatgpt import ChatGpt
from historian.formats.claude_ai import ClaudeAi
from historian.formats.claude_code import ClaudeCode
from historian.formats.codex import Codex
from historian.formats.discord import Discord
from historian.formats.form import Format
from historian.formats.mem0 import Mem0
from historian.formats.onebot import OneBot
from historian.formats.own import OwnExport
from historian.formats.piece import Bundle, Piece
from historian.formats.plain import PlainLines, PlainList, Table
from historian.formats.qq_text import QqText
from historian.formats.server_memory import ServerMemory
from historian.formats.slack import Slack
from historian.formats.telegram import Telegram
from historian.formats.whatsapp import WhatsApp

AUTO = "auto"
NAMES = (
    AUTO,
    "claude-code",
    "codex",
    "chatgpt",
    "claude-ai",
    "telegram",
    "discord",
    "slack",
    "whatsapp",
    "onebot",
    "qq",
    "mem0",
    "basic-memory",
    "server-memory",
    "csv",
    "json",
    "jsonl",
    "shiguan",
)
"""What `--format` takes."""


def all_formats() -> Sequence[Format]:
    """Return a reader of each format."""
    return (
        OwnExport(),
        ClaudeCode(),
        Codex(),
        ChatGpt(),
        ClaudeAi(),
        Telegram(),
        Discord(),
        Slack(),
        ServerMemory(),
        OneBot(),
        PlainList(),
        PlainLines(),
        Mem0(),
        BasicMemory(),
        Table(),
        QqText(),
        WhatsApp(),
    )


def format_of(piece: Piece, bundle: Bundle, formats: Sequence[Format]) -> Format | None:
    """Return the first format that recognises a file, or None."""
    return next((form for form in formats if form.recognises(piece, bundle)), None)


def chosen(name: str) -> Sequence[Format]:
    """Return all formats for `auto`, else the one of this name. Raises InvalidInputError."""
    formats = all_formats()
    found = formats if name == AUTO else [form for form in formats if form.name == name]
    if not found:
        raise InvalidInputError(f"There is no format {name[:40]!r}; use one of {', '.join(NAMES)}.")
    return found
