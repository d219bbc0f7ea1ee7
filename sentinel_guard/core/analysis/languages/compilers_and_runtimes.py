"""Compilers and runtimes of languages in unparsed_languages.py: ``guile -c``, ``tclsh``, ``gcc x.c``, ``go run``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import STDIN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.interpreter_options import OptionSyntax, parse_options
from sentinel_guard.core.analysis.languages.one_liners.one_liner_effects import inline, lenient
from sentinel_guard.core.analysis.languages.raku import raku
from sentinel_guard.core.analysis.languages.shared.program_values import abstract
from sentinel_guard.core.analysis.languages.unparsed_languages import code_effects
from sentinel_guard.core.model import Effect

BUILT = "#!/usr/bin/tcc -run\n"
"""Stands before the source of a program that the text builds: what is started then is what was built."""


class _Row(NamedTuple):
    family: str
    letters: OptionSyntax = OptionSyntax()
    """Options that take code."""
    stdin: bool = True
    """Without code and file it runs its standard input."""


_C = _Row("c")
_ROWS: dict[str, _Row] = {
    **dict.fromkeys(("tclsh", "wish", "jimsh", "tclsh8.6"), _Row("tcl", OptionSyntax(code=""))),
    **dict.fromkeys(("expect", "expectk"), _Row("tcl", OptionSyntax(code="c"))),
    "guile": _Row("lisp", OptionSyntax(code="c", value="Lles", others="--listen")),
    "racket": _Row("lisp", OptionSyntax(code="e", value="lptrf", words="--eval")),
    **dict.fromkeys(("sbcl", "ccl", "abcl"), _Row("lisp", OptionSyntax(code="", words="--eval -e", others="--load"))),
    "ecl": _Row("lisp", OptionSyntax(code="", words="-eval --eval")),
    "clisp": _Row("lisp", OptionSyntax(code="x", value="iKEB")),
    **dict.fromkeys(("clojure", "clj", "bb", "lein", "joker"), _Row("lisp", OptionSyntax(code="e", words="--eval -e"))),
    **dict.fromkeys(("csi", "chibi-scheme", "gosh", "mit-scheme", "scheme", "chez", "gsi"),
                    _Row("lisp", OptionSyntax(code="ep", words="--eval -eval -e"))),
    **dict.fromkeys(("janet", "fennel", "hy", "picolisp"), _Row("lisp", OptionSyntax(code="ec", words="--eval"))),
    "gnuplot": _Row("octave", OptionSyntax(code="e")),
    **dict.fromkeys(("octave", "octave-cli"), _Row("octave", OptionSyntax(code="", words="--eval", value="p"))),
    "matlab": _Row("octave", OptionSyntax(code="", words="-batch -r"), stdin=False),
    "scilab": _Row("octave", OptionSyntax(code="e", value="f")),
    "maxima": _Row("lisp", OptionSyntax(code="r", words="--batch-string --run-string")),
    "gp": _C,
    **dict.fromkeys(("scala", "amm", "scala-cli", "kotlin", "kotlinc"),
                    _Row("c", OptionSyntax(code="ec", words="-e", many=True))),
    "swift": _Row("c", OptionSyntax(code="e"), stdin=True),
    **dict.fromkeys(("ghc", "runghc", "runhaskell", "ghci", "stack"), _Row("c", OptionSyntax(code="e"))),
    **dict.fromkeys(("ocaml", "utop"), _Row("c", OptionSyntax(code="e"))),
    "dart": _Row("quoted"),
    **dict.fromkeys(("swipl", "yap", "gprolog"), _Row("prolog", OptionSyntax(code="gt"))),
    **dict.fromkeys(("rust-script", "evcxr", "rdmd", "nim", "zig", "v", "odin", "c3c", "hare", "haxe", "mojo", "bal",
                     "pike", "io", "vala", "dotnet-script", "csharp", "tcc", "cling", "bsh"),
                    _Row("c", OptionSyntax(code="e", words="--eval -e --expr"))),
    **dict.fromkeys(("bpftrace", "stap", "dtrace"), _Row("c", OptionSyntax(code="en", value="pclo"))),
    "dc": _Row("dc", OptionSyntax(code="e", value="f", words="--expression")),
    **dict.fromkeys(("gforth", "pforth"), _Row("forth", OptionSyntax(code="e", words="--evaluate"))),
    "m4": _Row("m4", OptionSyntax(code="", value="DIUFRLd")),
}  # fmt: skip
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".rs", ".go", ".zig", ".d", ".nim", ".hs", ".ml", ".swift", ".kt", ".m",
            ".pas", ".pp", ".f90", ".f95", ".f", ".adb", ".v", ".odin", ".vala", ".c3", ".ha")  # fmt: skip
_COMPILERS = (
    *("cc", "gcc", "clang", "g++", "c++", "clang++", "rustc", "dmd", "ldc2", "swiftc", "ocamlopt", "ocamlc"),
    *("gfortran", "flang", "fpc", "gnatmake", "valac", "icc"),
    *(f"{name}-{n}" for name in ("gcc", "g++", "clang") for n in range(9, 22)),
)
_BY_SOURCE = frozenset(("rustc", "dmd", "ldc2", "swiftc", "zig", "nim", "odin", "v", "crystal", "fpc", "gnatmake"))
_BUILDS = frozenset(("build-exe", "build", "c", "cpp", "compile", "compileToC", "cc", "c++"))
"""Verbs with which a tool that runs source builds it instead."""
_RUNS_TOO = ("-r", "--run", "run")
_OUTPUT = ("-femit-bin", "-o", "--out", "-out", "--output")


def foreigner(call: Call) -> Iterator[Effect]:
    """Code of an option, else the file, else standard input."""
    row = _ROWS[call.command.program]
    found = parse_options(call.fields[1:], row.letters)
    operands = [item for item in found.operands if item.text[:1] != "-" or item.text in STDIN]
    for item in found.texts:
        yield from code_effects(call, abstract(call, item), row.family)
    if found.texts:
        return
    named = [item for item in operands if item.text not in STDIN]
    for item in named[:3]:
        yield from _file(call, item, row.family)
    if not named and row.stdin and call.stdin:
        yield from code_effects(call, call.stdin, row.family)


def both(call: Call) -> Iterator[Effect]:
    """``zig run X``, ``nim c -r X`` run it; ``zig build-exe X``, ``nim c X`` only build it."""
    words = [item.text for item in call.fields[1:]]
    if words[:1] and words[0] in _BUILDS and not any(word in _RUNS_TOO for word in words):
        yield from compiler(call)
    else:
        yield from foreigner(call)


def _file(call: Call, item: Field, family: str) -> Iterator[Effect]:
    text = call.script_text(call.locate(item)) if item.known else None
    if text is not None:
        yield from lenient(code_effects(call, text, family))


def compiler(call: Call) -> Iterator[Effect]:
    """``gcc x.c -o x``: from here on ``x`` does what the source says. It stands in the table of files, too."""
    words = list(call.fields[1:])
    output = _output(words)
    texts = [_source(call, item) for item in words if item.known and item is not output]
    text = "\n".join(text for text in texts if text)
    if output is not None:
        yield from call.write(output, "truncate")
    if text and not any(word.text in ("-c", "-S", "-E", "-fsyntax-only") for word in words):
        call.save(output or _named(call, words), BUILT + text)


def _output(words: list[Field]) -> Field | None:
    """The file that is built, where an option names it: ``-o x``, ``-ox``, ``-femit-bin=x``, ``--out:x``."""
    for before, item in pairwise((*words, Field(""))):
        name, sign, value = before.text.replace(":", "=", 1).partition("=")
        if name in _OUTPUT:
            return Field(value, before.known) if sign else item
        if before.text.startswith(("-o/", "-o.")):
            return Field(before.text[2:], before.known)
    return None


def _named(call: Call, words: list[Field]) -> Field:
    """What is built without a name: ``a.out``, or what the source is called."""
    source = next((item.text for item in words if item.text.endswith(_SOURCES)), "")
    return Field(source.rpartition(".")[0] if call.command.program in _BY_SOURCE and source else "a.out")


def _source(call: Call, item: Field) -> str:
    if item.text == "-":
        return call.stdin
    return (call.script_text(call.locate(item)) or "") if item.text.endswith(_SOURCES) else ""


def go(call: Call) -> Iterator[Effect]:
    """``go run FILE``, ``go run .``: the file; ``go build`` as a compiler."""
    words = [item for item in call.operands if item.known]
    if call.command.subcommand == "build":
        yield from compiler(call)
    elif call.command.subcommand == "run" and words:
        names = words[:1] if words[0].text != "." else [Field("main.go")]
        for item in names:
            if item.text in STDIN:
                yield from code_effects(call, call.stdin)
            elif item.text.endswith(".go"):
                yield from _file(call, item, "c")


def dotnet(call: Call) -> Iterator[Effect]:
    """``dotnet script eval CODE``, ``dotnet script FILE``."""
    words = [item for item in call.fields[1:] if item.text[:1] != "-" or item.text in STDIN]
    if words and words[0].text == "fsi":
        given = [item.text.partition(":")[2] for item in call.fields if item.text.startswith(("--use:", "--load:"))]
        for item in [*words[1:2], *map(Field, given)]:
            yield from code_effects(call, call.stdin) if item.text in STDIN else _file(call, item, "c")
        yield from code_effects(call, call.stdin) if not words[1:] and call.stdin else ()
    elif words and (words[0].text.endswith(".cs") or (words[0].text == "run" and len(words) > 1)):
        yield from _file(call, words[words[0].text == "run"], "c")
    elif [item.text for item in words[:2]] == ["script", "eval"]:
        for item in words[2:3]:
            yield from code_effects(call, abstract(call, item))
    elif words[1:2] and words[0].text == "script":
        yield from _file(call, words[1], "c")


def java(call: Call) -> Iterator[Effect]:
    """``jshell`` on standard input, ``java X.java``."""
    items = [item for item in call.fields[1:] if item.known and item.text.endswith((".java", ".jsh"))]
    for item in items:
        text = call.script_text(call.locate(item))
        if text is not None:
            yield from lenient(code_effects(call, text))
    shell = call.command.program == "jshell" or any(f.text == "--source" for f in call.fields)
    if shell and call.stdin and (not items or any(f.text in STDIN for f in call.fields)):
        yield from code_effects(call, call.stdin)


def crystal(call: Call) -> Iterator[Effect]:
    """``crystal eval CODE``, ``crystal run FILE``: what it shares with Ruby."""
    words = [item for item in call.fields[1:] if item.text[:1] != "-"]
    verb = words[0].text if words else ""
    if verb == "eval":
        for text in [abstract(call, item) for item in words[1:2]] or [call.stdin]:
            yield from inline(call, text, "ruby")
    for item in words[:2]:
        source = call.script_text(call.locate(item)) if item.known and item.text.endswith(".cr") else None
        if source is not None:
            yield from lenient(inline(call, source, "ruby"))


def shebang_effects(call: Call, name: str, text: str) -> Iterable[Effect]:
    """What a script with this interpreter in its first line does, if it is of one of these languages."""
    row = _ROWS.get(name)
    found = code_effects(call, text.partition("\n")[2], row.family) if row is not None else ()
    return found if text.startswith(BUILT) else lenient(found)


RUNTIMES = frozenset(
    (
        *(_ROWS.keys() - {"m4"}),
        "java",
        "jshell",
        "jbang",
        "crystal",
        "go",
        "dotnet",
        "dotnet-script",
        "escript",
        "groovy",
        "raku",
    )
)
"""Programs that run source or code that they are given."""
PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = {
    **dict.fromkeys(_ROWS, foreigner),
    **dict.fromkeys(("zig", "nim", "v", "odin"), both),
    **dict.fromkeys(_COMPILERS, compiler),
    **dict.fromkeys(("raku", "perl6"), raku),
    "java": java, "jshell": java, "jbang": java, "crystal": crystal, "go": go, "dotnet": dotnet,
}  # fmt: skip
