"""Finds Chinese expressions that name a date relative to the day of speaking: 昨天下午, 上周五, 下个月3号, 半年前."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from historian import days
from historian.days import DateHit, Period, Value
from historian.gate_terms import SURNAMES
from historian.happenings import EVENT_BEFORE
from historian.lookalikes import COMPANY, NAMED_MING, NAMED_ZHOU, SAYINGS
from historian.numerals import ZH_NUMBER, zh_number
from historian.patterns import came_from, compile_shared, lazy_pattern, pick, took_part
from historian.said import Build, Said, within_calendar
from historian.tense import MORE_DAYS

PARTS: Final[dict[str, Period]] = {
    **dict.fromkeys(("凌晨", "清晨", "拂晓", "黎明"), "dawn"),
    **dict.fromkeys(("一大早", "大清早", "清早", "早上", "早晨", "上午", "早间"), "am"),
    **dict.fromkeys(("中午", "正午"), "noon"),
    **dict.fromkeys(("下午", "午后", "傍晚", "黄昏"), "pm"),
    **dict.fromkeys(("晚上", "晚间", "夜里", "夜晚", "夜间", "深夜", "半夜", "午夜", "大半夜", "大晚上"), "night"),
}
PART: Final = "|".join(sorted(PARTS, key=len, reverse=True))
_THEN: Final = rf"(?:\s?的?\s?(?P<part>{PART}))?"
_COMPACT: Final[dict[str, str]] = {"晚": "晚上", "早": "早上", "晨": "早晨", "夜": "夜里"}

_WEEK: Final = "(?:周|星期|礼拜)"
_MEASURE: Final = (
    r"(?![次位名件趟顿篇遍百岁年]|周(?![一二三四五六日天末])|个(?!人|体)|天(?!气)|小时|分钟|"
    r"千(?!万)|万(?!一)|十(?![一二]?点|时))"
)
_WEEKDAY: Final = (
    r"(?P<wd>一(?!直|样|起(?!床|飞|草)|共|些|切|下子|般|定|旦|边|度|向|再|同(?!事|学|步|意)|整周|家[人三四])|"
    r"二(?!手|维|胎)|三(?!亚|峡|里屯|星堆)|四(?!川)|五(?!台山|粮)|六(?![合日])|"
    r"日(?!常(?!规)|报(?![名到价告修警销])|志(?!愿)|记(?!得)|[程历用语元均本子])|天(?![气天津空才文猫])|[1-6](?![0-9.:：]))"
    + _MEASURE
)
_WEEKDAY_INDEX: Final = (
    {c: i for i, c in enumerate("一二三四五六日")} | {c: i for i, c in enumerate("123456")} | {"天": 6}
)
_STEP_LEFT: Final = r"(?<![晚早身网路楼海马线头世以天地乡手脚底之林日基成资原根样剧课书一每两几])"
_STEP: Final = (
    rf"(?:(?P<step>这)|{_STEP_LEFT}(?P<step>上{{1,4}}|下{{1,4}}|本)|"
    rf"(?P<step>上{{1,4}}|下{{1,4}})(?=个)|(?<![晚早身网路马线世地乡手楼底])(?P<step>上{{1,4}}|下{{1,4}})(?={_WEEK}[一二三四五六日天]))"
    r"(?:一?个)?"
)
_EDGE: Final = r"(?P<edge>底(?![下片薪])|初(?![中步恋次级稿])|末(?![日尾端])|中旬|上旬|下旬)"
_DAY_OF_MONTH: Final = (
    r"(?P<dom>3[01]|[12][0-9]|0?[1-9]|三十一?|二十[一二三四五六七八九]?|廿[一二三四五六七八九]?|十[一二三四五六七八九]?|"
    r"[一二三四五六七八九])\s?[号日](?![本语常])"
)
_MONTH: Final = r"(?P<month>十[一二]?|1[0-2]|0?[1-9]|[一二三四五六七八九])\s?月"

_DAY_WORD: Final = lazy_pattern(
    r"(?:(?<![目以之提眼先饭午年史大])(?P<far_past>大{0,3})前[天日](?![气空])|(?<![大以之今然最往先随落背前日雨饭课])(?P<far>大{0,3})后天|"
    rf"(?<![{SURNAMES}小阿老])(?<![{SURNAMES}][一-鿿])(?P<both>明后|今明|昨今)两?天|"
    r"(?P<near>[昨今明][天日]|[昨今明]儿个?))(?![早晚晨](?:[^上间晨餐饭点]|$))" + _THEN
)
_OF_YEAR: Final = lazy_pattern(r"(?:[0-9]{4}|[那当每同])\s?年的?$")
"""Before 今天: the day of another year."""
_NOT_DAY: Final = lazy_pattern(
    rf"[今明昨][天日](?:{COMPANY})|"
    r"今日(?:头条|说法|关注|美术馆)|明日(?:方舟|香|之后|之星|边缘|之子|帝国|黄花)|昨日(?:重现|青空|之)|明天会更好|"
    r"后天(?:性|的?努力|形成|培养|养成|习得|因素|环境|免疫|教育|修炼|获得|失明|失聪|补偿|不足|的?训练|努力)|"
    r"前日(?:本|元|语)|今天子|昨日黄花"
)
_SPLIT_WORD: Final = lazy_pattern(
    r"[清文说聪透表声证如](?:今天|明天)(?:气(?![死温色氛人坏炸得呼])|下(?=[无人皆大太苍归共为]|第一))|"
    rf"{NAMED_MING}|{NAMED_ZHOU}|{SAYINGS}|(?<=[一-鿿])(?<![我你他她们])前夜"
)
_COMPACT_DAY: Final = lazy_pattern(
    r"(?:(?P<word>[昨今明])|(?<![以之目提先眼])(?P<before>前))(?P<when>晚(?!报|安|餐|饭|点名)|早(?!餐|饭|点|就|已|期)|晨|夜)"
    r"(?:上(?![课班学车网台线])|间|里|晨(?![跑会练读]))?"
)
_WEEK_STEP: Final = compile_shared(
    _STEP + _WEEK + rf"(?:(?:\s?的?\s?{_WEEK})?{_WEEKDAY}{_THEN}|(?P<end>(?:末|六日)(?![日尾端期]){_THEN})|"
    r"(?![围边期刊年转密全易身游记])(?P<whole>))"
)
_BARE_WEEKDAY: Final = compile_shared(
    rf"(?<![每逢隔一二两三四五六七八九十几0-9整各上下这本单双数多周个色性姓到至]){_WEEK}{_WEEKDAY}(?!餐厅|俱乐部|影展){_THEN}"
    rf"|(?:(?<=[到至和、])|(?<=[周期拜][一二三四五六日天])){_WEEK}{_WEEKDAY}{_THEN}"
)
_AND_DAYS: Final = lazy_pattern(r"(?:\s?(?:[、和与及跟]|以及)?\s?(?:周|星期|礼拜)[一二三四五六日天]){1,6}")
"""Further days of which the same is said: 周六、周日都在家."""
_AHEAD: Final = lazy_pattern(r"(?:[订买抢约退]|预订|预约|报名|取消|推[掉迟])(?:了|到了?|好了?|的)?\s?$")
"""Before a weekday: what is done ahead of it (买了周三的机票)."""
_NUMBER_BEFORE: Final = lazy_pattern(r"(?<![0-9月])(?P<number>3[01]|[12][0-9]|[1-9])[号日]\s?[(（,，]?\s?$")
_NUMBER_AFTER: Final = lazy_pattern(r"\s?[(（,，]?\s?(?P<number>3[01]|[12][0-9]|[1-9])[号日](?![楼线院室])")
"""The day of the month beside a weekday: 19号周四, 周四（19号）."""
_BEGINS: Final = lazy_pattern("起(?![床飞来得])|开始")
"""From a day on: one that was, or one that will be."""
_MORE_DAYS: Final = lazy_pattern(MORE_DAYS)
_MONTH_STEP: Final = compile_shared(
    _STEP + rf"月(?![亮球饼嫂台])(?:份)?(?:(?:\s?的?\s?{_DAY_OF_MONTH}{_THEN})|月?{_EDGE})?"
)
_YEAR_STEP: Final = compile_shared(
    r"(?:(?<![目以之提眼先午生年大])(?P<back>大{0,2})前年|(?<![以之今然最往先随年前零0])(?P<on>大{0,2})后年|(?<![过失逝])去年|"
    r"(?<!如)今年|(?<![日基成资原根样剧课书])本年|(?<![聪透])明年(?!代))(?!龄)(?:度(?!过|假))?"
    rf"(?:\s?的?\s?{_MONTH}(?:份)?(?:\s?的?\s?{_DAY_OF_MONTH}{_THEN}|{_EDGE})?|"
    r"(?:的)?(?P<same>今[天日])|年?(?P<yedge>底(?![下片薪])|初(?![中步恋次级])|末|中(?!考|国|学|秋|奖|旬|年|午)))?"
)
_QUARTER: Final = compile_shared(_STEP + "季度")
_UNITS: Final = {
    **dict.fromkeys(("秒", "秒钟"), "second"),
    **dict.fromkeys(("分钟",), "minute"),
    **dict.fromkeys(("小时", "钟头"), "hour"),
    **dict.fromkeys(("天", "日"), "day"),
    **dict.fromkeys(("周", "星期", "礼拜"), "week"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minute"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hour"),
    **dict.fromkeys(("day", "days"), "day"),
    **dict.fromkeys(("week", "weeks"), "week"),
    "月": "month",
    "年": "year",
}
_UNIT: Final = "mins?|minutes?|h(?:ou)?rs?|h|days?|weeks?|秒钟?|分钟|刻钟|小时|钟头|天|日|周|星期|礼拜|月|年"
_AMOUNT: Final = (
    rf"(?:(?P<n>{ZH_NUMBER}(?:\.5)?)\s?(?P<ge>个)?(?P<mid>半)?\s?|(?P<half>半)个?)(?P<unit>{_UNIT})(?P<tail>半)?"
)
_OFFSET: Final = lazy_pattern(
    r"(?<![第每前近头这那月隔了过\-.0-9年号零〇一二两俩仨三四五六七八九十百千几数多余时年零又])"
    + _AMOUNT
    + r"\s?(?P<way>以前|之前|前(?![后面端景台往夕线几两])|以后|之后|后(?![端台勤面期方代卫悔背果备]))"
    + r"(?:的(?P<anniversary>今天))?"
    + _THEN
)
_WILL_BE: Final = lazy_pattern(r"[^，。；！？]{0,12}就[^，。；！？]{1,8}了")
_COMPOUND: Final = lazy_pattern(
    rf"(?<![0-9零〇一二两三四五六七八九十百千几])(?P<big>{ZH_NUMBER})(?:(?P<years>年)零?|个?小时零?|个?钟头零?)(?P<small>{ZH_NUMBER})(?P<unit>个月|分钟?)"
    r"(?P<way>以前|之前|前|以后|之后|后)"
)
_PASSING: Final = lazy_pattern(rf"再过{_AMOUNT}(?=[就后要会再我，,])后?")


def find_dates(said: Said) -> Iterator[DateHit]:
    """Yield every Chinese expression of a date in a text, with the value it has when said at an instant."""
    text = said.text
    idioms = [m.span() for p in (_NOT_DAY, _SPLIT_WORD) for m in p.finditer(text)]
    taken = {i for start, end in idioms for i in range(start, end)}
    for pattern, build in _FINDERS:
        for match in pattern.finditer(text):
            if match.start() in taken:
                continue
            value = within_calendar(build, match, said)
            if value is not None:
                yield _hit(match, value)
                if pattern is _WEEK_STEP:
                    yield from _further_days(match, value)


def _further_days(match: re.Match[str], first: Value) -> Iterator[DateHit]:
    """Yield the days that follow as mere numbers: the 三 and 五 of 下周一三五."""
    more = _further(match)
    for at, wd in enumerate(more, match.end()):
        yield DateHit(at, at + 1, days.weekday_in(first.first, _WEEKDAY_INDEX[wd]), "zh", found=wd)


def _hit(match: re.Match[str], value: Value) -> DateHit:
    part = pick(match, "part") or _COMPACT.get(pick(match, "when"), "")
    step = pick(match, "step") or ("bare" if came_from(match, _BARE_WEEKDAY) else "")
    is_weekday = bool(pick(match, "wd"))
    return DateHit(
        match.start(),
        match.end(),
        value,
        "zh",
        part=part,
        period=PARTS.get(part, ""),
        found=match.group(),
        prefix=step if is_weekday else "",
    )


def _day_word(match: re.Match[str], said: Said) -> Value | None:
    near, both = pick(match, "near"), pick(match, "both")
    if both:
        first = said.today + timedelta(days={"昨": -1, "今": 0, "明": 1}[both[0]])
        return replace(days.weekend(said.today), first=first, last=first + timedelta(days=1))
    if near:
        shift = {"昨": -1, "今": 0, "明": 1}[near[0]]
    elif took_part(match, "far"):
        shift = 2 + len(pick(match, "far"))
    else:
        shift = -2 - len(pick(match, "far_past"))
    found = days.day(said.today + timedelta(days=shift))
    return days.unsure(found) if _OF_YEAR.search(match.string, max(0, match.start() - 8), match.start()) else found


def _compact_day(match: re.Match[str], said: Said) -> Value | None:
    shift = {"昨": -1, "今": 0, "明": 1, "前": -2}[pick(match, "word") or pick(match, "before")]
    return days.day(said.today + timedelta(days=shift))


def _steps(word: str) -> int:
    return {"上": -1, "下": 1}.get(word[0], 0) * len(word)


def _week_step(match: re.Match[str], said: Said) -> Value | None:
    today, weeks = said.today, _steps(pick(match, "step"))
    if pick(match, "wd"):
        return days.weekday_in(today, _WEEKDAY_INDEX[pick(match, "wd")], weeks)
    if pick(match, "end") and not weeks and today.weekday() < 4 and said.clauses.is_past(*match.span()):
        weeks = -1  # early in the week, a weekend that is over is the last one
    return days.weekend(today, weeks) if pick(match, "end") else days.week(today, weeks)


def _further(match: re.Match[str]) -> str:
    """Return the further days of the week that follow as mere numbers, in their order: the 三五 of 周一三五."""
    more = _MORE_DAYS.match(match.string, match.end())
    wd = pick(match, "wd")
    if more is None or not wd or match.string[match.end() - 1] != wd:
        return ""
    order = [_WEEKDAY_INDEX[one] for one in (wd, *more.group())]
    return more.group() if order == sorted(set(order)) else ""


def _bare_weekday(match: re.Match[str], said: Said) -> Value | None:
    start, end = match.span()
    if _further(match):
        return None
    clauses, number = said.clauses, _WEEKDAY_INDEX[pick(match, "wd")]
    if clauses.recurs(start, end):
        return None
    others = _AND_DAYS.match(match.string, end)
    past = clauses.is_past(start, others.end() if others else end)
    past = past and _AHEAD.search(match.string, max(0, start - 6), start) is None
    dated = _NUMBER_BEFORE.search(match.string, max(0, start - 6), start) or _NUMBER_AFTER.match(match.string, end)
    if dated is not None:
        return days.weekday_dated(said.today, number, int(dated["number"]), past=past)
    reported = not past and clauses.reports(start, end)
    found = (days.most_recent if past or reported else days.coming)(said.today, number)
    begins = not past and _BEGINS.match(match.string, end) is not None and not clauses.is_announced(start, end)
    return days.unsure(found) if reported is None or begins or clauses.may_recur(start, end) else found


def _month_step(match: re.Match[str], said: Said) -> Value | None:
    found = days.month(said.today, _steps(pick(match, "step")))
    return _within_month(found, match)


def _within_month(found: Value, match: re.Match[str]) -> Value | None:
    if pick(match, "dom"):
        number = zh_number(pick(match, "dom"))
        return days.in_month(found, number) if number and number > 0 else None
    return replace(found, name=pick(match, "edge")) if pick(match, "edge") else found


def _year_step(match: re.Match[str], said: Said) -> Value | None:
    today = said.today
    if took_part(match, "back"):
        number = today.year - 2 - len(pick(match, "back"))
    elif took_part(match, "on"):
        number = today.year + 2 + len(pick(match, "on"))
    else:
        number = today.year + {"去": -1, "明": 1}.get(match.group()[0], 0)
    whole = days.year(number, pick(match, "yedge") or "")
    if pick(match, "same"):
        return days.day(days.shift_months(today, 12 * (number - today.year)))
    if not pick(match, "month"):
        return whole
    month_number = zh_number(pick(match, "month"))
    found = days.in_year(whole, month_number) if month_number else None
    return _within_month(found, match) if found else None


def _quarter(match: re.Match[str], said: Said) -> Value | None:
    return days.quarter(said.today, _steps(pick(match, "step")))


def _amount(match: re.Match[str]) -> tuple[str, float] | None:
    """Return unit and amount of `三天`, `一年半`, `一个半小时`, `半年`, or None when it is not an exact amount."""
    unit, number = pick(match, "unit"), pick(match, "n")
    if unit == "月" and not (pick(match, "ge") or pick(match, "half") or number[-1:] in "俩仨"):
        return None
    if unit == "日" and (not number or number.isdigit()):
        return None
    if not number:
        amount = 0.5
    elif number.endswith(".5"):
        whole = zh_number(number[:-2])
        amount = -1 if whole is None else whole + 0.5
    else:
        whole = zh_number(number)
        amount = -1 if whole is None else float(whole)
        amount += 0.5 if pick(match, "mid") or pick(match, "tail") else 0
    if number[:1] in {"百", "千"}:
        return None  # 百年后 is a saying, not a count
    if amount <= 0 or (unit == "年" and amount > 1000):
        return None
    return ("minute", amount * 15) if unit == "刻钟" else (_UNITS[unit], amount)


def _offset(match: re.Match[str], said: Said) -> Value | None:
    text, start, end = match.string, match.start(), match.end()
    found = _amount(match)
    if found is None or EVENT_BEFORE.search(text, max(0, start - 4), start):
        return None
    sign = -1 if "前" in pick(match, "way") else 1
    opens = not text[:start].strip() and _WILL_BE.match(text, end) is not None
    if sign > 0 and said.clauses.is_past(start, end) and not opens:
        return None
    unit, amount = found
    if pick(match, "anniversary") and unit in {"year", "month"}:
        months = int(amount * (12 if unit == "year" else 1))
        return days.day(days.shift_months(said.today, sign * months))
    return days.offset(said.at, unit, amount, sign)


def _compound(match: re.Match[str], said: Said) -> Value | None:
    """Return what 一年零三个月前, 1小时20分钟后 mean."""
    big, small = zh_number(match["big"]), zh_number(match["small"])
    if big is None or small is None or bool(match["years"]) != (match["unit"] == "个月"):
        return None
    sign = -1 if "前" in match["way"] else 1
    if match["years"]:
        return days.offset(said.at, "month", 12 * big + small, sign)
    return days.offset(said.at, "minute", 60 * big + small, sign)


def _passing(match: re.Match[str], said: Said) -> Value | None:
    found = _amount(match)
    return days.offset(said.at, *found, 1) if found else None


_FINDERS: Final[tuple[tuple[re.Pattern[str], Build], ...]] = (
    (_COMPACT_DAY, _compact_day),
    (_DAY_WORD, _day_word),
    (_WEEK_STEP, _week_step),
    (_BARE_WEEKDAY, _bare_weekday),
    (_MONTH_STEP, _month_step),
    (_YEAR_STEP, _year_step),
    (_QUARTER, _quarter),
    (_OFFSET, _offset),
    (_COMPOUND, _compound),
    (_PASSING, _passing),
)


def same_week(first: Value, weekday_text: str) -> date | None:
    """Return the weekday named in `周三`, in the week of a first date (下周一到周三)."""
    match = re.search(_WEEK + _WEEKDAY, weekday_text)
    return days.weekday_in(first.first, _WEEKDAY_INDEX[pick(match, "wd")]).first if match else None
