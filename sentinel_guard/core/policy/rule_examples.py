"""Names of the built-in rule packs (``packs/NAME.toml``), and tests of a rule by its ``hit`` and ``miss`` examples.

Reading the files is host/policy_files.py's; here stands what they are called and whether they mean what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.running_processes import Running, Selection
from sentinel_guard.core.analysis.secret_names import KINDS, may_hold_secret
from sentinel_guard.core.analysis.world import Peek, World
from sentinel_guard.core.model import Action, Effect, Layer
from sentinel_guard.core.policy.match_rules import matches
from sentinel_guard.core.policy.policy import Policy, Rule
from sentinel_guard.core.policy.target_placeholders import TargetContext

NAMES = ("defaults", "system", "git", "filesystem", "database", "cloud", "containers", "packages", "interpreters")

HOME = "/home/user"
ROOT = "/home/user/project"
"""Where every example is run: the top of a repository below a home."""

_FOLDERS = frozenset(
    "/ /bin /etc /home /home/other /srv /tmp /tmp/scratch /usr /usr/bin /usr/lib /var /var/lib/redis "
    f"{HOME} {HOME}/Documents {HOME}/other-project {HOME}/.ssh {HOME}/.cache/pip {HOME}/sibling "
    f"{ROOT} {ROOT}/.git {ROOT}/.git/objects {ROOT}/.git/refs {ROOT}/src {ROOT}/docs {ROOT}/docs/old "
    f"{ROOT}/build {ROOT}/dist {ROOT}/data {ROOT}/sub {ROOT}/sub/.git".split()
)
_FILES = frozenset(
    f"/etc/hosts /etc/passwd {HOME}/.bashrc {HOME}/.ssh/config {HOME}/notes.txt {HOME}/Documents/a.txt "
    f"{ROOT}/README.md {ROOT}/src/main.py {ROOT}/a.o {ROOT}/app.db {ROOT}/app.db-wal {ROOT}/app.log "
    f"{ROOT}/old.sqlite {ROOT}/data/prod.sqlite3 {ROOT}/tool {ROOT}/disk.img".split()
)
_OTHER = Running(4711, "jupyter-lab", f"{HOME}/other-project", above=False)
_LINE, _PORT = f"python3 {HOME}/.local/bin/jupyter-lab --no-browser", 8888
"""A process of another project."""
_DEVICES = ("/dev/sd", "/dev/nvme", "/dev/mmcblk", "/dev/null", "/dev/zero", "/dev/tty")

Analyse = Callable[[Action, World], Iterable[Effect]]


class Problem(NamedTuple):
    """An example that does not do what its rule says."""

    rule: str
    words: str


class ExampleWorld:
    """The machine of the examples, in memory: a repository, a home, a system."""

    cut = False
    home: str = HOME
    shims: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.environ: Mapping[str, str] = {"HOME": HOME, "PATH": "/usr/bin:/bin", "PWD": ROOT, "USER": "user"}

    def resolve(self, path: str) -> str:
        return paths.normal(path)

    def kind(self, path: str) -> str:
        path = paths.normal(path)
        if path.startswith(_DEVICES):
            return "device"
        return "dir" if path in _FOLDERS else "file" if path in _FILES else ""

    def spelled(self, path: str) -> str:
        return path

    def names(self, paths: Iterable[str], top: str) -> Mapping[str, tuple[str, ...]]:  # noqa: ARG002 - World's
        return {}

    def glob(self, pattern: str) -> tuple[str, ...]:
        wanted = paths.normal(pattern).strip("/").split("/")
        return tuple(p for p in sorted(_FOLDERS | _FILES) if p != "/" and _like(p.strip("/").split("/"), wanted))

    def matters(self, path: str) -> bool:
        return may_hold_secret(path)

    def kinds_that_matter(self, folder: str) -> tuple[tuple[str, ...], ...]:  # noqa: ARG002 - World's
        return (KINDS,)

    def read(self, path: str) -> str | None:  # noqa: ARG002 - World's
        return None

    def peek(self, path: str) -> Peek | None:  # noqa: ARG002 - World's
        return None

    def committed(self, folder: str, name: str) -> str | None:  # noqa: ARG002 - World's
        return None

    def push(self, folder: str, remote: str, refs: Sequence[str], said: str) -> None:  # noqa: ARG002 - World's
        return None

    def engine(self, program: str, *, at_stake: bool = False) -> None:  # noqa: ARG002 - World's
        return None

    def others(self, chosen: Selection) -> tuple[Running, ...]:
        holds = all(one.holds(_OTHER.name, _LINE) for one in chosen.criteria)
        return (_OTHER,) if holds and chosen.port in (0, _PORT) else ()

    def which(self, name: str) -> str:
        return f"/usr/bin/{name}"


def _like(parts: list[str], wanted: list[str]) -> bool:
    """Whether a path is what a glob names: ``**`` is any depth, a hidden name is named by a dot."""
    if not parts or not wanted:
        return not parts and wanted in ([], ["**"])
    if wanted[0] == "**":
        return _like(parts, wanted[1:]) or _like(parts[1:], wanted)
    hidden = parts[0].startswith(".") and not wanted[0].startswith(".")
    return not hidden and fnmatchcase(parts[0], wanted[0]) and _like(parts[1:], wanted[1:])


def example(text: str, analyse: Analyse, world: World | None = None) -> tuple[Effect, ...]:
    """What an example would do, run by a shell at the top of the repository, on a terminal of the agent's own."""
    action = Action("example", "", Layer.CLI, "shell", {"command": text}, ROOT, 0.0, ROOT, typed=True)
    return tuple(analyse(action, world or ExampleWorld()))


