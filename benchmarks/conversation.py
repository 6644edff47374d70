"""The sample conversation of the demo: two people and a group over five days, in Chinese and English."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: when, who, what. `group` is None in private."""

    ts: str
    speaker: str
    text: str
    group: str | None = None
    role: str = "user"


@dataclass(frozen=True, slots=True)
class Closed:
    """What the agent hands to `end` after the turn `after` (index into the turns of one place)."""

    speaker: str
    memo: str
    observations: tuple[str, ...]
    said: tuple[str, ...]
    group: str | None = None


LIN = "林晓"
MARA = "Mara"
GROUP = "hiking"

TURNS: tuple[Said, ...] = (
    Said("2026-03-02T09:12:00+08:00", LIN, "早！我上周五从深圳搬到杭州了，终于安顿下来。"),
    Said("2026-03-02T09:12:20+08:00", LIN, "欢迎来到杭州！新家在哪个区？", role="assistant"),
    Said("2026-03-02T09:13:10+08:00", LIN, "在西湖区，离公司骑车十分钟。"),
    Said("2026-03-02T09:14:00+08:00", LIN, "对了，我对花生过敏，推荐餐厅的时候要注意。"),
    Said("2026-03-02T09:14:30+08:00", LIN, "记住了，会避开含花生的菜。", role="assistant"),
    Said("2026-03-02T21:40:00+08:00", LIN, "今晚第一次自己做了东坡肉，居然成功了。"),
    Said("2026-03-02T21:41:00+08:00", LIN, "恭喜！要不要把配方记下来？", role="assistant"),
    Said("2026-03-02T21:42:00+08:00", LIN, "不用，我不吃辣，所以没放辣椒，别的都照书来的。"),
    Said("2026-03-03T08:05:00+08:00", LIN, "明天下午三点有个面试，是做 Rust 的后端岗位。"),
    Said("2026-03-03T08:06:00+08:00", LIN, "加油！需要模拟一下吗？", role="assistant"),
    Said("2026-03-02T18:30:00+01:00", MARA, "Hi! I'm back in Berlin since yesterday, Lisbon was great."),
    Said("2026-03-02T18:30:30+01:00", MARA, "Welcome back! Anything to remember from the trip?", role="assistant"),
    Said("2026-03-02T18:31:00+01:00", MARA, "I sprained my ankle two weeks ago, so no long runs until it heals."),
    Said("2026-03-02T18:33:00+01:00", MARA, "And I switched to oat milk, I don't drink cow's milk any more."),
    Said("2026-03-02T18:33:30+01:00", MARA, "Noted. Oat milk it is.", role="assistant"),
    Said("2026-03-03T07:50:00+01:00", MARA, "My sister Ida is getting married next month."),
    Said("2026-03-03T07:51:00+01:00", MARA, "How lovely! Do you need help with a present?", role="assistant"),
    Said("2026-03-03T07:52:00+01:00", MARA, "Maybe. She collects fountain pens, mostly Pelikan."),
    Said("2026-03-04T19:00:00+08:00", LIN, "各位，这周六去爬莫干山怎么样？", group=GROUP),
    Said(
        "2026-03-04T12:02:00+01:00",
        MARA,
        "Count me in, my ankle is fine for a slow hike. I'll be in Hangzhou by then!",
        group=GROUP,
    ),
    Said("2026-03-04T19:03:00+08:00", LIN, "太好了，早上七点在武林广场集合。", group=GROUP),
    Said("2026-03-04T19:03:30+08:00", LIN, "好的，周六早上七点，武林广场。", group=GROUP, role="assistant"),
    Said("2026-03-04T19:04:00+08:00", LIN, "我负责带水和急救包。", group=GROUP),
    Said("2026-03-04T12:05:00+01:00", MARA, "I bring sandwiches, none with peanuts because of 林晓.", group=GROUP),
    Said("2026-03-04T19:06:00+08:00", LIN, "谢谢 Mara！下山以后去吃农家菜，我请客。", group=GROUP),
    Said(
        "2026-03-04T12:07:00+01:00",
        MARA,
        "Deal. Is there wifi at the guest house? I have a deploy of project Heron at 20:00.",
        group=GROUP,
    ),
    Said("2026-03-04T19:08:00+08:00", LIN, "有的，密码进门问老板。", group=GROUP),
    Said("2026-03-05T20:10:00+08:00", LIN, "昨天的面试过了！下周一入职，公司叫青鸟科技。"),
    Said("2026-03-05T20:10:30+08:00", LIN, "太棒了，恭喜你加入青鸟科技！", role="assistant"),
    Said("2026-03-05T20:12:00+08:00", LIN, "工牌号是 QN-4417，先帮我记着。"),
    Said("2026-03-05T14:20:00+01:00", MARA, "I booked train G7349 for Friday evening, seat 05A."),
    Said("2026-03-05T14:20:40+01:00", MARA, "Train G7349, seat 05A. Have a good trip!", role="assistant"),
    Said("2026-03-05T14:22:00+01:00", MARA, "And remind me: project Heron must not be deployed before QA signs off."),
    Said("2026-03-06T22:00:00+08:00", LIN, "明天预报有小雨，要不要改期？", group=GROUP),
    Said("2026-03-06T15:01:00+01:00", MARA, "A little rain is fine with me.", group=GROUP),
    Said("2026-03-06T22:02:00+08:00", LIN, "那就不改了，大家带雨衣。", group=GROUP),
    Said("2026-03-07T21:30:00+08:00", LIN, "今天爬完莫干山，腿好酸，不过竹海真漂亮。", group=GROUP),
    Said("2026-03-07T14:31:00+01:00", MARA, "Best hike this year. Next time 黄山?", group=GROUP),
    Said("2026-03-07T21:32:00+08:00", LIN, "好，五月去黄山，我来订民宿。", group=GROUP),
    Said("2026-03-07T21:32:30+08:00", LIN, "记下了：五月黄山，林晓订民宿。", group=GROUP, role="assistant"),
)

