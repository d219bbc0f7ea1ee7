"""``doctor`` tries out whether the guard is in effect, and says loudly where it is not."""

from __future__ import annotations

import json

import pytest

from sentinel_guard.host import kernel_layer


@pytest.fixture
def stage(alone):
    return alone


@pytest.fixture
def repo(stage):
    stage.commit(a__txt="a\n")
    done = stage.sentinel("install")
    assert done.returncode == 0, done.stderr
    return stage


def trial(stage) -> dict[str, dict]:
    """What -> probe."""
    probes = json.loads(stage.sentinel("doctor", "--json").stdout)["trial"]
    return {p["what"]: p for p in probes}


def test_every_way_refuses(repo):
    before = {p: p.read_bytes() for p in repo.repo.rglob("*") if p.is_file()}
    repo.policy('[kernel]\nmode = "auto"\n')
    said = trial(repo)
    assert all(p["ok"] for p in said.values()), said
    held, _ = kernel_layer.probed(kernel_layer.begin_probe())
    ways = ["the guarded shell", "the shims", *(["the kernel layer"] if held else []), "the git hooks"]
    assert [next(w for w in ways if what.startswith(f"in effect: {w}")) for what in said] == ways
    assert {p: p.read_bytes() for p in repo.repo.rglob("*") if p.is_file()} == before
    refused = [e["data"]["response"] for e in repo.log(kind="verdict", level="L2")]
    assert set(refused) == {"deny"} and len(refused) >= 2, "by a real session, which is on record"
    assert "The guard is in effect here." in repo.sentinel("doctor").stdout


def pass_everything(stage):
    hook = stage.repo / ".git/hooks/pre-applypatch"
    text = hook.read_text()
    hook.write_text(text.replace("launcher=", "exit 0\nlauncher=", 1))


def no_state(stage):
    (stage.guard / "state").rename(stage.guard / "away")
    (stage.guard / "state").write_text("")


def nothing_restricted(stage):
    stage.policy('[paths]\nrestricted = ["!.env", "!.env.*", "!id_rsa*", "!secrets/", "!*.pem"]\n')


BROKEN = (
    (pass_everything, "the git hooks of this repository let a commit of .env pass", "a hook that checks nothing"),
    (no_state, "no session can be begun", "a state folder that is none"),
    (nothing_restricted, "your policy restricts none of .env", "a policy that lets everything be"),
)


@pytest.mark.parametrize(("work", "words", "why"), BROKEN, ids=[b[2] for b in BROKEN])
def test_what_is_not_in_effect_is_said_loudly(repo, work, words, why):
    work(repo)
    done = repo.sentinel("doctor")
    assert done.returncode == 1, why
    last = done.stdout.partition("The guard is NOT IN EFFECT here:")[2]
    assert words in last and "The guard is in effect" not in done.stdout


def test_inside_of_a_session_nothing_is_tried(repo):
    _, seen = repo.agent("sentinel-guard doctor --json")
    [probe] = json.loads(seen[0]["out"])["trial"]
    assert probe["ok"] and "inside of a guarded session" in probe["what"]
