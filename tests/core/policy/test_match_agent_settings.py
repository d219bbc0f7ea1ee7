"""Which paths are settings of coding agents, and which are the work itself; where an agent's folders lie."""

from __future__ import annotations

import pytest

from sentinel_guard.core.policy.agent_settings import PROJECT, SettingsFolder, rows
from sentinel_guard.core.policy.match_agent_settings import is_agent_settings, located, translated

ROOT, HOME = "/home/user/project", "/home/user"
SETTINGS = [
    *(".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".codex/config.toml", ".codex/hooks.json"),
    *(".codex/rules/default.rules", ".gemini/settings.json", ".gemini/policies/mine.toml", ".qwen/settings.json"),
    *(".github/copilot/settings.json", ".github/hooks/a.json", "opencode.json", ".opencode/plugin/a.js"),
    *(".opencode/plugins/a.ts", ".opencode/tool/a.ts", ".cline/hooks/PreToolUse", ".clinerules/hooks/TaskStart"),
    *(".cursor/hooks.json", ".cursor/mcp.json", "~/.claude.json", "~/.claude/settings.json", "~/.codex/config.toml"),
    *("~/.codex/work.config.toml", "~/.gemini/policies/auto-saved.toml", "~/.qwen/settings.json"),
    *("~/.copilot/config.json", "~/.copilot/mcp-config.json", "~/.config/opencode/opencode.json"),
    *("~/.config/opencode/plugin/a.js", "~/.cline/hooks/TaskStart", "~/Documents/Cline/Hooks/PreToolUse"),
    *("~/.claude/plugins/cache/market/plugin/1.0.0/hooks/hooks.json", "~/.cursor/cli-config.json"),
]
WORK = [
    *(
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
        ".claude/commands/a.md",
        ".claude/skills/a/SKILL.md",
        ".claude/agents/a.md",
    ),
    *(".claude/worktrees/a/.claude/settings.json", ".github/workflows/ci.yml", ".github/copilot-instructions.md"),
    *(".gemini/commands/a.toml", ".opencode/agent/a.md", ".opencode/command/a.md", ".cursor/rules/a.mdc"),
    *(".clinerules/style.md", "docs/.mcp.json", "packages/a/.claude/settings.json", "tests/fixtures/opencode.json"),
    *("~/.claude/projects/a/b.jsonl", "~/.claude/history.jsonl", "~/.codex/sessions/a.jsonl", "~/.codex/AGENTS.md"),
    *("~/.gemini/trustedFolders.json", "~/.gemini/tmp/a", "~/.qwen/tip_history.json", "~/.copilot/session-state/a"),
    *("~/.config/git/ignore", "~/.claude/plugins/known_marketplaces.json", "~/.codex/rules/a/b.rules"),
]


def path(name):
    return f"{HOME}{name[1:]}" if name.startswith("~") else f"{ROOT}/{name}"


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_known_by_their_place(name):
    assert is_agent_settings(path(name), ROOT, HOME)
    assert not is_agent_settings(f"/elsewhere/{name.removeprefix('~/')}", ROOT, HOME), "elsewhere no agent reads it"


@pytest.mark.parametrize("name", WORK)
def test_work_on_what_agents_read_as_prose_is_no_settings(name):
    assert not is_agent_settings(path(name), ROOT, HOME)


def test_without_a_home_or_a_repository_nothing_is_taken_for_settings():
    assert not is_agent_settings("/.claude.json", "", "")


LOCATED = [
    (SettingsFolder("~/.codex", (), "CODEX_HOME"), {}, "/h/.codex", "the usual place"),
    (SettingsFolder("~/.codex", (), "CODEX_HOME"), {"CODEX_HOME": "/c/"}, "/c", "named by the environment"),
    (SettingsFolder("~/.codex", (), "CODEX_HOME"), {"CODEX_HOME": "~/c"}, "/h/c", "below the home"),
    (SettingsFolder("~/.codex", (), "CODEX_HOME"), {"CODEX_HOME": "c"}, "", "relative: no place that is known"),
    (SettingsFolder("~/.gemini", (), "G", ".gemini"), {"G": "/g"}, "/g/.gemini", "a folder in the named one"),
    (SettingsFolder("~", ()), {}, "/h", "the home itself"),
]


@pytest.mark.parametrize(("folder", "environ", "place", "why"), LOCATED, ids=[row[3] for row in LOCATED])
def test_folders_lie_where_the_environment_says(folder, environ, place, why):
    assert located(folder, "/h", environ) == place, why


def test_without_a_home_its_folders_are_nowhere():
    assert located(SettingsFolder("~/.codex", (), "CODEX_HOME"), "", {}) == ""


def test_the_table_says_each_file_once_and_no_answer_that_does_not_count():
    places = [(folder.folder, folder.variable, file.path) for _, folder, file in rows()]
    assert len(places) == len(set(places))
    for _, folder, file in rows():
        assert (
            not file.path.startswith(("/", "~")) and "**" not in file.path and (folder.folder + "/")[:2] in ("./", "~/")
        )
        tops = {key.split(".")[0] for key in file.keys} or {"*"}
        assert "*" in tops or {answer.split(".")[0] for answer in file.answers} <= tops
        assert folder.folder == PROJECT or not folder.below or folder.variable


def test_a_star_stays_within_one_name():
    assert translated(["/a/*.json", "/b/*/c"]).fullmatch("/a/x.json")
    assert not translated(["/a/*.json"]).fullmatch("/a/b/x.json")
    assert not translated(["/a/*.json"]).fullmatch("/a/x_json"), "a dot is a dot"
