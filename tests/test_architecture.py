"""The house rules, enforced: layers, purity, cycles, one file a library, sizes (DESIGN sections 12 and 14)."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.layers import FILES, LAYERS, PACKAGE, SISTERS, layer, name, purpose

IMPURE = {
    "asyncio", "ctypes", "fcntl", "glob", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets",
    "select", "selectors", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile", "threading",
    "time", "uuid",
}  # fmt: skip
ASYNC_ROOMS = {"daemon", "humans"}
LIBRARIES = {
    "apprise": {"host/alert_channels.py"},
    "ahocorasick": {"core/text/aho_corasick.py"},
    "click": {name(p) for p in PACKAGE.glob("cli/*.py")} - {"cli/__init__.py", "cli/lazy_import.py"},
    "git": {"host/git/repository.py"},
    "inotify_simple": {"host/file_integrity/inotify_reader.py"},
    "re2": {"core/secrets/regex_engine.py"},
    "phonenumbers": {"core/secrets/pii/emails_and_phones.py"},
    "sqlglot": {"core/analysis/programs/databases/sql_statements.py"},
    "stdnum": {"core/secrets/pii/national_ids.py"},
    "textual": {f"commands/console/{part}.py" for part in ("console", "gate_screen", "chat_screen")},
    "tomli_w": {"host/machine/atomic_files.py"},
    "watchdog": {"host/file_integrity/file_watcher.py"},
}
MAX_FILE, MAX_FUNCTION, MAX_FOLDER = 400, 40, 25
NO_NAMES = frozenset(
    (
        "ahead", "beside", "committed", "ended", "endangered", "handed", "hiding", "leaking", "listing",
        "restoring", "restricted", "scanning", "seen", "staged", "taken", "taking", "telling", "undoing",
        "unstaged", "waiting", "watching", "wrapped", "beginnings", "deeds", "deep", "discreet", "discretion",
        "edges", "faces", "forks", "guardian", "guesses", "letters", "line", "link", "loads", "looks",
        "needles", "outside", "pieces", "pins", "pipes", "plain", "place", "proof", "readers", "rooted",
        "rounds", "shadow", "shelf", "soundness", "stage", "stand", "starts", "ways", "baselines", "metadata",
        "modes", "operators", "outcomes", "parts", "recall", "record", "refusals", "reviews", "services",
        "signals", "survey", "transactions", "unknown", "visible", "words", "worktrees",
    )
)  # fmt: skip
"""Names that no file may bear alone: participles without an object, figures of speech, words whose first meaning is
another one. A reader who saw nothing but the paths took each for something else. With its object a word is fine:
``take_baseline``, ``ended_sessions`` (docs/adr/0012-how-things-are-named.md)."""
PROJECT = PACKAGE.parent
LARGE: dict[str, str] = {
    # "room/file.py": "why it may be larger"
}
COMMANDS_THAT_RUN_THE_DAEMON = {"commands/daemon.py"}


def room(file: str) -> str:
    return file.split("/", maxsplit=1)[0].removesuffix(".py")


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imports(file: Path) -> tuple[str, ...]:
    """Modules, and the names that are imported from them."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(file)}: imports are absolute"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def ours(file: Path) -> tuple[str, ...]:
    """Files of ours that a file imports, as ``room/file.py``."""
    return tuple(_ours(file))


def _ours(file: Path) -> Iterator[str]:
    for module in imports(file):
        if module.startswith("sentinel_guard."):
            path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
            if path.exists():
                yield name(path)


def each(things: Iterable[Any], named: Callable[[Any], str]) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """One test for all of them, which says each that fails: 3,600 tests would cost more than what they look at."""

    def made(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            failed = {}
            for thing in things:
                try:
                    check(thing)
                except AssertionError as e:
                    failed[named(thing)] = str(e)
            assert not failed, "\n".join(f"{where}: {why}" for where, why in failed.items())

        test.__doc__ = check.__doc__
        return test

    return made


def below_project(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


each_file = each(FILES, name)


@each_file
def test_imports_go_down_and_sisters_do_not_know_each_other(file):
    mine = room(name(file))
    for other in ours(file):
        theirs = room(other)
        assert layer(other) <= layer(name(file)), f"{name(file)} imports {other}, whose layer is above its own"
        if mine in SISTERS:
            assert theirs == mine or theirs not in SISTERS, f"{name(file)} imports its sister {other}"
        if theirs == "daemon" and mine == "commands":
            assert name(file) in COMMANDS_THAT_RUN_THE_DAEMON


@each(LAYERS, str)
def test_every_layer_holds_files(entry):
    assert any(name(f) == entry or name(f).startswith(entry) for f in FILES) or (PACKAGE / entry).is_dir()


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


FOLDERS = Counter(p.parent for top in ("sentinel_guard", "tests", "bench") for p in (PROJECT / top).rglob("*.py"))


@each(sorted(FOLDERS), below_project)
def test_a_folder_is_taken_in_at_a_glance(folder):
    assert sum(1 for p in folder.glob("*.py") if p.name != "__init__.py") <= MAX_FOLDER


@each(sorted(p for f in FOLDERS for p in f.glob("*.py")), below_project)
def test_a_file_is_named_by_what_it_is_for(file):
    assert file.stem.removeprefix("test_") not in NO_NAMES, (
        "a noun with its object: docs/adr/0012-how-things-are-named.md"
    )


@each(sorted(PACKAGE.rglob("*.py")), name)
def test_a_module_says_in_a_sentence_what_it_is_for(file):
    assert re.search(r"\w[.:)`]+", purpose(file)), "a docstring whose first sentence a stranger understands"


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
