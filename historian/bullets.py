"""One statement as one Markdown bullet, and a Markdown text as bullets and everything else.

A statement may look like Markdown (`# `, `- `, `---`, `[x]`); written as a bullet it is inert and reads back the same.
"""

from __future__ import annotations

import re
import unicodedata

from historian.patterns import lazy_pattern

_LEADING = lazy_pattern(r"[\\#>\-+*=_~`|<\[!&]")
_ESCAPED = lazy_pattern(r"\\(?=[\\#>\-+*=_~`|<\[!&])")
_NUMBERED = lazy_pattern(r"(\d+)(\\*[.)])")
_NUMBERED_ESCAPED = lazy_pattern(r"(\d+)\\(\\*[.)])")
_BULLET = lazy_pattern(r"[ \t]*[-*+][ \t]+(\S.*)", re.DOTALL)
_RULE = lazy_pattern(r"[ \t]*([-*_])[ \t]*(?:\1[ \t]*){2,}")
_FENCE = lazy_pattern(r" {0,3}(`{3,}|~{3,})")
_CONTINUED = lazy_pattern(r"(?: {2,}|\t)\s*\S")


def one_line(text: str) -> str:
    """Return `text` on one line: white space and control characters become single blanks, half surrogates U+FFFD."""
    if not text.isprintable():
        text = "".join(_plain(character) for character in text)
    return " ".join(text.split())


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    return " " if category in ("Cc", "Zl", "Zp") else character


def bullet(text: str) -> str:
    """Return the Markdown bullet that shows the one line `text` literally."""
    if _LEADING.match(text):
        return f"- \\{text}"
    return f"- {_NUMBERED.sub(_with_backslash, text, count=1) if _NUMBERED.match(text) else text}"


def _with_backslash(match: re.Match[str]) -> str:
    return f"{match[1]}\\{match[2]}"


def bullet_text(source: str) -> str | None:
    """Return the statement that a bullet shows, its continuation lines joined, or None where `source` is no bullet."""
    found = _BULLET.match(source)
    if found is None or _RULE.fullmatch(source):
        return None
    text = found[1]
    if _ESCAPED.match(text):
        text = text[1:]
    elif numbered := _NUMBERED_ESCAPED.match(text):
        text = numbered[1] + numbered[2] + text[numbered.end() :]
    return one_line(text) or None


def split_bullets(body: str) -> list[tuple[str, str | None]]:
    """Cut a Markdown text into pieces `(source, statement)`; the sources joined by newlines are the text again.

    The statement is None for everything that is no bullet: headings, paragraphs, blank lines, and all that stands in
    a code fence or an HTML comment. A fence or comment that never closes is taken for an ordinary line, so that one
    stray character does not make the bullets below it vanish.
    """
    lines = body.split("\n")
    unclosed: set[str] = set()
    pieces: list[tuple[str, str | None]] = []
    at = 0
    while at < len(lines):
        is_bullet = bullet_text(lines[at]) is not None
        end = _bullet_end(lines, at) if is_bullet else _block_end(lines, at, unclosed)
        source = "\n".join(lines[at:end])
        pieces.append((source, bullet_text(source) if is_bullet else None))
        at = end
    return pieces


def _bullet_end(lines: list[str], at: int) -> int:
    end = at + 1
    while end < len(lines) and _CONTINUED.match(lines[end]) and not _starts_something(lines[end]):
        end += 1
    return end


def _starts_something(line: str) -> bool:
    return bullet_text(line) is not None or line.lstrip().startswith(("```", "~~~", "<!--", "#"))


def _block_end(lines: list[str], at: int, unclosed: set[str]) -> int:
    """Return where the block that starts at line `at` ends: one line, or all of a closed fence or comment.

    `unclosed` collects the openings for which the rest of the text has no end, so that each is sought once only.
    """
    line = lines[at]
    if fence := _FENCE.match(line):
        opening = fence[1]
        closing = re.compile(rf"[ \t]*{re.escape(opening)}{re.escape(opening[0])}*[ \t]*")
    elif line.lstrip().startswith("<!--") and "-->" not in line:
        opening, closing = "<!--", re.compile(r".*-->.*")
    else:
        return at + 1
    if opening not in unclosed:
        for end in range(at + 1, len(lines)):
            if closing.fullmatch(lines[end]):
                return end + 1
        unclosed.add(opening)
    return at + 1
