"""The rules by which a session's broker holds calls, as they are sent to it (docs/protocol.md, "The face kernel")."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sentinel_guard.core.policy.held_call_rules import HeldResources, rules
from sentinel_guard.core.policy.target_placeholders import inside
from sentinel_guard.core.wire_framing import Message
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.host import kernel_layer, shims
from sentinel_guard.host.machine import processes

HOME = os.path.realpath(Path.home())


def prepare(live: Live, sessions: Sessions) -> None:
    """Make a session's first ones while its broker is being started: the agent begins when the broker has them."""
    _renew(live, sessions, secrets=True)


def current(live: Live, sessions: Sessions) -> Message:
    """A session's rules: the same object for as long as they are the same."""
    return _renew(live, sessions, secrets=live.reads is not None)


def _renew(live: Live, sessions: Sessions, *, secrets: bool) -> Message:
    if live.terminals is None:
        environ = _environ(live)
        live.sockets = kernel_layer.rights_sockets(environ, live.session.started)
        live.terminals = kernel_layer.terminal_sockets(environ)
    restricted, settings = live.watch.restricted if live.watch else (), sessions.guarded().settings
    made_of = (live.policy(), restricted, settings, frozenset(live.released), secrets)
    if made_of != live.broker_rules[0]:
        live.broker_rules = made_of, _rules(live, sessions, secrets=secrets)
    return live.broker_rules[1]


def _rules(live: Live, sessions: Sessions, *, secrets: bool) -> Message:
    policy, guarded, session = live.policy(), sessions.guarded(), sessions.places.session(live.id)
    # An agent writes its settings anew at its start, our hooks in them with the rest: the watch looks at the keys.
    settings = (path for path in guarded.settings if not (live.watch and live.watch.compares_keys(path)))
    gated = (pattern.split(" ")[0] for patterns in policy.confirm.values() for pattern in patterns)
    held = HeldResources(
        files=live.watch.restricted if live.watch else (),
        folders=(*guarded.folders, *settings),
        own=tuple(str(session / name) for name in shims.AGENT_FOLDERS),
        programs=kernel_layer.programs((*policy.shims, *gated), live.path, live.session.root),
        launcher=str(sessions.places.shims(live.id) / shims.HOOK),
        sockets=(*(live.terminals or ()), *live.sockets),
        home=HOME,
        tools=_tools(live),
        secrets=secrets,
        released=tuple(live.released),
    )
    return [(b"R", os.fsencode("\0".join(rule))) for rule in rules(policy, live.session.root, held)]


def _environ(live: Live) -> Mapping[str, str]:
    """That in which the session was begun: once its runner has the agent, nobody can read it there."""
    return live.begun_in or (processes.environ(live.session.owner.pid) if live.session.owner else {})


def _tools(live: Live) -> tuple[str, ...]:
    """Folders of programs, by how the person began the session; none that holds the repository."""
    command = processes.command_line(live.session.owner.pid) if live.session.owner else ()
    found = kernel_layer.tool_folders(HOME, _environ(live), command)
    return tuple(path for path in found if not inside(live.session.root, path))
