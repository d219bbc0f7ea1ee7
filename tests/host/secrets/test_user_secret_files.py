"""The person's own values, from the files and variables that hold them, on real repositories."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from sentinel_guard.core.policy.policy import Paths, Policy
from sentinel_guard.host.secrets import user_secret_files
from sentinel_guard.host.secrets.user_secret_files import FILES, MAX_BYTES, Cache, collect
from tests.support.time_limits import limit

POLICY = Policy(
    Paths(
        (
            ".env",
            ".env.*",
            "!.env.example",
            "*.pem",
            "secrets/",
            "/config/master.key",
            "vault-*",
            "hidden",
            "live/**",
            "k[0-9]y",
        )
    )
)
CHANCE = "q7Wn2Zt9" + "Lk4Vx8Rb3Ym6"
OTHER = "hT5vQ8nB2" + "xK7mW3cR9zL"


@pytest.fixture
def root(tmp_path):
    _git(tmp_path, "init", "-q")
    return tmp_path


def _git(root, *words):
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, timeout=limit(60)).stdout


def _put(root, name, text=f"A_TOKEN={CHANCE}\n"):
    path = Path(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _commit(root):
    _git(root, "add", "-A", "-f")
    _git(root, "commit", "-q", "-m", "x")


def _whats(root, text=f"<{CHANCE}>", **more):
    return [leak.what for leak in collect(root, POLICY, {}, **more).find(text)]


PLACES = [
    (".env", True, "at the top"),
    (".env.production", True, "one of many"),
    ("apps/web/.env", True, "a part of a larger repository"),
    ("secrets/token.txt", True, "in a restricted folder"),
    ("deep/secrets/token.txt", True, "in one below"),
    ("config/master.key", True, "a restricted file of any name"),
    ("vault-a", True, "a restricted pattern"),
    ("a/hidden/x", True, "in a folder that is restricted by its name"),
    ("live/a/x.yml", True, "in all of a folder"),
    ("k7y", True, "a set of characters"),
    (".npmrc", True, "secret by nature"),
    ("a/b/c/d/e/.env", False, "too deep to be looked for"),
    ("node_modules/x/.env", False, "of others"),
    ("dist/.env", False, "generated"),
    ("src/settings.py", False, "nothing says that it holds secrets"),
    (".env.example", False, "an example"),
    ("x.pem", True, "restricted, whatever it holds"),
]


@pytest.mark.parametrize(("name", "read", "why"), PLACES, ids=[f"{row[0]}: {row[2]}" for row in PLACES])
def test_which_files_are_read(root, name, read, why):
    _put(root, name)
    assert bool(_whats(root)) is read


def test_it_says_where_a_value_is_from(root):
    _put(root, "apps/web/.env")
    assert _whats(root) == ["the value of A_TOKEN in apps/web/.env"]
    known = collect(root, POLICY, {"GITHUB_TOKEN": OTHER})
    assert [leak.what for leak in known.find(OTHER)] == ["the value of the variable GITHUB_TOKEN"]


def test_what_the_watcher_knows_is_read_too(root):
    path = _put(root, "a/b/c/d/e/.env")
    assert not _whats(root) and _whats(root, restricted=[str(path), "/nowhere/.env"])


# --- what is no secret ---


def test_what_is_committed_is_known_to_all(root):
    _put(root, ".env")
    assert _whats(root, base="HEAD"), "there is no commit yet"
    _put(root, "compose.yml", f"token: {CHANCE}\n")
    _git(root, "add", "compose.yml")
    assert _whats(root), "staged is not committed"
    _git(root, "commit", "-q", "-m", "x")
    assert not _whats(root) and _whats(root, base="") and _whats(root, base="no-such-branch")


def test_only_the_base_counts(root):
    _put(root, "README.md", "x\n")
    _commit(root)
    start = _git(root, "rev-parse", "HEAD").decode().strip()
    _put(root, ".env")
    _put(root, "leak.txt", CHANCE)
    _commit(root)
    assert _whats(root, base=start) and not _whats(root)


def test_a_value_may_begin_as_an_option_does(root):
    value = "--" + CHANCE + " x*.[a"
    _put(root, ".env", f"A_PASSWORD='-{CHANCE}*.[ab'\n")
    _put(root, "a.txt", f"-{CHANCE}*.[ab")
    assert _whats(root, f"-{CHANCE}*.[ab") and not _whats(root, value)
    _commit(root)
    assert not _whats(root, f"-{CHANCE}*.[ab")


def test_an_example_takes_back_what_is_weak_and_no_more(root):
    _put(root, ".env", f"DB_PASSWORD=Summer2031!\nA_TOKEN={CHANCE}\n")
    text = f"Summer2031! {CHANCE}"
    assert len(_whats(root, text)) == 2
    _put(root, ".env.example", f"DB_PASSWORD=Summer2031!\nA_TOKEN={CHANCE}\n")
    assert _whats(root, text) == ["the value of A_TOKEN in .env"], "a real secret in an example is a leak"


# --- what the person lets in ---

CERTS = Policy(Paths((*POLICY.paths.restricted, "!tests/certs/*.pem")))
LET_IN = [
    ("tests/certs/a.pem", CERTS, False, "restricted, and taken back by the person"),
    ("tests/b.pem", CERTS, True, "another one"),
    ("tests/certs/a.key", Policy(Paths(("!tests/certs/",))), False, "a key that nobody restricts, in a folder let in"),
    ("tests/certs/a.key", Policy(project=Paths(("!tests/certs/",))), True, "a project only tightens"),
    ("tests/certs/a.pem", Policy(Paths(("!*.pem", "*.pem"))), True, "the last pattern counts"),
]


@pytest.mark.parametrize(("name", "policy", "read", "why"), LET_IN, ids=[f"{row[0]}: {row[3]}" for row in LET_IN])
def test_a_file_that_the_person_lets_in_is_no_source(root, name, policy, read, why):
    _put(root, name)
    assert bool(collect(root, policy, {}).find(CHANCE)) is read


def test_what_git_has_in_its_index_and_nobody_restricts_is_no_source(root):
    _put(root, "a.key")
    _put(root, ".env", f"A_TOKEN={OTHER}\n")
    _git(root, "commit", "-q", "--allow-empty", "-m", "x")
    start = _git(root, "rev-parse", "HEAD").decode().strip()
    assert _whats(root)
    _git(root, "add", "-f", "a.key", ".env")
    assert not _whats(root)
    assert _whats(root, base=start), "in a session it may be the agent who staged it"
    assert _whats(root, OTHER), "what is restricted stays secret"


def test_a_value_is_none_in_the_file_that_it_is_from(root):
    _put(root, "a.key")
    _put(root, "apps/web/.env")
    known = collect(root, POLICY, {})
    assert not known.find(CHANCE, "a.key") and not known.find(CHANCE, "apps/web/.env") and known.find(CHANCE, "b.py")


# --- what is planted ---


def _device(root):
    Path(root, ".env").symlink_to("/dev/zero")


def _huge(root):
    _put(root, ".env", f"A_TOKEN={CHANCE}\n" + "#" * MAX_BYTES)


def _sparse(root):
    os.truncate(_put(root, ".env"), 1 << 40)


def _loop(root):
    Path(root, ".env").symlink_to(".env")
    Path(root, "secrets").symlink_to(".")


PLANTED = [
    (_device, "a link to a device"),
    (lambda root: os.mkfifo(root / ".env"), "a pipe that nobody writes"),
    (_huge, "a large file"),
    (_sparse, "an enormous one"),
    (_loop, "links in a circle"),
    (lambda root: (root / ".env").mkdir(), "a folder"),
    (lambda root: (root / ".env").write_bytes(b"A_TOKEN=\xff\0"), "no text"),
    (lambda root: _put(root, ".env").chmod(0), "what may not be read, if not by root"),
    (lambda root: os.close(os.open(os.fsencode(root) + b"/.env.\xff\n", os.O_CREAT)), "a name that is no text"),
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("plant", "why"), PLANTED, ids=[row[1] for row in PLANTED])
def test_what_is_planted_does_no_harm(root, plant, why):
    plant(root)
    assert "planted" not in repr(collect(root, POLICY, {}))


def test_a_link_to_a_file_is_followed(root, tmp_path_factory):
    elsewhere = _put(tmp_path_factory.mktemp("shared"), "production.env")
    (root / ".env").symlink_to(elsewhere)
    assert _whats(root) == ["the value of A_TOKEN in .env"]


def test_it_is_bounded(root):
    for n in range(FILES + 20):
        _put(root, f"secrets/{n:03}", f"A_TOKEN={CHANCE}{n}\n")
    assert len(collect(root, POLICY, {})) == FILES


def test_of_many_files_those_of_secrets_come_first(root):
    for n in range(FILES + 20):
        _put(root, f"secrets/{n:03}", f"A_TOKEN={OTHER}{n}\n")
    _put(root, "z/.env")
    assert _whats(root)


def test_no_repository_is_none(tmp_path):
    _put(tmp_path, ".env")
    assert _whats(tmp_path) and not _whats(tmp_path / "nowhere")


# --- again and again ---


def test_a_change_is_seen_at_once(root):
    cache = Cache()
    assert not _whats(root, cached=cache)
    path = _put(root, ".env")
    assert _whats(root, cached=cache)
    path.write_text(path.read_text().replace(CHANCE, OTHER))
    assert not _whats(root, cached=cache) and _whats(root, OTHER, cached=cache)
    path.unlink()
    assert not _whats(root, OTHER, cached=cache)


def test_nothing_is_read_twice(root, monkeypatch):
    _put(root, ".env")
    _put(root, "a/b/.env", f"B_TOKEN={OTHER}\n")
    time.sleep(0.1)  # until the change times are old enough to be believed
    cache = Cache()
    first = collect(root, POLICY, {}, cached=cache)
    monkeypatch.setattr(user_secret_files, "_read", lambda _path: pytest.fail("read again"))
    monkeypatch.setattr(os, "scandir", lambda _path: pytest.fail("looked into again"))
    assert collect(root, POLICY, {}, cached=cache) is first and len(first) == 2
    monkeypatch.undo()
    assert collect(root, POLICY, {"A_TOKEN": CHANCE + "x"}, cached=cache) is not first
    assert CHANCE not in repr(cache)


def test_another_policy_is_seen(root):
    _put(root, "other.txt")
    time.sleep(0.1)  # as above
    cache = Cache()
    assert not _whats(root, cached=cache)
    assert collect(root, Policy(Paths(("other.txt",))), {}, cached=cache).find(CHANCE)


def test_a_second_look_is_quick(root):
    for n in range(200):
        _put(root, f"src/{n % 20}/{n}.py", "")
    _put(root, ".env")
    time.sleep(0.1)  # as above
    cache = Cache()
    collect(root, POLICY, os.environ, cached=cache)
    took = []
    for _ in range(5):
        began = time.perf_counter()
        collect(root, POLICY, os.environ, cached=cache)
        took.append(time.perf_counter() - began)
    assert min(took) < 0.01


def test_no_value_is_in_an_argument_or_a_log(root, monkeypatch, caplog):
    _put(root, ".env")
    _commit(root)
    seen = []
    start_git = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: seen.append((a, k["env"])) or start_git(*a, **k))
    with caplog.at_level(logging.DEBUG):
        assert not _whats(root)
    assert seen and CHANCE not in repr(seen) + caplog.text


def test_git_is_asked_once_about_a_value_however_often_it_stands(root, monkeypatch):
    _put(root, ".env")
    _git(root, "commit", "-q", "--allow-empty", "-m", "x")
    _put(root, "b.env", f"B_TOKEN={OTHER}\n")
    known, seen, start_git = collect(root, POLICY, {}), [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: seen.append(a) or start_git(*a, **k))
    for _ in range(3):
        assert len(known.find(f"{CHANCE} {OTHER} " * 100)) == 200
    assert len(seen) == 1


def test_nobody_waits_for_git_and_its_answer_counts_when_it_is_there(root, monkeypatch):
    _put(root, ".env")
    _commit(root)
    start, start_git, go = _git(root, "rev-parse", "HEAD").decode().strip(), subprocess.Popen, threading.Event()
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: (go.wait(20), start_git(*a, **k))[1])
    known = collect(root, POLICY, {}, base=start, patience=0.05)
    began = time.monotonic()
    assert all(known.find(CHANCE) for _ in range(20)), "until then it is a secret"
    assert time.monotonic() - began < limit(1), "not each time anew"
    go.set()
    deadline = time.monotonic() + limit(20)
    while known.find(CHANCE) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not known.find(CHANCE)
