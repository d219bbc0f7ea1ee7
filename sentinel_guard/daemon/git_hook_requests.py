"""Answer the installed git hooks: for a git command inside a session, or for a commit of the person's own.

Rules of this file:
1. Whose hook it is, the processes say; what it says of itself can only bring it under guard.
2. Inside a session it is a step of the running call, on record before git goes on; what cannot be judged is refused.
3. Outside of one only a finding stops a commit: whatever fails here is left to the hook, which judges by itself.
4. What the shims have let a git command do is not refused to it a second time.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sentinel_guard import __version__
from sentinel_guard.audit.base import Store
from sentinel_guard.core import response_text
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Entry, Finding, Kind, Layer, Response, Verdict
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.session.session import State
from sentinel_guard.core.text.redact_by_pattern import redact_data
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.git_hook_worker import LIMIT, HookJudge
from sentinel_guard.daemon.guard import Guard
from sentinel_guard.daemon.live_sessions import STEP, Live, Place, Sessions
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.daemon.waiting_launcher import waiting
from sentinel_guard.errors import PeerError, SentinelError
from sentinel_guard.host.git import run_git
from sentinel_guard.host.githooks import empty_commits, reference_transaction
from sentinel_guard.host.githooks.hook_request import COMMIT, MESSAGE, Judged, findings_as_lines
from sentinel_guard.host.machine import ancestry, processes
from sentinel_guard.host.machine.state_paths import StatePaths, places
from sentinel_guard.host.world import HostWorld

log = logging.getLogger(__name__)
REFUSED = 1
"""What git reads as a no; the launcher takes 0 and 1 for a verdict, and anything else for none."""
TOOL = "git hook"
PROTECTED = "git.protected"
BRANCH = " refs/heads/"
TRANSACTION = ("reference-transaction", "prepared")
_BY_COMMIT = {"pre-commit": {"pre-commit"}, MESSAGE: {MESSAGE}, COMMIT: {"pre-commit", MESSAGE}}
"""What a hook has judged of a commit, once it has passed."""
_PASSED = 64
"""Git processes of which it is known what has passed."""


class Githooks:
    def __init__(
        self,
        *,
        sessions: Sessions,
        guard: Guard,
        reactions: Reactions,
        judging: HookJudge,
        store: Store,
        places: StatePaths,
        now: Callable[[], float],
    ) -> None:
        self._sessions, self._guard, self._reactions, self._judging = sessions, guard, reactions, judging
        self._store, self._places, self._now = store, places, now
        self._ids = itertools.count(1)
        self._passed: dict[Peer, set[str]] = {}

    async def serve(self, asked: wire_messages.Request, link: Link) -> None:
        """Answer a hook. Raises SentinelError and TimeoutError where it is to judge by itself."""
        if len(asked.argv) < 2:
            raise PeerError("a git hook without a name", "Let git run the hook.")
        place = self._sessions.locate_hook(link.pid, asked.environ.get("SENTINEL_CALL", ""))
        if place is None:
            await self._own(asked, link)
            return
        try:
            await self._step(asked, place, link)
        except SentinelError as e:
            log.warning("refused: %s", e)
            link.send(wire_messages.leave(response_text.refused(e.message, "nothing runs unrecorded", e.hint), REFUSED))
        except EOFError:
            raise
        except Exception:
            log.exception("a git hook failed")
            link.send(
                wire_messages.leave(response_text.refused("the guard failed on this hook", "see daemon.log"), REFUSED)
            )

    async def _own(self, asked: wire_messages.Request, link: Link) -> None:
        """A hook of the person's own."""
        if asked.version != __version__:
            raise PeerError(f"the hook is of version {asked.version}, the daemon of {__version__}")
        if self._is_foreign(link.pid):
            raise PeerError("the hook runs in another home, whose policy is another one")
        if asked.argv[1] == "reference-transaction":
            self._see(asked, link)
        if asked.argv[1] == "reference-transaction" or not self._meant(asked, (), None):
            link.send(wire_messages.leave("", 0))
            return
        judged = await self._judged(asked, link, None)
        if judged.refused:
            worst = max(judged.findings, key=lambda f: f.response)
            self._keep(f"{asked.argv[1]} refused: {worst.what}", asked, "L2")
        words = "\n".join(findings_as_lines(judged.findings, judged.notes, judged.anyway))
        link.send(wire_messages.leave(words, REFUSED if judged.refused else 0))

    def _is_foreign(self, pid: int) -> bool:
        """Whether a process lives in another home; one that does not show its environment does not."""
        environ = processes.environ(pid)
        try:
            return bool(environ) and places(environ).config != self._places.config
        except SentinelError:
            return False

    async def _step(self, asked: wire_messages.Request, place: Place, link: Link) -> None:
        live, lineage = place.live, (place.peer, *place.above)
        gits = _gits(lineage)
        changing = _changing(asked)
        if asked.argv[1:3] == TRANSACTION and gits:
            await self._judging.learn(asked, link.pid, live, gits[0])
        if live.session.state is State.ACTIVE and not self._meant(asked, gits, live, changing):
            self._remember(gits, asked.argv[1])
            self._judging.passed(asked, live, changing)
            link.send(wire_messages.leave("", 0))
            return
        found = await self._found(asked, link, live)
        through = _through(live, lineage, gits)
        action = self._action(asked, place, () if through else _command(gits))
        brought = tuple(_brought(found.findings, asked.argv[1], place, through))
        verdict = (await self._guard.handle(live, action, waiting(link, asked, place), brought)).verdict
        if verdict.response < Response.ASK and gits:
            live.let_git_run(gits[-1], through or action.id)
            self._remember(gits, asked.argv[1])
            self._judging.passed(asked, live, changing)
        refused = verdict.response >= Response.ASK
        link.send(wire_messages.leave(_told(verdict, found.notes), REFUSED if refused else 0))
        await self._reactions.after(live, verdict)

    def _meant(
        self, asked: wire_messages.Request, gits: Sequence[Peer], live: Live | None, lines: Sequence[str] = ()
    ) -> bool:
        """Whether there is anything to judge. A push that sends nothing has none; a commit by a git process whose own
        hooks have just passed is judged, if all that it builds upon is. ``lines``: the references that change.
        """
        if asked.argv[1] == "pre-push":
            return bool(asked.stdin.strip())
        if asked.argv[1] == "pre-commit":
            return not (asked.cwd and empty_commits.nothing_staged(Path(asked.cwd), asked.environ))
        if asked.argv[1] != "reference-transaction":
            return True
        if not lines:
            return False
        judged = self._passed.pop(gits[0], set()) >= _BY_COMMIT[COMMIT] if gits else False
        alone = judged and len(lines) == 1 and BRANCH in lines[0]
        return not (alone and live and self._judging.goes_on(asked, live, lines[0]))

    def _remember(self, gits: Sequence[Peer], hook: str) -> None:
        # What is only called git may become something else before it changes a reference.
        if hook in _BY_COMMIT and gits and processes.executable(gits[0].pid) == run_git.program():
            self._passed.setdefault(gits[0], set()).update(_BY_COMMIT[hook])
        if len(self._passed) > _PASSED:
            del self._passed[next(iter(self._passed))]

    async def _found(self, asked: wire_messages.Request, link: Link, live: Live) -> Judged:
        """What the hook finds; that it cannot be judged is a finding, too."""
        try:
            return await self._judged(asked, link, live)
        except SentinelError as e:
            why, way = e.message, e.hint
        except TimeoutError:
            why, way = f"it took longer than {LIMIT:.0f} s", "do it in smaller steps"
        except Exception:
            log.exception("a git hook could not be judged")
            why, way = "the guard failed on it (see daemon.log)", "ask the user to run: sentinel-guard doctor"
        return Judged(
            (Finding("rules", Response.DENY, f"{asked.argv[1]} could not be judged", why, way, "git.unjudged"),)
        )

    async def _judged(self, asked: wire_messages.Request, link: Link, live: Live | None) -> Judged:
        def slow() -> None:
            link.send(wire_messages.hold("", int(1000 * (LIMIT + 2))))

        return await self._judging.judge(asked, link.pid, live, slow)

    def _action(self, asked: wire_messages.Request, place: Place, command: Sequence[str]) -> Action:
        """The step; a git command that no shim has seen is judged with it."""
        arguments: dict[str, object] = {"hook": asked.argv[1]}
        if command:
            arguments["argv"] = [*command]
        now, live = self._now(), place.live
        ident, parent = f"{now:.3f}-h{next(self._ids)}", place.parent or STEP
        root = live.session.root
        return Action(ident, live.id, Layer.GIT, TOOL, arguments, asked.cwd, now, root, parent, place.peer)

    def _see(self, asked: wire_messages.Request, link: Link) -> None:
        """A commit that passes the hooks by is the person's own choice, and on record where it is seen."""
        if BRANCH not in asked.stdin:
            return
        command = _command(_gits(ancestry.lineage(link.pid)))
        if any(word.startswith("-") and "n" in word for word in command) and _skips_hooks(command, asked):
            name = wire_messages.git_subcommand(tuple(command))
            self._keep(f"`git {name}` passed the hooks by (--no-verify)", asked, "")

    def _keep(self, what: str, asked: wire_messages.Request, level: str) -> None:
        data = redact_data({"what": what, "path": asked.cwd, "check": TOOL})
        assert isinstance(data, dict)
        try:
            self._store.append(Entry(self._now(), "", "watch", data, level))
        except SentinelError as e:
            log.warning("not on record: %s (%s)", what, e)


