"""Schema and validation of a policy file (``sentinel.toml``): parse it into a Layer, report all errors at once.

Rules of this file:
1. An unknown key, table or name is an error, with the nearest known one: a typo never means "no protection".
2. All errors are told together, each with its file, line and key, in one ConfigError.
3. A Layer holds only what the file says. What it means beside the others is ``merge_layers``'s business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sentinel_guard.core.model import Kind, Response
from sentinel_guard.core.policy.policy import Rule, is_pattern
from sentinel_guard.core.policy.project_file_size_limits import excess
from sentinel_guard.core.policy.settings_table import SETTINGS, Setting
from sentinel_guard.errors import ConfigError

VERSION = 1
Value = bool | int | float | str | tuple[str, ...]

RULE_RESPONSES = ("snapshot", "hint", "ask", "deny", "kill")
RISKS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
KINDS = tuple(k.value for k in Kind)
HOW = (
    *("recursive", "force", "append", "truncate", "mode", "owner", "link", "move", "raw", "inplace", "mkfs"),
    *("contents", "forkbomb", "typed", "elsewhere", "shut", "open", "shown", "over", "out", "empty", "unpack"),
    *("many", "new", "documented", "folder", "others"),
    *("snapshots", "unwatched", "foreign", "name", "verb", "data", "code", "delete", "write", "parse", "syntax"),
)

_COMMAND_KEYS = ("program", "subcommand", "any_flag", "all_flags", "no_flag", "operand")
RULE_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("id", "response", "why", "instead", "action", "risk"), "text"),
    **dict.fromkeys((*_COMMAND_KEYS, "effect", "target", "not_target", "how", "no_how", "hit", "miss"), "words"),
    **dict.fromkeys(("sure", "held"), "bool"),
}
_RULE_SETS = frozenset({"any_flag", "all_flags", "no_flag", "how", "no_how"})
_RULE_WORDS: Mapping[str, tuple[str, ...]] = {
    "response": RULE_RESPONSES,
    "risk": RISKS,
    "effect": KINDS,
    **dict.fromkeys(("how", "no_how"), HOW),
}
_HELD = ("/", "{home}/", "{root}/")
_ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
_ACTION = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Layer:
    """What one policy file says, and nothing that it does not say."""

    source: str
    settings: Mapping[tuple[str, str], Value] = field(default_factory=dict)
    confirm: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()


def parse(document: Mapping[str, object], source: str, text: str, *, limited: bool = False) -> Layer:
    """The layer of a parsed TOML ``document``; ``text`` is what it was parsed from, for line numbers.

    ``limited``: a project's file, which anybody may have written: within ``project_file_size_limits`` only.
    Raises ConfigError that names each mistake with file, line, key and the nearest known key.
    """
    parser = _Parser(source, text)
    for table, key, words in excess(document) if limited else ():
        parser.say(table, key, words)
    return parser.layer(document)


class _Parser:
    def __init__(self, source: str, text: str) -> None:
        self.source = source
        self._text = text
        self._lines: Lines | None = None
        self.errors: list[tuple[int, str]] = []

    def layer(self, document: Mapping[str, object]) -> Layer:
        settings: dict[tuple[str, str], Value] = {}
        confirm: dict[str, tuple[str, ...]] = {}
        rules: tuple[Rule, ...] = ()
        for name, value in document.items():
            if name == "version":
                self._version(value)
            elif name == "rule":
                rules = self._rules(value)
            elif name == "confirm":
                confirm = self._confirm(value)
            elif name in SETTINGS:
                settings |= self._section(name, value)
            else:
                self._unknown("", name, ("version", "rule", "confirm", *SETTINGS))
        self._raise()
        return Layer(self.source, settings, confirm, rules)

    def _raise(self) -> None:
        if self.errors:
            lines = [_printable(f"{self.source}:{line}: {words}") for line, words in sorted(self.errors)]
            count = "1 mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
            hint = f"{self.source} has {count} and is not in force. Every key: sentinel-guard policy show"
            raise ConfigError("\n".join(lines), hint)

    def say(self, table: str, key: str, words: str, nth: int = 0) -> None:
        place = f"[{table}] {key}" if table and key else key or f"[{table}]"
        self._lines = self._lines or Lines(self._text)
        self.errors.append((self._lines.of(table, key, nth), f"{place}: {words}"))

    def _unknown(self, table: str, key: str, known: tuple[str, ...], nth: int = 0) -> None:
        self.say(table, key, "unknown key; " + _nearest(key, known), nth)

    def _version(self, value: object) -> None:
        if value != VERSION or isinstance(value, bool):
            self.say("", "version", f"not the version that is read here; write version = {VERSION}")

    def _section(self, name: str, value: object) -> dict[tuple[str, str], Value]:
        if not isinstance(value, Mapping):
            self.say("", name, f"must be a table: [{name}]")
            return {}
        found: dict[tuple[str, str], Value] = {}
        for key, given in value.items():
            setting = SETTINGS[name].get(key)
            if setting is None:
                self._unknown(name, key, tuple(SETTINGS[name]))
            elif words := _mistake(setting, given):
                self.say(name, key, words)
            else:
                found[name, key] = tuple(given) if isinstance(given, list) else given
        return found

    def _confirm(self, value: object) -> dict[str, tuple[str, ...]]:
        if not isinstance(value, Mapping):
            self.say("", "confirm", "must be a table: [confirm]")
            return {}
        for key, given in value.items():
            if not _ACTION.fullmatch(key):
                self.say("confirm", key, "an action is named in small letters, digits and _, for example deploy")
            elif words := _not_words(given):
                self.say("confirm", key, words)
        return {k: tuple(v) for k, v in value.items() if not _not_words(v)}

    def _rules(self, value: object) -> tuple[Rule, ...]:
        if not (isinstance(value, list) and all(isinstance(v, Mapping) for v in value)):
            self.say("", "rule", "must be a list of tables: [[rule]]")
            return ()
        rules = [r for nth, given in enumerate(value) if (r := self._rule(given, nth))]
        seen: set[str] = set()
        for nth, rule in enumerate(rules):
            if rule.id in seen:
                self.say("rule", "id", f"{rule.id!r} is there twice; every rule has its own id", nth)
            seen.add(rule.id)
        return tuple(rules)

    def _rule(self, given: Mapping[str, object], nth: int) -> Rule | None:
        before = len(self.errors)
        values: dict[str, object] = {}
        for key, value in given.items():
            if key in RULE_KEYS:
                values[key] = self._rule_value(key, value, nth)
            else:
                self._unknown("rule", key, tuple(RULE_KEYS), nth)
        for key, words in _missing(given):
            self.say("rule", key, words, nth)
        if len(self.errors) > before:
            return None
        values["response"] = Response[str(values["response"]).upper()]
        return Rule(**values, source=self.source)  # type: ignore[arg-type]  # RULE_KEYS names the fields and their types

    def _rule_value(self, key: str, value: object, nth: int) -> object:
        if words := _RULE_TYPES[RULE_KEYS[key]](value):
            self.say("rule", key, words, nth)
            return None
        if isinstance(value, list) or RULE_KEYS[key] == "words":
            value = tuple(value) if isinstance(value, list) else (str(value),)
        for word in value if isinstance(value, tuple) else (value,):
            self._rule_word(key, word, nth)
        return frozenset(value) if key in _RULE_SETS and isinstance(value, tuple) else value

    def _rule_word(self, key: str, word: object, nth: int) -> None:
        known = _RULE_WORDS.get(key)
        if known and word not in known:
            self.say("rule", key, f"{word!r} is not known; {_nearest(str(word), known)}", nth)
        if key == "id" and not _ID.fullmatch(str(word)):
            self.say("rule", key, f"{word!r} is no id; it is small letters, digits, . and -, as in git.push-force", nth)
        if key in ("target", "not_target") and "{" in str(word):
            from sentinel_guard.core.policy.target_placeholders import NAMES, is_target  # noqa: PLC0415 - a commit waits, and has no rules

            if not is_target(str(word)):
                self.say("rule", key, f"{word!r} is no name of a target; {_nearest(str(word), NAMES)}", nth)


def _missing(given: Mapping[str, object]) -> list[tuple[str, str]]:
    """What a rule needs and does not have: (key, words)."""
    lacks = [(k, "is missing; every rule has one") for k in ("id", "response", "why") if not given.get(k)]
    if not any(given.get(k) for k in ("program", "effect")):
        lacks.append(("program", "is missing; a rule names a program or an effect, or it would match everything"))
    if given.get("target") and not given.get("effect"):
        lacks.append(("effect", "is missing; a target belongs to an effect"))
    if given.get("held") and not _is_held_by_path(given):
        lacks.append(("held", "goes with targets below /, {home}/ or {root}/ alone, and no key of a command"))
    if given.get("response") == "ask" and not given.get("action"):
        lacks.append(("action", 'is missing; it is what the gate shows, for example action = "FORCE_PUSH"'))
    lacks += [(k, f"is missing; give commands that the rule must {what}") for k, what in _EXAMPLES if not given.get(k)]
    return lacks


def _is_held_by_path(given: Mapping[str, object]) -> bool:
    """Of a held system call nothing is known but its path and what it does."""
    target = given.get("target")
    paths = [str(path) for path in (target if isinstance(target, list) else [target])]
    return all(path.startswith(_HELD) for path in paths) and not any(given.get(key) for key in _COMMAND_KEYS)


_EXAMPLES = (("hit", "match"), ("miss", "leave alone"))


def _nearest(word: str, known: tuple[str, ...]) -> str:
    import difflib  # noqa: PLC0415 - only a mistake needs it

    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"


def _mistake(setting: Setting, value: object) -> str:
    """What is wrong with a value, in words, or an empty string."""
    if setting.type == "bool":
        return _not_bool(value)
    if setting.type == "choice":
        return "" if value in setting.choices else f"must be one of {', '.join(map(repr, setting.choices))}"
    if setting.type in ("words", "patterns"):
        return _not_words(value) or (_not_patterns(value) if setting.type == "patterns" else "")
    if isinstance(value, bool) or not isinstance(value, int if setting.type == "int" else (int, float)):
        return f"must be a {'whole number' if setting.type == 'int' else 'number'}, not {_type(value)}"
    if not setting.low <= value <= setting.high:
        return f"is out of range; {setting.low:g} to {setting.high:g} is possible"
    return ""


def _not_words(value: object) -> str:
    if isinstance(value, list) and all(isinstance(v, str) and v.strip() and "\0" not in v for v in value):
        return ""
    return f"must be a list of texts, none empty, not {_list_type(value)}"


def _not_words_or_word(value: object) -> str:
    return _not_text(value) if isinstance(value, str) else _not_words(value)


def _not_patterns(value: object) -> str:
    bad = [v for v in value if not is_pattern(v)] if isinstance(value, list) else []
    return f"{bad[0]!r} is no gitignore pattern" if bad else ""


def _not_text(value: object) -> str:
    return "" if isinstance(value, str) and value.strip() else f"must be a text, not {_type(value)}"


def _not_bool(value: object) -> str:
    return "" if isinstance(value, bool) else f"must be true or false, not {_type(value)}"


_TYPES = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}


def _list_type(value: object) -> str:
    return "a list with other things" if isinstance(value, list) else _type(value)


def _type(value: object) -> str:
    """What a value is, in words: the value itself may be of any size."""
    return _TYPES.get(type(value), f"a {type(value).__name__}")


_RULE_TYPES: Mapping[str, Callable[[object], str]] = {
    "text": _not_text,
    "words": _not_words_or_word,
    "bool": _not_bool,
}


def _printable(text: str) -> str:
    """A key may hold what a terminal would obey: written out."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


