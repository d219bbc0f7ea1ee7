"""Codex CLI: its wrapper saves variables, loads a snapshot of the person's shell, restores them, runs the command.

Its model can have a text run without the wrapper (``login: false``, another folder), and such a text may look like
one. So nothing of the wrapper is taken on trust: what it saves and restores is rendered anew from the names of the
variables and compared, so that each gets back the value that it had.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from sentinel_guard.agents.base import QUOTED, CodingAgent, Framed, Start, given, subcommand, unquoted
from sentinel_guard.agents.hook_dialect import CallEnd, HookDialect, Moment, Places, Word

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_SET = rf'__CODEX_SNAPSHOT_(?P<kind>(?:PROXY_)?OVERRIDE)_SET_\d+="\$\{{(?P<name>{_NAME})\+x\}}"'
_PROXIES_SET = '__CODEX_SNAPSHOT_PROXY_ENV_SET="${CODEX_NETWORK_PROXY_ACTIVE+x}"\n'
_PROXIES = 'if [ -n "$__CODEX_SNAPSHOT_PROXY_ENV_SET" ] || [ -n "${CODEX_NETWORK_PROXY_ACTIVE+x}" ]; then\n'
_SAVE = '@flag@="${@name@+x}"\n@value@="${@name@-}"\n'
_RESTORES = (
    """if [ -n "${@flag@}" ]; then
  if [ -z "${@name@+x}" ] || [ "${@name@-}" != "${@value@}" ]; then export @name@="${@value@}"; else export @name@; fi
else builtin unset @name@ 2>/dev/null || command unset @name@; fi
builtin unset @flag@ @value@ 2>/dev/null || command unset @flag@ @value@
""",  # 0.169
    """if [ -n "${@flag@}" ]; then export @name@="${@value@}"; else unset @name@; fi
