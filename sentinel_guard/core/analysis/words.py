"""Words -> fields: what a word becomes when bash expands it, as far as the text and the machine tell.

Rules of this file:
1. Order as in bash: braces, tilde, parameters and substitutions, splitting, globs, quote removal.
2. Nothing runs. A command substitution has a value only where its output is a constant (``constants``).
3. A field is ``known`` only if every piece of it is. What is unknown stands in ``text`` as it was written (``$x/a``).
4. A variable that is not set expands to nothing, as in bash, and yet makes the field unknown: it may be set where the
   command really runs. ``rm -rf "$X/"`` is the text ``/``, not known.
"""

from __future__ import annotations

import posixpath
import re

from sentinel_guard.core.analysis import constants, find, parameters
from sentinel_guard.core.analysis.arithmetic import evaluate
from sentinel_guard.core.analysis.braces import TooManyWords, braces
from sentinel_guard.core.analysis.pieces import BREAK, Piece, glob_fields, separators, split
from sentinel_guard.core.analysis.scope import Field, Scope, Value
from sentinel_guard.core.analysis.syntax import (
    ArithSub,
    ArrayLiteral,
    Assignment,
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

__all__ = ["Field", "Scope", "assign", "expand", "expand_one"]


_EXPANDS = re.compile(r"[*?\[{~]")
MAX_LENGTH = 64 * 1024
"""Characters of a field; a longer one (``a=$a$a`` forty times) is unknown."""
MAX_PIECES = 4096

_NAME = re.compile(r"(?<![0-9A-Za-z_])[A-Za-z_][A-Za-z0-9_]*")


def expand(word: Word, scope: Scope) -> tuple[Field, ...]:
    """The fields that a word becomes; none for an unquoted expansion that is known to be empty."""
    if _is_plain(word.parts):
        return (Field(word.literal or "", source=word.source),)
    try:
        expanded = braces(word.parts)
    except TooManyWords:
        return (Field(word.source, known=False, source=word.source),)
    return tuple(
        found
        for parts in expanded
        for pieces in split(_evaluated(parts, scope), separators(scope))
        for found in glob_fields(pieces, scope, word.source)
    )


def expand_one(word: Word, scope: Scope, *, glob: bool = False) -> Field:
    """The one field of an assignment, a case subject, a here-string or, with ``glob``, a redirection's target."""
    if len(word.parts) == 1 and _is_plain(word.parts):
        return Field(word.literal or "", source=word.source)
    pieces = [p if p is not BREAK else Piece(" ") for p in _evaluated(word.parts, scope)]
    if glob:
        found = glob_fields(pieces, scope, word.source)
        if len(found) == 1:
            return found[0]
    return Field("".join(p.text for p in pieces), all(p.known for p in pieces), source=word.source)


def assign(assignment: Assignment, scope: Scope) -> None:
    """Does an assignment. What is not wholly known becomes an unknown variable."""
    name, value = assignment.name, assignment.value
    before = scope.variables.get(name, ()) if assignment.append else ()
    items: tuple[str, ...] | None
    if value.parts and isinstance(value.parts[0], ArrayLiteral):
        fields = [f for word in value.parts[0].words for f in expand(word, scope)]
        keyed = any(re.match(r"\[.*\]\+?=", f.source) for f in fields)
        items = (*(before or ()), *(f.text for f in fields))
        sure = all(f.known for f in fields) and not keyed and before is not None and len(items) <= MAX_PIECES
        scope.variables[name] = items if sure else None
        return
    one = expand_one(value, scope)
    items = (one.text,) if one.known and assignment.index is None else None
    if assignment.append and items is not None:
        old = scope.lookup(name)
        items = (*old.items[:-1], "".join(old.items[-1:]) + one.text) if old.known else None if old.isset else items
    scope.variables[name] = items if items is None or len(items[-1]) <= MAX_LENGTH else None


def _is_plain(parts: tuple[Part, ...]) -> bool:
    """Nothing to expand: the common case."""
    for part in parts:
        if type(part) is Literal:
            if not part.quoted and _EXPANDS.search(part.text):
                return False
        elif type(part) is not DoubleQuoted or not _is_plain(part.parts):
            return False
    return True


def _tilde(parts: tuple[Part, ...], scope: Scope) -> tuple[Part, ...]:
    first = parts[0] if parts else None
    if not isinstance(first, Literal) or first.quoted or not first.text.startswith("~"):
        return parts
    user, slash, rest = first.text.partition("/")
    if len(parts) > 1 and not slash:
        return parts
    name = {"~": "HOME", "~+": "PWD", "~-": "OLDPWD"}.get(user)
    if name is None and user == "~root":
        return (Literal("/root" + slash + rest), *parts[1:])
    if name is None:
        return (Parameter(user, None, "unknown", None, None, user), Literal(slash + rest), *parts[1:])
    value = scope.lookup(name)
    home = Literal(value.items[0], quoted=True) if value.known else Parameter(name, None, "unknown", None, None, user)
    return (home, Literal(slash + rest), *parts[1:])


# ---- parts ----


def _evaluated(parts: tuple[Part, ...], scope: Scope) -> list[Piece]:
    pieces = _pieces(_tilde(parts, scope), scope)
    if len(pieces) > MAX_PIECES or sum(len(p.text) for p in pieces) > MAX_LENGTH:
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
        elif isinstance(part, Variable):
            pieces.extend(_values(part.name, "$" + part.name, scope.lookup(part.name), scope, quoted))
        elif isinstance(part, Parameter):
            pieces.extend(_parameter(part, scope, quoted))
        elif isinstance(part, CommandSub):
            output = _constant(part.script, scope)
            pieces.append(_result(None if output is None else output.rstrip("\n"), part.source, quoted))
        elif isinstance(part, ArithSub):
            pieces.append(_result(_number(part.parts, scope), part.source, quoted))
        elif isinstance(part, ProcessSub):
            pieces.append(Piece("/dev/fd/63", quoted=True))
        else:
            pieces.append(Piece(part.source, quoted=False, known=False))
    return pieces


def _result(text: str | None, source: str, quoted: bool) -> Piece:
    if text is None:
        return Piece(source, quoted, known=False)
    return Piece(text, quoted, split=not quoted)


def _values(name: str, source: str, value: Value, scope: Scope, quoted: bool) -> list[Piece]:
    """The pieces of a value: one, or several with breaks for ``$@``, ``${a[@]}``."""
    if not value.known:
        return [Piece(source if value.isset else "", quoted, known=False)]
    if name not in ("@", "*"):
        return [Piece("".join(value.items[:1]), quoted, split=not quoted)]
    if quoted and name == "*":
        return [Piece(separators(scope)[:1].join(value.items), quoted)]
    pieces: list[Piece] = []
    for item in value.items:
        pieces += [BREAK] if pieces else []
        pieces.append(Piece(item, quoted, split=not quoted))
    return pieces


# ---- ${…} ----


def _parameter(part: Parameter, scope: Scope, quoted: bool) -> list[Piece]:
    op = part.op
    kind, value = _selected(part, scope)
    if op in ("unknown", "names", "keys"):
        return [Piece(part.source, quoted, known=False)]
    if op.lstrip(":") in tuple("-=+?"):
        return _defaulted(part, kind, value, scope, quoted)
    if op == "" or (not value.known and not value.isset):
        return _values(kind, part.source, value, scope, quoted)
    if op == "indirect" and value.known and value.items:
        return _values(value.items[0], part.source, scope.lookup(value.items[0]), scope, quoted)
    items = _transformed(part, kind, value, scope) if value.known else None
    return _values(kind, part.source, Value(items or (), items is not None, True), scope, quoted)


def _selected(part: Parameter, scope: Scope) -> tuple[str, Value]:
    """The value that the name and index choose; ``@`` or ``*`` where it is a list."""
    name = part.name
    if part.index is None or part.index.source in ("@", "*"):
        return (name if part.index is None else part.index.source), scope.lookup(name)
    value = scope.lookup(name)
    number = _number(part.index.parts, scope)
    if number is None or not value.known or name not in scope.variables:
        return name, Value((), False, True)
    at = int(number) + (len(value.items) if number.startswith("-") else 0)
    return name, Value(value.items[at : at + 1] if at >= 0 else (), True, 0 <= at < len(value.items))


def _defaulted(part: Parameter, kind: str, value: Value, scope: Scope, quoted: bool) -> list[Piece]:
    """``:- - := = :+ + :? ?``. Here the text itself says what an unset variable means, so the result is known."""
    unknown = [Piece(part.source, quoted, known=False)]
    if not value.known and value.isset:
        return unknown
    given = value.isset and (":" not in part.op or any(value.items))
    if part.op[-1] == "?" and not given:
        return unknown
    if given == (part.op[-1] == "+"):
        parts = part.argument.parts if part.argument else ()
        pieces = _pieces(parts if quoted else _tilde(parts, scope), scope, quoted=quoted)
        if part.op[-1] == "=":
            known = all(p.known for p in pieces)
            scope.variables[part.name] = ("".join(p.text for p in pieces),) if known else None
        return [p if p.quoted or p is BREAK else p._replace(split=True) for p in pieces] or [Piece("", quoted)]
    return _values(kind, part.source, value, scope, quoted) if part.op[-1] != "+" else [Piece("", quoted)]


def _transformed(part: Parameter, kind: str, value: Value, scope: Scope) -> tuple[str, ...] | None:
    op = part.op
    listed = kind in ("@", "*")
    if op == "length":
        return (str(len(value.items) if listed else len("".join(value.items[:1]))),)
    if op == ":":
        texts = [_number(w.parts, scope) if w else "" for w in (part.argument, part.extra)]
    else:
        texts = [_pattern(part.argument, scope), _plain(part.extra, scope)]
    argument, extra = texts
    if argument is None or extra is None:
        return None
    if op == ":" and listed:
        items = ("bash", *value.items) if part.name in ("@", "*") else value.items
        cut = parameters.bounds(argument, extra, len(items))
        return None if cut is None else items[cut]
    done = [parameters.transform(op, item, argument, extra) for item in value.items]
    return None if None in done else tuple(item for item in done if item is not None)


def _pattern(word: Word | None, scope: Scope) -> str | None:
    pieces = _pieces(word.parts, scope) if word else []
    if not all(p.known for p in pieces):
        return None
    return "".join(parameters.escape(p.text) if p.quoted else p.text for p in pieces)


def _plain(word: Word | None, scope: Scope) -> str | None:
    one = expand_one(word, scope) if word else Field("")
    return one.text if one.known else None


# ---- substitutions with a constant result ----


def _number(parts: tuple[Part, ...], scope: Scope) -> str | None:
    pieces = _pieces(parts, scope, quoted=True)
    if not all(p.known for p in pieces):
        return None
    text = _NAME.sub(lambda m: _variable_number(m.group(), scope), "".join(p.text for p in pieces))
    number = evaluate(text)
    return None if number is None else str(number)


def _variable_number(name: str, scope: Scope) -> str:
    value = scope.lookup(name)
    text = "".join(value.items[:1]) or "0"
    return f"({text})" if value.known and text.lstrip("-").isdigit() else "?"


def _constant(script: Script, scope: Scope) -> str | None:
    """The output of commands that are constants of the text; None for any other."""
    if script.errors:
        return None
    inner, output = scope.copy(), ""
    for node, separator in script.body.items:
        text = None if separator in ("||", "&") else _found(node, inner)
        if text is None and separator not in ("||", "&"):
            text = _output(node, inner, "")
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
    return find.constant([f.text for f in fields], scope.cwd, scope.world) if plain else None


def _output(node: object, scope: Scope, stdin: str) -> str | None:
    if isinstance(node, Pipeline) and not (node.negated or node.timed):
        text: str | None = stdin
        for stage in node.commands:
            text = None if text is None else _output(stage, scope.copy(), text)
        return text
    if not isinstance(node, Simple) or node.assignments:
        return None
    fields = [field for word in node.words for field in expand(word, scope)]
    given = _stdin(node, scope, stdin)
    if given is None or not fields or not all(f.known for f in fields):
        return None
    argv = tuple(f.text for f in fields)
    if argv[0] in scope.functions or argv[0] in scope.aliases:
        return None
    return _change(argv, scope) if argv[0] == "cd" else constants.output(argv, given, _place(scope))


def _place(scope: Scope) -> constants.Place:
    temporary = scope.lookup("TMPDIR")
    return constants.Place(scope.world, scope.cwd, "".join(temporary.items[:1]) or "/tmp")  # noqa: S108 - mktemp's own


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