def validate(rules: Iterable[Rule], analyse: Analyse, policy: Policy | None = None) -> list[Problem]:
    """Runs every rule's examples through the analysis: each ``hit`` must match the rule, each ``miss`` must not."""
    where = ground(policy or Policy())
    return [problem for rule in rules for problem in _problems(rule, analyse, where)]


def ground(policy: Policy) -> TargetContext:
    """What the names in a rule's targets stand for in the world of the examples."""
    return TargetContext(policy, ROOT, HOME)


def _problems(rule: Rule, analyse: Analyse, where: TargetContext) -> Iterator[Problem]:
    for texts, wanted in ((rule.hit, True), (rule.miss, False)):
        for text in texts:
            effects = example(text, analyse)
            if any(matches(rule, e, where) for e in effects) is not wanted:
                why = _because(rule, effects, where) if wanted else ""
                what = f"hit {text!r} does not match: {why}" if wanted else f"miss {text!r} matches"
                yield Problem(rule.id, f"{rule.source}: rule {rule.id}: its {what}.")


_KEYS = ("program", "subcommand", "any_flag", "all_flags", "no_flag", "operand")
_EFFECT_KEYS = ("target", "not_target", "how", "no_how", "sure", "effect")
"""The widest last: without its kind, an effect's other keys say nothing."""


def _because(rule: Rule, effects: tuple[Effect, ...], where: TargetContext) -> str:
    """Why no effect meets a rule: the key that alone stands in the way, and what the command has there."""
    blank = Rule("", rule.response, "")
    given = [key for key in (*_KEYS, *_EFFECT_KEYS) if getattr(rule, key) != getattr(blank, key)]
    for key in given:
        without = _EFFECT_KEYS if key == "effect" else (key,)
        looser = replace(rule, **{name: getattr(blank, name) for name in without})
        if near := [e for e in effects if matches(looser, e, where)]:
            return f"{key} is {_words(getattr(rule, key))}, and the command has {_seen(key, near)}"
    seen = "; ".join(dict.fromkeys(" ".join(e.command.argv) for e in effects if e.command))
    return f"{', '.join(given)} do not fit together on any command of it ({seen or 'none was found'})"


def _seen(key: str, effects: list[Effect]) -> str:
    """What stands in the place of a key."""
    commands = [e.command for e in effects if e.command]
    found: Iterable[str] = (flag for c in commands for flag in sorted(c.flags))
    if key in ("program", "subcommand"):
        found = (getattr(c, key) for c in commands)
    elif key == "operand":
        found = (word for c in commands for word in c.operands)
    elif key in _EFFECT_KEYS:
        found = (word for e in effects for word in _of_effect(key, e))
    return _words(tuple(dict.fromkeys(word for word in found if word)))


def _of_effect(key: str, effect: Effect) -> Iterable[str]:
    if key in ("target", "not_target"):
        return (effect.target,)
    if key in ("how", "no_how"):
        return sorted(effect.how)
    return (effect.kind.value if key == "effect" else str(effect.sure).lower(),)


def _words(value: object) -> str:
    if isinstance(value, tuple | frozenset):
        return ", ".join(sorted(value) if isinstance(value, frozenset) else value) or "none"
    return str(value).lower()
