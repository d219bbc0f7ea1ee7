"""The settings of agents under a session's watch: in the repository and in the home, from the start to the end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from pathlib import Path

import pytest

from sentinel_guard.core.model import Action, Command, Effect, Kind, Layer, Verdict
from sentinel_guard.daemon.file_integrity.watch_session_files import ANSWERED
from sentinel_guard.host.file_integrity.file_change import ChangeDecision
from tests.support.fakes import ScriptedHuman
from tests.support.time_limits import limit
from tests.support.watched_session import Room, until

WATCH = "sentinel_guard.daemon.file_integrity.watch_session_files"
HOOKS = json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch x"}]}]}})
RULES = json.dumps({"permissions": {"allow": ["Bash(npm run *)"]}})


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    for command in ("init -q", "add -A", "commit -qm start"):
        subprocess.run(["git", *command.split()], cwd=root, check=True)
    return root


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def room(tmp_path):
    made = Room(tmp_path)
    yield made
    made.close()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def watched(room):
    return [e for e in room.store.log if e.kind == "watch"]


def quiet(seconds=0.8):
    """Long enough for every reader and two sweeps."""
    return asyncio.sleep(seconds)


ATTACKS = [
    ("repo/.claude/settings.local.json", None, HOOKS, "hooks.PreToolUse", "an agent gives itself a hook"),
    ("repo/.mcp.json", None, '{"mcpServers": {"x": {"command": "y"}}}', "mcpServers.x.command", "a server"),
    ("repo/.claude/settings.json", HOOKS, "{}", "hooks.PreToolUse", "a hook is taken out"),
    ("repo/.claude/settings.json", HOOKS, None, "hooks.PreToolUse", "and with its file"),
    ("repo/.codex/config.toml", None, 'sandbox_mode = "danger-full-access"\n', "sandbox_mode", "no sandbox any more"),
    ("home/.claude.json", '{"numStartups": 1}', '{"numStartups": 1, "mcpServers": {"x": {"command": "y"}}}',
     "mcpServers.x.command", "the file that the agent itself rewrites all day"),
    ("home/.codex/rules/default.rules", None, "prefix_rule()\n", "*", "a folder that was not there"),
    ("home/.gemini/policies/mine.toml", None, "[[rule]]\n", "*", "two folders that were not there"),
    ("home/Documents/Cline/Hooks/PreToolUse", None, "#!/bin/sh\n", "*", "three folders that were not there"),
    ("home/.config/opencode/plugin/x.js", "a\n", "b\n", "*", "code that is loaded"),
]  # fmt: skip


@pytest.mark.parametrize("row", ATTACKS, ids=[f"{a[0]}: {a[4]}" for a in ATTACKS])
def test_what_runs_programs_or_gives_rights_is_put_back(room, repo, home, row):
    name, before, after, key, why = row
    file = repo.parent / name
    if before is not None:
        write(file, before)

    async def play():
        live = await room.begin(repo, {"HOME": str(home)})
        if after is None:
            file.unlink()
        else:
            write(file, after)
        at = time.time()
        assert await until(lambda: watched(room), 5.0), why
        took = time.time() - at
        assert await until(lambda: live.runner.told)
        return live, took

    live, took = asyncio.run(play())
    assert took < limit(3.0), "the reader near the files; the sweep would be there within a second"
    # An empty file, which a look may find between the beginning of a write and its end, changes no setting.
    assert (file.read_text() if file.exists() else "") == (before or ""), why
    entry = watched(room)[0]
    assert (entry.level, entry.data["done"], entry.data["path"]) == ("L2", "put back", str(file))
    assert entry.data["keys"] == [key]
    assert "agent's settings file" in live.runner.told[0]["text"] and f"allow {file}" in live.runner.told[0]["text"]


WORK = [
    ("repo/CLAUDE.md", "prose that an agent reads"),
    ("repo/.claude/commands/a.md", "a command of the project's"),
    ("repo/.claude/skills/a/SKILL.md", "a skill"),
    ("repo/.github/workflows/ci.yml", "a workflow"),
    ("repo/docs/.mcp.json", "an example in the documents"),
    ("home/.claude/history.jsonl", "what was typed"),
    ("home/.gemini/trustedFolders.json", "the person's trust"),
    ("home/.codex/sessions/a.jsonl", "a transcript"),
]


def test_the_work_itself_and_what_agents_keep_for_themselves_is_left_alone(room, repo, home, tmp_path):
    write(home / ".claude.json", "{}")

    async def play():
        await room.begin(repo, {"HOME": str(home)})
        for name, why in WORK:
            write(tmp_path / name, why)
        for number in range(5):
            aside = home / ".claude.json.tmp"
            aside.write_text(
                json.dumps({"numStartups": number, "projects": {str(repo): {"hasTrustDialogAccepted": True}}})
            )
            aside.rename(home / ".claude.json")
            await asyncio.sleep(0.05)
        write(home / ".claude/settings.json", '{"model": "opus"}')
        await quiet()

    asyncio.run(play())
    assert not watched(room)
    assert all((tmp_path / name).read_text() == why for name, why in WORK)
    assert json.loads((home / ".claude.json").read_text())["numStartups"] == 4


ANSWERS = [
    (".claude/settings.local.json", RULES, 0.0, "taken as yours", "", "the person pressed a key just now"),
    (".claude/settings.local.json", RULES, ANSWERED + 1, "put back", "L2", "the last key is long ago"),
    (".claude/settings.local.json", HOOKS, 0.0, "put back", "L2", "hooks are no answer"),
    (".claude/settings.local.json", RULES[:-1] + ", " + HOOKS[1:], 0.0, "put back", "L2", "hooks beside an answer"),
]


@pytest.mark.parametrize("row", ANSWERS, ids=[a[5] for a in ANSWERS])
def test_a_persons_answer_that_an_agent_writes_down_stays(room, repo, row):
    name, text, ago, done, level, why = row

    async def play():
        live = await room.begin(repo)
        live.typed = time.time() - ago
        write(repo / name, text)
        assert await until(lambda: watched(room))
        return live

    live = asyncio.run(play())
    [entry] = watched(room)
    assert (entry.data["done"], entry.level) == (done, level), why
    assert (repo / name).exists() is (level == "")
    if not level:
        assert "right after you typed: taken as your answer" in entry.data["what"]
        assert not live.runner.told, "who has just answered need not be told"


def test_the_idle_agents_settings_are_the_persons(room, repo, home, monkeypatch):
    monkeypatch.setattr(
        "sentinel_guard.daemon.file_integrity.watch_session_files.attribute", lambda *_: ChangeDecision.TAKE
    )

    async def play():
        live = await room.begin(repo, {"HOME": str(home)})
        write(home / ".claude/settings.json", HOOKS)
        assert await until(lambda: live.runner.told)
        return live

    live = asyncio.run(play())
    assert (home / ".claude/settings.json").read_text() == HOOKS
    assert "while the agent was idle: taken as yours" in live.runner.told[0]["text"]
    assert not live.watch.restricted, "no secrets are looked for in it"


def test_a_doubt_is_asked_about_by_its_place(room, repo, home, monkeypatch):
    monkeypatch.setattr(
        "sentinel_guard.daemon.file_integrity.watch_session_files.attribute", lambda *_: ChangeDecision.ASK
    )

    async def play():
        live = await room.begin(repo, {"HOME": str(home)})
        live.runner = ScriptedHuman(False)
        aside = home / "aside"
        aside.write_text(HOOKS)
        (home / ".claude").mkdir()
        aside.rename(home / ".claude/settings.json")
        assert await until(lambda: watched(room))
        return live

    live = asyncio.run(play())
    assert live.runner.asked[0].ask.target == str(home / ".claude/settings.json")
    assert not (home / ".claude/settings.json").exists()


def test_two_sessions_in_two_repositories_share_a_home_without_a_fight(room, repo, home, tmp_path):
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(repo), str(other)], check=True)
    write(home / ".claude.json", '{"numStartups": 1}')

    async def play():
        lives = [await room.begin(r, {"HOME": str(home)}) for r in (repo, other)]
        write(home / ".claude.json", '{"numStartups": 2}')
        await quiet()
        write(home / ".claude.json", '{"numStartups": 2, "mcpServers": {"x": {"command": "y"}}}')
        assert await until(lambda: watched(room))
        await quiet()
        lives[1].typed = time.time()
        write(home / ".copilot/permissions-config.json", '{"locations": {"/r": {"tool_approvals": ["x"]}}}')
        assert await until(lambda: [e for e in watched(room) if not e.level])
        await quiet()

    asyncio.run(play())
    assert json.loads((home / ".claude.json").read_text()) == {"numStartups": 2}
    assert (home / ".copilot/permissions-config.json").exists(), "typed in one session, watched by both"
    put_back = [e for e in watched(room) if e.level]
    assert 1 <= len(put_back) <= 2 and all(e.data["path"] == str(home / ".claude.json") for e in put_back)


def test_links_on_the_way_stay_what_they_are(room, repo, home, tmp_path):
    real = tmp_path / "dotfiles/claude/settings.json"
    write(real, HOOKS)
    (home / ".claude").symlink_to(real.parent)
    evil = tmp_path / "evil"
    write(evil / "settings.json", "{}")

    async def play():
        await room.begin(repo, {"HOME": str(home)})
        real.write_text("{}")
        assert await until(lambda: real.read_text() == HOOKS)
        (tmp_path / "aside").symlink_to(evil)
        (tmp_path / "aside").rename(home / ".claude")
        assert await until(lambda: (home / ".claude").resolve() == real.parent)
        (home / ".codex").symlink_to(evil)
        assert await until(lambda: not (home / ".codex").is_symlink())
        assert await until(lambda: len(watched(room)) == 3)

    asyncio.run(play())
    assert [e.level for e in watched(room)] == ["L2"] * 3


def test_a_window_opens_a_file_of_the_home(room, repo, home):
    file = home / ".claude/settings.json"

    async def play():
        live = await room.begin(repo, {"HOME": str(home)})
        assert live.watch.concerns(str(file)) and live.watch.concerns(str(file.parent))
        assert not live.watch.concerns(str(home / "letters"))
        live.watch.allow(str(file.parent), 60)
        write(file, HOOKS)
        assert await until(lambda: watched(room))
        return live

    live = asyncio.run(play())
    assert file.read_text() == HOOKS and [*live.watch.windows()] == [str(file.parent)]
    assert "as you allowed" in watched(room)[0].data["what"]


def test_a_command_that_was_allowed_may_write_what_it_names(room, repo, home):
    file = repo / ".mcp.json"

    async def play():
        live = await room.begin(repo, {"HOME": str(home)})
        action = Action("1", live.id, Layer.SHELL, "shell", {"command": "cp x .mcp.json"}, str(repo), 0.0, str(repo))
        effect = Effect(Kind.WRITE, str(file), command=Command("cp", ("cp", "x", ".mcp.json")))
        live.watch.expect(Verdict(action, (effect,)), 30.0)
        write(file, '{"mcpServers": {"x": {"command": "y"}}}')
        write(repo / ".claude/settings.json", HOOKS)
        assert await until(lambda: len(watched(room)) > 1)
        assert await until(lambda: not (repo / ".claude/settings.json").exists())

    asyncio.run(play())
    assert file.exists() and not (repo / ".claude/settings.json").exists()


def test_a_restart_knows_what_the_files_were(room, repo, home):
    file = home / ".claude/settings.json"
    write(file, HOOKS)

    async def play():
        live = await room.begin(repo, {"HOME": str(home)})
        room.close()
        file.write_text("{}")
        write(home / ".codex/hooks.json", HOOKS)
        room.renew().resume_all()
        assert await until(lambda: file.read_text() == HOOKS and not (home / ".codex/hooks.json").exists())
        assert await until(lambda: len(watched(room)) == 2)
        return room.beginnings.sessions.live[live.id]

    asyncio.run(play())
    assert {Path(e.data["path"]).name for e in watched(room)} == {"settings.json", "hooks.json"}


OFF = 'version = 1\n[rules]\ndisable = ["filesystem.agent-settings"]\n'
SPARED = """version = 1
[[rule]]
id = "filesystem.agent-settings"
response = "ask"
action = "CHANGE_AGENT"
why = "mine"
effect = "write"
target = "{agent-settings}"
not_target = "{root}/.mcp.json"
hit = ["cp x .claude/settings.json"]
miss = ["cp x .mcp.json"]
"""
POLICIES = [
    (OFF, True, "the rule is switched off"),
    (SPARED, True, "the person's rule spares the file"),
    ("version = 1\n", False, "the built-in rule"),
]


@pytest.mark.parametrize(("policy", "stays", "why"), POLICIES, ids=[p[2] for p in POLICIES])
def test_the_rule_for_commands_says_what_is_watched(room, repo, policy, stays, why):
    room.places.policy.write_text(policy)

    async def play():
        await room.begin(repo)
        write(repo / ".mcp.json", '{"mcpServers": {"x": {"command": "y"}}}')
        await quiet()

    asyncio.run(play())
    assert (repo / ".mcp.json").exists() is stays and bool(watched(room)) is not stays, why


def test_what_the_policy_restricts_is_restricted_as_a_whole(room, repo):
    room.places.policy.write_text('version = 1\n[paths]\nrestricted = [".mcp.json"]\n')
    write(repo / ".mcp.json", '{"mcpServers": {}}')

    async def play():
        live = await room.begin(repo)
        (repo / ".mcp.json").write_text('{"mcpServers": {}, "note": 1}')
        assert await until(lambda: watched(room))
        return live

    live = asyncio.run(play())
    assert live.watch.restricted == (str(repo / ".mcp.json"),)
    [entry] = watched(room)
    assert "restricted file" in entry.data["what"] and (repo / ".mcp.json").read_text() == '{"mcpServers": {}}'
