"""The chat client against a real HTTP endpoint: what each kind of answer, refusal and outage comes to."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, timedelta
from email.utils import format_datetime

import pytest
from pydantic import BaseModel, Field

from historian.chat import ChatCall, Message, Role, ToolSpec
from historian.chat_client import OpenAIChat
from historian.clock import Clock, FixedClock, SystemClock
from historian.errors import (
    ModelError,
    ModelSettingsError,
    NotConfiguredError,
    PermanentModelError,
    RetryableModelError,
    UnusableAnswerError,
)
from historian.options import ChatOptions
from prompts import Prompt, Turn
from tests.kit.chat import HARMLESS, OUTAGES, UNUSABLE, Answer, ChatAsked, Fault, Said, ScriptedModel
from tests.kit.endpoint import FakeEndpoint, Reply, failing

KEY = "sk-very-secret-0417"
RIGHT = {"statements": [{"number": 1, "text": "林晓不吃牛肉。"}, {"number": 2, "text": 'Ida says "tea" to {all}.'}]}


class Statement(BaseModel):
    number: int = Field(ge=1)
    text: str = Field(min_length=1)


class Statements(BaseModel):
    statements: list[Statement]


PROMPT = Prompt("test", "en", "1", (Turn("system", "Answer with JSON."), Turn("user", "请改写。")))


@contextmanager
def served(
    answer: Answer,
    *,
    clock: Clock | None = None,
    timeout: float = 5.0,
    counted: list[ChatCall] | None = None,
    **model: object,
) -> Iterator[tuple[OpenAIChat, ScriptedModel, FakeEndpoint]]:
    scripted = ScriptedModel(answer, **model)  # type: ignore[arg-type]
    with FakeEndpoint(chat=scripted) as endpoint:
        options = ChatOptions(endpoint.base_url, KEY, "small", timeout=timeout)
        chat = OpenAIChat(
            dict.fromkeys(("rewrite", "merge"), options),
            clock or SystemClock(),
            ([] if counted is None else counted).append,
        )
        try:
            yield chat, scripted, endpoint
        finally:
            chat.close()


def ask(chat: OpenAIChat, role: Role = "rewrite") -> Statements:
    return chat.answer(role, PROMPT, Statements).value


def error_of(chat: OpenAIChat) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(chat)
    assert KEY not in repr(caught.value)
    assert "127.0.0.1" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return caught.value


# ---- answers


def test_a_structured_answer_comes_with_what_it_took(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), served(lambda _: RIGHT) as (chat, model, endpoint):
        answer = chat.answer("rewrite", PROMPT, Statements)
    assert answer.value.model_dump() == RIGHT
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (100, 20)
    assert answer.usage.seconds > 0
    assert (answer.model, answer.repaired) == ("small", False)
    (asked,) = model.asked
    assert (asked.mode, asked.shape) == ("json_schema", "Statements")
    assert asked.body["model"] == "small"
    assert asked.body["max_tokens"] == 4096
    schema = asked.body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["statements"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["statements"]["items"]["required"] == ["number", "text"]
    assert "$" not in str(schema)
    assert endpoint.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in caplog.text


@pytest.mark.parametrize("fault", HARMLESS.values(), ids=HARMLESS)
def test_what_stands_around_an_answer_is_passed_over(fault: Fault) -> None:
    """P90: prose, code fences, thoughts and wrappings around the JSON."""
    with served(lambda _: fault(json.dumps(RIGHT, ensure_ascii=False))) as (chat, _, _):
        assert ask(chat).model_dump() == RIGHT


@pytest.mark.parametrize("fault", UNUSABLE.values(), ids=UNUSABLE)
def test_no_answer_is_an_error_and_never_an_empty_one(fault: Fault) -> None:
    """P37, P92: nothing, null, a list, something else, half an answer: asked for again, not taken for "no facts"."""
    with served(lambda _: fault(json.dumps(RIGHT, ensure_ascii=False))) as (chat, model, _):
        error = error_of(chat)
        assert isinstance(error, UnusableAnswerError)
        assert error.violations or error.kind == "refused"
        assert len(model.asked) == 1
        assert chat.troubles() == ()  # it does answer


def test_a_first_answer_that_is_broken_and_a_second_that_is_not() -> None:
    """P37: with what was wrong and what it wrote, the model is asked again, and its answer is there."""
    answers = iter(['{"statements": [{"number": 1, "te', RIGHT])
    with served(lambda _: next(answers)) as (chat, model, _):
        with pytest.raises(UnusableAnswerError) as caught:
            ask(chat)
        correction = Prompt("test.retry", "en", "1", (Turn("user", " ".join(caught.value.violations)),))
        again = PROMPT.again(caught.value.wrote, correction)
        assert chat.answer("rewrite", again, Statements).value.model_dump() == RIGHT
    roles = [message["role"] for message in model.asked[1].messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_after_an_empty_answer_the_correction_joins_the_question() -> None:
    again = PROMPT.again(" ", Prompt("test.retry", "en", "1", (Turn("user", "Answer."),)))
    assert [turn.role for turn in again.turns] == ["system", "user"]
    assert again.turns[1].content == "请改写。\n\nAnswer."


# ---- servers that understand less


@pytest.mark.parametrize(("modes", "mode"), [(("json_object", "text"), "json_object"), (("text",), "text")])
def test_a_weak_server_is_asked_as_it_understands_and_that_is_remembered(modes: tuple[str, ...], mode: str) -> None:
    with served(lambda _: RIGHT, modes=modes) as (chat, model, _):
        assert ask(chat).model_dump() == RIGHT
        assert model.asked[-1].mode == mode
        assert "JSON Schema: {" in model.asked[-1].system
        refused = len(model.asked) - 1
        assert ask(chat, "merge").model_dump() == RIGHT  # another role at the same endpoint
        assert len(model.asked) == refused + 2
        model.modes = ("json_schema",)  # a newer version of the server
        assert ask(chat).model_dump() == RIGHT
        assert ask(chat).model_dump() == RIGHT
        assert [asked.mode for asked in model.asked[-2:]] == ["json_schema", "json_schema"]


def test_parameters_that_a_model_does_not_know_are_left_out() -> None:
    with served(lambda _: RIGHT, refuses=("max_tokens", "temperature")) as (chat, model, _):
        assert ask(chat).model_dump() == RIGHT
        assert model.asked[-1].body["max_completion_tokens"] == 4096
        assert "temperature" not in model.asked[-1].body
        asked = len(model.asked)
        ask(chat)
        assert len(model.asked) == asked + 1


def test_a_model_without_a_system_role_reads_its_instructions_from_the_user() -> None:
    def answer(asked: ChatAsked) -> object:
        return failing(400, "System role not supported by this template") if asked.system else RIGHT

    with served(answer) as (chat, model, _):
        assert ask(chat).model_dump() == RIGHT
        assert model.asked[-1].last == "Answer with JSON.\n\n请改写。"


def test_a_server_that_takes_a_schema_and_never_keeps_to_it_is_asked_otherwise() -> None:
    def answer(asked: ChatAsked) -> object:
        return "" if asked.mode == "json_schema" else RIGHT

    with served(answer) as (chat, model, _):
        for _ in range(3):
            with pytest.raises(UnusableAnswerError):
                ask(chat)
        assert ask(chat).model_dump() == RIGHT
        assert model.asked[-1].mode == "json_object"


def test_a_request_that_is_too_long_is_not_asked_again_in_other_words() -> None:
    with served(lambda _: failing(400, "too long", code="context_length_exceeded")) as (chat, model, _):
        error = error_of(chat)
        assert isinstance(error, PermanentModelError)
        assert not isinstance(error, ModelSettingsError)
        assert len(model.asked) == 1


def test_a_request_that_is_refused_in_every_wording_is_refused_for_good() -> None:
    with served(lambda _: failing(400, "no")) as (chat, model, _):
        assert isinstance(error_of(chat), PermanentModelError)
        assert [asked.mode for asked in model.asked] == ["json_schema", "json_object", "text"]
        assert chat.troubles() == ()


# ---- outages


@pytest.mark.parametrize("fault", OUTAGES.values(), ids=OUTAGES)
def test_an_outage_can_be_waited_for(fault: Fault) -> None:
    with served(lambda _: fault("")) as (chat, model, _):
        assert isinstance(error_of(chat), RetryableModelError)
        assert len(model.asked) == 1
        model.answer = lambda _: RIGHT
        assert ask(chat).model_dump() == RIGHT  # one failure is no outage


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_wrong_settings_say_what_to_correct(status: int) -> None:
    with served(lambda _: failing(status, f"key {KEY} is wrong")) as (chat, model, _):
        error = error_of(chat)
        assert isinstance(error, ModelSettingsError)
        assert "check" in str(error)
        assert str(error_of(chat)) == str(error)  # without asking
        assert len(model.asked) == 1
        (trouble,) = chat.troubles()
        assert trouble.roles == ("rewrite", "merge")
        assert trouble.reason == str(error)


@pytest.mark.parametrize(
    "said",
    [
        "Invalid model name passed in model=small",
        "model 'small' not found, try pulling it first",
        "The model `small` does not exist or you do not have access to it.",
        "* GenerateContentRequest.model: unexpected model name format",
    ],
)
def test_a_model_that_a_server_does_not_know_is_a_setting_also_where_it_answers_400(said: str) -> None:
    with served(lambda _: failing(400, said)) as (chat, model, _):
        error = error_of(chat)
        assert isinstance(error, ModelSettingsError)
        assert "check base_url and model" in str(error)
        asked = len(model.asked)
        error_of(chat)
        assert len(model.asked) == asked  # no job asks for nothing again


def test_a_server_may_say_how_long_to_stay_away_and_is_left_alone_for_so_long() -> None:
    clock = FixedClock(SystemClock().now())
    with served(lambda _: failing(429, retry_after="30"), clock=clock) as (chat, model, _):
        error = error_of(chat)
        assert isinstance(error, RetryableModelError)
        assert error.retry_after == 30.0
        clock.advance(seconds=10)
        again = error_of(chat)
        assert isinstance(again, RetryableModelError)
        assert again.retry_after == 20.0
        assert len(model.asked) == 1
        model.answer = lambda _: RIGHT
        clock.advance(seconds=20)
        assert ask(chat).model_dump() == RIGHT
        assert chat.troubles() == ()


def test_the_time_to_stay_away_may_be_a_date() -> None:
    until = format_datetime(SystemClock().now().astimezone(UTC) + timedelta(seconds=90), usegmt=True)
    with served(lambda _: failing(503, retry_after=until)) as (chat, _, _):
        error = error_of(chat)
        assert isinstance(error, RetryableModelError)
        assert error.retry_after is not None
        assert 85 < error.retry_after <= 90


def test_a_thousand_calls_do_not_each_wait_for_a_dead_endpoint() -> None:
    """P32: an outage is remembered, and one call at a time finds out whether it is over."""
    clock = FixedClock(SystemClock().now())
    with served(lambda _: failing(503), clock=clock) as (chat, model, _):
        for _ in range(1000):
            assert isinstance(error_of(chat), RetryableModelError)
        assert len(model.asked) == 3
        clock.advance(seconds=2)
        for _ in range(10):
            error_of(chat)
        assert len(model.asked) == 4
        model.answer = lambda _: RIGHT
        error_of(chat)
        clock.advance(seconds=4)
        assert ask(chat).model_dump() == RIGHT


def test_while_one_call_probes_the_others_do_not_wait() -> None:
    clock, held, arrived = FixedClock(SystemClock().now()), threading.Event(), threading.Event()

    def answer(_: ChatAsked) -> object:
        arrived.set()
        held.wait(10)
        return RIGHT

    with served(lambda _: failing(429, retry_after="5"), clock=clock) as (chat, model, _):
        error_of(chat)
        model.answer = answer
        clock.advance(seconds=5)
        found: list[Statements] = []
        probe = threading.Thread(target=lambda: found.append(ask(chat)))
        probe.start()
        assert arrived.wait(10)
        assert isinstance(error_of(chat), RetryableModelError)
        held.set()
        probe.join()
        assert found[0].model_dump() == RIGHT
        assert ask(chat).model_dump() == RIGHT


def test_a_refused_connection_is_an_outage_that_says_what_to_check() -> None:
    with FakeEndpoint() as endpoint:
        gone = endpoint.base_url
    chat = OpenAIChat({"rewrite": ChatOptions(gone, KEY, "small")}, SystemClock(), [].append)
    error = error_of(chat)
    assert isinstance(error, RetryableModelError)
    assert "check that it runs and base_url" in str(error)
    chat.close()


@pytest.mark.parametrize("how", ["silent", "dripping"])
def test_an_endpoint_that_takes_too_long_is_given_up(how: str) -> None:
    """P32: also one that sends a byte now and then, which starts the library's own time-out anew each time."""
    done = threading.Event()
    body = b" " * 10_000
    reply = Reply(200, body, hold=done) if how == "silent" else Reply(200, body, drip=done)
    with served(lambda _: RIGHT, timeout=0.4) as (chat, _, endpoint):
        endpoint.script(reply)
        begun = time.monotonic()
        error = error_of(chat)
        took = time.monotonic() - begun
        done.set()
    assert isinstance(error, RetryableModelError)
    assert "in time" in str(error)
    assert took < 5


