"""Narrows file names by conditions in Python code: behind ``if f.endswith(".pyc")`` only such names are left.

A name that a folder gave (``os.listdir``, ``os.walk``, ``iterdir``) is not known; a test that it passed makes a pattern
of it, and of the paths that were joined from it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.languages.shared.program_values import Found, PathValue, text_of

Names = dict[str, object]
_SPECIAL = frozenset("*?[")


def narrow(names: Names, test: ast.expr, *, holds: bool = True) -> None:
    """Changes ``names`` to what is known where ``test`` holds, or where it does not."""
    match test:
        case ast.UnaryOp(op=ast.Not()):
            narrow(names, test.operand, holds=not holds)
        case ast.BoolOp(op=ast.And()) if holds:
            for value in test.values:
                narrow(names, value)
        case ast.BoolOp(op=ast.Or()) if not holds:
            for value in test.values:
                narrow(names, value, holds=False)
        case ast.Call() if holds:
            _called(names, test)
        case ast.Compare(ops=[ast.Eq()], left=left, comparators=[ast.Constant(value=str(text))]) if holds:
            _set(names, left, [text])
        case ast.Compare(ops=[ast.NotEq()], left=left, comparators=[ast.Constant(value=str(text))]) if not holds:
            _set(names, left, [text])
        case ast.Compare(ops=[ast.In()], left=ast.Constant(value=str(text)), comparators=[name]) if holds and text:
            _set(names, name, [f"*{text}*"])
        case ast.Compare(ops=[ast.In() as op], left=left, comparators=[several]) if holds:
            _set(names, left, _constants(several) if op else [])
        case ast.Compare(ops=[ast.NotIn()], left=left, comparators=[several]) if not holds:
            _set(names, left, _constants(several))


def leaves(node: ast.stmt) -> bool:
    """``if …: continue``: what stands behind it runs where the test does not hold."""
    return isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], ast.Continue | ast.Return)


def excluded(names: Names, test: ast.expr) -> bool:
    """Whether a test of the name or ending of a path that was found is sure not to hold: ``p.suffix == ".pyc"``."""
    match test:
        case ast.BoolOp(op=ast.And()):
            return any(excluded(names, value) for value in test.values)
        case ast.Compare(ops=[ast.Eq() | ast.In()], left=left, comparators=[several]):
            part, texts = _part(names, left), _constants(several)
            return part is not None and bool(texts) and part not in texts
        case ast.Call(func=ast.Attribute(value=left, attr="endswith" | "startswith" as how), args=[several]):
            part, texts = _part(names, left), _constants(several)
            return part is not None and bool(texts) and not getattr(part, how)(tuple(texts))
    return False


def _part(names: Names, node: ast.expr) -> str | None:
    """``p.name``, ``p.suffix`` of one path that a pattern found, or its text."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="name" | "suffix" | "stem" as attr):
            value = names.get(name)
            if isinstance(value, PathValue) and value.source and value.source != value.text:
                base = value.text.rpartition("/")[2]
                stem, dot, end = base[1:].rpartition(".")
                stem, end = (base[:1] + stem, dot + end) if dot else (base, "")
                return {"name": base, "suffix": end, "stem": stem}[attr]
        case ast.Name(id=name):
            value = names.get(name)
            return str(value) if isinstance(value, Found) and value.source != value else None
    return None


def _constants(node: ast.expr) -> list[str]:
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    texts = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return texts if len(texts) == len(items) else []


def _called(names: Names, test: ast.Call) -> None:
    match test:
        case ast.Call(func=ast.Attribute(value=node, attr="endswith"), args=[several]):
            _set(names, node, [f"*{text}" for text in _constants(several)])
        case ast.Call(func=ast.Attribute(value=node, attr="startswith"), args=[several]):
            _set(names, node, [f"{text}*" for text in _constants(several)], begins=True)
        case ast.Call(func=ast.Attribute(attr="fnmatch" | "fnmatchcase") | ast.Name(id="fnmatch"), args=[node, end]):
            _set(names, node, _constants(end))
        case ast.Call(func=ast.Attribute(value=node, attr="match"), args=[ast.Constant(value=str(pattern))]):
            _set(names, node, [pattern])


def _set(names: Names, node: ast.expr, tails: list[str], *, begins: bool = False) -> None:
    """The variable holds a name that fits one of these patterns. Of several only what they share is said."""
    attr = node.attr if isinstance(node, ast.Attribute) else ""
    if isinstance(node, ast.Attribute) and attr in ("name", "suffix", "stem", "path"):
        node = node.value
    if not isinstance(node, ast.Name) or not tails or not all(tail.strip("*") for tail in tails):
        return
    tails = [f"*{tail}" for tail in tails] if attr == "suffix" else tails
    old = names.get(node.id)
    if isinstance(old, PathValue) and old.source == old.text and old.text.endswith("/*"):
        names[node.id] = PathValue(old.text[:-1] + tails[0], old.text[:-1] + tails[0])
        return
    text = text_of(old)
    if isinstance(old, PathValue | Found) and old.source not in ("", text):  # one of several, no longer all of them
        names[node.id] = PathValue(text) if isinstance(old, PathValue) else str(old)
    if not isinstance(old, str | PathValue) or not text.endswith(UNKNOWN) or (begins and text != UNKNOWN):
        return
    make: Callable[[str], object] = (lambda path: PathValue(path, path)) if isinstance(old, PathValue) else _found
    tail = tails[0] if len(tails) == 1 else "{" + ",".join(tails) + "}"
    names[node.id] = make(_pattern(text, tail))
    if text == UNKNOWN:
        for name, value in _joined(names):
            names[name] = _found(_pattern(value, tail))


def _joined(names: Names) -> Iterable[tuple[str, str]]:
    """Paths whose last name is the one that is not known."""
    return [(n, v) for n, v in names.items() if isinstance(v, str) and v.endswith(f"/{UNKNOWN}")]


def _found(path: str) -> str:
    return Found(path, path) if _SPECIAL & set(path) or "{" in path else path


def _pattern(text: str, tail: str) -> str:
    r"""``./\0/\0`` with this last name is ``./**/name``."""
    head, _, rest = text.partition(UNKNOWN)
    if rest or (head and not head.endswith("/")) or (head and tail[:1] == "*" and "/" not in head[-1:]):
        return f"{head}**/{tail}"
    return f"{head}{tail}"
