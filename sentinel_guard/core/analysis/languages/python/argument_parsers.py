"""``argparse`` in Python code: what its options hold, from the words of the command and from their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    UNRESOLVED,
    Dotted,
    PathValue,
    arguments,
    constant,
    text_of,
)

_TYPES = frozenset(("str", "int", "float", "Path", "pathlib.Path"))
"""Types under which a word stays what it is."""
_PLAIN = ("store",)


@dataclass(slots=True)
class _Option:
    names: list[str]
    """``--out`` and ``-o``; one without dashes for what stands by its place."""
    target: str
    default: object
    takes: bool
    """A word follows it; else it is a switch."""
    known: bool
    """The word stays what it is: one, of a type that changes no text."""
    kind: str

    def value(self, word: object) -> object:
        if not self.known:
            return UNRESOLVED
        return PathValue(text_of(word)) if self.kind.endswith("Path") and constant(word) is not None else word


@dataclass(slots=True, eq=False)
class ArgumentParser:
    """One parser, its groups included."""

    clear: bool = True
    """False: it may read its words from elsewhere, or by rules that are not followed."""
    options: list[_Option] = field(default_factory=list)
    defaults: dict[str, object] = field(default_factory=dict)

    def call(self, deeds: EffectCollector, name: str, values: Sequence[object], named: Mapping[str, object]) -> object:
        """A method of it."""
        match name:
            case "add_argument":
                self._add(values, named)
            case "add_argument_group" | "add_mutually_exclusive_group":
                return self
            case "set_defaults":
                self.defaults |= named
            case "parse_args" | "parse_known_args" | "parse_intermixed_args":
                given = values[0] if values else named.get("args", None)
                words = arguments(deeds.call) if given is None else given
                found = self._parsed(words if isinstance(words, list) else [UNRESOLVED])
                return [found, UNRESOLVED] if name == "parse_known_args" else found
            case "add_subparsers":
                self.clear = False
        return UNRESOLVED

    def _add(self, values: Sequence[object], named: Mapping[str, object]) -> None:
        names = [text_of(value) for value in values]
        long = next((n for n in names if n.startswith("--")), names[0] if names else UNKNOWN)
        target = text_of(named["dest"]) if "dest" in named else long.lstrip("-").replace("-", "_")
        action, kind = text_of(named.get("action", "store")), named.get("type", Dotted("str"))
        typed = kind.name if isinstance(kind, Dotted) else UNKNOWN
        known = action in _PLAIN and "nargs" not in named and typed in _TYPES
        default = named.get("default", UNRESOLVED)
        if typed not in _TYPES:
            default = UNRESOLVED
        if UNKNOWN in "".join((*names, target)):
            self.clear = False
        takes = action in ("store", "append", "extend") or action == UNKNOWN
        self.options.append(_Option(names, target, default, takes, known, typed))

    def _parsed(self, words: Sequence[object]) -> dict[str, object]:
        """What each option holds; nothing is known where one word is not."""
        if not self.clear or any(constant(word) is None for word in words):
            return {}
        found = {option.target: option.default for option in self.options} | self.defaults
        for option in self.options:
            if option.kind.endswith("Path") and constant(found[option.target]) is not None:
                found[option.target] = PathValue(text_of(found[option.target]))
        loose = self._read([text_of(word) for word in words], found)
        places = [option for option in self.options if not option.names[0].startswith("-")]
        clear = all(option.known for option in places) and len(loose) <= len(places)
        for place, word in zip(places, loose, strict=False):
            found[place.target] = place.value(word) if clear else UNRESOLVED
        return found

    def _read(self, left: list[str], found: dict[str, object]) -> list[str]:
        """Takes the options with their words into ``found``, and gives what is left."""
        loose: list[str] = []
        while left:
            word = left.pop(0)
            option = self._named(word)
            name, sign, rest = word.partition("=")
            if option is None:
                loose.append(word)
            elif not option.takes or not option.known:
                found[option.target] = UNRESOLVED
                left = left[option.takes and not sign :]
            elif sign or (len(word) > 2 and word[1] != "-"):
                found[option.target] = option.value(rest if name.startswith("--") else word[2:])
            else:
                found[option.target] = option.value(left.pop(0) if left else UNRESOLVED)
        return loose

    def _named(self, word: str) -> _Option | None:
        """The option that a word names, by its beginning too; None for what is no option."""
        if not word.startswith("-") or word == "-":
            return None
        name = word.partition("=")[0]
        for option in self.options:
            if name in option.names or (word[1:2] != "-" and word[:2] in option.names):
                return option
        begins = [option for option in self.options if any(n.startswith(name) for n in option.names)]
        return begins[0] if len(begins) == 1 else None
