"""Calls on what lives in the process alone (a table in memory, a map, a child process): their verbs lose nothing
elsewhere, though they are those of a service's client: ``df.drop(columns=...)``, ``seen.delete(key)``.

Guesses by words, in the dialects of Python, JavaScript and Ruby: a name counts where each of its bindings is of such a
kind, and any binding that is not understood speaks against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

_LIBRARIES = (
    # tables and numbers
    *("pandas", "polars", "numpy", "scipy", "xarray", "dask", "pyarrow", "geopandas", "cudf", "modin", "networkx"),
    # models
    *("sklearn", "torch", "torchvision", "tensorflow", "keras", "jax", "flax", "lightgbm", "xgboost", "statsmodels"),
    # pictures and windows
    *("matplotlib", "seaborn", "plotly", "altair", "bokeh", "PIL", "cv2", "tkinter", "pygame"),
    # Python's own
    *("logging", "subprocess", "tempfile", "unittest"),
)
"""Libraries of Python whose values are the process's own."""
_HOLDERS = ("asyncio", "collections", "concurrent", "multiprocessing", "queue", "threading")
"""Those whose values hold, or wait for, what may be a client: what comes out of them is anybody's."""
_MADE = re.compile(
    r"(?:\w+\.)*(?:[A-Z]\w*|create_task|ensure_future)\([^\n]*\)|await (?:\w+\.)*create_subprocess_\w+\([^\n]*\)"
)
"""A task, pool or process itself."""
_FILES_ELSEWHERE = re.compile(r"\bpyarrow\.fs\b|\bpyarrow import[^\n]*\bfs\b|\bgfile\b|\w+FileSystem\b")
"""What such libraries delete in stores of a cloud."""
_ANY = "|".join((*_LIBRARIES, *_HOLDERS))
_IMPORTS = re.compile(
    rf"^[ \t]*(?:import\b(?![^\n]*\bfrom\b)[ \t]+(?:[\w., \t]*?,[ \t]*)?(?P<module>(?:{_ANY})(?:\.\w+)*)\b"
    r"(?:[ \t]+as[ \t]+(?P<alias>\w+))?"
    rf"|from[ \t]+(?P<source>{_ANY})(?:\.\w+)*[ \t]+import[ \t]+\(?(?P<names>[\w, \t]+))",
    re.MULTILINE,
)
_COLLECTION = re.compile(
    r"new (?:Map|Set|WeakMap|WeakSet|URLSearchParams|FormData|Headers)\b(?:<[^\n;(]*>)?\([^\n;|?]*\)|new (?:Map|Set)"
    r"|(?:dict|set|list|defaultdict|OrderedDict|Counter|deque|bytearray)\([^\n;()]*\)|\{[^\n;|?]*\}|\[[^\n;|?]*\]"
    r"|(?:Hash|Set|Array)\.new(?:\([^\n;]*\))?"
)
"""What holds other values: its own verbs are meant, and not those of what it holds."""
_PROCESS = re.compile(
    r"(?:await )?(?:child_process\.)?(?:spawn|fork)\([^\n]*|new Worker\([^\n]*"
    r"|(?:\w+\.)?create(?:Read|Write)Stream\([^\n]*|(?:https?|net)\.createServer\([^\n]*"
)
_TABLES = re.compile(
    r"[.:](?:drop(?:_?duplicates|na|_nulls|_?nans|level|_vars|_sel|_isel|_while|While|Last|Right|Left|out\w*|down\w*)"
    r"|deleteLater|destroyAllWindows)\s*\(|\.drop\([^()]*(?:\[[^\[\]]*\])?[^()]*\b(?:columns|axis|index|labels|level|inplace)\s*=",
    re.IGNORECASE,
)
"""Verbs of tables, layers and windows: no client of a service has them."""
_NAME = r"(?:\b(?:self|this)\.|@)?[A-Za-z_$][\w$]*"
_HEAD = re.compile(rf"{_NAME}$")
_BEGINS = re.compile(rf"(?:await )?({_NAME})\s*[.(\[]")
_INNER = re.compile(r"[\"'][^\"'\n]*[\"']|\[[^\[\]\n]*\]|\([^()\n]*\)")
_CHOICE = re.compile(r"\b(?:or|if|else|and)\b|\|\||&&|\?")
"""What makes a value one of several."""
_ASSIGNS = re.compile(r"\s*(?P<kind>\?\?|\|\||&&|[-+*/|&:]|(?<=[=!<>]))?=(?![=>])[ \t]*")
_TARGET = re.compile(rf"\s*(?:export\s+)?(?:(?:const|let|var)\s+)?(?P<name>{_NAME})\s*(?::[^=]{{1,60}})?")
_SEVERAL = re.compile(r"[\w\s,.:*@$\[\]{}]*")
"""Several names at once on the left side, or the keys that hold them."""
_RENAMES = re.compile(r"\b(?:as|import|global|nonlocal|except|catch)\b[\s({]*(?:\*\s*as\s+)?")
_LOOP = re.compile(r"\bfor\b(?P<names>[^:]{1,80}?)\b(?:in|of)\b")
_PARAMETERS = re.compile(r"\b(?:def|lambda|function|import|do)\b|=>|\)\s*\{|\|")
_USED = re.compile(r"\s*[.(\[]")
_WIDTH = 500
"""Characters of a statement; what stands in a longer one is not known."""
_LONGEST = 20_000
"""Characters of a code that is looked into: beyond, nothing is known of its names."""
_CALLS = 24
"""Calls that are looked into."""
_NAMES = 8
"""Names through which a value is followed."""
_HOPS = 24
"""Calls of a chain."""
_REACH = 2000
"""Characters before a call in which its receiver begins."""


