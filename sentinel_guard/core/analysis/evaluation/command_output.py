"""What a program prints, as far as it is a constant of the text: for ``echo x | sh``, ``$(cat <<< x)``, ``> FILE``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.evaluation.conditions import LIMITED
from sentinel_guard.core.analysis.evaluation.shell_builtins import BUILTINS, DECLARES
from sentinel_guard.core.analysis.expansion import constant_output, process_listing
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.constant_filters import PRINT_WITHOUT_INPUT
from sentinel_guard.core.analysis.expansion.partly_known_output import NothingPrinted, PartlyKnownText, PossibleLines
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.parser.syntax_tree import Script, simple_commands
from sentinel_guard.core.analysis.programs.files import fd, find, ls_output
from sentinel_guard.core.analysis.programs.files.edited_file_content import printed
from sentinel_guard.core.analysis.programs.git import committed_files
from sentinel_guard.core.analysis.secret_names import names_credential
from sentinel_guard.core.analysis.world import MAX_READ

_SPEAKERS = ("echo", "printf", "pwd", "basename", "dirname", "realpath", "readlink", "which", "mktemp", "git")
"""Their output does not come from standard input."""
_GREP = ("-v", "-E", "-F", "-i", "-w", "-x", "-e", "--invert-match", "--ignore-case", "--regexp")
_WHOLE = {
    **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
    **dict.fromkeys(("head", "tail"), ("-n", "--lines")),
    "sort": ("-n", "-r", "-u", "-V", "-h", "-k", "-t", "-f", "--reverse", "--unique"),
    "uniq": ("-u", "-d"),
    "tac": (),
    "shuf": (),
}
"""Options with which lines are printed as they were read."""
_CHOOSERS = ("grep", "egrep", "fgrep", "head", "tail", "sort", "uniq", "tac", "shuf")
"""Without a file they print lines that they read."""


_FILE_ADDRESS = re.compile(r"file:(?://(?:localhost|127\.0\.0\.1)?)?(/.*)", re.IGNORECASE | re.DOTALL)


def output(call: Call) -> str:
    """What the program prints; UNKNOWN stands for what is not a constant."""
    name = call.command.program
    if name == "echo" and call.scope.is_on(LIMITED) and any("\\" in field.text for field in call.fields[1:]):
        return UNKNOWN  # which bash prints as it stands, and dash fills in
    if (own := _OWN.get(name)) is not None:
        return own(call)
    if name == "tee":
        return call.stdin
    if name == "git" and (committed := committed_files.output(call)) is not None:
        return committed
    if begun := process_listing.filter_known_lines(call):
        return begun
    if name == "printenv" and call.operands and names_credential(call.operands[0].text):
        return f"${call.operands[0].text}\n{UNKNOWN}"
    if name == "cat" and call.operands:
        return _together(_content(call, item) for item in call.operands)
    if name == "curl" and (files := [(m[1], f.known) for f in call.operands if (m := _FILE_ADDRESS.match(f.text))]):
        return _together(_content(call, Field(path, known)) for path, known in files)
    if len(call.operands) == _FILE_AT.get(name) and call.fields[-1] is call.operands[-1]:
        return _of_file(call)
    if isinstance(call.stdin, NothingPrinted) and _chooses_lines(call):
        return ""
    if isinstance(call.stdin, PossibleLines) and _chooses_whole_lines(call):
        return call.stdin
    known = False not in [f.known for f in call.fields]
    if (
        (not call.stdin and name not in _SPEAKERS and name not in PRINT_WITHOUT_INPUT)
        or ((UNKNOWN in call.stdin or isinstance(call.stdin, PartlyKnownText)) and name != "cat")
        or not (known or name in ("echo", "printf"))
    ):
        return UNKNOWN
    spot = constant_output.ProgramContext(call.world, call.cwd if call.here else None)
    text = constant_output.output(call.command.argv, call.stdin, spot)
    return UNKNOWN if text is None else text if known else text + UNKNOWN


_OWN: dict[str, Callable[[Call], str]] = {
    "find": find.output,
    **dict.fromkeys(fd.PROGRAMS, fd.output),
    "ls": ls_output.output,
    "jq": printed,
    **dict.fromkeys(process_listing.NAMES, process_listing.output),
}


def _chooses_whole_lines(call: Call) -> bool:
    """Whether what a program prints are some of the lines that it reads, as they stand."""
    allowed = _WHOLE.get(call.command.program, ())
    return _chooses_lines(call) and all(flag in allowed or flag[1:].isdigit() for flag in call.command.flags)


def _chooses_lines(call: Call) -> bool:
    """Whether a program prints nothing but lines that it reads on standard input."""
    name = call.command.program
    if name not in _CHOOSERS or call.has("-c", "--count", "-f", "--file", "-r", "-R", "--recursive", "-L"):
        return False
    return not (call.operands[1:] if name.endswith("grep") and not call.has("-e", "--regexp") else call.operands)


def _together(texts: Iterable[str]) -> str:
    """Texts one behind the other; unknown where they become longer than any that is looked at."""
    whole = ""
    for text in texts:
        whole += text
        if len(whole) > MAX_READ:
            return UNKNOWN
    return whole


def _content(call: Call, item: Field) -> str:
    if call.is_stdin(item):
        return call.stdin
    path = item.text if item.text.startswith("/dev/fd/") else call.locate(item)
    text = call.world.read(path) if item.known else None
    return UNKNOWN if text is None else text


_FILE_AT = {"sed": 2, "head": 1, "tail": 1}
"""By a program's name, which of its operands is the file of which it prints something; with more it prints of each."""


def _of_file(call: Call) -> str:
    """What a program prints of one file: the same as of that on standard input."""
    content = _content(call, call.operands[-1])
    if UNKNOWN in content or not all(field.known for field in call.fields):
        return UNKNOWN
    spot = constant_output.ProgramContext(call.world, None)
    text = constant_output.output(call.command.argv[:-1], content, spot)
    return UNKNOWN if text is None else text


_EXACT = frozenset((*constant_output.NAMES, "curl", *BUILTINS, *DECLARES))


class ExactOutputs:
    """Of which scripts the walk says just what is printed; of find, ls and their like it says what may be.

    A tree does not change: its programs are looked for once, however often a loop comes by.
    """

    def __init__(self) -> None:
        self._doubtful: dict[int, tuple[Script, frozenset[str | None]]] = {}
        """By the identity of a script: its programs whose output is exact only where they are functions."""

    def has(self, script: Script, scope: Scope) -> bool:
        known = self._doubtful.get(id(script))
        if known is None:
            known = self._doubtful[id(script)] = script, frozenset(_programs(script)) - _EXACT
        return all(name in scope.functions for name in known[1])


def _programs(script: Script) -> Iterator[str | None]:
    for words in [command.words for command in simple_commands(script) if command.words]:
        if words[0].literal != "ls" or len(words) == 1:
            yield words[0].literal
