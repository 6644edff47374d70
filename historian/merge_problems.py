"""What can be wrong with a merge that a model proposes, in words for the model and for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "uncovered": ("New statement {at} is mentioned nowhere.", "新陈述 {at} 没有被提到。"),
    "twice": ("Line {at} is given two fates.", "第 {at} 行有两种不同的处理。"),
    "no_text": ("{at} has no text.", "{at} 没有文字。"),
    "no_statement": ("{at} names no new statement that it rests on.", "{at} 没有写明依据哪条新陈述。"),
    "no_reason": ("Line {at} is removed without a reason.", "删除第 {at} 行没有理由。"),
    "no_basis": (
        "Line {at} is removed, but no new statement and no remaining line is named from which that follows.",
        "删除第 {at} 行，但没有写明所依据的新陈述或仍保留的行。",
    ),
    "too_long": ("{at} is too long for one line.", "{at} 对一行来说太长。"),
    "language": ("{at} is not in the language of its sources.", "{at} 与来源的语言不一致。"),
    "lost": ("{at} has lost “{found}”.", "{at} 丢失了“{found}”。"),
    "number": (
        "{at} has the number “{found}”, which stands in none of its sources.",
        "{at} 有来源中没有的数字“{found}”。",
    ),
    "polarity": ("{at} and its sources differ in what is denied.", "{at} 与来源的肯定和否定不一致。"),
    "modality": (
        "{at} does not keep “{found}”: what is over, wished, planned, possible, or so of one thing only, must stay so.",
        "{at} 没有保留“{found}”：过去的、想做的、打算做的、可能的、“只有”的，都不能写成别的样子。",
    ),
    "order": (
        "{at} exchanges what its sources say (“{found}”): keep who does what to whom.",
        "{at} 把来源里的话换了位置（“{found}”）：谁对谁做什么不能变。",
    ),
    "unsupported": ("{at} says what none of its sources says.", "{at} 写了来源中没有的内容。"),
    "unsaid": ("What new statement {found} says is missing in {at}.", "{at} 没有包含新陈述 {found} 的内容。"),
    "other_matter": (
        "{at} is about something else than the line it replaces: remove that line with a reason, and add a new one.",
        "{at} 与它所替换的行不是同一件事：请带理由删除那一行，另外新增一行。",
    ),
    "not_covered": (
        "Line {found} does not say all that line {at} says.",
        "第 {found} 行没有包含第 {at} 行的全部内容。",
    ),
    "foreign_id": ("{at} has “{found}”, which stands in none of its sources.", "{at} 有来源中没有的“{found}”。"),
    "foreign_person": (
        "{at} is about {found}, whom none of its sources names.",
        "{at} 写到了来源中没有的人“{found}”。",
    ),
    "orders": ("{at} gives orders to its reader.", "{at} 是写给读者的命令。"),
    "shrunk": ("More than half of the profile would be gone.", "档案会减少一半以上。"),
}
_REASONS: Final = {
    "foreign_id": "a line has “{found}”, which stands in nothing that it rests on",
    "foreign_person": "a line is about {found}, whom nothing that it rests on names",
    "orders": "a line gives orders to a model",
    "shrunk": "more than half of the profile would be gone",
}
_PLACES: Final = {
    "line": ("Line {}", "第 {} 行"),
    "update": ("The new text of line {}", "第 {} 行的新行文"),
    "added": ("Added line {}", "新增的第 {} 条"),
}
GIVES_ORDERS: Final = "a new statement gives orders to a model"
CLAUSES: Final = (GIVES_ORDERS, *_REASONS.values())
"""The words of reasons themselves, without what was found."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: its kind, where (`at`), and what was found there."""

    kind: str
    at: str = ""
    found: str = ""

    @property
    def is_suspicious(self) -> bool:
        """Whether a person should look at the merge, rather than have it done in another way."""
        return self.kind in _REASONS

    def say(self, language: str) -> str:
        """Return a sentence for the model, in zh or en."""
        return _WORDS[self.kind][language == "zh"].format(at=self.at, found=self.found)

    def reason(self) -> str:
        """Return a clause for a person, for a suspicious one."""
        return _REASONS[self.kind].format(found=self.found)


def place_name(kind: str, number: int, language: str) -> str:
    """Return how a text is called: present `line` 3, its `update`, or the 3rd `added` one."""
    return _PLACES[kind][language == "zh"].format(number)
