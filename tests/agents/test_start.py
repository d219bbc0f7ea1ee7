"""How a command line starts an agent: the option that keeps its tools inside the session, and what is refused."""

from __future__ import annotations

import pytest

from sentinel_guard.agents.registry import AGENTS, NAMED, environ, server_of, started

ALONE, SEEN = "--no-daemon", "--bash-env=on"
STARTS = (
    ("codex", f"codex {ALONE}", "its full screen works in a server by default"),
    ("codex fix it", f"codex {ALONE} fix it", "a prompt"),
    ("codex -m gpt-5.5 -C /r", f"codex {ALONE} -m gpt-5.5 -C /r", "options with values"),
    ("codex resume --last", f"codex {ALONE} resume --last", "measured to hold before a subcommand"),
    ("codex fork x", f"codex {ALONE} fork x", "a fork works too"),
    ("codex agents", f"codex {ALONE} agents", "so does the list of agents"),
    ("codex -p me exec x", f"codex {ALONE} -p me exec x", "harmless where the subcommand does not need it"),
    ("codex -- --no-daemon", f"codex {ALONE} -- --no-daemon", "behind -- it is a prompt"),
    ("/opt/bin/codex x", f"/opt/bin/codex {ALONE} x", "by its path"),
    ("node /opt/codex.js x", f"node /opt/codex.js {ALONE} x", "by its interpreter"),
    ("npx codex x", f"npx codex {ALONE} x", "fetched"),
    ("npx -y @openai/codex@latest x", f"npx -y @openai/codex@latest {ALONE} x", "a package of one version"),
    ("npx -p @openai/codex codex x", f"npx -p @openai/codex codex {ALONE} x", "a program of a package"),
    ("pnpm dlx @openai/codex", f"pnpm dlx @openai/codex {ALONE}", "another fetcher"),
    ("codex --no-daemon x", "codex --no-daemon x", "given already"),
    ("codex resume x --no-daemon", "codex resume x --no-daemon", "given at the end"),
    ("codex exec fix it", "codex exec fix it", "it runs its tools by itself"),
    ("codex e x", "codex e x", "by its short name"),
    ("codex login", "codex login", "no tools"),
    ("codex mcp list", "codex mcp list", "no tools"),
    ("codex app-server", "codex app-server", "on standard input and output"),
    ("codex exec-server --remote x", "codex exec-server --remote x", "another option of that name"),
    ("codex --help", "codex --help", "nothing is started"),
    ("codex resume -h", "codex resume -h", "nothing is started"),
    ("codex --version", "codex --version", "nothing is started"),
    ("codex remote-control stop", "codex remote-control stop", "it ends a server"),
    ("codex remote-control --no-daemon", "codex remote-control --no-daemon", "a server of its own, in front"),
    ("copilot", f"copilot {SEEN}", "full screen"),
    ("copilot -p login", f"copilot {SEEN} -p login", "a prompt that is called as a subcommand"),
    ("copilot --model x -p y", f"copilot {SEEN} --model x -p y", "without a terminal"),
    ("copilot init", f"copilot {SEEN} init", "a model works there"),
    ("npx @github/copilot", f"npx @github/copilot {SEEN}", "fetched"),
    ("copilot --bash-env", "copilot --bash-env", "given already"),
    ("copilot --bash-env=on", "copilot --bash-env=on", "given with its value"),
    ("copilot -p x --bash-env on", "copilot -p x --bash-env on", "given with its value apart"),
    ("copilot help config", "copilot help config", "no model"),
    ("copilot login", "copilot login", "no model"),
    ("copilot mcp list", "copilot mcp list", "no model"),
    ("copilot --version", "copilot --version", "no model"),
    ("claude -p x", "claude -p x", "a variable holds it"),
    ("claude daemon stop", "claude daemon stop", "it ends a server"),
    ("cline fix it", "cline fix it", "a variable holds it"),
    ("cline auth", "cline auth", "no tools"),
    ("cline -kzz x", "cline -kzz x", "a value"),
    ("cline fix the hub", "cline fix the hub", "a prompt in words"),
    ("claude -- fix agents", "claude -- fix agents", "a prompt"),
    ("claude mcp add agents", "claude mcp add agents", "the name of something"),
    ("opencode", "opencode", "it works by itself"),
    ("opencode run fix it", "opencode run fix it", "without a terminal"),
    ("opencode serve", "opencode serve", "its tools are below it"),
    ("gemini -p x", "gemini -p x", "it works by itself"),
    ("qwen serve", "qwen serve", "its tools are below it"),
)  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), [r[:2] for r in STARTS], ids=[f"{r[0]}: {r[2]}" for r in STARTS])
def test_an_agent_is_started_with_what_it_needs_and_nothing_else(command, expected):
    found = started(command.split())
    assert found is not None and not found.start.refused
    assert " ".join(found.command) == expected
    added = expected if expected != command else ""
    assert (found.start.added in expected) and bool(found.start.added) == bool(added)
    assert bool(found.start.note) == bool(added), "the person is told of what was added, once"


