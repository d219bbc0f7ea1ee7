"""Brace expansion: ``{a,b}``, ``{1..5}``, ``{a..e..2}``, on the parts of a word, before anything else is expanded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis.parser.syntax_tree import Literal, Parameter, Part, Variable

MAX_WORDS = 512
"""Words that one word may become."""
MAX_BRACES = 64
"""Opening braces of one word."""
MAX_TOKENS = 8192
"""Unquoted characters of one word that has braces."""

_NAME = re.compile(r"[A-Za-z_]")
_LETTERS = re.compile(r"[A-Za-z0-9_]+")
_RANGE = re.compile(r"(?:(-?\d+)\.\.(-?\d+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d+))?")


class TooManyWords(Exception):  # noqa: N818 - a limit, caught in word_expansion.py
    """The word would become more than MAX_WORDS words."""


def braces(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """The words that a word's parts become. Raises TooManyWords."""
    count = sum(p.text.count("{") for p in parts if isinstance(p, Literal) and not p.quoted)
    if not count:
        return [parts]
    pids = any(isinstance(p, Variable) and p.name == "$" for p in parts)
    if pids or any(isinstance(p, Parameter) and p.source.count("{") > p.source.count("}") for p in parts):
        raise TooManyWords  # bash ends the parameter elsewhere when it looks for braces
    tokens: list[Part] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            tokens.extend(Literal(char) for char in part.text)
        else:
            tokens.append(part)
    if count > MAX_BRACES or len(tokens) > MAX_TOKENS:
        raise TooManyWords
    return [joined(word) for word in _expand(tokens)]


def _expand(tokens: Sequence[Part]) -> list[list[Part]]:
    for at, token in enumerate(tokens):
        if _is(token, "{") and (found := _alternatives(tokens, at)):
            end, alternatives = found
            heads = [head for alternative in alternatives for head in _expand(alternative)]
            tails = _expand(tokens[end + 1 :])
            if len(heads) * len(tails) > MAX_WORDS:
                raise TooManyWords
            return [[*tokens[:at], *head, *tail] for head in heads for tail in tails]
    return [list(tokens)]


def _alternatives(tokens: Sequence[Part], start: int) -> tuple[int, list[Sequence[Part]]] | None:
    """Where the brace at ``start`` closes, and what stands between; None where it is no brace expression."""
    level, begin = 0, start + 1
    alternatives: list[Sequence[Part]] = []
    for at in range(start, len(tokens)):
        token = tokens[at]
        if _is(token, "{"):
            level += 1
        elif _is(token, ",") and level == 1:
            alternatives.append(tokens[begin:at])
            begin = at + 1
        elif _is(token, "}"):
            level -= 1
            if level == 0:
                if alternatives:
                    return at, [*alternatives, tokens[begin:at]]
                steps = _range(tokens[start + 1 : at])
                return (at, steps) if steps else None
    return None


def _range(tokens: Sequence[Part]) -> list[Sequence[Part]]:
    text = "".join(t.text if isinstance(t, Literal) and not t.quoted else "\0" for t in tokens)
    match = _RANGE.fullmatch(text)
    if not match:
        return []
    first, last, letter, letter_last, step = match.groups()
    if letter and letter.isupper() != letter_last.isupper():
        raise TooManyWords  # what stands between is quotes, which shells read apart
    low, high = (int(first), int(last)) if first else (ord(letter), ord(letter_last))
    pace = abs(int(step or 1)) or 1
    if abs(high - low) // pace >= MAX_WORDS:
        raise TooManyWords
    numbers = range(low, high + 1, pace) if low <= high else range(low, high - 1, -pace)
    if not first:
        return [(Literal(chr(number)),) for number in numbers]
    padded = any(re.match(r"-?0\d", bound) for bound in (first, last))
    width = max(len(first), len(last)) if padded else 0
    return [(Literal(f"{number:0{width}d}"),) for number in numbers]


def joined(tokens: Sequence[Part]) -> tuple[Part, ...]:
    """The parts of one word again. Braces are text for bash: ``$x{a,b}`` is ``$xa $xb``."""
    parts: list[Part] = []
    for token in tokens:
        last = parts[-1] if parts else None
        plain = isinstance(token, Literal) and not token.quoted
        if plain and isinstance(last, Variable) and (more := _LETTERS.match(_text(token))) and _NAME.match(last.name):
            parts[-1] = Variable(last.name + more[0])
            if rest := _text(token)[more.end() :]:
                parts.append(Literal(rest))
        elif plain and isinstance(last, Literal) and not last.quoted:
            parts[-1] = Literal(last.text + _text(token))
        else:
            parts.append(token)
    return tuple(parts)


def _text(token: Part) -> str:
    return token.text if isinstance(token, Literal) else ""


def _is(token: Part, char: str) -> bool:
    return isinstance(token, Literal) and not token.quoted and token.text == char
