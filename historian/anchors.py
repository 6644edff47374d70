"""Sentences of known kinship, by which any embedding model is calibrated: data only.

Each row is a statement, the same thing in other words, and a question that the statement answers. Statements of
different rows have nothing to do with each other, so that every pair across rows is an unrelated one.
"""

from __future__ import annotations

from typing import NamedTuple


class Anchor(NamedTuple):
    """One topic: a statement, a paraphrase of it, and a question it answers."""

    statement: str
    paraphrase: str
    question: str


CHINESE: tuple[Anchor, ...] = (
    Anchor("小李不能吃辣的东西。", "小李吃不了辣。", "小李的口味怎么样，能吃辣吗？"),
    Anchor("王芳下个月要搬到上海去工作。", "王芳下月将搬去上海上班。", "王芳要去哪个城市工作？"),
    Anchor("用户养了一只叫豆豆的橘猫。", "用户家里有只橘猫，名字叫豆豆。", "用户的宠物叫什么名字？"),
    Anchor("张老师每天早上六点去公园跑步。", "张老师每天清晨六点在公园跑步锻炼。", "张老师平时怎么锻炼身体？"),
    Anchor("项目的上线时间推迟到了三月十五日。", "项目延期到三月十五号上线。", "项目什么时候上线？"),
    Anchor("陈明对花生过敏。", "陈明吃花生会过敏。", "陈明对什么食物过敏？"),
    Anchor("他最喜欢的书是《百年孤独》。", "《百年孤独》是他最爱看的书。", "他喜欢看什么书？"),
    Anchor("奶奶的生日是农历八月初三。", "农历八月初三是奶奶过生日的日子。", "奶奶哪天过生日？"),
    Anchor("服务器的数据库密码每九十天更换一次。", "数据库密码每隔九十天就要换一次。", "数据库密码多久换一次？"),
    Anchor("女儿在学钢琴，已经考过了五级。", "女儿学钢琴，已通过五级考试。", "孩子在学什么乐器？"),
    Anchor("公司的年会定在杭州西湖边的酒店。", "公司年会在杭州西湖旁的酒店举行。", "年会在哪里举办？"),
    Anchor("医生建议他少喝咖啡，早点睡觉。", "医生让他少喝咖啡并且早睡。", "医生给了他什么建议？"),
)

ENGLISH: tuple[Anchor, ...] = (
    Anchor("Alice is allergic to shellfish.", "Alice has a shellfish allergy.", "Which food must Alice avoid?"),
    Anchor(
        "The team meets every Tuesday at ten.", "There is a team meeting at ten each Tuesday.", "When is the meeting?"
    ),
    Anchor(
        "Tom drives an old red pickup truck.", "Tom's vehicle is an old red pickup.", "What kind of car does Tom have?"
    ),
    Anchor(
        "She moved to Berlin for a new job.",
        "She relocated to Berlin for new work.",
        "Which city does she live in now?",
    ),
    Anchor(
        "The user prefers dark mode in every editor.",
        "The user likes dark themes in all editors.",
        "Which theme does the user like?",
    ),
    Anchor(
        "My brother plays the violin in an orchestra.",
        "My brother is an orchestra violinist.",
        "Which instrument does my brother play?",
    ),
    Anchor(
        "The invoice has to be paid before Friday.", "Payment of the invoice is due by Friday.", "When is the bill due?"
    ),
    Anchor("Our dog is afraid of thunder.", "Thunder frightens our dog.", "What is the dog scared of?"),
    Anchor("Kate studied chemistry at university.", "Kate's degree was in chemistry.", "What did Kate study?"),
    Anchor(
        "The kitchen will be painted light green.",
        "They will paint the kitchen pale green.",
        "What colour will the kitchen be?",
    ),
    Anchor(
        "He broke his leg while skiing in January.",
        "In January he fractured his leg skiing.",
        "How did he get injured?",
    ),
    Anchor(
        "The backup runs at midnight on the second server.",
        "Backups happen at midnight on server two.",
        "When does the backup run?",
    ),
)

CROSSED: tuple[Anchor, ...] = (
    Anchor("他是素食主义者，不吃肉。", "He is a vegetarian and eats no meat.", "What does he not eat?"),
    Anchor(
        "The flight to Tokyo leaves at nine in the evening.", "飞往东京的航班晚上九点起飞。", "去东京的飞机几点起飞？"
    ),
    Anchor("妈妈每个周末都去教堂。", "Mother goes to church every weekend.", "Where does mother go on weekends?"),
    Anchor("Peter collects old postage stamps.", "彼得收集旧邮票。", "彼得有什么爱好？"),
    Anchor(
        "这台电脑的屏幕坏了，需要修理。",
        "The screen of this computer is broken and needs repair.",
        "What is wrong with the computer?",
    ),
    Anchor("The children are going camping in the mountains.", "孩子们要去山里露营。", "孩子们要去哪里玩？"),
)

ANCHORS: tuple[Anchor, ...] = CHINESE + ENGLISH + CROSSED
"""All of them: two thirds within one language, the rest across."""
