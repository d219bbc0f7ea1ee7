"""Shell state at one point of a script, as far as it is known: variables, functions, the current directory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.arithmetic import evaluate
from sentinel_guard.core.analysis.parser.syntax_tree import Node, Script
from sentinel_guard.core.analysis.secret_names import names_secret
from sentinel_guard.core.analysis.step_budget import Budget
from sentinel_guard.core.analysis.world import World
from sentinel_guard.core.value import value

RUNTIME = frozenset("?!$-_0") | frozenset(
    (
        "RANDOM", "SRANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "REPLY", "PIPESTATUS", "BASHPID", "GROUPS",
        "EPOCHSECONDS", "EPOCHREALTIME", "BASH", "BASH_VERSION", "BASH_VERSINFO", "BASH_SOURCE", "BASH_REMATCH",
        "BASH_COMMAND", "BASH_ARGV", "BASH_ARGV0", "BASH_LINENO", "BASH_SUBSHELL", "BASHOPTS", "SHELLOPTS", "SHLVL",
        "BASH_EXECUTION_STRING", "FUNCNAME", "DIRSTACK", "HOSTTYPE", "MACHTYPE", "OSTYPE", "OPTARG",
        "OPTIND", "OPTERR", "PS4", "MAPFILE", "COPROC", "BASH_ALIASES",
        "BASH_CMDS",
    )
)  # fmt: skip
"""Set by the shell itself while it runs."""
MAX_CHOICES = 16
"""Values that one variable may hold."""
INTERACTIVE = "-i"
"""The option that stands for ``bash -i``."""
DECIDES = "-decides"
"""The option that stands for a script whose known tests leave out what they do not come to (``conditions.told``)."""
UNASSIGNED: tuple[str, ...] = ("\0",)
"""Among the values that a variable may hold: the text has not assigned it; it is inherited or not set."""
_VARIABLE = re.compile(r"\"?\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})\"?")
_NAMEREFS = 5
"""References to references."""

Values = frozenset[tuple[str, ...]]
"""All that a variable may hold, each as it stands in ``Scope.variables``, or UNASSIGNED."""
Outer = tuple[Values | None, tuple[str, ...] | None, str]
"""Of a variable: what it may hold, what it holds, and its attributes."""


class Keyed(tuple[str, ...]):  # noqa: SLOT001 - a tuple can have no slots of its own
    """The values of an array with gaps or with names for keys; a plain tuple counts from 0."""

    keys: tuple[str, ...]

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> Keyed:
        made = cls(pairs.values())
        made.keys = tuple(pairs)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed) and self.keys == other.keys and tuple(self) == tuple(other)

    __hash__ = tuple.__hash__


def keys_of(items: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of an array's items."""
    return items.keys if isinstance(items, Keyed) else tuple(map(str, range(len(items))))


def indexed(pairs: Mapping[int, str]) -> tuple[str, ...]:
    """The items of an array with these indices."""
    ordered = {str(key): pairs[key] for key in sorted(pairs)}
    plain = tuple(ordered) == tuple(map(str, range(len(ordered))))
    return tuple(ordered.values()) if plain else Keyed.of(ordered)


NEW_NAME = "XXXXXX"
"""Stands for what makes a name that nobody has used yet, as in a template of mktemp."""


@value
class Field:
    """One argument after expansion."""

    text: str
    known: bool = True
    """False: some piece could not be resolved; it may then stand for any text and, unquoted, any number of words."""
    pattern: bool = False
    """True: ``text`` holds glob characters that are not quoted and matched nothing that could be seen."""
    source: str = ""
    """The word as written."""
    unseen: tuple[str, ...] = ()
    """Of a pattern whose folder was not looked at whole: one path for each kind of file that matters and may be there,
    itself a pattern. They are supposed where something is read, and nowhere else."""

    @property
    def tells(self) -> bool:
        """Whether a comparison with it can be told: what makes a new name is known as a place only."""
        return self.known and NEW_NAME[:3] not in self.text


