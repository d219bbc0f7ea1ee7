"""``ansible``: one module on many machines, or on this one. argv -> effects."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import local_ends, remote_commands
from sentinel_guard.core.analysis.programs.cloud.containers import away
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_QUIET = ("ping", "setup", "debug", "stat", "gather_facts", "service_facts", "package_facts", "slurp", "fetch")
_FILES = ("template", "copy", "file")
_TEXTS = ("shell", "command", "raw", "script", "win_shell", "win_command")


def ad_hoc(call: Call) -> Effects:
    """One module on many machines: what its command would do, or that it changes them."""
    given = call.parsed.value("-m", "--module-name")
    module = given.text.rpartition(".")[2] if given is not None else "command"
    text = call.parsed.value("-a", "--args")
    if call.has("--list-hosts", "-C", "--check", "--syntax-check", "--help", "--version") or module in _QUIET:
        return
    if local_ends.is_here(call) and not remote_commands.names_other(call):
        return
    where = f"ansible {call.operands[0].text}" if call.operands else "ansible"
    if where == "ansible localhost" and module in _FILES and text is not None:
        yield from _file_here(call, text)
        return
    if module in _TEXTS:
        found = list(away(call, text.text, known=text.known, target=where)) if text is not None else []
        yield from found
        if any(effect.kind in (Kind.DEPLOY, Kind.PRIVILEGE, Kind.DATABASE) for effect in found):
            return
        if text is not None and _changes(call, text):
            yield call.effect(Kind.DEPLOY, where)
    else:
        how = ("delete",) if text is not None and "absent" in text.text else ()
        yield call.effect(Kind.DEPLOY, where, *how)


def _file_here(call: Call, text: Field) -> Effects:
    """A module that makes or deletes one file, on this machine: ``dest=PATH``, ``path=PATH state=absent``."""
    given = dict(word.partition("=")[::2] for word in text.text.split())
    path = Field(given.get("dest") or given.get("path") or given.get("name") or text.text, known=text.known)
    if given.get("state") == "absent":
        yield from call.delete([path], "recursive")
    else:
        yield from call.write(path, *(("truncate",) if "src" in given or "content" in given else ("append",)))


def _changes(call: Call, text: Field) -> bool:
    kinds = (Kind.WRITE, Kind.DELETE, Kind.SIGNAL, Kind.GIT_REWRITE)
    return any(effect.kind in kinds for effect in call.runner.script(text.text, call, "ansible", cwd="/"))
