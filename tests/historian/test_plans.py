"""What rules take for a plan, and what only sounds like one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from historian.considering import by_rules, line_of
from historian.model import Message
from historian.rewrite import RewriteContext

SAID_AT = datetime(2026, 2, 21, 6, 30, tzinfo=UTC)
PLANS = """
I'm moving to Berlin in March.
I'm starting a new job on Monday.
Next year I want to go back to university.
I'm going to run a marathon in October.
I'm having surgery next Tuesday.
I'm going to be a dad in April!
I'm thinking about changing careers.
I'm leaving for Canada tomorrow.
I start my PhD in September.
We're renovating our kitchen this summer.
I just accepted an offer from Siemens.
I gave up smoking last year.
I've got a job interview on Thursday.
We plan to move in together this autumn.
im moving to oslo next month
下个月我要搬到杭州
我下周一要入职新公司了
我想明年去日本留学
我老婆六月生孩子
周五我要去看牙
我快要当爸爸了
我要开始减肥了，从今天起不吃晚饭
我跟男朋友下个月订婚
我最近在学吉他
我拿到了字节的offer，三月入职
我儿子九月上小学
下半年我会去柏林读博
我 next month 要搬去 Berlin
下周三我要 fly 去 Singapore 开会
I'm relocating to Munich in the fall.
I'll be working from Lisbon in January.
I'm applying to medical school this winter.
On June 12 I'm running the Stockholm marathon.
I'm getting my braces off on Tuesday.
We are selling our flat in the spring.
My daughter starts school in August.
I'm doing a semester abroad in Seoul next year.
We plan to adopt a second cat.
I just got into Stanford.
My husband is going to retire next spring.
i'm quitting my job in june
我打算三月去考驾照
我准备年底换房
我九月去英国读研
我女儿明年高考
我计划今年跑一次全马
我要当爸爸了
周日我要带孩子去看牙
我和老公打算在苏州买房
我决定不考研了
我明天要去医院复查
我下半年要去 Google 实习
我们 next spring 结婚
I'm transferring to the Paris office in April.
I'm going on a sabbatical next spring.
My wife is starting chemotherapy on Monday.
I'm taking the bar exam in February.
My son is going to college in the fall.
I'm having my wisdom teeth removed on Friday.
I'm going to become a teacher.
I'm training for a triathlon in August.
We are spending next summer in Greece.
I'm going back to school next year.
我打算下学期转专业
我准备五月去冰岛
我儿子下周一开学
我们国庆节结婚
我决定明年回国
我已经戒烟了
我七月中旬要回成都办婚礼
我 next year 打算 quit
I'm joining Spotify in May.
I'll be studying in Vienna from October.
i'll move in with my girlfriend in august
My dad retires next March.
我打算戒糖
我要回老家过年
我女儿十月出生
""".strip().splitlines()
NO_PLANS = """
Am I moving to Berlin in March?
If I move to Berlin in March, what visa do I need?
I'll try that.
I'm going to ask you a question.
I'm starting the server now.
I'm going to bed.
I'm moving the file to /tmp next.
Will I be able to move in March?
Translate: I'm moving to Berlin in March.
He said "I'm moving to Berlin in March".
I'm having trouble with the build.
I start to see the problem.
We are moving on to the next topic.
Let's say I'm moving to Berlin in March.
I'm taking a look.
I'll take the second one.
I want to know how to sort a list.
I'm going to use your answer tomorrow.
Remind me that I'm moving in March.
I'm flying through this homework.
we will get there
我要睡觉了
我明天要是搬家你能帮我吗
我要搬到杭州吗？
我要一份报告
我要怎么才能搬到杭州
我想问一下怎么排序
我明天再问你
我等下去洗澡
我们来看下一个问题
我想想
我要改一下这段代码
他说“我打算明年换工作”
翻译：我打算明年换工作
我们下周再聊
我最近在想一个问题
我准备好了
我打算先吃个饭
我想让你 translate 一下这句话
I'll be right back.
I'm working on the report due Monday.
We are going to use Postgres.
I will paste the error on the next line.
When I'm moving to Berlin, what do I have to register?
In March I'm what kind of busy? lol
I think I'm going to cry.
I'll have to think about it.
I'm having trouble with Friday's data.
I'm starting to understand.
I am running the tests on Monday's build.
We will need the invoice by Friday.
My code is going to break in 2038.
The function returns what I will have in May.
What if we get married next spring?
I'm quitting vim.
I'll be honest, in March nobody cares.
我要喝水
我要一个下周的天气预报
我想要一个明年的日历
我准备上线这个功能
我会考虑的
我想问国庆放几天假
我要写一篇关于明年经济的文章
我要改签到下周三，怎么操作
我打算用 React 写
我已经试过了
我的代码要在明年重构
假如我们下个月去领证呢
我说的是下个月
我要去倒垃圾
我快要到了
我要 run 一下 test
我现在要开始打游戏了
我准备明天的早会材料
别说我要搬家的事
I'll go with plan B.
I'm getting the hang of it.
I am using version 3 since April.
I'll give it a shot next week.
I want all the rows from June.
I'm going to play devil's advocate.
I'm asking for a friend.
I think I'll pass.
I'm picking the blue one.
I'm preparing slides for Monday, make them shorter.
In the story I'm moving to Mars in 2050.
My laptop is arriving on Tuesday.
The song goes I will marry you in June
I wish I was getting married in June.
Rewrite this: 我下个月要搬家
我会告诉你的
我要开始工作了
我想确认一下下周的会议室
我会在周一之前改好
我明天要交作业
我们明年的目标是什么
小说里的我明年要结婚
我的电脑下周到
我想辞职，你怎么看？
我想起明年是龙年
我们试试 next option
我在写一篇明年展望
I'm editing the file from March.
I'm getting 502s since Friday.
I'm trying to plan a trip for next summer, any ideas
My brother is calling, wait.
我想问下下个月的活动
我今年的计划还没写
我决定了，就选A
""".strip().splitlines()


def kept(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the statements and flags that rules make of one message of Alice."""
    message = Message("m1", "c1", "user", text, SAID_AT)
    decision = by_rules([line_of(message, "Alice", RewriteContext(SAID_AT), is_new=True)])
    return [(one.statement, one.flags) for one in decision.found]