def _changing(asked: wire_messages.Request) -> list[str]:
    """The changes of references that are to be judged; none for another hook."""
    if asked.argv[1:3] != TRANSACTION:
        return []
    return reference_transaction.changing(asked.stdin.splitlines(), Path(asked.cwd), asked.environ)


def _gits(lineage: Sequence[Peer]) -> list[Peer]:
    """The git processes that run a hook: the nearest one, its parent where that is git too, and so on."""
    named = [(peer, processes.executable(peer.pid).rpartition("/")[2].startswith("git")) for peer in lineage]
    from_git = itertools.dropwhile(lambda one: not one[1], named)
    return [peer for peer, _ in itertools.takewhile(lambda one: one[1], from_git)]


def _through(live: Live, lineage: Sequence[Peer], gits: Sequence[Peer]) -> str:
    """The action that let these git processes run: one of them, or the launcher that watches over the outermost."""
    above = lineage[lineage.index(gits[-1]) + 1 :][:1] if gits else ()
    return next((live.gits[peer] for peer in (*gits, *above) if peer in live.gits), "")


def _command(gits: Sequence[Peer]) -> list[str]:
    """The command line of the outermost git process: what an inner one is told is git's own business."""
    seen = processes.describe(gits[-1].pid) if gits else None
    return ["git", *seen.command[1:]] if seen else []