class Lines:
    """The lines of a TOML file, by what stands in them: read once, asked for each mistake."""

    def __init__(self, text: str) -> None:
        self._rows = [(number, *_read_line(line)) for number, line in enumerate(text.splitlines(), 1)]

    def of(self, table: str, key: str, nth: int = 0) -> int:
        """The line, from 1, where ``key`` of ``table`` stands (``nth`` of its like, from 0); the table's; or 1."""
        here, seen, fallback = "", -1, 1
        for number, header, name in self._rows:
            if header is not None:
                here = header
                seen += here == table
                if here == table and seen == nth:
                    fallback = number
                if here == (f"{table}.{key}" if table else key):
                    return number
            elif not name:
                continue
            elif (here == table and seen in (nth, -1) and _names(name, key)) or (
                table and _names(name, f"{table}.{key}")
            ):
                return number
            elif not here and table and _names(name, table):
                fallback = number
        return fallback


def _read_line(line: str) -> tuple[str | None, str]:
    """The table that begins in a line, and the name, with dots, that it gives a value to."""
    if header := re.match(r"\s*\[\[?\s*([^\]]*?)\s*\]", line):
        return header[1].strip("\"' "), ""
    name, equals, _ = line.partition("=")
    return None, ".".join(part.strip().strip("\"'") for part in name.split(".")) if equals else ""


def _names(name: str, key: str) -> bool:
    return bool(key) and (name == key or name.startswith(f"{key}."))
