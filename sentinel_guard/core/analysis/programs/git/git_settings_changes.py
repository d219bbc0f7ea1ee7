"""Changes of git settings, by ``git config`` or ``-c``, and the commands that git would run because of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.git.git_config_files import HOOKS, included, top
from sentinel_guard.core.model import Effect, Kind

RUNS = {
    "core.pager", "core.editor", "core.sshcommand", "core.askpass", "core.fsmonitor", "sequence.editor",
    "diff.external",
    "credential.helper", "gpg.program", "core.gitproxy", "uploadpack.packobjectshook", "interactive.difffilter",
    "core.alternaterefscommand", "imap.tunnel", "gpg.ssh.defaultkeycommand",
}  # fmt: skip
"""Settings whose value git runs as a command."""
_RUN_ENDS = (
    ".command",
    ".textconv",
    ".clean",
    ".smudge",
    ".process",
    ".driver",
    ".cmd",
    ".helper",
    ".program",
    ".external",
    ".uploadpack",
    ".receivepack",
)
_BOOLEANS = ("", "true", "false", "on", "off", "yes", "no", "0", "1")
_CONFIG_READS = (
    "--get",
    "--get-all",
    "--get-regexp",
    "--list",
    "-l",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
)
_CONFIG_REMOVES = ("--unset", "--unset-all", "--remove-section", "--rename-section")
_CONFIG_MODES = ("get", "set", "unset", "list", "edit", "rename-section", "remove-section")
_OTHER_FILES = ("-f", "--file", "--blob", "--global", "--system", "--worktree")
"""With one of these it is not the repository's own file."""
_SECTION = re.compile(r"\s*\[([^\]\"]*)(\"[^\]]*)?\]")
_ENTRY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(?:\"([^\"\\]*)\"|([^\"#;\\]*?))\s*(?:[#;].*)?")


def setting(call: Call, key: str, value: str, *how: str) -> Iterator[Effect]:
    """A setting that is written or given by ``-c``: on record, and what it would run."""
    low = key.lower()
    yield call.effect(Kind.GIT_REWRITE, f"config {low}", *how)
    if low == "include.path" or (low.startswith("includeif.") and low.endswith(".path")):
        yield from _included(call, value)
    elif low.endswith((".insteadof", ".pushinsteadof")) and low.startswith("url."):
        if _host(key[4 : key.lower().rindex(".")]) != _host(value):
            yield call.opaque(f"{value} by way of {key}", "code")
    elif low.endswith("sslverify") and value.lower() in ("false", "0", "no", "off") and "inplace" in how:
        yield call.effect(Kind.PRIVILEGE, "security")
    elif low.startswith("alias.") and value.startswith("!"):
        yield from call.runner.script(value[1:], call, f"git {key[6:]}")
    elif _runs(low, value):
        yield from _unseen(call, value)
        yield from call.runner.script(value.lstrip("!"), call, f"git {low}")


def _host(address: str) -> str:
    """``github.com`` of ``https://github.com/``, ``git@github.com:`` and ``gh:``'s like."""
    return re.sub(r"^(?:[a-z+]+://)?(?:[^@/]*@)?", "", address.strip("'\"")).partition("/")[0].partition(":")[0]


def _unseen(call: Call, value: str) -> Iterator[Effect]:
    """A program that git is to run from a temporary folder, or that is not there."""
    first = (value.lstrip("!").split() or [""])[0]
    if "/" in first:
        path = call.locate(first)
        planted = path in call.world.made() or "/.git/" in path
        if planted or (paths.is_temporary(path, call.world.root, call.world.home) or not call.world.kind(path)):
            yield call.opaque(value, "code")


def _included(call: Call, value: str) -> Iterator[Effect]:
    """Settings that stand where nobody has seen them: in a file that is neither the repository's nor the person's."""
    own = tuple(f"{folder}/" for folder in (call.world.root, call.world.home) if folder)
    if value.startswith("/") and not call.locate(value).startswith(own):
        yield call.opaque(value, "code")


def _runs(low: str, value: str) -> bool:
    """Whether git runs the value of a setting as a command."""
    if low.startswith("pager.") or (low.startswith("submodule.") and low.endswith(".update") and value[:1] == "!"):
        return value.lower() not in _BOOLEANS
    return low in RUNS or (low.endswith(_RUN_ENDS) and low.count(".") > 1)


def config(call: Call) -> Iterator[Effect]:
    """``git config``: reading is nothing, nor is writing what stands there already."""
    fields = list(call.operands)
    mode = fields.pop(0).text if fields and fields[0].text in _CONFIG_MODES else ""
    items = [item.text for item in fields]
    if mode in ("get", "list") or call.has(*_CONFIG_READS) or not items:
        return
    key = items[0].lower()
    for item in call.parsed.values("-f", "--file"):
        if not call.locate(item).endswith("/.git/config"):
            yield from call.write(item, "inplace")
    if mode in ("unset", "remove-section", "rename-section") or call.has(*_CONFIG_REMOVES):
        if key != HOOKS or _in_force(call, key) != "":
            yield call.effect(Kind.GIT_REWRITE, f"config {key}", "inplace", "delete")
    elif len(items) > 1:
        if key != HOOKS or not (fields[1].known and items[1]) or _in_force(call, key) != items[1]:
            yield from setting(call, items[0], items[1], "inplace")
        for name, value in included(call, key, items[1], f"{top(call) or call.cwd}/.git"):
            yield from setting(call, name, value, "inplace")
        call.world.settings[key] = items[1]


def _in_force(call: Call, key: str) -> str | None:
    """What the repository's own file says, empty for nothing; None where that cannot be told."""
    if call.has(*_OTHER_FILES) or call.head.flags.keys() & {"--git-dir", "--work-tree", "--bare"} or not call.here:
        return None
    folder = call.cwd
    while not call.world.kind(f"{folder.rstrip('/')}/.git"):
        if folder == "/":
            return None
        folder = paths.parent(folder)
    text = call.world.read(f"{folder.rstrip('/')}/.git/config")
    return None if text is None else _last_value(text, *key.split("."))


def _last_value(text: str, section: str, name: str) -> str | None:
    """The last value of a plain ``name = value`` of a section, as git takes it; None for one that is not plain."""
    here, value = False, ""
    for line in text.splitlines():
        rest = line
        if header := _SECTION.match(line):
            here = header[1].strip().lower() == section and not header[2]
            rest = line[header.end() :]
        if not here or not rest.strip().lower().startswith(name):
            continue
        entry = _ENTRY.fullmatch(rest)
        if entry is None:
            return None
        if entry[1].lower() == name:
            value = entry[2] if entry[2] is not None else entry[3]
    return value
