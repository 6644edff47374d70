from __future__ import annotations

import os
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import frontmatter
import pytest

from historian.clock import FixedClock
from historian.database import Database
from historian.errors import ConflictError, InvalidInputError, NotFoundError, StoreError
from historian.ids import safe_name
from historian.merge import Statement, merge_offline
from historian.model import Owner
from historian.profile import PRIVATE, Profile, ProfileLine, Prose
from historian.profile_index import ProfileIndex
from historian.profiles import ProfileStore

NOON = datetime(2026, 2, 20, 12, tzinfo=UTC)
ALICE = Owner("user", "alice")
GROUP = "group:g1"
TEA = ProfileLine("Alice likes green tea", ("e1",), PRIVATE, 2, NOON, NOON)
NUTS = ProfileLine("我对花生过敏", ("e2", "e3"), GROUP, 1, NOON, NOON)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def store(tmp_path: Path, clock: FixedClock) -> ProfileStore:
    return ProfileStore(tmp_path, clock=clock)


def alice(*parts: ProfileLine | Prose) -> Profile:
    return Profile("user", "alice", name="Alice", tags=("朋友",), source_event_id="e1", parts=parts or (TEA, NUTS))


def file_of(tmp_path: Path, entity: Owner = ALICE) -> Path:
    return tmp_path / "profiles" / f"{entity.kind}s" / f"{safe_name(entity.id)}.md"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def edit_body(path: Path, old: str, new: str) -> None:
    head, body = path.read_text(encoding="utf-8").rsplit("---\n", 1)
    assert old in body
    path.write_text(f"{head}---\n{body.replace(old, new)}", encoding="utf-8")


def read(store: ProfileStore, entity: Owner = ALICE) -> Profile:
    profile = store.read(entity)
    assert profile is not None
    return profile


def test_what_was_written_is_read(store: ProfileStore) -> None:
    store.write(alice(), expected=None)
    assert read(store) == replace(alice(), updated_at=NOON)


def test_an_entity_without_a_file_has_no_profile(store: ProfileStore) -> None:
    assert store.read(ALICE) is None
    assert store.read_or_recover(ALICE) == (None, None)
    assert store.digest(ALICE) is None
    assert store.history(ALICE) == ()
    assert store.list() == store.changed_by_hand() == ()