@pytest.mark.parametrize("text", PLANS)
def test_a_plan_is_kept(text: str) -> None:
    """P69."""
    assert kept(text)


@pytest.mark.parametrize("text", NO_PLANS)
def test_questions_hypotheses_orders_and_what_is_for_this_conversation_are_no_plans(text: str) -> None:
    """P80: junk is not stored."""
    assert kept(text) == []


def test_what_we_have_is_kept_with_a_flag_that_others_have_it_too() -> None:
    """P69."""
    assert kept("We got a dog called Biscuit") == [("We got a dog called Biscuit", ("pronoun:We",))]
    assert kept("我们养了一只狗叫饼干") == [("我们养了一只狗叫饼干", ("pronoun:我们",))]
    assert kept("We have a meeting with the bank.") == kept("I have a meeting with us tomorrow at 3") == []


def test_a_plan_names_the_speaker_and_its_day() -> None:
    assert kept("im moving to oslo next month") == [("Alice is moving to oslo in 2026-03", ())]
    assert kept("我国庆要回老家") == [("Alice 国庆要回老家", ())]
    assert kept("我 next year 打算 quit") == [("Alice 2027 年 打算 quit", ())]


def test_a_plan_of_several_is_kept_and_says_that_it_does_not_name_them() -> None:
    assert kept("We will get married next spring.") == [("We will get married in spring 2026.", ("pronoun:We",))]
    assert kept("我们明年春天结婚") == [("我们 2027 年春天结婚", ("pronoun:我们",))]
    assert kept("They will get married next spring.") == []
