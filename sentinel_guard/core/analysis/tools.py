"""Agent tool calls -> effects: by the name of the tool, else by what its arguments are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.patches import enveloped, touched
from sentinel_guard.core.analysis.world import World
from sentinel_guard.core.model import Effect, Kind

_COMMANDS = ("command", "cmd", "script", "shell_command", "code")
_PATHS = (
    "file_path", "path", "filePath", "notebook_path", "absolute_path", "target_file", "filename", "file", "dir_path",
    "directory",
    "relative_path", "uri", "destination", "source", "old_path", "new_path", "relative_workspace_path",
    "AbsolutePath", "TargetFile",
)  # fmt: skip
_LISTS = ("paths", "files", "file_paths", "edits", "changes")
_URLS = ("url", "uri", "urls")
_PATCHES = ("patch", "input", "diff", "patch_text", "patchText")

_SHELLS = frozenset(
    [
        "bash",
        "shell",
        "run_shell_command",
        "execute_command",
        "run_command",
        "terminal",
        "exec",
        "exec_command",
        "local_shell",
        "run_terminal_cmd",
        "run_in_terminal",
        "execute_bash",
        "powershell",
        "unified_exec",
        "runcommands",
        "bash_tool",
        "container.exec",
        "shell_command",
    ]
)
_READS = frozenset(
    [
        "read",
        "read_file",
        "view",
        "cat",
        "open_file",
        "readfile",
        "read_many_files",
        "grep",
        "glob",
        "search_file_content",
        "list_directory",
        "ls",
        "notebookread",
        "search_files",
        "list_files",
        "codebase_search",
        "grep_search",
        "file_search",
        "list_dir",
        "view_file",
        "view_image",
        "read_notebook",
        "lsp",
    ]
)
_WRITES = frozenset(
    [
        "write",
        "edit",
        "multiedit",
        "notebookedit",
        "write_file",
        "create_file",
        "edit_file",
        "replace",
        "str_replace",
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "insert",
        "write_to_file",
        "replace_in_file",
        "create",
        "apply_diff",
        "search_and_replace",
        "insert_content",
        "append_to_file",
        "save_file",
        "update_file",
        "multi_edit",
        "notebook_edit",
        "edit_notebook",
        "patch",
        "editfile",
        "writefile",
        "createfile",
        "edit_files",
        "text_editor",
        "morph_edit",
    ]
)
_DELETES = frozenset(
    [
        "delete",
        "delete_file",
        "remove_file",
        "remove",
        "unlink",
        "rm",
        "deletefile",
        "delete_path",
        "delete_directory",
        "rmdir",
    ]
)
_MOVES = frozenset(["move", "move_file", "rename", "rename_file", "mv", "movefile"])
_FETCHES = frozenset(
    [
        "webfetch",
        "web_fetch",
        "fetch",
        "fetch_url",
        "websearch",
        "web_search",
        "browser_navigate",
        "http_request",
        "url_fetch",
    ]
)
_PATCHERS = frozenset(["apply_patch", "applypatch", "apply-patch"])


def command_of(tool: str, arguments: Mapping[str, object]) -> str | list[str] | None:
    """The shell text or argv that a tool runs; None for tools that run none."""
    if _plain(tool) not in _SHELLS:
        return None
    value = next((arguments[k] for k in _COMMANDS if k in arguments), None)
    if isinstance(value, list):
        return [str(item) for item in value]
    return value if isinstance(value, str) else None


def tool_effects(tool: str, arguments: Mapping[str, object], cwd: str, world: World) -> Iterator[Effect]:
    """What a tool does to the files and hosts that its arguments name. An unknown tool with a path might write it."""
    name = _plain(tool)
    for text in _texts(arguments, _URLS):
        if "://" in text and not text.startswith("file://"):
            yield Effect(Kind.NETWORK, text)
    if name in _PATCHERS or _patch(arguments):
        yield from _patched(_patch(arguments), cwd, world)
    if name in _FETCHES:
        return
    views = name.startswith("str_replace") and arguments.get("command") == "view"
    for text, key in _paths(arguments):
        named = world.home + text[1:] if text.startswith("~") else text.removeprefix("file://")
        follow = name not in _DELETES | _MOVES
        yield _touch("view" if views else name, key, paths.locate(named, cwd, world, follow=follow))


def _touch(name: str, key: str, path: str) -> Effect:
    if name in _READS:
        return Effect(Kind.READ, path)
    if name in _DELETES:
        return Effect(Kind.DELETE, path, how=frozenset(("recursive",)))
    if name in _MOVES:
        kind = Kind.DELETE if key in ("source", "old_path", "path", "file", "file_path") else Kind.WRITE
        return Effect(kind, path, how=frozenset(("move",)))
    if name in _WRITES:
        return Effect(Kind.WRITE, path, how=frozenset(("inplace" if "edit" in name else "truncate",)))
    return _guessed(name, path)


_GUESSES = (
    (("delete", "remove", "unlink", "trash"), Kind.DELETE),
    (
        (
            "write",
            "edit",
            "create",
            "save",
            "update",
            "append",
            "replace",
            "insert",
            "patch",
            "move",
            "rename",
            "put",
            "set",
        ),
        Kind.WRITE,
    ),
)


def _guessed(name: str, path: str) -> Effect:
    """A tool that nobody told us of (MCP): its name says what it does, as far as one can tell."""
    kind = next((kind for words, kind in _GUESSES if any(word in name for word in words)), Kind.READ)
    return Effect(kind, path, sure=kind is Kind.READ)


def _patched(text: str, cwd: str, world: World) -> Iterator[Effect]:
    found = list(enveloped(text)) or list(touched(text))
    for name, removed in found:
        if removed:
            yield Effect(Kind.DELETE, paths.locate(name, cwd, world, follow=False))
        else:
            yield Effect(Kind.WRITE, paths.locate(name, cwd, world), how=frozenset(("inplace",)))


def _patch(arguments: Mapping[str, object]) -> str:
    return next(
        (t for t in _texts(arguments, _PATCHES) if "*** Begin Patch" in t or "\n+++ " in t or t.startswith("--- ")), ""
    )


def _plain(tool: str) -> str:
    """``mcp__files__write_file`` -> ``write_file``."""
    return tool.rpartition("__")[2].lower()


def _texts(arguments: Mapping[str, object], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


def _paths(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Pairs of (path, key): of the arguments, and of lists of such objects."""
    for key in _PATHS:
        value = arguments.get(key)
        if isinstance(value, str) and value and "://" not in value.removeprefix("file://") and "\n" not in value:
            yield value, key
    for key in _LISTS:
        value = arguments.get(key)
        for item in value if isinstance(value, list) else ():
            if isinstance(item, str):
                yield item, key
            elif isinstance(item, Mapping):
                yield from _paths(item)
