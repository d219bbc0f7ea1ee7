"""Programs that take their commands from a terminal where no text or file is given: shells, interpreters, databases."""

from __future__ import annotations

from collections.abc import Sequence

from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, STDIN, Parsed
from sentinel_guard.core.analysis.programs.databases.database_clients import CLIENTS, Client
from sentinel_guard.core.model import Command

_PYTHONS = ("python", "python2", "python3", "pypy", "pypy3", *(f"python3.{minor}" for minor in range(6, 20)))
_LANGUAGES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*_PYTHONS, "ipython", "ipython3", "bpython", "ptpython"), ("-c", "-m", "-V", "-h")),
    **dict.fromkeys(("node", "nodejs"), ("-e", "-p", "-c", "-v", "-h", "--eval", "--print", "--test", "--run")),
    "deno": ("-V", "-h"),
    **dict.fromkeys(("ruby", "irb", "pry", "perl", "lua", "luajit"), ("-e", "-E", "-v", "-V", "-h")),
    **dict.fromkeys(("R", "julia", "iex", "ghci", "jshell", "scala"), ("-e", "-E", "-f", "-h", "--eval", "--file")),
}
"""Program -> the options besides an operand with which it does not prompt: they give it its text, or ask what it is."""
_STAYS = frozenset((*_PYTHONS, "ipython", "ipython3", "node", "nodejs", "lua", "luajit"))
"""Those that prompt after the script, if told so by -i; to others it is something else (perl -i)."""
_VERBS = {"deno": "repl", "bun": "repl"}
"""The word that asks for a prompt."""
_OTHER_CLIENTS: dict[str, tuple[int, tuple[str, ...]]] = {
    **dict.fromkeys(("redis-cli", "valkey-cli"), (0, ("-x", "-X"))),
    **dict.fromkeys(("mongosh", "mongo"), (1, ("--eval",))),
}
"""Database clients without SQL -> how many operands say where the data is, and the options that give a text."""
_TELLS = frozenset(("--version", "--help", "-?", "-l", "--list", "-V"))
"""Options with which a client only tells something."""
_OTHER_INPUT = frozenset(
    ("docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc", "lxc", "ssh", "vagrant", "xargs", "parallel")
)
"""What starts a program in a container or on another machine, where it is not ours to see, or gives it no terminal."""
_OTHER_PATH = "env"
"""What may start a program with another PATH, and so beside its shim."""


def reads_terminal(own: Command, parsed: Parsed) -> bool:
    """Whether a command whose standard input is a terminal prompts there for commands that nobody sees.

    A bash that is called by its name does not count: its shim has it ask about each line.
    """
    name, given = own.program, [item.text for item in parsed.operands if item.text not in STDIN]
    if not _OTHER_INPUT.isdisjoint(via.partition(" ")[0] for via in own.via):
        return False
    if name in SHELLS:
        asks = own.argv[0] == "bash" and _OTHER_PATH not in own.via
        return not (asks or _has(parsed, "-c", "--command", "--version")) and (not given or _has(parsed, "-s"))
    if name in _LANGUAGES or name in _VERBS:
        return _prompts_for_code(name, own, parsed, given)
    if name in _OTHER_CLIENTS:
        places, texts = _OTHER_CLIENTS[name]
        return len(given) <= places and not _has(parsed, *texts, *_TELLS)
    return name in CLIENTS and _prompts_for_sql(CLIENTS[name], parsed, given)


def _prompts_for_code(name: str, own: Command, parsed: Parsed, given: Sequence[str]) -> bool:
    if name in _VERBS and _VERBS[name] in (own.subcommand, *given[:1]):
        return True
    if name in _STAYS and _has(parsed, "-i"):
        return True
    return name in _LANGUAGES and not (given or _has(parsed, *_LANGUAGES[name], "--version", "--help"))


def _prompts_for_sql(client: Client, parsed: Parsed, given: Sequence[str]) -> bool:
    if client.verb and list(given[:1]) != client.verb.split()[:1]:
        return False
    texts = given[client.operands :] if client.operands >= 0 else ()
    return not texts and not _has(parsed, *client.sql, *client.files, *_TELLS)


def _has(parsed: Parsed, *options: str) -> bool:
    return not parsed.flags.keys().isdisjoint(options)