def first_elsewhere(pattern: re.Pattern[str], code: str) -> re.Match[str] | None:
    """The first call that a pattern finds, without those on what lives in the process alone."""
    for at, found in enumerate(pattern.finditer(code)):
        if at >= _CALLS or not _is_local(code, found):
            return found
    return None


def _is_local(code: str, found: re.Match[str]) -> bool:
    if found[0][:1] not in ".:-" or len(code) > _LONGEST:
        return False
    if _TABLES.match(code, found.start()):
        return True
    if _FILES_ELSEWHERE.search(code):
        return False
    head, direct = _receiver(code, found.start())
    if head in ("self", "this"):
        verb = re.match(r"\W*(\w+)", found[0])
        return verb is not None and _defines(code, verb[1])
    return bool(head) and _is_of_process(code, head, frozenset(), itself=direct)


def _receiver(code: str, end: int) -> tuple[str, bool]:
    """The name with which the expression before a dot begins, and whether it is that name alone."""
    at, direct = end, True
    for _ in range(_HOPS):
        while at and code[at - 1] in ")]":
            at, direct = _opening(code, at), False
        name = _HEAD.search(code, max(at - 80, 0), at)
        if name is None:
            return "", False
        if not name.start() or code[name.start() - 1] != ".":
            return name[0], direct
        at, direct = name.start() - 1, False
    return "", False


def _opening(code: str, end: int) -> int:
    """Where the bracket begins that ends before an index; 0 where none does within reach."""
    depth = 0
    for at in range(end - 1, max(end - _REACH, -1), -1):
        depth += (code[at] in ")]}") - (code[at] in "([{")
        if depth == 0:
            return at
    return 0


def _defines(code: str, verb: str) -> bool:
    """Whether a method of that name stands in the code itself, where its own calls are looked at."""
    name = re.escape(verb)
    method = rf"\bdef {name}\b|^\s*(?:async )?{name}\([^()\n]*\)\s*\{{|\b(?:self|this)\.{name}\s*=(?!=)"
    return re.search(method, code, re.MULTILINE) is not None


