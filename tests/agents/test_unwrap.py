"""Wrappers of the coding agents: taken off exactly, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.agents import claude, codex, copilot, gemini
from sentinel_guard.agents.registry import AGENTS, of_process
from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository, told

SNAPSHOT = "/home/dev/.claude/shell-snapshots/snapshot-bash-1795383284012-p15274.sh"
CODEX_SNAPSHOT = "/home/dev/.codex/shell_snapshots/01a2052e-e00b.1795383287891449180.sh"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\"'\"'") + "'"


def of_claude(command: str, snapshot: str = SNAPSHOT) -> str:
    off = r"{ \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && "
    loads = f"source {snapshot} 2>/dev/null || true && "
    return (
        rf"{loads}\builtin shopt -u extglob 2>/dev/null || true && {off}eval {quoted(command)} < /dev/null "
        "&& pwd -P >| /tmp/claude-b95a-cwd"
    )


def of_codex(command: str, snapshot: str = CODEX_SNAPSHOT, tools: str = "/x/codex-path") -> str:
    number = "__CODEX_SNAPSHOT_OVERRIDE_0"
    flag = "__CODEX_SNAPSHOT_OVERRIDE_SET_0"
    saved = f'{flag}="${{CODEX_VERSION+x}}"\n{number}="${{CODEX_VERSION-}}"\n'
    unset = "builtin unset {0} 2>/dev/null || command unset {0}"
    restored = (
        f'if [ -n "${{{flag}}}" ]; then\n'
        f'  if [ -z "${{CODEX_VERSION+x}}" ] || [ "${{CODEX_VERSION-}}" != "${{{number}}}" ]; then '
        f'export CODEX_VERSION="${{{number}}}"; else export CODEX_VERSION; fi\n'
        f"else {unset.format('CODEX_VERSION')}; fi\n{unset.format(f'{flag} {number}')}\n"
    )
    path = f"if [ -n \"${{PATH:-}}\" ]; then export PATH='{tools}':\"$PATH\"; else export PATH='{tools}'; fi\n"
    loads = f"if . {quoted(snapshot)} >/dev/null 2>&1; then :; fi"
    return f"{saved}\n{loads}\n\n{restored}{path}\nexec '/bin/bash' -c {quoted(command)}"


def of_gemini(command: str) -> str:
    return (
        "shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/tmp/gemini-shell-eti5q4/bgpids.tmp\n"
        f"(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n{command}\n)\n__code=$?\nexit $__code"
    )


WRAPPED = ((claude.AGENT, of_claude), (codex.AGENT, of_codex), (gemini.AGENT, of_gemini))


@pytest.mark.parametrize(("agent", "wrap"), WRAPPED, ids=["claude", "codex", "gemini"])
@given(command=st.text(st.characters(exclude_characters="\0")))
def test_the_models_text_comes_out_as_it_went_in(agent, wrap, command):
    framed = agent.unwrap(wrap(command))
    assert framed is not None and framed.command == command


NOT_UNWRAPPED = (
    (claude.AGENT, of_claude("ls") + " && date", "something behind it"),
    (claude.AGENT, "date && " + of_claude("ls"), "something before it"),
    (claude.AGENT, of_claude("ls").replace("pwd -P", "pwd -P; date"), "something inside"),
    (claude.AGENT, of_claude("ls").replace("'ls'", "'ls'; date; eval 'ls'"), "a second command"),
    (claude.AGENT, of_claude("ls").replace("'ls'", '"$(date)"'), "a word that the shell would expand"),
    (claude.AGENT, of_claude("ls").replace("'ls'", "'l's"), "a word that is quoted in part"),
    (claude.AGENT, of_claude("ls", "/tmp/x.sh"), "a file that is no snapshot of the shell"),
    (claude.AGENT, of_claude("ls", "$HOME/.claude/shell-snapshots/snapshot-bash-1-a.sh"), "a path with a variable"),
    (claude.AGENT, of_claude("ls", "shell-snapshots/snapshot-bash-1-a.sh"), "a path that is not absolute"),
    (claude.AGENT, of_claude("ls").replace("/tmp/claude-b95a-cwd", "/etc/profile"), "another file is written"),
    (claude.AGENT, of_claude("ls").replace("'which'", "'which'; date '"), "a name that is none"),
    (codex.AGENT, of_codex("ls") + "; date", "something behind it"),
    (codex.AGENT, of_codex("ls", "/tmp/x.sh"), "a file that is no snapshot of the shell"),
    (codex.AGENT, of_codex("ls").replace("; then :; fi", "; then date; fi"), "something after the snapshot"),
    (codex.AGENT, of_codex("ls").replace('"${CODEX_VERSION-}"', '"$(date)"'), "a value that is run"),
    (codex.AGENT, of_codex("ls").replace("'/x/codex-path'", '"$(date)"'), "a folder that is run"),
    (codex.AGENT, of_codex("ls").replace("exec '/bin/bash' -c", "exec '/bin/bash' -c 'date' -c"), "other arguments"),
    (codex.AGENT, of_codex("ls").replace("\n\n", "\n\ndate\n", 1), "a line more"),
    (codex.AGENT, of_codex("ls").replace("'/bin/bash'", "'/tmp/bash'"), "a shell that the model has made"),
    (codex.AGENT, of_codex("ls").replace("'/bin/bash'", "'/bin/date'"), "a program that is no shell"),
    (gemini.AGENT, of_gemini("ls") + "\ndate", "something behind it"),
    (gemini.AGENT, of_gemini("ls").replace("jobs -p", "date; jobs -p"), "another trap"),
    (gemini.AGENT, of_gemini("ls").replace("/tmp/gemini-shell-eti5q4", "/etc"), "another file is written"),
)


@pytest.mark.parametrize(("agent", "text"), [row[:2] for row in NOT_UNWRAPPED], ids=[row[2] for row in NOT_UNWRAPPED])
def test_a_wrapper_that_deviates_stays_and_is_known_as_one(agent, text):
    assert agent.unwrap(text) is None
    assert agent.is_unknown_wrapper(text)


PLAIN = ("ls", "git commit -m 'pwd -P'", "source ~/.bashrc && eval 'ls'", "", "( trap 'x' EXIT\nls\n)")


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_text_is_no_wrapper(agent, text):
    assert agent.unwrap(text) is None and not agent.is_unknown_wrapper(text) and not agent.starts_for_itself(text)


OWN = (
    (claude.AGENT, "env", True, "its look at the environment"),
    (claude.AGENT, f"SNAPSHOT_FILE={SNAPSHOT}\n  echo", True, "it takes the snapshot"),
    (claude.AGENT, "env; date", False, "the model's own"),
    (codex.AGENT, 'set -e; . "/home/dev/.codex/shell_snapshots/01a2.tmp-17"', True, "it tries the snapshot out"),
    (codex.AGENT, 'set -e; . "/home/dev/.codex/shell_snapshots/$(date)"', False, "a path that is run"),
)


@pytest.mark.parametrize(("agent", "text", "own"), [row[:3] for row in OWN], ids=[row[3] for row in OWN])
def test_what_an_agent_runs_for_itself(agent, text, own):
    assert agent.starts_for_itself(text) is own


PROCESSES = (
    ("/opt/claude-code/bin/claude.exe", ("/x/.bin/claude", "-p"), "claude", "a program of its own"),
    ("/usr/bin/node", ("node", "/x/.bin/gemini", "-m", "x"), "gemini", "a script of node's"),
    ("/usr/bin/node", ("/usr/bin/node", "--max-old-space-size=12052", "/x/gemini.js"), "gemini", "options before it"),
    ("/usr/bin/node", ("node", "--expose-gc", "/x/@qwen-code/qwen-code/cli.js"), "qwen", "by the package's folder"),
    ("/x/vendor/codex", ("codex", "app-server"), "codex", "its server"),
    ("/usr/bin/node", ("node", "build.js", "claude"), "", "a word of another script"),
    ("/usr/bin/python3", ("python3", "claude"), "", "another interpreter's script"),
    ("/usr/bin/bash", ("bash", "-c", "claude"), "", "a shell that would start it"),
    ("", (), "", "a process that cannot be read"),
)


@pytest.mark.parametrize(("executable", "command", "name"), [p[:3] for p in PROCESSES], ids=[p[3] for p in PROCESSES])
def test_which_agent_a_process_is(executable, command, name):
    agent = of_process(executable, command)
    assert (agent.name if agent else "") == name


def test_each_agent_has_programs_of_its_own():
    programs = [program for agent in AGENTS for program in agent.programs]
    assert len(programs) == len(set(programs)) and len({a.name for a in AGENTS}) == len(AGENTS)


REDEFINED = (
    (claude.AGENT, of_claude("pwd() { rm x; }"), "the folder is asked for behind the command"),
    (gemini.AGENT, of_gemini("jobs() { rm x; }"), "the jobs are asked for behind the command"),
)


@pytest.mark.parametrize(("agent", "text"), [row[:2] for row in REDEFINED], ids=[row[2] for row in REDEFINED])
def test_what_the_wrapper_runs_in_the_same_shell_is_judged_with_the_command(agent, text):
    world = repository({})
    framed = agent.unwrap(text)
    assert framed is not None
    assert told(effects_of(framed.command, world), Kind.DELETE) == []
    assert [row.split(" ")[:2] for row in told(effects_of(framed.around, world), Kind.DELETE)] == [["delete", "x"]]


def test_a_detached_command_of_copilots_is_judged_with_what_stands_before_it():
    text = "echo $$ > '/tmp/copilot-detached-a-1.pid'; touch $_"
    framed = copilot.AGENT.unwrap(text)
    assert framed is not None and (framed.command, framed.around) == ("touch $_", text)


def test_the_file_that_geminis_wrapper_writes_is_what_the_command_makes_it():
    framed = gemini.AGENT.unwrap(of_gemini("_bgpids_file=a.txt"))
    assert framed is not None
    assert "write a.txt truncate" in told(effects_of(framed.around, repository({})), Kind.WRITE)
