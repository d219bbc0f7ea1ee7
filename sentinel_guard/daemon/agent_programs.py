"""Coding agents that are started by name inside a session, and servers of theirs that a session must not leave behind.

Rules of this file:
1. An agent's tools run below the session that started it (ADR 0016).
2. Nothing of an agent's is run here, outside of the session: what only its program can say is asked inside.
3. Of what is left at a session's end only the agents' own servers are ended.
"""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.agents import registry
from sentinel_guard.agents.base import CodingAgent
from sentinel_guard.core import response_text
from sentinel_guard.core.model import Finding, Response
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.live_sessions import Live, Place
from sentinel_guard.host.machine import ancestry, processes

SHELL = "/bin/sh"
# $0 program, $1 option, $2 note, $3 why it must not run without the option (empty: it may), then its own words.
ASKS = """o=$1 n=$2 w=$3; shift 3
case " $("$0" --help 2>/dev/null </dev/null | tr -s '[:space:]' ' ') " in *" $o "*)
    echo "sentinel-guard: $n" >&2; exec "$0" "$o" "$@" ;; esac
if [ -n "$w" ]; then echo "$w" >&2; exit 126; fi
exec "$0" "$@"
"""
"""Starts an agent with an option that only newer versions know."""
LEAVING = 2.0
"""Seconds that a server may take to end in its own way."""


def is_agent(asked: wire_messages.Request) -> bool:
    """Whether the request is the start of an agent by its name."""
    return asked.face == "shim" and registry.started(asked.argv) is not None


def objections(asked: wire_messages.Request) -> tuple[Finding, ...]:
    """What stands against the start of an agent: that it would work outside of the session, or unseen in it."""
    started = registry.started(asked.argv) if asked.face == "shim" else None
    if started is None or not (started.start.refused or started.start.unseen):
        return ()
    name, chosen = started.agent.name, started.start
    where = "works outside of this session" if chosen.refused else "keeps its shell out of sight"
    what = f"'{name} {chosen.refused or chosen.unseen}' {where}"
    return (Finding("agents", Response.DENY, what, "nobody guards it there", f"start {name} without it"),)


def start(asked: wire_messages.Request, place: Place, path: str) -> tuple[str, tuple[str, ...], str]:
    """The program to become, its argv (empty: as it was asked for) and what is said, for an agent at this path."""
    started = registry.started(asked.argv)
    if started is None or not started.start.added:
        return path, (), f"sentinel-guard: {started.start.note}" if started and started.start.note else ""
    agent, chosen = started.agent, started.start
    if not chosen.listed or started.by[1:]:
        return path, started.command, f"sentinel-guard: {chosen.note}"
    why = ""
    if there := _outside(place, agent):
        what = f"this {agent.name} has no {chosen.added} and would work in its server outside of the session"
        instead = f"end that server first (kill {' '.join(there)}), or update {agent.name}"
        why = response_text.refused(what, "nobody guards it there", instead)
    return SHELL, ("sh", "-c", ASKS, path, chosen.added, chosen.note, why, *chosen.words[1:]), ""


def end_servers(inside: Iterable[int], seconds: float = LEAVING) -> list[str]:
    """End the agents' servers among the processes of a session; their agents' names."""
    found = {pid: agent for pid in inside if (agent := server(pid))}
    if found:
        processes.end(frozenset(found), seconds)
    return sorted({agent.name for agent in found.values()})


def running(live: Live) -> set[int]:
    """Pids of what runs in a session. Whoever waits for a session's end waits for this."""
    since, own = live.session.owner.start if live.session.owner else 0, frozenset({processes.own_pid()})
    return processes.tree(live.roots, own, live.mark, live.members, since=since)


def _outside(place: Place, agent: CodingAgent) -> list[str]:
    """Pids of an agent's servers that the session did not start, and that a process at this place would find."""
    inside, ours = running(place.live), processes.environ(place.peer.pid)
    servers = (p.pid for p in processes.of_user() if p.pid not in inside and server(p.pid) is agent)
    return [str(pid) for pid in servers if registry.meet(processes.environ(pid), ours)]


def server(pid: int) -> CodingAgent | None:
    """The agent whose server a process is; None for any other process."""
    process = processes.describe(pid)
    return registry.server_of(processes.executable(pid), process.command) if process else None


def find_parts(live: Live, broker: int) -> None:
    """The runner's parts between it and the agent: the leader of the agent's terminal session, and the broker."""
    above = ancestry.lineage(live.agent)[1:]
    if live.session.owner not in above[: 3 if broker else 2]:
        return
    live.leader = above[0].pid if above[0] != live.session.owner else 0
    live.broker = next((peer for peer in above[1:2] if peer.pid == broker), None)
