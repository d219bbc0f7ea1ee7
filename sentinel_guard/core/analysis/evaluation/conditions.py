"""What a test says of the variables in it: which of their possible values are left where it holds, and where it fails.

Rules of this file:
1. Only the shell's own ``[``, ``test`` and ``[[`` with one comparison, alone or joined by ``!``, ``&&``, ``||``: where
   anything else stands in a condition, nothing is concluded from it.
2. What is left out is impossible. Where a test cannot be told for a value, the value stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.arithmetic import evaluate
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, UNSEEN, Call
from sentinel_guard.core.analysis.expansion.command_words import expand_all
from sentinel_guard.core.analysis.expansion.shell_state import DECIDES, RUNTIME, Numbers, Scope
from sentinel_guard.core.analysis.expansion.word_expansion import expand, expand_one
from sentinel_guard.core.analysis.parser.syntax_tree import (
    Arithmetic,
    DoubleQuoted,
    Group,
    List,
    Node,
    Parameter,
    Pipeline,
    Simple,
    Test,
    Variable,
    Word,
)

NAMES = re.compile(r"\$\{?[#!]?([A-Za-z_]\w*)")
"""The variables that a source mentions."""
_TESTS = ("[", "test")
_CHANGES = re.compile(r"\$\(|`|\$\[|\{\w+:?=")
_PATTERN = frozenset("*?[\\")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_OCTAL = re.compile(r"[-+]?0[0-9]+")
"""To ``[[`` a number of base 8, and to ``[`` one of base 10."""
_NUMBERS = {f"-{name}": getattr(int, f"__{name}__") for name in ("lt", "le", "gt", "ge", "eq", "ne")}


def truth(node: Node, scope: Scope) -> bool | None:
    """Whether a test with known words holds: ``[ $n -lt 3 ]``, ``[[ -z $x ]]``; None where that cannot be told."""
    inner = scope.copy()
    if isinstance(node, Arithmetic):
        value = evaluate(node.source, Numbers(inner)) if _are_integers(node.source, inner) else None
        return None if value is None else value != 0
    words = _comparison(node, scope)
    if words is None:
        return None
    if isinstance(node, Test):
        fields = [expand_one(word, inner) for word in words]
        if len(fields) == 3 and (_PATTERN & set(fields[2].text) or scope.is_on("nocasematch")):
            return None
        if any(_OCTAL.fullmatch(f.text) for f in fields):
            return None
    else:
        fields = expand_all(words, inner)
    return _compared([f.text for f in fields]) if all(f.tells for f in fields) else None


def _are_integers(expression: str, scope: Scope) -> bool:
    """Whether each name of an expression holds a number, or nothing: another text would be an expression again."""
    held = (scope.scalar(name) for name in _names_of(expression))
    return all(value.known and (not "".join(value.items) or _INTEGER.fullmatch("".join(value.items))) for value in held)


def _names_of(expression: str) -> list[str]:
    return re.findall(r"(?<![\w#])[A-Za-z_]\w*", expression)


_CHANGES_UNSEEN = re.compile(
    r"\b(?:eval|source|mapfile|readarray|getopts|let|coproc|shopt|enable|alias|builtin)\b|(?:^|[\s;&|({])\.\s"
    r"|\bprintf\s+[\"']?-v|\$\{!\w|\$\{\w+:[^-=?+}][^}]*=|\w\[[^\]]*\w=|\[\[[^\]]*\w=[^\]]*\s-(?:eq|ne|[lg][te])\s"
    r"|\bwait\s+-\w*p|\btrap\b[^\n]*\b(?:DEBUG|ERR|RETURN|USR[12]|ALRM|CHLD|CONT|WINCH|[1-9]\d*)\b"
    r"|\b(?:declare|typeset|local)\s+-\w*[nilu]|\b(?:export|readonly|declare|typeset|local|read|unset)\b[^;\n&|]*\s[\"']?[$`]",
    re.MULTILINE,
)
"""Ways in which a variable may come to another value than the text in its place says."""
_MAY_NOT_RUN = re.compile(
    r"(?:[)}]|\b(?:fi|done|esac)\b|\]\])[\s\\]*(?:\d+|\{\w+\})?(?:[<>]|&>)|\bexit\b[^\n;]*[<>]|[<>][^\n;]*\bexit\b"
    r"|\breturn\b[^\n;|&]*[<>]|[<>]\s*[^\s;|&]+\s+return\b"
)
"""A redirection that may fail: what is redirected is not run then, nor an exit in it."""
_INTERACTIVE = re.compile(r"#!.*\s-\w*i")
_OF_BASH = re.compile(r"#!\s*\S*(?:/env\s+|/)bash\b")


def reaches(call: Call, text: str) -> bool:
    """Whether a script has the variables that it names as this command gives them.

    A wrapper (``sudo``, ``ssh``) may take them away. What the text set before and did not export may be there with
    another value, unless the script sets it before all else.
    """
    if _CHANGES_ENVIRONMENT.match(text) or not all(map(_hands_on, call.command.via)):
        return False
    names = {name for name in call.scope.variables.keys() - call.scope.reaching if not name.isdigit()}
    if call.scope.is_on(UNSEEN):
        names.update(NAMES.findall(text))
        names -= call.scope.reaching
    return all(_sets_first(text, name) for name in names.intersection(_WORDS.findall(text)))


_CHANGES_ENVIRONMENT = re.compile(r"#!\s*\S*/env\b.*\s(?:-\w*[iu]|-(?=\s)|--(?:ignore|unset)|\w+=)")
"""A first line that starts the script with other variables."""
_WORDS = re.compile(r"\w+")
_HANDS_ON = frozenset(
    (
        *("make", "gmake", "npm", "pnpm", "yarn", "bun", "npx", "just", "env", "cross-env", "time", "timeout", "nice"),
        *("nohup", "stdbuf", "command", "exec"),
    )
)
"""What runs a command with the variables that it has itself, but for those that it is told to take away."""
_COMPOUND = re.compile(r"\b(?:if|case|for|while|until|select|function)\b|[({]\s*(?:#.*)?$|&&|\|\|", re.MULTILINE)
_REMARK = re.compile(r"(?m)(?:^|(?<=\s))#.*$")


def _hands_on(via: str) -> bool:
    name = via.partition(" ")[0]
    return name in _HANDS_ON or name in SHELLS or "/" in name


def _sets_first(text: str, name: str) -> bool:
    """Whether the first that a text says of a variable is ``NAME=VALUE``, on a line that surely runs."""
    plain = _REMARK.sub("", text)
    first = re.search(rf"(?<!\w){name}(?!\w)", plain)
    line = (
        re.match(rf"(?:export |readonly )?{name}=(?P<value>.*)", plain[plain.rfind("\n", 0, first.start()) + 1 :])
        if first
        else None
    )
    if first is None or line is None or name in _WORDS.findall(line["value"]):
        return False
    return _COMPOUND.search(plain[: first.start()]) is None and not re.search(r"\$\(|`|\s\S", line["value"].strip())


def begin_text(scope: Scope, text: str, via: str, *, file: bool) -> None:
    """Notes of a text that a shell starts with whether known tests of it tell what it comes to.

    They do in a script where no variable changes unseen: an exit ends it, and a test leaves out what it does not come
    to. A shell that is not bash may take a test of bash's for an error (``[[``, ``==``): there those of POSIX decide.
    """
    name, other = via.partition(" ")[0], via not in SHELLS
    by_bash = via == "bash" or (other and _OF_BASH.match(text) is not None)
    by_posix = name in _BY_POSIX or (other and _OF_POSIX.match(text) is not None)
    limited = not by_bash and (name in (*SHELLS, *_BY_POSIX) or text.startswith("#!"))  # else by the shell that asks
    unsure = (_INTERACTIVE.match, _CHANGES_UNSEEN.search, _MAY_NOT_RUN.search, *((_OF_BASH_ALONE.search,) * limited))
    tells = file and not any(looks(text) for looks in unsure)
    scope.ended = False if tells else None
    scope.options |= {DECIDES: tells and (by_bash or by_posix), LIMITED: limited}


def begin_name(scope: Scope, name: str | None, *, file: bool) -> None:
    """A text begins under this name (None: nobody knows it): what ``$0`` is, and in a file ``$BASH_SOURCE``."""
    for own in ("0", "BASH_SOURCE"):
        scope.variables.pop(own, None)
    if name is not None:
        scope.variables |= dict.fromkeys(("0", "BASH_SOURCE") if file else ("0",), (name,))


def told(node: Node, scope: Scope) -> bool | None:
    """Whether a condition holds, in a script whose tests decide; None where that is not known."""
    if scope.options.get(DECIDES) is not True:
        return None
    if not is_plain(node):
        return _as_command(node, scope)
    found = [so for so in (True, False) if surely(node, scope, holds=so)]
    return found[0] if len(found) == 1 else None


LIMITED = "-posix"
"""The option that stands for a shell in which tests of POSIX alone decide."""
_BY_POSIX = ("sh", "dash", "ash", "make", "gmake", "npm", "pnpm", "yarn", "just")
"""Shells, and what gives its lines to ``sh``."""
_OF_POSIX = re.compile(r"#!\s*\S*(?:/env\s+|/)(?:sh|dash|ash)\b")
_OF_BASH_ALONE = re.compile(r"\[\[|(?<!\$)\(\(|\b(?:declare|typeset|let|function|select)\b|\w\+=|<<<|\$'")
"""What another shell reads as something else, or does not know."""
_BASHISMS = re.compile(r"==|[{]\w*[,.]|\$['\"\[]|=~|\s-[ao]\s|\(|\$\{[^}]*[/^,@\[]")


def _is_posix(test: Node) -> bool:
    """Whether a test means the same in every shell (POSIX, test)."""
    return type(test) is Simple and _BASHISMS.search(test.source) is None


def _as_command(node: Node, scope: Scope) -> bool | None:
    """Of a variable that is run as a command: ``if $DRY_RUN``, where it holds ``true`` or ``false``."""
    while isinstance(node, List) and len(node.items) == 1 and node.items[0][1] != "&":
        node = node.items[0][0]
    if type(node) is not Simple or node.assignments or node.redirects or len(node.words) != 1:
        return None
    names, word = NAMES.findall(node.words[0].source), node.words[0]
    if _only(word) != "".join(names) or not RUNTIME.isdisjoint(names) or any(map(scope.attributes.get, names)):
        return None
    found = expand_one(word, scope.copy())
    known = bool(names) and found.tells and found.text in _CONSTANTS and is_builtin(found.text, scope)
    return found.text == "true" if known else None


_CONSTANTS = ("true", "false")


def surely(condition: Node, scope: Scope, *, holds: bool) -> bool:
    """Whether a condition is known to hold, or to fail, in the shell of a script (``Scope.ended``)."""
    if scope.ended is None:
        return False
    tests = list(_tests(condition, holds))
    if scope.options.get(LIMITED) is not False and not all(_is_posix(test) for test, _ in tests):
        return False
    names = {name for test, _ in tests for name in variables_in(test)}
    if any(scope.attributes.get(name, "r") != "r" or _is_set_anew(name, scope) for name in names):
        return False
    return bool(tests) and all(truth(test, scope) is so for test, so in tests)


_SET_ANEW = frozenset(("PWD", "OLDPWD", "IFS", "HOSTNAME", "MAKELEVEL", "MAKEFLAGS", "MFLAGS", "INIT_CWD"))


def _is_set_anew(name: str, scope: Scope) -> bool:
    """Whether a shell, make or npm gives a variable a value of its own, whatever it was told."""
    return name in RUNTIME or (name in scope.variables and (name in _SET_ANEW or name.startswith("npm_")))


def _comparison(node: Node, scope: Scope) -> list[Word] | None:
    """The words of a test, without what encloses them; None for what is none, or not the shell's own."""
    if isinstance(node, Test):
        words = list(node.words)
        return None if any(word.source in ("&&", "||", "(") for word in words) else words
    if not isinstance(node, Simple) or node.assignments or not node.words:
        return None
    head = node.words[0].literal
    if head not in _TESTS or not is_builtin(head, scope):
        return None
    return list(node.words[1 : -1 if head == "[" else None])


def _compared(argv: list[str]) -> bool | None:
    if argv[:1] == ["!"] and len(argv) > 1:
        found = _compared(argv[1:])
        return None if found is None else not found
    match argv:
        case []:
            return False
        case [text]:
            return bool(text)
        case ["-n" | "-z" as sign, text]:
            return bool(text) == (sign == "-n")
        case [left, "=" | "==" | "!=" as sign, right]:
            return (left == right) == (sign != "!=")
        case [left, sign, right] if sign in _NUMBERS and _INTEGER.fullmatch(left) and _INTEGER.fullmatch(right):
            return bool(_NUMBERS[sign](int(left), int(right)))
    return None


def assume(node: Node, scope: Scope, *, holds: bool) -> None:
    """From here on the variables hold only what makes a condition hold, or fail."""
    if not scope.choices:
        return
    for test, so in _tests(node, holds):
        for name in variables_in(test):
            if name in scope.choices:
                left = [held for held in scope.choices[name] if _with(name, held, test, scope) is not (not so)]
                scope.take(name, [frozenset(left or scope.choices[name])])


def variables_in(test: Node) -> list[str]:
    """The names of the variables that a test asks about."""
    return list(dict.fromkeys(NAMES.findall(_source(test))))


def _with(name: str, held: tuple[str, ...], test: Node, scope: Scope) -> bool | None:
    inner = scope.copy()
    inner.take(name, [frozenset((held,))])
    return truth(test, inner)


def empties(node: Node, scope: Scope, *, holds: bool) -> frozenset[str]:
    """The variables that are empty, or not set, where a condition holds, or fails."""
    found = set()
    for test, so in _tests(node, holds):
        words = _comparison(test, scope) or []
        while words[:1] and words[0].source == "!":
            words, so = words[1:], not so  # noqa: PLW2901 - the same test
        match [word.source for word in words]:
            case ["-z" | "-n" as sign, _] if so == (sign == "-z"):
                found.add(_only(words[1]))
            case [_] if not so:
                found.add(_only(words[0]))
            case [_, "=" | "==" | "!=" as sign, "''" | '""'] if so == (sign != "!="):
                found.add(_only(words[0]))
    return frozenset(found - {""})


def absent(node: Node, scope: Scope, *, holds: bool) -> frozenset[str]:
    """The paths at which no file is where a condition holds, or fails: ``[ -f .env ] || cp .env.example .env``."""
    found = set()
    for test, so in _tests(node, holds):
        words = _comparison(test, scope) or []
        while words[:1] and words[0].source == "!":
            words, so = words[1:], not so  # noqa: PLW2901 - the same test
        if len(words) == 2 and words[0].source in ("-e", "-f") and not so:
            [*fields] = expand(words[1], scope.copy())
            if len(fields) == 1 and fields[0].known and (scope.cwd or fields[0].text[:1] == "/"):
                found.add(paths.locate(fields[0].text, scope.cwd or "/", scope.world))
    return frozenset(found)


def _only(word: Word) -> str:
    """The variable that is all of a word: ``$x``, ``"${x:-}"``; empty for any other word."""
    parts = word.parts
    if len(parts) == 1 and isinstance(parts[0], DoubleQuoted):
        parts = parts[0].parts
    match parts:
        case (Variable(name=name),):
            return name
        case (Parameter(name=name, index=None, op="" | ":-" | "-", argument=None | Word(parts=())),):
            return name
    return ""


def _tests(node: Node | None, holds: bool) -> Iterator[tuple[Node, bool]]:
    """The tests that a condition is made of, each with whether it holds where that does; none of a mixed one."""
    if isinstance(node, Pipeline) and len(node.commands) == 1:
        yield from _tests(node.commands[0], holds != node.negated)
    elif isinstance(node, Group) and not node.redirects:
        yield from _tests(node.body, holds)
    elif isinstance(node, List):
        joints = {separator for _, separator in node.items[:-1]}
        if joints <= {"&&" if holds else "||"} and all(is_plain(item) for item, _ in node.items):
            for item, _ in node.items:
                yield from _tests(item, holds)
    elif node is not None and is_plain(node):
        yield node, holds


def is_plain(node: Node) -> bool:
    """Whether a condition is made of tests alone, so that asking changes nothing."""
    if type(node) is Simple:
        if not (node.words and node.words[0].literal in _TESTS) or node.assignments or node.redirects:
            return False
        return not _CHANGES.search(node.source)
    if isinstance(node, Pipeline):
        return len(node.commands) == 1 and is_plain(node.commands[0])
    if isinstance(node, Group):
        return not node.redirects and is_plain(node.body)
    if isinstance(node, List):
        return all(separator != "&" and is_plain(item) for item, separator in node.items)
    if isinstance(node, Arithmetic):
        return not (node.redirects or _COUNTS.search(node.source) or _CHANGES.search(node.source))
    return isinstance(node, Test) and not (node.redirects or _CHANGES.search(_source(node)))


_COUNTS = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--|[\[\]]|<<=|>>=")
"""In an expression: an assignment, or an item of an array."""


def _source(node: Node) -> str:
    if isinstance(node, Arithmetic):
        return " ".join(f"${name}" for name in _names_of(node.source))
    if isinstance(node, Test):
        return " ".join(word.source for word in node.words)
    return node.source if isinstance(node, Simple) else ""


def never_fails(node: Node) -> bool:
    """Whether a command surely ends well: an assignment of what needs no command."""
    if not isinstance(node, Simple) or node.words or node.redirects or not node.assignments:
        return False
    return not _CHANGES.search(node.source) and "${" not in node.source


def ends(node: Node, scope: Scope, words: frozenset[str]) -> bool:
    """Whether a body surely ends with one of these words: ``exit``, ``return`` …"""
    if type(node) is Simple:
        name = node.words[0].literal if node.words else None
        if name not in words or name is None or (name == "exec" and len(node.words) == 1):
            return False
        return is_builtin(name, scope)
    if isinstance(node, List):
        asked = len(node.items) > 1 and node.items[-2][1] in ("&&", "||")
        last, separator = node.items[-1] if node.items else (node, "&")
        return not asked and separator != "&" and ends(last, scope, words)
    return isinstance(node, Group) and ends(node.body, scope, words)


def is_builtin(name: str, scope: Scope) -> bool:
    """Whether the text has left to the shell what is the shell's."""
    return name not in scope.functions and name not in scope.aliases and not scope.is_on(disabled(name))


def disabled(name: str) -> str:
    """The option that stands for ``enable -n NAME``."""
    return f"-n {name}"
