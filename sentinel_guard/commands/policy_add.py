"""``sentinel-guard policy add``: adds a rule to a policy file, once its examples pass.

Rules of this file:
1. A rule is written only when each hit matches it, no miss does, and its way out passes the guard.
2. Honest commands that it would newly stop are named first; they need a ``--yes``.
3. What a person wrote stays byte for byte: the rule goes to the end of the file, the file is written aside and renamed.
4. Never from inside a guarded session: the policy is the user's.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentinel_guard.commands import require_human
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.policy import file_schema, rule_from_example
from sentinel_guard.core.policy.file_schema import Layer, Lines
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Policy, Rule
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.verify_policy import Prover
from sentinel_guard.errors import ConfigError
from sentinel_guard.host import policy_files
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.machine.state_paths import StatePaths

SHOWN = 8
"""Honest commands that are named."""
_ORDER = (
    *("id", "program", "subcommand", "any_flag", "all_flags", "no_flag", "operand", "effect", "target", "not_target"),
    *("how", "no_how", "response", "action", "risk", "why", "instead", "hit", "miss"),
)
_FROM_COMMAND = ("program", "subcommand", "any_flag", "all_flags", "no_flag", "operand")
_OPTIONS = {"id": "--id", "response": "--response", "why": "--why", "hit": "--hit", "miss": "--miss"}
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person gave: the keys of the rule, and how it is to be taken."""

    keys: Mapping[str, object]
    """By key of a rule; texts and lists of texts, what was not given left out."""
    example: str = ""
    """One command to take the rest from."""
    user: bool = False
    """Into the user's own file."""
    yes: bool = False
    """Honest commands may be stopped."""
    dry_run: bool = False


def add(places: StatePaths, folder: Path, asked: Asked) -> int:
    """Proves the rule and appends it to the project's sentinel.toml, or the user's; says what it did.

    Raises ConfigError for a rule that is not complete, not proved, or there already; HostError outside of a
    repository; SentinelError from inside a session.
    """
    root = None if asked.user else commit_contents.top(folder)
    path = places.policy if root is None else root / policy_files.NAME
    keys, notes = _keys(asked)
    rule, policy = _rule(keys, path), _policy(places, path)
    _refuse_double(rule, policy)
    _prove(rule, policy)
    print(visible(_toml(keys), keep="\n"))
    print("".join(f"Note: {visible(note)}\n" for note in notes), end="")
    if found := Prover(policy, analyse).stopping(rule.hit[0]):
        print(
            f"Note: {visible(rule.hit[0])} is stopped already ({found.rule or found.check}: {found.response.word}).\n"
        )
    if not _agreed(rule, policy, yes=asked.yes):
        return 1
    if asked.dry_run:
        print(f"It holds. Nothing was written; without --dry-run it goes to {path}.")
        return 0
    require_human.require_human(places, root, "From inside a guarded session the policy is not changed.")
    _write(places, path, keys)
    print(f"Wrote {rule.id} to {path}. Its examples hold ({len(rule.hit)} hit, {len(rule.miss)} miss).")
    print(f"Next: sentinel-guard check --explain -- {visible(shlex.quote(rule.hit[0]))}")
    return 0


