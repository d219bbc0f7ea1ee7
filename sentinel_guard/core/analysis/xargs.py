"""xargs and parallel: a command whose operands come from standard input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from sentinel_guard.core.analysis.commands import UNKNOWN, Call, options
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect

MAX_ITEMS = 200
"""Operands that are named one by one."""

_WORD = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|((?:\\.|[^\s\"'\\])+)")
_ANY = Field("$(stdin)", known=False)


def xargs(call: Call) -> Iterator[Effect]:
    """The command with what is read as its operands; ``-a FILE`` reads a file."""
    given = call.parsed.value("-a", "--arg-file")
    text: str | None = call.stdin
    if given is not None:
        yield from call.read(given)
        text = call.script_text(call.locate(given)) if given.known else None
    yield from _run(call, UNKNOWN if text is None else text)


def _run(call: Call, text: str) -> Iterable[Effect]:
    command = call.operands or [Field("echo")]
    items = _items(call, text)
    place = call.parsed.value("-I", "--replace", "-J")
    if not items and call.has("-r", "--no-run-if-empty"):
        return []
    if place is not None or call.has("-i"):
        return _each(call, command, items, place.text if place is not None and place.text else "{}", "xargs")
    return call.runner.run([*command, *items], call, "xargs", stdin="")


def _items(call: Call, text: str) -> list[Field]:
    known = text.replace(UNKNOWN, "")
    delimiter = call.parsed.value("-d", "--delimiter")
    if call.has("-0", "--null"):
        found = known.split("\\0")
    elif delimiter is not None:
        found = [w for w in known.split({"\\n": "\n", "\\t": "\t"}.get(delimiter.text, delimiter.text)) if w]
    elif call.has("-I", "--replace", "-L", "-i"):
        found = [line.strip() for line in known.splitlines() if line.strip()]
    else:
        found = [m[1] or m[2] or (m[3] or "").replace("\\", "") for m in _WORD.finditer(known)]
    more = UNKNOWN in text or len(found) > MAX_ITEMS
    return [Field(w) for w in found[:MAX_ITEMS] if w] + ([_ANY] if more else [])


def _each(call: Call, command: Sequence[Field], items: Iterable[Field], mark: str, via: str) -> list[Effect]:
    effects: list[Effect] = []
    for item in items:
        fields = [_put(field, mark, item) for field in command]
        effects += call.runner.run(fields, call, via, stdin="")
    return effects


def _put(field: Field, mark: str, item: Field) -> Field:
    if field.text == mark:
        return item
    return Field(field.text.replace(mark, item.text), field.known and item.known) if mark in field.text else field


def parallel(call: Call) -> Iterable[Effect]:
    """``parallel COMMAND ::: A B``; without ``:::`` the items are lines of standard input."""
    texts = [item.text for item in call.operands]
    cut = next((n for n, text in enumerate(texts) if text in (":::", ":::+", "::::")), None)
    command, given = (call.operands, None) if cut is None else (call.operands[:cut], call.operands[cut + 1 :])
    if cut is not None and texts[cut] == "::::":
        given = [_ANY]
    items = given if given is not None else _items(call, call.stdin)
    if call.has("--pipe"):
        return call.runner.run(command, call, "parallel")
    if not command:
        lines = call.stdin.splitlines() if given is None else [i.text if i.known else UNKNOWN for i in items]
        return [e for line in lines for e in call.runner.script(line, call, "parallel")]
    if len(command) == 1 and " " in command[0].text:
        return [e for item in items for e in call.runner.script(_filled(command[0], item), call, "parallel")]
    if not any("{}" in field.text for field in command):
        command = [*command, Field("{}")]
    return _each(call, command, items, "{}", "parallel")


def _filled(command: Field, item: Field) -> str:
    text = item.text if item.known else "$stdin"
    return command.text.replace("{}", text) if "{}" in command.text else f"{command.text} {text}"


OPTIONS = {
    "xargs": options(
        "-a= --arg-file= -d= --delimiter= -E= -I= --replace= -J= -L= --max-lines= -n= --max-args= -P= --max-procs= "
        "-s= --max-chars= --process-slot-var= -R= -S= | first"
    ),
    "parallel": options(
        "-j= --jobs= -a= --arg-file= -d= --delimiter= -I= -N= -n= --max-args= --joblog= --results= --retries= "
        "--timeout= --delay= -S= "
        "--colsep= -C= --workdir= --tmpdir= --halt= --header= --load= --tagstring= --memfree= --sshlogin= --env= | "
        "first"
    ),
}

PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = {"xargs": xargs, "parallel": parallel}
