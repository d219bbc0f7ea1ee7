"""Computes the output of filters (``sort``, ``uniq``, ``wc``, ``awk``) and of one-liners that print a constant."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from functools import partial

from sentinel_guard.core.analysis.expansion.grep_filter import grep

MAX_NUMBERS = 10_000
"""Lines of ``seq``."""

_PRINT = re.compile(
    r"(?:print|printf|say|puts|echo)\s*\(?\s*(\"[^\"\\$@#]*\"|'[^'\\]*')\s*(\.\s*\"\\n\")?\s*\)?\s*;?\s*"
)
_AWK_PRINT = re.compile(r"\s*\{\s*print\s+([^{}]*?)\s*;?\s*\}\s*")
_AWK_ITEM = re.compile(r"\s*(?:\$(\d+)|(\$NF)|\"([^\"\\]*)\")\s*")


def seq(words: tuple[str, ...], _stdin: str) -> str | None:
    between, words = (words[1], words[2:]) if words[:1] == ("-s",) and len(words) > 2 else ("\n", words)
    if not 1 <= len(words) <= 3 or not all(re.fullmatch(r"-?\d{1,9}", w) for w in words):
        return None
    numbers = [int(w) for w in words]
    first, step, last = (1, 1, *numbers) if len(numbers) == 1 else (numbers[0], 1, numbers[1])
    if len(numbers) == 3:
        first, step, last = numbers
    if step == 0 or abs(last - first) // abs(step) > MAX_NUMBERS:
        return None
    found = range(first, last + (1 if step > 0 else -1), step)
    return between.join(map(str, found)) + "\n" if found else ""


def python(words: tuple[str, ...], _stdin: str) -> str | None:
    """``python3 -c 'print("a" "b", 1)'``, joined with ``+`` or repeated with ``*`` at most."""
    if len(words) != 2 or words[0] != "-c":
        return None
    try:
        body = ast.parse(words[1].strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    printed = ""
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "print":
            return None
        values = [_constant(item) for item in call.args]
        end = next((_constant(k.value) for k in call.keywords if k.arg == "end"), "\n")
        if call.keywords and [k.arg for k in call.keywords] != ["end"]:
            return None
        if None in values or end is None:
            return None
        printed += " ".join(map(str, values)) + end
    return printed


def _constant(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return str(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _constant(node.left), _constant(node.right)
        both = isinstance(node.left, ast.Constant) and isinstance(node.left.value, int)
        return None if left is None or right is None or both else left + right
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "::-1":
        text = _constant(node.value)
        return None if text is None else text[::-1]
    return None


def one_liner(words: tuple[str, ...], _stdin: str) -> str | None:
    """``perl -e 'print "rm"'``, ``ruby -e 'puts "rm"'``."""
    match = _PRINT.fullmatch(words[1]) if len(words) == 2 and words[0] in ("-e", "-E", "-r") else None
    if match is None:
        return None
    verb = words[1].split("(")[0].split()[0].strip()
    return match[1][1:-1] + ("\n" if verb in ("say", "puts") or match[2] else "")


def awk(words: tuple[str, ...], stdin: str) -> str | None:
    """``BEGIN{print "rm"}`` and ``{print $2 $1}`` over known lines."""
    delimiter = None
    if words[:1] and re.fullmatch(r"-F.", words[0]):
        delimiter, words = words[0][2], words[1:]
    elif words[:1] == ("-F",) and len(words) > 2 and len(words[1]) == 1:
        delimiter, words = words[1], words[2:]
    if len(words) != 1 or (delimiter is not None and delimiter in ".*+?[]()|^$\\"):
        return None
    text = words[0].strip()
    begins = text.startswith("BEGIN")
    match = _AWK_PRINT.fullmatch(text.removeprefix("BEGIN"))
    lines = [""] if begins else stdin.removesuffix("\n").split("\n") if stdin else []
    if match is None or not lines:
        return None
    printed = [_awk_line(match[1], line, delimiter) for line in lines]
    return None if None in printed else "".join(f"{line}\n" for line in printed)


def _awk_line(items: str, line: str, delimiter: str | None) -> str | None:
    fields = line.split(delimiter)
    groups = []
    for group in items.split(","):
        text, at = "", 0
        while at < len(group):
            match = _AWK_ITEM.match(group, at)
            if match is None or match.end() == at:
                return None
            at = match.end()
            number = len(fields) if match[2] else int(match[1] or 0)
            text += match[3] if match[3] is not None else line if not number else "".join(fields[number - 1 : number])
        groups.append(text)
    return " ".join(groups)


def jq(words: tuple[str, ...], _stdin: str) -> str | None:
    """``jq -rn '"rm"'``."""
    flags = {letter for w in words if w[:1] == "-" for letter in w.lstrip("-")}
    texts = [w for w in words if w[:1] != "-"]
    if not {"r", "n"} <= flags <= {"r", "n", "c", "M"} or len(texts) != 1 or "\\(" in texts[0]:
        return None
    try:
        value = json.loads(texts[0])
    except ValueError:
        return None
    return value + "\n" if isinstance(value, str) else None


def expr(words: tuple[str, ...], _stdin: str) -> str | None:
    if len(words) == 4 and words[0] == "substr" and words[2].isdigit() and words[3].isdigit() and int(words[2]) > 0:
        return words[1][int(words[2]) - 1 : int(words[2]) - 1 + int(words[3])] + "\n"
    if len(words) == 2 and words[0] == "length":
        return f"{len(words[1])}\n"
    if len(words) != 3 or words[1] not in ("+", "-", "*") or not all(re.fullmatch(r"-?\d+", w) for w in words[::2]):
        return None
    left, right = int(words[0]), int(words[2])
    return f"{left + right if words[1] == '+' else left - right if words[1] == '-' else left * right}\n"


def wc(words: tuple[str, ...], stdin: str) -> str | None:
    counts = {
        "-l": stdin.count("\n"),
        "-c": len(stdin.encode("utf-8", "surrogateescape")),
        "-m": len(stdin),
        "-w": len(stdin.split()),
    }
    return f"{counts[words[0]]}\n" if len(words) == 1 and words[0] in counts and stdin.isascii() else None


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def sort(words: tuple[str, ...], stdin: str) -> str | None:
    """Of plain lower-case letters or digits: the order of others is the language's."""
    lines = _lines(stdin)
    plain = all(re.fullmatch(r"[a-z]+", x) for x in lines) or all(re.fullmatch(r"\d{1,9}", x) for x in lines)
    if not plain or not {*words} <= {"-r", "-u", "-n", "-ru", "-ur"} or ("-n" in words) != stdin[:1].isdigit():
        return None
    letters = "".join(words)
    done = sorted(set(lines) if "u" in letters else lines, key=lambda x: (int(x) if "n" in letters else 0, x))
    return "".join(f"{x}\n" for x in (reversed(done) if "r" in letters else done))


def uniq(words: tuple[str, ...], stdin: str) -> str | None:
    lines = _lines(stdin)
    kept = [x for at, x in enumerate(lines) if at == 0 or x != lines[at - 1]]
    return None if words else "".join(f"{x}\n" for x in kept)


def tac(words: tuple[str, ...], stdin: str) -> str | None:
    return None if words or not stdin.endswith("\n") else "".join(f"{x}\n" for x in reversed(_lines(stdin)))


FILTERS: dict[str, Callable[[tuple[str, ...], str], str | None]] = {
    "seq": seq,
    "python": python,
    "python3": python,
    "perl": one_liner,
    "ruby": one_liner,
    "awk": awk,
    "gawk": awk,
    "mawk": awk,
    "jq": jq,
    "expr": expr,
    "wc": wc,
    "sort": sort,
    "uniq": uniq,
    "tac": tac,
    "grep": grep,
    "egrep": partial(grep, extended=True),
    "fgrep": partial(grep, fixed=True),
}
PRINT_WITHOUT_INPUT = ("seq", "python", "python3", "perl", "ruby", "awk", "gawk", "mawk", "jq", "expr")
"""Those that may print without reading anything."""
