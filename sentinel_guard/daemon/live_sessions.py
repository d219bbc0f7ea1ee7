"""Registry of the live sessions: which process belongs to which session, and how entries change its state.

Rules of this file:
1. Store first, then advance: ``note`` is the only way forward.
2. A process belongs to the session whose owner is among its ancestors, or whose shims it was started from;
   what it says of itself counts for nothing.
3. A killed session is found as killed for ever.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sentinel_guard.audit.base import Store
from sentinel_guard.core.checks.base import GuardResources
from sentinel_guard.core.model import Entry, Finding, Kind, Verdict
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session.fold_entries import Folds, UnreadError
from sentinel_guard.core.session.session import Session
from sentinel_guard.core.value import value
from sentinel_guard.core.wire_framing import Message
from sentinel_guard.daemon.session_secrets import SessionSecrets
from sentinel_guard.errors import PeerError, SentinelError
from sentinel_guard.host import agent_hook_files, shims
from sentinel_guard.host.file_integrity.secret_reads import SecretReads
from sentinel_guard.host.git.private_git_dir import common_dir
from sentinel_guard.host.git.worktree_tree_hash import Worktrees
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.githooks.check_hooks_run import ActiveHooks
from sentinel_guard.host.machine import ancestry, cgroups, processes, session_limit
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.shim_integrity import ShimIntegrity
from sentinel_guard.humans.help_dialogue import Dialogue
from sentinel_guard.humans.question_inbox import Channel, Inbox, OtherTerminals
from sentinel_guard.humans.timed_grants import TimedGrants

DURABLE = frozenset({"L2", "L3", "L4"})
STEP = "session"
"""Parent of what is no call: the agent's own process, and shells that read their commands from elsewhere."""
RUN, SHELL, HOOKS = "run", "shell", "hooks"
GITS = ANNOUNCED = 256
"""Git processes of a session, and actions with the programs that they name, that are remembered."""


class Runner(Channel, Protocol):
    """The way to the runner of a session, and to the person before it."""

    def tell(self, event: str, **fields: object) -> None: ...

    async def tail(self, since: float) -> str | None: ...


class Watch(Protocol):
    """What watches a session's files."""

    restricted: tuple[str, ...]
    rests: bool

    @property
    def members(self) -> frozenset[Peer]: ...
    def expect(self, verdict: Verdict, seconds: float) -> None: ...
    def allow(self, path: str, seconds: float) -> float: ...
    def windows(self) -> dict[str, float]: ...
    def concerns(self, path: str) -> bool: ...
    def compares_keys(self, path: str) -> bool: ...
    def lets_change(self, path: str, *, by_git: bool) -> bool: ...
    def is_new(self, path: str, tracked: Callable[[tuple[str, ...]], frozenset[str]]) -> bool: ...
    def stop(self) -> None: ...


Identity = tuple[int, ...]
"""By which a file is known again: device, inode, size and times; empty where it is not there."""


