"""Installing into agent hosts: what people wrote stays, a copy is kept, twice is once, and it can be undone."""

from __future__ import annotations

import argparse
import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from historian.errors import InvalidInputError, StoreError
from server.cli import make_parser
from server.commands.install import install, own_command, uninstall
from server.install import jsonc, toml_file
from server.install.hosts import HOSTS, hooks_file
from server.install.places import Places
from server.install.settings_file import changed
from server.parsers.hosting import HOSTS as OFFERED

LINUX = ("linux", {})
COMMENTED = """// my servers
{
  /* keep these */
  "servers": {
    "other": { "command": "npx", "args": ["-y", "other"], }, // behind
  },
  "inputs": [ {"id": "key", "password": true} ], // trailing
}
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "home", *LINUX)


def asked(*words: str) -> argparse.Namespace:
    return make_parser().parse_args([*words])


def entry_in(path: Path, host: str) -> Any:
    form = jsonc if HOSTS[host].form == "json" else toml_file
    return form.value_at(path.read_text("utf-8"), HOSTS[host].path)


def test_the_command_line_offers_the_hosts_that_there_are() -> None:
    assert set(OFFERED) == set(HOSTS)


@pytest.mark.parametrize(
    ("host", "platform", "environment", "expected"),
    [
        ("claude-code", "linux", {}, ".claude.json"),
        ("claude-code", "darwin", {"CLAUDE_CONFIG_DIR": "{home}/elsewhere"}, "elsewhere/.claude.json"),
        ("claude-desktop", "darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", {"APPDATA": "{home}/Roaming"}, "Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", {}, "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", {}, ".config/Claude/claude_desktop_config.json"),
        ("cursor", "win32", {}, ".cursor/mcp.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "{home}/xdg"}, "xdg/Code/User/mcp.json"),
        ("vscode", "darwin", {}, "Library/Application Support/Code/User/mcp.json"),
        ("codex", "linux", {}, ".codex/config.toml"),
        ("codex", "linux", {"CODEX_HOME": "{home}/c"}, "c/config.toml"),
    ],
)
def test_each_host_is_found_where_its_platform_keeps_it_and_starts_this_very_command(
    tmp_path: Path, host: str, platform: str, environment: dict[str, str], expected: str
) -> None:
    there = Places(tmp_path, platform, {name: value.format(home=tmp_path) for name, value in environment.items()})
    assert install(asked("install", host, "--user", "mira", "--group", "a", "--group", "b"), there) == 0
    entry = entry_in(tmp_path / expected, host)
    assert entry["command"] == own_command()
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["serve", "--user", "mira", "--group", "a", "--group", "b"]
    assert entry["env"] == {"PYTHONPATH": ""}
    assert entry.get("type") == ("stdio" if host in ("claude-code", "vscode") else None)


@pytest.mark.parametrize("host", [*HOSTS])
def test_twice_is_once_and_uninstalling_gives_back_what_was_there(
    places: Places, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = HOSTS[host].file(places)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = (
        '# mine\nmodel = "o4"   # fast\n\n[mcp_servers.other]\ncommand = "npx"\n\n[tui]\ntheme = "暗"\n'
        if HOSTS[host].form == "toml"
        else '{\n    "theme": "暗",\n    "TABLE": {\n        "other": {"command": "npx"}\n    }\n}\n'
    )
    before = before.replace("TABLE", HOSTS[host].table)
    path.write_text(before, "utf-8")
    path.chmod(0o640)
    install(asked("install", host), places)
    once = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (backup,) = path.parent.glob("*.bak")
    assert backup.read_text("utf-8") == before
    capsys.readouterr()
    install(asked("install", host), places)
    assert "already" in capsys.readouterr().out
    assert path.read_bytes() == once
    assert len([*path.parent.glob("*.bak")]) == 1
    uninstall(asked("uninstall", host), places)
    assert path.read_text("utf-8") == before
    uninstall(asked("uninstall", host), places)
    assert "does not know" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    ("flags", "environment", "words"),
    [
        (["--timezone", "Nowhere/X"], {}, "no time zone called 'Nowhere/X'"),
        (["--timezone", "上海"], {}, "no time zone called '上海'"),
        ([], {"SHIGUAN_TIMEZONE": "Mars"}, "no time zone called 'Mars'"),
        (["--toolsets", "bogus"], {}, "no toolset 'bogus'"),
        (["--toolsets", "host,工具"], {}, "no toolset '工具'"),
        ([], {"SHIGUAN_TOOLSETS": '["admin", "bogus"]'}, "no toolset 'bogus'"),
        (["--user", "a\0b"], {}, "user"),
        (["--group", "x" * 2000], {}, "group"),
    ],
)
def test_what_the_server_could_not_start_with_is_refused_before_anything_is_written(
    tmp_path: Path, flags: list[str], environment: dict[str, str], words: str
) -> None:
    there = Places(tmp_path / "home", "linux", environment)
    for host in HOSTS:
        for more in ([], ["--dry-run"]):
            with pytest.raises(InvalidInputError, match=re.escape(words)) as refused:
                install(asked("install", host, *flags, *more), there)
            assert "\n" not in str(refused.value)
    assert not [*tmp_path.rglob("*")]


def test_what_cannot_be_installed_can_be_uninstalled_all_the_same(tmp_path: Path) -> None:
    there = Places(tmp_path / "home", "linux", {"SHIGUAN_TIMEZONE": "Mars", "SHIGUAN_TOOLSETS": "bogus"})
    assert uninstall(asked("uninstall", "codex"), there) == 0


def test_other_flags_take_the_place_of_earlier_ones(places: Places) -> None:
    for flags in (["--user", "a"], ["--data-dir", "rel", "--toolsets", "evidence,host"]):
        install(asked("install", "codex", *flags), places)
    entry = entry_in(HOSTS["codex"].file(places), "codex")
    assert entry["args"] == ["serve", "--data-dir", str(Path("rel").absolute()), "--toolsets", "evidence,host"]
    document = tomllib.loads(HOSTS["codex"].file(places).read_text("utf-8"))
    assert document == {"mcp_servers": {"shiguan": entry}}


def test_comments_commas_order_marks_and_line_ends_of_people_stay(places: Places) -> None:
    path = HOSTS["vscode"].file(places)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xef\xbb\xbf" + COMMENTED.replace("\n", "\r\n").encode())
    install(asked("install", "vscode"), places)
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf// my servers\r\n")
    assert data.count(b"\r\n") == data.count(b"\n")
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    for kept in (
        "// my servers",
        "/* keep these */",
        '"other": { "command": "npx", "args": ["-y", "other"], }',
        "// t",
    ):
        assert kept in text
    assert set(jsonc.value_at(text, ("servers",))) == {"other", "shiguan"}
    uninstall(asked("uninstall", "vscode"), places)
    left = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    assert jsonc.value_at(left, ()) == jsonc.value_at(COMMENTED, ())
    assert "/* keep these */" in left


def test_a_rehearsal_shows_what_would_change_without_its_neighbours_and_changes_nothing(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    path = HOSTS["cursor"].file(places)
    path.parent.mkdir(parents=True)
    path.write_text('{"mcpServers": {}, "secret": "hunter2"\n}', "utf-8")
    before = path.read_bytes()
    install(asked("install", "cursor", "--dry-run"), places)
    out = capsys.readouterr().out
    assert str(path) in out
    assert '"shiguan"' in out
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("cursor", b"{"),
        ("cursor", b'{"a": 1} x'),
        ("cursor", b"[]"),
        ("cursor", b'{"mcpServers": []}'),
        ("cursor", b"\xff\xfe"),
        ("cursor", b'{"a": ' * 5000),
        ("codex", b"x = "),
        ("codex", b"mcp_servers = 3"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_alone(places: Places, host: str, text: bytes) -> None:
    path = HOSTS[host].file(places)
    path.parent.mkdir(parents=True)
    path.write_bytes(text)
    with pytest.raises(InvalidInputError) as refusal:
        install(asked("install", host), places)
    assert str(path) not in str(refusal.value)
    assert path.read_bytes() == text
    assert [*path.parent.iterdir()] == [path]


def test_a_link_stays_a_link_and_a_folder_is_no_settings_file(places: Places, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "mcp.json"
    target.parent.mkdir()
    target.write_text("", "utf-8")
    path = HOSTS["cursor"].file(places)
    path.parent.mkdir(parents=True)
    path.symlink_to(target)
    install(asked("install", "cursor"), places)
    assert path.is_symlink()
    assert entry_in(target, "cursor")
    with pytest.raises(InvalidInputError, match="--file"):
        install(asked("install", "cursor", "--file", str(tmp_path)), places)


def test_where_nothing_can_be_written_the_file_stays(places: Places) -> None:
    places.home.mkdir()
    (places.home / ".cursor").write_text("a file, where a folder should be")
    with pytest.raises(StoreError):
        install(asked("install", "cursor"), places)


def test_hooks_are_put_beside_those_of_others_and_taken_out_again(places: Places) -> None:
    path = hooks_file(places)
    path.parent.mkdir(parents=True)
    mine = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "model": "opus"}
    path.write_text(json.dumps(mine, indent=2) + "\n", "utf-8")
    for _ in range(2):
        install(asked("install", "claude-code", "--hooks", "--user", "mira"), places)
    found = json.loads(path.read_text("utf-8"))
    assert [len(found["hooks"][event]) for event in ("UserPromptSubmit", "Stop", "SessionEnd")] == [1, 2, 1]
    command = found["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    assert command == f"PYTHONPATH= {own_command()} hook session-end --user mira || true"
    uninstall(asked("uninstall", "claude-code"), places)
    assert json.loads(path.read_text("utf-8")) == mine
    with pytest.raises(InvalidInputError, match="claude-code"):
        install(asked("install", "cursor", "--hooks"), places)


def test_uninstalling_where_nothing_was_makes_no_file(places: Places, tmp_path: Path) -> None:
    for host in HOSTS:
        uninstall(asked("uninstall", host), places)
    assert not os.path.lexists(places.home)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(max_size=5), _json, max_size=4),
    st.sampled_from([None, 1, 2, "\t"]),
    st.lists(st.sampled_from(["a", "b", "服务", ""]), min_size=1, max_size=3),
    _json,
)
def test_whatever_stands_in_a_file_only_the_member_changes(
    document: dict[str, Any], indent: int | str | None, path: list[str], value: Any
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    try:
        made = jsonc.with_member(text, path, value)
    except InvalidInputError:
        assert not isinstance(jsonc.value_at(text, path[:-1]), dict)
        return
    expected: dict[str, Any] = json.loads(json.dumps(document))
    node = expected
    for key in path[:-1]:
        node = node.setdefault(key, {})
    node[path[-1]] = value
    assert json.loads(made) == expected == jsonc.value_at(made, ())
    assert json.loads(jsonc.with_member(made, path, value)) == expected
    del node[path[-1]]
    assert json.loads(jsonc.without_member(made, path)) == expected


def test_a_file_of_blanks_is_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(" \n", "utf-8")
    assert changed(path, "{}\n", lambda text: jsonc.with_member(text, ("a",), 1)).after == '{\n  "a": 1\n}\n'


@pytest.mark.parametrize("host", [*HOSTS])
def test_what_the_environment_says_is_written_since_a_host_does_not_pass_it_on(
    tmp_path: Path, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {
        "SHIGUAN_DATA_DIR": str(tmp_path / "a folder"),
        "SHIGUAN_USER": "second",
        "SHIGUAN_USER_ID": "mira",
        "SHIGUAN_GROUPS": '["a, b", "c"]',
        "SHIGUAN_USER_NAME": "Mira M.",
        "SHIGUAN_TIMEZONE": "Asia/Shanghai",
        "SHIGUAN_TOOLSETS": "host,admin",
        "SHIGUAN_CHAT__API_KEY": "sk-secret",
        "SHIGUAN_HOOKS": "off",
        "LANG": "C",
    }
    there = Places(tmp_path, "linux", said)
    install(asked("install", host, "--timezone", "Europe/Berlin"), there)
    assert entry_in(HOSTS[host].file(there), host)["args"] == [
        *("serve", "--data-dir", str(tmp_path / "a folder"), "--user", "mira", "--group", "a, b", "--group", "c"),
        *("--name", "Mira M.", "--timezone", "Europe/Berlin", "--toolsets", "host,admin"),
    ]
    shown = capsys.readouterr().out
    assert "Not written, and hosts do not pass it on: SHIGUAN_CHAT__API_KEY." in shown
    assert "sk-secret" not in shown + HOSTS[host].file(there).read_text("utf-8")


def test_hooks_work_on_the_folder_that_the_environment_names_too(tmp_path: Path) -> None:
    there = Places(tmp_path, "linux", {"SHIGUAN_DATA_DIR": "rel", "SHIGUAN_TOOLSETS": "host"})
    install(asked("install", "claude-code", "--hooks"), there)
    written = json.loads(hooks_file(there).read_text("utf-8"))
    for groups in written["hooks"].values():
        assert f"--data-dir {Path('rel').absolute()} ||" in groups[0]["hooks"][0]["command"]


def test_comments_around_our_table_of_toml_stay_where_they_are() -> None:
    path = ("mcp_servers", "shiguan")
    ours = '[mcp_servers.shiguan]\ncommand = "old"\n[mcp_servers.shiguan.env]\nA = "1"\n'
    head, tail = "# first\nmodel = 1\n\n", '\n# 浏览器\n[mcp_servers.browser]\ncommand = "b"\n\n# the end\n'
    changed = toml_file.with_member(head + ours + tail, path, {"command": "new"})
    assert changed.startswith(head)
    assert changed.endswith(tail)
    assert tomllib.loads(changed)["mcp_servers"]["shiguan"] == {"command": "new"}
    assert toml_file.without_member(changed, path) == head + tail
    assert toml_file.without_member(ours + "# the end\n", path) == "# the end\n"


def test_what_is_no_list_of_hooks_is_left_for_a_person_to_mend(tmp_path: Path) -> None:
    there = Places(tmp_path, "linux", {})
    file = hooks_file(there)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"hooks": {"UserPromptSubmit": "odd"}}', "utf-8")
    with pytest.raises(InvalidInputError, match="UserPromptSubmit is not a list"):
        install(asked("install", "claude-code", "--hooks"), there)
    assert file.read_text("utf-8") == '{"hooks": {"UserPromptSubmit": "odd"}}'


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "y" } }\nmodel = "x"\n',
        'mcp_servers.other.command = "y"\nmodel = "x"\n',
        'mcp_servers.shiguan.command = "old"\nmodel = "x"\n',
        '[mcp_servers]\nshiguan = { command = "old" }\nother = { command = "y" }\n',
    ],
)
def test_inline_tables_and_dotted_keys_of_toml_keep_everything_else(text: str) -> None:
    path, entry = ("mcp_servers", "shiguan"), {"command": "/x/shiguan", "env": {"PYTHONPATH": ""}}
    before = tomllib.loads(text)
    changed = toml_file.with_member(text, path, entry)
    others = {name: one for name, one in before["mcp_servers"].items() if name != "shiguan"}
    assert tomllib.loads(changed) == before | {"mcp_servers": others | {"shiguan": entry}}
    left = tomllib.loads(toml_file.without_member(changed, path))
    assert left.pop("mcp_servers", {}) == others
    assert left == {name: one for name, one in before.items() if name != "mcp_servers"}
