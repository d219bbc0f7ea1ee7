"""Rewrites a text for fish as one for bash that runs the same commands (https://fishshell.com/docs/current/language.html).

Blocks, ``set``, lists, ``(command)`` and quotes are rewritten; what cannot be (a block that is not closed, say) is left
for the parser to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MAX_NESTING = 20
"""Substitutions inside substitutions."""

_BARE = re.compile(r"[^\s;|&()\"'\\$#<>]+|\\.", re.DOTALL)
_VARIABLE = re.compile(r"\$+(?:\{(\w+)\}|(\w+))(\[[^\]]*\])?")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)("?)', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^'\\]|\\.)*)('?)", re.DOTALL)
_END = re.compile(r"&&|\|\||&>>?\||[0-9]*>\||[;|&\n]")
_REDIRECTION = re.compile(r"[0-9]*(?:>>|>&|<&|>\?|>|<)|&>>?")
_SPACE = re.compile(r"(?:[ \t\r]|\\\n)+|(?<![^\s;|&(])#[^\n]*")
_CLOSES = {"if": "fi", "while": "done", "for": "done", "switch": "esac", "begin": "}", "function": "}"}
_SCOPES = re.compile(r"-[a-zA-Z]+|--(?:local|global|universal|export|unexport|function|path|unpath)")


def to_bash(text: str, nested: int = 0) -> str:
    """The text for bash; ``nested``: how deep it stands in substitutions."""
    return _Rewriting(text, nested).all()


class _Rewriting:
    def __init__(self, text: str, nested: int) -> None:
        self.text, self.at, self.nested = text, 0, nested
        self.out: list[str] = []
        self.open: list[str] = []
        """What closes the blocks that are open, the innermost last."""

    def all(self) -> str:
        while self.at < len(self.text):
            words, end = [*self._words()], self._separator()
            self._command(words, end)
        return "".join(self.out)

    def _words(self) -> Iterator[str]:
        """The words of one command, each as bash would have it."""
        word = ""
        while self.at < len(self.text):
            space = _SPACE.match(self.text, self.at)
            if space or _END.match(self.text, self.at):
                if word:
                    yield word
                word = ""
                if not space:
                    return
                self.at = space.end()
            else:
                word += self._piece()
        if word:
            yield word

    def _separator(self) -> str:
        match = _END.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match[0] if match else ""

    def _piece(self) -> str:
        """A quoted part, a variable, a substitution, or plain characters."""
        sign = self.text[self.at]
        for pattern, rewritten in (
            (_DOUBLE, lambda m: f'"{_VARIABLE.sub(_variable, m[1])}{m[2]}'),
            (_SINGLE, lambda m: "'" + re.sub(r"\\(['\\])", r"\1", m[1]).replace("'", "'\\''") + m[2]),
            (_VARIABLE, _variable),
            (_REDIRECTION, lambda m: m[0].replace(">?", ">")),
            (_BARE, lambda m: m[0]),
        ):
            if match := pattern.match(self.text, self.at):
                self.at = match.end()
                return rewritten(match)
        if sign == "(" or self.text.startswith("$(", self.at):
            return self._substitution()
        self.at += 1
        return sign

    def _substitution(self) -> str:
        begin = self.text.index("(", self.at) + 1
        end = _closing(self.text, begin)
        inner = self.text[begin:end]
        self.at = end + 1
        if self.nested >= MAX_NESTING:
            return f"$({inner})"
        piped, _, last = inner.rpartition("|")
        if last.strip() == "psub":
            return f"<({to_bash(piped, self.nested + 1)})"
        return f"$({to_bash(inner, self.nested + 1)})"

    def _command(self, words: list[str], end: str) -> None:
        while words and words[0] in ("and", "or", "not", "!"):
            self._joint(words[0])
            words = words[1:]
        header = self._header(words)
        if header:
            self.out.append(f"{header}\n")
            return
        self.out.append(self._plain(words[0] if words else "", words[1:]))
        if end:
            self.out.append(f" {end} " if end != "\n" else "\n")

    def _joint(self, word: str) -> None:
        """``; and x`` is ``&& x``."""
        if word in ("not", "!"):
            self.out.append("! ")
            return
        if self.out and self.out[-1].strip() in (";", ""):
            self.out.pop()
        self.out.append(f" {'&&' if word == 'and' else '||'} ")

    def _header(self, words: Sequence[str]) -> str:
        """What begins a block, or a part of one; empty for anything else."""
        first, rest = (words[0] if words else ""), " ".join(words[1:])
        if first in _CLOSES:
            self.open.append(_CLOSES[first])
        match first:
            case "if" | "while":
                return f"{first} {rest}; {'then' if first == 'if' else 'do'}"
            case "else":
                return f"elif {' '.join(words[2:])}; then" if words[1:2] == ["if"] else "else"
            case "for":
                return f"for {rest}; do"
            case "switch":
                return f"case {rest} in"
            case "case":
                self._end_arm()
                return f"{'|'.join(words[1:])})"
            case "begin":
                return "{"
            case "function":
                return f"{words[1] if words[1:] else '_'}() {{"
        return ""

    def _plain(self, first: str, rest: Sequence[str]) -> str:
        """A command that begins no block."""
        if first == "end" and self.open:
            closing = self.open.pop()
            if closing == "esac":
                self._end_arm()
            return " ".join((closing, *(rest or [""])))
        if first in ("source", ".") and not rest:
            return "source /dev/stdin"
        if first == "set":
            return _set(rest)
        if first == "read":
            rest = [word for word in rest if not _SCOPES.fullmatch(word)]
        return " ".join((first, *rest))

    def _end_arm(self) -> None:
        """Ends the arm before this one, if this is not the first of its switch."""
        if self.out and not self.out[-1].endswith(" in\n"):
            self.out[-1:] = [self.out[-1].rstrip(" ;"), "\n;; "]


def _closing(text: str, at: int) -> int:
    """Where the bracket closes that was opened before ``at``; the end of the text where it does not."""
    depth = 1
    while at < len(text):
        if quoted := _DOUBLE.match(text, at) or _SINGLE.match(text, at):
            at = quoted.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
        at += 2 if text[at] == "\\" else 1
    return len(text)


def _variable(match: re.Match[str]) -> str:
    """``$x`` is all items of a list; ``$x[2]`` the second one, counted from 1."""
    name, index = match[1] or match[2], match[3]
    if name == "status":
        return "$?"
    if name == "argv":
        return f"${{{index[1:-1]}}}" if index and index[1:-1].isdigit() else "$@"
    if index and index[1:-1].isdigit():
        return f"${{{name}[{int(index[1:-1]) - 1}]}}"
    return f"${{{name}[@]}}" if index else f"${{{name}}}"


def _set(words: Sequence[str]) -> str:
    """``set -gx NAME VALUE…``: an assignment; ``-e`` takes it away, ``-q`` asks whether it is there."""
    flags = "".join(word.lstrip("-")[:1] if word[:2] == "--" else word[1:] for word in words if _SCOPES.fullmatch(word))
    names = [word for word in words if not _SCOPES.fullmatch(word) and word not in ("--erase", "--query", "--append")]
    if "--erase" in words or "e" in flags:
        return f"unset {' '.join(names)}"
    if "--query" in words or "q" in flags or not names:
        return "true"
    name, values = names[0].partition("[")[0], names[1:]
    value = values[0] if len(values) == 1 else f"({' '.join(values)})" if values else ""
    return f"{'export ' if 'x' in flags and 'u' not in flags else ''}{name}={value}"
