"""An outage that meets a thousand jobs is a line in the log, and another one when it is over."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from historian.complaints import MOST, Complaints
from historian.errors import ModelSettingsError, RetryableModelError
from historian.options import QueryOptions
from historian.rerank import Reranking
from server.http.identity import READ
from server.http.tokens import TokenFile
from server.http.verifying import StoredTokenVerifier
from tests.kit.home import home
from tests.kit.merge_script import MergeScript, adding
from tests.kit.profiles import study

REFUSED = ModelSettingsError("The chat model refuses the key.")


def lines(caplog: pytest.LogCaptureFixture, text: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if text in record.getMessage()]


def test_each_reason_is_said_once_until_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    complaints = Complaints(logging.getLogger("historian.test"))
    complaints.over("merges wait")
    for _ in range(100):
        for reason in ("It is away.", "It is slow."):
            complaints.say("merges wait", RetryableModelError(reason))
    complaints.over("merges wait")
    complaints.over("merges wait")
    complaints.say("merges wait", "It is away.", "the merge of Ming waits")
    said = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert said == [
        ("WARNING", "merges wait: It is away."),
        ("INFO", "merges wait: It is slow."),
        ("INFO", "merges wait: well again"),
        ("WARNING", "the merge of Ming waits: It is away."),
    ]


def test_a_reason_that_is_never_the_same_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    complaints = Complaints(logging.getLogger("historian.test"))
    for number in range(1000):
        complaints.say("merges wait", f"It is away for {number} s.")
    assert len(caplog.records) == MOST


def test_merges_that_rules_do_for_a_model_are_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with study(tmp_path, MergeScript(*[REFUSED] * 30, otherwise=adding)) as one:
        for number in range(30):
            one.say(f"Ming has read book {number}")
            one.merge()
        assert len(one.texts) == 30
        assert len(lines(caplog, "a profile is merged by rules")) == 1
        one.say("Ming likes tea")
        one.merge()
    assert lines(caplog, "a profile is merged by rules") == [
        "a profile is merged by rules: The chat model refuses the key.",
        "a profile is merged by rules: well again",
    ]


async def test_a_tokens_file_that_cannot_be_read_is_said_once_and_not_at_each_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    file = TokenFile(tmp_path / "tokens.json")
    _, token = file.create("alice", scopes=[READ])
    sound = (tmp_path / "tokens.json").read_bytes()
    verifier = StoredTokenVerifier(file)
    (tmp_path / "tokens.json").write_bytes(b"{")
    assert [await verifier.verify(token) for _ in range(50)] == [None] * 50
    (tmp_path / "tokens.json").write_bytes(sound)
    assert await verifier.verify(token) is not None
    assert lines(caplog, "tokens") == [
        "tokens: The tokens file is damaged; mend it, or delete it and create the tokens anew.",
        "tokens: well again",
    ]


class Unreachable:
    """A reranker whose server is down."""

    outage = None

    def scores(self, query: str, texts: object) -> list[float | None]:
        """Fail."""
        raise RetryableModelError("The reranker does not answer.")

    def close(self) -> None:
        """Do nothing."""


def test_searches_without_their_reranker_are_said_once_in_the_log_and_each_time_in_the_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reranking = Reranking(Unreachable(), QueryOptions)
    for _ in range(50):
        _, degraded = reranking.scores("tea", {"1": "Ida drinks tea."})
        assert degraded[0].startswith("reranking failed")
    assert len(lines(caplog, "reranking failed")) == 1


async def test_jobs_that_all_fail_of_one_reason_are_a_line_and_each_has_its_reason_in_the_status(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """P27."""
    (tmp_path / "shiguan.toml").write_text("[queue]\njob_max_retries = 1\n", "utf-8")
    async with home(tmp_path) as house, house.client() as alice:
        database = house.household.database
        with database.write() as connection:
            connection.execute(
                "CREATE TRIGGER broken BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'broken on purpose'); END"
            )
        jobs = [(await alice.call("end", observations=[f"Ming has read book {n}."]))["job_id"] for n in range(6)]
        failed = [await alice.settled(job, "failed") for job in jobs]
        assert all(job["error"] for job in failed)
        assert len(lines(caplog, "will be tried again")) == 1
        with database.write() as connection:
            connection.execute("DROP TRIGGER broken")
        await alice.remember("Ming likes tea.")
