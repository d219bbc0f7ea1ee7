"""The real coding agents without a terminal, under guard, each played by a scripted model (``make test-agents``)."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest

from tests.support.agents.real_agents import AGENTS
from tests.support.wait_until import until

LOOP = "SYSTEM INTERVENTION: Loop Detected."
BLOCKED = "403 SENTINEL BLOCKED"
every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)

PARALLEL = tuple(f"sleep 0.2; echo parallel-{n}" for n in range(6))
STORY = (
    ("shell", "echo \"it's $HOME\" 'and this'; git rev-parse HEAD"),
    ("shell", "printf 'two\\n' >> a.txt\ngit add a.txt && git commit -qm 'second: it works'"),
    ("shell", "git checkout -q -b side && git log --oneline | cat"),
    ("background", "sleep 0.3; echo late > late.txt"),
    ("parallel", *PARALLEL),
    ("shell", "cat .env"),
    ("shell", "git push --force origin main"),
    ("shell", "cat <<'X'\nend of 'story'\nX\nexit 7"),
)


@every_agent
def test_a_days_work_is_on_record_as_the_model_wrote_it(stage, play, agent):
    stage.commit(a__txt="one\n")
    assert stage.sentinel("install").returncode == 0
    stage.git("add", "-A")
    stage.git("commit", "-qm", "guard")
    played = play(agent, STORY)
    asked = [command for kind, *commands in STORY for command in commands]
    assert len(played.told) == len(asked), played.done
    # Copilot (1.0.102) tries its shell with a call of its own.
    plain = [command.removesuffix(" &") for command in played.calls() if command != ":"]
    assert sorted(plain) == sorted(asked), "each call once, and nothing else"
    told = dict(zip(asked, played.told, strict=True))
    assert f"it's {stage.home} and this" in told[asked[0]]
    assert stage.git("log", "-1", "--format=%s").strip() == "second: it works", (told[asked[1]], "it may commit")
    hooks = [str(e["data"]["arguments"]) for e in stage.log(kind="verdict") if e["data"]["layer"] == "git"]
    assert "{'hook': 'commit'}" in hooks, (hooks, "our hooks have judged the commit, once for both")
    assert stage.git("branch", "--show-current").strip() == "side"
    assert [n for n, command in enumerate(PARALLEL) if f"parallel-{n}" not in told[command]] == [], played.told
    assert BLOCKED in told["git push --force origin main"], "nobody can be asked here"
    assert (stage.repo / "late.txt").read_text() == "late\n", "what it left running has ended"
    assert "end of 'story'" in told[asked[-1]] and BLOCKED not in told[asked[-1]]
    assert "shims/" not in "\n".join(played.told), "no message names a shim"
    refused = [e["data"]["arguments"] for e in stage.log(kind="verdict", level="L2")]
    expected = ["cat .env", "git push --force origin main"]
    assert [a.get("command") for a in refused] == expected, "nothing of the agent's own is refused"


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in ("claude", "codex")], ids=lambda agent: agent.name)
def test_the_wrapper_is_taken_off_after_a_restart_of_the_daemon_too(stage, play, agent):
    stage.commit(a__txt="one\n")
    waits = "touch begun; while test -e begun; do sleep 0.1; done"
    begun = stage.repo / "begun"

    def restart() -> None:
        if until(begun.exists, 60):
            os.kill(
                json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"], signal.SIGKILL
            )
            time.sleep(1)
            begun.unlink()

    person = threading.Thread(target=restart)
    person.start()
    played = play(agent, (("shell", "echo one"), ("patient", waits), ("shell", "echo three")))
    person.join()
    assert "three" in played.told[-1], played.done
    assert played.calls() == ["echo one", waits, "echo three"]


@every_agent
def test_what_an_agent_keeps_for_itself_is_left_alone_in_plain_use(stage, play, agent):
    stage.commit(a__txt="one\n")
    for n in ("one", "two"):
        written = str(stage.repo / f"{n}.txt")
        work = f"echo {n} >> b.txt; git add b.txt; git commit -qm {n}"
        played = play(agent, (("shell", work), ("write", written, "x"), ("shell", "git log --oneline | cat")))
        assert len(played.told) == 3 and n in played.told[-1], played.done
        assert (stage.repo / f"{n}.txt").exists() and "SENTINEL" not in played.done.stderr
    noted = [e for e in stage.log(kind="watch") if e["data"]["check"] != "read"]
    assert (noted, [e for e in stage.log(kind="verdict") if e["level"] > "L1"]) == ([], [])


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "codex"], ids=lambda agent: agent.name)
def test_a_models_text_that_looks_like_the_agents_own_is_a_call(stage, play, agent):
    stage.commit(a__txt="one\n")
    loads = f'set -e; . "{stage.home}/.codex/shell_snapshots/mine.tmp-1"'
    played = play(agent, (("bare", loads), ("bare", "echo two"), ("shell", "echo three")))
    assert played.calls() == [loads, "echo two", "echo three"], played.done
    own = [e["data"]["arguments"]["command"] for e in stage.log(kind="verdict") if e["data"].get("for_itself")]
    assert any("# Snapshot file" in text for text in own) and loads not in own


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "codex"], ids=lambda agent: agent.name)
def test_what_the_model_types_into_a_shell_is_judged_line_by_line(stage, play, agent):
    stage.commit(a__txt="one\n")
    secrets = (stage.repo / ".env").read_text()
    steps = (
        ("terminal", "bash -i"),
        ("type", "cat .env\n"),
        ("type", "{ echo mine; } > .env\n"),
        ("type", "echo honest-$((40 + 2))\n"),
        ("type", "git push --force origin main\n"),
        ("type", "exit\n"),
        ("terminal", "python3"),
        ("shell", "echo the end"),
    )
    played = play(agent, steps)
    told = played.told
    assert len(told) == len(steps), played.done
    assert [n for n in (1, 2, 4, 6) if BLOCKED not in told[n]] == [], told
    assert secrets.strip() not in "\n".join(told) and (stage.repo / ".env").read_text() == secrets
    assert "honest-42" in told[3] and "the end" in told[-1]
    assert played.calls() == ["bash -i", "python3", "echo the end"], "what is typed is a step of its shell"
    lines = [e["data"]["arguments"].get("command") for e in stage.log(kind="verdict") if e["data"].get("parent")]
    typed = [keys.strip() for kind, keys in steps if kind == "type"]
    assert [line for line in lines if line in typed] == typed, "and each line is on record once"


@every_agent
def test_refusals_hints_breaker_and_kill_switch_reach_the_model(stage, play, agent):
    stage.commit(a__txt="a\n")
    start = stage.git("rev-parse", "HEAD")
    stage.policy('[breaker]\nseconds = 1\n[paths]\ncreate = "deny"\n')
    failing = "ls no-such-file"
    gone = "for i in 1 2 3 4 5 6; do ls key.pem || break; sleep 0.3; done"
    steps = (
        ("shell", "echo hello; git rev-parse HEAD"),
        ("shell", "echo x >> .env"),
        ("write", str(stage.repo / "key.pem"), "by the agent's own tool"),
        ("shell", f"{gone}; printf 'def f(:\\n' > bad.py; python3 -m py_compile bad.py"),
        *(("shell", failing) for _ in range(4)),
        ("shell", "sleep 1.2"),
        ("shell", f"rm -r {stage.repo}/.git"),
        ("shell", "echo never > reached"),
    )
    played = play(agent, steps)
    told, done = dict(enumerate(played.told)), played.done
    assert "hello" in told[0] and start.strip() in told[0], (told, done)
    assert BLOCKED in told[1], "the model is told why"
    assert "SENTINEL HINT" in told[3] and "bad.py:1" in told[3], "and what is wrong with its file"
    assert "No such file" in told[3], "the watcher took away what the agent's own tool wrote"
    assert LOOP not in told[5] and LOOP in told[6] and LOOP in told[7], "the third failure trips the breaker"
    assert done.returncode == 137 and "SENTINEL KILL SWITCH" in done.stderr, "the kill switch ends the agent"
    assert len(played.told) <= 9 and not (stage.repo / "reached").exists(), "and nothing comes after it"
    assert stage.git("rev-parse", "HEAD") == start and not (stage.repo / "bad.py").exists()
    assert stage.git("status", "--porcelain", "--", ":!docs/incidents") == ""
    held = [e["data"]["arguments"].get("object", "") for e in stage.log(kind="verdict", level="L2")]
    seen = [*held, *(str(e["data"]["path"]) for e in stage.log(kind="watch"))]
    assert any(path.endswith(".pem") for path in seen), "it was the watcher indeed, or the kernel layer"
    refused = [e["data"] for e in stage.log(kind="verdict", level="L2") if "argv" in e["data"]["arguments"]]
    rules = {f["rule"] for data in refused for f in data["findings"]}
    assert not {r for r in rules if r.startswith("git.")}, "the agent's own questions to git are let through"


STATE = (
    ("status", "--porcelain=v1", "-uall", "--", ":!docs/incidents"),
    ("diff",),
    ("diff", "--cached"),
    ("stash", "list"),
)


WRECKS = "git checkout -q -- . ; git stash -q -u; git commit -q --allow-empty -m lost; echo wreck > a.txt"


def make_dirty(stage):
    """Work that no commit holds: staged, unstaged, untracked, deleted. Returns the state."""
    stage.commit(a__txt="one\n", keep__txt="keep\n")
    stage.write("a.txt", "one\nstaged\n")
    stage.git("add", "a.txt")
    stage.write("a.txt", "one\nstaged\nunstaged\n")
    stage.write("new.txt", "untracked\n")
    (stage.repo / "keep.txt").unlink()
    return state(stage)


def state(stage) -> list[str]:
    untracked = stage.repo / "new.txt"
    return [*(stage.git(*words) for words in STATE), untracked.read_text() if untracked.exists() else ""]


@every_agent
def test_a_kill_gives_back_what_was_not_committed(stage, play, agent):
    before = make_dirty(stage)
    played = play(agent, (("shell", WRECKS), ("shell", f"rm -r {stage.repo}/.git"), ("shell", "echo never")))
    assert played.done.returncode == 137, played.done
    assert state(stage) == before
