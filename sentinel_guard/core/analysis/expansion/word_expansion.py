"""Shell word expansion: word -> fields, as bash expands it, as far as the values are known.

Rules of this file:
1. Order as in bash: braces, tilde, parameters and substitutions, splitting, globs, quote removal.
2. Nothing runs. A command substitution has a value only where its output is a constant (``constant_output``).
3. A field is ``known`` only if every piece of it is. What is unknown stands in ``text`` as it was written (``$x/a``).
4. A variable that is not set expands to nothing, as in bash, and yet makes the field unknown: it may be set where the
   command really runs. ``rm -rf "$X/"`` is the text ``/``, not known.
"""

from __future__ import annotations

import posixpath
import re

from sentinel_guard.core.analysis.expansion import constant_output, parameter_expansion, word_splitting
from sentinel_guard.core.analysis.expansion.arithmetic import assigned, evaluate
from sentinel_guard.core.analysis.expansion.brace_expansion import TooManyWords, braces, joined
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.find_output import find_output
from sentinel_guard.core.analysis.expansion.glob_patterns import escape
from sentinel_guard.core.analysis.expansion.shell_state import NEW_NAME, Field, Keyed, Numbers, Scope, Value, keys_of
from sentinel_guard.core.analysis.expansion.tilde_expansion import tilde, tilded_operand
from sentinel_guard.core.analysis.expansion.word_splitting import BREAK, Piece, glob_fields, separators, split
from sentinel_guard.core.analysis.parser.syntax_tree import (
    ArithSub,
    CommandSub,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    Pipeline,
    ProcessSub,
    Script,
    Simple,
    Variable,
    Word,
)
from sentinel_guard.core.analysis.parser.word_predicates import ends_bare

__all__ = ["Field", "Scope", "expand", "expand_one", "key_of", "number", "pattern"]


MAX_LENGTH = 64 * 1024
"""Characters of a field; a longer one (``a=$a$a`` forty times) is unknown."""
MAX_PIECES = 4096


def expand(word: Word, scope: Scope, *, operand: bool = True) -> tuple[Field, ...]:
    """The fields that a word becomes; none for an unquoted expansion that is known to be empty.

    As an operand ``x=~/a`` holds a tilde; in an array it does not.
    """
    if word.plain:
        return (Field(word.literal or "", source=word.source),)
    try:
        expanded = braces(word.parts)
    except TooManyWords:
        return (Field(word.source, known=False, source=word.source),)
    if operand and ("=~" in word.source or ":~" in word.source):
        expanded = [tilded_operand(parts, scope) if parts == word.parts else parts for parts in expanded]
    fields = tuple(
        found
        for parts in expanded
        for pieces in split(_evaluated(parts, scope), "" if ends_bare(parts) else separators(scope))
        for found in glob_fields(pieces, scope, word.source)
    )
    scope.budget.spend(len(fields))
    return fields


def expand_one(word: Word, scope: Scope, *, glob: bool = False) -> Field:
    """The one field of an assignment, a case subject, a here-string or, with ``glob``, a redirection's target."""
    if word.plain:
        return Field(word.literal or "", source=word.source)
    star = any(isinstance(part, Variable | Parameter) and _is_star(part) for part in word.parts)
    between = Piece((separators(scope) or "")[:1] if star else " ", known=not star or separators(scope) is not None)
    pieces = [p if p is not BREAK else between for p in _evaluated(word.parts, scope)]
    if glob:
        found = glob_fields(pieces, scope, word.source)
        if len(found) == 1:
            return found[0]
    return Field("".join(p.text for p in pieces), all(p.known for p in pieces), source=word.source)


# ---- parts ----


def _evaluated(parts: tuple[Part, ...], scope: Scope) -> list[Piece]:
    pieces = _pieces(tilde(parts, scope), scope)
    length = sum(len(p.text) for p in pieces)
    scope.budget.spend(len(pieces) + (length >> 6))
    if len(pieces) > MAX_PIECES or length > MAX_LENGTH:
        return [Piece("…", known=False)]
    return pieces


