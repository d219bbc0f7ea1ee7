"""Option parser (getopt): expanded words of a simple command -> ``Command`` and ``Call``, which programs evaluate.

An option table is one string, as getopt would have it: ``-o=`` and ``--out=`` take a value, ``--name`` is a long option
that may be abbreviated. Behind a bar stand marks: ``sub`` (has subcommands),
``words`` (one dash begins a long option, as
in terraform), ``first`` (the first operand ends the options).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.output_visibility import COPIERS
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.secret_names import is_secret
from sentinel_guard.core.model import Command, Effect, Kind

UNKNOWN = "\0"
"""Stands in a text for what is not known: no shell text, argument or path can hold a NUL."""

STDIN = ("-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0")
"""Names of standard input."""

SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "posh", "yash", "tcsh", "csh",
          "osh", "brush", "mrsh", "xonsh")  # fmt: skip
"""Programs that run shell text, as the analysis reads it."""

UNSEEN = "-unseen"
"""The option that stands for a file or text that nobody read, which may have set any variable."""
MAX_FILES = 3
"""Scripts on disk that are followed from one another."""
MAX_FOUND = 50
"""Files of a pattern that are told one by one."""
MAX_SCRIPT = 64 * 1024
"""Characters of a script that is followed."""


@dataclass(frozen=True, slots=True)
class Options:
    values: frozenset[str] = frozenset()
    longs: tuple[str, ...] = ()
    switches: frozenset[str] = frozenset()
    """Names without a value."""
    sub: bool = False
    words: bool = False
    first: bool = False


def options(table: str) -> Options:
    """An option table from its string."""
    names, _, marks = table.partition("|")
    values = frozenset(n[:-1] for n in names.split() if n.endswith("="))
    longs = tuple(n.rstrip("=") for n in names.split() if n.startswith("--"))
    switches = frozenset(n for n in names.split() if n[-1] != "=")
    return Options(values, longs, switches, **dict.fromkeys(marks.split(), True))


PLAIN = Options()


@dataclass(slots=True)
class Parsed:
    """Options and operands of a command, as written."""

    flags: dict[str, list[Field]] = field(default_factory=dict)
    """Normalised name -> its values, in order."""
    operands: list[Field] = field(default_factory=list)

    def value(self, *names: str) -> Field | None:
        """The last value of any of these options."""
        return next((v[-1] for n in names if (v := self.flags.get(n))), None)

    def values(self, *names: str) -> list[Field]:
        return [v for n in names for v in self.flags.get(n, ())]


def parse(fields: Sequence[Field], table: Options) -> Parsed:
    """Takes the arguments (without the program) apart."""
    parsed = Parsed()
    at, count = 0, len(fields)
    while at < count:
        item = fields[at]
        text = item.text
        at += 1
        if len(text) < 2 or text[0] != "-":
            parsed.operands.append(item)
            if table.first:
                break
        elif text == "--":
            break
        else:
            name, value, wants = _long(item, table) if text[1] == "-" or table.words else _letters(item, table, parsed)
            if wants and at < count:
                value = fields[at]
                at += 1
            known = parsed.flags.setdefault(name, [])
            if value is not None:
                known.append(value)
    parsed.operands.extend(fields[at:])
    return parsed


def without_option(fields: Sequence[Field], table: Options, *names: str) -> list[Field]:
    """The arguments without these options, which take a value, however they are written: ``-sKx``, ``--conf x``."""
    kept: list[Field] = []
    words = iter(fields)
    for item in words:
        if item.text[:1] != "-" or len(item.text) == 1:
            kept.append(item)
            continue
        letters = Parsed()
        long = item.text[1] == "-" or table.words
        name, _, wants = _long(item, table) if long else _letters(item, table, letters)
        follows = [found] if wants and (found := next(words, None)) is not None else []
        if name not in names:
            kept += [item, *follows]
        elif letters.flags:
            kept.append(Field("-" + "".join(flag[1:] for flag in letters.flags)))
    return kept


def _long(item: Field, table: Options) -> tuple[str, Field | None, bool]:
    name, equals, value = item.text.partition("=")
    if table.longs and name not in table.longs:
        name = _unabbreviated(name, table.longs)
    return (name, Field(value, item.known), False) if equals else (name, None, name in table.values)


@lru_cache(maxsize=1024)
def _unabbreviated(name: str, longs: tuple[str, ...]) -> str:
    full = [n for n in longs if n.startswith(name)]
    return full[0] if len(full) == 1 else name


def _letters(item: Field, table: Options, parsed: Parsed) -> tuple[str, Field | None, bool]:
    """The last letter is handed back; those before it take no value."""
    text = item.text
    last = len(text) - 1
    for at in range(1, last):
        name = f"-{text[at]}"
        if name in table.values:
            return name, Field(text[at + 1 :], item.known), False
        parsed.flags.setdefault(name, [])
    name = f"-{text[last]}"
    return name, None, name in table.values


class Runner(Protocol):
    """Who analyses what a program runs in turn. walk_syntax_tree.py has it."""

    def run(
        self, fields: Sequence[Field], call: Call, via: str, *, stdin: str | None = None, cwd: str = ""
    ) -> list[Effect]:
        """The effects of a command that this call starts. Without ``stdin`` it reads what the call reads."""

    def script(
        self,
        text: str,
        call: Call,
        via: str,
        *,
        cwd: str = "",
        positional: Sequence[str] | None = None,
        name: str | None = None,
        file: bool = False,
    ) -> list[Effect]:
        """The effects of a shell text that this call starts; UNKNOWN in it is opaque code.

        ``name``: what ``$0`` is in it. ``file``: the text stands on disk, and the shims will see what cannot be
        resolved in it.
        """


@dataclass(slots=True)
class Call:
    """One simple command about to run."""

    command: Command
    fields: Sequence[Field]
    """The program and its arguments, wrappers peeled off."""
    head: Parsed
    """Options before the subcommand; without subcommands the same as ``parsed``."""
    parsed: Parsed
    """Options and operands, behind the subcommand if there is one."""
    cwd: str
    """Absolute; a guess where ``here`` is False."""
    here: bool
    """The current directory is known."""
    world: Overlay
    stdin: str
    """What it reads, with UNKNOWN for what is not known; empty for nothing."""
    runner: Runner
    scope: Scope
    depth: int = 0
    """Texts inside texts."""
    files: int = 0
    """Script files that were followed."""
    disk: bool = False
    """In such a file."""

    @property
    def operands(self) -> list[Field]:
        return self.parsed.operands

    def has(self, *names: str) -> bool:
        """One of these options is given."""
        return not self.command.flags.isdisjoint(names)

    def effect(self, kind: Kind, target: str, *how: str, sure: bool = True) -> Effect:
        folder = self.cwd if self.here else ""
        return Effect(kind, target, sure, frozenset(how), self.command, folder=folder)

    def opaque(self, item: Field | str, how: str) -> Effect:
        return self.effect(Kind.OPAQUE, item if isinstance(item, str) else item.text, how, sure=False)

    def locate(self, item: Field | str, *, follow: bool = True) -> str:
        text = item if isinstance(item, str) else item.text
        return self.world.located(text, self.cwd) if follow else self.world.located_itself(text, self.cwd)

    def is_stdin(self, item: Field) -> bool:
        """Whether an operand is a name of standard input, however it is spelled."""
        return item.text in STDIN or (item.known and self.world.is_stdin(item.text, self.cwd))

    def certain(self, text: str) -> bool:
        return self.here or text.startswith("/")

    def read(self, item: Field, *how: str) -> Iterator[Effect]:
        """Reading; what is not known is data and passes, but for a name at its end that is a secret's, and for what a
        folder may hold that was not looked at whole. (A copy of all of it comes before nobody.)
        """
        if not item.known and is_secret(item.text):
            yield self.effect(Kind.READ, self.locate(item), *how, sure=False)
        elif item.known and item.text not in ("-", ""):
            path = self.locate(item)
            if path not in paths.IGNORED:
                yield self.effect(Kind.READ, path, *how, sure=self.certain(item.text))
        if item.unseen and not how and self.command.program not in COPIERS:
            yield from (self.effect(Kind.READ, self.locate(path), sure=False) for path in item.unseen)

    def write(self, item: Field, *how: str) -> Iterator[Effect]:
        """Writing what the path leads to; on a device it is raw."""
        if not item.known:
            yield self.opaque(item, "write")
            folder = re.split(r"[$`\0]", item.text, maxsplit=1)[0].rpartition("/")[0]
            if folder and "truncate" in how:
                yield self.effect(Kind.WRITE, self.locate(folder), "unpack", sure=False)
        elif item.text not in ("-", ""):
            path = self.locate(item)
            if path in paths.IGNORED or path.startswith(("/dev/fd/", "/proc/self/fd/")):
                return
            raw = ("raw",) if paths.is_device(path) else ()
            self.world.touched.add(path)
            yield self.effect(Kind.WRITE, path, *how, *raw, sure=self.certain(item.text))

    def delete(self, items: Iterable[Field], *how: str, follow: bool = False) -> Iterator[Effect]:
        """Deleting the names themselves; ``dir/*`` also counts as the contents of ``dir``."""
        emptied = set()
        for item in items:
            folder = paths.emptied_folder(item.text, item.source, unmatched=item.pattern)
            if folder is not None and folder not in emptied:
                emptied.add(folder)
                yield self.contents(folder, *how, sure=item.known)
                if not item.known and folder[:1] in ("$", "`"):  # of an empty value all that is below the root
                    yield self.opaque(item, "delete")
            if not item.known and folder is None:
                yield from self._partly(item, how)
            elif item.pattern and folder is None and (found := self.world.glob(self.locate(item, follow=False))):
                yield from self._found(found, how)
            elif item.text and not (item.pattern and folder is not None):
                yield self.lost(self.locate(item, follow=follow), *how, sure=self.certain(item.text))

    def lost(self, path: str, *how: str, sure: bool) -> Effect:
        """Deleting a name; of a mark nothing else."""
        return self.effect(Kind.DELETE, path, *how, *(("empty",) if paths.is_mark(path, self.world) else ()), sure=sure)

    def _found(self, found: Sequence[str], how: Sequence[str]) -> Iterator[Effect]:
        """What a pattern that code was left with takes in: some of it, and what counts by its own name."""
        for path in (*found[:MAX_FOUND], *filter(self.world.matters, found[MAX_FOUND:])):
            yield self.effect(Kind.DELETE, path, *how)

    def leaves(self, target: Field | None) -> tuple[str, ...]:
        """The word of a move out of the guarded repository; empty where what is moved stays in it."""
        root = self.world.root
        kept = target is not None and target.known and root and f"{self.locate(target)}/".startswith(f"{root}/")
        return () if kept else ("out",)

    def contents(self, folder: str, *how: str, sure: bool = True) -> Effect:
        """All that is in a folder is deleted."""
        words = (*how, "recursive", "contents")
        return self.effect(Kind.DELETE, self.locate(folder), *words, sure=sure and self.certain(folder))

    def _partly(self, item: Field, how: Sequence[str]) -> Iterator[Effect]:
        """A deletion of which only the beginning is known means, unsurely, what is below that folder."""
        folder, slash, rest = re.split(r"[$`]", item.text, maxsplit=1)[0].rpartition("/")
        unset = "$" not in item.text and "`" not in item.text
        if unset and item.text:
            yield self.effect(Kind.DELETE, self.locate(item), *how, sure=False)
            if self.locate(item) in self.world.doubted and "$" not in item.source and "`" not in item.source:
                return  # a name that a pattern takes in, if this text has written it
            if item.pattern and _names_below(folder) and f"{self.locate(folder)}/".startswith(paths.TEMPORARY):
                return  # names in a temporary folder, whichever there are
        elif slash and folder and not unset and not rest.startswith(".."):
            yield self.contents(folder, *how, sure=False)
            return
        yield self.opaque(item, "delete")

    def into(self, folder: Field, item: Field) -> Field:
        """Where an item lands that is put into ``folder``."""
        name = paths.base(item.text.rstrip("/"))
        return Field(f"{folder.text.rstrip('/')}/{name}", folder.known and item.known)

    def is_folder(self, item: Field) -> bool:
        return item.known and (item.text.endswith("/") or self.world.kind(self.locate(item)) == "dir")

    def script_text(self, path: str) -> str | None:
        """The text of a script on disk, if it is one and files may still be followed here; or of standard input, by
        its names in ``/dev`` and ``/proc``, with UNKNOWN where that is not known.
        """
        if self.world.is_stdin(path, self.cwd):
            return self.stdin or UNKNOWN
        text = self.world.read(path)
        if self.files >= MAX_FILES and not (text is not None and self.world.wrote_text(text)):
            return None
        return text if text is not None and len(text) <= MAX_SCRIPT else None

    def save(self, item: Field, text: str, *, append: bool = False, sure: bool = True) -> None:
        """The file now holds this text, for what runs it later in the same text."""
        if item.known:
            path = self.locate(item)
            self.world.write(path, (self.world.read(path) or "") + text if append else text, sure=sure)

    def copy(self, source: Field, target: Field, *, sure: bool = True) -> None:
        """The target now holds what the source holds."""
        if source.known and target.known:
            self.world.copy(self.locate(source), self.locate(target), sure=sure)


def _names_below(folder: str) -> bool:
    """Whether a pattern has its stars in the last name alone."""
    return bool(folder) and not set("*?[") & set(folder) and ".." not in folder


def program_of(fields: Sequence[Field]) -> str:
    """The program's name; those of Windows without their suffix, as WSL starts them."""
    text = fields[0].text
    return text.rpartition("/")[2].removesuffix(".exe") if "/" in text or text[-4:] == ".exe" else text


def build(
    fields: Sequence[Field], tables: Mapping[str, Options], via: tuple[str, ...]
) -> tuple[Command, Parsed, Parsed]:
    """The command of these fields, its options before the subcommand, and those behind it."""
    program = program_of(fields)
    table = tables.get(program, PLAIN)
    head = parsed = parse(fields[1:], table)
    subcommand = ""
    if table.sub and head.operands:
        subcommand, rest = head.operands[0].text, head.operands[1:]
        below = tables.get(f"{program} {subcommand}")
        apart = table.first or below is not None
        parsed = parse(rest, below or PLAIN) if apart else Parsed(head.flags, rest)
    flags = frozenset((*head.flags, *parsed.flags)) if head is not parsed else frozenset(parsed.flags)
    operands = tuple([f.text for f in parsed.operands])
    return Command(program, tuple([f.text for f in fields]), subcommand, flags, operands, via), head, parsed


_FIRST = 8
"""Words among which the first operand is looked for."""


def behind_unnamed_option(fields: Sequence[Field], tables: Mapping[str, Options]) -> Sequence[Field]:
    """The command with its first operand as the value of the option before it, where no table names that option: the
    next operand may be the verb (``mc --config-dir x rb``), or a value again. Empty where there is none.
    """
    table = tables.get(program_of(fields), PLAIN)
    at, is_value = 1, False
    while at < min(len(fields), _FIRST) and (is_value or fields[at].text[:1] == "-"):
        is_value = not is_value and fields[at].text in table.values
        at += 1
    option, rest = fields[at - 1].text, fields[at + 1 :]
    told = at == 1 or is_value or option[:1] != "-" or option in ("-", "--", *table.switches) or "=" in option
    verbs = any(item.text[:1] != "-" and " " not in item.text for item in rest)
    if told or not verbs or fields[at].text[:1] == "-":
        return []
    value = fields[at]
    name = option if option[:2] == "--" or table.words else f"-{option}"
    valued = [Field(f"{name}={value.text}", value.known)] if len(option) > len("-x") else []
    return [*fields[: at - 1], *valued, *rest]
