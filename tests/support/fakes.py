"""The real interfaces, in memory. Each runs through the same contract tests as the real thing."""

from __future__ import annotations

import asyncio
import fnmatch
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sentinel_guard.core import hash_chain
from sentinel_guard.core.analysis.engine_facts import Engine
from sentinel_guard.core.analysis.running_processes import Running, Selection
from sentinel_guard.core.analysis.secret_names import KINDS, may_hold_secret
from sentinel_guard.core.analysis.world import MAX_READ, Peek
from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.json_codec import as_stored
from sentinel_guard.core.model import Entry, Question, Verdict
from sentinel_guard.errors import StoreError
from sentinel_guard.host.previews.push_preview import Start
from sentinel_guard.humans.question_inbox import Reply

HOME = "/home/ann"


class FakeWorld:
    """A World (core/analysis/world.py) from a few dictionaries. Folders above named paths exist by themselves."""

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        *,
        folders: tuple[str, ...] = (),
        links: Mapping[str, str] | None = None,
        devices: tuple[str, ...] = (),
        programs: Mapping[str, str] | None = None,
        home: str = HOME,
        environ: Mapping[str, str] | None = None,
        twins: tuple[tuple[str, ...], ...] = (),
        folds: bool = False,
        shims: tuple[str, ...] = (),
        commits: Mapping[str, str] | None = None,
        engines: Mapping[str, Engine] | None = None,
        others: Mapping[tuple[str, int], Running] | None = None,
        pushes: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.shims = shims
        self.twins = twins
        """Each: the names of one file."""
        self.folds = folds
        """Names that differ in case, or in the encoding of their accents, are one."""
        self.commits = dict(commits or {})
        """``FOLDER COMMIT:PATH`` -> its text."""
        self.cut = self.wonders = self.doubts = False
        self.running = dict(others or {})
        """Command line and port -> a process that is not the session's."""
        self.asks, self.engines = True, dict(engines or {})
        self.pushes = dict(pushes or {})
        """Folder -> what a look at a push from there finds."""
        self.environ = {"HOME": home, "PATH": "/usr/bin:/bin", "USER": "ann"} if environ is None else dict(environ)
        self.files = dict(files or {})
        self.links = dict(links or {})
        self.devices = devices
        self.programs = dict(programs or {})
        named = (*self.files, *self.links, *devices, home)
        self.folders = {"/", "/tmp", *folders, *(up for path in (*named, *folders) for up in _above(path))} | {home}

    def resolve(self, path: str) -> str:
        done = "/"
        todo = path.split("/")[::-1]
        for _ in range(200):
            if not todo:
                break
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                done = done.rpartition("/")[0] or "/"
                continue
            here = self.spelled(f"/{part}" if done == "/" else f"{done}/{part}")
            target = self.links.get(here)
            if target is None:
                done = here
                continue
            todo.extend(target.split("/")[::-1])
            done = "/" if target.startswith("/") else done
        return done

    def kind(self, path: str) -> str:
        folder, _, name = path.rstrip("/").rpartition("/")
        path = self.spelled(self.resolve(folder or "/").rstrip("/") + f"/{name}") if name else "/"
        for kind, known in (
            ("link", self.links),
            ("file", self.files),
            ("device", self.devices),
            ("dir", self.folders),
        ):
            if path in known:
                return kind
        return ""

    def spelled(self, path: str) -> str:
        known = (*self.files, *self.links, *self.folders) if self.folds else ()
        return next((name for name in known if _folded(name) == _folded(path)), path)

    def names(self, paths: Iterable[str], top: str) -> Mapping[str, tuple[str, ...]]:
        groups = {path: group for path in paths for group in self.twins if path in group}
        return {
            path: tuple(name for name in group if name != path and name.startswith(f"{top}/"))
            for path, group in groups.items()
        }

    def glob(self, pattern: str) -> tuple[str, ...]:
        known = {*self.files, *self.links, *self.devices, *self.folders}
        wanted = pattern.strip("/").split("/")
        return tuple(sorted(p for p in known if p != "/" and _matches(p.strip("/").split("/"), wanted)))[:1000]

    def matters(self, path: str) -> bool:
        return may_hold_secret(path)

    def kinds_that_matter(self, folder: str) -> tuple[tuple[str, ...], ...]:
        return (KINDS,)

    def read(self, path: str) -> str | None:
        return self.files.get(self.resolve(path))

    def peek(self, path: str) -> Peek | None:
        text = self.read(path)
        return None if text is None or "\0" in text else Peek(text[:MAX_READ], whole=len(text) <= MAX_READ)

    def committed(self, folder: str, name: str) -> str | None:
        return self.commits.get(f"{folder} {name}")

    def engine(self, program: str, *, at_stake: bool = False) -> Engine | None:
        return self.engines.get(program)

    def others(self, chosen: Selection) -> tuple[Running, ...]:
        return tuple(
            one
            for (line, port), one in self.running.items()
            if all(c.holds(one.name, line) for c in chosen.criteria) and chosen.port in (0, port)
        )

    def push(self, folder: str, remote: str, refs: Sequence[str], said: str) -> str | None:
        return self.pushes.get(folder)

    def which(self, name: str) -> str:
        return self.programs.get(name, "")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) or "/" for n in range(1, len(parts))]


