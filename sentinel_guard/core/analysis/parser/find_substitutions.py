"""Finds the command and process substitutions in words: ``$(…)``, backticks, ``<(…)``, at any depth of a word."""

from __future__ import annotations

from collections.abc import Iterator

from sentinel_guard.core.analysis.parser.syntax_tree import (
    CommandSub,
    Literal,
    Parameter,
    ProcessSub,
    Simple,
    Variable,
    Word,
    is_bare,
)


def substitutions(tree: object) -> Iterator[CommandSub | ProcessSub | Parameter]:
    """The outermost substitutions in a word, or in a tuple of words, in source order; ``${x@P}`` runs what x holds."""
    if isinstance(tree, CommandSub | ProcessSub) or (isinstance(tree, Parameter) and tree.op == "@P"):
        yield tree
        return
    if isinstance(tree, Parameter) and tree.index is not None and quoted_code(tree.index):
        yield tree
    if isinstance(tree, tuple):
        for item in tree:
            if not (isinstance(item, Literal | Variable | str) or is_bare(item)):
                yield from substitutions(item)
    elif tree is not None:
        for name in getattr(tree, "__slots__", ()):
            child = getattr(tree, name)
            if child is not None and not isinstance(child, str | int):
                yield from substitutions(child)


class FoundSubstitutions:
    """``substitutions`` of parts of a tree, which does not change: looked for once, however often a loop comes by."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[object, tuple[CommandSub | ProcessSub | Parameter, ...]]] = {}
        """By the identity of a part."""

    def within(self, tree: object) -> tuple[CommandSub | ProcessSub | Parameter, ...]:
        known = self._found.get(id(tree))
        if known is None:
            known = self._found[id(tree)] = tree, tuple(substitutions(tree))
        return known[1]


def quoted_code(index: Word) -> str:
    """The quoted text of a subscript that holds a substitution, which arithmetic runs: ``${a['$(date)']}``."""
    texts = [part.text for part in index.parts if isinstance(part, Literal) and part.quoted]
    return next((text for text in texts if "$(" in text or "`" in text), "")


def may_substitute(source: str) -> bool:
    """A cheap look at a text as written: most hold none."""
    return "(" in source or "@P}" in source or "`" in source or "${ " in source or "${\n" in source or "${|" in source


_READERS = frozenset(
    (
        "grep", "egrep", "fgrep", "rg", "head", "tail", "wc", "sort", "uniq", "less", "more", "cut", "tr", "jq",
        "cat", "nl", "column",
        "ls", "file", "stat", "echo", "awk", "diff", "tac", "rev", "sha256sum", "md5sum", "basename", "dirname", "du",
    )
)  # fmt: skip


_SHOWS = frozenset(("head", "tail", "less", "more", "sort", "cut", "tr", "cat", "nl", "column", "awk", "tac", "rev"))
"""Readers that print the files which ``xargs`` names."""


def consumes(stage: object) -> bool:
    """Whether a stage of a pipe may do something with what it reads: all but plain filters and ``xargs`` of one."""
    if type(stage) is not Simple or not stage.words or stage.redirects:
        return True
    name = stage.words[0].literal
    if name != "xargs":
        return name not in _READERS
    names = [word.literal for word in stage.words[1:]]
    names = [n for n in names if n is None or not (n[:1] == "-" or n.isdigit())] or ["echo"]
    return names[0] not in _READERS or names[0] in _SHOWS
