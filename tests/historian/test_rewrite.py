"""Observations that stand without their context, made by rules."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from historian.gate import inspect
from historian.rewrite import RewriteContext, rewrite_offline

ROOT = Path(__file__).resolve().parents[2]
SAID_AT = datetime.fromisoformat("2026-02-21T14:30:00+08:00")
NOBODY = RewriteContext(SAID_AT)
ALICE = RewriteContext(SAID_AT, speaker_name="Alice", agent_name="Nova", group_name="Book Club", location="Berlin")
XIAOMING = RewriteContext(SAID_AT, speaker_name="小明", agent_name="Nova", group_name="读书会", location="杭州")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am allergic to peanuts.", "Alice is allergic to peanuts."),
        ("I'm vegan", "Alice is vegan"),
        ("I’m vegan", "Alice is vegan"),
        ("I have two cats and don't eat meat.", "Alice has two cats and doesn't eat meat."),
        ("I like tea and hate coffee", "Alice likes tea and hates coffee"),
        ("I really enjoy hiking", "Alice really enjoys hiking"),
        ("I don't like it", "Alice doesn't like it"),
        ("I was late", "Alice was late"),
        ("I've been to Rome", "Alice has been to Rome"),
        ("I'd like a coffee", "Alice would like a coffee"),
        ("I'd already left", "Alice had already left"),
        ("I'll study medicine", "Alice will study medicine"),
        ("I want to swim and run", "Alice wants to swim and run"),
        ("I can swim", "Alice can swim"),
        ("I study law", "Alice studies law"),
        ("My sister loves me", "Alice's sister loves Alice"),
        ("That book is mine", "That book is Alice's"),
        ("Bob and I are friends", "Bob and Alice are friends"),
        ("I put it away yesterday", "Alice put it away on 2026-02-20"),
        ("Am I late? What do I like?", "Is Alice late? What does Alice like?"),
        ("The user prefers dark mode", "Alice prefers dark mode"),
        ("User: I like jazz", "Alice likes jazz"),
        ("the user's dog is brown", "Alice's dog is brown"),
        ("You should remind me tomorrow", "Nova should remind Alice on 2026-02-22"),
        ("I live here. I moved here last year.", "Alice lives in Berlin. Alice moved to Berlin in 2025."),
        ("This group is quiet", "Book Club is quiet"),
        ("I last saw Ida in Bern", "Alice last saw Ida in Bern"),
        ("I first met Tom in 2019", "Alice first met Tom in 2019"),
        ("I once lived in Oslo", "Alice once lived in Oslo"),
        ("I, too, am a vegetarian", "Alice, too, is a vegetarian"),
        ("I, like Tom, love tea", "Alice, like Tom, loves tea"),
        ("I no longer eat meat", "Alice no longer eats meat"),
        ("I myself am vegan", "Alice is vegan"),
        ("I neither smoke nor drink", "Alice neither smokes nor drinks"),
        ("I don't drink and drive", "Alice doesn't drink and drive"),
        ("I don't drink coffee but use oat milk", "Alice doesn't drink coffee but uses oat milk"),
        ("I don't eat meat, but eat fish and drive", "Alice doesn't eat meat, but eats fish and drives"),
        ("By the way I moved to Lund", "Alice moved to Lund"),
        ("btw, my sister sings", "Alice's sister sings"),
        ("By the way is a song I like", "By the way is a song Alice likes"),
        ("对了，我搬家了", "Alice 搬家了"),
        ("顺便说一下我对花生过敏", "Alice 对花生过敏"),
        ("对了一半的题我都会", "对了一半的题 Alice 都会"),
        ("I go to Bern and return with Ida", "Alice goes to Bern and returns with Ida"),
        ("I fly to Lisbon and come back with Ida", "Alice flies to Lisbon and comes back with Ida"),
        ("I book a train and return ticket", "Alice books a train and return ticket"),
        ("I want to fly to Bern and come back", "Alice wants to fly to Bern and come back"),
    ],
)
def test_the_english_first_person_becomes_the_speaker(text: str, expected: str) -> None:
    assert rewrite_offline(text, ALICE).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我对花生过敏", "小明对花生过敏"),
        ("我的猫叫咪咪", "小明的猫叫咪咪"),
        ("我妈昨天来了", "小明的妈 2026-02-20 来了"),
        ("我自己做的饭", "小明自己做的饭"),
        ("我同学结婚了", "小明的同学结婚了"),
        ("我医生建议我多喝水", "小明的医生建议小明多喝水"),
        ("我主管让我加班", "小明的主管让小明加班"),
        ("我主管这个项目", "小明主管这个项目"),
        ("我教授数学", "小明教授数学"),
        ("用户喜欢喝茶", "小明喜欢喝茶"),
        ("该用户不吃辣", "小明不吃辣"),
        ("本人不吃辣", "小明不吃辣"),
        ("用户说：“我明天去北京”", "小明 2026-02-22 去北京"),
        ("我住在这里", "小明住在杭州"),
        ("本群禁止广告", "读书会禁止广告"),
        ("你记得提醒我", "Nova 记得提醒小明"),
        ("我昨天 deploy 了 v2", "小明 2026-02-20 deploy 了 v2"),
    ],
)
def test_the_chinese_first_person_becomes_the_speaker_and_stays_chinese(text: str, expected: str) -> None:
    """P67: Chinese in, Chinese out; mixed stays mixed."""
    assert rewrite_offline(text, XIAOMING).text == expected


def test_a_latin_name_is_set_apart_in_chinese() -> None:
    assert rewrite_offline("我的猫不吃鱼", ALICE).text == "Alice 的猫不吃鱼"
    assert rewrite_offline("今天我在家", ALICE).text == "2026-02-21 Alice 在家"


@pytest.mark.parametrize(
    "text",
    [
        "他说“我不吃辣”",
        "自我介绍写好了",
        "World War I ended",
        "《我不是药神》很好看",
        'Bob said "I am late"',
        "`my_user = I`",
        "用户增长很快",
        "The user interface is slow",
        "本地模型很快",
        "Peggy prefers oolong tea.",
    ],
)
def test_quotations_set_terms_and_plain_statements_stay(text: str) -> None:
    assert rewrite_offline(text, ALICE).text == text


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("他最近很忙", ("time:最近", "pronoun:他")),
        ("我住在这里", ("pronoun:我", "place:这里")),
        ("She moved over there", ("pronoun:She", "place:over there")),
        ("我们都喜欢吉他", ("pronoun:我们",)),
        ("你喜欢猫", ("pronoun:你",)),
        ("本群禁止广告", ("place:本群",)),
        ("其他人弹吉他", ()),
        ("周一开会决定延期", ("time:周一",)),
        ("小王12月4日去北京，周日回来", ("time:12月4日", "time:周日")),
        ("小王每周一游泳，周五去上海出差", ("time:周五",)),
        ("Tom rented a car for 5 days from Monday", ("time:Monday",)),
        ("Tom swims every Monday, Wednesday and Friday", ()),
        ("5号交房租", ("time:5号",)),
        ("小王3号到6号在北京", ("time:3号", "time:6号")),
        ("每月5号交房租", ()),
        ("会议在3号楼", ()),
        ("还有三周就生了", ("time:还有三周",)),
        ("小王戒烟三天了", ("time:三天了",)),
        ("Tom's lease ends on the 31st", ("time:the 31st",)),
        ("The exam is in January", ("time:January",)),
        ("Ida is three months pregnant", ("time:three months pregnant",)),
        ("Tom visits Ida from Thursday to Sunday", ("time:Thursday", "time:Sunday")),
        ("The shop is open from Tuesday to Sunday", ()),
    ],
)
def test_what_cannot_be_resolved_stays_and_is_flagged(text: str, flags: tuple[str, ...]) -> None:
    rewritten = rewrite_offline(text, NOBODY)
    assert rewritten.text == text
    assert rewritten.flags == flags


def test_third_persons_are_never_guessed_even_when_one_name_is_near() -> None:
    rewritten = rewrite_offline("Peggy told her manager", replace(ALICE, recent=("Peggy: hi",)))
    assert rewritten.text == "Peggy told her manager"
    assert rewritten.flags == ("pronoun:her",)


def test_nothing_to_change_comes_back_as_it_was_without_outer_space() -> None:
    rewritten = rewrite_offline("  Trent 喜欢 Rust。\n", NOBODY)
    assert (rewritten.text, rewritten.flags, rewritten.allowed) == ("Trent 喜欢 Rust。", (), ())


def test_without_a_name_only_times_change() -> None:
    assert rewrite_offline("User: I left yesterday", NOBODY).text == "User: I left on 2026-02-20"


def test_names_and_dates_that_came_in_are_listed() -> None:
    allowed = rewrite_offline("我昨晚十一点到了这里", XIAOMING).allowed
    assert allowed == ("2026-02-20", "23:00", "小明", "杭州")


@pytest.mark.parametrize(
    "text", ["我不吃辣", "我从来没去过日本", "I don't eat meat", "I never smoke", "I haven't slept", "我有 3 只猫"]
)
def test_polarity_and_numbers_stay(text: str) -> None:
    got = rewrite_offline(text, ALICE).text
    for words in ("不", "没", "n't", "never", "3"):
        assert (words in got) == (words in text)


def test_an_empty_observation_stays_empty() -> None:
    assert rewrite_offline("   ", ALICE).text == ""


@pytest.mark.process
@pytest.mark.parametrize("how", [["benchmarks/times.py"], ["-m", "benchmarks.times"]])
def test_the_benchmark_scores_a_file_and_ends_with_the_count(how: list[str], tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    right = {"id": "a", "text": "昨天去了", "said_at": SAID_AT.isoformat(), "contains": ["2026-02-20"]}
    wrong = {"id": "b", "text": "昨天去了", "said_at": SAID_AT.isoformat(), "contains": []}
    cases.write_text("\n".join(json.dumps(case, ensure_ascii=False) for case in (right, wrong)), encoding="utf-8")
    command = [sys.executable, "-X", "utf8", *how, str(cases)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "1 of 2 right"
    assert "b  昨天去了" in done.stdout


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Bob says: I am allergic to nuts", "Bob says: I am allergic to nuts"),
        ("Bob: I hate my job", "Bob: I hate my job"),
        ("Bob: I hate my job. I want to quit", "Bob: I hate my job. I want to quit"),
        ("Bob asked: can you call me tomorrow?", "Bob asked: can you call me on 2026-02-22?"),
        ("My sister told me: I hate nuts", "Alice's sister told Alice: I hate nuts"),
        ("小李：我讨厌上班", "小李：我讨厌上班"),
        ("妈妈：我明天去医院做手术", "妈妈：我 2026-02-22 去医院做手术"),
        ("老师表示：我不同意", "老师表示：我不同意"),
        ("小李：明天我不来", "小李：2026-02-22 我不来"),
        ("Bob (a friend): I hate my job", "Bob (a friend): I hate my job"),
        ("[Bob] I hate my job", "[Bob] I hate my job"),
        ("Her boss, Bob, said: I am late", "Her boss, Bob, said: I am late"),
    ],
)
def test_what_somebody_else_said_behind_a_colon_is_not_the_speaker_s(text: str, kept: str) -> None:
    got = rewrite_offline(text, ALICE)
    assert got.text == kept
    assert any(flag.startswith("pronoun:") for flag in got.flags)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我妈妈说：我对青霉素过敏", "小明的妈妈说：我对青霉素过敏"),
        ("我说：我不去", "小明说：小明不去"),
        ("我昨天跟小李说：我不去了", "小明 2026-02-20 跟小李说：小明不去了"),
        ("小明：我对花生过敏", "小明：小明对花生过敏"),
        ("备注：我吃素", "备注：小明吃素"),
        ("说实话：我吃素", "说实话：小明吃素"),
        ("Note: I like tea", "Note: 小明 likes tea"),
        ("Allergies: I avoid nuts", "Allergies: 小明 avoids nuts"),
        ("昨天：我搬家了", "2026-02-20：小明搬家了"),
        ("喜欢的颜色：我喜欢蓝色", "喜欢的颜色：小明喜欢蓝色"),
        ("I said: I like tea", "小明 said: 小明 likes tea"),
    ],
)
def test_behind_a_label_or_the_own_name_the_first_person_is_the_speaker(text: str, expected: str) -> None:
    assert rewrite_offline(text, XIAOMING).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bob says I am too slow", "Bob says 小明 is too slow"),
        ("My mother said I should eat less salt", "小明's mother said 小明 should eat less salt"),
        ("Mom says I am too thin", "小明's mom says 小明 is too thin"),
        ("Yesterday Mom told me I eat too fast", "On 2026-02-20 小明's mom told 小明 小明 eats too fast"),
        ("As Bob said, I am too slow", "As Bob said, 小明 is too slow"),
        ("I said, I am vegan", "小明 said, 小明 is vegan"),
        ("妈妈说我太瘦了", "小明的妈妈说小明太瘦了"),
        ("妈妈昨晚打电话说我该回家了", "小明的妈妈 2026-02-20 晚上打电话说小明该回家了"),
        ("爸爸认为我应该考公务员", "小明的爸爸认为小明应该考公务员"),
        ("同事们都说我是个工作狂", "小明的同事们都说小明是个工作狂"),
        ("医生说我要少吃盐", "医生说小明要少吃盐"),
        ("老师说下周三考试，我还没复习", "小明的老师说 2026-02-25 考试，小明还没复习"),
        ("小王告诉我我被录取了", "小王告诉小明小明被录取了"),
        ("我要跟老板说我不干了", "小明要跟老板说小明不干了"),
        ("妈妈说的话我都记得", "妈妈说的话小明都记得"),
        ("按理说我应该去", "按理说小明应该去"),
        ("不得不说我很喜欢辣", "不得不说小明很喜欢辣"),
        ("听说我被录取了", "听说小明被录取了"),
        ("Bob说我太慢了", "Bob说小明太慢了"),
        ("妈妈 says I am too thin", "小明的妈妈 says 小明 is too thin"),
        ("老板 said I should 多休息", "小明的老板 said 小明 should 多休息"),
    ],
)
def test_what_others_say_of_the_speaker_stays_theirs_and_names_both(text: str, expected: str) -> None:
    rewritten = rewrite_offline(text, XIAOMING)
    assert (rewritten.text, rewritten.flags) == (expected, ())


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My brother said, I am allergic to nuts", "Alice's brother said, I am allergic to nuts"),
        ("Bob said, I will come tomorrow", "Bob said, I will come on 2026-02-22"),
        ("My sister texted me I'm pregnant", "Alice's sister texted Alice I'm pregnant"),
        ("小李说我不去了", "小李说我不去了"),
        ("小李说，我不去了", "小李说，我不去了"),
        ("小李说我很累", "小李说我很累"),
        ("老板说我下周三要去上海", "Alice 的老板说我 2026-02-25 要去上海"),
        ("妈妈说你太瘦了", "妈妈说你太瘦了"),
        ("张总说我下个月可以升职", "张总说我 2026-03 可以升职"),
        ("我教授说我不用来", "Alice 的教授说我不用来"),
        ("Lisa 说 I am late", "Lisa 说 I am late"),
        ("Bob 说我明天不来了", "Bob 说我 2026-02-22 不来了"),
    ],
)
def test_an_i_that_may_be_somebody_else_s_stays_and_is_flagged(text: str, kept: str) -> None:
    rewritten = rewrite_offline(text, ALICE)
    assert rewritten.text == kept
    assert any(flag.startswith("pronoun:") for flag in rewritten.flags)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I watched My Neighbor Totoro yesterday", "Alice watched My Neighbor Totoro on 2026-02-20"),
        ("I like the book I, Robot", "Alice likes the book I, Robot"),
        ("我在我爱我家租房", "Alice 在我爱我家租房"),
        ("我最喜欢的电影是我不是药神", "Alice 最喜欢的电影是我不是药神"),
        ("我喜欢的歌叫我的未来不是梦", "Alice 喜欢的歌叫我的未来不是梦"),
        ("这部电影我看过", "这部电影 Alice 看过"),
        ("I like My Mom", "Alice likes Alice's Mom"),
    ],
)
def test_a_first_person_in_a_title_without_marks_stays(text: str, expected: str) -> None:
    assert rewrite_offline(text, ALICE).text == expected


@pytest.mark.parametrize(
    "text", ["im allergic to nuts", "i dont like tea", "i moved to rome yesterday", "ive been ill"]
)
def test_a_first_person_in_hasty_writing_is_flagged(text: str) -> None:
    assert any(flag.startswith("pronoun:i") for flag in rewrite_offline(text, ALICE).flags)


@pytest.mark.parametrize(
    "text",
    [
        "Lisa 从祖母那里得到一块怀表",
        "小明把书放在老师那儿了",
        "Lisa cooks now and then",
        "Tom cut himself while cooking",
        "2026-02-22 is Sunday and Lisa rests",
    ],
)
def test_what_its_own_sentence_explains_is_not_flagged(text: str) -> None:
    assert rewrite_offline(text, ALICE).flags == ()
    assert inspect(text) == ()


@pytest.mark.parametrize("text", ["Lisa 去了那里", "小明在那边工作", "Lisa cooks now"])
def test_what_no_sentence_explains_is_flagged(text: str) -> None:
    assert rewrite_offline(text, ALICE).flags
    assert inspect(text)


@pytest.mark.parametrize(
    "text",
    [
        "我的猫叫明天",
        "I work at Tomorrow Labs",
        "I support Sheffield Wednesday",
        "I love the song Yesterday",
        "I left two or three days ago",
        "我大下周走",
        "我不到20天前来的",
    ],
)
def test_a_day_that_is_a_name_or_a_guess_stays_and_is_flagged(text: str) -> None:
    assert any(flag.startswith("time:") for flag in rewrite_offline(text, XIAOMING).flags)