def _matches(parts: list[str], wanted: list[str]) -> bool:
    if not wanted or not parts:
        return wanted in (parts, ["**"])
    first, rest = wanted[0], wanted[1:]
    if first == "**":
        return _matches(parts, rest) or (parts[0] != ".git" and _matches(parts[1:], wanted))
    hidden = parts[0].startswith(".") and not first.startswith(".")
    same = fnmatch.fnmatchcase(parts[0], first.replace("[^", "[!")) and not hidden
    return same and _matches(parts[1:], rest)


class MemoryStore:
    """A Store (audit/base.py) in a list."""

    def __init__(self) -> None:
        self.log: list[Entry] = []
        self.closed = False

    def append(self, entry: Entry, *, durable: bool = False) -> Entry:
        if self.closed:
            raise StoreError("The store is closed.")
        last = self.log[-1] if self.log else None
        try:
            sealed = hash_chain.seal(as_stored(entry), Head(last.seq, last.hash) if last else Head())
        except (TypeError, ValueError, RecursionError) as e:
            raise StoreError(f"An entry cannot be written down: {e}.") from e
        self.log.append(sealed)
        return sealed

    def sync(self) -> None:
        """A list outlives no power loss."""

    def entries(
        self, *, session: str = "", after: int = 0, kinds: tuple[str, ...] = (), last: int = 0
    ) -> Iterator[Entry]:
        found = [e for e in self.log if e.seq > after and session in ("", e.session) and (not kinds or e.kind in kinds)]
        return iter(found[-last:])

    @property
    def named(self) -> Head | None:
        return Head(self.log[-1].seq, self.log[-1].hash) if self.log else None

    def compare(self, head: Head, witness: str) -> bool:
        return any((e.seq, e.hash) == (head.seq, head.hash) for e in self.log)

    def live_sessions(self) -> tuple[str, ...]:
        ended = {e.session for e in self.log if e.kind == "end"}
        return tuple(dict.fromkeys(e.session for e in self.log if e.kind == "session" and e.session not in ended))

    def ended_sessions(self) -> frozenset[str]:
        return frozenset(e.session for e in self.log if e.kind == "end")

    def close(self) -> None:
        self.closed = True


class FullStore(MemoryStore):
    """A MemoryStore that has room for so many entries, and refuses the next until ``room`` is made."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def append(self, entry: Entry, *, durable: bool = False) -> Entry:
        if len(self.log) >= self.room:
            raise StoreError("The disk is full.", "Make room.")
        return super().append(entry, durable=durable)


class Clock:
    """Time that passes when a test says so, and a millisecond at every look."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        self.now = round(self.now + 0.001, 3)
        return self.now


class ScriptedHuman:
    """A runner (daemon/sessions.Runner) before which a person sits who replies in turn, then stays silent.

    A reply is yes, no, a whole reply, an error of the line, or a function that is called and says which.
    """

    def __init__(self, *replies: bool | Reply | OSError | Callable[[Question], bool], screen: str | None = "") -> None:
        self.replies, self.screen = list(replies), screen
        self.asked: list[Question] = []
        self.told: list[dict[str, object]] = []

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        await asyncio.sleep(0)
        if not self.replies:
            await asyncio.Event().wait()
        reply = self.replies.pop(0)
        if isinstance(reply, OSError):
            raise reply
        if isinstance(reply, Reply):
            return reply
        return Reply(yes=reply(question) if callable(reply) else reply, assurance="terminal")

    def tell(self, event: str, **fields: object) -> None:
        self.told.append({"event": event, **fields})

    async def tail(self, since: float) -> str | None:
        return self.screen


class PatientPeer:
    """A waiting launcher (daemon/guard.Waiter): keeps what it was told while it was held."""

    def __init__(self, channel: ScriptedHuman | None = None) -> None:
        self.channel = channel
        self.held: list[str] = []

    async def hold(self, text: str = "") -> None:
        self.held.append(text)
        await asyncio.sleep(0)


class QuietReactions:
    """What a verdict sets off (daemon/guard.Reactions), kept in lists; nothing is stopped, nothing is saved."""

    def __init__(self) -> None:
        self.snapshots: list[Verdict] = []
        self.frozen: list[Verdict] = []

    async def snapshot(self, live: object, verdict: Verdict) -> Verdict:
        self.snapshots.append(verdict)
        return verdict

    def started(self, live, root: str) -> Start:
        return Start(0.0, {})

    def end_processes(self, live: object, verdict: Verdict) -> None:
        self.frozen.append(verdict)
