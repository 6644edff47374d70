"""Settings: where they come from, which one wins, and what is said when one is wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from historian.errors import InvalidInputError, StoreError, told
from server.bare import TABLES, VARIABLES, meant_variable, token_file_name, unknown_variables
from server.settings import Settings, load_settings
from server.toolsets import TOOLSETS, published


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("SHIGUAN_")]:
        monkeypatch.delenv(name)


def load(folder: Path, toml: str = "", environment: Mapping[str, str] | None = None, /, **flags: Any) -> Settings:
    (folder / "shiguan.toml").write_text(toml, encoding="utf-8")
    return load_settings({"data_dir": folder, **flags}, environment or {})


def refused(folder: Path, toml: str = "", environment: Mapping[str, str] | None = None, /, **flags: Any) -> str:
    with pytest.raises(InvalidInputError) as caught:
        load(folder, toml, environment, **flags)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    assert str(folder) not in sentence
    assert "pydantic" not in sentence.lower()
    return sentence


# ---- which one wins


def test_a_flag_wins_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    toml = 'user = "file"\ntimezone = "Europe/Berlin"\ngroups = ["file"]\n'
    environment = {"SHIGUAN_USER_ID": "environment", "SHIGUAN_TIMEZONE": "Asia/Tokyo", "SHIGUAN_GROUPS": "environment"}
    flags = {"user": "flag", "timezone": "Asia/Shanghai", "groups": ["flag"]}

    def seen(settings: Settings) -> tuple[str, str, tuple[str, ...]]:
        return settings.user, settings.timezone, settings.groups

    assert seen(load(tmp_path, toml, environment, **flags)) == ("flag", "Asia/Shanghai", ("flag",))
    assert seen(load(tmp_path, toml, environment)) == ("environment", "Asia/Tokyo", ("environment",))
    assert seen(load(tmp_path, toml)) == ("file", "Europe/Berlin", ("file",))
    assert load(tmp_path, "", {"TZ": "Asia/Shanghai"}).timezone == "Asia/Shanghai"
    assert load(tmp_path).groups == ()


def test_tables_come_from_the_environment_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = "[query]\nauto_top_k = 5\ntool_default_top_k = 20\n[embedding]\nchunk_size = 400\n"
    assert load(tmp_path, toml).query.auto_top_k == 5
    monkeypatch.setenv("SHIGUAN_QUERY__AUTO_TOP_K", "7")
    monkeypatch.setenv("SHIGUAN_EMBEDDING__MODEL", "bge-m3")
    settings = load(tmp_path, toml)
    assert settings.query.auto_top_k == 7
    assert settings.query.tool_default_top_k == 20
    assert settings.query.profile_top_k == 8
    assert settings.embedding.model == "bge-m3"
    assert settings.embedding.chunk_size == 400
    assert settings.options.query is settings.query


def test_an_unset_flag_or_empty_variable_decides_nothing(tmp_path: Path) -> None:
    toml = 'user = "file"\ngroups = ["g"]\n'
    settings = load(tmp_path, toml, {"SHIGUAN_USER_ID": "", "SHIGUAN_GROUPS": ""}, user=None, groups=[])
    assert (settings.user, settings.groups) == ("file", ("g",))


def test_the_data_folder_comes_from_the_flag_the_environment_or_the_platform(tmp_path: Path) -> None:
    from server.bare import data_folder

    assert data_folder(tmp_path, {"SHIGUAN_DATA_DIR": "/elsewhere"}) == tmp_path
    assert data_folder(None, {"SHIGUAN_DATA_DIR": str(tmp_path)}) == tmp_path
    assert data_folder(None, {}).name == "shiguan"
    assert data_folder("relative", {}).is_absolute()


@pytest.mark.parametrize(
    "written",
    ["徒步群, hiking", '["徒步群", "hiking"]', " 徒步群 ,hiking,, 徒步群", ["徒步群", "hiking"], ("徒步群", "hiking")],
)
def test_groups_are_a_list_a_json_list_or_names_between_commas(tmp_path: Path, written: Any) -> None:
    """P97, on the command line."""
    assert load(tmp_path, groups=written).groups == ("徒步群", "hiking")
    if isinstance(written, str):
        assert load(tmp_path, "", {"SHIGUAN_GROUPS": written}).groups == ("徒步群", "hiking")


def test_a_byte_order_mark_and_chinese_in_the_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "shiguan.toml").write_bytes('user = "小明"\n'.encode("utf-8-sig"))
    assert load_settings({"data_dir": tmp_path}, {}).user == "小明"


def test_blanks_around_a_zone_do_not_reach_the_clock(tmp_path: Path) -> None:
    assert load(tmp_path, timezone=" Asia/Shanghai ").timezone == "Asia/Shanghai"


# ---- what is wrong


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ("[query]\nauto_top_k = 'many'", "query.auto_top_k"),
        ("[query]\nauto_top_k = -1", "auto_top_k"),
        ("[query]\ntime_decay_min_similarity = 2", "time_decay_min_similarity"),
        ("[query]\nnope = 1", "query.nope"),
        ("[historian]\nworkers = 0", "workers"),
        ("[queue]\njob_max_retries = 'x'", "queue.job_max_retries"),
        ("[profile]\nmax_lines = 0", "max_lines"),
        ("[context]\nmax_tokens = 1", "max_tokens"),
        ("[embedding]\nprovider = 'magic'", "embedding.provider"),
        ("[embedding]\ndimensions = -1", "embedding.dimensions"),
        ("[embedding]\napi_kee = 'sk-secret'", "embedding.api_kee"),
        ("[nonsense]\nx = 1", "nonsense"),
        ("query = 3", "query"),
        ("groups = [1, 2]", "groups"),
        ("groups = 5", "groups"),
        ("groups = {a = 1}", "groups"),
        ("toolsets = [[]]", "toolsets"),
        ("groups = '[\"a\"'", "groups"),
        ('user = "\\u0007"\n', "user"),
        ("timezone = 'Mars/Olympus'", "Mars/Olympus"),
        ("timezone = 8", "time zone"),
        ("this is no toml", "shiguan.toml"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, toml: str, named: str) -> None:
    sentence = refused(tmp_path, toml)
    assert named in sentence
    assert "sk-secret" not in sentence


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("SHIGUAN_QUERY__AUTO_TOP_K", "many", "query.auto_top_k"),
        ("SHIGUAN_QUERY__NOPE", "1", "query.nope"),
        ("SHIGUAN_EMBEDDING__TIMEOUT", "0", "embedding.timeout"),
        ("SHIGUAN_EMBEDDING", "sk-secret", "embedding"),
        ("SHIGUAN_QUERY", "[", "query"),
    ],
)
def test_a_wrong_variable_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, named: str
) -> None:
    monkeypatch.setenv(variable, value)
    sentence = refused(tmp_path)
    assert named in sentence
    assert "sk-secret" not in sentence


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ('allowed_hosts = "a.example"', 'write a list, such as ["one", "two"]'),
        ('jwt_algorithms = "RS256"', 'write a list, such as ["one", "two"]'),
        ("jwt_algorithms = []", "name at least one"),
        ('allowed_hosts = ["https://a.example"]', 'write names alone, such as ["memory.example.com"]'),
        ('allowed_origins = ["a.example"]', 'write them with their scheme, such as ["https://app.example.com"]'),
        ('public_url = "ftp://a.example/mcp"', "the endpoint, such as https://memory.example.com/mcp"),
        ('public_url = "a.example"', "the endpoint, such as https://memory.example.com/mcp"),
        ('public_url = "https://a.example"', "write the whole address of the endpoint, https://a.example/mcp"),
        (
            'public_url = "https://a.example/记忆/"',
            "write the whole address of the endpoint, https://a.example/记忆/mcp",
        ),
        ('public_url = "https://a.example/mcp/"', "write the whole address of the endpoint, https://a.example/mcp"),
    ],
)
def test_a_wrong_setting_of_the_server_says_what_to_write(tmp_path: Path, line: str, advice: str) -> None:
    sentence = refused(tmp_path, f"[server]\n{line}\n")
    assert sentence.startswith(f"The setting server.{line.partition(' ')[0]} is wrong: ")
    assert sentence.endswith(f"{advice}.")


def test_a_list_in_the_environment_is_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHIGUAN_SERVER__ALLOWED_HOSTS", '["a.example"]')
    assert load(tmp_path).server.allowed_hosts == ("a.example",)
    monkeypatch.setenv("SHIGUAN_SERVER__ALLOWED_HOSTS", "a.example")
    assert 'a list is written as ["one", "two"]' in refused(tmp_path)


def test_a_variable_that_is_no_setting_is_known_for_one() -> None:
    known = ["SHIGUAN_HOOKS", "SHIGUAN_TCP", *(f"SHIGUAN_{name.upper()}" for name in TABLES)]
    known += [name for names in VARIABLES.values() for name in names]
    wrong = ["SHIGUAN_CHATT__MODEL", "SHIGUAN_DATADIR", "SHIGUAN_USERID"]
    others = ["SHIGUAN_QUERY__AUTO_TOP_K", "SHIGUAN_QUERY__NOPE", "PATH", "XSHIGUAN_"]  # of a table each is checked
    assert unknown_variables(dict.fromkeys([*known, *wrong, *others], "1")) == wrong


def test_a_variable_that_is_near_a_setting_brings_to_mind_which() -> None:
    for wrong, meant in (
        ("SHIGUAN_DATADIR", "SHIGUAN_DATA_DIR"),
        ("SHIGUAN_CHATT__MODEL", "SHIGUAN_CHAT__MODEL"),
        ("SHIGUAN_XYZZY", None),
    ):
        assert meant_variable(wrong) == meant


@pytest.mark.parametrize(
    ("toml", "hint"),
    [
        ("timezon = 'UTC'", "there is no such setting; did you mean timezone?"),
        ("[query]\nauto_topk = 3", "there is no such setting; did you mean query.auto_top_k?"),
        ("auto_top_k = 3", "there is no such setting; did you mean query.auto_top_k?"),
        ("[servr]\nport = 1", "there is no such setting; did you mean server?"),
        ("[embedding]\napi_kee = 'sk-secret'", "there is no such setting; did you mean embedding.api_key?"),
        ("xyzzy = 1", "there is no such setting."),
        ("data_dir = '/elsewhere'", "data_dir cannot be set in the file; use --data-dir or SHIGUAN_DATA_DIR."),
    ],
)
def test_an_unknown_setting_is_refused_with_the_one_that_was_probably_meant(
    tmp_path: Path, toml: str, hint: str
) -> None:
    sentence = refused(tmp_path, toml)
    assert sentence.endswith(hint)
    assert "/elsewhere" not in sentence


def test_the_path_of_a_wrong_file_stands_beside_the_sentence_and_not_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shiguan.toml"
    for toml in ("this is no toml", "timezon = 'UTC'", "[query]\nauto_top_k = -1", "data_dir = '/x'"):
        with pytest.raises(InvalidInputError) as caught:
            load(tmp_path, toml)
        assert told(caught.value) == f"{caught.value} The path: {file}"
    monkeypatch.setenv("SHIGUAN_QUERY__NOPE", "1")
    with pytest.raises(InvalidInputError) as caught:
        load(tmp_path)
    assert told(caught.value) == str(caught.value), "it is not the file that is wrong"


def test_a_data_folder_named_by_an_unset_variable_is_refused() -> None:
    for empty in ("", " "):
        with pytest.raises(InvalidInputError, match="--data-dir is empty"):
            load_settings({"data_dir": empty}, {"SHIGUAN_DATA_DIR": "/elsewhere"})


def test_where_tokens_lie_is_read_past_whatever_else_is_wrong(tmp_path: Path) -> None:
    toml = "timezone = 8\n[server]\nport = 'many'\ntoken_file = 'file'\n"
    (tmp_path / "shiguan.toml").write_text(toml, "utf-8")
    assert token_file_name(tmp_path, {}) == "file"
    in_json = {"SHIGUAN_SERVER": '{"token_file": "令牌"}'}
    assert token_file_name(tmp_path, in_json) == "令牌"
    assert token_file_name(tmp_path, {**in_json, "SHIGUAN_SERVER__TOKEN_FILE": "one"}) == "one"
    assert token_file_name(tmp_path, {"SHIGUAN_SERVER": "["}) == "file"
    assert token_file_name(tmp_path / "new", {}) == ""
    (tmp_path / "shiguan.toml").write_text("[server]\ntoken_file = 7\n", "utf-8")
    with pytest.raises(InvalidInputError, match=r"server\.token_file is wrong"):
        token_file_name(tmp_path, {})


def test_all_settings_are_known_without_loading_them() -> None:
    assert {*TABLES, *VARIABLES} == {*Settings.model_fields}


@pytest.mark.parametrize("wrong", ["x" * 600, "a\x00b", "\ud800"])
def test_an_impossible_identity_is_refused(tmp_path: Path, wrong: str) -> None:
    assert "user" in refused(tmp_path, user=wrong)
    assert "group" in refused(tmp_path, groups=[wrong])


def test_a_file_that_is_not_utf8_is_said_to_be_no_toml(tmp_path: Path) -> None:
    (tmp_path / "shiguan.toml").write_bytes('user = "小明"'.encode("gbk"))
    with pytest.raises(InvalidInputError, match=r"shiguan\.toml cannot be read"):
        load_settings({"data_dir": tmp_path}, {})


def test_a_file_that_cannot_be_opened_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "shiguan.toml").mkdir()
    with pytest.raises(StoreError, match=r"shiguan\.toml cannot be read"):
        load_settings({"data_dir": tmp_path}, {})


# ---- toolsets


def test_an_unknown_toolset_is_answered_with_those_that_exist() -> None:
    with pytest.raises(InvalidInputError, match="There is no toolset 'magic'; the toolsets are core, ") as caught:
        published(["magic"])
    assert "host" in str(caught.value)


def test_every_toolset_that_the_sentence_names_has_tools() -> None:
    with pytest.raises(InvalidInputError) as caught:
        published(["magic"])
    named = re.findall(r"\w+", str(caught.value).partition("are")[2])
    assert named == [*TOOLSETS]
    assert all(published([name]) for name in named)


def test_a_key_never_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHIGUAN_EMBEDDING__API_KEY", "sk-secret")
    settings = load(tmp_path)
    assert settings.embedding.api_key.get_secret_value() == "sk-secret"
    for shown in (repr(settings), str(settings), settings.model_dump_json(), repr(settings.model_dump())):
        assert "sk-secret" not in shown


def test_settings_are_frozen(tmp_path: Path) -> None:
    settings = load(tmp_path)
    with pytest.raises(ValueError, match="frozen"):
        settings.user = "bob"
    with pytest.raises(AttributeError):
        settings.query.auto_top_k = 9  # type: ignore[misc]