""",  # 0.150
)
_LOADS = "\nif . "
_SNAPSHOT = rf"(?P<snapshot>{QUOTED}) >/dev/null 2>&1; then :; fi\n\n"
_PATH = (
    rf'if \[ -n "\$\{{PATH:-\}}" \]; then export PATH=(?P<tools>{QUOTED}):"\$PATH"; '
    r"else export PATH=(?P=tools); fi\n"
)
# The model may name the shell: it must be one, and the machine's own.
_SHELL = r"'/(?:usr/(?:local/)?)?bin/(?:ba|z|da|k)?sh'"
_RUNS = rf"(?:{_PATH})?\nexec {_SHELL} -l?c (?P<command>{QUOTED})"
_SNAPSHOTS = r"/[^\n]*/shell_snapshots/[\w.-]+\.sh"


def _unwrap(text: str) -> Framed | None:
    saves, loads, rest = text.partition(_LOADS)
    snapshot = re.match(_SNAPSHOT, rest) if loads else None
    if snapshot is None or not re.fullmatch(_SNAPSHOTS, path := unquoted(snapshot["snapshot"])):
        return None
    rest = rest[snapshot.end() :]
    restores = next((known for known in _restores(saves) if rest.startswith(known)), None)
    runs = re.fullmatch(_RUNS, rest[len(restores) :]) if restores is not None else None
    if runs is None:
        return None
    # The shell is replaced by a new one: nothing of the wrapper runs behind the command.
    return Framed(unquoted(runs["command"]), snapshot=path, tools=unquoted(runs["tools"] or ""))


@lru_cache(maxsize=8)
def _restores(saves: str) -> tuple[str, ...]:
    """What restores the variables that these lines save, in each version; nothing where they do anything else."""
    found = [*re.finditer(_SET, saves)]
    plain = [each["name"] for each in found if each["kind"] == "OVERRIDE"]
    proxies = [each["name"] for each in found if each["kind"] == "PROXY_OVERRIDE"]
    asked = _PROXIES_SET if proxies else ""
    if saves != _rendered(_SAVE, "OVERRIDE", plain) + _rendered(_SAVE, "PROXY_OVERRIDE", proxies) + asked:
        return ()
    return tuple(
        _rendered(restore, "OVERRIDE", plain)
        + (f"{_PROXIES}{_rendered(restore, 'PROXY_OVERRIDE', proxies)}fi\n" if proxies else "")
        for restore in _RESTORES
    )


def _rendered(template: str, kind: str, names: Sequence[str]) -> str:
    lines = (
        template.replace("@flag@", f"__CODEX_SNAPSHOT_{kind}_SET_{at}")
        .replace("@value@", f"__CODEX_SNAPSHOT_{kind}_{at}")
        .replace("@name@", name)
        for at, name in enumerate(names)
    )
    return "".join(lines)


def _tools(program: str) -> str:
    """``rg`` and the like, which it brings along beside its own folder."""
    package, _, name = program.rpartition("/bin/")
    return f"{package}/codex-path" if package and "/" not in name else ""


_TAKES = r'(?s)if \[ -z "\$(?:\{BASH_ENV-\}|BASH_ENV)" \] && .*# Snapshot file.*compgen -e.*'
_TRIES = r'set -e; \. "(?P<stem>/[^"$`\\\n]*/shell_snapshots/[\w-]+)\.tmp-(?P<number>\d+)"'


def _snapshot_of(text: str) -> str:
    match = re.fullmatch(_TRIES, text)
    return f"{match['stem']}.{match['number']}.sh" if match else ""


_NO_SERVER = frozenset(
    (
        "a", "app-server", "apply", "archive", "cloud", "completion", "debug", "delete", "doctor", "e", "exec",
        "exec-server", "features", "help", "login", "logout", "mcp", "mcp-server", "migrate-nfs-db",
        "migrate-rollouts", "plugin", "review", "sandbox", "unarchive", "update",
    )
)  # fmt: skip
"""Subcommands that run no tools, or run them by themselves."""
_MANAGES = (("remote-control", "stop"), ("remote-control", "pair"))
_ALONE = "--no-daemon"


def _start(words: tuple[str, ...]) -> Start:
    first = words[0] if words else ""
    if given(words, "-h", "--help", "-V", "--version") or words[:2] in _MANAGES:
        return Start(words)
    elsewhere = subcommand(words, ("app-server", "queue", "remote-control"))
    behind = words[words.index(elsewhere) + 1 :] if elsewhere else ()
    if elsewhere == "app-server" and subcommand(behind, ("proxy",)):
        return Start(words, refused="app-server proxy")
    if elsewhere == "queue" or (elsewhere == "remote-control" and not given(words, _ALONE)):
        return Start(words, refused=elsewhere)
    if first not in _NO_SERVER and given(words, "--remote"):
        return Start(words, refused="--remote")
    if first in _NO_SERVER or given(words, _ALONE):
        return Start(words)
    note = f"codex is started with {_ALONE}, so that its tools run inside the session"
    return Start((_ALONE, *words), _ALONE, listed=True, note=note)


_EXITED = re.compile(r"Process exited with code (-?\d+)\n")


class _Hooks(HookDialect):
    """Any field that Codex does not expect makes the hook a failed one, and then the tool runs: the bare refusal."""

    client = "codex"
    events = {  # noqa: RUF012 - a table that nobody changes
        "SessionStart": Moment.BEGINS,
        "PreToolUse": Moment.CALL,
        "PostToolUse": Moment.RESULT,
        "UserPromptSubmit": Moment.RESTS,
        "Stop": Moment.RESTS,
    }
    places = Places(".codex/hooks.json", ".codex/hooks.json", "/etc/codex/requirements.toml", "CODEX_HOME")
    managed_settings = {"features": {"hooks": True}}  # noqa: RUF012 - a table that nobody changes
    trusts = True
    fails_open = (
        "a hook program that crashes, and a hook that is not trusted (any more), let the call run without a word; "
        "--disable hooks switches all off but those of --managed, which need no trust"
    )
    notes = ("Keys that are typed into a command that runs (write_stdin) are seen under 'sentinel-guard run' alone.",)

    def end(self, name: str, payload: Mapping[str, object]) -> CallEnd:
        del name
        said = payload.get("tool_response")
        return CallEnd(None, said if isinstance(said, str) else "")

    def late_ends(self, lines: Iterable[str]) -> Mapping[str, CallEnd]:
        found = {}
        for line in lines:
            item = _payload(line)
            said = item.get("output")
            if str(item.get("type", "")).endswith("call_output") and isinstance(said, str):
                exited = _EXITED.search(said)
                code = int(exited[1]) if exited else 0
                output = said.partition("\nOutput:\n")[2] or said
                found[str(item.get("call_id", ""))] = CallEnd(code, "" if code else output, output if code else "")
        return found

    def _said(self, moment: Moment, name: str, word: Word) -> Mapping[str, object]:
        return super()._said(moment, name, word._replace(text=word.text or "refused") if word.blocked else word)


def _payload(line: str) -> Mapping[str, object]:
    """The item of a line of its record; empty for what is none."""
    try:
        item = json.loads(line)
    except ValueError:
        return {}
    inner = item.get("payload") if isinstance(item, dict) else None
    return inner if isinstance(inner, dict) else {}


AGENT = CodingAgent(
    "codex",
    frozenset({"codex"}),
    _unwrap,
    patience=8.0,  # yields after 10
    marks=("__CODEX_SNAPSHOT", "/shell_snapshots/"),
    snapshots=("CODEX_HOME", ".codex", "shell_snapshots"),
    snapshot_of=_snapshot_of,
    tools=_tools,
    is_call=lambda _argv, environ: "CODEX_CI" in environ,
    begins_snapshot=_TAKES,
    own=(_TRIES, _TAKES),
    start=_start,
    hooks=_Hooks(),
    servers=r"\0app-server\0(?:(?:[^\0]+\0)*--listen[=\0](?:unix|ws)|daemon\0pid-update-loop\0)",
)