REFUSED = (
    ("codex --remote ws://h:1", "--remote", "a server of somebody's"),
    ("codex resume --remote=unix://", "--remote", "behind a subcommand, with its value"),
    ("codex queue --thread x --message y", "queue", "a message to a server"),
    ("codex app-server proxy", "app-server proxy", "a way to a server"),
    ("codex remote-control", "remote-control", "a server that stays"),
    ("codex remote-control start", "remote-control", "a server that stays"),
    ("claude --bg fix it", "--bg", "below a supervisor"),
    ("claude -p x --background", "--background", "its long name"),
    ("claude attach 1", "attach", "what a supervisor runs"),
    ("claude agents", "agents", "what a supervisor runs"),
    ("claude respawn --all", "respawn", "what a supervisor runs"),
    ("claude -w x --tmux=classic", "--tmux", "below tmux's server"),
    ("claude --continue --desktop", "--desktop", "in another program"),
    ("cline --zen x", "--zen", "in the hub"),
    ("cline -z x", "-z", "in the hub, by its short name"),
    ("cline -pz x", "-pz", "the same, among others"),
    ("cline hub start", "hub", "the hub"),
    ("cline schedule list", "schedule", "the hub works later"),
    ("cline connect", "connect", "the hub works for a channel"),
    ("cline dashboard", "dashboard", "the hub works for a browser"),
    ("opencode attach http://localhost:4096", "attach", "a server's screen"),
    ("opencode run --attach http://localhost:4096 x", "--attach", "a server's work"),
    ("copilot --connect", "--connect", "a session elsewhere"),
    ("copilot --connect=x", "--connect", "a session elsewhere, named"),
    ("copilot app", "app", "another program"),
    ("npx -y opencode-ai attach http://h", "attach", "fetched"),
    ("claude --verbose attach 1", "attach", "behind an option"),
    ("claude --model opus attach 1", "attach", "behind an option with a value"),
    ("claude -- agents", "agents", "behind the end of options, where claude still takes it for a subcommand"),
    ("claude --verbose -- agents", "agents", "the same, with an option"),
    ("opencode -- attach http://h", "attach", "the same"),
    ("opencode --print-logs attach http://h", "attach", "behind an option"),
    ("opencode --log-level=DEBUG attach http://h", "attach", "behind an option whose value is its own"),
    ("cline -v hub start", "hub", "behind an option"),
    ("codex -c x=y queue --thread x", "queue", "behind an option with a value"),
    ("codex app-server --analytics-default-enabled proxy", "app-server proxy", "behind an option"),
    ("codex -m x remote-control start", "remote-control", "behind an option with a value"),
    ("copilot --model x app", "app", "behind an option with a value"),
)


@pytest.mark.parametrize(("command", "word"), [r[:2] for r in REFUSED], ids=[f"{r[0]}: {r[2]}" for r in REFUSED])
def test_what_works_outside_of_the_session_is_refused(command, word):
    found = started(command.split())
    assert found is not None and found.start.refused == word


