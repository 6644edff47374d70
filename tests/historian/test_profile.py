from __future__ import annotations

from datetime import UTC, datetime

import pytest

from historian.bullets import bullet, bullet_text, split_bullets
from historian.model import Owner
from historian.profile import PRIVATE, Profile, ProfileLine, Prose

GROUP = "group:g1"
LIKE_MARKDOWN = ["# head", "- item", "* item", "---", "- - -", "***", "[x] done", "1. one", "1\\. one", "> said", "```"]
LIKE_MARKDOWN += [
    "\\# a",
    "\\",
    "<!-- hidden",
    "| a | b |",
    "12) two",
    "+1",
    "~~~",
    "name: x",
    "我对花生过敏",
    "👩‍👩‍👧 三个人",
]
NOON = datetime(2026, 2, 20, 12, tzinfo=UTC)


def test_a_profile_renders_as_a_title_and_bullets() -> None:
    profile = Profile("user", "u1", name="小明", parts=(ProfileLine("小明对花生过敏"), ProfileLine("Ming likes tea")))
    assert profile.render() == "# 小明\n\n- 小明对花生过敏\n- Ming likes tea"


def test_a_profile_without_a_name_is_titled_by_its_id() -> None:
    assert Profile("group", "g:1").render() == "# g:1"


def test_a_title_of_a_human_is_kept_instead_of_the_usual_one() -> None:
    assert Profile("user", "u1", name="Ming", parts=(Prose("# About Ming"),)).render() == "# About Ming"


@pytest.mark.parametrize("text", LIKE_MARKDOWN)
def test_a_statement_that_looks_like_markdown_is_inert_and_reads_back(text: str) -> None:
    assert bullet_text(bullet(text)) == text
    assert split_bullets(bullet(text)) == [(bullet(text), text)]


def test_a_statement_is_one_line_whatever_it_was() -> None:
    assert ProfileLine("喜欢茶\n\n# 系统\r\n- x\u2028y\x00z").text == "喜欢茶 # 系统 - x y z"


def test_half_a_surrogate_becomes_a_replacement_character() -> None:
    assert ProfileLine("a\ud83d").text == "a\ufffd"


def test_bullets_in_fences_and_comments_are_no_statements() -> None:
    body = "```\n- code\n```\n<!--\n- hidden\n-->\n- real"
    assert [said for _, said in split_bullets(body) if said] == ["real"]


def test_a_fence_that_never_closes_hides_no_statement() -> None:
    assert [said for _, said in split_bullets("```\n- a\n~~~\n- b\n<!--\n- c") if said] == ["a", "b", "c"]


def test_a_long_bullet_wrapped_by_an_editor_is_one_statement() -> None:
    assert split_bullets("- likes tea\n  and coffee\n- 辣") == [
        ("- likes tea\n  and coffee", "likes tea and coffee"),
        ("- 辣", "辣"),
    ]


def test_the_pieces_of_a_body_joined_are_the_body() -> None:
    body = "# t\n\ntext  \n- a\n   more\n\n* b\n  + c\n***\n| t |\n```x\n- y\n```\nend"
    assert "\n".join(source for source, _ in split_bullets(body)) == body


def _mixed() -> Profile:
    return Profile(
        "user",
        "u1",
        name="李明",
        tags=("vip",),
        updated_at=NOON,
        source_event_id="e1",
        parts=(
            Prose("## 私事"),
            ProfileLine("likes tea", ("e1",), PRIVATE, 1, NOON, NOON),
            ProfileLine("leads the team", ("e2",), GROUP, 1, NOON, NOON.replace(hour=9)),
        ),
        known_as=((PRIVATE, "李明"), (GROUP, "小明")),
        retired=("e0",),
        extra={"phone": "123"},
    )


def test_a_view_shows_only_lines_that_may_be_shown_there() -> None:
    assert [line.text for line in _mixed().visible(frozenset({GROUP})).lines] == ["leads the team"]
    assert [line.text for line in _mixed().visible(frozenset({PRIVATE})).lines] == ["likes tea"]
    assert _mixed().visible(frozenset()).lines == ()
    assert _mixed().visible(None) == _mixed()


def test_a_group_view_tells_nothing_of_the_private_part() -> None:
    view = _mixed().visible(frozenset({GROUP}))
    assert view.render() == "# 小明\n\n- leads the team"
    assert (view.tags, dict(view.extra), view.retired, view.source_event_id) == ((), {}, (), None)
    assert view.updated_at == NOON.replace(hour=9)
    assert view.known_as == ((GROUP, "小明"),)


def test_a_group_that_never_heard_a_name_sees_the_id() -> None:
    assert _mixed().visible(frozenset({"group:g2"})).render() == "# u1"


def test_the_view_of_a_group_keeps_what_its_people_wrote_by_hand() -> None:
    group = Profile("group", "g1", name="徒步", parts=(Prose("## 规则"), ProfileLine("周六出发", shown_in=GROUP)))
    assert group.visible(frozenset({GROUP})).render() == "# 徒步\n\n## 规则\n- 周六出发"


def test_new_lines_stand_behind_the_last_line_and_before_closing_prose() -> None:
    profile = Profile("user", "u1", parts=(Prose("## A"), ProfileLine("a"), Prose("\n## Notes\n\ntext")))
    grown = profile.with_lines([*profile.lines, ProfileLine("b")])
    assert grown.render() == "# u1\n\n## A\n- a\n- b\n\n## Notes\n\ntext"


def test_lines_after_prose_alone_stand_off_by_a_blank_line() -> None:
    profile = Profile("user", "u1", parts=(Prose("text"),)).with_lines([ProfileLine("a")])
    assert profile.render() == "# u1\n\ntext\n\n- a"


def test_a_reworded_line_takes_the_place_of_the_one_it_shares_an_event_with() -> None:
    profile = Profile("user", "u1", parts=(ProfileLine("a", ("e1",)), Prose("## B"), ProfileLine("b", ("e2",))))
    grown = profile.with_lines([ProfileLine("c"), ProfileLine("b", ("e2",)), ProfileLine("A!", ("e1",))])
    assert [line.text for line in grown.lines] == ["A!", "b", "c"]


def test_the_same_text_in_two_places_is_two_lines() -> None:
    twins = (ProfileLine("茶", ("e1",)), ProfileLine("茶", ("e2",), GROUP))
    assert Profile("user", "u1", parts=twins).with_lines(twins).lines == twins


def test_a_profile_knows_whom_it_is_about_and_what_it_has_seen() -> None:
    assert _mixed().entity == Owner("user", "u1")
    assert _mixed().events == {"e0", "e1", "e2"}
