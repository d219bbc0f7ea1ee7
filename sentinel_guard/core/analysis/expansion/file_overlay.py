"""In-memory overlay on the file system: files that the analysed script writes can be read back later in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.copied_folders import CopiedFolders, moved
from sentinel_guard.core.analysis.expansion.glob_patterns import fits
from sentinel_guard.core.analysis.expansion.written_files import BEFORE, LINK, State, WrittenFiles
from sentinel_guard.core.analysis.secret_names import may_hold_secret
from sentinel_guard.core.analysis.world import Peek, World

MAX_GLOBS = 200
"""Patterns that are looked up for one text; the next one is not, and proves nothing."""
MAX_COMMITTED = 10
"""Files of commits that are asked for: git is started for each."""
_DESCRIPTORS = re.compile(r"/proc/[^/]+/fd")
_STDIN = re.compile(r"/dev/(?:stdin|fd/0)|/proc/(?:self|thread-self|\d+|self/task/\d+)/fd/0")

WAITED = "waited"
"""Stirred by a loop that ends nobody knows when: what is there now may be something else by then."""


class Overlay(WrittenFiles):
    """A World on top of another one. Lives for one analysis, so it may remember what it asked."""

    _folders: set[str]
    _open: dict[str, str]
    _called: dict[str, list[str]]
    _globs: dict[str, tuple[tuple[str, ...], bool]]
    """What a pattern gave, and whether it was cut."""
    _matters: dict[str, bool]
    _kinds: dict[str, str]
    _located: dict[tuple[str, str], str]
    _real: dict[str, str]
    """Path -> where it really lies on the world below."""

    def __init__(self, world: World) -> None:
        super().__init__(lambda path: bool(self.kind(path[1:]) if path.startswith(LINK) else self._kind(path)))
        self.home: str = world.home
        self.root = ""
        """Top of the repository that the session guards; empty outside of one."""
        self.typed = False
        """What reads standard input reads what the agent types on a terminal."""
        self.environ: Mapping[str, str] = world.environ
        self.shims: tuple[str, ...] = world.shims
        self.settings: dict[str, str] = {}
        """git settings that the text made: key in lower case -> value."""
        self.connected = False
        """The text reaches another machine."""
        self.copies: dict[str, str] = {}
        """Copies that the text made: path -> the file that it is one of."""
        self.fetched, self.touched = set[str](), set[str]()
        """Files that the text got from the network: nobody has seen what they hold; those that its programs write."""
        self.secrets: set[str] = set()
        """Files that the text filled from a store of secrets."""
        self.own, self.forwards = set[str](), set[str]()
        """What the text made: ``container NAME``, ``database NAME``; commands that lead a port of this machine away."""
        self.makers: dict[str, str | None] = {}
        """By such a name: the simple command that made it, as written; None for one that hides whether it failed."""
        self.proven = frozenset[str]()
        """The same of earlier texts of this session, proved by their success."""
        self._ending, self._stirred = set[str](), set[str]()
        self.unmade: set[str] = set()
        """Of these the names that the text takes away again, or that may be somebody else's from here on."""
        self._world, self.engine, self.others, self.push = world, world.engine, world.others, world.push
        self._copied: CopiedFolders | None = None
        self._twins: list[tuple[str, str]] = []
        self._told = set[str]()
        """Files of copies that may not have been made, as they may be."""
        self.cut = False
        self._folders, self._open, self._called = set(), {}, {}
        self._globs, self._matters, self._kinds, self._located = {}, {}, {}, {}
        self._real, self._committed = {"/": "/"}, dict[tuple[str, str], str | None]()
        self.doubted: set[str] = set()
        """Files that were written under a condition."""

    def copy(self, source: str, target: str, *, sure: bool = True) -> None:
        """From here on the target holds what the source holds; what came from the network stays so."""
        self.copies[target] = self.copies.get(source, source)
        if self.fetched:
            self.fetched |= {moved(one, source, target) for one in self.fetched if one.startswith(f"{source}/")}
            self.fetched |= {target} if self.is_fetched(source) else set()
        text = self.read(source)
        if text is not None:
            self.write(target, text, sure=sure and source not in self.unsure)
        elif source != target and not target.startswith(f"{source}/"):
            self._copied = self._copied or CopiedFolders(self._world, self.budget)
            self._copied.add(source, target)
            self._note(target)
            if not sure:
                self._doubt(target)
            self.budget.spend(len(self._files) >> 4)
            for path in [path for path in self.made() if f"{path}/".startswith(f"{target}/")]:
                if self.kind(old := moved(path, target, source)) == "file":
                    self.write(path, self.read(old))
            for path in [path for path in self.made() if path.startswith(f"{source}/")]:
                self.write(moved(path, source, target), self.read(path), sure=sure)

    @property
    def may_differ(self) -> bool:
        return super().may_differ or bool(self._copied and self._copied.doubted)

    def _doubt(self, path: str) -> None:
        if self._copied:
            self._copied.doubt(path)

    def write(self, path: str, text: str | None, *, sure: bool = True) -> None:
        super().write(path, text, sure=sure)
        for one, other in self._twins:
            if f"{path}/".startswith(f"{one}/"):
                super().write(moved(path, one, other), text, sure=False)

    def twin(self, path: str, other: str) -> None:
        """These may be two names of one file, or hold such: what is written to one may stand in the other."""
        self._twins += [(path, other), (other, path)]

    def is_replaced_by_name(self, text: str, cwd: str) -> bool:
        """Whether what is put in the place of a name takes the place of the file that is read by it."""
        path = self.located(text, cwd)
        return path == self.located_itself(text, cwd) and path not in self._links.values()

    def is_unseen(self, path: str) -> bool:
        """Whether what lies there now says nothing of what the file holds by then."""
        written = path in self.touched and path not in self._files
        return written or path in self.doubted or self.is_fetched(path)

    def is_fetched(self, path: str) -> bool:
        """Whether a path, or a folder that it lies in, came from the network in this text."""
        return any(path == one or path.startswith(f"{one}/") for one in self.fetched)

    def holds_fetched(self, folder: str) -> bool:
        """Whether a folder, or anything in it, came from the network in this text."""
        return self.is_fetched(folder) or any(one.startswith(f"{folder}/") for one in self.fetched)

    def is_own(self, name: str) -> bool:
        """Whether this text, or the session before it, made what bears this name."""
        return name in self.own or name in self.proven

    def unmake(self, *names: str) -> None:
        """What bears one of these names (with a space behind it: what begins so) is nobody's of this session now."""
        for name in [one for one in self.own if _is_meant(one, names)]:
            self.own.discard(name)
            self.makers.pop(name, None)
        lost = [one for one in self.proven if _is_meant(one, names)]
        self._stirred.update(names)
        self.unmade.update(lost)
        self.proven = self.proven.difference(lost)

    def is_stirred(self, name: str) -> bool:
        """Whether the text so far may have put something else under this name: what is there now says nothing of it."""
        return _is_meant(name, self._stirred)

    def end(self, *names: str) -> None:
        """The same, once something else can take their place: what ends it twice ends its own."""
        self._ending.update(names)

    def settle(self) -> None:
        """Something starts, or the text ends."""
        if self._ending:
            ending, self._ending = self._ending, set()
            self.unmake(*ending)

    def forward(self, command: str) -> None:
        """A command leads ports of this machine to another one: what listens there may be that one's."""
        self.forwards.add(command)
        number = re.compile(r"(?<!\d)(?:" + "|".join(re.findall(r"\d{2,5}", command) or ["(?!)"]) + r")(?!\d)")
        unknown = "$" in command or "\0" in command
        self.unmake(*(["port "] if unknown else filter(number.search, {*self.own, *self.proven})))

    def changes(self) -> tuple[object, ...]:
        """All that the text has made so far, to be compared with what it has made later."""
        self.budget.spend((len(self._files) + len(self._folders)) >> 4)
        held = self._files, self._others, self._links, self._open, self.settings, self.copies
        named = [dict(one) for one in held]
        sets = [frozenset(one) for one in (self._folders, self.doubted, self.fetched, self.own, self.forwards)]
        return self.configured, self._copied and self._copied.count, named, sets

    def wrote_text(self, text: str) -> bool:
        """Whether the text itself wrote a file that holds this, not from the history: it is as if it were typed."""
        return text in self._files.values() and text not in self._committed.values()

    def is_stdin(self, text: str, cwd: str) -> bool:
        """Whether a path is a name of standard input, or a link to one that the text made."""
        path = text if text.startswith("/") else f"{cwd}/{text}"
        if not self._links and "/dev" not in path and "/proc" not in path:
            return False
        name = paths.normal(path)
        return _STDIN.fullmatch(self._links.get(name) or name) is not None

    def link(self, path: str, target: str, *, sure: bool = True) -> None:
        """From here on ``path`` is a symbolic link to the absolute ``target``."""
        now: State = ((target,),)
        self._set(LINK + path, now if sure else self._joined(LINK + path, (now, self._state(LINK + path))))

    def _apply(self, path: str, state: State) -> None:
        super()._apply(path, state)
        if path.startswith(LINK):
            self._located.clear()

    def open(self, descriptor: str, path: str) -> None:
        """From here on a file is open: ``exec 3< FILE``."""
        self._open[descriptor] = path
        self._located.clear()

    def resolve_descriptor(self, path: str) -> str:
        """The file that a descriptor's name leads to, any other path as it is."""
        if not self._open:
            return path
        folder, _, name = path.rpartition("/")
        return self._open.get(name, path) if folder == "/dev/fd" or _DESCRIPTORS.fullmatch(folder) else path

    def located(self, text: str, cwd: str) -> str:
        """``paths.locate``, and where that is a descriptor the file that it leads to. An operand is asked for again by
        each that looks at it.
        """
        path = self._located.get((text, cwd))
        if path is None:
            path = self.resolve_descriptor(paths.locate(text, cwd, self))
            if not (self._links or self._open):  # which may lead elsewhere next time
                self._located[text, cwd] = path
        return path

    def located_itself(self, text: str, cwd: str) -> str:
        """The same, with the last name as it is: of a link the link."""
        return self.resolve_descriptor(paths.locate(text, cwd, self, follow=False))

    def folder(self, path: str) -> None:
        """From here on there is a directory."""
        self._folders.add(path)

    def resolve(self, path: str) -> str:
        real = self._real.get(path)
        if real is None:
            self.budget.spend(len(path) >> 6)
            real = self._real[path] = self._resolve(path)
            if real != path:
                self._calls(path, real)
        return self._follow(real) if self._links else real

    def folder_at(self, path: str) -> str:
        """``resolve`` of a folder that is there: the names in it share the way to it."""
        real = self._real[path] = self._world.resolve(path)
        if real != path:
            self._calls(path, real)
        return real

    def _calls(self, path: str, real: str) -> None:
        """Remembers the name in the repository by which the text reached a file that lies elsewhere, behind a link."""
        if not self.root or not path.startswith(f"{self.root}/") or "/.." in path:
            return
        name = paths.normal(path)
        if name != real:
            self._called.setdefault(real, []).append(name)

    def has_names(self) -> bool:
        """Whether the text has reached any file by such a name."""
        return bool(self._called)

    def called(self, path: str) -> tuple[str, ...]:
        """Names in the repository, by way of symbolic links, that the text has used for this file."""
        return tuple(self._called.get(path, ()))

    def _resolve(self, path: str) -> str:
        """The names of one folder, as most of a text are, share the way to it."""
        folder, _, name = path.rpartition("/")
        if name in ("", ".", "..") or not path.startswith("/"):
            return self._real[folder] if name == "." and folder in self._real else self._world.resolve(path)
        above = folder or "/"
        if above not in self._real:  # one name behind a folder that is known is asked for by itself
            known = paths.parent(above) in self._real
            self._real[above] = self._resolve(above) if known else self._world.resolve(above)
        real = paths.child(self._real[above], name)
        kind = self._kind(real)
        return self._world.resolve(real) if kind == "link" else self._world.spelled(real) if kind else real

    def _follow(self, path: str) -> str:
        for _ in range(40):
            self.budget.spend(2)
            link = next((above for above in _and_above(path) if above in self._links), None)
            if link is None:
                break
            if LINK + link in self._others:
                self.asked.add(LINK + link)
            path = self._world.resolve(f"{self._links[link]}{path[len(link) :]}")
        return path

    def kind(self, path: str) -> str:
        if path in self._files:
            return "file"
        if path in self._links:
            return "link"
        if self._copied and (kind := self._copied.kind(path)):
            return kind
        return "dir" if path in self._folders else self._kind(path)

    def _kind(self, path: str) -> str:
        """On the world below; asked once."""
        kind = self._kinds.get(path)
        if kind is None:
            kind = self._kinds[path] = self._world.kind(path)
        return kind

    def replaces_outside_file(self, path: str) -> bool:
        """Whether writing there takes a file away that was there before, outside of the guarded repository."""
        spared = path.startswith(f"{self.root or '?'}/") or paths.is_temporary(path, self.root, self.home)
        return not spared and self._kind(path) == "file"

    def spelled(self, path: str) -> str:
        return path if path in self._files or path in self._links else self._world.spelled(path)

    def names(self, paths: Iterable[str], top: str) -> Mapping[str, tuple[str, ...]]:
        return self._world.names([path for path in paths if self._kind(path) == "file"], top)

    def glob(self, pattern: str) -> tuple[str, ...]:
        self.budget.spend((len(self._files) + len(self._folders)) >> (0 if "**" in pattern else 2))
        found, cut = self._looked_up(pattern)
        if self._copied:
            copied = self._copied.glob(pattern, lambda wanted: self._looked_up(wanted)[0])
            found = tuple(dict.fromkeys((*found, *copied)))
        self.cut = cut
        return (*found, *self._made(pattern, found)) if self._files or self._folders else found

    def _looked_up(self, pattern: str) -> tuple[tuple[str, ...], bool]:
        """On the world below; asked once."""
        if pattern not in self._globs:
            if len(self._globs) >= MAX_GLOBS:
                return (), True
            self._globs[pattern] = self._world.glob(pattern), self._world.cut
        return self._globs[pattern]

    def matters(self, path: str) -> bool:
        """Asked once: the same pattern may come again and again."""
        if path not in self._matters:
            self._matters[path] = self._world.matters(path)
        return self._matters[path]

    def kinds_that_matter(self, folder: str) -> tuple[tuple[str, ...], ...]:
        return self._world.kinds_that_matter(folder)

    def _made(self, pattern: str, found: tuple[str, ...]) -> list[str]:
        """What the text itself made, and matches."""
        wanted = pattern.rstrip("/").split("/")
        made = [
            path
            for path in (*([] if pattern[-1:] == "/" else self._files), *self._folders)
            if path not in found and ("**" in wanted or path.count("/") < len(wanted))
        ]
        return [path for path in made if fits(path.split("/"), wanted)]

    def read(self, path: str) -> str | None:
        """What the text wrote there, else what is there; a secret is never looked at."""
        self._ask(path)
        if path in self._files:
            return self._files[path]
        if self._copied and path not in self._told and (text := self._copied.read(path)) is not None:
            if self._copied.is_doubted(path):
                self._told.add(path)
                self._apply(path, self._joined(path, ((text, BEFORE),)))
                return self.read(path)
            return text[0]
        return None if may_hold_secret(path) else self._world.read(path)

    def fulfils(self, path: str, test: Callable[[str], bool]) -> bool:
        """Whether a file's text passes a test, a secret's, too: nothing of it goes further than this yes or no."""
        self._ask(path)
        if path in self._files:
            text = self._files[path]
        else:
            text = self._world.read((self._copied and self._copied.origin(path)) or path)
        return text is not None and test(text)

    def peek(self, path: str) -> Peek | None:
        text = self.read(path)
        return Peek(text, whole=True) if text is not None else None

    def committed(self, folder: str, name: str) -> str | None:
        """Asked once, and of few files; a secret is never looked at."""
        asked = folder, name
        if asked not in self._committed:
            secret = may_hold_secret(paths.normal(f"{folder}/{name.partition(':')[2]}"))
            known = not secret and len(self._committed) < MAX_COMMITTED
            self._committed[asked] = self._world.committed(*asked) if known else None
        return self._committed[asked]

    def which(self, name: str) -> str:
        return self._world.which(name)


def _is_meant(one: str, names: Iterable[str]) -> bool:
    """By one of these names, or by the beginning that one with a space behind it is."""
    return any(one == name or (name.endswith(" ") and one.startswith(name)) for name in names)


def _and_above(path: str) -> Iterator[str]:
    """The folders on the way to a path, the uppermost first, and the path."""
    return (path[:at] for at in (*(n for n, c in enumerate(path) if c == "/" and n), len(path)))
