"""Edit JSON as text: put an element at the end of a list, or a member into an object, and take them out again.

Every other byte stays as it was.

Comments (``//``, ``/* */``) and commas before a closing bracket are read over: some settings files have them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
DEPTH = 100
"""Brackets inside brackets that are read."""


class Node(NamedTuple):
    """A value and where it stands."""

    begin: int
    end: int
    members: tuple[Member, ...] | None = None
    """Of an object."""
    elements: tuple[Node, ...] | None = None
    """Of a list."""

    def member(self, name: str) -> Member | None:
        """The one that counts: the last of its name."""
        return next((member for member in reversed(self.members or ()) if member.name == name), None)


class Member(NamedTuple):
    """A name in an object, where that begins, and its value."""

    name: str
    begin: int
    node: Node


def parse(text: str) -> Node:
    """The value that a text holds. Raises ValueError where it is no JSON."""
    try:
        node = _value(text, _blank(text, 0), 0)
    except IndexError as e:
        raise ValueError("it ends too early") from e
    if _blank(text, node.end) != len(text):
        raise ValueError(f"something stands behind its end, at {node.end}")
    return node


def value(text: str) -> object:
    """The value itself. Raises ValueError."""
    return _plain(text, parse(text))


def put(text: str, path: Sequence[str], element: object) -> str:
    """The text with the element at the end of the list at ``path`` (names of members); lists and objects that are
    missing on the way are made. An empty text is an empty object. Raises ValueError where something else stands there.
    """
    if not text.strip():
        return json.dumps(_nested(path, [element]), indent=2) + "\n"
    node, at = parse(text), 0
    for at, name in enumerate(path):
        if node.members is None:
            raise ValueError(f"{'.'.join(path[:at]) or 'it'} is no object")
        inner = node.member(name)
        if inner is None:
            return _insert(text, node, f"{json.dumps(name)}: {_shown(_nested(path[at + 1 :], [element]))}")
        node = inner.node
    if node.elements is None:
        raise ValueError(f"{'.'.join(path)} is no list")
    return _insert(text, node, _shown(element))


def put_member(text: str, name: str, element: object) -> str:
    """The text with a member of the outermost object; where an object of this name is there, with the members that it
    lacks. Raises ValueError where another value stands there.
    """
    if not text.strip():
        return json.dumps({name: element}, indent=2) + "\n"
    outer = parse(text)
    if outer.members is None:
        raise ValueError("it is no object")
    there = outer.member(name)
    if there is None:
        return _insert(text, outer, f"{json.dumps(name)}: {_shown(element)}")
    stands = _plain(text, there.node)
    if not isinstance(stands, dict) or not isinstance(element, dict):
        if stands != element:
            raise ValueError(f"{name} has another value")
        return text
    if wrong := [key for key, given in element.items() if stands.get(key, given) != given]:
        raise ValueError(f"{name}.{wrong[0]} has another value")
    for key in (key for key in element if key not in stands):
        inside = parse(text).member(name)
        text = _insert(text, inside.node, f"{json.dumps(key)}: {_shown(element[key])}") if inside else text
    return text


def take(text: str, path: Sequence[str], ours: Callable[[object], bool]) -> str:
    """The text without the elements of the list at ``path`` that are ours. Raises ValueError.

    A list, and an object, that holds nothing then goes with them, but for the outermost one.
    """
    if not text.strip():
        return text
    node, empty = parse(text), list[Member]()
    for name in path:
        inner = node.member(name)
        if inner is None:
            return text
        # What would hold nothing else without the list goes with it.
        empty = [*empty, inner] if len(node.members or ()) == 1 and empty else [inner]
        node = inner.node
    elements = node.elements or ()
    mine = [one for one in elements if ours(_plain(text, one))]
    if mine and len(mine) == len(elements):
        return _cut(text, empty[0].begin, empty[0].node.end)
    for node in reversed(mine):
        text = _cut(text, node.begin, node.end)
    return text


def take_member(text: str, name: str) -> str:
    """The text without a member of the outermost object. Raises ValueError."""
    found = parse(text).member(name) if text.strip() else None
    return _cut(text, found.begin, found.node.end) if found else text


def _cut(text: str, begin: int, end: int) -> str:
    """Without this piece, and the comma that parted it from its neighbours."""
    before = text[:begin].rstrip()
    after = _blank(text, end)
    if before.endswith(","):
        return before[:-1] + text[end:]
    if text[after : after + 1] == ",":
        rest = text[after + 1 :]
        return text[:begin] + rest[len(rest) - len(rest.lstrip()) :]
    return before + text[end:] if text[after : after + 1] not in ("}", "]") else before + text[after:]


def _insert(text: str, node: Node, shown: str) -> str:
    """At the end of a list or an object, indented as what stands there."""
    inner = [member.node for member in node.members or ()] or [*(node.elements or ())]
    closing = node.end - 1
    outer = _indent(text, node.begin)
    if not inner:
        step = _step(text)
        lines = shown.replace("\n", f"\n{outer}{step}")
        return f"{text[: node.begin + 1]}\n{outer}{step}{lines}\n{outer}{text[closing:]}"
    last = inner[-1].end
    gap = text[_blank(text, last) :]
    if gap.startswith(","):  # one before the closing bracket
        last = _blank(text, last) + 1
    begin = _indent(text, inner[-1].begin if node.members is None else node.members[-1].begin)
    if "\n" not in text[node.begin : last]:
        return f"{text[:last]}{'' if gap.startswith(',') else ','} {_one_line(shown)}{text[last:]}"
    lines = shown.replace("\n", f"\n{begin}")
    return f"{text[:last]}{'' if gap.startswith(',') else ','}\n{begin}{lines}{text[last:]}"


def _one_line(shown: str) -> str:
    return re.sub(r"\n\s*", " ", shown)


def _indent(text: str, at: int) -> str:
    """The blanks with which the line of a place begins."""
    line = text.rfind("\n", 0, at) + 1
    return text[line : line + len(text[line:]) - len(text[line:].lstrip(" \t"))]


def _step(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _shown(element: object) -> str:
    return json.dumps(element, indent=2, ensure_ascii=False)


def _nested(path: Sequence[str], element: object) -> object:
    for name in reversed(path):
        element = {name: element}
    return element


def _blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEPTH:
        raise ValueError("it is too deep")
    if text[at] == "{":
        return _object(text, at, depth)
    if text[at] == "[":
        return _list(text, at, depth)
    match = _STRING.match(text, at) or _SCALAR.match(text, at)
    if match is None:
        raise ValueError(f"no value stands at {at}")
    return Node(at, match.end())


def _object(text: str, begin: int, depth: int) -> Node:
    members, at = [], _blank(text, begin + 1)
    while text[at] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise ValueError(f"no name stands at {at}")
        at = _blank(text, key.end())
        if text[at] != ":":
            raise ValueError(f"no colon stands at {at}")
        node = _value(text, _blank(text, at + 1), depth + 1)
        members.append(Member(str(json.loads(key[0])), key.start(), node))
        at = _behind(text, node.end, "}")
    return Node(begin, at + 1, members=tuple(members))


def _list(text: str, begin: int, depth: int) -> Node:
    elements, at = [], _blank(text, begin + 1)
    while text[at] != "]":
        elements.append(_value(text, at, depth + 1))
        at = _behind(text, elements[-1].end, "]")
    return Node(begin, at + 1, elements=tuple(elements))


def _behind(text: str, at: int, closing: str) -> int:
    at = _blank(text, at)
    if text[at] == ",":
        return _blank(text, at + 1)
    if text[at] != closing:
        raise ValueError(f"neither a comma nor {closing} stands at {at}")
    return at


def _plain(text: str, node: Node) -> object:
    if node.members is not None:
        return {member.name: _plain(text, member.node) for member in node.members}
    if node.elements is not None:
        return [_plain(text, inner) for inner in node.elements]
    return json.loads(text[node.begin : node.end])
