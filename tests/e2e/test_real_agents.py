"""The real agent programs under guard, each played by a scripted model (docs/agents.md).

Each is run where it is found on PATH or below $SENTINEL_TEST_CLIENTS (a folder with NAME/node_modules/.bin/PROGRAM),
else skipped. Home, repository and guard are throw-away, the model listens on loopback, and the keys are dummies.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.scripted_model import ScriptedModel

PROMPT = "run the script"
LOOP = "SYSTEM INTERVENTION: Loop Detected."
FOLDER = os.environ.get("SENTINEL_TEST_CLIENTS", "")
"""Read before a fixture clears such names away."""


@dataclass(frozen=True)
class Client:
    """How an agent is started without a terminal, against the model at ``url``; ``{home}`` is filled in as well."""

    program: str
    arguments: tuple[str, ...]
    environ: dict[str, str]
    files: dict[str, object]
    """Settings below the home: path -> JSON."""


def _ours(url: str) -> str:
    mock = {"name": "mock", "base_url": f"{url}/v1", "wire_api": "responses", "env_key": "OPENAI_API_KEY"}
    return "model_providers.mock={" + ",".join(f"{k}={json.dumps(v)}" for k, v in mock.items()) + "}"


def claude(url: str) -> Client:
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "IS_SANDBOX")
    environ = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", **dict.fromkeys(quiet, "1")}
    return Client("claude", ("-p", PROMPT, "--dangerously-skip-permissions"), environ, {})


def codex(url: str) -> Client:
    settings = ("model_provider=mock", _ours(url), "check_for_update_on_startup=false", "analytics.enabled=false")
    flags = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.5")
    given = [word for setting in settings for word in ("-c", setting)]
    return Client("codex", ("exec", *flags, *given, PROMPT), {"OPENAI_API_KEY": "dummy"}, {".codex/empty.json": {}})


def gemini(url: str) -> Client:
    environ = {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    }
    flags = ("-m", "gemini-2.5-pro", "-p", PROMPT, "--approval-mode", "yolo")
    return Client("gemini", flags, environ, {".gemini/settings.json": settings})


def qwen(url: str) -> Client:
    environ = {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    }
    flags = ("--auth-type", "openai", "-m", "scripted", "-p", PROMPT, "--yolo")
    return Client("qwen", flags, environ, {".qwen/settings.json": settings})


def opencode(url: str) -> Client:
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
    provider = {"options": {"baseURL": f"{url}/v1", "apiKey": "dummy"}, "models": {"scripted": model}}
    allow = dict.fromkeys(("edit", "bash", "webfetch", "external_directory"), "allow")
    name = "anthropic/scripted"
    settings = {"autoupdate": False, "share": "disabled", "provider": {"anthropic": provider}, "permission": allow}
    settings |= {"model": name, "small_model": name}
    quiet = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD")
    files = {".config/opencode/opencode.json": settings}
    return Client("opencode", ("run", "--model", name, PROMPT), dict.fromkeys(quiet, "1"), files)


def copilot(url: str) -> Client:
    environ = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "gpt-5.4"}
    provider = {"TYPE": "openai", "BASE_URL": f"{url}/v1", "WIRE_API": "completions", "API_KEY": "dummy"}
    environ |= {f"COPILOT_PROVIDER_{k}": v for k, v in provider.items()}
    # Its /bin/bash reads BASH_ENV, and so goes through the shim, with this flag only.
    flags = ("-p", PROMPT, "--disable-client-telemetry", "--allow-all-tools", "--trust-folder", "--bash-env")
    return Client("copilot", flags, environ, {})


CLIENTS = (claude, codex, gemini, qwen, opencode, copilot)


def found(program: str) -> str | None:
    below = sorted(Path(FOLDER).glob(f"*/node_modules/.bin/{program}")) if FOLDER else []
    return str(below[0]) if below else shutil.which(program)


def paths(path: str) -> str:
    """With a newer node in front, where one stands beside the agents: some ask for it."""
    nodes = sorted(Path(FOLDER).glob("*/node_modules/node-linux-*/bin")) if FOLDER else []
    return ":".join([*map(str, nodes[:1]), path])


@pytest.mark.parametrize("make", CLIENTS, ids=lambda make: make.__name__)
def test_a_real_agent_is_guarded(stage, make: Callable[[str], Client]):
    program = found(make.__name__)
    if program is None:
        pytest.skip(f"{make.__name__} is neither on PATH nor below $SENTINEL_TEST_CLIENTS")
    stage.commit(a__txt="a\n")
    start = stage.git("rev-parse", "HEAD")
    stage.policy("[breaker]\nseconds = 1\n")
    failing = "ls no-such-file"
    gone = "for i in 1 2 3 4 5 6; do ls key.pem || break; sleep 0.3; done"
    steps = (
        ("shell", "echo hello; git rev-parse HEAD"),
        ("shell", "echo x >> .env"),
        ("write", str(stage.repo / "key.pem"), "by the agent's own tool"),
        ("shell", f"{gone}; printf 'def f(:\\n' > bad.py; python3 -m py_compile bad.py"),
        *(("shell", failing) for _ in range(4)),
        ("shell", "sleep 1.2"),
        ("shell", f"rm -r {stage.repo}/.git"),
        ("shell", "echo never > reached"),
    )
    model = ScriptedModel(steps)
    try:
        client = make(model.url)
        for name, settings in client.files.items():
            file = stage.home / name
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(settings))
        path = paths(stage.environ["PATH"])
        environ = {**stage.environ, **client.environ, "PATH": path, "SHELL": shutil.which("bash") or "/bin/bash"}
        done = stage.sentinel("run", "--", program, *client.arguments, env=environ)
    finally:
        model.close()
    told = dict(enumerate(model.told))
    assert "hello" in told[0] and start.strip() in told[0], (told, done)
    assert "403 SENTINEL BLOCKED" in told[1], "the model is told why"
    assert "SENTINEL HINT" in told[3] and "bad.py:1" in told[3], "and what is wrong with its file"
    assert "No such file" in told[3], "the watcher took away what the agent's own tool wrote"
    assert LOOP not in told[5] and LOOP in told[6] and LOOP in told[7], "the third failure trips the breaker"
    assert done.returncode == 137 and "SENTINEL KILL SWITCH" in done.stderr, "the kill switch ends the agent"
    assert len(model.told) <= 9 and not (stage.repo / "reached").exists(), "and nothing comes after it"
    assert stage.git("rev-parse", "HEAD") == start and not (stage.repo / "bad.py").exists()
    assert stage.git("status", "--porcelain", "--", ":!docs/incidents") == ""
    assert any(str(e["data"]["path"]).endswith(".pem") for e in stage.log(kind="watch")), "it was the watcher indeed"
    refused = [e["data"] for e in stage.log(kind="verdict", level="L2") if "argv" in e["data"]["arguments"]]
    rules = {f["rule"] for data in refused for f in data["findings"]}
    assert not {r for r in rules if r.startswith("git.")}, "the agent's own questions to git are let through"
