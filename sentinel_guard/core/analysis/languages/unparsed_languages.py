"""Code in languages without a parser here (C, Go, Rust, Java, Lisp, Tcl …) -> effects, guessed from function names.

A text is told apart into names and strings. What stands as a string behind a name like ``system`` is a shell text; a
path behind a name like ``RemoveAll`` may be deleted, which is a guess and never sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import MAX_SCRIPT, UNKNOWN, Call
from sentinel_guard.core.analysis.languages import tcl
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import UNRESOLVED, expanded, is_code
from sentinel_guard.core.analysis.languages.shared.tokenizer import unescaped
from sentinel_guard.core.model import Effect

REACH = 200
"""Tokens of one call that are looked at."""
_SHORT_NAME = 80
"""Characters of a part of a path."""

_STRING = r'"""(?P<long>.*?)(?:"""|\Z)|"(?P<double>(?:[^"\\]|\\.)*)"?'
_OPERATOR = r"(?P<op>\S)"
_SPACE = r"\s+"
_SYNTAX = {
    "c": rf"//[^\n]*|/\*.*?(?:\*/|\Z)|{_STRING}|`(?P<raw>[^`]*)`?|'(?:[^'\\\n]|\\.)'|(?P<word>[^\W\d][\w.:]*[\w!]?)",
    "lisp": rf";[^\n]*|#\|.*?(?:\|#|\Z)|{_STRING}|(?P<word>[^\s()\[\]{{}}\"';,`]+)",
    "quoted": rf"//[^\n]*|/\*.*?(?:\*/|\Z)|{_STRING}|'(?P<raw>[^'\n]*)'?|(?P<word>[^\W\d][\w.:]*[\w!]?)",
    "octave": rf"[%#][^\n]*|{_STRING}|(?<![\w)\]])'(?P<raw>[^'\n]*)'?|(?P<word>[^\W\d][\w.]*)",
}
_PATTERNS = {
    family: re.compile(f"{syntax}|{_OPERATOR}|{_SPACE}", re.DOTALL | re.MULTILINE) for family, syntax in _SYNTAX.items()
}
_NOTHING = frozenset(("NULL", "nullptr", "nil", "None", "0", "null", "nothing"))


class Token(NamedTuple):
    kind: str
    """word, text or op."""
    text: str


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHELLS = _names(
    "system wsystem _system csystem popen _popen shell shell_exec shell-command shell-command-to-string shelltostring "
    "async-shell-command callcommand readcreateprocess shellout exec_shell execshellcmd execcmd execcmdex unix "
    "doshellscript executeshell open-pipe open-input-pipe callshell bash sh command_line outputof "
    "execute_command_line fpsystem execcmdex shellexecute"
)
_ARGVS = _names(
    "exec command commandcontext spawn processbuilder process start run-program run_program system* system*/exit-code "
    "call-process start-process subprocess rawsystem callprocess readprocess createprocess run proc startprocess "
    "launch-program execute runcommand process-lines child_process posix_spawnp runsync startsync"
)
_EXECS = _names("execl execlp execle execv execvp execve execvpe")
_DELETES = _names(
    "remove removeall remove_all remove_file remove_dir remove_dir_all removeitem unlink unlinkat rmtree rmdir "
    "delete deleteifexists deletefile deletedirectory delete-file delete-directory delete-directory/files "
    "deleterecursively rm rm_r rm_rf removefile removedir removedirectory removedirectoryrecursive "
    "removepathforcibly delete-path delete-recursively delete-tree deletetree deletetreeabsolute "
    "deletefileabsolute delete-directory-and-files deltree delete-directory-tree delete-directory-recursively "
    "delete-file-if-exists rmdirrecurse rmdir_all cleandirectory forcedelete deletequietly deletesync "
    "delete-empty-directory movetotrash "
    "deletedir delete_tree delete_directory delete_file del_dir_r removedirall remove_recursively"
)
_DEEP = re.compile(r"all|rec|tree|rf|rm_r|forcib|and-files|directory/files|deletedir|cleandir|deletequiet|del_dir_r")
_TREE = re.compile(
    r"(?:os\.RemoveAll|os\.remove\.all|(?:std::)?fs::remove_(?:dir_all|all)|(?:std::)?filesystem::remove_all"
    r"|os\.rmdir_all|removeDirectoryRecursive|removePathForcibly|rmdirRecurse|(?:\w+\.)+deleteTree)$"
)
"""Functions that delete a folder with all in it, and nothing else."""
_WRITES = _names(
    "writefile write_file writestring write_text filewriter fileoutputstream ofstream create truncate printwriter "
    "with-output-to-file write-region spit call-with-output-file open-output-file writealltext writeallbytes open_out"
)
_READS = _names(
    "readfile read_file readallbytes readstring slurp ifstream read_to_string readalllines readalltext open_in "
    "call-with-input-file open-input-file insert-file-contents with-input-from-file filereader fileinputstream"
)
_OPENS = _names("fopen open openfile openoptions")
_KINDS: dict[str, str] = {
    **dict.fromkeys(_SHELLS, "shell"), **dict.fromkeys(_ARGVS, "argv"), **dict.fromkeys(_EXECS, "exec"),
    **dict.fromkeys(_DELETES, "delete"), **dict.fromkeys(_WRITES, "write truncate"), **dict.fromkeys(_READS, "read"),
    **dict.fromkeys(_OPENS, "open"),
}  # fmt: skip


def code_effects(call: Call, text: str, family: str = "c") -> Iterator[Effect]:
    """The effects of a text. ``family``: how its strings are written: ``c``, ``lisp``, ``octave``, ``tcl``, ``m4``."""
    if len(text) > MAX_SCRIPT:
        yield call.opaque(text[:80].replace(UNKNOWN, "…"), "parse")
        text = text[:MAX_SCRIPT]
    if is_code(text):
        yield call.opaque(text[:80].replace(UNKNOWN, "…"), "code")
    deeds = EffectCollector(call, lambda _, __: None)
    if family in _LINES:
        for kind, found in _LINES[family](text):
            _do(deeds, kind, "", found)
    else:
        lisp = family == "lisp"
        tokens = _tokens(text, family)
        held = _constants(tokens, lisp=lisp)
        _calls(deeds, [Token("text", held[t.text]) if t.text in held else t for t in tokens], lisp=lisp)
        for command in re.findall(r"(?m)^\s*!([^=\n].*)", text) if family == "octave" else ():
            deeds.do("shell", [command])
    yield from deeds.effects


def _tokens(text: str, family: str) -> list[Token]:
    found = []
    for match in _PATTERNS[family].finditer(text):
        kind = match.lastgroup
        if kind in ("long", "raw"):
            found.append(Token("text", match[kind]))
        elif kind == "double":
            found.append(Token("text", unescaped(match[kind])))
        elif kind:
            found.append(Token(kind, match[kind]))
    return found


_LISP_BINDS = ("((", "[", "define", "defparameter", "defvar", "setq", "def")


_JOINS = ("+", ".", "&", "~", "/", "%")
"""What stands behind a text that is only the beginning of a value."""


def _constants(tokens: Sequence[Token], *, lisp: bool) -> dict[str, str]:
    """Variables that are given one text and nothing else: ``let dir = "src";``, ``(define dir "src")``."""
    held: dict[str, str] = {}
    given: dict[str, int] = {}
    for at, (name, value) in enumerate(_lisp_bindings(tokens) if lisp else _assignments(tokens)):
        given[name] = given.get(name, 0) + 1
        if value is not None and at < REACH:
            held[name] = value
    return {name: text for name, text in held.items() if given[name] == 1 and name not in _KINDS}


def _lisp_bindings(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for at in range(2, len(tokens) - 1):
        before = "".join(token.text for token in tokens[at - 2 : at])
        if tokens[at].kind == "word" and tokens[at + 1].kind == "text" and before.endswith(_LISP_BINDS):
            yield tokens[at].text, tokens[at + 1].text


def _assignments(tokens: Sequence[Token]) -> Iterator[tuple[str, str | None]]:
    """Names with the text that they are given; None for what is no plain text. ``x = …``, ``x := …``."""
    end = Token("op", "")
    for at, token in enumerate(tokens[:-1]):
        begins = at + 1 + (tokens[at + 1].text == ":")
        if token.kind != "word" or begins + 1 >= len(tokens) or tokens[begins].text != "=":
            continue
        value, after = tokens[begins + 1], (*tokens[begins + 2 : begins + 3], end)[0]
        yield token.text, value.text if value.kind == "text" and after.text not in _JOINS else None


def _calls(deeds: EffectCollector, tokens: Sequence[Token], *, lisp: bool) -> None:
    for at, token in enumerate(tokens):
        if not deeds.spend():
            break
        if token.kind == "text" and tokens[at + 1 : at + 3] == [Token("op", "."), Token("op", "!")]:
            deeds.do("shell", [token.text])  # Scala: "ls".!
        if token.kind != "word":
            continue
        name = _function(token.text.lower().rstrip("!"))
        if name in _KINDS:
            values = _arguments(deeds, tokens, at, lisp=lisp)
            owned = not values or "".join(t.text for t in tokens[max(0, at - 2) : at]) == ")."
            if owned and _KINDS[name] == "delete" and _is_called(tokens, at) and not any(map(_is_text, values)):
                values += [t.text for t in tokens[max(0, at - 6) : at] if t.kind == "text"][-1:]
            if UNRESOLVED in values and _TREE.match(token.text) and not _is_temporary(tokens, at):
                deeds.opaque(token.text, "delete")
            _do(deeds, _KINDS[name], name, values)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _function(text: str) -> str:
    """A function's own name behind its module's: ``os.remove``, ``fs::remove_file``; a slash may belong to it."""
    if text in _KINDS:
        return text
    parts = re.split(r"[.:/]+", text)
    return parts[-2] if parts[-1] in ("new", "all") and len(parts) > 1 else parts[-1]


def _is_called(tokens: Sequence[Token], at: int) -> bool:
    """Whether a name is a call or a member: the name of a function that is handed on, as to a router, is neither."""
    around = [token.text for token in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])]
    return "(" in around[-1:] or "." in around[:1] or "." in tokens[at].text


def _arguments(deeds: EffectCollector, tokens: Sequence[Token], at: int, *, lisp: bool) -> list[object]:
    """The strings that a call is given; UNRESOLVED for an argument that holds none."""
    follows = tokens[at + 1] if at + 1 < len(tokens) else Token("op", "")
    if not lisp and follows.kind == "text":
        return [follows.text]
    if not lisp and follows.kind == "word" and [token.text for token in tokens[at + 2 : at + 3]] == ["("]:
        return _arguments(deeds, tokens, at + 1, lisp=lisp)  # Groovy: delete fileTree("x")
    if not lisp and follows.text != "(":
        return []
    values: list[object] = []
    depth, fresh = int(lisp), True
    for n in range(at + 1, min(at + REACH, len(tokens))):
        token = tokens[n]
        deeds.spend()
        if token.kind == "text":
            values.append(token.text)
            fresh = False
        elif token.text in ("(", "[", "{"):
            depth, fresh = depth + 1, True
        elif token.text in (")", "]", "}"):
            depth -= 1
            chained = not lisp and n + 2 < len(tokens) and tokens[n + 1].text.startswith(".")
            if depth <= 0 and not chained:
                break
        elif token.text == ",":
            fresh = True
        elif token.kind == "word" and (fresh or lisp) and depth == 1 and token.text not in _NOTHING:
            values.append(UNRESOLVED)
            fresh = False
    return values


_MAKES_TEMPORARY = re.compile(
    r"(?i)(?:\w+[.:]+)*(?:tempdir|mkdirtemp|mkdtemp|temp_dir|tempdir_in|createtempdirectory|createtempdir|tmpdir|"
    r"createtemporarydirectory|temporarydirectory|createtempsubdirectory|withtempdir|gettempfilename)(?:\.new)?$"
)
"""Functions that give a folder which nobody else has."""
_ASSIGNED = 12
"""Tokens between a variable and the function that gives its value: ``let dir = tempfile::tempdir()``."""


def _is_temporary(tokens: Sequence[Token], at: int) -> bool:
    """Whether the variable that a call is given was made by a function for temporary folders in this text."""
    given = next((token.text for token in tokens[at + 1 : at + 4] if token.kind == "word"), "").partition(".")[0]
    if not given:
        return False
    for n, token in enumerate(tokens):
        if token.kind == "word" and _MAKES_TEMPORARY.match(token.text):
            before = tokens[max(0, n - _ASSIGNED) : n]
            sign = next((k for k in range(len(before) - 1, -1, -1) if before[k].text == "="), 0)
            if any(before[k].text.partition(".")[0].rstrip(":") == given for k in range(max(0, sign - 5), sign)):
                return True
    return False


def _do(deeds: EffectCollector, kind: str, name: str, values: list[object]) -> None:
    texts = [value for value in values if isinstance(value, str)]
    if not texts:
        if not name and kind == "delete" and values:
            deeds.opaque("a value that is deleted", "delete")
        return
    if kind == "read" and len(texts) > 1 and all(len(text) < _SHORT_NAME for text in texts):
        texts = ["/".join(texts)]  # filepath.Join(home, ".aws", "credentials")
    if kind == "delete" and (template := next((text for text in texts if "${" in text), "")):
        deeds.opaque(template, "delete")
        return
    mark = len(deeds.effects)
    match kind:
        case "shell" | "argv" | "exec" if name in _SHELLS and len(texts) < 2:
            deeds.do("shell", texts[:1])
        case "shell" | "argv" | "exec":
            _start(deeds, kind, values, texts)
            return
        case "delete":
            for text in filter(lambda text: _is_path(deeds.call, text), texts):
                path = expanded(text, deeds.call.world.home)  # as the shells of some do it
                folder = deeds.call.world.kind(deeds.call.locate(path)) == "dir"
                deeds.do("delete recursive" if folder or _DEEP.search(name) else "delete", [path])
        case "open":
            deeds.do("open", [texts[0], texts[1] if len(texts) > 1 else "r"])
        case _ if _is_path(deeds.call, texts[0]):
            deeds.do(kind, texts[:1])
    if kind not in ("shell", "argv", "exec"):
        deeds.doubt(mark)


def _start(deeds: EffectCollector, kind: str, values: list[object], texts: list[str]) -> None:
    """A program with its arguments. Where the program is no constant, nothing is said."""
    first = next(n for n, value in enumerate(values) if isinstance(value, str))
    parts = values[first:]
    if len(parts) == 1:
        deeds.do("shell", texts[:1])
        deeds.do("database", texts[:1])
    else:
        deeds.do("exec" if kind == "exec" else "argv", [parts])


def _is_path(call: Call, text: str) -> bool:
    if not text or UNKNOWN in text or "\n" in text or len(text) > 500:
        return False
    return "/" in text or text[0] in ".~" or bool(call.world.kind(call.locate(text)))


# ---- languages of lines: commands and their words ----

_M4 = re.compile(r"\be?syscmd\(\s*`?(.*?)(?:'\s*\)|\)|\Z)", re.DOTALL)


def _m4(text: str) -> Iterator[tuple[str, list[object]]]:
    for match in _M4.finditer(re.sub(r"\bdnl\b[^\n]*", "", text)):
        yield "shell", [match[1]]


_PROLOG = re.compile(
    r"\b(shell|delete_directory_and_contents|delete_directory_contents|delete_file)\(\s*(?:'([^']*)'|\"([^\"]*)\"|([a-z]\w*))"
)


def _prolog(text: str) -> Iterator[tuple[str, list[object]]]:
    for match in _PROLOG.finditer(text):
        yield "shell" if match[1] == "shell" else "delete", [next(filter(None, match.groups()[1:]), "")]


_DC = re.compile(r"(?m)!(?![<>=])([^\n]+)")
_FORTH = re.compile(r"(?i)\bs\"\s(.*?)\"\s+system\b", re.DOTALL)


def _dc(text: str) -> Iterator[tuple[str, list[object]]]:
    for match in _DC.finditer(text):
        yield "shell", [match[1]]


def _forth(text: str) -> Iterator[tuple[str, list[object]]]:
    for match in _FORTH.finditer(text):
        yield "shell", [match[1]]


_LINES = {"tcl": tcl.calls, "m4": _m4, "prolog": _prolog, "dc": _dc, "forth": _forth}
