"""``sentinel-guard policy show | validate | test``: show the policy in force, check a file, test its rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from sentinel_guard.core.json_codec import dumps
from sentinel_guard.core.policy.agent_settings import AGENTS
from sentinel_guard.core.policy.file_schema import Layer
from sentinel_guard.core.policy.match_agent_settings import PLACEHOLDER
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.verify_policy import Proof, Prover
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host import policy_files
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.humans.styled_text import Printer, Styled
from sentinel_guard.humans.text_tables import Column, table

_ELSEWHERE = ("paths", "project")
_SECTIONS = [f.name for f in fields(Policy) if is_dataclass(getattr(Policy(), f.name)) and f.name not in _ELSEWHERE]


def show(folder: Path, *, as_json: bool = False) -> int:
    """Prints the policy in force in a folder: its sources, its warnings, every value. Exit code 1 with warnings."""
    policy = policy_files.load(places(), _root(folder))
    if as_json:
        print(dumps(_document(policy)))
    else:
        print("\n".join(visible(line, keep="\n") for line in _lines(policy)))
    return 1 if policy.warnings else 0


def validate(folder: Path, file: Path | None = None, *, as_json: bool = False) -> int:
    """Proves one policy file, or the project's and the user's. Exit code 1 and every mistake if one is wrong.

    A good file may say things that are not taken (a project only tightens): a note, exit code 0.
    """
    wanted = [file] if file else [p for p in _sources(folder) if p.exists()]
    rows = [_validated(path) for path in wanted]
    if as_json:
        print(dumps({"files": rows}))
    elif not wanted:
        print("There is no policy file here; the built-in policy is in force.")
    else:
        for row in rows:
            note = "".join(f"\n  note: {said}" for said in row["notes"])
            print(f"{row['path']}: good{note}" if row["good"] else row["mistakes"])
    return 0 if all(row["good"] for row in rows) else 1


def _validated(path: Path) -> dict[str, Any]:
    """What is to be said of one policy file."""
    try:
        layer = policy_files.validate(path, limited=path.absolute() != places().policy)
    except ConfigError as e:
        return {"path": str(path), "good": False, "mistakes": str(e), "notes": []}
    return {"path": str(path), "good": True, "mistakes": "", "notes": [*map(visible, _not_taken(path, layer))]}


def test(folder: Path, file: Path | None, *, as_json: bool) -> int:
    """Tries every example of every rule in force here, or of one file: a table by place, and each failure in words.

    Each hit must match its rule, no miss may, and what a rule says to do instead must pass the guard. Exit code 1
    where something does not hold.
    """
    from sentinel_guard.core.analysis.analyse import analyse  # noqa: PLC0415 - slow to import, and show waits

    user, project, broken = _layers(folder, file)
    policy = merge(policy_files.builtin(), user, project)
    rules = [r for r in policy.rules if file is None or r.source == str(file)]
    proofs = list(Prover(policy, analyse).prove(rules))
    if as_json:
        rows = [{"id": p.rule.id, "source": p.rule.source, "problems": [*p.problems]} for p in proofs]
        print(dumps({"rules": rows, "broken": broken}))
        return 1 if broken or any(p.problems for p in proofs) else 0
    printer = Printer()
    printer.lines(_table(proofs, printer.width))
    said = [*broken, *(words for proof in proofs for words in proof.problems)]
    for words in said:
        (printer.put if printer.terminal else printer.whole)(f"\n{visible(words, keep=chr(10))}")
    print("\nAll hold." if not said else f"\n{len(said)} {'does' if len(said) == 1 else 'do'} not hold.")
    return 1 if said else 0


def _layers(folder: Path, file: Path | None) -> tuple[Layer, Layer, list[str]]:
    """The user's layer, the project's (or one file's in its place), and what is wrong with a file."""
    users, broken = places().policy, list[str]()
    if file and file.absolute() == users:
        return _read(file, broken), Layer(""), broken
    project = file or Path(_root(folder) or folder) / policy_files.NAME
    return (
        _read(users, broken) if users.exists() else Layer(""),
        _read(project, broken) if file or project.exists() else Layer(""),
        broken,
    )


def _read(path: Path, broken: list[str]) -> Layer:
    try:
        return policy_files.read(path)
    except ConfigError as e:
        broken.append(str(e))
        return Layer("")


def _table(proofs: Iterable[Proof], width: int) -> Iterator[Styled]:
    numbers = [Column(name, right=True) for name in ("rules", "hits", "misses", "ways out")]
    rows = list[list[str | Styled]]()
    for source, found in groupby(proofs, lambda proof: proof.rule.source):
        mine = list(found)
        counts = [sum(len(getattr(p.rule, key)) for p in mine) for key in ("hit", "miss")]
        out, wrong = sum(bool(p.rule.instead) for p in mine), sum(bool(p.problems) for p in mine)
        said = Styled.of((f"{wrong} fail", "red") if wrong else ("good", "green"))
        rows.append([visible(source), str(len(mine)), *map(str, counts), str(out), said])
    return table([Column(folds=True), *numbers, Column()], rows, width, gap=2)


def _not_taken(path: Path, layer: Layer) -> tuple[str, ...]:
    """What of a good file would not be in force: what the merge with the layers below it says."""
    users = places().policy
    if path.absolute() == users:
        return merge(policy_files.builtin(), layer).warnings
    try:
        below = policy_files.validate(users) if users.exists() else Layer("")
    except ConfigError:
        below = Layer("")
    known = merge(policy_files.builtin(), below).warnings
    return tuple(w for w in merge(policy_files.builtin(), below, layer).warnings if w not in known)


def _sources(folder: Path) -> list[Path]:
    root = _root(folder)
    return [places().policy, *([Path(root) / policy_files.NAME] if root else [])]


def _root(folder: Path) -> str:
    """The repository's top; empty outside of one, where the user's policy and the built-in one are in force."""
    try:
        return str(commit_contents.top(folder))
    except HostError:
        return ""


def _document(policy: Policy) -> dict[str, object]:
    """The policy in force: every setting by its section, every rule with its place."""
    tables = {"paths": policy.paths, **{section: getattr(policy, section) for section in _SECTIONS}}
    settings = [
        {"section": section, "key": f.name, "value": getattr(value, f.name)}
        for section, value in tables.items()
        for f in fields(value)
    ]
    settings += [{"section": "confirm", "key": name, "value": patterns} for name, patterns in policy.confirm.items()]
    settings.append({"section": "shims", "key": "names", "value": policy.shims})
    rules = [{"id": r.id, "response": r.response.word, "why": r.why, "source": r.source} for r in policy.rules]
    return {"settings": settings, "rules": rules, "sources": [*policy.sources], "warnings": [*policy.warnings]}


def _lines(policy: Policy) -> Iterator[str]:
    yield "# built in" + "".join(f", {source}" for source in policy.sources)
    yield from (f"# WARNING: {line}" for warning in policy.warnings for line in warning.splitlines())
    yield "\n[paths]"
    yield f"restricted = {_toml(policy.paths.restricted)}"
    yield f"hidden = {_toml(policy.paths.hidden)}"
    yield f"create = {_toml(policy.paths.create)}"
    if policy.project.restricted or policy.project.hidden:
        yield f"# the project's own: restricted = {_toml(policy.project.restricted)}"
        yield f"# the project's own: hidden = {_toml(policy.project.hidden)}"
    yield f"\n[shims]\nnames = {_toml(policy.shims)}"
    yield "\n[confirm]"
    yield from (f"{name} = {_toml(patterns)}" for name, patterns in policy.confirm.items())
    for section in _SECTIONS:
        value = getattr(policy, section)
        assert is_dataclass(value)
        yield f"\n[{section}]"
        yield from (f"{f.name} = {_toml(getattr(value, f.name))}" for f in fields(value))
    yield f"\n# {len(policy.rules)} rules"
    width = max((len(r.id) for r in policy.rules), default=0)
    yield from (f"# {r.id:<{width}}  {r.response.word:<8}  {r.why}" for r in policy.rules)
    yield from _agent_settings(policy)


def _agent_settings(policy: Policy) -> Iterator[str]:
    """The files that a session watches because a rule names them (docs/watching.md)."""
    named = [rule.id for rule in policy.rules if PLACEHOLDER in rule.target]
    if not named:
        return
    yield f"\n# settings of coding agents, watched for {', '.join(named)}"
    for agent in AGENTS:
        paths = (f"{folder.folder}/{file.path}" for folder in agent.folders for file in folder.files)
        yield f"# {agent.agent}: {', '.join(paths)}"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
