"""The house rules, enforced: layers, purity, cycles, one file a library, sizes (DESIGN sections 12 and 14)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "sentinel_guard"
FILES = sorted(p for p in PACKAGE.rglob("*.py") if p.name != "__init__.py")
ROOMS = {
    "errors": 0,
    "core": 1,
    "agents": 2,
    "audit": 2,
    "humans": 2,
    "host": 2,
    "daemon": 3,
    "client": 4,
    "doctor": 4,
    "commands": 5,
    "faces": 5,
    "cli": 6,
    "__main__": 7,
}
SISTERS = {"agents", "audit", "humans", "host"}
IMPURE = {
    "asyncio", "ctypes", "fcntl", "glob", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets",
    "select", "selectors", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile", "threading",
    "time", "uuid",
}  # fmt: skip
ASYNC_ROOMS = {"daemon", "humans"}
LIBRARIES = {
    "ahocorasick": {"core/secrets/aho_corasick.py"},
    "click": {f"cli/{name}.py" for name in ("incidents", "main", "policy", "secrets", "snapshots")},
    "git": {"host/git/repository.py"},
    "inotify_simple": {"host/file_integrity/inotify_reader.py"},
    "re2": {"core/secrets/regex_engine.py"},
    "phonenumbers": {"core/secrets/pii/emails_and_phones.py"},
    "sqlglot": {"core/analysis/programs/databases/sql_statements.py"},
    "stdnum": {"core/secrets/pii/national_ids.py"},
    "tomli_w": {"host/machine/atomic_files.py"},
    "watchdog": {"host/file_integrity/file_watcher.py"},
}
MAX_FILE, MAX_FUNCTION = 400, 40
LARGE: dict[str, str] = {
    # "room/file.py": "why it may be larger"
}
COMMANDS_THAT_RUN_THE_DAEMON = {"commands/daemon.py"}


def name(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def room(file: str) -> str:
    return file.split("/", maxsplit=1)[0].removesuffix(".py")


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(file: Path) -> Iterator[str]:
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(file)}: imports are absolute"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(file: Path) -> Iterator[str]:
    """Files of ours that a file imports, as ``room/file.py``."""
    for module in imports(file):
        if module.startswith("sentinel_guard."):
            path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
            if path.exists():
                yield name(path)


each_file = pytest.mark.parametrize("file", FILES, ids=name)


@each_file
def test_imports_go_down_and_sisters_do_not_know_each_other(file):
    mine = room(name(file))
    for other in ours(file):
        theirs = room(other)
        assert ROOMS[theirs] <= ROOMS[mine], f"{name(file)} imports {other}, which is above it"
        if mine in SISTERS:
            assert theirs == mine or theirs not in SISTERS, f"{name(file)} imports its sister {other}"
        if theirs == "daemon" and mine == "commands":
            assert name(file) in COMMANDS_THAT_RUN_THE_DAEMON


@each_file
def test_the_core_is_pure_and_asyncio_stays_in_its_rooms(file):
    modules = {m.split(".")[0] for m in imports(file)}
    if room(name(file)) in {"core", "agents"}:
        assert not modules & IMPURE
    if room(name(file)) not in ASYNC_ROOMS and name(file) not in COMMANDS_THAT_RUN_THE_DAEMON:
        assert "asyncio" not in modules


@each_file
def test_a_library_lives_in_one_file(file):
    for module in {m.split(".")[0] for m in imports(file)} & set(LIBRARIES):
        assert name(file) in LIBRARIES[module]


def test_there_is_no_cycle():
    graph = {name(f): set(ours(f)) for f in FILES}
    while graph:
        free = {f for f, needs in graph.items() if not needs & graph.keys() - {f}}
        assert free, f"these import each other in a circle: {sorted(graph)}"
        graph = {f: needs for f, needs in graph.items() if f not in free}


@each_file
def test_files_and_functions_are_small(file):
    lines = file.read_text(encoding="utf-8").count("\n")
    assert lines <= MAX_FILE or name(file) in LARGE
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            size = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            assert size <= MAX_FUNCTION or f"{name(file)}:{node.name}" in LARGE, f"{node.name} has {size} lines"


def test_every_exception_is_still_needed():
    known = {name(f) for f in FILES}
    assert {key.split(":")[0] for key in LARGE} <= known
    assert {f for files in LIBRARIES.values() for f in files} <= known


@pytest.mark.parametrize("family", ["core/checks", "core/secrets/formats"])
def test_a_family_is_base_members_and_registry(family):
    members = {f for f in map(name, FILES) if f.startswith(family + "/")} - {
        f"{family}/base.py",
        f"{family}/registry.py",
    }
    for member in members:
        assert f"{family}/registry.py" not in set(ours(PACKAGE / member))
    serving = {other for member in members for other in ours(PACKAGE / member)}
    assert members - serving <= set(ours(PACKAGE / family / "registry.py")), "neither registered nor used by a member"