@pytest.mark.parametrize("words", ["--no-bash-env", "--bash-env=off", "--bash-env off", "--bash-env --no-bash-env"])
def test_a_copilot_whose_shell_the_person_wants_unseen_is_told_to_be_so(words):
    found = started(["copilot", *words.split()])
    assert found and " ".join(found.command) == f"copilot {words}"
    assert "not seen" in found.start.note and not found.start.added
    assert found.start.unseen in words


NO_AGENTS = (
    ("", "nothing"),
    ("bash -c codex", "a shell: its own shims see to it"),
    ("node agent.js codex", "a script of another name, with an argument"),
    ("npx tsc codex", "another package"),
    ("npx", "a fetcher alone"),
    ("codex-helper", "another program"),
)


@pytest.mark.parametrize("command", [r[0] for r in NO_AGENTS], ids=[r[1] for r in NO_AGENTS])
def test_any_other_command_is_left_alone(command):
    assert started(command.split()) is None


CODEX = "/home/dev/.codex/packages/app-server-daemon/releases/0.169.0/bin/codex"
CLAUDE = "/opt/claude-code/bin/claude.exe"
PROCESSES = (
    ("codex", CODEX, f"{CODEX}|app-server|--listen|unix://|--analytics-default-enabled|--managed-daemon", "0.169"),
    ("codex", CODEX, f"{CODEX}|app-server|daemon|pid-update-loop", "what renews it"),
    ("codex", "/usr/bin/node", "node|/opt/bin/codex|app-server|--listen|unix://", "0.150, by its interpreter"),
    ("codex", CODEX, f"{CODEX}|app-server|--listen=ws://127.0.0.1:1", "on a port"),
    ("", CODEX, f"{CODEX}|app-server", "an editor's, on its standard input"),
    ("", CODEX, f"{CODEX}|app-server|--listen|stdio://", "the same, named"),
    ("", CODEX, f"{CODEX}|--no-daemon", "a client"),
    ("", CODEX, f"{CODEX}|what does app-server --listen unix:// do", "a client's prompt"),
    ("claude", CLAUDE, f"{CLAUDE}|daemon|run|--origin|transient", "the supervisor"),
    ("claude", CLAUDE, "claude bg-pty-host|--bg-pty-host|/tmp/x.sock|200|50", "a background session's terminal"),
    ("claude", CLAUDE, "claude bg-spare|--bg-spare|/tmp/x.sock", "a background session"),
    ("", CLAUDE, "claude|--dangerously-skip-permissions", "a client"),
    ("cline", "/opt/cline", "/opt/cline|--cline-hub-daemon|--cwd|/r|--port|25463", "the hub"),
    ("", "/opt/cline", "/opt/cline|-i", "a client"),
    ("opencode", "/opt/opencode", "/opt/opencode|serve|--port|4096", "a server"),
    ("", "/opt/opencode", "/opt/opencode|run|serve", "a client's prompt"),
    ("qwen", "/usr/bin/node", "node|/opt/bin/qwen|serve", "a server"),
    ("", "/usr/bin/node", "node|/opt/bin/gemini|serve", "it has none"),
    ("", "/usr/bin/node", "node|server.js|app-server|--listen|unix://", "a person's own"),
)


@pytest.mark.parametrize(("name", "program", "words"), [r[:3] for r in PROCESSES], ids=[r[3] for r in PROCESSES])
def test_an_agents_server_is_known_by_its_command_line(name, program, words):
    found = server_of(program, words.split("|"))
    assert (found.name if found else "") == name


def test_the_variables_name_the_sessions_own_folder():
    found = environ("/state/sessions/s{1}")
    assert found["CLINE_HUB_DISCOVERY_PATH"] == "/state/sessions/s{1}/cline/hub.json"
    assert found["CLAUDE_CODE_DISABLE_AGENT_VIEW"] == "1"


def test_who_can_work_elsewhere_or_needs_an_option_is_looked_at_inside_a_session():
    assert {"codex", "copilot", "claude", "cline", "opencode"} <= set(NAMED)
    assert {a.name for a in AGENTS} - {"cursor", "gemini", "qwen"} == {
        a.name for a in AGENTS if a.programs & set(NAMED)
    }
