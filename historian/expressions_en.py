"""The patterns of English expressions of dates; `times_en` says what they mean."""

from __future__ import annotations

import re
from typing import Final

from historian.days import Period
from historian.numerals import EN_NUMBER
from historian.patterns import compile_shared, lazy_pattern, words

PARTS: Final[dict[str, Period]] = {
    "morning": "am",
    "afternoon": "pm",
    "evening": "pm",
    "night": "night",
    "tonight": "night",
    "lunchtime": "noon",
}
_PART: Final = r"(?:\s(?P<part>morning|afternoon|evening|night|lunchtime)\b)?"
WEEKDAYS: Final = words("monday tuesday wednesday thursday friday saturday sunday")
SHORT: Final = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
_WD: Final = r"(?P<wd>" + "|".join(WEEKDAYS) + ")"
_WD_ANY: Final = r"(?P<wd>" + "|".join([*WEEKDAYS, *sorted(SHORT, key=len, reverse=True)]) + r")\b"
MONTHS: Final = words("january february march april may june july august september october november december")
_MONTH: Final = r"(?P<month>" + "|".join(MONTHS) + r")\b"
_ORDINAL: Final = r"(?P<dom>[0-3]?[0-9](?:st|nd|rd|th)?|first|last)\b"
_COMES: Final = (
    r"(?<!['’]s\s)(?<!['’]re\s)(?<!['’]m\s)(?<!\bis\s)(?<!\b(?:am|be)\s)"
    r"(?<!\b(?:are|was|not)\s)(?<!were\s)(?<!n['’]t\s)"
)
"""Not before `coming` where it is the verb: she's coming Sunday."""
_STEP: Final = rf"(?P<step>last|next|this\spast|this\scoming|this|{_COMES}coming|past)"
_WHOLE: Final = r"(?P<unit>week|month|year|quarter|weekend)"
_START: Final = r"(?<![A-Za-z0-9_'’/@#&.-])"
_END: Final = r"(?![A-Za-z0-9_@/]|-[A-Za-z]|['’](?!s\b)[A-Za-z])"


def _compile(pattern: str) -> re.Pattern[str]:
    return compile_shared(_START + "(?:" + pattern + ")" + _END, re.IGNORECASE)


