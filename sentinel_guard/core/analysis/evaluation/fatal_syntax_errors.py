"""Syntax errors that stop every shell, so that the text which our parser did not understand never runs.

Rules of this file:
1. Sure means every shell, not only bash: whatever they read apart (expansions, escapes, aliases) is not sure.
2. What stands before the error, and what was found behind it, counts as ever: only the question is spared.
3. A heredoc without its end is no error to a shell: the rest of the text is its body, which is how it was read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_POSITION = re.compile(r" at \d+$")
_QUOTE = frozenset(("unterminated '", 'unterminated "'))
_HEREDOC = frozenset(("unterminated heredoc", "heredoc without body"))
_GRAMMAR = re.compile(
    r"a command is missing|unexpected (?:then|elif|else|fi|do|done|esac|in|\})"
    r"|unexpected '(?:\)|;;?|&|\||then|elif|else|fi|done|do|esac|\})[^\n]*'"
    r"|missing (?:then|fi|do|done|in|\)|\})|unterminated case"
)
_APART = re.compile(r"[`\\#]|\$[({'\"\[]|<<|\(\(|\[\[|\(\)|[=?*+@!]\(")
"""Outside of single quotes shells, or their parsers, may not agree on where these end."""
_CLOSED = re.compile(r"\$\((?![^)]*\bcase\b)(?:[^()'\"`\\#\n]|\\\"[^\"\\;&|\n]*\\\")*\)")
"""A substitution that ends there for every shell, also for one that knows none in quotes: the quote goes on. Outside of
quotes it is a part of a word.
"""
_WORDS = re.compile(
    r"\b(?:alias|unalias|function|coproc|repeat|foreach|eval|source|let|declare|typeset|local|export|readonly|shopt"
    r"|setopt|emulate|always)\b"
)
_HERE = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1(?=[ \t\n;|&>]|\Z)")


def all_fatal(text: str, errors: Sequence[str]) -> bool:
    """Whether these errors of ``bash_parser.parse`` leave nothing that a shell might run and we have not seen."""
    kinds = {_POSITION.sub("", error) for error in errors}
    return bool(kinds) and any(sure(text, kinds) for sure in _SURE)


def _quote(text: str, kinds: set[str]) -> bool:
    """The text, read by the plainest rules there are, ends inside of a quote."""
    return kinds <= _QUOTE and not _WORDS.search(text) and _open_quote(text)


def _open_quote(text: str) -> bool:
    quote, at = "", -1
    while (at := at + 1) < len(text):
        char = text[at]
        if quote == '"' and (closed := _CLOSED.match(text, at)):
            at = closed.end() - 1
        elif char == quote:
            quote = ""
        elif quote == "'":
            if char == "\\" and text[at + 1 : at + 2] == "'":  # fish takes it as an escape
                return False
        elif _APART.match(text, at) and not (quote and char not in "`\\$"):
            return False
        elif char in "'\"" and not quote:
            quote = char
    return bool(quote)


def _heredoc(text: str, kinds: set[str]) -> bool:
    """One heredoc with a plain delimiter, and no line that some shell might take for it."""
    line = text.find("\n", text.find("<<"))
    first, rest = (text, "") if line < 0 else (text[:line], text[line + 1 :])
    found = _HERE.findall(first)
    plain = text.count("<<") == len(found) == 1 and not (_WORDS.search(first) or _APART.search(_HERE.sub("", first)))
    if not kinds <= _HEREDOC or not plain or re.search(r"['\"]", _HERE.sub("", first)):
        return False
    return not any(line.strip().startswith(found[0][1]) or line.endswith("\\") for line in rest.split("\n"))


def _grammar(text: str, kinds: set[str]) -> bool:
    """Words, operators and keywords that no shell takes in this order; nothing quoted, and nothing expanded but closed
    substitutions.
    """
    plain = not (_APART.search(_CLOSED.sub("x", text)) or _WORDS.search(text) or "'" in text or '"' in text)
    if text.rstrip()[-1:] in ("<", ">"):
        kinds = kinds - {"redirection without target"}
    return plain and all(_GRAMMAR.fullmatch(kind) for kind in kinds)


def _substitution(text: str, kinds: set[str]) -> bool:
    """``echo $(ls``: more parentheses are opened than closed, whoever counts."""
    plain = text.replace("$(", "(")
    odd = re.search(r"['\"]|\bcase\b", text) or _APART.search(plain) or _WORDS.search(text)
    return kinds == {"missing )"} and not odd and text.count("(") > text.count(")")


_SURE: tuple[Callable[[str, set[str]], bool], ...] = (_quote, _heredoc, _grammar, _substitution)


def kind_of_error(error: str) -> str:
    """What an error means that stops every shell; of a heredoc without its end the rest is the body, and all runs."""
    return "data" if "heredoc" in error else "syntax"
