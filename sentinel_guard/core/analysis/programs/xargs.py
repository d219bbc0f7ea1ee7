"""xargs and parallel: a command whose operands come from standard input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.partly_known_output import PossibleLines
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import acts_on_many
from sentinel_guard.core.model import Effect, Kind

MAX_ITEMS = 200
"""Operands that are named one by one."""

_WORD = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|((?:\\.|[^\s\"'\\])+)")
_ANY = Field("$(stdin)", known=False)
_ESCAPE = re.compile(r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|(?P<octal>[0-7]{1,3})|(?P<letter>[abfnrtv\\]))")
_LETTERS = dict(zip("abfnrtv\\", "\a\b\f\n\r\t\v\\", strict=True))
_MARK = re.compile(r"-[0oprtx]*i(.+)")
"""``-iMARK``: an option with a value that may be left out."""
PLACE = re.compile(r"\{\d*(//|/\.|/|\.)?\}")
"""Where fd and parallel put an item: whole, its folder, its name without suffix, its name, all without suffix."""
_QUOTED = re.compile(r"['\"]")
_COLUMN = re.compile(r"\{(\d+)(?=[/.]*\})")


def xargs(call: Call) -> Iterator[Effect]:
    """The command with what is read as its operands; ``-a FILE`` reads a file."""
    given = call.parsed.value("-a", "--arg-file")
    text: str | None = call.stdin
    if given is not None:
        yield from call.read(given)
        text = call.script_text(call.locate(given)) if given.known else None
    text = UNKNOWN if text is None else text
    some = isinstance(text, PossibleLines)
    yield from (replace(e, sure=False) for e in _run(call, text)) if some else _run(call, text)
    yield from _on_many(call, call.operands, text)


def _on_many(call: Call, command: Sequence[Field], text: str) -> Iterator[Effect]:
    """An act that others see, on each of a list that nobody has read."""
    words = [item.text for item in command]
    if UNKNOWN in text and (acts_on_many.reaches(words) or acts_on_many.takes(words)):
        yield call.effect(Kind.DEPLOY, f"each that {command[0].text} is given", sure=False)


def _run(call: Call, text: str) -> Iterable[Effect]:
    command = call.operands or [Field("echo")]
    items = _items(call, text)
    place = call.parsed.value("-I", "--replace", "-J")
    if not items and call.has("-r", "--no-run-if-empty"):
        return []
    if place is not None or call.has("-i", "--replace"):
        mark = place.text if place is not None and place.text else _mark(call)
        return _each(call, command, items, lambda field, item: _put(field, mark, item), "xargs")
    return call.runner.run([*command, *items], call, "xargs", stdin="")


def _mark(call: Call) -> str:
    """What ``-i`` replaces."""
    own = call.fields[1 : len(call.fields) - len(call.operands)]
    return next((m[1] for item in own if (m := _MARK.fullmatch(item.text))), "{}")


def _delimiter(text: str) -> str:
    """As ``-d`` gives it; a NUL is two characters here, as printf writes it."""
    match = _ESCAPE.fullmatch(text)
    if match is None:
        return text or "\\0"
    if match["letter"]:
        return _LETTERS[match["letter"]]
    return chr(int(match["hex"], 16) if match["hex"] else int(match["octal"], 8)).replace("\0", "\\0")


def _items(call: Call, text: str) -> list[Field]:
    if isinstance(text, PossibleLines):
        text = "".join(f"{line}\n" for line in text.lines)
    known = text.replace(UNKNOWN, "")
    delimiter = call.parsed.value("-d", "--delimiter")
    if call.has("-0", "--null"):
        found = known.split("\\0")
    elif delimiter is not None:
        found = [w for w in known.split(_delimiter(delimiter.text)) if w]
    elif call.has("-I", "--replace", "-i"):
        found = [line.strip() for line in known.splitlines() if line.strip()]
    else:
        found = [m[1] or m[2] or (m[3] or "").replace("\\", "") for m in _WORD.finditer(known)]
    more = UNKNOWN in text or len(found) > MAX_ITEMS
    rest = replace(_ANY, source=f"$({call.scope.feeds})" if call.scope.feeds else "")
    return [Field(w) for w in found[:MAX_ITEMS] if w] + ([rest] if more else [])


def _each(
    call: Call, command: Sequence[Field], items: Iterable[Field], put: Callable[[Field, Field], Field], via: str
) -> list[Effect]:
    effects: list[Effect] = []
    for item in items:
        fields = [put(field, item) for field in command]
        effects += call.runner.run(fields, call, via, stdin="")
    return effects


def _put(field: Field, mark: str, item: Field) -> Field:
    if field.text == mark:
        return item
    return Field(field.text.replace(mark, item.text), field.known and item.known) if mark in field.text else field


def fill(field: Field, item: Field) -> Field:
    """The word with the item in its places: ``{}``, ``{/}``, ``{//}``, ``{.}`` and ``{/.}``."""
    if not PLACE.search(field.text):
        return field
    return Field(PLACE.sub(lambda m: _part(item.text, m[1] or ""), field.text), field.known and item.known)


def _part(path: str, form: str) -> str:
    folder, slash, name = path.rpartition("/")
    if form == "//":
        return folder or slash or "."
    if form.endswith("."):
        stem, dot, _ = name.rpartition(".")
        name = stem if dot and stem else name
    return name if form[:1] == "/" else f"{folder}{slash}{name}"


def _columns(call: Call, command: Sequence[Field], item: Field) -> list[Field]:
    """The command with the columns of an item in ``{1}``, ``{2}``; what parts them may be a pattern."""
    given = call.parsed.value("--colsep", "-C")
    if given is None:
        return list(command)
    plain = given.known and bool(given.text) and re.escape(given.text) == given.text
    cells = item.text.split(given.text) if plain else []

    def cell(field: Field) -> Field:
        for number in map(int, _COLUMN.findall(field.text)):
            known = item.known and 0 < number <= len(cells)
            field = fill(
                Field(field.text.replace(f"{{{number}", "{"), field.known), Field(cells[number - 1]) if known else _ANY
            )
        return field

    return [cell(field) for field in command]


def parallel(call: Call) -> Iterable[Effect]:
    """``parallel COMMAND ::: A B``; without ``:::`` the items are lines of standard input."""
    texts = [item.text for item in call.operands]
    cut = next((n for n, text in enumerate(texts) if text in (":::", ":::+", "::::")), None)
    command, given = (call.operands, None) if cut is None else (call.operands[:cut], call.operands[cut + 1 :])
    files = call.parsed.values("-a", "--arg-file") if given is None else []
    if cut is not None and texts[cut] == "::::":
        files, given = list(given or ()), None
    text = "".join(_file_text(call, item) for item in files) if files else call.stdin
    items = given if given is not None else _items(call, text)
    if call.has("--pipe"):
        return call.runner.run(command, call, "parallel")
    if not command:
        lines = text.splitlines() if given is None else [i.text if i.known else UNKNOWN for i in items]
        return [e for line in lines for e in call.runner.script(line, call, "parallel")]
    if len(command) == 1 and " " in command[0].text:
        return [e for item in items for e in call.runner.script(_filled(command[0], item), call, "parallel")]
    if not any(PLACE.search(field.text) for field in command):
        command = [*command, Field("{}")]
    found = [e for item in items for e in _each(call, _columns(call, command, item), [item], fill, "parallel")]
    return [*found, *_split_again(call, command, items), *(_on_many(call, command, text) if given is None else ())]


def _split_again(call: Call, command: Sequence[Field], items: Sequence[Field]) -> list[Effect]:
    """GNU parallel hands the words to a shell as one text, another one does not: what is certain in it counts, too."""
    if not any(_QUOTED.search(field.text) for field in command) or call.has("-q", "--quote"):
        return []
    joined = Field(" ".join(field.text for field in command), all(field.known for field in command))
    found = [e for item in items for e in call.runner.script(_filled(joined, item), call, "parallel")]
    return [effect for effect in found if effect.kind is not Kind.OPAQUE]


def _file_text(call: Call, item: Field) -> str:
    text = call.script_text(call.locate(item)) if item.known else None
    return UNKNOWN if text is None else text


def _filled(command: Field, item: Field) -> str:
    text = item.text if item.known else "$stdin"
    return fill(command, Field(text)).text if PLACE.search(command.text) else f"{command.text} {text}"


OPTIONS = {
    "xargs": options(
        "-a= --arg-file= -d= --delimiter= -E= -I= --replace -J= -L= --max-lines -n= --max-args= -P= --max-procs= "
        "-s= --max-chars= --process-slot-var= -R= -S= | first"
    ),
    "parallel": options(
        "-j= --jobs= -a= --arg-file= -d= --delimiter= -I= -N= -n= --max-args= --joblog= --results= --retries= "
        "--timeout= --delay= -S= "
        "--colsep= -C= --workdir= --tmpdir= --halt= --header= --load= --tagstring= --memfree= --sshlogin= --env= "
        "--block= --recstart= --recend= --rpl= -L= --max-lines= --max-replace-args= --basefile= --bf= --return= "
        "--arg-sep= --arg-file-sep= --argsep= --profile= -J= --nice= --termseq= --semaphorename= --id= "
        "--sshdelay= --ssh= --sshloginfile= --slf= -s= --max-chars= -P= --max-procs= | "
        "first"
    ),
}
OPTIONS["env_parallel"] = OPTIONS["parallel"]

PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = {
    "xargs": xargs,
    **dict.fromkeys(("parallel", "env_parallel"), parallel),
}
