"""Raku, read as Perl: ``run <git push>``, ``shell "…"``, ``"x".IO.unlink``, ``qqx{…}`` have other names there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import STDIN, Call
from sentinel_guard.core.analysis.languages.interpreter_options import OptionSyntax, parse_options
from sentinel_guard.core.analysis.languages.one_liners.one_liner_effects import inline, lenient
from sentinel_guard.core.analysis.languages.shared.program_values import abstract
from sentinel_guard.core.model import Effect

_SYNTAX = OptionSyntax(code="e", value="IM")
_WORDS = re.compile(r"(?<=[\s(,])<([^<>=;{}$\n]+)>")
_STARTS = re.compile(r"(?<![\w.$@&-])(?:run|shell)(?=[\s(])")
_QUOTED = re.compile(r"(?<![\w-])q(?:q?)x(?=[{(\[/|])")
_IO = re.compile(r"('[^'\n]*'|\"[^\"\n]*\")\.IO\.(unlink|rmdir|spurt|slurp|lines)(?:\(([^()\n]*)\))?")
_EMPTIED = re.compile(r"(?<![\w.-])spurt[\s(]+('[^'\n]*'|\"[^\"\n]*\")\s*,\s*(''|\"\")")
_TREE = re.compile(r"(?<![\w-])(?:rmtree|empty-directory)(?=[\s(])")
_AS_PERL = {"unlink": "unlink", "rmdir": "rmdir"}


def as_perl(text: str) -> str:
    """The text with Perl's words where Raku has its own for what starts programs and changes files."""
    text = _QUOTED.sub("qx", _STARTS.sub("system", _WORDS.sub(r"qw(\1)", text)))
    text = _TREE.sub("File::Path::remove_tree", text)
    text = _EMPTIED.sub(r"truncate(\1, 0)", text)
    return _IO.sub(_of_path, text)


def _of_path(match: re.Match[str]) -> str:
    path, verb, given = match.groups()
    if verb in _AS_PERL:
        return f"{_AS_PERL[verb]}({path})"
    if verb == "spurt":
        return f"open(F, '>', {path})"
    return f"open(F, '<', {path}){f' # {given}' if given else ''}"


def raku(call: Call) -> Iterator[Effect]:
    """``raku -e CODE``, ``raku FILE``, code on standard input."""
    found = parse_options(call.fields[1:], _SYNTAX)
    for item in found.texts:
        yield from inline(call, as_perl(abstract(call, item)), "perl")
    if found.texts or "-c" in found.flags:
        return
    for item in found.operands[:1]:
        text = call.script_text(call.locate(item)) if item.known and item.text not in STDIN else None
        if text is not None:
            yield from lenient(inline(call, as_perl(text), "perl"))
    if call.stdin and not found.operands:
        yield from inline(call, as_perl(call.stdin), "perl")
