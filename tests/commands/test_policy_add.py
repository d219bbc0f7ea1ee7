"""``policy add``: a rule is written once it is proved, and never otherwise."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.commands.policy_add import Asked, add
from sentinel_guard.errors import ConfigError, HostError, SentinelError
from sentinel_guard.host import policy_files
from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon

NS = Asked({"response": "deny", "why": "namespaces are shared"}, "kubectl delete ns *")
WHOLE = {
    "id": "ours.migrations",
    "effect": ["delete", "write"],
    "target": ["{root}/migrations/*"],
    "response": "deny",
    "why": "migrations are written by hand",
    "instead": "git status",
    "hit": ["rm migrations/1.py"],
    "miss": ["cat migrations/1.py"],
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    monkeypatch.delenv("SENTINEL_SESSION", raising=False)
    return tmp_path / "repo"


def policy(root: Path) -> Path:
    return root / "sentinel.toml"


def test_an_example_becomes_a_rule_in_force(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(places(), root, NS) == 0
    [rule] = [r for r in policy_files.load(places(), root).rules if r.source == str(policy(root))]
    assert (rule.id, rule.program, rule.subcommand, rule.operand) == (
        "project.kubectl-delete-ns",
        ("kubectl",),
        ("delete",),
        ("ns",),
    )
    assert rule.hit == ("kubectl delete ns *",) and "echo 'kubectl delete ns *'" in rule.miss
    said = capsys.readouterr().out
    assert '[[rule]]\nid = "project.kubectl-delete-ns"' in said
    assert "Next: sentinel-guard check --explain -- 'kubectl delete ns *'" in said


def test_every_key_can_be_given(root: Path) -> None:
    assert add(places(), root, Asked(WHOLE)) == 0
    [rule] = policy_files.read(policy(root)).rules
    assert (rule.effect, rule.target, rule.instead) == (("delete", "write"), ("{root}/migrations/*",), "git status")


def test_what_is_given_comes_before_what_the_example_says(root: Path) -> None:
    keys = {**NS.keys, "operand": ["ns", "namespace"], "id": "ours.ns", "any_flag": ["--all"]}
    assert add(places(), root, Asked(keys, "kubectl delete ns --all")) == 0
    [rule] = policy_files.read(policy(root)).rules
    assert (rule.id, rule.operand, rule.any_flag, rule.all_flags) == (
        "ours.ns",
        ("ns", "namespace"),
        frozenset({"--all"}),
        frozenset(),
    )


def test_an_ask_gets_the_words_of_its_gate(root: Path) -> None:
    assert add(places(), root, Asked({"response": "ask", "why": "w"}, "make release")) == 0
    [rule] = policy_files.read(policy(root)).rules
    assert (rule.action, rule.risk) == ("MAKE_RELEASE", "HIGH")


def test_what_a_person_wrote_stays_and_so_do_mode_and_link(root: Path, tmp_path: Path) -> None:
    mine = "# mine\nversion=1\n[loop]\nrepeats   = 2 # no newline"
    (tmp_path / "real.toml").write_text(mine)
    (tmp_path / "real.toml").chmod(0o640)
    policy(root).symlink_to(tmp_path / "real.toml")
    assert add(places(), root, NS) == 0
    assert policy(root).is_symlink()
    assert policy(root).read_text().startswith(mine + "\n\n[[rule]]\n")
    assert stat.S_IMODE((tmp_path / "real.toml").stat().st_mode) == 0o640
    assert [p.name for p in root.iterdir() if p.name.startswith(".sentinel")] == []


def test_the_users_own_file_is_private_and_takes_it_outside_of_a_repository(tmp_path: Path, root: Path) -> None:
    assert add(places(), tmp_path, Asked(NS.keys, NS.example, user=True)) == 0
    assert stat.S_IMODE(places().policy.stat().st_mode) == 0o600
    assert policy_files.read(places().policy).rules[0].id == "user.kubectl-delete-ns"
    with pytest.raises(HostError):
        add(places(), tmp_path, NS)


def test_a_dry_run_proves_and_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(places(), root, Asked(NS.keys, NS.example, dry_run=True)) == 0
    assert "Nothing was written" in capsys.readouterr().out and not policy(root).exists()


REFUSED = (
    (Asked({}), "needs --id, --response, --why, --hit, --miss, --program or --effect", "nothing given"),
    (Asked({"response": "deny"}, "frob"), "needs --why.", "no reason given"),
    (Asked({**WHOLE, "hit": ["rm x"]}), "target is {root}/migrations/*, and the command has", "a hit that fails"),
    (Asked({**WHOLE, "miss": ["rm migrations/2.py"]}), "its miss 'rm migrations/2.py' matches", "a miss that fails"),
    (Asked({**WHOLE, "instead": "rm -rf /"}), "does not pass the guard (system.delete", "a way out that is stopped"),
    (Asked({**WHOLE, "effect": ["remove"]}), "did you mean move|known are|remove", "an unknown effect"),
    (Asked({**WHOLE, "id": "Not An Id"}), "is no id", "an id that is none"),
    (Asked({**WHOLE, "id": "system.delete"}), "already, in pack system", "a built-in id"),
    (Asked({"response": "deny", "why": "w"}, "ls | wc"), "several commands: ls, wc", "more than one command"),
)


@pytest.mark.parametrize("row", REFUSED, ids=[r[2] for r in REFUSED])
def test_what_is_not_proved_is_not_written(root: Path, row) -> None:
    asked, words, _ = row
    with pytest.raises(ConfigError) as caught:
        add(places(), root, asked)
    assert any(word in caught.value.message for word in words.split("|")), caught.value.message
    assert caught.value.hint
    assert not policy(root).exists()


def test_an_id_that_is_there_is_refused_with_its_place(root: Path) -> None:
    add(places(), root, NS)
    before = policy(root).read_bytes()
    with pytest.raises(ConfigError, match=r"already, in .*sentinel\.toml:4"):
        add(places(), root, NS)
    assert policy(root).read_bytes() == before


def test_a_broken_file_is_mended_first(root: Path) -> None:
    policy(root).write_text("[lop]\n")
    with pytest.raises(ConfigError, match="did you mean loop"):
        add(places(), root, NS)
    assert policy(root).read_text() == "[lop]\n"


def test_honest_commands_that_would_be_stopped_need_a_yes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked({"response": "ask", "why": "w"}, "git push")
    assert add(places(), root, asked) == 1
    said = capsys.readouterr().out
    assert "git push -u origin feature" in said and "say --yes" in said and not policy(root).exists()
    assert add(places(), root, Asked(asked.keys, asked.example, yes=True)) == 0
    assert policy_files.read(policy(root)).rules[0].id == "project.git-push"


LIVE = (
    ("ACTIVE", "other", "of-a-test", "From inside", "inside of a session"),
    ("ACTIVE", "repo", "", "is working in", "a session in this repository"),
    ("ACTIVE", "other", "", "", "a session elsewhere"),
    ("KILLED", "repo", "of-a-test", "", "a dead one"),
)


@pytest.mark.parametrize("row", LIVE, ids=[r[4] for r in LIVE])
def test_a_session_does_not_change_the_policy(root: Path, monkeypatch, row) -> None:
    alive, where, inside, words, _ = row
    monkeypatch.setenv("SENTINEL_SESSION", inside)
    daemon = FakeDaemon(places())
    daemon.replies["status"] = {
        "sessions": [{"session": "of-a-test", "state": alive, "root": str(root.parent / where)}]
    }
    try:
        if words:
            with pytest.raises(SentinelError, match=words):
                add(places(), root, NS)
            assert not policy(root).exists()
        else:
            assert add(places(), root, NS) == 0
    finally:
        daemon.close()


def test_to_drop_the_mark_does_not_help(root: Path) -> None:
    """A child whose parent bears the mark of a session is inside, whatever its own environment says."""
    daemon = FakeDaemon(places())
    daemon.replies["status"] = {"sessions": [{"session": "of-a-policy", "state": "ACTIVE", "root": "/elsewhere"}]}
    script = (
        "from pathlib import Path; from sentinel_guard.commands.policy_add import *; "
        "from sentinel_guard.host.machine.state_paths import places; "
        "add(places(), Path.cwd(), Asked({'response': 'deny', 'why': 'w'}, 'kubectl delete ns'))"
    )
    inner = f'env -u SENTINEL_SESSION {sys.executable} -c "{script}"; true'
    try:
        ended = subprocess.run(
            ["sh", "-c", inner],
            cwd=root,
            env=os.environ | {"SENTINEL_SESSION": "of-a-policy", "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        daemon.close()
    assert "From inside a guarded session" in ended.stderr and not policy(root).exists()
