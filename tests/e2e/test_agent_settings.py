"""The settings of coding agents, end to end: an agent's own file tool, what a person allows, who is asked."""

from __future__ import annotations

import hashlib
import json
import sys

from tests.support.guarded_repository import BIN
from tests.support.wait_until import settled, until

HOOKS = json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch x"}]}]}})
FILE_TOOL = """
import json, os, sys, time
for path, text in json.loads(sys.argv[1]):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    time.sleep(float(sys.argv[2]))
"""
"""An agent with a file tool of its own: it writes from its own process."""


def writes(stage, seconds, *files):
    """The command line of such an agent."""
    return [sys.executable, "-c", FILE_TOOL, json.dumps([(str(path), text) for path, text in files]), str(seconds)]


def test_an_agents_own_file_tool_gives_it_no_hooks(stage):
    stage.commit()
    (stage.home / ".claude.json").write_text('{"numStartups": 1}')
    files = [
        (stage.repo / ".claude/settings.local.json", HOOKS),
        (stage.home / ".claude/settings.json", HOOKS),
        (stage.home / ".claude.json", '{"numStartups": 2, "mcpServers": {"x": {"command": "y"}}}'),
        (stage.home / "codex/hooks.json", HOOKS),
    ]
    env = stage.environ | {"CODEX_HOME": str(stage.home / "codex")}
    done = stage.sentinel("run", "--", *writes(stage, 1, *files), env=env)
    assert done.returncode == 0, done.stderr
    assert not any(path.exists() for path, _ in files if path.name != ".claude.json")
    assert json.loads((stage.home / ".claude.json").read_text()) == {"numStartups": 1}
    seen = stage.log(kind="watch")
    assert [(e["level"], e["data"]["path"]) for e in seen] == [("L2", str(path)) for path, _ in files]
    assert "hooks.PreToolUse" in seen[0]["data"]["what"] and str(files[0][0]) in done.stderr


LOOSER = '[rules]\ndisable = ["git.push-force"]\n'


def test_an_agents_own_file_tool_does_not_loosen_the_persons_policy(alone):
    """Beside the repository: elsewhere in /tmp it would be a temporary file."""
    alone.commit()
    policy = alone.guard / "config" / "sentinel.toml"
    alone.policy("[breaker]\nseconds = 9\n")
    before = policy.read_text()
    done = alone.sentinel("run", "--", *writes(alone, 1, (policy, LOOSER)))
    assert done.returncode == 0, done.stderr
    assert policy.read_text() == before
    [seen] = alone.log(kind="watch")
    assert (seen["level"], seen["data"]["path"]) == ("L2", str(policy))
    [begun] = alone.log(kind="session")
    assert begun["data"]["policy"] == hashlib.sha256(policy.read_bytes()).hexdigest()


def test_a_policy_that_the_person_changes_meanwhile_is_in_force(stage):
    stage.commit()
    stage.sentinel("daemon", "start")
    child = stage.terminal(str(BIN / "sentinel-guard"), "run", "--", "sleep", "30")
    assert until(lambda: stage.log(kind="session"))
    added = stage.sentinel(
        "policy", "add", "--user", "--id", "mine.frob", "--deny", "frob", "--why", "x", cwd=stage.home
    )
    assert added.returncode == 0, added
    policy = stage.guard / "config" / "sentinel.toml"
    assert not until(lambda: "frob" not in policy.read_text(), 1), "nothing puts it back"
    child.close(force=True)


def test_what_an_agent_keeps_for_itself_leaves_no_trace(stage):
    stage.commit()
    trust = json.dumps({"numStartups": 2, "projects": {str(stage.repo): {"hasTrustDialogAccepted": True}}})
    files = [
        (stage.home / ".claude.json", trust),
        (stage.home / ".claude/settings.json", '{"theme": "dark"}'),
        (stage.home / ".gemini/settings.json", ""),
        (stage.home / ".gemini/settings.json", '{"ui": {"theme": "dark"}}'),
        (stage.home / ".codex/config.toml", '[projects."/r"]\ntrust_level = "trusted"\n'),
        (stage.repo / ".claude/commands/a.md", "a command\n"),
    ]
    done = stage.sentinel("run", "--", *writes(stage, 0.2, *files))
    assert done.returncode == 0 and not stage.log(kind="watch"), done.stderr
    assert all(path.read_text() == text for path, text in files if text)


def test_a_person_allows_a_file_of_the_home_from_outside(stage):
    stage.commit()
    file = stage.home / ".claude/settings.json"
    child = stage.terminal(str(BIN / "sentinel-guard"), "run", "--", *writes(stage, 30, (file, HOOKS)))
    assert until(lambda: [e for e in stage.log(kind="watch") if e["level"] == "L2"]) and not file.exists()
    opened = stage.sentinel("allow", str(file), "--for", "1m", cwd=stage.home)
    assert opened.returncode == 0 and str(file) in opened.stdout, opened
    file.write_text(HOOKS)
    assert until(lambda: [e for e in stage.log(kind="watch") if "as you allowed" in e["data"]["what"]])
    assert file.read_text() == HOOKS
    child.close(force=True)


def test_a_command_on_settings_is_asked_about_and_a_yes_holds(stage):
    stage.commit(new__json=HOOKS)
    command = "mkdir -p .claude && cp new.json .claude/settings.json"
    _, [refused] = stage.agent(command)
    assert refused["code"] == 126 and "CHANGE_AGENT" in json.dumps(stage.log(kind="verdict"))
    child = stage.on_terminal(command, 2)
    child.expect_exact("Confirm? (Y/N):")
    assert until(lambda: stage.log(kind="state"))
    settled()
    child.send("y")
    assert until((stage.repo / ".claude/settings.json").exists)
    child.wait()
    assert (stage.repo / ".claude/settings.json").read_text() == HOOKS
    assert [e["level"] for e in stage.log(kind="watch")] == [""]
