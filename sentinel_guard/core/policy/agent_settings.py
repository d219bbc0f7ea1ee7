"""The settings files of coding agents, a row for each: which files run programs or give rights, and by which keys.

Rules of this file:
1. A file stands here where its content makes the agent run a program, load code, or do more without asking.
2. What an agent writes by itself (trust, history, recent models, counters) is none of the keys: measured with the real
   programs (docs/watching.md).
3. What is read as prose (``CLAUDE.md``, skills, commands) is work, and does not stand here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

ALL = ("*",)
"""Every key."""
HOME, PROJECT = "~", "."


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One file, or several whose names differ."""

    path: str
    """Below its folder; ``*`` stands for any part of one name."""
    keys: tuple[str, ...] = ()
    """The keys that count, dotted, each with all that is below it: ``*`` is any one key, ``!`` takes back. None of
    them: every byte counts."""
    answers: tuple[str, ...] = ()
    """Of these, what the agent writes where the person answers a question of its own."""
    comes_and_goes: bool = False
    """True where the agent itself brings new files and removes old ones (plugins that are updated)."""


@dataclass(frozen=True, slots=True)
class SettingsFolder:
    """A folder that an agent looks for settings in."""

    folder: str
    """``.`` the project, ``~`` the home, or a folder below the home."""
    files: tuple[SettingsFile, ...]
    variable: str = ""
    """The variable of the environment that names another folder instead."""
    below: str = ""
    """Where in that other folder the files then lie."""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What one agent reads."""

    agent: str
    """For a person."""
    folders: tuple[SettingsFolder, ...]


def _in(folder: str, files: tuple[SettingsFile, ...]) -> tuple[SettingsFile, ...]:
    """The same files, in a folder."""
    return tuple(replace(file, path=f"{folder}/{file.path}") for file in files)


_CLAUDE = (
    *("hooks", "disableAllHooks", "allowedHttpHookUrls", "httpHookAllowedEnvVars", "disableSkillShellExecution"),
    *("permissions", "autoMode", "disableAutoMode", "skipDangerousModePermissionPrompt", "skipAutoPermissionPrompt"),
    *("additionalDirectoryConfigRoots", "sandbox", "env", "apiKeyHelper", "proxyAuthHelper", "awsAuthRefresh"),
    *("awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper", "processWrapper", "policyHelper", "policyHelpers"),
    *("fileSuggestion", "statusLine", "subagentStatusLine", "sshHostCommands", "remoteTools", "agent"),
    *("enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers", "allowedMcpServers"),
    *("deniedMcpServers", "managedMcpServers", "enabledPlugins", "pluginConfigs", "extraKnownMarketplaces"),
    "additionalMarketplaces",
)
_CLAUDE_ANSWERS = (
    *("permissions", "skipDangerousModePermissionPrompt", "skipAutoPermissionPrompt"),
    *("enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers"),
)
_CLAUDE_PROJECT_ANSWERS = tuple(
    f"projects.*.{key}"
    for key in ("allowedTools", "enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers")
)
_MCP = SettingsFile(".mcp.json", ALL)
CLAUDE = AgentSettings(
    "Claude Code",
    (
        SettingsFolder(
            PROJECT,
            (
                SettingsFile(".claude/settings.json", _CLAUDE, _CLAUDE_ANSWERS),
                SettingsFile(".claude/settings.local.json", _CLAUDE, _CLAUDE_ANSWERS),
                _MCP,
            ),
        ),
        SettingsFolder(
            "~/.claude",
            (
                SettingsFile("settings.json", _CLAUDE, _CLAUDE_ANSWERS),
                SettingsFile("settings.local.json", _CLAUDE, _CLAUDE_ANSWERS),
                SettingsFile("plugins/cache/*/*/*/hooks/hooks.json", ALL, comes_and_goes=True),
                SettingsFile("plugins/cache/*/*/*/.claude-plugin/plugin.json", ALL, comes_and_goes=True),
                SettingsFile("plugins/cache/*/*/*/.mcp.json", ALL, comes_and_goes=True),
            ),
            "CLAUDE_CONFIG_DIR",
        ),
        SettingsFolder(
            HOME,
            (
                SettingsFile(
                    ".claude.json",
                    ("mcpServers", "projects.*.mcpServers", "bypassPermissionsModeAccepted", *_CLAUDE_PROJECT_ANSWERS),
                    ("bypassPermissionsModeAccepted", *_CLAUDE_PROJECT_ANSWERS),
                ),
            ),
            "CLAUDE_CONFIG_DIR",
        ),
    ),
)

_CODEX = (
    *("hooks", "notify", "mcp_servers", "shell_environment_policy", "allow_login_shell", "features"),
    *("approval_policy", "approvals_reviewer", "auto_review", "sandbox_mode", "sandbox_workspace_write"),
    *("default_permissions", "permissions", "profile", "profiles", "model_providers", "openai_base_url"),
    *("chatgpt_base_url", "model_instructions_file", "experimental_instructions_file", "zsh_path"),
    *("js_repl_node_path", "js_repl_node_module_dirs", "apps", "plugins", "marketplaces", "otel"),
    *("!marketplaces.*.last_updated", "!marketplaces.*.last_revision"),
)
_CODEX_ANSWERS = ("hooks.state", "mcp_servers.*.tools", "apps")
_CODEX_FILES = (
    SettingsFile("hooks.json", ALL),
    SettingsFile("config.toml", _CODEX, _CODEX_ANSWERS),
    SettingsFile("*.config.toml", _CODEX, _CODEX_ANSWERS),
    SettingsFile("rules/*.rules", answers=ALL),
)
CODEX = AgentSettings(
    "Codex",
    (
        SettingsFolder(PROJECT, _in(".codex", _CODEX_FILES)),
        SettingsFolder("~/.codex", (*_CODEX_FILES, SettingsFile(".env")), "CODEX_HOME"),
    ),
)

_GEMINI = (
    *("hooks", "hooksConfig", "mcpServers", "mcp", "tools", "security", "!security.auth", "policyPaths"),
    *("adminPolicyPaths", "general.defaultApprovalMode", "telemetry", "admin", "extensions.disabled"),
    *("advanced.excludedEnvVars", "advanced.ignoreLocalEnv", "context.includeDirectories", "agents.overrides"),
    "experimental.extensionReloading",
)
_GEMINI_FILES = (
    SettingsFile("settings.json", _GEMINI),
    SettingsFile("policies/*.toml", answers=ALL),
    SettingsFile("extensions/*/gemini-extension.json", ("mcpServers", "excludeTools", "settings")),
    SettingsFile("extensions/*/hooks/hooks.json", ALL),
)
GEMINI = AgentSettings(
    "Gemini CLI",
    (
        SettingsFolder(PROJECT, _in(".gemini", _GEMINI_FILES)),
        SettingsFolder("~/.gemini", _GEMINI_FILES, "GEMINI_CLI_HOME", ".gemini"),
    ),
)

_QWEN = (
    *("hooks", "hooksConfig", "disableAllHooks", "mcpServers", "mcp", "permissions", "tools", "env", "proxy"),
    *("security", "!security.auth", "policy", "channels", "serve", "telemetry", "dualOutput", "ui.statusLine"),
    *("general.defaultApprovalMode", "review.sandbox", "advanced.excludedEnvVars", "context.includeDirectories"),
    *("skills.directories", "agents"),
)
_QWEN_ANSWERS = ("permissions", "tools.approvalMode", "mcp.allowed", "mcp.excluded")
QWEN = AgentSettings(
    "Qwen Code",
    (
        SettingsFolder(PROJECT, (SettingsFile(".qwen/settings.json", _QWEN, _QWEN_ANSWERS),)),
        SettingsFolder(
            "~/.qwen",
            (
                SettingsFile("settings.json", _QWEN, _QWEN_ANSWERS),
                SettingsFile("extensions/*/qwen-extension.json", ("mcpServers", "excludeTools", "hooks", "settings")),
                SettingsFile("extensions/*/hooks/hooks.json", ALL),
            ),
            "QWEN_HOME",
        ),
    ),
)

_COPILOT = (
    *("hooks", "disableAllHooks", "disabledHooks", "permissions", "allowedUrls", "deniedUrls", "sandbox"),
    *("defaultMode", "defaultPermissionMode", "assistedApprovalInstructions", "stayInAutopilot", "statusLine"),
    *("enabledPlugins", "extraKnownMarketplaces", "strictKnownMarketplaces", "extensions", "skillDirectories"),
    *("enabledMcpServers", "disabledMcpServers", "mcpServers", "githubMcpToolsets", "githubMcpTools"),
    *("enableAllGithubMcpTools", "telemetry", "copilotUrl", "proxyUrl", "powershellFlags", "remoteSessions"),
    "ahpEnvironment",
)
COPILOT = AgentSettings(
    "Copilot CLI",
    (
        SettingsFolder(
            PROJECT,
            (
                SettingsFile(".github/copilot/settings.json", _COPILOT),
                SettingsFile(".github/copilot/settings.local.json", _COPILOT),
                SettingsFile(".github/hooks/*.json", ALL),
                SettingsFile(".github/mcp.json", ALL),
                SettingsFile(".github/extensions/*/extension.*"),
            ),
        ),
        SettingsFolder(
            "~/.copilot",
            (
                SettingsFile("settings.json", _COPILOT),
                SettingsFile("config.json", _COPILOT),
                SettingsFile("mcp-config.json", ALL),
                SettingsFile("permissions-config.json", ALL, ALL),
                SettingsFile("hooks/*.json", ALL),
                SettingsFile("extensions/*/extension.*"),
            ),
            "COPILOT_HOME",
        ),
    ),
)

_OPENCODE = (
    *("plugin", "permission", "mcp", "tools", "formatter", "lsp", "shell", "instructions", "provider", "experimental"),
    *("agent.*.permission", "agent.*.tools", "mode.*.permission", "mode.*.tools"),
)
_OPENCODE_FILES = (
    *(SettingsFile(name, _OPENCODE) for name in ("opencode.json", "opencode.jsonc")),
    *(SettingsFile(f"{folder}/*.{kind}") for folder in ("plugin*", "tool*") for kind in ("js", "ts")),
)
OPENCODE = AgentSettings(
    "opencode",
    (
        SettingsFolder(PROJECT, (*_OPENCODE_FILES[:2], *_in(".opencode", _OPENCODE_FILES))),
        SettingsFolder(
            "~/.config/opencode",
            (*_OPENCODE_FILES, SettingsFile("config.json", _OPENCODE)),
            "XDG_CONFIG_HOME",
            "opencode",
        ),
        SettingsFolder("~/.opencode", _OPENCODE_FILES, "OPENCODE_CONFIG_DIR"),
    ),
)

CLINE = AgentSettings(
    "Cline",
    (
        SettingsFolder(
            PROJECT,
            (
                SettingsFile(".clinerules/hooks/*"),
                SettingsFile(".cline/hooks/*"),
                SettingsFile(".cline/plugins/*"),
                SettingsFile(".cline/plugins/*/*"),
            ),
        ),
        SettingsFolder("~/Documents/Cline", (SettingsFile("Hooks/*"),)),
        SettingsFolder("~/.cline", tuple(map(SettingsFile, ("hooks/*", "plugins/*", "plugins/*/*"))), "CLINE_DIR"),
        SettingsFolder(
            "~/.cline/data",
            (SettingsFile("settings/cline_mcp_settings.json", ALL, ("mcpServers.*.autoApprove",)),),
            "CLINE_DATA_DIR",
        ),
    ),
)

_CURSOR = ("permissions", "approvalMode", "sandbox", "hooks", "mcpServers")
CURSOR = AgentSettings(
    "Cursor",
    (
        SettingsFolder(
            PROJECT,
            (
                SettingsFile(".cursor/hooks.json", ALL),
                SettingsFile(".cursor/mcp.json", ALL),
                SettingsFile(".cursor/cli.json", _CURSOR, ("permissions",)),
            ),
        ),
        SettingsFolder(
            "~/.cursor",
            (
                SettingsFile("hooks.json", ALL),
                SettingsFile("mcp.json", ALL),
                SettingsFile("cli-config.json", _CURSOR, ("permissions",)),
            ),
            "CURSOR_CONFIG_DIR",
        ),
    ),
)

_POLICY = (SettingsFile("sentinel.toml"),)
GUARD = AgentSettings(
    "sentinel-guard",
    (
        SettingsFolder("~/.config/sentinel-guard", _POLICY, "XDG_CONFIG_HOME", "sentinel-guard"),
        SettingsFolder("~/.config/sentinel-guard", _POLICY, "SENTINEL_HOME", "config"),
    ),
)
"""The guard's own: the user's policy, which says what the agents may do."""

AGENTS = (CLAUDE, CODEX, GEMINI, QWEN, COPILOT, OPENCODE, CLINE, CURSOR, GUARD)


def rows() -> Iterator[tuple[AgentSettings, SettingsFolder, SettingsFile]]:
    """The whole table, file by file."""
    for agent in AGENTS:
        for folder in agent.folders:
            for file in folder.files:
                yield agent, folder, file
