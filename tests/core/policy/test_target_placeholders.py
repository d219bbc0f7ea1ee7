"""The names that a rule gives a target."""

from __future__ import annotations

import pytest

from sentinel_guard.core.policy import target_placeholders
from sentinel_guard.core.policy.policy import Paths, Policy
from sentinel_guard.core.policy.target_placeholders import TargetContext, is_target, matches_target

HOME = "/home/user"
ROOT = "/home/user/project"
GROUND = TargetContext(
    Policy(Paths((".env",))), ROOT, HOME, ("/home/user/.local/state/sg",), (f"{ROOT}/sentinel.toml",)
)
INSIDE_OPT = TargetContext(Policy(), "/opt/app", "/root")

ROWS = [
    ("{root}", ROOT, True, "the root"),
    ("{root}", "/home", True, "what holds it"),
    ("{root}", f"{ROOT}/src", False, "what lies in it"),
    ("{root}", "/home/user/project2", False, "a name that begins alike"),
    ("{root}", ".", False, "a path that is not absolute is no path"),
    ("{git}", f"{ROOT}/.git", True, "the history"),
    ("{git}", f"{ROOT}/.git/objects", True, "its heart"),
    ("{git}", f"{ROOT}/.git/index.lock", False, "a stale lock is removed by hand"),
    ("{git}", f"{ROOT}/sub/.git", False, "another repository's"),
    ("{home}", HOME, True, "the home"),
    ("{home}", "/", True, "what holds it"),
    ("{home}", "/home/other", True, "another's home"),
    ("{home}", f"{HOME}/x", False, "what lies in it"),
    ("{system}", "/usr/lib", True, "a system folder"),
    ("{system}", "/usr/lib/", True, "a closing slash changes nothing"),
    ("{system}", "/usr/lib/x", False, "below is system-file"),
    ("{system-file}", "/usr/lib/x", True, "below a system folder"),
    ("{system-file}", "/dev/null", False, "nobody is hurt"),
    ("{system-file}", "/var/tmp/x", False, "a temporary folder"),
    ("{system-file}", "/var/tmp", False, "the folder of all of them"),
    ("{system-file}", "/var/tmpx", True, "another name"),
    ("{system}", "/var", True, "what holds them"),
    ("{system-file}", f"{HOME}/x", False, "the user's own"),
    ("{account}", "/etc/sudoers.d/x", True, "who may become root"),
    ("{account}", "/etc/hosts", False, "a system file, and no account"),
    ("{device}", "/dev/sda1", True, "a disk"),
    ("{device}", "/dev/ttyUSB0", False, "a serial port"),
    ("{restricted}", f"{ROOT}/x/.env", True, "by the policy"),
    ("{inside}", f"{ROOT}/x", True, "in the repository"),
    ("{inside}", f"{HOME}/x", False, "outside"),
    ("{tmp}", "/tmp/x", True, "temporary"),
    ("{tmp}", "/tmp", False, "the folder of everyone"),
    ("{cache}", f"{HOME}/.cache/pip", True, "fetched again"),
    ("{guard}", "/home/user/.local/state/sg/x", True, "the guard's own"),
    ("{guard}", "/home/user/.local", True, "what holds it"),
    ("{settings}", f"{ROOT}/sentinel.toml", True, "the guard's settings"),
    ("{home}/.ssh/*", f"{HOME}/.ssh/config", True, "a pattern below the home"),
    ("{home}/.ssh/*", "/x/.ssh/config", False, "not below it"),
    ("*.db", f"{ROOT}/app.db", True, "a plain pattern"),
]


@pytest.mark.parametrize(("name", "path", "wanted"), [r[:3] for r in ROWS], ids=[f"{r[0]} {r[3]}" for r in ROWS])
def test_a_name_takes_a_path_in(name: str, path: str, wanted: bool) -> None:
    assert is_target(name) or "{" not in name
    assert matches_target((name,), path, GROUND) is wanted


def test_work_in_a_system_folder_is_work() -> None:
    for name in ("{system}", "{system-file}"):
        for path in ("/opt/app", "/opt/app/x", "/root", "/root/x"):
            assert not matches_target((name,), path, INSIDE_OPT)
    assert matches_target(("{root}",), "/opt", INSIDE_OPT)


SYSTEM_ROOTS = ("/opt/app", "/etc/app", "/usr", "/dev/x", "/root", "/etc/sudoers.d", ROOT)


@pytest.mark.parametrize("root", SYSTEM_ROOTS)
def test_names_that_mean_nothing_in_the_repository_mean_nothing_there(root: str) -> None:
    """So they need not be asked of what lies there."""
    ground = TargetContext(Policy(), root, HOME)
    for path in (root, f"{root}/x", f"{root}/lib/y", f"{root}/passwd"):
        assert not any(target_placeholders._NAMED[name](path, ground) for name in target_placeholders.OUTSIDE)


def test_without_a_repository_nothing_is_its_root() -> None:
    for name in ("{root}", "{git}", "{inside}"):
        assert not matches_target((name,), "/", TargetContext(Policy()))


def test_braces_that_are_no_name_are_no_target() -> None:
    assert not any(is_target(n) for n in ("{roof}", "{system}/x", "{home}/{x}", "a{b,c}"))
