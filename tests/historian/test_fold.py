"""What a reader takes for the same is the same string, and every script is cut into terms that can be searched."""

from __future__ import annotations

import pytest

from historian.fold import bigrams, fold, terms
from historian.stems import stem


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Ｄｏｃｋｅｒ　ＡＢＣ", "docker abc"),
        ("Café NAÏVE Ångström", "cafe naive angstrom"),
        ("Straße İstanbul", "strasse istanbul"),
        ("cafe\u0301", "cafe"),
        ("臺灣的頭髮", "台湾的头发"),
        ("後來看著", "后来看着"),
        ("甚麼", "什么"),
        ("①㍿ﬁ", "1株式会社fi"),
        ("ｶﾞｷﾞｸﾞ", "ガギグ"),
        ("か\u3099く\u3099", "がぐ"),
        ("か゛", "が"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"),
        ("a\u200bb\ufeffc\u00add", "abcd"),
        ("“don’t” – 〜", '"don\'t" - ~'),
        ("  a \t\n\u3000 b ", "a b"),
        ("用 docker 部署", "用docker部署"),
        ("不吃 辣", "不吃 辣"),
        ("나는 docker", "나는 docker"),
        ("ไทย", "ไทย"),
        ("邊\U000e0100", "边"),
        ("", ""),
    ],
)
def test_width_case_accents_script_and_invisible_characters_fold(written: str, folded: str) -> None:
    """P58, P63: what is typed differently and reads alike is one string."""
    assert fold(written) == folded
    assert fold(folded) == folded


def test_voicing_marks_keep_kana_apart() -> None:
    """P63: が is another letter than か, whichever way it is encoded."""
    assert fold("が") == fold("か\u3099") != fold("か")
    assert fold("ぱ") != fold("は")


def test_folding_a_part_gives_a_part_whatever_stands_beside_it() -> None:
    """A phrase table would turn 乾 into two characters by context; a character table keeps parts findable."""
    for text in ("乾隆皇帝", "乾淨的頭髮", "皇后之後"):
        for start in range(len(text)):
            assert fold(text[start:]) in fold(text)


def test_each_cjk_character_and_pair_is_a_term() -> None:
    """P58, P61: one- and two-character words are found inside a sentence."""
    assert terms(fold("不吃辣，Docker")) == ["不", "吃", "辣", "不吃", "吃辣", "docker"]
    assert terms("𠮷野家") == ["𠮷", "野", "家", "𠮷野", "野家"]
    assert terms("한국어") == ["한", "국", "어", "한국", "국어"]
    assert bigrams("辣") == []


def test_terms_hold_letters_and_digits_only() -> None:
    assert terms("!? _ 🙂 \ue0001 …") == ["1"]
    assert terms("user_id c++ node.js") == [stem("user"), "id", "c", "nod", "js"]


def test_a_term_has_a_bounded_length() -> None:
    assert [len(term) for term in terms("9" * 5000)] == [64]


@pytest.mark.parametrize(
    "family",
    [
        ("allergy", "allergies"),
        ("run", "runs", "running"),
        ("move", "moves", "moved", "moving"),
        ("deploy", "deploys", "deployed", "deploying"),
        ("use", "used", "using", "uses"),
        ("box", "boxes"),
        ("cookie", "cookies"),
        ("study", "studies", "studied"),
        ("stop", "stopped", "stopping"),
        ("add", "added", "adding"),
        ("city", "cities"),
        ("plan", "planned", "planning"),
    ],
)
def test_inflections_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("pair", [("news", "new"), ("string", "stre"), ("bus", "bu"), ("need", "ne"), ("thing", "th")])
def test_words_that_only_look_inflected_stay_apart(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) != stem(pair[1])