def _skips_hooks(command: Sequence[str], asked: wire_messages.Request) -> bool:
    action = Action("", "", Layer.GIT, TOOL, {"argv": [*command]}, asked.cwd, 0.0)
    effects = analyse(action, HostWorld(asked.environ))
    return any(e.kind is Kind.GIT_REWRITE and e.target == "hooks" for e in effects)


def _brought(findings: Sequence[Finding], hook: str, place: Place, through: str) -> Iterator[Finding]:
    """What the hook found, but for what the guard, or the person, has let the command do already."""
    live = place.live
    yes = any(g.rule.startswith("git.") for one in (place.parent, through) for g in live.grants.get(one, ()))
    judged = through and hook == "reference-transaction"
    operations = frozenset(c.operation for c in live.session.calls if c.action == place.parent)
    for finding in findings:
        if finding.rule == PROTECTED and (yes or judged):
            continue
        yield replace(finding, operations=operations) if finding.response is Response.BREAK else finding


def _told(verdict: Verdict, notes: Sequence[str]) -> str:
    """The words for the agent: of the finding that decides, then of the others."""
    decisive = verdict.decisive if verdict.response >= Response.ASK else None
    said = (f for f in verdict.findings if f is not decisive and f.response is not Response.SNAPSHOT)
    others = [f for f in said if f not in verdict.granted]
    first = response_text.answer(verdict).text if decisive else ""
    return "\n".join(filter(None, (first, *findings_as_lines(others, notes))))