DAY_WORD: Final = _compile(
    rf"(?P<far>(?:the\s)?(?:day\s(?:before\syesterday|after\stomorrow)|night\sbefore\slast))\b{_PART}|(?P<near>yesterday|today|tomorrow|tmrw?){_PART}|"
    rf"(?P<night>tonight(?!\s(?-i:Show)\b)|last\snight)|(?P<thispart>this\s(?:morning|afternoon|evening))"
)
_UNIT: Final = (
    r"(?P<unit>seconds?|minutes?|mins?|hours?|hrs?|days?|nights?|weekends?|weeks?|fortnights?|months?|years?)"
)
_AMOUNT: Final = (
    rf"(?:(?P<half>half\s(?:an?\s)?)|(?P<n>{EN_NUMBER})\s(?P<and>and\sa\shalf\s)?){_UNIT}(?P<tail>\sand\sa\shalf)?\b"
)
AGO: Final = _compile(
    r"(?:in\s)?"
    + _AMOUNT
    + r"\s(?P<way>ago|from\snow|from\s(?:today|tomorrow)|from\syesterday|hence)(?P<anniversary>\stoday)?"
)
AFTER_DAY: Final = _compile(
    r"(?:in\s)?"
    + _AMOUNT
    + r"\s(?P<way>from|after|before|ago(?:\son)?)\s"
    + rf"(?:(?P<base>tomorrow|yesterday|today)|(?:(?P<step>next|last|this)\s)?{_WD})\b"
)
LASTING: Final = lazy_pattern(
    r"\b(?:for|another|last(?:s|ed|ing)?|spen(?:ds?|t|ding)|stay(?:s|ed|ing)?|book(?:s|ed|ing)?|rent(?:s|ed|ing)?|"
    r"hir(?:es?|ed|ing)|runs?|running|ran|tak(?:es?|ing)|took)\s(?:the\s|about\s|around\s|another\s|exactly\s|only\s)?$",
    re.IGNORECASE,
)
"""Before an amount: how long something lasts, counted from a day; not the day that lies so far from it."""
LASTS_FROM: Final = lazy_pattern(r"\bfor\s[^,.;!?\n]{1,30}\s(?:from|starting|beginning)\s(?:on\s)?$", re.IGNORECASE)
ARRANGED: Final = lazy_pattern(
    r"\b(?:book|reserv|schedul|arrang|plann|confirm|register|sign|enrol|postpon|invit)\w*\b", re.IGNORECASE
)
"""What is done ahead: who booked nights from Friday on has not slept there yet."""
SPENT: Final = lazy_pattern(
    r"\b(?:was|were|stayed|spent|lived|worked|went|travelled|visited|had|lasted)\b", re.IGNORECASE
)
WEEK_ON: Final = _compile(
    rf"(?<!next\s)(?<!last\s)(?<!this\s)(?<!every\s)(?:(?P<base>tomorrow|today)|{_WD})\sweek\b"
    r"(?=\s*(?:$|[.!?,;)])|\s(?:at|for|to|in|and|or|i|we|he|she|they|is|the|with|because|when|if)\b)"
)
CHAINED: Final = lazy_pattern(r"\b(?:hour|day|week|month|year)s?,?\s(?:and\s)?$", re.IGNORECASE)
IN: Final = _compile(rf"(?P<in>in|within)\s(?:exactly\s|about\s)?{_AMOUNT}(?:['’](?:s\s)?\s?time\b)?")
WEEKDAY_STEP: Final = _compile(
    rf"(?:(?P<the>the)\s)?(?:{_STEP}\s{_WD_ANY}{_PART}|{_WD}\s(?P<wstep>last|next|this|of\slast|of\snext|of\sthis)\sweek\b|"
    rf"(?P<wstep>last|next|this|earlier\sthis|later\sthis)\sweek(?:\son)?\s{_WD}{_PART}|"
    rf"{_WD}\s(?P<rel>before\slast|after\snext))"
)
_NTH: Final = (
    r"(?:,?\s(?:the\s)?(?P<nth>[0-3]?[0-9])(?:st|nd|rd|th)\b(?!\s(?:of\s)?(?:"
    + "|".join(name[:3] for name in MONTHS)
    + r")|\s(?:birthday|anniversary|floor|street|avenue|time|grade|round|century)))?"
)
BARE_WEEKDAY: Final = _compile(
    _WD + r"\b" + _NTH + _PART + r"|(?<=\bon\s)(?P<short>Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)\b"
)
PERIOD: Final = _compile(
    rf"(?P<lead>the\s(?:(?P<lead_dom>[0-3]?[0-9](?:st|nd|rd|th)|first|last\sday)\s(?:day\s)?of)\s)?"
    rf"{_STEP}\s{_WHOLE}\b|the\s(?P<unit2>week|month|year|weekend)\s(?P<rel>before\slast|after\snext)\b"
)
MONTH_OF_YEAR: Final = _compile(
    rf"(?<!\d\s)(?<!\d(?:st|nd|rd|th)\s){_MONTH}(?:\s(?:the\s)?{_ORDINAL})?,?\s(?:of\s)?(?P<ystep>last|next|this)\syear\b|"
    rf"(?P<ystep>last|next|this)\syear\s(?:in\s|on\s)?{_MONTH}(?:\s{_ORDINAL})?|"
    rf"{_STEP}\s{_MONTH}(?:\s{_ORDINAL})?(?!\s(?:the|be|not)\b)"
)
SEASON: Final = _compile(r"(?P<step>last|next|this)\s(?P<season>spring|summer|autumn|fall|winter)\b")

