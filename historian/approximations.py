"""Amounts of time that only bound or surround what is meant: 不到20天前, two or three days ago, 大下周. They stay."""

from __future__ import annotations

import re
from typing import Final

from historian.days import DateHit
from historian.patterns import lazy_pattern

_BOUND_ZH: Final = lazy_pattern(r"(?:不到|不足|没到|未到|将近|接近|超过|不止|多于|少于|至少|起码|最多|至多|顶多)\s?$")
_OFFSET_ZH: Final = lazy_pattern(r".*(?:前|后)$")
_BEFORE_EN: Final = lazy_pattern(
    r"\b(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|an?|\d{1,3})\s?(?:or|to|-|–)|at\s(?:least|most)|"
    r"up\sto|not\squite|just\sunder|just\sover)\s$",
    re.IGNORECASE,
)
_AGO: Final = lazy_pattern(r".*\b(?:ago|from\snow|hence)$|in\b.*", re.IGNORECASE)
_BIG_WEEK: Final = lazy_pattern(r"(?:^|[我你您他她们，。；！？、\s])大$")


def is_approximate(text: str, hit: DateHit) -> bool:
    """Tell whether what stands before an expression makes its date only a bound, or one of two."""
    low = max(0, hit.start - 14)
    if hit.lang == "en":
        return _AGO.fullmatch(hit.found) is not None and _BEFORE_EN.search(text, low, hit.start) is not None
    if hit.found[:1] in {"上", "下"} and _BIG_WEEK.search(text, max(0, hit.start - 2), hit.start):
        return True
    return _OFFSET_ZH.fullmatch(hit.found) is not None and _BOUND_ZH.search(text, low, hit.start) is not None
