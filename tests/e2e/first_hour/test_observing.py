"""``[protection] preset = "observe"`` end to end: it says what it would have done, and lets pass all but a threat."""

from __future__ import annotations

import contextlib
import subprocess

import pytest

from sentinel_guard.host import kernel_layer
from tests.support.guarded_repository import Stage

OBSERVE = '[protection]\npreset = "observe"\n[confirm]\nrelease = ["./release*"]\n[kernel]\nmode = "{}"\n'


@pytest.fixture(scope="module")
def guard():
    """Another test's first call must not be judged by this policy: a changed one is waited for no longer than 50 ms."""
    with contextlib.closing(Stage()) as guard:
        yield guard


@pytest.fixture(params=["off", "require"])
def repo(stage, request):
    if request.param == "require" and not kernel_layer.probed(kernel_layer.begin_probe())[0]:
        pytest.skip("no system calls can be held here")
    stage.policy(OBSERVE.format(request.param))
    stage.commit(a__txt="a\n")
    stage.write("release", "#!/bin/sh\necho released\n").chmod(0o755)
    return stage


def test_what_would_have_been_done_is_said_and_lets_pass(repo):
    _, seen = repo.agent("echo MODE=new > .env", "./release", *["false-command"] * 4, "echo on")
    refused, asked, *failed, after = seen
    assert refused["code"] == 0 and (repo.repo / ".env").read_text() == "MODE=new\n"
    assert "(only observed, it would have been refused)" in refused["err"]
    assert asked["out"] == "released\n" and "it would have been put before a person" in asked["err"]
    assert [step["code"] for step in failed] == [127] * 4, "no breaker ends a loop"
    assert after["out"] == "on\n"
    assert not [e for e in repo.log() if e["level"] in ("L2", "L3", "L4")]
    assert not list((repo.repo / "docs").rglob("INCIDENT*"))


def test_a_commit_passes_with_a_warning(repo):
    assert repo.sentinel("install").returncode == 0
    repo.git("add", "-f", ".env")
    command = ["git", "commit", "-qm", "env"]
    done = subprocess.run(command, cwd=repo.repo, env=repo.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "it would have been refused" in done.stderr


def test_a_threat_to_the_system_and_the_guards_own_are_no_matter_of_observing(repo):
    _, seen = repo.agent(f"echo x > {repo.guard}/config/sentinel.toml", "rm -rf /")
    assert seen[0]["code"] != 0
    assert "level" in repo.log(level="L4")[0]