def _pieces(parts: tuple[Part, ...], scope: Scope, *, quoted: bool = False) -> list[Piece]:
    pieces: list[Piece] = []
    for part in parts:
        if isinstance(part, Literal):
            pieces.append(Piece(part.text, quoted or part.quoted))
        elif isinstance(part, DoubleQuoted):
            inner = _pieces(part.parts, scope, quoted=True)
            pieces.extend(inner if inner or part.parts else [Piece("", quoted=True)])
        elif word_splitting.makes_new_name(part, pieces, scope):
            pieces.append(Piece(NEW_NAME, quoted))
        elif isinstance(part, Variable):
            pieces.extend(_values(part.name, "$" + part.name, _variable(part.name, scope), scope, quoted))
        elif isinstance(part, Parameter):
            pieces.extend(_parameter(part, scope, quoted))
        elif isinstance(part, CommandSub):
            output = _constant(part.script, scope)
            pieces.append(_result(None if output is None else output.rstrip("\n"), part.source, quoted))
        elif isinstance(part, ArithSub):
            pieces.append(_result(number(part.parts, scope), part.source, quoted))
        elif isinstance(part, ProcessSub):
            pieces.append(Piece("/dev/fd/63", quoted=True))
        else:
            pieces.append(Piece(part.source, quoted=False, known=False))
    return pieces


def _variable(name: str, scope: Scope) -> Value:
    return scope.lookup(name) if name in ("@", "*") else scope.scalar(name)


def _result(text: str | None, source: str, quoted: bool) -> Piece:
    if text is None:
        return Piece(source, quoted, known=False)
    return Piece(text, quoted, split=not quoted)


def _is_star(part: Variable | Parameter) -> bool:
    return part.name == "*" or (isinstance(part, Parameter) and part.index is not None and part.index.source == "*")


def _values(name: str, source: str, value: Value, scope: Scope, quoted: bool) -> list[Piece]:
    """The pieces of a value: one, or several with breaks for ``$@``, ``${a[@]}``."""
    if not value.known:
        return [Piece(source if value.isset else "", quoted, known=False)]
    if name not in ("@", "*"):
        return [Piece("".join(value.items[:1]), quoted, split=not quoted)]
    if quoted and name == "*":
        ifs = separators(scope)
        return [Piece(source, quoted, known=False) if ifs is None else Piece(ifs[:1].join(value.items), quoted)]
    ifs = separators(scope)
    if ifs and not quoted and ifs[0] not in " \t\n":
        return [Piece(ifs[0].join(value.items), quoted, split=True)]
    pieces: list[Piece] = []
    for item in value.items:
        pieces += [BREAK] if pieces else []
        pieces.append(Piece(item, quoted, split=not quoted))
    return pieces


# ---- ${…} ----


def _parameter(part: Parameter, scope: Scope, quoted: bool) -> list[Piece]:
    op = part.op
    if op == "unknown":
        return [Piece(part.source, quoted, known=False)]
    if op in ("names", "keys"):
        return _names(part, scope, quoted)
    if op == "indirect":
        return _indirect(part, scope, quoted)
    kind, value = _selected(part, scope)
    if op.lstrip(":") in tuple("-=+?"):
        return _defaulted(part, kind, value, scope, quoted)
    if op == "" or (not value.known and not value.isset):
        return _values(kind, part.source, value, scope, quoted)
    items = _transformed(part, kind, value, scope) if value.known else None
    kind = "" if op == "length" else kind
    return _values(kind, part.source, Value(items or (), items is not None, True), scope, quoted)


def _selected(part: Parameter, scope: Scope) -> tuple[str, Value]:
    """The value that the name and index choose; ``@`` or ``*`` where it is a list."""
    name = part.name
    if part.index is None:
        return name, _variable(name, scope)
    if part.index.source not in ("@", "*"):
        key = key_of(name, part.index, scope)
        return name, Value((), False, True) if key is None else scope.element(name, key)
    value = scope.lookup(name)
    # Names stand in the order of a hash table, which is bash's own affair.
    jumbled = "A" in scope.attributes.get(scope.named(name), "") and len(value.items) > 1 and part.op != "length"
    return part.index.source, Value((), False, True) if jumbled else value


def key_of(name: str, index: Word, scope: Scope) -> str | None:
    """The key of an item: text for names, a number else; None where it is not known."""
    if "A" in scope.attributes.get(scope.named(name), ""):
        one = expand_one(index, scope)
        return one.text if one.known else None
    return number(index.parts, scope)


def _names(part: Parameter, scope: Scope, quoted: bool) -> list[Piece]:
    """``${!a[@]}``: the keys; ``${!x@}``: the names that begin so."""
    unknown = [Piece(part.source, quoted, known=False)]
    kind = "*" if part.source.endswith(("*}", "*]}")) else "@"
    if part.op == "names":
        named = {*scope.variables, *scope.environ}
        found = sorted(n for n in named if n.startswith(part.name) and scope.lookup(n).isset)
        return _values(kind, part.source, Value(tuple(found), True, True), scope, quoted) if found else unknown
    _, value = _selected(part, scope)
    keys = Value(keys_of(value.items), value.known, value.isset)
    return _values(kind, part.source, keys, scope, quoted)


