"""Markdown of a profile as HTML: no HTML of its own, no pictures, no links but to web pages and mail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markupsafe import Markup

MAX_NESTING = 20
_WANTED = ("http://", "https://", "mailto:")


def make_markdown() -> MarkdownIt:
    """Return a renderer. Slow: loads markdown-it."""
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).enable("table")
    renderer.disable(["image", "html_block", "html_inline"])
    renderer.validateLink = lambda url: url.strip().lower().startswith(_WANTED)  # type: ignore[method-assign]
    renderer.add_render_rule("link_open", _foreign_link)
    for part in ("heading_open", "heading_close"):
        renderer.add_render_rule(part, _lower_heading)
    return renderer


def rendered(renderer: MarkdownIt, text: str) -> Markup:
    """Return `text` as HTML that is safe to stand in a page."""
    from markupsafe import Markup

    return Markup(renderer.render(text))


def _lower_heading(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """A page has one heading of the first level, and it is ours."""
    tokens[place].tag = f"h{min(int(tokens[place].tag[1:]) + 1, 6)}"
    return str(self.renderToken(tokens, place, options, env))


def _foreign_link(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    tokens[place].attrSet("rel", "noreferrer noopener nofollow")
    return str(self.renderToken(tokens, place, options, env))
