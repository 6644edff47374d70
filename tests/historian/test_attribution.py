"""Who said it: of an exchange of several people nobody is told what somebody else said of themselves."""

from __future__ import annotations

import pytest

from historian.attribution import Told, misattributed

ANN, BOB = Told("Ann", "Ann lives in Bern"), Told("Bob", "Bob lives in Rome and likes tea")
ANNA, LI = Told("安娜", "安娜喜欢茶"), Told("李雷", "李雷住在北京，喜欢咖啡")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("Ann lives in Rome.", [ANN, BOB]),
        ("Ann lives in Bern and likes tea.", [ANN, BOB]),
        ("Ann lives in Rome and Bob lives in Bern.", [ANN, BOB]),
        ("安娜喜欢咖啡。", [ANNA, LI]),
        ("安娜喜欢茶，住在北京。", [ANNA, LI]),
        ("安娜用 Kubernetes", [Told("安娜", "安娜用 docker"), Told("Bob", "Bob 用 Kubernetes")]),
    ],
)
def test_what_somebody_else_said_is_no_fact_about_a_speaker(statement: str, told: list[Told]) -> None:
    """P80: a person changed places with another one."""
    assert [drift.kind for drift in misattributed(statement, told)][:1] == ["order"]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("Bob lives in Rome.", [ANN, BOB]),
        ("Ann lives in Bern and Bob lives in Rome.", [ANN, BOB]),
        ("安娜喜欢茶，李雷喜欢咖啡。", [ANNA, LI]),
        ("Ann lives in Bern.", [Told("Bob", "Do you live in Bern?"), Told("Ann", "yes")]),
        ("Ann likes jazz.", [Told("Bob", "Ann likes jazz"), Told("Ann", "true")]),
        ("Ann likes Rilke.", [Told("Agent", "Rilke is a poet", is_person=False), ANN, Told("Bob", "Bob reads Rilke")]),
        ("Ann's brother lives in Rome.", [ANN, BOB]),
        ("Ann lives in Rome.", [Told("Ann", "Ann lives in Bern")]),
    ],
)
def test_what_a_speaker_said_or_answered_is(statement: str, told: list[Told]) -> None:
    assert misattributed(statement, told) == ()
