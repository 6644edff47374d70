"""The words and options of a command mean the same in whatever order they come."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from server import __version__
from server.cli import FAMILIES, main, make_parser
from server.toolsets import TOOLSETS


def parsed(*arguments: str) -> dict[str, object]:
    """Return what the parser makes of a command line, but for what runs it."""
    return {name: value for name, value in vars(make_parser().parse_args(arguments)).items() if name != "run"}


@pytest.mark.parametrize(
    ("command", "words", "options"),
    [
        ("queue", ["retry", "JOB"], [["--data-dir", "X"], ["--json"]]),
        ("queue", ["discard"], [["--data-dir", "X"], ["--json"]]),
        ("search", ["花生"], [["--data-dir", "X"], ["--limit", "3"]]),
        ("export", ["FOLDER"], [["--data-dir", "X"], ["--format", "markdown"]]),
        ("import", ["a.json", "b.json"], [["--data-dir", "X"], ["--dry-run"]]),
        ("owner", ["stop"], [["--data-dir", "X"], ["--json"]]),
    ],
)
def test_options_may_stand_before_between_and_behind_the_words(
    command: str, words: list[str], options: list[list[str]]
) -> None:
    first, second = options
    expected = parsed(command, *words, *first, *second)
    for places in itertools.product(range(len(words) + 1), repeat=2):
        line: list[str] = []
        for index in range(len(words) + 1):
            line += [*(first if places[0] == index else []), *(second if places[1] == index else [])]
            line += words[index : index + 1]
        assert parsed(command, *line) == expected, line


@pytest.mark.parametrize(
    "words",
    [
        ["token", "revoke", "ID"],
        ["profile", "history", "user:alice"],
        ["profile", "diff"],
        ["profile", "review", "accept", "3"],
        ["profile", "review", "list"],
    ],
)
def test_the_data_folder_may_be_named_at_any_place_of_a_command_with_actions(words: list[str]) -> None:
    expected = parsed(*words) | {"data_dir": "X"}
    for index in range(1, len(words) + 1):
        assert parsed(*words[:index], "--data-dir", "X", *words[index:]) == expected, index
    assert parsed(words[0], "--data-dir", "Y", *words[1:], "--data-dir", "X") == expected  # the nearest counts


def test_what_stands_behind_two_dashes_is_no_option() -> None:
    assert parsed("search", "--limit", "3", "--", "--data-dir")["query"] == "--data-dir"
    assert parsed("import", "--", "-a", "b")["paths"] == ["-a", "b"]


@pytest.mark.parametrize(
    "line",
    [
        ["queue"],
        ["queue", "retri"],
        ["queue", "retry", "one", "two"],
        ["queue", "--bogus", "retry"],
        ["import", "--dry-run"],
        ["search", "x", "--limit", "many"],
        ["serve", "--http", "--standalone"],
        ["token"],
        ["profile", "review", "accept"],
    ],
)
def test_what_is_wrong_stays_wrong(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        make_parser().parse_args(line)
    assert left.value.code == 2
    assert "usage: shiguan" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "usage"),
    [
        (["serve", "--bogus"], "usage: shiguan serve [-h]"),
        (["profile", "show", "--user", "mara"], "usage: shiguan profile show [-h]"),
        (["profile", "review", "list", "more"], "usage: shiguan profile review list [-h]"),
        (["token", "--bogus", "list"], "usage: shiguan token [-h]"),
        (["search", "茶", "--bogus", "--", "x"], "usage: shiguan search [-h]"),
        (["--bogus", "serve"], "usage: shiguan [-h]"),
    ],
)
def test_what_a_command_does_not_know_is_refused_with_the_usage_of_that_command(
    line: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        make_parser().parse_args(line)
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith(usage)


@pytest.mark.parametrize(
    "line", [["status", "--data", "X"], ["search", "x", "--lim", "3"], ["token", "list", "--js"], ["--vers"]]
)
def test_an_option_is_written_out(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        make_parser().parse_args(line)
    assert left.value.code == 2
    assert "usage: shiguan" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["status", "serve", "doctor", "token list", "owner stop", "restore x", "log x"])
def test_an_empty_name_of_a_data_folder_is_refused_in_a_sentence(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--data-dir", ""]) == 1
    assert capsys.readouterr().err == "shiguan: --data-dir is empty; name a folder, or leave it out.\n"


@pytest.mark.parametrize("flags", [["--port", "8000"], ["--host", "127.0.0.1"], ["--standalone", "--port", "0"]])
def test_an_address_without_http_is_refused_in_a_sentence(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--data-dir", str(tmp_path / "data"), *flags]) == 1
    assert "add --http" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_the_help_of_toolsets_names_all_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("serve", "install"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        told = capsys.readouterr().out.partition("further toolsets")[2].partition("--")[0]
        assert {name for name in TOOLSETS if name in told} == {*TOOLSETS}


def test_what_naming_a_group_does_is_told_of_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    told = {}
    for command in ("import", "export", "forget", "search", "log", "serve", "evolve"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        told[command] = " ".join(capsys.readouterr().out.partition("--group GROUP ")[2].partition("--name")[0].split())
    assert len({*told.values()}) == len(told)
    assert all(text.endswith("($SHIGUAN_GROUPS)") for text in told.values())


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        make_parser().parse_args(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"shiguan {__version__}\n"


@pytest.mark.parametrize(("names", "add"), FAMILIES)
def test_a_family_of_commands_names_just_the_commands_that_it_adds(names: Sequence[str], add: Any) -> None:
    commands = argparse.ArgumentParser().add_subparsers()
    add(commands)
    assert [*commands.choices] == [*names]


def test_an_unknown_command_is_told_all_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["remember"])
    told = capsys.readouterr().err
    assert all(name in told for names, _ in FAMILIES for name in names)


NOBODY = "~nobody-of-that-name/x"


@pytest.mark.parametrize(
    "line",
    [
        *(f"{command} --data-dir {NOBODY}" for command in ("status", "serve", "doctor", "token list", "owner stop")),
        f"install cursor --data-dir {NOBODY}",
        f"install cursor --file {NOBODY}",
        f"uninstall cursor --file {NOBODY}",
        f"backup {NOBODY}",
        f"restore {NOBODY}",
        f"hook stop --data-dir {NOBODY}",
    ],
)
def test_the_home_of_somebody_who_is_not_there_is_refused_in_a_sentence(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(line.split()) in (0, 1)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    if not line.startswith("hook"):  # which reads its host's words first
        assert (
            said.err
            == "shiguan: There is no home folder for ~nobody-of-that-name; write the path out, from its root.\n"
        )