NAMED_BEFORE: Final = lazy_pattern(
    r"\b(?:named|called|black|good|cyber|ash|casual|happy|giving|super|fat|shrove|easter|palm|maundy|bloody|man|girl|ruby|joe|blue|holy|"
    r"whit|tgi|freaky|taco|throwback|every|each|any|some|per|one|most|all|a|alternate|other|last|next|this|first|second|third|fourth|past|"
    r"previous|following)\s$",
    re.IGNORECASE,
)
NAMED_AFTER: Final = lazy_pattern(
    r"\s(?:mornings|afternoons|evenings|nights)\b|"
    r"\s(?:night\slights|the\s13th|addams|kahlo|times|post|mail|blues|club|school\b|next$)",
    re.IGNORECASE,
)
HAD_DONE: Final = lazy_pattern(
    r"\bhad\s(?:(?:already|just|never|not|all)\s)?(?!to\b)\w+(?:ed|en|wn|ne|t|d)\b", re.IGNORECASE
)
"""With `by` before a day: it was so by then."""
SCHEDULED: Final = lazy_pattern(
    r"\b(?:and|but)\s(?:(?:I|he|she|it|we|they)\s)?(?:then\s)?(?:leaves?|fly|flies|go|goes|comes?|returns?|starts?|begins?|ends?|opens?|"
    r"closes?|moves?|arrives?|departs?|heads?|travels?)\b[^,.;!?]{0,24}$",
    re.IGNORECASE,
)
"""Before a weekday, behind a word of the past: what is planned all the same (got back and leaves again Monday)."""
SURNAME_AFTER: Final = lazy_pattern(r"\s(?!I\b)[A-Z][a-z]+")
TITLE_BEFORE: Final = lazy_pattern(r"\b(?:usa|psychology|history|india|russia)\s$", re.IGNORECASE)
TITLE_AFTER: Final = lazy_pattern(
    r"['’]s\s(?:world|society|youth|kids|generation|standards)|\snever\s(?:dies|knows)", re.IGNORECASE
)
IS_DAY: Final = lazy_pattern(
    r"\b(?:today|tomorrow|yesterday|it|(?<!last\s)(?<!first\s)(?<!next\s)day|name)(?:\s(?:is|was)|['’]s)\s(?:a\s)?$",
    re.IGNORECASE,
)
ATTRIBUTE: Final = lazy_pattern(r"\b(?:the|my|our|his|her|their|your)\s$", re.IGNORECASE)
OF_SPAN: Final = lazy_pattern(
    r"\s(?:of|in\s(?:the\s(?:week|month|quarter|year|season|semester)|each|every|any|a\b|\d{4}|"
    + "|".join(MONTHS)
    + r"))\b",
    re.IGNORECASE,
)
"""Behind `the last Friday`: the stretch that it is the last one of."""
OF_DAYS: Final = lazy_pattern(
    r"\s(?!(?:thanks|sucks|works|starts|ends|means|always|perhaps|besides|plus|this|does)\b)[a-z]{3,20}(?<![us])s\b(?!['’])"
)
"""Behind a weekday without a preposition: what there is on every such day (Sunday roasts)."""
AFTER_OBJECT: Final = lazy_pattern(r"\s(?:at|around|by|from|for|to|in|with|and)\b|\s?[.,!?;]|\s?$", re.IGNORECASE)
"""Behind a weekday with `her` before it: she is the object (seeing her Tuesday at six), not the owner of the day."""
_RANGE_BARE: Final = lazy_pattern(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)(?:day)?\s?(?:to|through|thru|till|until|-|–)\s?$",
    re.IGNORECASE,
)
NOT_DONE: Final = lazy_pattern(
    r"\b(?:have|has|had)(?:n['’]t|\s(?:not|never|hardly|barely))\b|['’](?:ve|s)\s(?:not|never|hardly|barely)\s\w+(?:ed|en|wn|ne)\b",
    re.IGNORECASE,
)
"""Before an amount: for how long something has not happened (I haven't eaten meat in three months)."""
NOT_IN: Final = lazy_pattern(
    r"\b(?:time|times|once|twice|first|best|worst|all|can|could|able|possible|always|every|each|ready|course|by)\b",
    re.IGNORECASE,
)