@dataclass(slots=True)
class Scope:
    """What is known at one point of the text. The walker passes it along, changes it, and copies it for subshells."""

    world: World
    cwd: str | None = None
    """Absolute; None where it is unknown."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """The process environment at the start."""
    home: str = ""
    variables: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    """What the text assigned: a scalar has one value, an array several (maybe ``Keyed``), an unset name none; None is
    assigned and unknown."""
    positional: tuple[str, ...] | None = ()
    """``$1 …``; None where they are unknown."""
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    """What ``declare`` says of a name: letters of ``A i u l n r``, and ``?`` where that was under a condition."""
    options: dict[str, bool | None] = field(default_factory=dict)
    """``shopt`` and ``set -o`` names that the text changed; None for some branch did."""
    locals: dict[str, Outer] | None = None
    """In a function: its local names, with what they are outside of it."""
    outputs: dict[int, tuple[Script, str]] = field(default_factory=dict)
    """What the walk found a substitution to print, by the identity of its script. Shared by copies."""
    reading: tuple[str, int] = ("", 0)
    """The input that ``read`` took a line from, and how far it has come."""
    budget: Budget = field(default_factory=Budget)
    """Of the whole analysis."""
    choices: dict[str, Values] = field(default_factory=dict)
    """What an unknown variable may hold, where branches joined."""
    written: dict[str, str] = field(default_factory=dict)
    """How the text assigned an unknown variable: the value as written."""
    loaded: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Files that a variable's value was read from (tainted_variables.py)."""
    traps: list[str] = field(default_factory=list)
    """Texts of traps that may mean something else at the end."""
    input: tuple[str, str] | None = None
    """What ``exec < FILE`` made standard input, and what stood there before: the one takes the place of the other."""
    feeds: str = ""
    """The command whose output is read from a pipe, as written."""
    last: tuple[str, ...] | None = None
    """What ``$_`` is: the last word of the command before; None where it is not known."""
    asked: set[str] = field(default_factory=set)
    """Variables whose value was asked for. Shared by copies."""
    given: frozenset[str] = frozenset()
    """Variables that are assigned in front of the command that runs just now. Not held by copies."""
    exported: frozenset[str] = frozenset()
    """What all that the text starts surely has, too."""
    ended: bool | None = None
    """Whether an ``exit`` has surely ended this shell. None where none does: a terminal's goes on where jobs stand."""
    returned: bool = False
    """Whether a ``return`` has surely ended the function that runs just now."""

    def copy(self) -> Scope:
        """For a subshell: what happens in it is not seen outside."""
        return Scope(
            self.world,
            self.cwd,
            self.environ,
            self.home,
            self.variables.copy(),
            self.positional,
            self.functions.copy() if self.functions else {},
            self.aliases.copy() if self.aliases else {},
            self.attributes.copy() if self.attributes else {},
            self.options.copy() if self.options else {},
            None if self.locals is None else self.locals.copy(),
            self.outputs,
            self.reading,
            self.budget,
            self.choices.copy() if self.choices else {},
            self.written.copy() if self.written else {},
            self.loaded.copy() if self.loaded else {},
            [],
            self.input,
            self.feeds,
            self.last,
            self.asked,
            exported=self.exported,
            ended=self.ended,
            returned=self.returned,
        )

    def named(self, name: str) -> str:
        """The variable that a name stands for: itself, but for ``declare -n``."""
        for _ in range(_NAMEREFS):
            if "n" not in self.attributes.get(name, ""):
                return name
            target = self.variables.get(name)
            if not target:
                return name
            name = target[0]
        return name

    def lookup(self, name: str) -> Value:
        """What a variable or positional parameter holds; all items of an array."""
        if self.attributes:
            name = self.named(name)
        self.asked.add(name)
        if name in self.variables:
            items = self.variables[name]
            return Value(items or (), items is not None, items is None or bool(items))
        if name in RUNTIME:
            held = self.last if name == "_" else None
            return Value(held or (), held is not None, True)
        if name.isdigit() or name in ("@", "*", "#"):
            return self._positional(name)
        text = self._inherited(name)
        if text is None:
            return Value((), False, False)
        return Value((), False, True) if names_secret(name) else Value((text,), True, True)

    def element(self, name: str, key: str) -> Value:
        """One item of an array, by its key; a negative index counts from behind."""
        value = self.lookup(name)
        if not value.known:
            return value
        keys = keys_of(value.items)
        if key.startswith("-") and keys and "A" not in self.attributes.get(self.named(name), ""):
            key = str(int(keys[-1]) + 1 + int(key))
        if key not in keys:
            return Value((), True, False)
        return Value((value.items[keys.index(key)],), True, True)

    def scalar(self, name: str) -> Value:
        """What ``$name`` is: of an array its item 0."""
        value = self.lookup(name)
        if value.known and isinstance(value.items, Keyed):
            return self.element(name, "0")
        return Value(value.items[:1], value.known, value.isset)

    def _positional(self, name: str) -> Value:
        given = self.positional
        if given is None:
            return Value((), False, True)
        if name == "#":
            return Value((str(len(given)),), True, True)
        if name in "@*":
            return Value(given, True, bool(given))
        return Value(given[int(name) - 1 : int(name)], True, int(name) <= len(given))

    def _inherited(self, name: str) -> str | None:
        if name == "PWD":
            return self.cwd
        if name == "HOME":
            return self.environ.get(name) or self.home or None
        return " \t\n" if name == "IFS" else self.environ.get(name)

    def as_written(self, source: str) -> str:
        """A word that is an unknown variable alone, as the text wrote what is in it; any other word as it is."""
        whole = _VARIABLE.fullmatch(source) if self.written else None
        return self.written.get(whole[1] or whole[2], source) if whole else source

    @property
    def reaching(self) -> frozenset[str]:
        """The variables of the text that the command which runs just now has."""
        return self.given | self.exported if self.given else self.exported

    def inherits(self, name: str) -> bool:
        """Whether a variable that the text does not assign may hold something."""
        return name in RUNTIME or self._inherited(name) is not None

    # ---- changes ----

    def forget(self, names: Iterable[str]) -> None:
        """These are assigned, and unknown, from here on."""
        for name in names:
            self.hold(self.named(name), None)

    def hold(self, name: str, items: tuple[str, ...] | None) -> None:
        """The variable of this very name holds this from here on, whatever its attributes."""
        self.variables[name] = items
        if self.choices:
            self.choices.pop(name, None)
        if self.written:
            self.written.pop(name, None)

    def possible(self, name: str) -> Values | None:
        """What a variable may hold; None where that is not known."""
        self.asked.add(name)
        if (items := self.variables.get(name, UNASSIGNED)) is None:
            return self.choices.get(name)
        return frozenset((items,)) if len(items) < 2 and not isinstance(items, Keyed) else None

    def take(self, name: str, held: Iterable[Values | None]) -> None:
        """The variable of this very name is one of all these; None among them: it is not known."""
        found: Values = frozenset()
        for one in held:
            if one is None:
                self.hold(name, None)
                return
            found |= one
        self.hold(name, None)
        if len(found) > 1:
            if len(found) <= MAX_CHOICES:
                self.choices[name] = found
        elif found == {UNASSIGNED}:
            self.variables.pop(name, None)
        elif found:
            self.variables[name] = next(iter(found))

    def doubt(self, names: Iterable[str]) -> None:
        """These may have been assigned, or not. A reference stays one."""
        self.forget([n for n in names if "n" not in self.attributes.get(n, "")])

    def put(self, name: str, items: tuple[str, ...] | None) -> None:
        """Assigns a scalar or a whole array; one that is readonly stays as it is."""
        name = self.named(name)
        letters = self.attributes.get(name, "")
        if "r" in letters:
            return
        if letters and items:
            items = None if "?" in letters else self._changed(items, letters)
        if self.choices:
            self.choices.pop(name, None)
        if self.written:
            self.written.pop(name, None)
        self.variables[name] = items

    def _changed(self, items: tuple[str, ...], letters: str) -> tuple[str, ...] | None:
        values: list[str] = []
        for item in items:
            number = evaluate(item, Numbers(self)) if "i" in letters else 0
            if number is None:
                return None
            text = str(number) if "i" in letters else item
            values.append(text.upper() if "u" in letters else text.lower() if "l" in letters else text)
        return Keyed.of(dict(zip(keys_of(items), values, strict=True))) if isinstance(items, Keyed) else tuple(values)

    def put_element(self, name: str, key: str | None, text: str | None) -> None:
        """Assigns one item of an array; a key or text of None is unknown, and so is all of it then."""
        name = self.named(name)
        old = self.variables.get(name, ())
        if old is None or key is None or text is None:
            self.put(name, None)
            return
        pairs = dict(zip(keys_of(old), old, strict=True))
        if "A" in self.attributes.get(name, ""):
            pairs[key] = text
            self.put(name, Keyed.of(pairs))
            return
        at = int(key) if int(key) >= 0 else int(key) + 1 + max(map(int, pairs), default=-1)
        if at >= 0:
            self.put(name, indexed({int(k): v for k, v in pairs.items()} | {at: text}))

    def drop_element(self, name: str, key: str) -> None:
        """``unset 'a[key]'``."""
        name = self.named(name)
        old = self.variables.get(name, ())
        if not old or "r" in self.attributes.get(name, ""):
            return
        pairs = dict(zip(keys_of(old), old, strict=True))
        if "A" in self.attributes.get(name, ""):
            pairs.pop(key, None)
            self.variables[name] = Keyed.of(pairs)
            return
        at = int(key) if int(key) >= 0 else int(key) + 1 + max(map(int, pairs), default=-1)
        pairs.pop(str(at), None)
        self.variables[name] = indexed({int(k): v for k, v in pairs.items()})

    def is_on(self, option: str) -> bool:
        """An option that the text switched on, or may have."""
        return bool(self.options) and self.options.get(option, False) is not False


class Value(NamedTuple):
    items: tuple[str, ...]
    known: bool
    isset: bool


class Numbers:
    """The variables of a scope, for ``arithmetic``."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def get(self, name: str, index: str | None) -> str | None:
        scope = self.scope
        if index is None:
            value = scope.scalar(name)
        else:
            key = self._key(name, index)
            value = Value((), False, True) if key is None else scope.element(name, key)
        return "".join(value.items) if value.known else None

    def put(self, name: str, index: str | None, value: int | None) -> None:
        text = None if value is None else str(value)
        if index is None:
            self.scope.put(name, None if text is None else (text,))
        else:
            self.scope.put_element(name, self._key(name, index), text)

    def _key(self, name: str, index: str) -> str | None:
        if "A" in self.scope.attributes.get(self.scope.named(name), ""):
            return index
        number = evaluate(index, self)
        return None if number is None else str(number)