@dataclass(slots=True)
class Live:
    """A session and what belongs to it while it lives."""

    session: Session
    policy: Callable[[], Policy]
    path: str = ""
    """The user's PATH, without shims."""
    runner: Runner | None = None
    group: Path | None = None
    """The control group of its processes, where there is one."""
    grouping: asyncio.Task[None] | None = None
    """Puts its first processes into that group."""
    agent: int = 0
    """Pid of the agent's first process."""
    leader: int = 0
    """Pid of the process between it and the runner, which leads the agent's terminal session; a part of the runner."""
    broker: Peer | None = None
    """The process that performs the session's held system calls, where there is one: a part of the runner, too."""
    typed: float = 0.0
    """When the person last pressed a key that the agent got, seconds of the epoch."""
    begun: bool = False
    """True once anything was asked from within the session."""
    kind: str = RUN
    """Or ``SHELL`` (a person's own), ``HOOKS`` (an agent that only its hooks report): what they leave running stays."""
    told_by_client: bool = False
    """Of ``HOOKS``: whether its client itself has asked in its name, and not only a program that it let run."""
    watch: Watch | None = None
    frozen: frozenset[Peer] = frozenset()
    """What a kill has stopped: to be ended, though its owner may end before that."""
    shims: ShimIntegrity | None = None
    """Its shims as they were made; None for a session that only is looked up."""
    hooks: ActiveHooks | None = None
    """Our git hooks, where they were in force at its start."""
    calls: dict[int, str] = field(default_factory=dict)
    """Pid of a supervising launcher -> id of its call."""
    lines: dict[Peer, str] = field(default_factory=dict)
    """Interactive shell -> id of the line that was read last."""
    gits: dict[Peer, str] = field(default_factory=dict)
    """Git processes that came through a shim, and what let each run: the id of its action."""
    grants: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    """Id of a running call -> what a person said yes to."""
    timed: TimedGrants = field(default_factory=TimedGrants)
    """What a person said yes to for a while."""
    released: set[str] = field(default_factory=set)
    """Files and folders outside of the repository that a person let its programs delete and replace."""
    kept: set[tuple[str | Peer, str]] = field(default_factory=set)
    """The same, where the answer was no: the call that asked, or the process, and the folder."""
    reads: SecretReads | None = None
    """Which files of secrets its programs read, where that can be seen."""
    announced: dict[str, frozenset[str]] = field(default_factory=dict)
    """Id of an action that was let run -> the programs that its text names."""
    begun_in: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment in which it was begun, as its runner lets nobody read it later; empty after a restart."""
    sockets: dict[str, str] = field(default_factory=dict)
    """The sockets of its person's bus and ssh agents -> the right that each gives."""
    terminals: tuple[str, ...] | None = None
    """Sockets of programs that type on its person's terminals, as they were when its broker was started."""
    broker_rules: tuple[object, Message] = (None, [])
    """What the rules were made of by which its broker holds calls, and these rules."""
    renew_rules: Callable[[], None] = lambda: None
    """Has the rules looked at, where that waits for something to happen; for the loop's own thread."""
    reaching: set[tuple[str, str]] = field(default_factory=set)
    """What a person let which program connect to: other machines after such a file was read (``reach``), or a right."""
    rescued: dict[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    """Id of a call -> the rescue snapshot before it, and the paths whose ignored files it holds."""
    inbox: Inbox = field(default_factory=Inbox)
    """Its open questions."""
    baseline_due: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the rest of its baseline is to be taken: its agent was started, or something needs it."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    dialogue: Dialogue = field(default_factory=Dialogue)
    """What its person says to its agent."""
    buried: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a kill is carried out."""
    ending: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while it is ended because its owner has gone."""
    moving: asyncio.Event | None = None
    """Set when the rollback of another session of its repository is through; None while there is none."""
    reports: set[asyncio.Event] = field(default_factory=set)
    """One of each verdict whose consequences, an incident report for one, are being carried out; set when they are."""
    snapshot_begun: Peer | None = None
    """The shell with which the agent has begun to make one; None once it is made."""
    sourced: dict[str, Identity | None] = field(default_factory=dict)
    """Snapshot that the agent made at its start -> the file's identity when it was first loaded; None before that."""
    trees: Worktrees | None = None
    """Takes the worktree's trees, for progress; None outside of a repository."""
    discretion: SessionSecrets = field(default_factory=SessionSecrets)
    """The person's own secrets; what goes on record goes through it."""
    unexplained: tuple[str, ...] = ()
    """Paths of the incident reports that the agent is still to be asked about."""

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def roots(self) -> tuple[int, ...]:
        """The process that all others of the session descend from: none once it has ended."""
        return (o.pid,) if (o := self.session.owner) and processes.alive(o) else ()

    @property
    def mark(self) -> str:
        """What stands in the environment of those that left its tree."""
        return f"SENTINEL_SESSION={self.id}"

    @property
    def members(self) -> frozenset[Peer]:
        """Those that were seen below its owner last: an orphan of a killed runner is known by its number and start."""
        return self.frozen | (self.watch.members if self.watch else frozenset())

    @property
    def parts(self) -> frozenset[int]:
        """Pids of the runner's parts that stand among the session's processes."""
        return frozenset((self.leader, self.broker.pid if self.broker else 0)) - {0}

    def call_above(self, lineage: Iterable[Peer]) -> str:
        """The call, or the line of an interactive shell, that the nearest of these processes carries out."""
        return next(filter(None, (self.calls.get(p.pid) or self.lines.get(p) for p in lineage)), "")

    def let_line_run(self, shell: Peer, action: str) -> None:
        """From now on what runs below the shell is a step of this line."""
        for old in [*filter(lambda peer: not processes.alive(peer), self.lines), shell]:
            if old in self.lines:
                self.grants.pop(self.lines.pop(old), None)
        self.lines[shell] = action

    def expect(self, verdict: Verdict, seconds: float) -> None:
        """What an action that is let run says of itself: what it changes, reads and runs."""
        if self.watch:
            self.watch.expect(verdict, seconds)
        if self.reads:
            self.reads.announce((e.target for e in verdict.effects if e.kind is Kind.READ), seconds)
        self.announced[verdict.action.id] = frozenset(e.command.program for e in verdict.effects if e.command)
        if len(self.announced) > ANNOUNCED:
            del self.announced[next(iter(self.announced))]

    def let_git_run(self, git: Peer, action: str) -> None:
        """Remember a git process, for what its hooks ask; the oldest is forgotten."""
        self.gits[git] = action
        if len(self.gits) > GITS:
            del self.gits[next(iter(self.gits))]


@value
class Place:
    """Where a peer stands: its session, and the call that it is a step of."""

    live: Live
    peer: Peer
    parent: str = ""
    is_agent: bool = False
    above: tuple[Peer, ...] = ()
    """Its ancestors, up to the session's owner."""

    @property
    def attended(self) -> bool:
        """True where its controlling terminal is one at which the person sits."""
        return processes.terminal(self.peer.pid) in self._persons()

    @property
    def typed(self) -> bool:
        """True where its standard input, which is a terminal, is one of the agent's own."""
        return processes.input_terminal(self.peer.pid) not in self._persons()

    def _persons(self) -> set[int]:
        """The terminals at which the person sits: the owner's, and the inner one on which a runner puts the agent."""
        agent = self.live.leader or self.live.agent or (self.above[-1].pid if self.above else 0)
        owner = self.live.session.owner.pid if self.live.session.owner else 0
        return {processes.terminal(agent), processes.terminal(owner)} - {0}

    @property
    def by_itself(self) -> bool:
        """True where no shell stands between the process and the agent: its own housekeeping."""
        return not any(processes.executable(p.pid).rpartition("/")[2] in shims.SHELLS for p in self.above)


class Sessions:
    def __init__(self, store: Store, places: StatePaths, revive: Callable[[Session], Live]) -> None:
        self.store, self.places, self._revive = store, places, revive
        self.live: dict[str, Live] = {}
        self.other_terminals = OtherTerminals()
        self.shims_due = asyncio.Event()
        """Set when a session has begun, or something was done to anybody's shims."""
        self.set_aside: set[str] = set()
        """Sessions that could not be taken up after a restart: nothing of theirs runs."""
        self._folds, self._lineages, self._shims = Folds(), ancestry.Lineages(), f"{places.sessions}/"
        self._own = places.settings
        self._folders = tuple(str(Path(p).resolve()) for p in (places.state, places.runtime))
        self._guarded: tuple[object, GuardResources] = ((), GuardResources())

    def note(self, live: Live, entries: Iterable[Entry], *, committed: Callable[[], object] | None = None) -> None:
        """Put entries on record, then advance the session by them. Raises StoreError, and then nothing has advanced.

        ``committed`` is called when they survive kill -9: what cannot wait until they survive power loss, too.
        """
        before = live.session.state
        for entry in entries:
            durable = not committed and entry.level in DURABLE
            stored = self.store.append(live.discretion.entry(entry), durable=durable)
            live.session = live.session.after(stored)
        if live.session.over:
            live.inbox.close()
        if live.runner and live.session.state is not before and not live.session.over:
            live.runner.tell("state", state=live.session.state.value)
        if committed:
            committed()
            self.store.sync()

    def locate(self, pid: int, call: str = "", *, reads: bool = True) -> Place | None:
        """Where the process stands; None if it is no session's. ``call`` is what it says its call is.

        Raises PeerError where that cannot be told; without ``reads`` UnreadError where a record must be read for it.
        """
        lineage = self._lineages.of(pid)
        if not lineage or not (live := self._by_owner(lineage) or self._by_shims(pid, reads=reads)):
            return None
        parent = live.call_above(lineage) or (call if call in live.calls.values() else "")
        above = tuple(itertools.takewhile(lambda p: p != live.session.owner, lineage[1:]))
        return Place(live, lineage[0], parent, is_agent=pid == live.agent, above=above)

    def locate_hook(self, pid: int, call: str = "") -> Place | None:
        """Where a git hook stands. One that left its session's tree is found by the session's mark, which nobody wears
        to gain anything.
        """
        if place := self.locate(pid, call):
            return place
        live, peer = self.inside(pid), processes.identify(pid)
        return Place(live, peer) if live and peer else None

    def inside(self, pid: int) -> Live | None:
        """The session that a process is guarded by; its owner (the runner, the person's shell) is not.

        Raises PeerError where that cannot be told: who is gone, or descends from nobody knows whom, is no person.
        Raises SentinelError where it is one that was set aside.
        """
        lineage = self._lineages.of(pid)
        if not lineage:
            raise PeerError(f"process {pid} is gone, so that nobody can say where it stood")
        if self.set_aside:
            self._refuse_set_aside(lineage)
        if below := self._by_owner(lineage[1:]):
            return below
        # What has lost its runner may have dropped its mark, too.
        marked = self.live.get(processes.environ(pid).get("SENTINEL_SESSION", ""))
        grouped = None if self._by_owner(lineage[:1]) else self.live.get(cgroups.session_of(pid))
        return marked or grouped or self._by_limit(pid) or self._by_member(lineage)

    def _by_limit(self, pid: int) -> Live | None:
        limit = session_limit.of(pid)
        return next((live for live in self.live.values() if session_limit.number(live.id) == limit), None)

    def _by_member(self, lineage: Sequence[Peer]) -> Live | None:
        return next((live for live in self.live.values() if not live.members.isdisjoint(lineage)), None)

    def beside(self, live: Live) -> list[Live]:
        """The other live sessions of its repository, in other worktrees too."""
        common = common_dir(live.session.root)
        others = (o for o in self.live.values() if o is not live and o.session.root and not o.session.over)
        return [o for o in others if common_dir(o.session.root) == common]

    def find(self, session: str) -> Live | None:
        """A session by its id, an ended one too."""
        live = self.live.get(session)
        restored = None if live else self.restore(session)
        return self._revive(restored) if restored else live

    def restore(self, session: str) -> Session | None:
        """Fold a session from all its entries (20 µs each): a strike of this morning still counts."""
        return self._folds.of(session, lambda after: self.store.entries(session=session, after=after))

    def said(self, session: str) -> Iterator[Entry]:
        """What persons said in a session, on record."""
        return self.store.entries(session=session, kinds=("human",))

    def guarded(self) -> GuardResources:
        """The guard's own belongings."""
        lives = self.live.values()
        roots = frozenset([live.session.root for live in lives if live.session.root])
        # An agent that only its hooks report is its session's owner, and none of ours.
        owners = (live.session.owner.pid for live in lives if live.session.owner and live.kind != HOOKS)
        parts = (pid for live in lives for pid in live.parts)
        told = agent_hook_files.files(self.places), roots, (*owners, *parts, processes.own_pid())
        if self._guarded[0] != told:
            settings = (*self._own, *shims.own_code(roots), *told[0], *install_hooks.guarded(roots))
            self._guarded = told, GuardResources(self._folders, settings, told[2])
        return self._guarded[1]

    def shims(self, live: Live) -> str:
        """The folder of a session's shims."""
        return f"{self._shims}{live.id}/shims"

    def outside(self, path: str) -> str:
        """A PATH without any session's shims."""
        return shims.without(path, self._shims)

    def _by_owner(self, lineage: list[Peer]) -> Live | None:
        owners = {live.session.owner: live for live in self.live.values() if live.session.owner}
        return next((owners[p] for p in lineage if p in owners), None)

    def _by_shims(self, pid: int, *, reads: bool) -> Live | None:
        if not (path := processes.executable(pid)).startswith(self._shims):
            return None
        ident = path[len(self._shims) :].split("/")[0]
        if ident in self.set_aside:
            raise _set_aside()
        if not (reads or ident in self.live or self._folds.knows(ident)):
            raise UnreadError(ident)
        return self.find(ident)

    def _refuse_set_aside(self, lineage: list[Peer]) -> None:
        # Its owner is not known: who belongs to it is told by the mark that its processes, or one above, began with.
        if any(processes.environ(peer.pid).get("SENTINEL_SESSION") in self.set_aside for peer in lineage):
            raise _set_aside()


def _set_aside() -> SentinelError:
    words = "The record of this session could not be read when the guard was started anew."
    return SentinelError(words, "Tell the user: end this agent and start it again under 'sentinel-guard run'.")