def test_an_endless_answer_is_given_up() -> None:
    with served(lambda _: Reply(200, b'{"a":"' + b"x" * (17 * 1024 * 1024) + b'"}'), timeout=30) as (chat, _, _):
        assert isinstance(error_of(chat), RetryableModelError)


def test_many_threads_may_ask_at_once() -> None:
    """P21."""
    with served(lambda asked: RIGHT) as (chat, model, _):
        found: list[Statements] = []
        threads = [threading.Thread(target=lambda: found.append(ask(chat))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == len(model.asked) == 20


def test_every_call_is_counted_with_its_outcome_and_those_that_were_spared_are_not() -> None:
    answers = iter([RIGHT, "", failing(400), failing(400), failing(400), failing(429, retry_after="60")])
    counted: list[ChatCall] = []
    with served(lambda _: next(answers), counted=counted) as (chat, _, _):
        ask(chat)
        for _ in range(5):
            error_of(chat)
    assert [call.outcome for call in counted] == ["answered", "unusable", "rejected", "outage"]
    assert [call.usage.prompt_tokens for call in counted] == [100, 100, 0, 0]
    assert all(call.usage.seconds > 0 and call.model == "small" and call.role == "rewrite" for call in counted)


# ---- conversations


FIND = ToolSpec("find", "Find messages.", {"type": "object", "properties": {"query": {"type": "string"}}})


def test_a_conversation_with_tools() -> None:
    def answer(asked: ChatAsked) -> object:
        if asked.messages[-1]["role"] == "tool":
            return f"Found: {asked.last}"
        return Said(None, finish="tool_calls", tool_calls=[("find", {"query": "牛肉"}), ("find", '{"query": "tea"')])

    with served(answer) as (chat, model, _):
        said = [Message("system", "Recall."), Message("user", "吃牛肉吗？")]
        reply = chat.converse("rewrite", said, [FIND])
        assert reply.finish == "tools"
        assert [call.arguments for call in reply.tool_calls] == [{"query": "牛肉"}, {"query": "tea"}]
        results = [Message("tool", "不吃", tool_call_id=call.id) for call in reply.tool_calls]
        last = chat.converse("rewrite", [*said, reply.message, *results], [FIND])
    assert (last.text, last.finish, last.tool_calls) == ("Found: 不吃", "stop", ())
    assert [message["role"] for message in model.asked[1].messages] == ["system", "user", "assistant", "tool", "tool"]
    assert model.asked[1].messages[2]["tool_calls"][0]["function"]["name"] == "find"
    assert model.asked[0].body["tools"][0]["function"]["name"] == "find"
    assert "response_format" not in model.asked[0].body


def test_arguments_that_are_no_object_are_none() -> None:
    with served(lambda _: Said(None, tool_calls=[("find", "nothing at all")])) as (chat, _, _):
        (call,) = chat.converse("rewrite", [Message("user", "?")], [FIND]).tool_calls
        assert call.arguments is None
        assert call.wrote == "nothing at all"


def test_a_model_that_declines_or_is_cut_off_says_so() -> None:
    answers = iter([Said(None, refusal="No."), Said("I think", finish="length")])
    with served(lambda _: next(answers)) as (chat, _, _):
        assert chat.converse("rewrite", [Message("user", "?")]).finish == "refused"
        assert chat.converse("rewrite", [Message("user", "?")]).finish == "length"


# ---- settings


def test_a_role_without_a_model_says_which_setting_is_missing() -> None:
    with served(lambda _: RIGHT) as (chat, _, _):
        assert chat.configured("rewrite")
        assert not chat.configured("recall")
        with pytest.raises(NotConfiguredError, match=r"chat\.recall\.model"):
            chat.answer("recall", PROMPT, Statements)


def test_what_runs_here_is_not_reached_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with served(lambda _: RIGHT) as (chat, _, _):
        assert ask(chat).model_dump() == RIGHT


def test_what_the_environment_says_of_openai_goes_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, f"private-{name}")
    with served(lambda _: RIGHT) as (chat, _, endpoint):
        ask(chat)
        assert "private-" not in str(endpoint.asked[0])


def test_a_key_never_shows() -> None:
    options = ChatOptions("http://127.0.0.1:1/v1", KEY, "small")
    assert KEY not in repr(options)
    assert KEY not in repr({"rewrite": options})
