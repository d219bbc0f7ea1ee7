"""``cmake -E rm``: the commands for files that CMake brings along, as the shell has them; ``cmake -P``: its scripts.

https://cmake.org/cmake/help/v4.1/manual/cmake.1.html#run-a-command-line-tool, and the command ``file`` of its language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect, Kind

_COMMANDS: dict[str, tuple[str, ...]] = {
    "rm": ("rm",), "remove": ("rm",), "remove_directory": ("rm", "-r"), "rename": ("mv",), "copy": ("cp",),
    "copy_directory": ("cp", "-r"), "copy_if_different": ("cp",), "copy_directory_if_different": ("cp", "-r"),
    "make_directory": ("mkdir", "-p"), "touch": ("touch",), "create_symlink": ("ln", "-s"), "cat": ("cat",),
    "create_hardlink": ("ln",), "env": ("env",), "time": ("time",), "echo": ("echo",), "environment": ("env",),
    "tar": ("tar",),
}  # fmt: skip
_REMOVES = re.compile(r"(?i)\bfile\s*\(\s*(REMOVE(?:_RECURSE)?)\s+([^()]*)\)")
_RUNS = re.compile(r"(?i)\bexecute_process\s*\(\s*COMMAND\s+([^()]*?)(?=\bWORKING_DIRECTORY\b|\b\w+_VARIABLE\b|\))")
_WORDS = re.compile(r"\"([^\"]*)\"|([^\s\"]+)")


def cmake(call: Call) -> Iterator[Effect]:
    """What a command-line tool does, and what a script does that this text wrote."""
    words = list(call.fields[1:])
    match [item.text for item in words[:2]]:
        case ["-E", name] if name in _COMMANDS:
            line = [*map(Field, _COMMANDS[name]), *words[2:]]
            yield from (e for e in call.runner.run(line, call, "cmake -E") if e.kind is not Kind.EXECUTE)
        case ["-P", _] if words[1].known and call.locate(words[1]) in call.world.made():
            yield from _script(call, call.script_text(call.locate(words[1])) or "")


def _script(call: Call, text: str) -> Iterator[Effect]:
    for verb, given in _REMOVES.findall(text):
        names = [Field(name, "${" not in name) for pair in _WORDS.findall(given) if (name := "".join(pair))]
        yield from call.delete(names, *(("recursive",) if verb.upper().endswith("RECURSE") else ()))
    for given in _RUNS.findall(text):
        line = [Field(name, "${" not in name) for pair in _WORDS.findall(given) if (name := "".join(pair))]
        yield from (e for e in call.runner.run(line, call, "cmake -P") if e.kind is not Kind.EXECUTE)


PROGRAMS: dict[str, Callable[[Call], Iterator[Effect]]] = {"cmake": cmake}
OPTIONS = {"cmake": options("-S= -B= -G= -T= -A= -D= -P= --preset= -C= | words")}
