"""Placeholders in a rule's target (``{root}``, ``{system}``, ...): which absolute paths each of them matches.

A folder falls under ``{root} {git} {home} {system}`` when it *is* one of them or holds one: who
deletes ``/home`` deletes the home.
Nothing inside the repository (or the home) is ever ``{system}``: work is done in ``/opt/app`` and ``/root`` too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.secret_names import is_secret
from sentinel_guard.core.policy.match_agent_settings import PLACEHOLDER, is_agent_settings
from sentinel_guard.core.policy.path_patterns import Anywhere, Below
from sentinel_guard.core.policy.policy import Policy, Rule

MAX_LISTS = 512
"""Lists of patterns that are remembered."""


def _nothing_is_new(_path: str) -> bool:
    return False


class TargetContext(NamedTuple):
    """Where an action takes place: what the names stand for. Paths absolute, without a closing slash."""

    policy: Policy
    root: str = ""
    home: str = ""
    guard: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    cwd: str = ""
    new: Callable[[str], bool] = _nothing_is_new
    """Whether what is at a path is the session's own."""


SYSTEM = (
    *("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/media", "/mnt", "/opt"),
    *("/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var", "/usr/bin", "/usr/include", "/usr/lib"),
    *("/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/sbin"),
    *("/usr/share", "/usr/src", "/var/lib", "/var/lib/dpkg", "/var/lib/docker", "/var/log", "/etc/ssh", "/etc/ssl"),
    *("/etc/systemd", "/etc/pam.d", "/lib/modules", "/lib/systemd", "/usr/lib/modules", "/usr/lib/systemd"),
    *("/Applications", "/Library", "/System", "/Users", "/Volumes", "/private", "/private/etc", "/private/var"),
)
"""Folders that a system cannot be without; deleting one is an attack on it."""

