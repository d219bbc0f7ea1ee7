"""Hooks in the machine's settings (``install --managed``) of the real agents, beside settings that switch others off.

The machine's ``/etc`` is a copy, in a mount namespace: nothing is written into the real one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from sentinel_guard.agents import registry
from tests.support.agents.real_agents import AGENTS, RealAgent, Started
from tests.support.guarded_repository import BIN, Stage
from tests.support.time_limits import limit
from tests.support.wait_until import until

BLOCKED = "403 SENTINEL BLOCKED"
MANAGED = [agent for agent in AGENTS if registry.hooks_of(agent.name).places.managed]
MAPPED = () if os.geteuid() == 0 else ("--map-root-user",)
MOUNTED = ("unshare", *MAPPED, "--mount", "--propagation", "private", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"')
pytestmark = pytest.mark.skipif(
    subprocess.run([*MOUNTED, "/etc", "true"], check=False, capture_output=True).returncode != 0,
    reason="mounts nothing here: root's rights, or namespaces of users, are needed",
)


class Off(NamedTuple):
    """What switches off, or leaves out, the hooks of a project or a user."""

    file: str = ""
    """Settings below the home."""
    settings: dict = {}  # noqa: RUF012 - nobody changes it
    more: tuple[str, ...] = ()
    """Arguments."""
    without: str = ""
    """An argument, or a variable, that is left out."""


OFF = {
    "claude": Off(".claude/settings.json", {"disableAllHooks": True}),
    "codex": Off(more=("--disable", "hooks")),
    "gemini": Off(
        ".gemini/settings.json", {"hooksConfig": {"enabled": False}}, ("--skip-trust",), "GEMINI_CLI_TRUST_WORKSPACE"
    ),
    "qwen": Off(".qwen/settings.json", {"disableAllHooks": True}),
    "copilot": Off(without="--trust-folder"),
}


def switched_off(agent: RealAgent) -> RealAgent:
    """The agent, started so that the hooks of a project and a user do not run, or are not read."""
    off = OFF[agent.name]

    def started(url: str, home: Path, repo: Path) -> Started:
        plain = agent.started(url, home, repo)
        words = tuple(word for word in plain.arguments if word != off.without)
        words = (*off.more, *words)
        environ = {name: value for name, value in plain.environ.items() if name != off.without}
        added = {off.file: {**plain.files.get(off.file, {}), **off.settings}} if off.file else {}
        return replace(plain, arguments=words, environ=environ, files={**plain.files, **added})

    return replace(agent, started=started)


def in_machine(etc: Path, stage: Stage, agent: RealAgent, *arguments: str) -> str:
    """What a command of ours prints on a machine with this ``/etc`` and the agent on PATH."""
    environ = {**stage.environ, "PATH": f"{agent.path().parent}:{stage.environ['PATH']}"}
    done = subprocess.run(
        [*MOUNTED, str(etc), str(BIN / "sentinel-guard"), *arguments], cwd=stage.repo, env=environ,
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=limit(100),
    )  # fmt: skip
    return done.stdout + done.stderr


def unreadable(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not os.access(Path(folder, name), os.R_OK)]


def files_of(etc: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in etc.rglob("*") if p.is_file() and not p.is_symlink()}


def with_foreign_settings(etc: Path, managed: str) -> Path:
    """The machine's settings, in which something of its owner's stands already."""
    file = etc / Path(managed).relative_to("/etc")
    file.parent.mkdir(parents=True)
    if "sentinel" in file.name:  # a file of our own
        return file
    own = "# of the machine\nallow_login_shell = true\n\n[features]\nweb_search = false\n"
    # Without the number Qwen Code, which runs as root here, would write it there itself.
    file.write_text(own if file.suffix == ".toml" else '{\n  "$version": 4\n}\n')
    return file


@pytest.mark.parametrize("agent", MANAGED, ids=lambda agent: agent.name)
def test_the_machines_hooks_guard_whatever_switches_others_off(stage, play, agent):
    stage.commit(a__txt="one\n")
    etc = stage.folder / "etc"
    shutil.copytree("/etc", etc, symlinks=True, ignore=unreadable)
    dialect = registry.hooks_of(agent.name)
    settings = with_foreign_settings(etc, dialect.places.managed)
    before = files_of(etc)
    assert "Put hooks" in in_machine(etc, stage, agent, "install", "--agent", agent.name, "--managed")
    assert "sentinel-hook" in settings.read_text() and not Path(dialect.places.managed).exists()
    steps = (
        ("shell", "echo hello"),
        ("shell", "cat .env"),
        ("write", str(stage.repo / "new.txt"), "x"),
        ("shell", "echo on"),
    )
    played = play(switched_off(agent), steps, guarded=False, inside=(*MOUNTED, str(etc)))
    assert len(played.told) == len(steps), (played.told, played.done)
    assert "hello" in played.told[0] and BLOCKED in played.told[1] and "on" in played.told[3], played.told
    asked = [e["data"] for e in stage.log(kind="verdict") if not e["data"].get("parent")]
    assert [(d["layer"], d["agent"]) for d in asked] == [("hook", agent.name)] * len(steps)
    proved = json.loads(in_machine(etc, stage, agent, "doctor", "--json"))["trial"]
    about = [probe["what"] for probe in proved if agent.name in probe["what"] and "fails open" not in probe["what"]]
    assert f"{agent.name} {agent.version} is {agent.path()}" in about
    assert all(what.startswith(("in effect", f"{agent.name} ")) for what in about), about
    # The session ends a moment after the agent.
    uninstall = ("uninstall", "--agent", agent.name)
    assert until(lambda: str(settings.name) in in_machine(etc, stage, agent, *uninstall), limit(20))
    assert files_of(etc) == before
