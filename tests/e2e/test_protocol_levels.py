"""Every level of the protocol, driven with the real binary, daemon and git (SPEC R1-R6, R9)."""

from __future__ import annotations

import signal
import time

import pytest

LOOP = (
    "SYSTEM INTERVENTION: Loop Detected. You have tried this exact operation 3 times and failed. You are prohibited "
    "from retrying the same inputs. You must either (A) Ask the user for help, or (B) Revert your changes."
)


def test_ordinary_work_passes_unnoticed(stage):
    stage.commit(a__py="x = 1\n")
    done, seen = stage.agent(
        "echo hello; echo there >&2",
        "cat a.py | tr x y",
        "git add -A && git commit -qm two --allow-empty",
        "exit 7",
        "grep zz a.py",
        "kill -TERM $$",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [(s["code"], s["out"], s["err"]) for s in seen] == [
        (0, "hello\n", "there\n"),
        (0, "y = 1\n", ""),
        (0, "", ""),
        (7, "", ""),
        (1, "", ""),
        (-signal.SIGTERM, "", ""),
    ]


def test_the_agents_exit_code_is_passed_through(stage):
    stage.commit()
    assert stage.sentinel("run", "--", "python3", "-c", "raise SystemExit(41)").returncode == 41
    assert stage.sentinel("run", "--", "no-such-agent").returncode == 127


def test_l1_a_failed_lint_brings_a_hint_with_file_line_and_message(stage):
    stage.commit(bad__py="def f(:\n    pass\n")
    _, [first] = stage.agent("python3 -m py_compile bad.py")
    assert first["code"] == 1
    own, _, hint = first["err"].partition("SENTINEL HINT:")
    assert "SyntaxError" in own, "the tool's own output comes first, as it is"
    assert "bad.py:1" in hint and "invalid syntax" in hint
    assert [e["level"] for e in stage.log(kind="observation")] == ["L1"]


REFUSED = (
    ("echo X=1 >> .env", "a redirection"),
    ("sed -i s/debug/prod/ .env", "an edit in place"),
    ("cp a.txt .env", "a copy over it"),
    ("mv .env elsewhere", "a move away"),
    ("unlink .env", "a deletion"),
    ("chmod 777 .env", "a change of mode"),
    ("sh -c 'tee .env < a.txt'", "below another shell"),
    ("command env tee ./.env < a.txt", "behind wrappers"),
    ("ln -sf a.txt .env", "a link over it"),
)


def test_l2_whatever_touches_env_is_refused_with_403_and_on_record(stage):
    stage.commit(a__txt="a\n")
    _, seen = stage.agent(*(command for command, _ in REFUSED), "grep -c MODE=debug .env")
    for (command, why), told in zip(REFUSED, seen, strict=False):
        assert told["code"] == 126, (why, command, told)
        assert told["err"].startswith("403 SENTINEL BLOCKED: "), why
        assert ".env" in told["err"], why
    assert seen[-1]["out"] == "1\n", "what shows no secret stays free"
    assert len(stage.log(kind="verdict", level="L2")) == len(REFUSED)


def test_l3_the_third_identical_failure_opens_the_breaker(stage):
    stage.commit()
    stage.policy("[breaker]\nseconds = 2\n")
    command = "ls no-such-file"
    _, seen = stage.agent(command, command, command, command, "echo other", 2.2, command, 2.2, "echo other", command)
    codes = [s["code"] for s in seen]
    assert codes[:3] == [2, 2, 2]
    assert "SENTINEL HINT:" in seen[1]["err"], "a hint comes one step before"
    assert LOOP in seen[2]["err"], "the third failure carries the intervention"
    for rejected in seen[3:5]:
        assert rejected["code"] == 126 and rejected["out"] == ""
        assert LOOP in rejected["err"]
    assert seen[5]["code"] == 126 and LOOP in seen[5]["err"], "half-open: the same operation trips again at once"
    assert (seen[6]["code"], seen[6]["out"]) == (0, "other\n"), "another one closes the breaker"
    assert seen[7]["code"] == 2, "closed: the operation may be tried anew"
    assert list((stage.repo / "docs/incidents").glob("INCIDENT-*.md")), "a breaker leaves a report (R9)"


def test_l3_progress_is_no_loop(stage):
    stage.commit()
    step = "ls no-such-file"
    _, seen = stage.agent(step, "echo a > a", step, "echo b > b", step, "echo c > c", step)
    assert "SYSTEM INTERVENTION" not in "".join(s["err"] for s in seen[:-1])


def test_l3_strict_is_the_literal_rule(stage):
    stage.commit()
    stage.policy("[loop]\nstrict = true\n")
    _, seen = stage.agent("echo same", "echo same", "echo same", "echo same")
    assert LOOP in seen[2]["err"]
    assert seen[3]["code"] == 126


def test_r6_over_the_limit_the_next_request_waits(stage):
    stage.commit()
    stage.policy("[cost]\ncooldown_seconds = 2\n")
    report = "sentinel-guard usage report --tokens 30000"
    _, seen = stage.agent(report, report, "echo next", "echo after")
    waited = seen[2]
    assert waited["code"] == 0 and waited["out"] == "next\n"
    assert waited["seconds"] >= 1.8
    assert "SENTINEL COOL DOWN" in waited["err"]
    assert seen[3]["seconds"] < 1.5


def test_l4_rm_root_kills_the_session_and_restores_the_repository(stage):
    stage.commit(a__txt="a\n", b__txt="b\n", c__txt="c\n")
    start = stage.git("rev-parse", "HEAD")
    stage.write("a.txt", "staged\n")
    stage.git("add", "a.txt")
    stage.write("a.txt", "staged, then edited\n")
    stage.write("new.txt", "untracked\n")
    (stage.repo / "b.txt").unlink()
    before = state(stage)
    done, seen = stage.agent(
        "echo evil > a.txt; echo evil > new.txt; echo evil > b.txt; echo evil > mine.txt",
        "git add -A && git commit -qm evil",
        "unlink c.txt",
        "rm -rf /",
        "echo never > reached",
    )
    assert done.returncode == 137
    assert "SENTINEL KILL SWITCH" in done.stderr
    assert len(seen) <= 3 or seen[3]["err"].startswith("SENTINEL KILL SWITCH"), seen
    assert stage.git("rev-parse", "HEAD") == start
    assert state(stage) == before
    report = next((stage.repo / "docs/incidents").glob("INCIDENT-*.md")).read_text()
    for part in ("rm -rf /", start.strip()[:12], "Root cause", "evil"):
        assert part in report
    assert stage.log(kind="verdict", level="L4") and stage.log(kind="recovery")
    assert stage.sentinel("log", "verify").returncode == 0


def test_l4_nothing_of_the_tree_outlives_the_kill(stage):
    stage.commit()
    beat = stage.folder / "beat"
    loop = f"while :; do date +%s%N > {beat}; sleep 0.05; done"
    wait = f"until [ -s {beat} ]; do sleep 0.05; done"
    stage.agent(f"setsid nohup sh -c '{loop}' >/dev/null 2>&1 &", wait, "rm -rf /")
    last = beat.read_text()
    time.sleep(0.4)
    assert beat.read_text() == last


def state(stage) -> tuple:
    """All that must come back: files with their bytes, index, refs and what git says of them."""
    files = {
        str(p.relative_to(stage.repo)): p.read_bytes()
        for p in stage.repo.rglob("*")
        if p.is_file() and ".git/" not in str(p) and "incidents" not in str(p)
    }
    told = (
        ("ls-files", "-s", "-v"),
        ("diff",),
        ("diff", "--cached"),
        ("status", "--porcelain", "--", ":!docs/incidents"),
    )
    refs = [r for r in stage.git("for-each-ref").splitlines() if "refs/sentinel/" not in r]
    return files, refs, *(stage.git(*t) for t in told)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("deploy production", "the policy's own restricted tool"),
        ("git push --force origin main", "what others have fetched is rewritten"),
    ],
    ids=lambda v: v if " " in v else None,
)
def test_r7_without_a_terminal_the_gate_is_closed_at_once(stage, command, why):
    stage.commit()
    stage.policy('[confirm]\ndeploy = ["deploy"]\n')
    done, [told] = stage.agent(command)
    assert done.returncode == 0
    assert told["code"] == 126 and told["seconds"] < 5, why
    assert told["err"].startswith("403 SENTINEL BLOCKED: ")
    assert "sentinel-guard run" in told["err"], "it says what to do"
    assert told["out"] == ""
