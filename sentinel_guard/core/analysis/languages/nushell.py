"""Nushell texts -> effects: pipelines, blocks, variables, and the commands that delete, move, write or run.

What a pipeline hands on is followed as the set of all that it may be: filters take nothing from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import MAX_SCRIPT, UNKNOWN, Call, options
from sentinel_guard.core.analysis.languages.interpreter_options import OptionSyntax, parse_options
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    UNRESOLVED,
    abstract,
    constant,
    environment,
    expanded,
    flat,
    globbed,
    text_of,
)
from sentinel_guard.core.analysis.languages.shared.tokenizer import unescaped
from sentinel_guard.core.model import Effect

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r,]+|(?<![^\s;|{(])\#[^\n]*)
      |(?P<open>[{(\[])|(?P<close>[})\]])
      |(?P<end>[|;\n])
      |\$"(?P<rich>(?:[^"\\]|\\.)*)"?|\$'(?P<plainrich>[^']*)'?
      |"(?P<double>(?:[^"\\]|\\.)*)"?|'(?P<raw>[^']*)'?|`(?P<tick>[^`]*)`?
      |(?P<word>[^\s|;{}()\[\]"',]+)""",
    re.VERBOSE,
)
_PATTERN = re.compile(r"[*?\[]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FILTERS = _words(
    "get select sort-by sort reverse enumerate flatten update insert str into path split lines collect tee "
    "values columns rename move wrap append prepend default is-empty length to from table describe group-by "
    "any all reduce"
)
"""They hand on what they are given."""
_CHOOSES = _words("where filter first last skip take find uniq compact reject drop")
"""They hand on some of it: each is a possible one, and no pattern stands for them."""
_QUIET = _words(
    "ps sys date which du help version config overlay use alias def module export hide hide-env kill sleep "
    "watch history port random seq math cal char ansi term clear detect inspect timeit view metadata bytes "
    "hash encode decode"
)
_BLOCKS = _words("each par-each items do try if else catch while loop match for")
_WRITES = {"save": "write truncate", "touch": "write append", "mkdir": "write append"}


class _Token(NamedTuple):
    kind: str
    text: str


