"""Restore the guard's git hooks where they were disabled; refuse a git command that would bypass them.

The shims read what a command says, our hooks see what it does. A setting that reaches git unread, or a mode that was
changed, would leave the second half out: so git itself is asked, for each command that runs hooks.
"""

from __future__ import annotations

import asyncio
import logging

from sentinel_guard.core.analysis.programs.git.git_command import HOOKLESS
from sentinel_guard.core.model import Action, Finding, Response
from sentinel_guard.core.peer import Peer
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.live_sessions import Live
from sentinel_guard.errors import HostError
from sentinel_guard.host.githooks import check_hooks_run, install_hooks
from sentinel_guard.host.machine import processes

log = logging.getLogger(__name__)
RULE = "git.hooks-off"
WAY = (
    "run it without settings that move hooks (core.hooksPath, GIT_CONFIG_*, HOME), "
    "or ask the user to run: sentinel-guard install"
)


def standing(root: str, owner: Peer) -> tuple[check_hooks_run.ActiveHooks | None, str]:
    """Our hooks that are in force where a session begins, None where there are none or git does not say; and what is
    wrong with those that were installed there, for the person.
    """
    try:
        found = check_hooks_run.locate(root, processes.environ(owner.pid))
    except HostError as e:
        log.warning("%s", e)
        return None, str(e)
    return (check_hooks_run.active_hooks(found), install_hooks.complaint(found)) if found else (None, "")


def restored(said: object) -> check_hooks_run.ActiveHooks | None:
    """The same, as the record of the session's start has it."""
    match said:
        case [str(common), str(folder), [*names]]:
            return check_hooks_run.ActiveHooks(common, folder, tuple(map(str, names)))
    return None


def mend(live: Live) -> None:
    """Put back what was done to the modes of our hooks."""
    if live.hooks and (names := check_hooks_run.mend(live.hooks)):
        log.warning("%s: not executable any more, made so again: %s", live.hooks.folder, ", ".join(names))


def environment(live: Live, action: Action, peer: Peer) -> list[tuple[str, str]]:
    """What to set for a tool call whose agent (not its model) has led git away from our hooks, as Gemini CLI does.

    The model's own text is inside of the call; what it sets is met by ``look``.
    """
    if live.hooks is None or not action.agent or action.parent:
        return []
    return [*check_hooks_run.without_other_hooks(live.hooks, action.cwd, processes.environ(peer.pid)).items()]


async def look(live: Live, asked: wire_messages.Request, peer: Peer) -> tuple[Finding, ...]:
    """What stands against a command: that our hooks, which stood there at the session's start, would not run for it."""
    options, name = wire_messages.git_words(asked.argv)
    if live.hooks is None or not name or name in HOOKLESS:
        return ()
    environ = processes.environ(peer.pid) or asked.environ
    try:
        words = await asyncio.to_thread(check_hooks_run.missing, live.hooks, options, asked.cwd, environ)
    except HostError as e:
        words = e.message
    if not words:
        return ()
    return (Finding("rules", Response.DENY, f"`git {name}` would run without the guard's hooks", words, WAY, RULE),)