def _keys(asked: Asked) -> tuple[dict[str, object], tuple[str, ...]]:
    """The rule's keys in their order, as TOML holds them. Raises ConfigError that names what is missing."""
    keys, notes = dict(asked.keys), tuple[str, ...]()
    prefix = "user" if asked.user else "project"
    if asked.example:
        drafted = rule_from_example.Draft({})
        if "effect" not in keys and "program" not in keys:
            drafted = rule_from_example.draft(asked.example, analyse)
            taken = _FROM_COMMAND if "any_flag" not in keys else [k for k in _FROM_COMMAND if k != "all_flags"]
            keys = {**{k: v for k, v in drafted.keys.items() if k in taken}, **keys}
            notes = tuple(n for n in drafted.notes if not ("--flag" in n and "any_flag" in asked.keys))
        keys["hit"] = list(dict.fromkeys((asked.example, *_list(keys.get("hit")))))
        if drafted.keys:
            harmless = rule_from_example.harmless(drafted.keys, asked.example)
            keys["miss"] = list(dict.fromkeys((*_list(keys.get("miss")), *harmless)))
        keys.setdefault("id", rule_from_example.name(keys, prefix))
    if keys.get("response") == "ask" and keys.get("id"):
        keys.setdefault("action", rule_from_example.action(str(keys["id"])))
    lacks = [option for key, option in _OPTIONS.items() if not keys.get(key)]
    if not (keys.get("program") or keys.get("effect")):
        lacks.append("--program or --effect")
    if lacks:
        hint = (
            "From an example: sentinel-guard policy add --deny 'kubectl delete ns *' --why '...'; --help has the rest."
        )
        raise ConfigError(f"A rule needs {', '.join(lacks)}.", hint)
    return {key: _flat(keys[key]) for key in _ORDER if keys.get(key)}, notes


def _list(value: object) -> Sequence[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else []


def _flat(value: object) -> object:
    """One text stands alone, several stand in a list."""
    items = _list(value)
    return items[0] if len(items) == 1 else items


def _toml(keys: Mapping[str, object]) -> str:
    return atomic_files.toml_tables({"rule": [keys]})


def _rule(keys: Mapping[str, object], path: Path) -> Rule:
    """The rule as it would be read. Raises ConfigError with every mistake."""
    return file_schema.parse({"rule": [dict(keys)]}, str(path), "").rules[0]


def _policy(places: StatePaths, path: Path) -> Policy:
    """What is in force here. Raises ConfigError where the file that is to be written is broken already."""
    own = policy_files.read(path) if path.exists() else Layer("")
    if path == places.policy:
        return merge(policy_files.builtin(), own)
    try:
        users = policy_files.read(places.policy) if places.policy.exists() else Layer("")
    except ConfigError:
        users = Layer("")
    return merge(policy_files.builtin(), users, own)


def _refuse_double(rule: Rule, policy: Policy) -> None:
    other = next((r for r in (*policy.rules, *policy_files.builtin().rules) if r.id == rule.id), None)
    if other is None:
        return
    place = other.source
    if Path(place).is_file():
        text = Path(place).read_text(encoding="utf-8", errors="replace")
        nth = [r.id for r in policy_files.read(Path(place)).rules].index(rule.id)
        place = f"{place}:{Lines(text).of('rule', 'id', nth)}"
    raise ConfigError(f"There is a rule {rule.id} already, in {place}.", "Give another --id, or edit it there.")


def _prove(rule: Rule, policy: Policy) -> None:
    proved = next(iter(Prover(replace(policy, rules=(*policy.rules, rule)), analyse).prove((rule,))))
    if proved.problems:
        words = "\n".join(problem.removeprefix(f"{rule.source}: ") for problem in proved.problems)
        raise ConfigError(words, "Nothing was written. Change the rule or its examples.")


def _agreed(rule: Rule, policy: Policy, *, yes: bool) -> bool:
    """Whether the honest commands that it would newly stop may be stopped; says which."""
    stopped = list(Prover(policy, analyse).newly_blocked(rule))
    if not stopped:
        return True
    print(f"It would stop {len(stopped)} honest commands that pass today:")
    for text, named in stopped[:SHOWN]:
        print(f"  {visible(text)}    (a miss or a way out of {named})")
    if len(stopped) > SHOWN:
        print(f"  ... and {len(stopped) - SHOWN} more")
    if not yes:
        print("Nothing was written. Make the rule narrower (--operand, --flag), or say --yes.")
    return yes


def _write(places: StatePaths, path: Path, keys: Mapping[str, object]) -> None:
    if path == places.policy:
        places.make()
    elif not path.exists():
        atomic_files.write(path, b"version = 1\n", _MODE)
    atomic_files.append_toml(path, {"rule": [keys]})
    policy_files.validate(path, limited=path != places.policy)
