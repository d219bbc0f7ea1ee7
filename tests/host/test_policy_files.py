"""The policy in force: found, kept, read again, and never none."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sentinel_guard.core.model import Response
from sentinel_guard.errors import ConfigError
from sentinel_guard.host import policy_files
from sentinel_guard.host.machine.state_paths import StatePaths, places
from sentinel_guard.host.policy_files import Policies
from tests.support.time_limits import limit
from tests.support.wait_until import until

RULE = """
[[rule]]
id = "mine.frob"
program = "frob"
response = "deny"
why = "it may not"
hit = ["frob x", "sudo frob"]
miss = ["echo frob"]
"""


@pytest.fixture
def here(tmp_path: Path) -> StatePaths:
    found = places({"SENTINEL_HOME": str(tmp_path / "s")})
    found.make()
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "r").mkdir()
    return tmp_path / "r"


def put(path: Path, text: str) -> None:
    path.write_text(text)


def test_without_files_the_built_in_policy_is_in_force(here: StatePaths, root: Path) -> None:
    policy = Policies(here).load(root)
    assert policy.restricts(f"{root}/.env", str(root)) == ".env"
    assert policy.restricts(f"{root}/sentinel.toml", str(root))
    assert not policy.restricts(f"{root}/.env.example", str(root))
    assert "git.push-force" in {r.id for r in policy.rules}
    assert (policy.warnings, policy.sources) == ((), ())


def test_outside_of_a_repository_the_users_file_counts(here: StatePaths) -> None:
    put(here.policy, "[loop]\nrepeats = 7\n")
    assert policy_files.load(here).loop.repeats == 7


def test_user_and_project_are_joined(here: StatePaths, root: Path) -> None:
    put(here.policy, "[loop]\nrepeats = 7\n")
    put(root / "sentinel.toml", "[loop]\nrepeats = 9\n[cost]\ntokens_per_minute = 10\n" + RULE)
    policy = Policies(here).load(root)
    assert (policy.loop.repeats, policy.cost.tokens_per_minute) == (7, 10)
    assert "repeats = 9 is not taken" in policy.warnings[0]
    assert policy.rules[-1].id == "mine.frob"
    assert policy.sources == (str(here.policy), str(root / "sentinel.toml"))


def test_a_policy_is_kept_until_a_file_changes(here: StatePaths, root: Path) -> None:
    kept = Policies(here)
    first = kept.load(root)
    assert kept.load(root) is first
    put(root / "sentinel.toml", "[loop]\nrepeats = 2\n")
    assert kept.load(root).loop.repeats == 2
    (root / "sentinel.toml").unlink()
    assert kept.load(root).loop.repeats == 3


BROKEN = [
    ("[loop]\nwindw = 3", "did you mean window?", "a schema error"),
    ("[loop", "not TOML", "a syntax error"),
    (RULE.replace("echo frob", "frob y"), "miss 'frob y' matches", "a rule whose example fails"),
    (RULE.replace("frob x", "grep x"), "hit 'grep x' does not match", "a rule that does not hit"),
]


@pytest.mark.parametrize(("text", "words"), [b[:2] for b in BROKEN], ids=[b[2] for b in BROKEN])
def test_a_broken_file_keeps_its_last_good_version_loudly(here: StatePaths, root: Path, text: str, words: str) -> None:
    kept = Policies(here)
    put(root / "sentinel.toml", "[loop]\nrepeats = 2\n" + RULE)
    kept.load(root)
    put(root / "sentinel.toml", "# broken now\n" + text)
    policy = kept.load(root)
    assert policy.loop.repeats == 2
    assert policy.rules[-1].id == "mine.frob"
    assert words in policy.warnings[0]
    assert "last good version stays in force" in policy.warnings[0]


@pytest.mark.parametrize(("text", "words"), [b[:2] for b in BROKEN], ids=[b[2] for b in BROKEN])
def test_a_file_that_is_broken_from_the_start_means_the_built_in_policy(
    here: StatePaths, root: Path, text: str, words: str
) -> None:
    put(here.policy, text)
    policy = Policies(here).load(root)
    assert policy.restricts(f"{root}/.env", str(root))
    assert "mine.frob" not in {r.id for r in policy.rules}
    assert words in policy.warnings[0]


def test_a_failing_rule_does_not_take_the_file_with_it(here: StatePaths, root: Path) -> None:
    put(
        root / "sentinel.toml",
        "[loop]\nrepeats = 2\n" + RULE + RULE.replace("mine.frob", "mine.bad").replace('"frob"', '"x"'),
    )
    policy = Policies(here).load(root)
    assert policy.loop.repeats == 2
    assert policy.rules[-1].id == "mine.frob"
    assert "mine.bad" in policy.warnings[0]


def test_an_unreadable_file_is_a_warning(here: StatePaths, root: Path) -> None:
    (root / "sentinel.toml").mkdir()
    assert "stays in force" in Policies(here).load(root).warnings[0]


def test_a_good_file_ends_the_warning(here: StatePaths, root: Path) -> None:
    kept = Policies(here)
    put(root / "sentinel.toml", "nonsense")
    assert kept.load(root).warnings
    put(root / "sentinel.toml", "version = 1\n")
    os.utime(root / "sentinel.toml", (1, 1))
    assert kept.load(root).warnings == ()


def test_only_the_persons_own_file_may_hold_absurd_patterns(here: StatePaths, root: Path) -> None:
    text = f"[paths]\nrestricted = ['{'*a' * 12}b']"
    put(here.policy, text)
    put(root / "sentinel.toml", text)
    policy = Policies(here).load(root)
    assert policy.project.restricted == ()
    assert "more than 8 stars" in policy.warnings[0]
    assert policy.restricts(f"{root}/{'a' * 3000}b", str(root))


TOO_MUCH = (
    ("# " + "x" * (1 << 16), "over the limit of 65536 bytes"),
    ("[paths]\nrestricted = [" + "'a', " * 2001 + "]", "2001 patterns and texts; 2000 are possible"),
)


@pytest.mark.parametrize(("text", "words"), TOO_MUCH, ids=["bytes", "patterns"])
def test_a_file_over_the_limits_is_not_parsed(here: StatePaths, text: str, words: str) -> None:
    put(here.policy, text)
    [warning] = Policies(here).load().warnings
    assert words in warning and "the built-in policy stays in force" in warning


def test_who_asks_does_not_wait_for_a_changed_file(here, root, monkeypatch) -> None:
    """Examples of rules are tried: thousands may take a second."""

    def slow(rules):
        assert go.wait(limit(10))
        return prove(rules)

    go, prove, policies = threading.Event(), policy_files._problems, Policies(here)
    assert policies.load(root).sources == ()
    put(root / "sentinel.toml", RULE)
    policies.load(root)
    monkeypatch.setattr(policy_files, "_problems", slow)
    put(root / "sentinel.toml", RULE.replace("frob", "blob"))
    assert [r.id for r in policies.load(root).rules][-1] == "mine.frob", "the last one is in force meanwhile"
    go.set()
    assert until(lambda: [r.id for r in policies.load(root).rules][-1] == "mine.blob")


def test_threads_that_ask_at_the_same_time_all_get_the_changed_file(here, root, monkeypatch) -> None:
    def slow(rules):
        time.sleep(0.02)
        return prove(rules)

    prove, policies = policy_files._problems, Policies(here)
    monkeypatch.setattr(policy_files, "_problems", slow)
    with ThreadPoolExecutor(8) as pool:
        for name in ("blob", "crob", "drob", "erob"):
            put(root / "sentinel.toml", RULE.replace("frob", name))
            found = functools.partial(pool.map, policies.load, [root] * 64)
            assert until(lambda new=f"mine.{name}", all_of=found: {p.rules[-1].id for p in all_of()} == {new})


def test_validate_tells_every_mistake(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    put(path, RULE)
    assert policy_files.validate(path).rules[0].response is Response.DENY
    put(path, RULE.replace("frob x", "grep x").replace("echo frob", "frob y"))
    with pytest.raises(ConfigError) as caught:
        policy_files.validate(path)
    assert len(caught.value.message.splitlines()) == 2


def test_the_last_good_version_stays_over_a_restart(here: StatePaths, root: Path) -> None:
    put(root / "sentinel.toml", "[loop]\nrepeats = 2\n" + RULE)
    assert Policies(here, keeps=True).load(root).loop.repeats == 2
    put(root / "sentinel.toml", "[loop")
    for again in (Policies(here).load(root), Policies(here).load(root)):
        assert again.loop.repeats == 2 and again.rules[-1].id == "mine.frob"
        assert "its last good version stays in force" in again.warnings[0]
    put(root / "sentinel.toml", "[loop]\nrepeats = 1\n")
    (root / "sentinel.toml").unlink()
    assert Policies(here).load(root).loop.repeats == 3, "a file that is gone is no broken one"


def test_a_command_that_asks_once_keeps_nothing(here: StatePaths, root: Path) -> None:
    put(root / "sentinel.toml", "[loop]\nrepeats = 2\n")
    Policies(here).load(root)
    assert not (here.state / "policies").exists()


def test_a_pipe_or_a_file_without_end_in_its_place_holds_nobody(here: StatePaths) -> None:
    here.policy.parent.mkdir(parents=True, exist_ok=True)
    for put_there in (lambda: os.mkfifo(here.policy), lambda: here.policy.symlink_to("/dev/zero")):
        put_there()
        began = time.monotonic()
        Policies(here).user_hash()
        assert time.monotonic() - began < limit(2)
        here.policy.unlink()


def test_each_change_is_told_once_and_by_the_hash_of_what_was_read(here: StatePaths, root: Path) -> None:
    told: list[tuple[str, str]] = []
    policies = Policies(here, changed=lambda old, new: told.append((old, new)))
    texts = ["", "[loop]\nrepeats = 4\n", "broken [", "[loop]\nrepeats = 2\n"]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    for text, digest in zip(texts, hashes, strict=True):
        put(here.policy, text)
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(policies.load, [root] * 32))
        until(lambda digest=digest: policies.load(root) and policies.user_hash() == digest)
    assert told == list(itertools.pairwise(hashes))
