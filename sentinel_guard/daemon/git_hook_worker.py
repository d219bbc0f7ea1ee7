"""Worker threads that judge a git hook's request: they run git and scan the changes for secrets.

Rules of this file:
1. In threads of its own, so that a commit delays no verdict; and for a limited time.
2. Nothing is read from the daemon's own place: the folder, the repository and its index are those of the hook.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from sentinel_guard.core.peer import Peer
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.daemon.live_sessions import Live
from sentinel_guard.daemon.wire_messages import Request
from sentinel_guard.errors import PeerError, SentinelError
from sentinel_guard.host.git import detect_fetch
from sentinel_guard.host.git.run_git import until
from sentinel_guard.host.githooks import judge_hook, preexisting_commits, push_of_other_repository
from sentinel_guard.host.githooks.hook_request import MESSAGE, Judged, base_of
from sentinel_guard.host.githooks.push_of_other_repository import Bounds, Push
from sentinel_guard.host.githooks.remotes_before_session import Start
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.started_call import StartedCall
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import Policies
from sentinel_guard.host.secrets.user_secret_files import Cache, collect

LIMIT = 60.0
"""Seconds that a judgement may take."""
SOON = 0.5
"""Seconds after which whoever waits is told to go on waiting."""
_THREADS = 4
_LOOKS = 3
"""Pushes from other repositories that are looked at, at a time: the threads that wait for it judge other calls, too."""
_GRACE = 0.3
"""Seconds behind a look's last moment in which it tidies up."""
_GITS = 256
"""Git processes of which it is known whether they fetch."""
_KEPT = 16
"""Repositories whose secret values are kept in memory."""