_SYSTEM_TREES = (
    *("/bin/", "/boot/", "/dev/", "/etc/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/opt/", "/proc/", "/run/"),
    *("/sbin/", "/srv/", "/sys/", "/usr/", "/var/", "/Applications/", "/Library/", "/System/", "/private/etc/"),
)
_HARMLESS = Anywhere(
    (
        *("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/ptmx"),
        *("/dev/fd/*", "/dev/pts/*", "/dev/tcp/*", "/dev/udp/*", "/proc/*/fd/*", "/dev/random", "/dev/urandom"),
        *("/dev/kmsg", "/run/user/*"),
        *(f"/proc/*/{own}" for own in ("uid_map", "gid_map", "setgroups", "oom_score_adj", "comm", "coredump_filter")),
    )
)
_ACCOUNTS = Anywhere(
    (
        *("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d"),
        *("/etc/sudoers.d/*", "/etc/ld.so.preload", "/etc/pam.d/*", "/etc/security/*", "/etc/polkit-1/*"),
        *("/etc/doas.conf", "/root/.ssh/*"),
    )
)
_DEVICES = Anywhere(
    (
        *("/dev/sd[a-z]*", "/dev/hd[a-z]*", "/dev/vd[a-z]*", "/dev/xvd[a-z]*", "/dev/nvme[0-9]*", "/dev/mmcblk*"),
        *("/dev/disk/*", "/dev/disk[0-9]*", "/dev/rdisk*", "/dev/mapper/*", "/dev/dm-*", "/dev/md[0-9]*", "/dev/loop*"),
        *("/dev/zram*", "/dev/sr[0-9]*", "/dev/mtd*", "/dev/mem", "/dev/kmem", "/dev/port", "/proc/sysrq-trigger"),
        *("/proc/kcore", "/sys/firmware/*", "/dev/block/*", "/dev/root"),
    )
)
_WORKED = ("/srv", "/opt", "/usr/src", "/usr/local/src", "/var/www", "/home", "/root", "/Users", "/mnt", "/media")
"""System folders in which repositories lie."""
_KEPT = ("/bin/", "/boot/", "/dev/", "/etc/", "/lib/", "/lib64/", "/proc/", "/sbin/", "/sys/", "/System/", "/usr/lib/")
"""Those whose files stay the system's even beside a repository."""
REBUILT = (
    *("node_modules", "bower_components", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox"),
    *(".venv", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".nyc_output", ".gradle", ".eggs"),
    *("*.egg-info", "htmlcov", "*.py[co]", ".DS_Store"),
)
"""Shell patterns of names: what a build, a test run or an installation makes anew, with all that is in it."""
REBUILT_HERE = (
    *("build", "dist", "target", "out", "coverage", "venv", "obj", "_build", "site", "tmp", "Pods", "DerivedData"),
    *("cmake-build-*", ".cache", ".coverage", ".terraform"),
    *("*.o", "*.obj", "*.class", "*.tsbuildinfo", "*.orig", "*.rej", "*.sw[op]", "*.tmp", "*.log"),
)
"""The same, of everyday names: meant where work is done."""


def _on_the_way(names: Iterable[str]) -> re.Pattern[str]:
    """A path on which one of the names lies."""
    found = (re.escape(name).replace(r"\*", "[^/]*").replace(r"\[", "[").replace(r"\]", "]") for name in names)
    return re.compile(rf"/(?:{'|'.join(found)})(?:/|$)")


_REBUILT, _REBUILT_HERE = _on_the_way(REBUILT), _on_the_way(REBUILT_HERE)
CACHES = (
    *("/.cache/", "/.npm/", "/.yarn/", "/.pnpm-store/", "/.cargo/registry/", "/.gradle/caches/", "/.m2/repository/"),
    *(
        "/go/pkg/",
        "/.bun/install/cache/",
        "/Library/Caches/",
        "/Library/Developer/Xcode/DerivedData/",
        "/.local/share/Trash/",
        "/.local/share/pnpm/store/",
    ),
)
"""Below the home: what is fetched or built again when it is gone."""


def inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    if not folder or not path.startswith(folder):  # mostly not: the cheap question first
        return False
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def within(path: str, folders: tuple[str, ...]) -> bool:
    """Whether a path is one of the folders or lies below one."""
    return path.startswith(folders) and any(inside(path, folder) for folder in folders)


def _is_or_holds(path: str, what: str) -> bool:
    return bool(what) and inside(what, path)


def _root(path: str, g: TargetContext) -> bool:
    return _is_or_holds(path, g.root)


def _git(path: str, g: TargetContext) -> bool:
    git = g.root.rstrip("/") + "/.git"
    return bool(g.root) and (_is_or_holds(path, git) or path in (f"{git}/objects", f"{git}/refs", f"{git}/refs/heads"))


def _home(path: str, g: TargetContext) -> bool:
    return _is_or_holds(path, g.home) or (path.startswith(("/home/", "/Users/")) and path.count("/") == 2)


def _own(path: str, g: TargetContext) -> bool:
    return inside(path, g.root) or inside(path, g.home)


def _system(path: str, g: TargetContext) -> bool:
    return path in SYSTEM and path != g.home and not inside(path, g.root)


def _system_file(path: str, g: TargetContext) -> bool:
    at_top = path.rfind("/") == 0  # no user's file lies there
    return (at_top or path.startswith(_SYSTEM_TREES)) and not (
        _own(path, g) or _beside(path, g) or f"{path}/".startswith(paths.TEMPORARY) or _HARMLESS.match(path)
    )


def _beside(path: str, g: TargetContext) -> bool:
    """What lies in the folder that holds the repository (without one: where work is done) is the person's."""
    above = paths.sibling_folder(g.root)
    if not g.root and g.cwd not in SYSTEM:
        above = g.cwd
    worked = bool(above) and (above in _WORKED or above not in SYSTEM) and not f"{above}/".startswith(_KEPT)
    return worked and inside(path, above)


def _tmp(path: str, g: TargetContext) -> bool:
    return paths.is_temporary(path, g.root, g.home)


def _rebuilt(path: str, g: TargetContext) -> bool:
    """What a build, a test run or an installation makes anew; folders of an everyday name only where work is done."""
    if path.startswith(_SYSTEM_TREES) and not (_own(path, g) or _beside(path, g)):
        return False
    if _REBUILT.search(path):
        return True
    here = not g.root and bool(g.cwd) and g.cwd != "/" and path.startswith(g.cwd + "/")
    return here and _REBUILT_HERE.search(path, len(g.cwd)) is not None


def _cache(path: str, g: TargetContext) -> bool:
    return bool(g.home) and path.startswith(tuple(g.home + c for c in CACHES))


_NAMED: Mapping[str, Callable[[str, TargetContext], bool]] = {
    "{root}": _root,
    "{git}": _git,
    "{home}": _home,
    "{system}": _system,
    "{system-file}": _system_file,
    "{account}": lambda path, g: _ACCOUNTS.match(path) and not inside(path, g.root),
    "{device}": lambda path, _: _DEVICES.match(path),
    "{guard}": lambda path, g: any(inside(path, f) or _is_or_holds(path, f) for f in g.guard),
    "{settings}": lambda path, g: any(inside(path, s) or _is_or_holds(path, s) for s in g.settings),
    "{restricted}": lambda path, g: bool(g.policy.restricts(path, g.root)),
    PLACEHOLDER: lambda path, g: is_agent_settings(path, g.root, g.home),
    "{secret}": lambda path, g: is_secret(path, home=g.home, root=g.root),
    "{inside}": lambda path, g: inside(path, g.root),
    "{tmp}": _tmp,
    "{cache}": _cache,
    "{rebuilt}": _rebuilt,
    "{new}": lambda path, g: g.new(path),
}
NAMES = tuple(_NAMED)
"""``{root}`` the repository; ``{git}`` its .git, refs and objects; ``{home}`` a home; ``{system}`` a system folder;
``{system-file}`` what lies below one; ``{account}`` accounts and privileges; ``{device}`` block devices and memory;
``{guard}`` the guard's folders; ``{settings}`` its settings; ``{restricted}`` restricted paths;
``{agent-settings}`` settings of coding agents; ``{secret}`` files of secrets; ``{inside}`` in the repository;
``{tmp}`` below a temporary folder; ``{cache}`` below a cache; ``{rebuilt}`` what a build makes anew; ``{new}`` what was
not there when the session began."""


_BROAD = frozenset(
    ("{root}", "{git}", "{home}", "{system}", "{system-file}", "{inside}", "{tmp}", "{cache}", "{rebuilt}", "{new}")
)
"""Names that mean a path for the folder that it lies in, or that it is."""


def meant_by_name(rules: tuple[Rule, ...]) -> tuple[str, ...]:
    """The targets of rules that mean a path by its own name: of hundreds in a folder, one may be another matter.

    {secret}, {restricted} and what is the guard's are apart: who asks knows them by other ways.
    """
    known = _meant[-1]
    if known[0] is not rules:
        known = rules, _find_meant(rules)
        _meant[:] = [known]
    return known[1]


_meant: list[tuple[tuple[Rule, ...], tuple[str, ...]]] = [((), ())]
"""The rules that were asked about last: those of one policy, again and again."""


def _find_meant(rules: Iterable[Rule]) -> tuple[str, ...]:
    targets = dict.fromkeys(target for rule in rules for target in rule.target if target not in (*_BROAD, *_ASKED))
    return tuple(one for target in targets for one in _WRITTEN.get(target, (target,)))


_ASKED = ("{secret}", "{restricted}", "{guard}", "{settings}")
_WRITTEN = {"{account}": _ACCOUNTS.patterns, "{device}": _DEVICES.patterns}
"""Names that stand for patterns alone, or nearly."""


_BELOW = ("{home}/", "{root}/")
OUTSIDE = ("{system}", "{system-file}", "{account}")
"""Names that mean nothing in the repository."""


def is_target(pattern: str) -> bool:
    """Whether a pattern with a brace is a name, or a pattern below the home or the root."""
    return pattern in _NAMED or (pattern.startswith(_BELOW) and "{" not in pattern[1:])


def matches_target(patterns: tuple[str, ...], target: str, ground: TargetContext) -> bool:
    """Whether one of a rule's target patterns takes a target in. ``{home}/.ssh/*`` is a pattern below the home."""
    known = _splits.get(id(patterns))
    split = known[1] if known is not None and known[0] is patterns else _split(patterns)
    if split.plain is not None and split.plain.match(target):
        return True
    if not target.startswith("/"):
        return False
    path = target.rstrip("/") or "/"
    for takes in split.named:
        if takes(path, ground):
            return True
    if split.outside and not inside(path, ground.root):
        for takes in split.outside:
            if takes(path, ground):
                return True
    if split.home is not None and split.home.match(path, ground.home):
        return True
    return split.root is not None and split.root.match(path, ground.root)


class _Split(NamedTuple):
    """A list of patterns by their kind: rules are matched on every command."""

    named: tuple[Callable[[str, TargetContext], bool], ...]
    outside: tuple[Callable[[str, TargetContext], bool], ...]
    """Of these those that mean nothing in the repository: not asked of what lies there, as most does."""
    home: Below | None
    root: Below | None
    plain: Anywhere | None


_splits: dict[int, tuple[tuple[str, ...], _Split]] = {}
"""By the identity of the list, which a policy keeps: to hash a list of hundreds costs more than to match it."""


def _split(patterns: tuple[str, ...]) -> _Split:
    if len(_splits) >= MAX_LISTS:
        _splits.clear()
    split = _split_anew(patterns)
    _splits[id(patterns)] = patterns, split
    return split


@lru_cache(maxsize=1024)
def _split_anew(patterns: tuple[str, ...]) -> _Split:
    home, root = ([p[len(name) :] for p in patterns if p.startswith(name)] for name in _BELOW)
    plain = [p for p in patterns if p not in _NAMED and not p.startswith(_BELOW)]
    named = tuple(_NAMED[p] for p in patterns if p in _NAMED and p not in OUTSIDE)
    outside = tuple(_NAMED[p] for p in patterns if p in OUTSIDE)
    return _Split(
        named, outside, Below(home) if home else None, Below(root) if root else None, Anywhere(plain) if plain else None
    )