def _indirect(part: Parameter, scope: Scope, quoted: bool) -> list[Piece]:
    """``${!x}``; of a name reference the name itself."""
    if "n" in scope.attributes.get(part.name, ""):
        value = Value((scope.named(part.name),), True, True)
        return _values("", part.source, value, scope, quoted)
    _, value = _selected(part, scope)
    name = "".join(value.items[:1])
    if not value.known or not re.fullmatch(r"\w+|[@*]", name):
        return [Piece(part.source, quoted, known=False)]
    return _values(name, part.source, _variable(name, scope), scope, quoted)


def _defaulted(part: Parameter, kind: str, value: Value, scope: Scope, quoted: bool) -> list[Piece]:
    """``:- - := = :+ + :? ?``. Here the text itself says what an unset variable means, so the result is known."""
    unknown = [Piece(part.source, quoted, known=False)]
    tangled = quoted and part.argument is not None and '"' in part.argument.source and "\\" in part.argument.source
    if tangled or (not value.known and value.isset):
        return unknown  # quotes inside of quotes follow rules of their own
    given = value.isset and (":" not in part.op or any(value.items))
    if part.op[-1] == "?" and not given:
        return unknown
    if given == (part.op[-1] == "+"):
        parts = part.argument.parts if part.argument else ()
        pieces = _pieces(parts if quoted else tilde(joined(parts), scope), scope, quoted=quoted)
        if part.op[-1] == "=":
            pieces = _set_default(part, pieces, scope, quoted)
        return [p if p.quoted or p is BREAK else p._replace(split=True) for p in pieces] or [Piece("", quoted)]
    return _values(kind, part.source, value, scope, quoted) if part.op[-1] != "+" else [Piece("", quoted)]


def _set_default(part: Parameter, pieces: list[Piece], scope: Scope, quoted: bool) -> list[Piece]:
    """``${x:=…}`` assigns, and what it gives is the new value."""
    known = all(p.known for p in pieces)
    text = "".join(" " if p is BREAK else p.text for p in pieces)
    if part.index is None:
        scope.put(part.name, (text,) if known else None)
    else:
        scope.put_element(part.name, key_of(part.name, part.index, scope), text if known else None)
    return [Piece(text, quoted, split=not quoted)] if known else pieces


def _transformed(part: Parameter, kind: str, value: Value, scope: Scope) -> tuple[str, ...] | None:
    op = part.op
    listed = kind in ("@", "*")
    if op == "length":
        return (str(len(value.items) if listed else len("".join(value.items[:1]))),)
    if op == ":":
        return _sliced(part, value, listed, scope)
    argument, extra = pattern(part.argument, scope), _plain(part.extra, scope)
    if argument is None or extra is None:
        return None
    # A pattern is tried on every part of a value.
    scope.budget.spend(sum(min(len(item), parameter_expansion.MAX_VALUE) ** 2 for item in value.items) >> 10)
    done = [parameter_expansion.transform(op, item, argument, extra) for item in value.items]
    return None if None in done else tuple(item for item in done if item is not None)


def _sliced(part: Parameter, value: Value, listed: bool, scope: Scope) -> tuple[str, ...] | None:
    texts = [number(w.parts, scope) if w else None for w in (part.argument, part.extra)]
    if texts[0] is None or (part.extra and texts[1] is None):
        return None
    offset, length = int(texts[0]), None if texts[1] is None else int(texts[1])
    items = value.items
    if not listed:
        text = "".join(items[:1])
        cut = parameter_expansion.bounds(offset, length, len(text))
        return None if cut is None else (text[cut],)
    if part.index is not None and len(items) == 1 and not isinstance(items, Keyed):
        return None  # of a scalar it is a part of the text, and nobody knows here which it is
    if part.name in ("@", "*"):
        items = ("", *items)  # the first is $0
        if offset == 0:
            return None
    if isinstance(items, Keyed):
        first = offset if offset >= 0 else int(items.keys[-1]) + 1 + offset
        items, offset = tuple(v for k, v in zip(items.keys, items, strict=True) if int(k) >= first), 0
    cut = parameter_expansion.bounds(offset, length, len(items), listed=True)
    return None if cut is None else items[cut]


