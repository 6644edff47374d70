"""Names of persons in a text, found by shape alone: conservative, a missed name is better than an invented one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from historian.gate_terms import HAN, SURNAMES
from historian.gate_words import MONTHS, WEEKDAYS, words

_VERBS_ZH = (
    "说|表示|认为|觉得|喜欢|不喜欢|讨厌|热爱|爱吃|爱喝|爱看|爱听|不吃|不喝|想吃|住在|搬到|搬去|搬家|"
    "入职|离职|辞职|跳槽|毕业|参加|计划|打算|提到|建议|"
    "同意|反对|告诉|负责|养了|买了|去了|来自|结婚|怀孕|生病|住院|请假|出差|出生|擅长|希望|答应|拒绝|"
    "提出|完成|提交|学会|在学|正在学|对\\S{1,6}过敏|"
    "在\\S{1,10}(?:工作|上班|上学|读书|任职)|(?:先生|女士|老师|教授|医生|同学|经理)"
)
_BETWEEN = "也|都|还|很|最|不太|并不|非常|特别|曾经?|已经?|一直|最近|昨天|今天|明天|上周|去年|将|会|刚|于\\S{1,16}?"
_NOT_NAMES = words(
    "高手 高层 高管 高中生 方面 于是 于此 马上 周末 周围 白天 白领 成员 任务 任何 任何人 程序 程序员 "
    "金融 石油 江南 江苏 温州 苏州 常州 黄山 何人 许多 许多人 严重 万一 顾客 顾问 熊猫 马来 钱包 莫名 "
    "毛病 康复 武汉 向来 夏天 夏季 章节 程度 范围 谢谢 路人 季节 温度 张开 高度 方案 方法 方向 史学 龙头 "
    "白人 黄金 林业 田径 雷达 余下 余生 安全 陆续 陆军 严格 孔子 孟子 老师 老板 老人 老家 老婆 老公 "
    "老师们 老外 老大 老二 老乡 老友 老铁 老年 老妈 老爸 老爷 老奶 老伴 小时 小孩 小组 小学 小说 小区 "
    "小学生 小朋 小女 小儿 小店 小伙 小狗 小猫 小猪 小鸟 阿姨 阿里 董事 董事会 董事长 贺卡 高考 高铁 "
    "何时 白酒 金额 石头 龙虾 马路 毛衣 唐代 宋代 汉代 韩国 韩国人 黎明 万人 万家 路上 周边 周年 周期 "
    "毛利 方便 马虎 江西 江湖 江边 雷雨 贾府 康熙 金钱 金属 程式 单位 温泉 林场 白菜 向导 严肃 莫非 霍乱 "
    "季度 季后"
)
_NO_NAME_END = frozenset("不从再也还就都没只曾才又很最常总已正刚将会要能可必")
"""Adverbs that stand between a name and its verb: 李哲再也不吃 speaks of 李哲."""
_VERBS_EN = (
    "said|says|told|asked|likes|loves|hates|dislikes|prefers|thinks|believes|enjoys|lives|lived|"
    "moved|married|eats|drinks|"
    "graduated|studies|studied|promised|suggested|mentioned|complained|apologi[sz]ed|retired|recommended|wants|agreed|"
    "joined|works|worked|visited|plays|went|met|speaks"
)
_NOT_PERSONS = frozenset(
    (
        f"{MONTHS} {WEEKDAYS} the a an this that these those it he she they we you i who everyone "
        "everybody someone somebody nobody "
        "anyone one each both all some many most several none people users customers yesterday today "
        "tomorrow now here there "
        "then also and but or so when if while because after before since during for in on at by with "
        "from to of my his her "
        "our their your its what which how why where mom dad mum mother father sister brother grandma "
        "grandpa wife husband "
        "team company management staff user assistant please no yes not never only just still even later "
        "finally recently "
        "currently nobody's god santa engineering marketing sales support product finance legal "
        "well next ok okay thanks sure maybe today's"
    ).split()
)


@cache
def _chinese_names() -> re.Pattern[str]:
    follows = rf"(?=\s?(?:{_BETWEEN})?\s?(?:{_VERBS_ZH}))"
    place = r"(?:^|(?<=[，。；：！？、,;:!?\s和与跟同给向让请找约]))"
    return re.compile(rf"{place}((?:[{SURNAMES}][{HAN}]{{1,2}}?|[小老阿][{SURNAMES}]){follows})")


@cache
def _latin_names() -> re.Pattern[str]:
    name = r"[A-Z][a-z]{1,20}(?:\s[A-Z][a-z]{1,20})?"
    return re.compile(
        rf"(?<![A-Za-z0-9@#/._-])({name})(?=\s(?:also |never |always |really |often )?(?:{_VERBS_EN})\b|"
        rf"\s?(?:{_VERBS_ZH}))"
        rf"|(?<=told )({name})\b|(?<=asked )({name})\b|(?<=married )({name})\b"
    )


def persons(text: str) -> tuple[str, ...]:
    """Return the names in `text` that stand where a person stands: beside a verb of speech, liking or living."""
    found = [
        match[1][:2] if match[1][2:] in _NO_NAME_END else match[1]
        for match in _chinese_names().finditer(text)
        if match[1] not in _NOT_NAMES and match[1][:2] not in _NOT_NAMES
    ]
    for match in _latin_names().finditer(text):
        parts = [word for word in match[match.lastindex or 1].split() if not _is_ordinary(word)]
        if parts:
            found.append(" ".join(parts))
    return tuple(dict.fromkeys(found))


def _is_ordinary(word: str) -> bool:
    return word.lower() in _NOT_PERSONS or (len(word) > 5 and word.endswith("ing"))


def is_supported(name: str, sources: Sequence[str], known_names: Collection[str]) -> bool:
    """Tell whether `name`, or the part of it one calls a person by, stands in a source or known name.

    A name in a script that no source uses may be a transliteration and counts as supported.
    """
    texts = (*sources, *known_names)
    if not name.isascii() and any(len(known) > 1 and name.startswith(known) for known in known_names):
        return True  # 李哲听 of 李哲听说: the rest belongs to the verb
    if name.isascii():
        if not any(re.search(r"[A-Za-z]", text) for text in texts):
            return True
        folded = [text.casefold() for text in texts]
        return any(_is_word(part.casefold(), text) for part in name.split() for text in folded)
    if not any(re.search(f"[{HAN}]", text) for text in texts):
        return True
    surname, given = name[0], name[1:]
    calls = [name]
    if surname in "小老阿":
        calls += [given]
    else:
        calls += [f"{title}{surname}" for title in "小老阿"] + [
            f"{surname}{title}" for title in ("总", "哥", "姐", "工", "老师")
        ]
        calls += [given] if len(given) == 2 else [f"小{given}", f"阿{given}", given * 2]
    return any(call in text for call in calls for text in texts)


def _is_word(part: str, text: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(part)}", text) is not None


@cache
def _described() -> re.Pattern[str]:
    return re.compile(
        rf"(?:^|(?<=[，。；,;]))((?!周[一二三四五六日天末])[{SURNAMES}][{HAN}]{{1,2}}?)(?:也|都|就)?是[{HAN}]{{0,8}}?"
        rf"(?:管理员|群主|老师|经理|工程师|开发者|程序员|设计师|医生|律师|学生|负责人|组长|成员)(?=$|[，。；,;])"
        r"|(?:^|(?<=[.,;]\s))([A-Z][a-z]{1,20}) is (?:the|an?)\s(?:[a-z]+\s){0,2}(?:admin|administrator|owner|"
        r"moderator|manager|developer|engineer|teacher|designer|doctor|lawyer|student|leader|organi[sz]er)\b"
    )


def described(text: str) -> tuple[str, ...]:
    """Return the names of whom `text` calls the bearer of a role: 王芳是群管理员, "Joan is the admin"."""
    found = [match[match.lastindex or 1] for match in _described().finditer(text)]
    return tuple(
        name for name in found if name not in _NOT_NAMES and name[:2] not in _NOT_NAMES and not _is_ordinary(name)
    )
