"""Chinese persons: 我 becomes the speaker where the name is known; 他, 她, 我们, 这位 are flagged, never guessed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from historian.edits import Edit
from historian.patterns import lazy_pattern
from historian.phrasing import spaced

_KIN: Final = (
    r"妈妈?|爸爸?|爸妈|父母|父亲|母亲|老公|老婆|妻子|丈夫|媳妇|儿子|女儿|闺女|孩子|哥哥?|姐姐?|弟弟?|妹妹?|爷爷|奶奶|外公|外婆|姥姥|姥爷|"
    r"叔叔?|舅舅?|姑姑?|阿姨|[表堂][哥姐弟妹]|同学|医生|大夫|教练|经理|导师|律师|师傅|学生|邻居|闺蜜|助理|秘书|"
    r"(?:教授|主管)(?=[说是让叫在要给不很的也对]|建议|推荐|觉得)|公司|同事|朋友|室友|老师|老板|领导|男朋友|女朋友|对象|团队|部门|电脑|手机|生日|工位"
)
_ME: Final = lazy_pattern(
    r"(?<![自忘小大唯敌你无真超旧舍卿])(?<!我行)(?<!卿我)(?<!你[追死])我(?!国(?!庆)|[们方司校院军党辈等俩市县省区局]|行我素|部(?![手电]))(?=(?P<kin>"
    + _KIN
    + r")?)"
    r"|俺(?![们答俩家])|(?:(?<=^)|(?<=[，。；！？、\s：是对给为由跟和与]))本人"
)
_USER_SURE: Final = lazy_pattern(r"(?:该名?|这[位名个]|此|本|当前|那[位名])用户(?![名体界数量画群组端侧])")
_USER_SUBJECT: Final = lazy_pattern(
    r"(?:(?<=^)|(?<=[，。；！？、\s：]))用户(?=说|表示|提到|提及|喜欢|讨厌|想|希望|要|在|对|的(?!确)|是|有|不|没|会|正|已|将|也|都|最近|目前|现|昨|今|明|后天|"
    r"前|上|下|这|去|来|刚|买|换|住|叫|养|名叫|偏好|计划|打算|准备|认为|觉得|每|从|把|给|用|和|与|因|需要|使用|来自|毕业|工作|完成|搬|学|"
    r"自己|曾|一直|经常|通常|平时|习惯|患|吃|喝|爱|负责|担任|出生|\s?[0-9])(?!体验|数据)"
)
_YOU: Final = lazy_pattern(r"(?<!迷)(?:你|您)(?![好们俩方我]|争我|来我)(?!自己好)")
_THIRD: Final = lazy_pattern(
    r"(?<![其吉排利无维])[他她它](?:们(?:俩)?)?(?![人乡山杀律克])|我们|咱们?|我[方司校院俩]|你[们俩]|您们|俺们|"
    r"[这那][位名](?![列置额单])[\u4e00-\u9fff]{0,2}|此人|[这那]个人(?![信简资主隐账电品])|(?<![面针反])对方(?!块)"
)


def first_person(text: str, name: str) -> Iterator[Edit]:
    """Yield what puts a speaker's name in place of 我, 俺 and 本人; 我妈 becomes 小明的妈."""
    for match in _ME.finditer(text):
        start, end = match.span()
        if match["kin"]:
            yield Edit(start, end, spaced(text, start, start, name).rstrip() + (" 的" if name[-1].isascii() else "的"))
        else:
            yield Edit(start, end, spaced(text, start, end, name))


def second_person(text: str, name: str) -> Iterator[Edit]:
    """Yield what puts the agent's name in place of 你 and 您."""
    for match in _YOU.finditer(text):
        yield Edit(*match.span(), spaced(text, *match.span(), name))


def user_subject(text: str, name: str) -> Iterator[Edit]:
    """Yield what puts the speaker's name in place of 用户 as a subject, and of 该用户 anywhere."""
    for pattern in (_USER_SURE, _USER_SUBJECT):
        for match in pattern.finditer(text):
            yield Edit(*match.span(), spaced(text, *match.span(), name))


def unnamed(text: str, *, speaker: bool, agent: bool) -> Iterator[tuple[int, int]]:
    """Yield the pronouns that stay: third persons always, first and second where no name is known."""
    for match in _THIRD.finditer(text):
        yield match.span()
    for pattern, known in ((_ME, speaker), (_YOU, agent)):
        if not known:
            for match in pattern.finditer(text):
                yield match.span()
