"""What the files hold that the analysed script writes. One that may not have been written holds what was written, or
what it held before.

Rules of this file:
1. A file is in one state at a time: all that it may hold, what was written last before the rest.
2. Each change is noted, so that it can be taken back where a branch ends, and joined with what the other ways leave.
3. What lies there on the machine is one of a file's contents as long as nobody has surely written it.
4. A symbolic link is such a file, too, under a name that no file has: what it holds is where it leads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.step_budget import Budget
from sentinel_guard.core.analysis.world import MAX_READ

Content = tuple[str | None, ...]
"""A text, None for one that nobody knows; empty for what lies there without this text."""
State = tuple[Content, ...]
States = Mapping[str, State]
BEFORE: Content = ()
LINK = "\0"
"""Stands before the path of a link."""
MAX_CONTENTS = 4
"""Of one file; it may hold anything where there are more."""
ANYTHING: Content = ("\0",)
"""A text that is not known, as the walk has it (``UNKNOWN``): who runs it runs anything."""
_SETTINGS = ("js", "ts", "rc")
"""Endings of files with which a tool is configured in code."""
CODE = (".py", ".rb", ".js", ".cjs", ".mjs", ".ts", ".pl")
"""Endings of files that a tool may load as plugins."""


class WrittenFiles:
    """The files of one text."""

    def __init__(self, lies_there: Callable[[str], bool]) -> None:
        """``lies_there``: whether anything is at a path that this text has not written."""
        self.budget = Budget()
        self.configured = self.coded = False
        """The text wrote what may be a tool's settings, or a plugin."""
        self.asked = set[str]()
        """Files that were read and may hold something else."""
        self.tried = frozenset[str]()
        """Those that something outside of the command that runs just now tries with all that they may hold."""
        self._lies_there = lies_there
        self._files = dict[str, str | None]()
        self.unsure = set[str]()
        """Files at which nothing may be: whoever copies one may fail."""
        self._links = dict[str, str | None]()
        self._others = dict[str, State]()
        """What else they may hold."""
        self._changes: list[tuple[str, State]] = []
        """Each path that was written, with its state before."""
        self._late = dict[str, State]()
        """What still may be written beside what follows."""
        self._names, self._all_names, self._searched = set[str](), "", dict[str, int]()
        """Their names, each once; these in one text; how far that was searched for a word, and it was not there."""

    def write(self, path: str, text: str | None, *, sure: bool = True) -> None:
        """From here on the file holds this text; nobody knows what one holds that is too long (None: another one)."""
        content: Content = (text if text is not None and len(text) <= MAX_READ else None,)
        states: tuple[State, ...] = ((content,), self._late.get(path, ()), () if sure else self._state(path))
        self._set(path, self._joined(path, states))
        if (name := paths.base(path)) not in self._names:
            self._names.add(name)
            self._all_names += f"{name}/"
        self.configured = self.configured or path.endswith(_SETTINGS)
        self.coded = self.coded or path.endswith(CODE)

    def made(self) -> KeysView[str]:
        """The files that the text itself wrote, those that it writes from here on, too."""
        return self._files.keys()

    def made_as(self, names: frozenset[str]) -> list[str]:
        """Of these those that are called so."""
        return [] if names.isdisjoint(self._names) else [path for path in self.made() if paths.base(path) in names]

    def made_with(self, word: str) -> tuple[str, ...]:
        """Of these those with a word in their names."""
        if self._all_names.find(word, self._searched.get(word, 0)) < 0:
            self._searched[word] = max(0, len(self._all_names) - len(word))
            return ()
        return tuple(path for path in self.made() if word in paths.base(path))

    def wrote_line(self, text: str) -> bool:
        """Whether a recipe or script stands so in a file that the text wrote, with nothing in it left to fill in."""
        if not self._files or "$" in text or "{{" in text:
            return False
        line = text.strip()
        return bool(line) and any(line in held for held in self._files.values() if held)

    def texts(self, path: str) -> str:
        """All that this text may have left in the file, one behind the other."""
        return "\n".join(text for content in self._state(path) for text in content if text)

    # ---- ways that may be taken, or not ----

    @property
    def may_differ(self) -> bool:
        """Whether any file may hold one thing or another."""
        return bool(self._others)

    @property
    def doubtful(self) -> frozenset[str]:
        """Those that are known to."""
        return frozenset(self._others)

    def contents(self, path: str) -> State:
        """All that a file may hold."""
        return self._state(path)

    def suppose(self, path: str, content: Content) -> None:
        """From here on the file holds this one of its contents; where it may hold anything it is no link any more."""
        if content == ANYTHING and path.startswith(LINK):
            self._set(path.removeprefix(LINK), (content,))
        self._set(path, (BEFORE if content == ANYTHING and path.startswith(LINK) else content,))

    def _ask(self, path: str) -> None:
        """A file is looked into."""
        if path in self._others:
            self.asked.add(path)

    def mark(self) -> int:
        """A moment, to be gone back to."""
        return len(self._changes)

    def leave(self, mark: int) -> States:
        """What was changed since, which is taken back: another way begins here."""
        if len(self._changes) == mark:
            return {}
        left = {path: self._state(path) for path, _ in self._changes[mark:]}
        self.budget.spend(len(self._changes) - mark)
        for path, state in reversed(self._changes[mark:]):
            self._apply(path, state)
        del self._changes[mark:]
        return left

    def join(self, ways: Sequence[States]) -> None:
        """One of these ways was taken; an empty one is none at all."""
        for path in {path: None for way in ways for path in way}:
            if not all(path in way for way in ways):
                self._doubt(path)
            self._set(path, self._joined(path, [way.get(path) or self._state(path) for way in ways]))

    def may_have_ended(self, marks: Iterable[int]) -> None:
        """What was changed since each of these moments may not have been."""
        before = [self._since(mark) for mark in marks if mark < len(self._changes)]
        if not before:
            return
        for path in {path: None for states in before for path in states}:
            self._doubt(path)
            now = self._state(path)
            ways = [now, *(states.get(path, now) for states in before)]
            if (state := self._joined(path, ways)) != now:
                self._set(path, state)

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """What is written here may not have been by then, or only after what follows was."""
        mark = self.mark()
        yield
        self._late |= {path: self._state(path) for path, _ in self._changes[mark:]}
        self.may_have_ended([mark])

    def may_be_back(self, folder: str) -> None:
        """What was there before this text may be in this folder again."""
        for path in [path for path in self._files if path.startswith(f"{folder}/")]:
            self._set(path, self._joined(path, (self._state(path), (BEFORE,))))

    def _note(self, path: str) -> None:
        """Something else than a file comes to a path here."""
        self._set(path, self._state(path))

    def _doubt(self, path: str) -> None:
        """What came to a path may not have come."""

    def _since(self, mark: int) -> States:
        """The states that were changed since, as they were."""
        self.budget.spend(len(self._changes) - mark)
        return dict(reversed(self._changes[mark:]))

    def _joined(self, path: str, states: Iterable[State]) -> State:
        """One of these states; what was there before counts where anything was."""
        found = dict.fromkeys(content for state in states for content in state)
        if BEFORE in found:
            del found[BEFORE]
            if not found or self._lies_there(path):
                found[BEFORE] = None
            else:
                self.unsure.add(path)
        return tuple(found) if len(found) <= MAX_CONTENTS or path.startswith(LINK) else (ANYTHING,)

    def _state(self, path: str) -> State:
        held, name = self._held(path)
        first: Content = (held[name],) if name in held else BEFORE
        return (first, *self._others.get(path, ()))

    def _held(self, path: str) -> tuple[dict[str, str | None], str]:
        """Where a state stands, and under which name."""
        return (self._links, path.removeprefix(LINK)) if path.startswith(LINK) else (self._files, path)

    def _set(self, path: str, state: State) -> None:
        self._changes.append((path, self._state(path)))
        self._apply(path, state)

    def _apply(self, path: str, state: State) -> None:
        first, *others = state
        held, name = self._held(path)
        if first:
            held[name] = first[0]
        else:
            held.pop(name, None)
        if others:
            self._others[path] = tuple(others)
        else:
            self._others.pop(path, None)