def pattern(word: Word | None, scope: Scope) -> str | None:
    """A word as a pattern, quoted characters escaped; None where it is not known."""
    pieces = _pieces(word.parts, scope) if word else []
    if not all(p.known for p in pieces):
        return None
    return "".join(escape(p.text) if p.quoted else p.text for p in pieces)


def _plain(word: Word | None, scope: Scope) -> str | None:
    """A replacement. Newer shells put what matched for a bare ``&``."""
    one = expand_one(word, scope) if word else Field("")
    return one.text if one.known and "&" not in one.text else None


# ---- substitutions with a constant result ----


def number(parts: tuple[Part, ...], scope: Scope) -> str | None:
    """The result of arithmetic, its assignments made; None where it is not known, and nor is what it assigns."""
    pieces = _pieces(parts, scope, quoted=True)
    text = "".join(p.text for p in pieces)
    found = evaluate(text, Numbers(scope)) if all(p.known for p in pieces) else None
    if found is None:
        scope.forget(assigned(text))
        return None
    return str(found)


def _constant(script: Script, scope: Scope) -> str | None:
    """The output of commands that are constants of the text; None for any other."""
    if script.errors:
        return None
    simple = _simple_constant(script, scope)
    _, walked = scope.outputs.get(id(script), (script, UNKNOWN))
    return walked if simple is None and UNKNOWN not in walked else simple


def _simple_constant(script: Script, scope: Scope) -> str | None:
    """The same of plain commands and pipes, without the walk's help."""
    inner, output = scope.copy(), ""
    for node, separator in script.body.items:
        text = None if separator in ("||", "&") else _found(node, inner)
        if text is None and separator not in ("||", "&"):
            text = _output(node, inner, None)
        if text is None:
            return None
        output += text
    return output


def _found(node: object, scope: Scope) -> str | None:
    """What find prints, where nothing asks in which order: a stage of a pipe may."""
    if not isinstance(node, Simple) or not node.words or node.words[0].literal != "find" or scope.cwd is None:
        return None
    fields = [field for word in node.words for field in expand(word, scope)]
    plain = _stdin(node, scope, "") is not None and not node.assignments and "find" not in scope.functions
    plain = plain and all(f.known for f in fields)
    return find_output([f.text for f in fields], scope.cwd, scope.world) if plain else None


def _output(node: object, scope: Scope, stdin: str | None) -> str | None:
    """The same of one command; ``stdin`` is None where it reads what the shell reads, which is the walk's to know."""
    if isinstance(node, Pipeline) and not (node.negated or node.timed):
        text = stdin
        for at, stage in enumerate(node.commands):
            text = None if text is None and at else _output(stage, scope.copy(), text)
        return text
    if not isinstance(node, Simple) or node.assignments:
        return None
    fields = [field for word in node.words for field in expand(word, scope)]
    given = _stdin(node, scope, stdin or "")
    if given is None or not fields or not all(f.known for f in fields):
        return None
    argv = tuple(f.text for f in fields)
    if argv[0] in scope.functions or argv[0] in scope.aliases:
        return None
    if stdin is None and not given and argv[0] in constant_output.READERS:
        return None
    return _change(argv, scope) if argv[0] == "cd" else constant_output.output(argv, given, _place(scope))


def _place(scope: Scope) -> constant_output.ProgramContext:
    temporary = scope.lookup("TMPDIR")
    return constant_output.ProgramContext(scope.world, scope.cwd, "".join(temporary.items[:1]) or "/tmp")  # noqa: S108 - mktemp's own


def _change(argv: tuple[str, ...], scope: Scope) -> str | None:
    """``cd`` inside of a substitution: it prints nothing."""
    if len(argv) != 2 or argv[1] == "-" or (scope.cwd is None and not argv[1].startswith("/")):
        return None
    scope.cwd = posixpath.normpath(posixpath.join(scope.cwd or "/", argv[1]))
    return ""


def _stdin(command: Simple, scope: Scope, stdin: str) -> str | None:
    """Standard input after the redirections; None where they are more than a here-text or a silenced error output."""
    text: str | None = stdin
    for redirect in command.redirects:
        target = redirect.heredoc if redirect.op in ("<<", "<<-") else redirect.target
        if target and redirect.op in ("<<", "<<-", "<<<") and not redirect.fd:
            one = expand_one(target, scope)
            text = one.text + ("\n" if redirect.op == "<<<" else "") if one.known else None
        elif not (redirect.fd == "2" and redirect.op in (">", ">>")):
            return None
    return text