ENDS: tuple[Closed, ...] = (
    Closed(
        LIN,
        "欢迎林晓，问了住处和饮食。",
        ("我上周五从深圳搬到杭州了", "林晓住在杭州西湖区，骑车十分钟到公司", "我对花生过敏"),
        (TURNS[0].text, TURNS[2].text, TURNS[3].text),
    ),
    Closed(LIN, "聊了东坡肉。", ("我今晚第一次自己做了东坡肉", "我不吃辣"), (TURNS[5].text, TURNS[7].text)),
    Closed(LIN, "面试前打气。", ("我明天下午三点有一个 Rust 后端岗位的面试",), (TURNS[8].text,)),
    Closed(
        MARA,
        "Greeted Mara after Lisbon; noted ankle and milk.",
        (
            "I came back to Berlin from Lisbon yesterday",
            "I sprained my ankle two weeks ago",
            "I don't drink cow's milk any more and use oat milk",
        ),
        (TURNS[10].text, TURNS[12].text, TURNS[13].text),
    ),
    Closed(
        MARA,
        "Talked about the wedding present.",
        ("My sister Ida is getting married next month", "Ida collects fountain pens, mostly Pelikan"),
        (TURNS[15].text, TURNS[17].text),
    ),
    Closed(
        LIN,
        "确认周六爬山的集合时间和地点。",
        ("爬山小组这周六早上七点在武林广场集合去莫干山", "我负责带水和急救包"),
        (TURNS[18].text, TURNS[20].text, TURNS[22].text),
        group=GROUP,
    ),
    Closed(
        MARA,
        "Noted sandwiches and the Heron deploy.",
        ("I bring sandwiches without peanuts to the hike", "I have a deploy of project Heron at 20:00 on 2026-03-07"),
        (TURNS[23].text, TURNS[25].text),
        group=GROUP,
    ),
    Closed(
        LIN,
        "恭喜林晓通过面试。",
        ("我昨天的面试过了", "我下周一入职青鸟科技", "我的工牌号是 QN-4417"),
        (TURNS[27].text, TURNS[29].text),
    ),
    Closed(
        MARA,
        "Kept the train and the rule about Heron.",
        ("I booked train G7349 for Friday evening, seat 05A", "Project Heron must not be deployed before QA signs off"),
        (TURNS[30].text, TURNS[32].text),
    ),
    Closed(
        LIN,
        "约了五月去黄山。",
        ("爬山小组今天爬完了莫干山", "林晓来订五月黄山的民宿"),
        (TURNS[36].text, TURNS[38].text),
        group=GROUP,
    ),
)

SEARCHES: tuple[tuple[str, str | None, str], ...] = (
    (LIN, None, "他住在哪个城市"),
    (LIN, None, "什么东西不能吃"),
    (LIN, None, "badge number"),
    (MARA, None, "What happened to her foot?"),
    (MARA, None, "妹妹的婚礼"),
    (MARA, None, "when may Heron be deployed"),
    (LIN, GROUP, "几点在哪里集合"),
    (MARA, GROUP, "who brings the first-aid kit"),
)
"""Who asks, in which group, and what."""
