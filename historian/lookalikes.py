"""Chinese words and names in which a word for a time begins in the middle: 光明日报, 昆明天气, 姚明年薪, 招待会."""

from __future__ import annotations

from typing import Final

NAMED_MING: Final = (
    r"光明日报|光明天[地使]|文明(?:日报|天下)|黎明(?:晨|天[亮色])|阳明天文|昆明[天日早晚年]|(?<=[一-鿿])(?<![到在于等是定约改们要说从的我你他她它会就])明"
    r"(?:天天(?![亮黑气])|天[赋津堂]|天花板|天黑[才了前之]|日常|年薪|年龄|年假(?!期)|年终奖?|年纪|"
    r"(?:早上|晚上)(?![课班学车网台线飞]))"
)
"""Pattern of a name that ends in 明, or a word with 明 inside, and what follows it."""
NAMED_ZHOU: Final = (
    r"(?<![上下这本每逢到至和、])周[一二三四五六日天]"
    r"[鸣诺帆航凡丰涵轩宇辰泽睿熙妍婷雯琪琳瑶怡欣悦萱彤馨璇琛哲浩皓铭杰俊豪伟鹏磊鑫淼梅娜娟芳霞燕莉玲萍艳敏勇峰涛斌辉麟琦瑞嘉佳诗扬翔昊昕晗曦旭渊峻毅恒霖"
    r"霆骏驰凯楠桐柏榕蓉蕾薇芸茜菲莹颖慧惠倩婕媛姝姗韵冉尧禹笛]"
    r"(?=[昨今明前后上下每来去说在是要会想了不没也都就和跟与对把被给的很还已正刚将从到叫住有让请喜爱担入离负因，。、！？；：\s]|$|告诉|打算|\d{4}-)"
)
"""Pattern of a name of three characters that begins like a weekday: 周 is a surname (周一鸣明天来)."""
SAYINGS: Final = (
    "早知今日|既有今日|今日有酒今日醉|先天[^，。；！？]{0,8}后天|后天下之乐|昨日黄花|明日黄花|明日何其多|改天换地|从古至今|"
    "自古至今|自古迄今|大敌当前|国难当前|大[年]初[一二三四五六七八九十]|年初[一二三四五六七八九十]|正月初|腊月初"
)
"""Pattern of sayings, and of days of the lunar new year, that hold a word for a time and name no day of speaking."""
COMPANY: Final = (
    r"(?:科技|传媒|教育|文化|控股|资本|地产|网络){0,2}(?:股份)?有限(?:责任)?公司|(?:科技|传媒|控股|文化|资本)集团"
)
"""Pattern of what makes a name of the day before it: 明天科技有限公司."""