class HookJudge:
    def __init__(self, places: StatePaths) -> None:
        self._places, self._policies, self._memory = places, Policies(places), preexisting_commits.Memory()
        self._fetches: dict[Peer, bool] = {}
        self._caches: dict[Path, Cache] = {}
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="githook")
        self._looks, self._turns = places.state / "looks", threading.BoundedSemaphore(_LOOKS)
        shutil.rmtree(self._looks, ignore_errors=True)  # of a daemon that was killed

    async def judge(self, asked: Request, pid: int, live: Live | None, slow: Callable[[], None]) -> Judged:
        """What the hook finds; ``pid``: the process that asks; ``slow`` is called where it takes a while.

        Raises SentinelError where it cannot be judged, TimeoutError after ``LIMIT``.
        """
        job = asyncio.get_running_loop().run_in_executor(self._threads, partial(self._in_time, asked, pid, live))
        done, _ = await asyncio.wait({job}, timeout=SOON)
        if done:
            return job.result()
        slow()
        return await asyncio.wait_for(job, LIMIT)

    def elsewhere(self, push: Push, live: Live, environ: Mapping[str, str], seconds: float) -> str | None:
        """What a push from a repository without our hooks would send, as ``look`` tells it. Blocks so long at most.

        Beside the caller: a file system that does not answer holds up a turn, and nobody else.
        """
        moment = time.monotonic() + seconds
        if not self._turns.acquire(blocking=False):
            return None

        def in_turn() -> str | None:
            try:
                return self._look(push, live, environ, moment)
            finally:
                self._turns.release()

        call = StartedCall(in_turn, holds=False)
        return call.result() if call.ends_within(moment + _GRACE - time.monotonic()) else None

    def _look(self, push: Push, live: Live, environ: Mapping[str, str], moment: float) -> str | None:
        restricted = live.watch.restricted if live.watch else ()

        def policy(root: Path) -> Policy:
            with self._lock:
                return self._policies.load(root)

        def known(root: Path, policy: Policy) -> UserSecrets:
            return collect(root, policy, environ, cached=self._cache(root), restricted=restricted, base="")

        start = Start(environ, live.begun_in, live.session.started)
        return push_of_other_repository.look(push, start, Bounds(self._looks, moment), policy, known)

    async def learn(self, asked: Request, pid: int, live: Live, git: Peer) -> None:
        """Where ``git`` fetches what others have published, what it sets is no news to the session."""
        if git not in self._fetches:
            self._fetches[git] = await self._is_fetch(asked, pid, live, git)
            if len(self._fetches) > _GITS:
                del self._fetches[next(iter(self._fetches))]
        if self._fetches[git]:
            self.passed(asked, live, asked.stdin.splitlines())

    def passed(self, asked: Request, live: Live, lines: Sequence[str]) -> None:
        """Lines of git (``OLD NEW NAME``) that were judged: what they set is no news to the session."""
        words = [line.split(" ") for line in lines]
        refs = [(w[2], w[1]) for w in words if len(w) == 3 and w[1].strip("0") and not w[1].startswith("ref:")]
        if not refs:
            return
        with contextlib.suppress(SentinelError):
            self._memory.add(live.id, _repository(asked), refs)

    def goes_on(self, asked: Request, live: Live, line: str) -> bool:
        """Whether a line of git sets a reference to a commit that builds upon nothing unknown."""
        old, new, _ = line.split(" ")
        try:
            common = _repository(asked)
        except SentinelError:
            return False
        objects = Path(asked.cwd, asked.environ.get("GIT_OBJECT_DIRECTORY") or f"{common}/objects")
        return self._memory.goes_on(live.id, common, old, new, objects)

    async def _is_fetch(self, asked: Request, pid: int, live: Live, git: Peer) -> bool:
        command = processes.describe(git.pid)
        remote = detect_fetch.remote_of(command.command) if command else None
        if remote is None:  # as most: no thread is waited for
            return False
        elsewhere = partial(self._is_elsewhere, remote, asked, pid, live, git)
        return await asyncio.get_running_loop().run_in_executor(self._threads, elsewhere)

    def _is_elsewhere(self, remote: str, asked: Request, pid: int, live: Live, git: Peer) -> bool:
        try:
            if processes.executable(git.pid) not in detect_fetch.programs():
                return False
            start = self._seen(asked, live).settings
        except SentinelError:
            return False
        return detect_fetch.is_elsewhere(remote, Path(asked.cwd), processes.environ(pid), start)

    def _seen(self, asked: Request, live: Live) -> preexisting_commits.PreexistingObjects:
        folder = self._places.session(live.id) / "baseline"
        return self._memory.of(live.id, _repository(asked), folder, live.session.started)

    def _in_time(self, asked: Request, pid: int, live: Live | None) -> Judged:
        """Whom nobody waits for any more holds no thread."""
        with until(time.monotonic() + SOON + LIMIT):
            return self._judge(asked, pid, live)

    def _judge(self, asked: Request, pid: int, live: Live | None) -> Judged:
        if not asked.cwd:
            raise PeerError("the folder that git works in cannot be read", "cd into the repository again.")
        hook, *arguments = asked.argv[1:]
        work, stdin, environ = Path(asked.cwd), os.fsencode(asked.stdin), _environ(asked)
        root = judge_hook.top(hook, work, environ)
        with self._lock:
            policy = self._policies.load(root)
        known = self._secrets(asked, pid, live, root, policy)
        return judge_hook.judge(
            hook, work, policy, tuple(arguments), stdin, environ=environ, known=known, session=live is not None,
            seen=self._seen(asked, live) if live and hook != MESSAGE else None,
        )  # fmt: skip

    def _secrets(
        self, asked: Request, pid: int, live: Live | None, root: Path, policy: Policy
    ) -> Callable[[], UserSecrets]:
        """The person's own values, those of the hook's environment among them."""
        if live and live.session.root == str(root) and asked.argv[1] != "pre-push":
            return live.discretion.known
        base = base_of(asked.argv[1], os.fsencode(asked.stdin))
        return lambda: collect(root, policy, processes.environ(pid), cached=self._cache(root), base=base)

    def _cache(self, root: Path) -> Cache:
        with self._lock:
            if root not in self._caches and len(self._caches) >= _KEPT:
                del self._caches[next(iter(self._caches))]
            return self._caches.setdefault(root, Cache())


def _repository(asked: Request) -> str:
    return preexisting_commits.common(Path(asked.cwd), asked.environ)


def _environ(asked: Request) -> dict[str, str]:
    """The daemon's environment, with what the hook's says of the repository."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return own | {name: value for name, value in asked.environ.items() if name.startswith(("GIT_", "GITHEAD_"))}
