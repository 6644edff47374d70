"""Numbers of payment cards in text: length, issuer and check digit must all fit, and it must not be called otherwise.

Lengths and ranges are those that the issuers publish (ISO/IEC 7812-1 gives the scheme): Visa 4, Mastercard 51-55 and
2221-2720, American Express 34 and 37, Discover 6011, 644-649 and 65, JCB 3528-3589, Diners 300-305, 3095, 36 and 38-39,
Mir 2200-2204, UnionPay 62 and 81. UnionPay numbers of 17 and 18 digits are left alone: 18 digits that begin with 62
are also the numbers of residents of Gansu. Visa numbers of 13 digits are not given out any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from historian.patterns import lazy_pattern

_FEWEST = 14
_NUMBER = (
    r"(?<![0-9A-Za-z._/#+-])"
    r"(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5}|\d{6} \d{13})"
    r"(?![0-9A-Za-z_-]|\.\d)"
)
"""In one piece, or as it is printed: in fours, 4-6-5 (American Express), 4-6-4 (Diners), 6-13 (UnionPay)."""
_OTHERWISE = lazy_pattern(
    r"(?:单号|單號|运单|運單|快递|快遞|包裹|订单|訂單|物流|追踪|追蹤|流水|编号|編號|发票|發票|条码|條碼|序列号|序號"
    r"|parcel|package|track|shipment|waybill|order|invoice|receipt|ticket|serial|imei|barcode|reference|isbn|sku)"
    r"[^.;。；\n]{0,24}$",
    re.IGNORECASE,
)
_CARD = lazy_pattern(r"card|卡", re.IGNORECASE)


def card_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the card numbers of `text` stand."""
    if len(text) < _FEWEST or not re.search(r"\d[ -]?\d[ -]?\d[ -]?\d", text):
        return
    for match in re.finditer(_NUMBER, text):
        digits = re.sub(r"\D", "", match[0])
        if is_card_number(digits) and not _is_called_otherwise(text[max(0, match.start() - 40) : match.start()]):
            yield match.span()


def is_card_number(digits: str) -> bool:
    """Say whether `digits` have the length, the beginning and the check digit of a card."""
    return len(digits) in _lengths(digits) and len(set(digits)) > 1 and _luhn(digits)


def _lengths(digits: str) -> tuple[int, ...]:
    two, three, four = int(digits[:2]), int(digits[:3]), int(digits[:4])
    if digits[0] == "4":
        return (16, 19)
    if 51 <= two <= 55 or 2221 <= four <= 2720 or 2200 <= four <= 2204:
        return (16,)
    if two in (34, 37):
        return (15,)
    if four == 6011 or 644 <= three <= 649 or two == 65 or 3528 <= four <= 3589:
        return (16, 17, 18, 19)
    if 300 <= three <= 305 or four == 3095 or two in (36, 38, 39):
        return (14, 16)
    return (16, 19) if two in (62, 81) else ()


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_called_otherwise(before: str) -> bool:
    """Say whether the words before a number call it a parcel, an order or the like, and not a card as well."""
    called = _OTHERWISE.search(before)
    return called is not None and _CARD.search(before) is None