class _Script:
    """One text; ``values`` of variables are texts, lists of paths, or not known."""

    def __init__(self, text: str, deeds: EffectCollector) -> None:
        self.deeds = deeds
        self.tokens = [*_tokens(text)]
        self.at = 0
        self.names: dict[str, object] = {}

    def read(self) -> None:
        while self.at < len(self.tokens):
            self.at += self.tokens[self.at].kind == "close"
            self._block(None)

    def _block(self, piped: object) -> object:
        """Pipelines up to the closing bracket; what the last of them gives."""
        given: object = piped
        value: object = None
        while self.at < len(self.tokens) and self.tokens[self.at].kind != "close" and self.deeds.spend():
            value = self._stage(given)
            token = self.tokens[self.at] if self.at < len(self.tokens) else _Token("end", ";")
            if token.kind == "end":
                self.at += 1
                given = value if token.text == "|" else piped
        return value

    def _stage(self, piped: object) -> object:
        """One command with its arguments, in their order."""
        words: list[object] = []
        bare: list[bool] = []
        name = ""
        while self.at < len(self.tokens) and self.tokens[self.at].kind not in ("end", "close"):
            token = self.tokens[self.at]
            self.at += 1
            if token.kind == "open":
                within = words[-1] if name == "for" and words else piped
                value = self._bracket(token.text, within, words if name == "for" else [])
                words.append(value)
                bare.append(False)
                continue
            if not words and token.kind == "word":
                name = token.text.lstrip("^")
            words.append(self._value(token))
            bare.append(token.kind == "word")
        return self._command(name, words, bare, piped) if words else piped

    def _bracket(self, sign: str, piped: object, bound: Sequence[object]) -> object:
        names = self._parameters() if sign == "{" else []
        if sign == "{" and len(bound) > 1 and isinstance(bound[1], str):
            names.append(bound[1])
        before = dict(self.names)
        self.names |= dict.fromkeys(("in", "it", *names), UNRESOLVED if piped is None else piped)
        if sign == "[":
            found: object = self._list()
        else:
            found = self._block(piped)
        self.names = before
        self.at += 1
        return found

    def _parameters(self) -> list[str]:
        """``|a, b|`` at the beginning of a block."""
        if [token.text for token in self.tokens[self.at : self.at + 1]] != ["|"]:
            return []
        end = next((n for n in range(self.at + 1, len(self.tokens)) if self.tokens[n].text == "|"), self.at)
        found = [token.text.rstrip(":") for token in self.tokens[self.at + 1 : end]]
        self.at = end + 1
        return found

    def _list(self) -> object:
        items: list[object] = []
        while self.at < len(self.tokens) and self.tokens[self.at].kind != "close":
            token = self.tokens[self.at]
            self.at += 1
            items.append(self._bracket(token.text, None, []) if token.kind == "open" else self._value(token))
        return items

    def _value(self, token: _Token) -> object:
        if token.kind == "rich":
            return re.sub(r"\([^)]*\)", UNKNOWN, token.text)
        if token.kind != "word" or token.text[:1] != "$":
            return token.text
        name, _, rest = token.text[1:].partition(".")
        if name == "env":
            return environment(self.deeds.call, rest.partition(".")[0])
        if name == "nu":
            return self.deeds.call.world.home if rest == "home-path" else UNRESOLVED
        return self.names.get(name, UNRESOLVED)

    def _command(self, name: str, words: list[object], bare: list[bool], piped: object) -> object:
        if name in ("let", "mut", "const") and len(words) > 3:
            value = words[3] if len(words) == 4 else self._command(text_of(words[3]), words[3:], bare[3:], piped)
            self.names[text_of(words[1]).rstrip(":")] = value
            return None
        options = [plain and text_of(word)[:1] == "-" for word, plain in zip(words[1:], bare[1:], strict=True)]
        flags = {text_of(word) for word, option in zip(words[1:], options, strict=True) if option}
        given = [word for word, option in zip(words[1:], options, strict=True) if not option]
        match name:
            case "ls" | "glob":
                return self._listed(given)
            case "rm":
                self._rm(given, flags)
            case "mv" | "cp" if len(given) > 1:
                self.deeds.do(
                    "move" if name == "mv" else "copy",
                    [self._paths(given[:-1]), expanded(text_of(given[-1]), self._home)],
                )
            case "save" | "touch" | "mkdir":
                row = "write append" if {"-a", "--append"} & flags else _WRITES[name]
                self.deeds.do(row, [self._paths(given)])
            case "open":
                self.deeds.do("read", self._paths(given))
            case "cd":
                self.deeds.do("chdir", self._paths(given)[:1])
            case _ if name in _BLOCKS:
                return words[-1]
            case "print" | "echo":
                return " ".join(map(text_of, given))
            case _ if name in _CHOOSES:
                return [str(text_of(item)) for item in flat(piped)] if isinstance(piped, list) else piped
            case _ if name in _FILTERS:
                return piped
            case "http" | "fetch":
                return UNKNOWN
            case _ if name and name not in _QUIET and re.fullmatch(r"[\w./~+-]+", name) and bare[0]:
                self.deeds.start([name, *flat(words[1:])], "", piped)
                return UNKNOWN
            case _:
                return words[0] if len(words) == 1 else UNRESOLVED
        return None

    @property
    def _home(self) -> str:
        return self.deeds.call.world.home

    def _rm(self, given: list[object], flags: set[str]) -> None:
        letters = "".join(flag[1:] for flag in flags if flag[:2] != "--")
        how = ["recursive"] if "r" in letters or "--recursive" in flags else []
        how += ["force"] if "f" in letters or "--force" in flags else []
        how += ["move", "out"] if "t" in letters or "--trash" in flags else []
        self.deeds.delete_all([*self._paths(given)], how, {})

    def _paths(self, given: Iterable[object]) -> list[object]:
        """Names, and what patterns among them find."""
        found: list[object] = []
        for item in flat([*given]):
            text = constant(item)
            named = isinstance(item, str) and text is not None and _PATTERN.search(text)
            found += (
                globbed(self.deeds.call, expanded(text or "", self._home))
                if named
                else [expanded(item, self._home) if isinstance(item, str) else item]
            )
        return found

    def _listed(self, given: list[object]) -> list[object]:
        names = [expanded(text_of(item), self._home) for item in flat(given)] or ["*"]
        patterns = (
            name
            if _PATTERN.search(name)
            else f"{name.rstrip('/')}/*"
            if self.deeds.call.world.kind(self.deeds.call.locate(name)) == "dir"
            else name
            for name in names
        )
        return [hit for pattern in patterns for hit in globbed(self.deeds.call, pattern)]


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind in ("double", "rich"):
            yield _Token(kind, unescaped(match[kind]))
        elif kind != "space" and kind:
            yield _Token("rich" if kind == "plainrich" else kind, match[kind])


_SYNTAX = OptionSyntax(code="c", value="e", words="--commands", others="--config --env-config --execute --log-level")


def nushell(call: Call) -> Iterator[Effect]:
    """``-c TEXT``, ``SCRIPT``, or the text on standard input."""
    found = parse_options(call.fields[1:], _SYNTAX)
    texts = [abstract(call, item) for item in found.texts]
    if not texts and found.operands and found.operands[0].known:
        item = found.operands[0]
        yield from call.read(item)
        texts = [call.script_text(call.locate(item)) or ""]
    elif not texts and call.stdin:
        texts = [call.stdin]
    for text in texts:
        if text.strip() == UNKNOWN:
            yield call.opaque(text, "code")
        deeds = EffectCollector(call, lambda inner, code: _Script(code, inner).read())
        deeds.run_text(text[:MAX_SCRIPT])
        yield from deeds.effects


OPTIONS = dict.fromkeys(("nu", "nushell"), options("-c= --commands= -e= --execute= --config= | first"))
PROGRAMS = dict.fromkeys(("nu", "nushell"), nushell)
