"""54: a rollback that is killed, begun anew, killed further on, and so on to its end, is a rollback (kill -9).

What counts as a step: every rename, link, new folder, removal, change of mode or time, and every start of git.
"""

from __future__ import annotations

import os
import signal
import sys

import pytest

from sentinel_guard.host.recovery import api
from tests.host.recovery import test_unusual_repositories as more
from tests.support.recovery import agent_scripts as agents
from tests.support.recovery.repository import dirty_template, state, template

STEPS = {"os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.utime", "subprocess.Popen"}
KILLS = (1, 4, 9, 15, 22, 30, 39, 49, 60, 72, 90, 120, 160)
"""Steps at which one run after the other is killed; each scenario shifts them by its own number."""


CLEAN = [
    (more.nothing, agents.edits_and_commits, "1 edits and commits"),
    (agents.conflict, agents.resolves_and_commits, "20 a conflict resolved"),
    (agents.rebase, agents.aborts_rebase, "21 a rebase aborted"),
    (agents.stash, agents.drops_stash, "22 the stash dropped"),
    (more.nothing, agents.rewrites_and_collects, "27 amended and collected"),
    (more.nothing, more.squashes, "28 squashed and collected"),
    (more.nothing, agents.deletes_objects, "29 all objects deleted"),
    (more.mixes_line_ends, more.rewrites_some, "36 mixed line ends"),
    (more.filters, more.edits_filtered, "37 filtered files"),
    (more.odd_names, more.rewrites_all, "38 odd names"),
    (more.nothing, agents.poisons_object, "47 a poisoned object"),
    (more.negations, more.turns_ignoring_round, "51 nested ignore rules"),
    (more.husky, more.replaces_hooks, "hooks replaced"),
    (more.split_index, agents.deletes_git, "a split index, .git deleted"),
]
DIRTY = [
    (agents.edits_and_commits, "2 edits and commits"),
    (agents.cleans_ignored_too, "4 cleaned"),
    (agents.links_env, "6 .env a link"),
    (agents.hides_by_ignoring, "8 hidden by ignoring"),
    (agents.plants_programs, "13 programs planted"),
    (agents.detaches_and_deletes, "17 branches deleted"),
    (agents.deletes_git, "23 .git deleted"),
    (agents.reinitialises, "24 .git made anew"),
    (agents.links_git_elsewhere, "25 .git a link"),
    (agents.junks_metadata, "26 junk"),
    (agents.changes_modes, "31 modes"),
    (agents.links_folder_outside, "32 a folder a link"),
    (agents.swaps_file_and_folder, "33 kinds swapped"),
    (agents.embeds, "35 an embedded repository"),
]
CASES = [(template, *row) for row in CLEAN] + [(dirty_template, more.nothing, *row) for row in DIRTY]


def killed(baseline: api.Baseline, step: int) -> bool:
    """A rollback in a process of its own that kills itself at a step; False where it came to its end before."""
    child = os.fork()
    if not child:
        left = step

        def count(event: str, _args: object) -> None:
            nonlocal left
            if event in STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(count)
            os._exit(0 if api.rollback(api.load(baseline.folder)).ok else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), f"ended with {status:#x}"
    return status != 0


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[-1] for case in CASES])
def test_54_killed_again_and_again(tmp_path, number):
    make, start, agent, _ = CASES[number]
    repo = make(tmp_path / "repo")
    start(repo)
    before = state(repo)
    baseline = api.take(str(repo.root), tmp_path / "session", lambda p: p.endswith("/.env"), "s1")
    agent(repo)
    made = repo.git("rev-parse", "HEAD") if agent is agents.edits_and_commits else ""
    kills = sum(killed(baseline, step + number % 5) for step in KILLS)
    assert kills > 3
    report = api.rollback(api.load(baseline.folder))
    assert report.problems == ()
    assert state(repo) == before
    assert not (tmp_path / "ran").exists(), "a planted program ran"
    assert made in repo.git("for-each-ref", "--format=%(objectname)", "refs/sentinel"), "what was committed is kept"
