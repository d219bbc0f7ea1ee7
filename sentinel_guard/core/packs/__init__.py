"""The built-in packs (``NAME.toml`` beside this file), and the proof of a rule by its examples.

Reading the files is host/policies.py's; here stands what they are called and whether they mean what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.world import World
from sentinel_guard.core.matching import matches
from sentinel_guard.core.model import Action, Effect, Layer
from sentinel_guard.core.policy import Policy, Rule
from sentinel_guard.core.targets import Ground

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

    def __init__(self) -> None:
        self.environ: Mapping[str, str] = {"HOME": HOME, "PATH": "/usr/bin:/bin", "PWD": ROOT, "USER": "user"}

    def resolve(self, path: str) -> str:
        return paths.normal(path)

    def kind(self, path: str) -> str:
        path = paths.normal(path)
        if path.startswith(_DEVICES):
            return "device"
        return "dir" if path in _FOLDERS else "file" if path in _FILES else ""

    def glob(self, pattern: str) -> tuple[str, ...]:
        wanted = paths.normal(pattern).strip("/").split("/")
        return tuple(p for p in sorted(_FOLDERS | _FILES) if p != "/" and _like(p.strip("/").split("/"), wanted))

    def read(self, path: str) -> str | None:  # noqa: ARG002 - World's
        return None

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


def example(text: str, analyse: Analyse) -> tuple[Effect, ...]:
    """What an example would do, run by a shell at the top of the repository."""
    action = Action("example", "", Layer.CLI, "shell", {"command": text}, ROOT, 0.0, ROOT)
    return tuple(analyse(action, ExampleWorld()))


def validate(rules: Iterable[Rule], analyse: Analyse, policy: Policy | None = None) -> list[Problem]:
    """Runs every rule's examples through the analysis: each ``hit`` must match the rule, each ``miss`` must not."""
    ground = Ground(policy or Policy(), ROOT, HOME)
    return [problem for rule in rules for problem in _problems(rule, analyse, ground)]


def _problems(rule: Rule, analyse: Analyse, ground: Ground) -> Iterator[Problem]:
    for texts, wanted in ((rule.hit, True), (rule.miss, False)):
        for text in texts:
            if any(matches(rule, e, ground) for e in example(text, analyse)) is not wanted:
                what = "hit {!r} does not match" if wanted else "miss {!r} matches"
                yield Problem(rule.id, f"{rule.source}: rule {rule.id}: its {what.format(text)}.")
