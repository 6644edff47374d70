"""What a single pattern of the gate cannot see: what stands before a word in its clause, and a date beside it.

Each guard looks at a bounded stretch of the text on either side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType

from historian import gate_terms as zh
from historian import gate_words as en
from historian.gate_windows import CLAUSE_END, REACH, SENTENCE_END, SENTENCE_REACH, before_in, sentence_around, words_of
from historian.happenings import EVENT_BEFORE
from historian.patterns import lazy_pattern

_OPENING = " \t\"“‘'(（[【*•>-—–"
_RARE_SURNAMES = "鲍乔乌樊阎焦尤阮闵骆虞耿滕殷葛聂晏柴瞿祁裴娄刁饶詹桂楚晁佟窦宁阚靳冉艾褚辛卓"
_DOUBLE_SURNAMES = "欧阳|慕容|司马|诸葛|上官|司徒|皇甫|令狐|端木|尉迟|公孙|夏侯|西门|独孤|南宫|完颜|东方"
_NAME = lazy_pattern(
    rf"(?:[小老阿][{zh.HAN}]|(?:[{zh.SURNAMES}{_RARE_SURNAMES}]|{_DOUBLE_SURNAMES})[{zh.HAN}]{{1,2}}|"
    r"[A-Z][a-z]+(?: [A-Z][a-z]+)?|￼+)"
    r"\s?(?:说|表示|提到|曾经?|也|都|就|和家人|一家)?\s*"
)
_GIVEN_NAME = lazy_pattern(rf"(?:^|[^{zh.HAN}]|[由让请给和与跟及同向对被是叫为])[{zh.SURNAMES}]$")
"""Behind a surname, 刚 is a given name (由彭刚维修)."""
_BODY = lazy_pattern(rf"[{zh.HAN}A-Za-z]{{0,6}}(?:公司|团队|部门|小组|学校|医院|银行|客户|老板|同事|老师|家里)")
"""Those of whom 前两天 is said as of a person: 公司前两天发布, but not 开会前两天."""
_NOT_NAME = lazy_pattern(r".*[天代朝时年月日会考金周试工装案立度班课业程婚]$")
_DATE = (
    r"(?:\d{4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?号?|\d{1,2}\s?月\s?\d{1,2}\s?[日号]?|"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?)?(?i:{en.MONTHS_PATTERN})\.?(?:\s\d{{1,2}}(?:st|nd|rd|"
    rf"th)?)?(?:,?\s\d{{4}})?|"
    r"\d{1,2}/\d{1,2}(?:/\d{2,4})?)"
)
_DATE_AFTER = lazy_pattern(rf"(?:晚上?|早上?|上午|下午|中午|傍晚)?[\s,，(（]*(?:the |on )?{_DATE}")
_ANY_DATE = lazy_pattern(rf"\d{{4}}-\d{{2}}|\d{{4}}\s?年|{_DATE}")
_MOMENT_BEFORE = lazy_pattern(r"\d{4}-\d\d(?:-\d\d)?(?: \d\d:\d\d)?\s?$|\d\s?[年月日号点分]$")
_DATE_BEFORE = lazy_pattern(rf"{_DATE}[\s,，(（/]*(?:是|(?:is|was) (?:a )?|, a )?(?:on )?$")
_HABIT_ZH = lazy_pattern(
    r"喜欢|常常|经常|总[是会]|习惯|每|一般|通常|爱|偶尔|往往|照例|固定|(?<![个几一二三四五六七八九十两\d到至])工作日"
)
_HABIT_EN = en.words("every each usually always often typically normally generally never regularly sometimes weekdays")
_FUTURE = en.words(
    "will shall ll due plans plan wants intends hopes must start leave arrive begin open close return "
    "fly depart graduate retire leaves starts arrives begins expires launches ships departs returns ends "
    "opens closes flies graduates retires call remind meet ping check back again"
)
_PAST = en.words(
    "was were did had ran wrote built made learnt lost read took came went won sold grew fell rose "
    "became got gave drove flew swam spent found taught cut put set"
)
_GENERIC_THEN = lazy_pattern(r"(?:会|将|后|就)?(?:被)?(?:自动|过期|失效|超时|重试|到期|断开|释放|删除|清除|关闭)")
_TOLD = lazy_pattern(r"^(?![^，。]{0,12}[就将会要])[^，。]*(?:了|曾)|才(?![能会可])")
_HAN = lazy_pattern(f"[{zh.HAN}]")
_DONE_ZH = lazy_pattern("[了过曾每]")
_WILL_DO = lazy_pattern(
    r"\b(?i:will|shall|going to|can|could|should|please)\b|['’]ll\b|^\W*(?i:call|do|check|see|talk)\b"
)
_I_VERB = lazy_pattern(
    r"\si?\s?(?:am|was|have|had|think|like|love|hate|want|need|will|would|can|do|did|don['’]t|know|"
    r"live|work|prefer|feel|also|really)\b"
)
_ROMAN = lazy_pattern(
    r"(?:,|\sand|\sor|[-–/]|和|、|到|至)?\s*I[IVX]\b|\.\s?[A-Z]|\s(?:Ching|beam)|"
    r"\s?[型类级期卷度章号部区]"
)


def is_code(text: str, start: int, end: int) -> bool:
    """Tell whether the word at `start` is part of a path, handle, option, attribute or call."""
    before = text[max(0, start - 2) : start]
    if before[-1:] in ("@", "#", "$", "/", "\\", "~", "_", "=", "<", "%", "&") or before in ("::", "--", "->", ".."):
        return True
    if before[-1:] in (".", "-") and before[:1].strip() == "":
        return True
    return text[end : end + 1] in ("(", "=", "_", "[") or text[end : end + 2] in ("::", "->")


def is_name(text: str, run: str, start: int) -> bool:
    """Tell whether a word is written as a name or title: capitals in the middle of a sentence, or all capitals."""
    if len(run) > 1 and run.isupper():
        return not _is_shouted(text, start)
    if run[:1].islower() or run == "I" or run[:2] in ("I'", "I’") or run.lower().partition("'")[0] in _DAYS:
        return False
    return not _starts_sentence(text, start)


_SOMEBODY = lazy_pattern(r"(?<=[给和与跟对让把被问向帮替])TA(?![\sA-Za-z0-9])|TA们")


def is_somebody(text: str, start: int) -> bool:
    """Tell whether TA stands for 他 or 她 (给TA准备豆奶) and is no teaching assistant."""
    return _SOMEBODY.match(text, start) is not None


_INDEFINITE = en.words("a an any per alternate")
_DAYS = frozenset(en.WEEKDAYS.split()) | en.words("mon tue tues wed thu thurs fri")


def _is_shouted(text: str, start: int) -> bool:
    around = text[max(0, start - SENTENCE_REACH) : start + SENTENCE_REACH]
    return around.isupper() and len(re.findall(r"[A-Z]+", around)) >= 4


def _starts_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - REACH) : start].rstrip(_OPENING)
    return not before or before[-1] in ".!?。！？:：;；\n"


def _is_person(prefix: str) -> bool:
    return _NAME.fullmatch(prefix) is not None and _NOT_NAME.match(prefix) is None


def _bare(text: str, start: int, end: int) -> bool:
    prefix = before_in(text, start, CLAUSE_END)
    return prefix is not None and (not prefix or _is_person(prefix) or _BODY.fullmatch(prefix) is not None)


def _start(text: str, start: int, end: int) -> bool:
    return before_in(text, start, SENTENCE_END) == ""


def _opening(text: str, start: int, end: int) -> bool:
    """Tell whether a sequel such as 届时 opens its sentence, so that nothing before it says when."""
    prefix = before_in(text, start, SENTENCE_END)
    return prefix is not None and (not prefix or _is_person(prefix)) and _dated(text, start, end)


def _anchored(text: str, start: int) -> bool:
    """Tell whether a date stands before `start` in its sentence."""
    before = before_in(text, start, SENTENCE_END, SENTENCE_REACH)
    return _ANY_DATE.search(before if before is not None else text[max(0, start - SENTENCE_REACH) : start]) is not None


def _sequel(text: str, start: int, end: int) -> bool:
    """Tell whether `the following day` has no day to follow."""
    if _anchored(text, start) or text[end : end + 1] == ":":
        return False
    before = before_in(text, start, SENTENCE_END, SENTENCE_REACH)
    return before in ("the", "The") or any(_is_past(word) for word in words_of(sentence_around(text, start, end)))


def _dated(text: str, start: int, end: int) -> bool:
    if _DATE_AFTER.match(text, end) is not None:
        return False
    return _DATE_BEFORE.search(text[max(0, start - REACH) : start]) is None


def _not_habit(text: str, start: int, end: int) -> bool:
    sentence = sentence_around(text, start, end)
    return _HABIT_ZH.search(sentence) is None and _HABIT_EN.isdisjoint(words_of(sentence))


def _weekday(text: str, start: int, end: int) -> bool:
    previous = _previous_word(text, start)
    if previous in _INDEFINITE:
        return False
    return previous not in en.WEEKDAY_NAMES and _dated(text, start, end) and _not_habit(text, start, end)


def _chinese_weekday(text: str, start: int, end: int) -> bool:
    return _dated(text, start, end) and _not_habit(text, start, end)


def _calendar(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip()
    return before[-1:] not in frozenset(f"{zh.NUMERALS}每年逢月度正腊冬") or not before


def _fresh(text: str, start: int, end: int) -> bool:
    if text[start + 1 : end] in ("才", "刚"):
        return True
    if _MOMENT_BEFORE.search(text[max(0, start - REACH) : start]) is not None:
        return False
    return _GIVEN_NAME.search(text[max(0, start - 2) : start]) is None


def _begun(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 4) : start].rstrip()
    if (before and before[-1] in zh.ANCHOR_ENDS) or EVENT_BEFORE.search(text[max(0, start - 4) : start]):
        return False
    if before[-1:] == "月" and "日" in text[start:end]:
        return False
    if text[end - 1] == "后" and (before[-1:] in ("了", "每") or _anchored(text, start) or _tells(text, start, end)):
        return False
    if re.match(r"(?:1[5-9]|20)\d\d\s?年", text[start:end]):
        return False
    return text[end - 1] == "前" or _GENERIC_THEN.match(text, end) is None


def _tells(text: str, start: int, end: int) -> bool:
    """Tell whether 半小时后 continues a story: something stands before it, and the sentence is in the past."""
    prefix = before_in(text, start, CLAUSE_END)
    if prefix is None or not prefix or _is_person(prefix):
        return False
    rest = text[end : end + SENTENCE_REACH]
    stop = SENTENCE_END.search(rest)
    return _TOLD.search(rest[: stop.start()] if stop else rest) is not None


def _owned(text: str, start: int, end: int) -> bool:
    prefix = before_in(text, start, CLAUSE_END)
    if not prefix:
        return True
    return prefix[-1] not in zh.OWNER_ENDS and not _is_person(re.split("[从在到去往向由问找]", prefix)[-1])


def _near(text: str, start: int, end: int) -> bool:
    prefix = before_in(text, start, CLAUSE_END)
    if prefix is None:
        return False
    return not prefix or prefix[-1] in "在到去从住来往是找了" or (not prefix.isascii() and _is_person(prefix))


def _nearest(text: str, start: int, end: int) -> bool:
    prefix = before_in(text, start, CLAUSE_END)
    return prefix is None or re.search(r"离(?![职开婚家世谱异散])|距", prefix) is None


def _previous_word(text: str, start: int) -> str:
    match = re.search(r"([A-Za-z]+) +$", text[max(0, start - REACH) : start])
    return match[1].lower() if match else ""


def _i(text: str, start: int, end: int) -> bool:
    if text[start] == "i":
        return _I_VERB.match(text, end) is not None
    if _previous_word(text, start) in en.TITLES_BEFORE_I or _ROMAN.match(text, end) is not None:
        return False
    before = text[max(0, start - 3) : start].rstrip()
    return before[-1:] not in ("卷", "型", "类", "级", "期", "部", "章", "第") and text[start - 1 : end + 1] != "(I)"


def _is_past(word: str) -> bool:
    return word in _PAST or (len(word) > 4 and word.endswith("ed"))


def _future(text: str, start: int, end: int) -> bool:
    words = words_of(sentence_around(text, start, end))
    if any(_is_past(word) for word in words):
        return False
    if _HAN.search(sentence_around(text, start, end)) is not None:
        return _DONE_ZH.search(sentence_around(text, start, end)) is None
    return not _FUTURE.isdisjoint(words) or any(
        first in ("is", "are", "am", "be") and (second.endswith("ing") or second in ("back", "over", "out", "up"))
        for first, second in pairwise(words)
    )


def _later(text: str, start: int, end: int) -> bool:
    before = before_in(text, start, SENTENCE_END, SENTENCE_REACH) or ""
    return _WILL_DO.search(before) is not None


def _just(text: str, start: int, end: int) -> bool:
    return text[start:end].lower() == "just now" or _previous_word(text, start) not in _BE


_BE = en.words("is are was were be being it or not than")

_GUARDS: Mapping[str, Callable[[str, int, int], bool]] = MappingProxyType(
    {
        "bare": _bare,
        "start": _start,
        "opening": _opening,
        "sequel": _sequel,
        "dated": _chinese_weekday,
        "weekday": _weekday,
        "weekend": _chinese_weekday,
        "habit": _not_habit,
        "calendar": _calendar,
        "fresh": _fresh,
        "begun": _begun,
        "owned": _owned,
        "near": _near,
        "nearest": _nearest,
        "i": _i,
        "future": _future,
        "later": _later,
        "just": _just,
    }
)


def counts(guard: str, text: str, start: int, end: int) -> bool:
    """Tell whether a match at `start:end` needs context, by the guard of that name; True for a name without a guard."""
    check = _GUARDS.get(guard)
    return check is None or check(text, start, end)
