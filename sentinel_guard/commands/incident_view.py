"""An incident report as a terminal shows it: headings, prose, lists, tables and code of our own Markdown.

Rules of this file:
1. What stands in a fence is shown line by line, as it is.
2. A block with a word that is longer than a line is left to the terminal to wrap: else line ends are copied along.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sentinel_guard.core.incidents import timeline
from sentinel_guard.core.text.markdown_escape import unescape_code_span
from sentinel_guard.humans.styled_text import Styled, fold
from sentinel_guard.humans.terminal_prompts import columns
from sentinel_guard.humans.text_tables import Column, table

STEPS = ("step", "time", "kind")
"""Headings of a timeline before those of what was done and what came of it."""
_DIFF = {"+": "green", "-": "red", "@": "cyan"}
_SPAN = re.compile(r"(?P<fence>`+)(?P<code>.+?)(?P=fence)|\*\*(?P<bold>.+?)\*\*")
_CELL = re.compile(r"(?<!\\)\|")
Lines = Iterator[Styled]


def render(text: str, width: int) -> Lines:
    """The lines of a report in so many columns; ``text`` is visible already."""
    steps, lines, at = timeline.rows(text), text.split("\n"), 0
    while at < len(lines):
        end = _end(lines, at)
        yield from _block(lines[at:end], steps, width)
        at = end


def _end(lines: Sequence[str], at: int) -> int:
    """Where the block ends that begins in a line."""
    first = lines[at]
    if first.startswith("```"):
        fence = first[: len(first) - len(first.lstrip("`"))]
        return next((n + 1 for n in range(at + 1, len(lines)) if lines[n].rstrip() == fence), len(lines))
    kind = _kind(first)
    alone = kind in ("", "#", "-", "<!--")
    return next((n for n in range(at + 1, len(lines)) if alone or _kind(lines[n]) != kind), len(lines))


def _kind(line: str) -> str:
    marks = ("#", "- ", "|", "```", "<!--")
    return next((mark.strip() for mark in marks if line.startswith(mark)), "prose" if line.strip() else "")


def _block(lines: Sequence[str], steps: Sequence[timeline.Row], width: int) -> Lines:
    match _kind(lines[0]):
        case "":
            yield Styled()
        case "#":
            yield from fold(Styled.of((lines[0].lstrip("# "), "bold underline")), width)
        case "-":
            first, *rest = _prose(lines[0][2:], width - 4)
            yield Styled.of("  - ", first)
            yield from (Styled.of("    ", line) for line in rest)
        case "```":
            colours = _DIFF if lines[0].endswith("diff") else {}
            yield from (Styled.of("  ", (line, colours.get(line[:1], ""))) for line in lines[1:-1])
        case "|" if steps and lines[0].startswith("| step |"):
            yield from _steps(steps, width)
        case "|":
            yield from _cells(lines, width)
        case "<!--":
            return
        case _:
            yield from _prose(" ".join(line.strip() for line in lines), width)


def _prose(text: str, width: int) -> list[Styled]:
    said = _inline(text)
    longest = max(map(columns, said.plain.split()), default=0)
    return [said] if longest > width else fold(said, width)


def _inline(text: str) -> Styled:
    parts, at = list[str | tuple[str, str]](), 0
    for found in _SPAN.finditer(text):
        parts.append(_unescaped(text[at : found.start()]))
        parts.append((found["code"], "cyan") if found["code"] else (_unescaped(found["bold"]), "bold"))
        at = found.end()
    return Styled.of(*parts, _unescaped(text[at:]))


def _unescaped(text: str) -> str:
    return text.replace("\\|", "|").replace("&lt;", "<")


def _cells(lines: Sequence[str], width: int) -> Lines:
    rows = [[cell.strip() for cell in _CELL.split(line.strip().strip("|"))] for line in lines]
    rows = [row for row in rows if any(cell.strip("-: ") for cell in row)]
    most = max(map(len, rows), default=0)
    shown = [[_inline(cell) for cell in (*row, *[""] * (most - len(row)))] for row in rows]
    yield from table([*(Column() for _ in range(most - 1)), Column(folds=True)], shown, width, gap=2, headed=False)


def _steps(rows: Sequence[timeline.Row], width: int) -> Lines:
    about = [*map(Column, STEPS), Column("what", folds=True), Column("result", folds=True)]
    shown = []
    for row in rows:
        style = "yellow" if row.in_loop else ""
        what = unescape_code_span(row.what) if row.kind == "verdict" else _unescaped(row.what)
        number = f"{row.number}{timeline.IN_LOOP if row.in_loop else ''}"
        cells = (number, row.time, row.kind, what, _unescaped(row.result))
        shown.append([Styled.of((cell, style)) for cell in cells])
    yield from table(about, shown, width)
