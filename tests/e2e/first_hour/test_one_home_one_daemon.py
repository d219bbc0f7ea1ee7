"""One home, one daemon: homes of one user share XDG_RUNTIME_DIR, and no client meets another home's policy."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.guarded_repository import BIN

ASKS_ABOUT_RELEASES = '[confirm]\nrelease = ["./release*"]\n'


class Homes:
    """Homes of one user, all with the same XDG_RUNTIME_DIR."""

    def __init__(self, stage) -> None:
        self.stage, self.used = stage, []
        self.runtime = self.folder("r")

    def folder(self, name: str) -> str:
        folder = self.stage.folder / name
        folder.mkdir(mode=0o700, exist_ok=True)
        return str(folder)

    def environ(self, name: str, **variables: str) -> dict[str, str]:
        kept = {k: v for k, v in self.stage.environ.items() if k != "SENTINEL_HOME"}
        environ = {**kept, "HOME": self.folder(name), "XDG_RUNTIME_DIR": self.runtime, **variables}
        self.used.append(environ)
        return environ

    def policy(self, name: str, text: str) -> None:
        folder = self.stage.folder / name / ".config" / "sentinel-guard"
        folder.mkdir(parents=True)
        (folder / "sentinel.toml").write_text(f'version = 1\n{text}[kernel]\nmode = "off"\n')

    def run(self, environ, *words: str) -> subprocess.CompletedProcess:
        return self.stage.sentinel(*words, env=environ)

    def daemon(self, environ) -> int | None:
        return next(
            (d["pid"] for d in json.loads(self.run(environ, "daemon", "status", "--json").stdout)["daemons"]), None
        )


@pytest.fixture
def homes(stage):
    stage.commit(a__txt="a\n")
    homes = Homes(stage)
    yield homes
    for environ in homes.used:
        homes.run(environ, "daemon", "stop", "--force")


def test_two_homes_have_two_daemons_and_two_policies(homes):
    one, two = homes.environ("one"), homes.environ("two")
    homes.policy("one", ASKS_ABOUT_RELEASES)
    homes.policy("two", "")
    homes.stage.write("release", "#!/bin/sh\necho released\n").chmod(0o755)
    said = [homes.run(home, "run", "--", "sh", "-c", "sh -c ./release") for home in (one, two)]
    assert said[0].stdout == "" and "release needs a person's yes" in said[0].stderr
    assert said[1].stdout == "released\n", "the other home asks about nothing"
    daemons = [homes.daemon(home) for home in (one, two)]
    assert None not in daemons and daemons[0] != daemons[1]
    logs = [homes.run(home, "log", "--last", "0").stdout for home in (one, two)]
    assert "release" in logs[0] and "release" in logs[1] and logs[0] != logs[1]


@pytest.mark.parametrize(
    ("variable", "why"),
    [("XDG_RUNTIME_DIR", "a login by cron or su has none"), ("XDG_CONFIG_HOME", "empty is as unset")],
)
def test_a_login_of_another_kind_meets_the_same_daemon(homes, variable, why):
    desktop, other = homes.environ("one"), homes.environ("one", **{variable: ""})
    assert homes.run(desktop, "daemon", "start").returncode == 0
    assert homes.daemon(other) == homes.daemon(desktop) is not None, why


def test_other_settings_for_the_same_log_are_refused(homes):
    one, two = homes.environ("one"), homes.environ("one", XDG_CONFIG_HOME=homes.folder("c"))
    assert homes.run(one, "daemon", "start").returncode == 0
    done = homes.run(two, "run", "--", "true")
    assert done.returncode == 1 and "Another guard is writing the audit log" in done.stderr


def test_a_hook_that_another_home_installed_goes_by_the_policy_of_whoever_commits(homes):
    one, two = homes.environ("one"), homes.environ("two")
    homes.policy("one", '[paths]\nrestricted = ["*.lock"]\n')
    assert homes.run(one, "install").returncode == 0
    assert homes.run(one, "daemon", "start").returncode == 0
    homes.stage.write("a.lock", "x\n")
    homes.stage.git("add", "a.lock")

    def commit(home) -> subprocess.CompletedProcess:
        command = ["git", "commit", "-qm", "lock"]
        return subprocess.run(command, cwd=homes.stage.repo, env=home, capture_output=True, text=True, check=False)

    refused = commit(one)
    assert refused.returncode == 1 and "a.lock" in refused.stderr
    assert commit(two).returncode == 0


def test_an_agent_whose_tool_moved_its_home_still_reaches_its_session(homes):
    one = homes.environ("one")
    elsewhere = homes.folder("elsewhere")
    sentinel = BIN / "sentinel-guard"
    report = f"HOME={elsewhere} {sentinel} usage report --tokens 70"
    done = homes.run(one, "run", "--", "sh", "-c", f"sh -c '{report}'")
    assert done.returncode == 0, done.stderr
    entries = json.loads(homes.run(one, "log", "--json", "--last", "0").stdout)["entries"]
    assert [e["data"].get("output") for e in entries if e["kind"] == "usage"] == [70]
    assert not Path(elsewhere, ".local").exists()


def test_a_launcher_of_the_hooks_that_an_older_version_left_is_renewed(homes):
    one = homes.environ("one")
    assert homes.run(one, "install").returncode == 0
    hooks = homes.stage.folder / "one/.local/state/sentinel-guard/hooks"
    launcher, settings = hooks / "sentinel-githook", hooks / ".sentinel"
    whole = settings.read_text()
    launcher.unlink()
    shutil.copy(sys.executable, launcher)
    settings.write_text(whole.replace("socket=", "socket=/gone"))
    assert homes.run(one, "daemon", "start").returncode == 0
    assert settings.read_text() == whole
    assert launcher.read_bytes() != Path(sys.executable).read_bytes()
