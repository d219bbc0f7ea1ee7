"""Codex keeps a server that runs its tools: before, beside and after a guarded session (``make test-agents``)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import pytest

from sentinel_guard.agents import registry
from tests.support.agents.full_screen_agent import AT_SHELL, TURN
from tests.support.agents.real_agents import AGENTS
from tests.support.wait_until import until

only_codex = pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "codex"], ids=lambda agent: agent.name)
SHOWS = 'echo "$SENTINEL_SESSION" >> sessions.txt'


def one_turn(words: str) -> Sequence[tuple[str, ...]]:
    return (("shell", f"{SHOWS}; echo {words}"), ("say", f"{words.upper()} ENDS"))


def servers(stage) -> list[int]:
    """Codex's servers of this test."""
    found = stage.processes().items()
    return [pid for pid, words in found if registry.server_of(os.path.realpath(f"/proc/{pid}/exe"), words[:-1])]


def play(on_screen, agent, words: str, *, guarded: bool) -> None:
    """Codex does one thing, and is left."""
    screen = on_screen(agent, one_turn(words), guarded=guarded)
    screen.turn("go on", f"{words.upper()} ENDS")
    assert screen.leave() == 0
    screen.close()


@pytest.fixture
def repo(stage):
    stage.commit(a__txt="one\n")
    return stage


@only_codex
def test_a_guarded_agent_works_by_itself_beside_a_server_that_was_there(repo, on_screen, agent):
    play(on_screen, agent, "plain", guarded=False)
    before = servers(repo)
    assert before, "it leaves a server"
    play(on_screen, agent, "guarded", guarded=True)
    assert repo.calls() == [f"{SHOWS}; echo guarded"]
    assert servers(repo) == before, "which is the person's, and lives on"
    plain, guarded = (repo.repo / "sessions.txt").read_text().split("\n")[:2]
    assert not plain and guarded


@only_codex
def test_a_plain_start_after_a_guarded_session_meets_no_server_of_it(repo, on_screen, agent):
    play(on_screen, agent, "guarded", guarded=True)
    assert servers(repo) == []
    play(on_screen, agent, "plain", guarded=False)
    assert repo.calls() == [f"{SHOWS}; echo guarded"]
    guarded, plain = (repo.repo / "sessions.txt").read_text().split("\n")[:2]
    assert guarded and not plain


@only_codex
def test_a_server_inside_a_session_ends_when_that_is_killed(repo, on_screen, agent):
    # By its path, so that it gets no option and starts a server.
    script = repo.folder / "start-agent"
    script.write_text(f'#!/bin/sh\nexec {agent.path()} "$@"\n')
    script.chmod(0o755)
    fatal = (("shell", f"rm -r {repo.repo}/.git"), ("shell", "echo never > reached"))
    screen = on_screen(replace(agent, program=str(script)), (*one_turn("inside"), *fatal))
    screen.turn("go on", "INSIDE ENDS")
    assert servers(repo) and repo.calls() == [f"{SHOWS}; echo inside"]
    screen.say("and on")
    assert "SENTINEL KILL SWITCH" in screen.tmux.until(AT_SHELL, TURN)
    assert until(lambda: not servers(repo)), "nothing of the session is left"
    assert not (repo.repo / "reached").exists()