def _is_of_process(code: str, name: str, through: frozenset[str], *, itself: bool) -> bool:
    """Whether all that a name is given lives in the process alone. ``itself``: nothing that it holds is meant.

    A name that is given something of its own (``df = df.merge(x)``) is what it was given before.
    """
    given = _bindings(code, name)
    if library := _imported(code).get(name):
        return not given and (itself or library not in _HOLDERS)
    others = [value for value in given if _head(value) != name]
    itself = itself and len(others) == len(given)
    if not others or name in through or len(through) > _NAMES:
        return False
    return all(
        (itself and _is_collection(value)) or _is_value_of_process(code, value, through | {name}, itself=itself)
        for value in others
    ) and not any(map(_is_choice, given))


def _head(value: str) -> str:
    found = _BEGINS.match(value)
    return found[1] if found else ""


def _is_collection(value: str) -> bool:
    return _COLLECTION.fullmatch(value) is not None and _is_one_piece(value)


def _is_one_piece(value: str) -> bool:
    """Whether its first bracket closes at its end, so that nothing is taken out of it: ``[x for x in y][0]``."""
    first = re.search(r"[(\[{]", value)
    return first is None or _opening(value, len(value)) == first.start()


def _is_choice(value: str) -> bool:
    """Apart from a collection, which may hold some."""
    inner = _INNER.sub("", _INNER.sub("", value))
    return _CHOICE.search(inner) is not None and not _is_collection(value)


def _is_value_of_process(code: str, value: str, through: frozenset[str], *, itself: bool) -> bool:
    """``pd.read_csv(x)``, ``df[df.a > 1]``, a child process."""
    if _is_choice(value):
        return False
    if _PROCESS.fullmatch(value):
        return True
    head = _head(value)
    if _imported(code).get(head) in _HOLDERS:
        return itself and not _bindings(code, head) and _MADE.fullmatch(value) is not None and _is_one_piece(value)
    return bool(head) and _is_of_process(code, head, through, itself=False)


@lru_cache(4)
def _imported(code: str) -> Mapping[str, str]:
    """Names of modules and classes of those libraries, with the library of each."""
    names: dict[str, str] = {}
    for found in _IMPORTS.finditer(code):
        if found["names"]:
            names |= {part.split(" as ")[-1].strip(): found["source"] for part in found["names"].split(",")}
        else:
            library = found["module"].partition(".")[0]
            names[found["alias"] or library] = library
    return names


@lru_cache(32)
def _bindings(code: str, name: str) -> tuple[str, ...]:
    """What a name is given, by statements; empty where that is not said (a parameter, a loop, ``as``)."""
    word = re.compile(rf"(?<![\w$.@]){re.escape(name)}(?![\w$])")
    statements = (part for line in code.split("\n") if name in line for part in line.split(";") if word.search(part))
    return tuple(value for statement in statements for value in _bound(statement, word, name in _imported(code)))


def _bound(statement: str, word: re.Pattern[str], imported: bool) -> Iterator[str]:
    if imported and _IMPORTS.match(statement):
        return
    assigns = _ASSIGNS.search(statement)
    left = statement[: assigns.start()] if assigns else ""
    target = _TARGET.fullmatch(left)
    if assigns and target and word.fullmatch(target["name"]) and len(statement) <= _WIDTH:
        yield "" if assigns["kind"] else statement[assigns.end() :].strip()
        return
    others = (
        len(statement) > _WIDTH,
        _SEVERAL.fullmatch(left) and word.search(left),
        any(_ASSIGNS.match(statement, found.end()) for found in word.finditer(statement)),
        any(word.match(statement, found.end()) for found in _RENAMES.finditer(statement)),
        any(word.search(found["names"]) for found in _LOOP.finditer(statement)),
        _PARAMETERS.search(statement) and any(not _USED.match(statement, f.end()) for f in word.finditer(statement)),
    )
    if any(others):
        yield ""