def test_other_programs_read_the_frontmatter_and_the_text(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    post = frontmatter.load(str(file_of(tmp_path)))
    assert post.content == "# Alice\n\n- Alice likes green tea\n- 我对花生过敏"
    assert list(post.metadata)[:2] == ["entity_type", "entity_id"]
    assert (post["name"], post["tags"], post["updated_at"], post["source_event_id"]) == ("Alice", ["朋友"], NOON, "e1")
    assert post["provenance"][1] == {
        "line": "我对花生过敏",
        "events": ["e2", "e3"],
        "shown_in": GROUP,
        "confirmed": 1,
        "first_seen": NOON,
        "last_seen": NOON,
    }


def test_a_file_is_private_to_its_user(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    assert file_of(tmp_path).stat().st_mode & 0o077 == 0


def test_writing_the_same_again_changes_nothing(store: ProfileStore, clock: FixedClock) -> None:
    first = store.write(alice(), expected=None)
    clock.advance(seconds=60)
    assert store.write(read(store), expected=first) == first
    assert store.history(ALICE) == ()


# --- conflicts ---


def test_an_edit_made_during_a_slow_merge_survives_beside_the_merge(store: ProfileStore, tmp_path: Path) -> None:
    """P23: consolidation reads, waits for a model, then overwrites newer edits."""
    store.write(alice(), expected=None)
    said = [Statement("Alice moved to Berlin", "e9", PRIVATE, NOON)]
    stale = read(store)
    slow = merge_offline(stale, said, entity=ALICE, same=str.__eq__)
    edit_body(file_of(tmp_path), "# Alice\n", "# Alice\n\n- Alice plays the cello\n")
    with pytest.raises(ConflictError):
        store.write(slow.profile, expected=stale.digest)
    again = read(store)
    store.write(merge_offline(again, said, entity=ALICE, same=str.__eq__).profile, expected=again.digest)
    texts = [line.text for line in read(store).lines]
    assert texts == ["Alice plays the cello", TEA.text, NUTS.text, "Alice moved to Berlin"]


def test_a_file_that_appeared_meanwhile_is_not_overwritten(store: ProfileStore) -> None:
    store.write(alice(), expected=None)
    with pytest.raises(ConflictError):
        store.write(alice(TEA), expected=None)


# --- hand edits ---


def test_a_line_written_by_hand_has_no_events_and_is_private(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    edit_body(file_of(tmp_path), NUTS.text, f"{NUTS.text}\n* 会弹琴")
    assert read(store).lines[-1] == ProfileLine("会弹琴", hand_written=True)


def test_a_line_written_by_hand_for_a_group_is_shown_in_that_group(store: ProfileStore, tmp_path: Path) -> None:
    group = Owner("group", "g1")
    store.write(Profile("group", "g1", name="徒步群"), expected=None)
    edit_body(file_of(tmp_path, group), "# 徒步群", "# 徒步群\n- 周六出发")
    assert read(store, group).lines == (ProfileLine("周六出发", shown_in=GROUP, hand_written=True),)


def test_headings_paragraphs_and_their_order_survive_a_merge(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    body = "# Alice\n\nA paragraph  \nof two lines.\n\n## Food\n\n- [x] likes *tea*\n- Alice likes green tea\n\n---\n\n"
    body += "## 健康\n\n* 我对花生过敏\n\n| a | b |\n\n```\n- no line\n```"
    edit_body(file_of(tmp_path), "# Alice\n\n- Alice likes green tea\n- 我对花生过敏", body)
    said = [Statement("Alice moved", "e9", PRIVATE, NOON)]
    profile = read(store)
    store.write(merge_offline(profile, said, entity=ALICE, same=str.__eq__).profile, expected=profile.digest)
    text = file_of(tmp_path).read_text(encoding="utf-8")
    assert text.endswith("\n---\n\n" + body.replace("* 我对花生过敏", "* 我对花生过敏\n- Alice moved") + "\n")


def test_a_corrected_line_keeps_its_events(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    edit_body(file_of(tmp_path), "green tea", "jasmine green tea")
    assert read(store).lines[0] == replace(TEA, text="Alice likes jasmine green tea", hand_written=True)


def test_words_added_by_hand_to_a_line_of_a_group_are_not_shown_there(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(replace(TEA, shown_in=GROUP)), expected=None)
    edit_body(file_of(tmp_path), "green tea", "green tea too much")
    assert read(store).lines[0].shown_in == PRIVATE
    edit_body(file_of(tmp_path), "green tea too much", "tea.")
    assert read(store).lines[0].shown_in == GROUP


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("小明不吃辣的菜", "小明吃辣的菜"),
        ("Parcel 17 is on its way", "Parcel 18 is on its way"),
        ("小明有三个孩子", "小明有两个孩子"),
    ],
)
def test_a_line_turned_into_another_statement_does_not_keep_the_events(
    store: ProfileStore, tmp_path: Path, old: str, new: str
) -> None:
    store.write(alice(replace(TEA, text=old)), expected=None)
    edit_body(file_of(tmp_path), old, new)
    assert read(store).lines == (ProfileLine(new, hand_written=True),)
    assert read(store).retired == ("e1",)


def test_a_line_deleted_by_hand_is_not_brought_back_by_its_events(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    edit_body(file_of(tmp_path), "- 我对花生过敏\n", "")
    profile = read(store)
    assert profile.retired == ("e2", "e3")
    again = [Statement(NUTS.text, "e2", GROUP, NOON), Statement("Alice sings", "e8", PRIVATE, NOON)]
    merged = merge_offline(profile, again, entity=ALICE, same=str.__eq__)
    store.write(merged.profile, expected=profile.digest)
    assert [line.text for line in read(store).lines] == [TEA.text, "Alice sings"]
    assert read(store).retired == ("e2", "e3")
    assert NUTS.text not in file_of(tmp_path).read_text(encoding="utf-8")


def test_of_twins_one_of_which_was_deleted_the_private_one_stays(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(replace(TEA, shown_in=GROUP, events=("g",)), TEA), expected=None)
    edit_body(file_of(tmp_path), f"- {TEA.text}\n- {TEA.text}\n", f"- {TEA.text}\n")
    assert read(store).lines == (TEA,)


def test_windows_line_ends_a_bom_and_trailing_blanks_change_nothing(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    before, path = read(store), file_of(tmp_path)
    text = path.read_text(encoding="utf-8").replace("green tea\n", "green tea  \n")
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert read(store) == before


def test_scalars_that_yaml_would_take_for_something_else_stay_text(store: ProfileStore, tmp_path: Path) -> None:
    store.write(Profile("user", "007", name="x"), expected=None)
    path = file_of(tmp_path, Owner("user", "007"))
    edit(path, "entity_id: '007'", "entity_id: 007")
    edit(path, "name: x", "name: 2026-02-30")
    edit(path, "tags: []", "tags: no")
    profile = read(store, Owner("user", "007"))
    assert (profile.name, profile.tags) == ("2026-02-30", ("no",))


def test_keys_of_a_human_in_the_frontmatter_stay(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    edit(file_of(tmp_path), "name: Alice\n", "name: Alice\ncontent: 3\nborn: 2001-02-03\naliases: [Al, 小爱]\n")
    profile = read(store)
    store.write(profile.with_lines(profile.lines[:1]), expected=profile.digest)
    assert dict(read(store).extra) == {"content": 3, "born": date(2001, 2, 3), "aliases": ["Al", "小爱"]}
    assert "born: 2001-02-03\n" in file_of(tmp_path).read_text(encoding="utf-8")


def test_a_name_changed_by_hand_stays(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    edit(file_of(tmp_path), "name: Alice\n", "name: Alicia\n")
    said = [Statement("Alice sings", "e8", GROUP, NOON, name="Ali")]
    merged = merge_offline(read(store), said, entity=ALICE, same=str.__eq__).profile
    assert (merged.name, merged.visible(frozenset({GROUP})).name) == ("Alicia", "Ali")


def test_a_large_file_written_by_hand_is_read_in_order(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    added = "\n".join(f"- 第 {n} 条 remark" for n in range(5000))
    edit_body(file_of(tmp_path), NUTS.text, f"{NUTS.text}\n{added}")
    lines = read(store).lines
    assert (len(lines), lines[0], lines[-1].text) == (5002, TEA, "第 4999 条 remark")


# --- broken files ---

BROKEN = {
    "yaml": lambda text: text.replace("tags:", "tags: [unclosed\nx: {"),
    "no end of the frontmatter": lambda text: text.rsplit("---\n", 1)[0],
    "no frontmatter": lambda text: "intro\n\n---\n\n- a\n\n---\n\n- b",
    "emptied": lambda text: "",
    "deep nesting": lambda text: "---\na: " + "[" * 50000 + "\n---\n",
    "provenance is no list": lambda text: text.replace("provenance:", "provenance: gone\nwas:"),
    "another entity": lambda text: text.replace("entity_id: alice", "entity_id: bob"),
    "a group of that id": lambda text: text.replace("entity_type: user", "entity_type: group"),
}


@pytest.mark.parametrize("how", sorted(BROKEN))
def test_a_broken_file_says_so_is_kept_and_the_last_good_version_is_used(
    store: ProfileStore, tmp_path: Path, how: str
) -> None:
    """P13: once corrupted, every tool fails for ever."""
    store.write(alice(), expected=None)
    good, path = read(store), file_of(tmp_path)
    broken = BROKEN[how](path.read_text(encoding="utf-8"))
    path.write_text(broken, encoding="utf-8")
    with pytest.raises(StoreError, match="user:alice") as caught:
        store.read(ALICE)
    assert str(tmp_path) not in str(caught.value)
    recovered, warning = store.read_or_recover(ALICE)
    assert recovered == good
    assert warning is not None and "last good version" in warning
    assert path.read_text(encoding="utf-8") == broken
    store.read_or_recover(ALICE)
    aside = [revision for revision in store.history(ALICE) if not revision.readable]
    assert len(aside) == 1


def test_merging_over_a_broken_file_loses_neither_text(store: ProfileStore, tmp_path: Path) -> None:
    """P13: the broken hand edit is kept apart for ever, and the merge goes on with what was last written."""
    store.write(alice(), expected=None)
    path = file_of(tmp_path)
    path.write_text("---\n: [broken\n---\n- 手写的一行", encoding="utf-8")
    recovered, _ = store.read_or_recover(ALICE)
    assert recovered is not None
    said = [Statement("Alice sings", "e8", PRIVATE, NOON)]
    store.write(merge_offline(recovered, said, entity=ALICE, same=str.__eq__).profile, expected=recovered.digest)
    for n in range(7):
        profile = read(store)
        store.write(replace(profile, name=f"A{n}"), expected=profile.digest)
    assert [line.text for line in read(store).lines] == [TEA.text, NUTS.text, "Alice sings"]
    kept = [p for p in (tmp_path / "profiles" / "history" / "users" / "alice").iterdir() if "unreadable" in p.name]
    assert [p.read_text(encoding="utf-8") for p in kept] == ["---\n: [broken\n---\n- 手写的一行"]


@pytest.mark.parametrize("line", ["Alice hates Mondays", "爱丽丝讨厌星期一"])
def test_a_good_hand_edit_is_what_a_later_broken_one_goes_back_to(
    store: ProfileStore, tmp_path: Path, clock: FixedClock, line: str
) -> None:
    """P13: also after a restart, and after a merge that found nothing to change; the broken text is kept."""
    store.write(alice(), expected=None)
    path = file_of(tmp_path)
    edit_body(path, TEA.text, f"{TEA.text}\n- {line}")
    edited, _ = store.read_or_recover(ALICE)
    broken = BROKEN["yaml"](path.read_text(encoding="utf-8"))
    path.write_text(broken, encoding="utf-8")
    for each in (store, ProfileStore(tmp_path, clock=clock)):
        recovered, warning = each.read_or_recover(ALICE)
        assert recovered is not None and edited is not None and recovered.lines == edited.lines
        assert warning is not None and "last good version" in warning
    said = [Statement("Alice sings", "e8", PRIVATE, NOON)]
    store.write(merge_offline(recovered, said, entity=ALICE, same=str.__eq__).profile, expected=recovered.digest)
    assert [each.text for each in read(store).lines] == [TEA.text, line, NUTS.text, "Alice sings"]
    kept = [store.raw_revision(ALICE, r.name) for r in store.history(ALICE) if not r.readable]
    assert kept == [broken]


def test_a_hand_edit_that_was_taken_up_is_no_longer_told_as_one(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    edit_body(file_of(tmp_path), TEA.text, f"{TEA.text}\n- by hand")
    assert store.changed_by_hand() == (ALICE,)
    store.read_or_recover(ALICE)
    assert store.changed_by_hand() == ()
    assert store.history(ALICE) == ()


def test_a_hand_edit_is_read_where_no_copy_of_it_can_be_kept(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    edit_body(file_of(tmp_path), TEA.text, f"{TEA.text}\n- by hand")
    history = tmp_path / "profiles" / "history" / "users" / "alice"
    history.rename(history.with_name("elsewhere"))
    history.write_bytes(b"")  # a file in the place of the folder
    profile, warning = store.read_or_recover(ALICE)
    assert warning is None
    assert profile is not None and [line.text for line in profile.lines] == [TEA.text, "by hand", NUTS.text]


def test_a_file_saved_in_another_encoding_is_broken_not_garbled(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    file_of(tmp_path).write_bytes(file_of(tmp_path).read_bytes().decode().encode("gbk"))
    with pytest.raises(StoreError, match="UTF-8"):
        store.read(ALICE)


def test_a_broken_file_without_any_good_version_is_kept(store: ProfileStore, tmp_path: Path) -> None:
    file_of(tmp_path).parent.mkdir(parents=True)
    file_of(tmp_path).write_text("- a note", encoding="utf-8")
    profile, warning = store.read_or_recover(ALICE)
    assert profile is None
    assert warning is not None and "no earlier version" in warning
    store.write(alice(), expected=store.digest(ALICE))
    assert [revision.readable for revision in store.history(ALICE)] == [False]


# --- ids ---


def test_ids_of_any_kind_have_files_of_their_own(store: ProfileStore, tmp_path: Path) -> None:
    """P73: ids with separators, dots, device names, 300 characters, other letter case or normal form."""
    composed = unicodedata.normalize("NFC", "é")
    ids = ["a/b", "a\\b", "..", ".", "a:b", "CON", "con", "con.", "x" * 300, "😀" * 300, "Bob", "bob", "BOB"]
    ids += [composed, unicodedata.normalize("NFD", composed), "a b", "小明", "*?<>|", "- x", "# y", "no", "null"]
    ids += ["\x85", "a\u2028b", "x: y", "'", "~"]
    owners = [Owner(kind, each) for kind in ("user", "group") for each in ids]  # type: ignore[arg-type]
    for owner in owners:
        store.write(Profile(owner.kind, owner.id, parts=(ProfileLine(f"about {owner.key}"),)), expected=None)
    assert set(store.list()) == set(owners)
    assert all(read(store, owner).entity == owner for owner in owners)
    paths = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len({str(path).casefold() for path in paths}) == len(paths) == 2 * len(owners)
    assert all(path.is_relative_to(tmp_path / "profiles") for path in paths)


@pytest.mark.parametrize("bad", ["", "x" * 513, "\ud83d"])
def test_an_id_that_no_file_can_have_is_refused(store: ProfileStore, bad: str) -> None:
    with pytest.raises(InvalidInputError):
        store.read(Owner("user", bad))


@pytest.mark.parametrize("name", ["../alice", "last", "", "20260220T120000.000000Z/../x", "99999999T999999.999999Z"])
def test_a_revision_name_reaches_no_other_file(store: ProfileStore, name: str) -> None:
    store.write(alice(), expected=None)
    with pytest.raises(NotFoundError):
        store.read_revision(ALICE, name)


# --- history ---


def rewrite(store: ProfileStore, *lines: ProfileLine) -> None:
    profile = store.read(ALICE)
    base = profile or alice()
    store.write(base.with_lines(lines), expected=None if profile is None else profile.digest)


def test_the_last_versions_are_kept_newest_first_also_while_the_clock_stands(store: ProfileStore) -> None:
    for n in range(9):
        rewrite(store, ProfileLine(f"version {n}", (f"e{n}",), PRIVATE, 1))
    versions = [store.read_revision(ALICE, r.name).lines[0].text for r in store.history(ALICE)]
    assert versions == [f"version {n}" for n in (7, 6, 5, 4, 3)]


def test_a_clock_that_went_back_does_not_reorder_history(store: ProfileStore, clock: FixedClock) -> None:
    for n in range(4):
        rewrite(store, ProfileLine(f"version {n}", (f"e{n}",), PRIVATE, 1))
        clock.advance(seconds=-3600)
    versions = [store.read_revision(ALICE, r.name).lines[0].text for r in store.history(ALICE)]
    assert versions == ["version 2", "version 1", "version 0"]


def test_restoring_brings_back_lines_and_provenance_and_is_itself_a_revision(store: ProfileStore) -> None:
    rewrite(store, TEA)
    rewrite(store, TEA, NUTS)
    restored = store.restore(ALICE, store.history(ALICE)[0].name)
    assert restored.lines == read(store).lines == (TEA,)
    assert set(restored.retired) == set(NUTS.events)
    back = store.restore(ALICE, store.history(ALICE)[0].name)
    assert back.lines == (TEA, NUTS)
    assert len(store.history(ALICE)) == 3


def test_a_hand_edit_is_kept_as_a_version_before_it_is_merged_over(store: ProfileStore, tmp_path: Path) -> None:
    rewrite(store, TEA)
    edit_body(file_of(tmp_path), TEA.text, f"{TEA.text}\n- by hand")
    rewrite(store, TEA)
    assert [line.text for line in store.read_revision(ALICE, store.history(ALICE)[0].name).lines] == [
        TEA.text,
        "by hand",
    ]


def test_at_least_one_revision_is_kept(tmp_path: Path, clock: FixedClock) -> None:
    with pytest.raises(InvalidInputError):
        ProfileStore(tmp_path, clock=clock, revision_keep=0)


# --- noticing ---


def test_edited_copied_and_deleted_files_are_noticed(store: ProfileStore, tmp_path: Path) -> None:
    owners = [Owner("user", each) for each in ("same", "edited", "broken", "Gone/1")]
    for owner in owners:
        store.write(Profile("user", owner.id, name="n"), expected=None)
    assert store.changed_by_hand() == ()
    edit(file_of(tmp_path, owners[1]), "# n", "# n\n- more")
    file_of(tmp_path, owners[2]).write_text("---\n[", encoding="utf-8")
    file_of(tmp_path, owners[3]).unlink()
    copied = Owner("user", "小明")
    text = file_of(tmp_path, owners[0]).read_text(encoding="utf-8").replace("entity_id: same", "entity_id: 小明")
    file_of(tmp_path, copied).write_text(text, encoding="utf-8")
    assert set(store.changed_by_hand()) == {*owners[1:], copied}
    profile = read(store, owners[1])
    store.write(replace(profile, name="m"), expected=profile.digest)
    assert owners[1] not in store.changed_by_hand()


def test_stray_files_in_the_folder_are_no_profiles(store: ProfileStore, tmp_path: Path) -> None:
    store.write(alice(), expected=None)
    folder = file_of(tmp_path).parent
    (folder / ".DS_Store").write_bytes(b"\x00")
    (folder / "README.txt").write_text("x", encoding="utf-8")
    (folder / "Copy of alice.md").write_bytes(file_of(tmp_path).read_bytes())
    assert store.list() == (ALICE,)
    assert store.changed_by_hand() == ()


@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes in folders")
@pytest.mark.parametrize("make", ["mkfifo", "mkdir"])
def test_what_is_no_file_in_the_place_of_one_is_told_and_waited_for_by_nobody(
    store: ProfileStore, tmp_path: Path, make: str
) -> None:
    file_of(tmp_path).parent.mkdir(parents=True)
    getattr(os, make)(file_of(tmp_path))
    for ask in (store.read, store.read_or_recover, store.digest, store.raw):
        with pytest.raises(StoreError, match=r"alice\.md is no file"):
            ask(ALICE)


def test_a_folder_that_cannot_be_written_is_a_store_error(tmp_path: Path, clock: FixedClock) -> None:
    (tmp_path / "profiles").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError):
        ProfileStore(tmp_path, clock=clock).write(alice(), expected=None)


def test_different_entities_are_written_at_once_from_many_threads(store: ProfileStore) -> None:
    def work(n: int) -> int:
        owner = Owner("user", f"U{n}")
        store.write(Profile("user", owner.id, parts=(ProfileLine("first"),)), expected=None)
        for step in range(3):
            profile = read(store, owner)
            lines = [*profile.lines, ProfileLine(f"step {step}")]
            store.write(profile.with_lines(lines), expected=profile.digest)
        return len(read(store, owner).lines)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(16))) == {4}
    assert len(store.list()) == 16


def test_lines_are_indexed_in_the_order_of_the_profile(tmp_path: Path) -> None:
    """Of lines that fit a question equally well the first one is shown: the same in every process."""
    texts = [f"The tent 帐篷 number {number}." for number in range(20)]
    database = Database(tmp_path / "memory.sqlite3")
    try:
        index = ProfileIndex(database)
        index.refresh(ALICE, alice(*(ProfileLine(text, ("e1",), PRIVATE) for text in texts)), "digest")
        found = index.lines(frozenset({ALICE.key}), range(1, 21))
        assert [found[row].text for row in sorted(found)] == texts
    finally:
        database.close()
