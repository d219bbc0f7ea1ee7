"""judge: the hooks of the pre-commit framework, the environment as a value, and what is let pass."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from sentinel_guard.core.leaks.known import Known
from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.policy import Leaks, Paths, Policy
from sentinel_guard.errors import SentinelError
from sentinel_guard.host import commits
from sentinel_guard.host.hookcase import Judged, base_of, told
from tests.gitrepo import TOKEN, card, committed, git, head, made, put, token

POLICY = Policy(Paths(restricted=(".env", "*.pem", "secrets/")))
SECRET = f"key = '{TOKEN}'\n"
CARDS = "".join(f"card: {card(n)}\n" for n in range(3))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made(tmp_path / "repo")


def judge(root: Path, hook: str, *arguments: str, policy: Policy = POLICY, **environ: str) -> Judged:
    return commits.judge(hook, root, policy, arguments, environ={**os.environ, **environ})


def places(judged: Judged) -> list[tuple[str, str, str]]:
    """Rule, level and place of each finding."""
    found = [(f, re.search(r" in (\S+:\d+:\d+|line \d+, column \d+)", f.what)) for f in judged.findings]
    return [(f.rule, f.response.level, at[1] if at else "") for f, at in found]


def stage(root: Path, name: str, text: str | bytes) -> None:
    put(root, name, text)
    git(root, "add", "-f", "-A", ".")


STAGED = [
    ("a.py", SECRET, [("leak.secret", "L2", "a.py:1:8")], "a secret"),
    ("a b.py", "\n" + SECRET, [("leak.secret", "L2", "a b.py")], "a name with a space"),
    (".gitattributes", "a.txt -diff\n" + SECRET, [("leak.secret", "L2", ".gitattributes:2:8")], "attributes"),
    ("a.py", SECRET.replace("\n", "  # sentinel: allow\n"), [], "a comment lets it pass"),
    ("a.csv", CARDS, [("leak.pii", "L2", "a.csv:1:7")], "personal data in bulk, told once"),
    ("a.txt", CARDS.split("\n", maxsplit=1)[0] + "\n", [("leak.pii", "L1", "a.txt:1:7")], "one card is a warning"),
    ("a.txt", "me@company.org\n", [], "one address is nothing"),
    (".env", "A=1\n", [("paths.restricted", "L2", "")], "a restricted path"),
    ("fixtures/a.py", SECRET, [], "a path that the policy lets pass"),
]


@pytest.mark.parametrize(("name", "text", "expected"), [s[:3] for s in STAGED], ids=[s[3] for s in STAGED])
def test_what_is_staged(root: Path, name: str, text: str, expected: list[tuple[str, str, str]]) -> None:
    stage(root, name, text)
    policy = Policy(POLICY.paths, leaks=Leaks(allow=("fixtures/",)))
    found = judge(root, "pre-commit", policy=policy)
    assert [f[:2] for f in places(found)] == [e[:2] for e in expected]
    assert all(e[2] in f.what for f, e in zip(found.findings, expected, strict=True))


def test_a_secret_that_was_there_is_no_news(root: Path) -> None:
    put(root, "a.py", SECRET)
    committed(root)
    stage(root, "a.py", SECRET + "more = 1\n")
    assert judge(root, "pre-commit").findings == ()
    stage(root, "a.py", SECRET.replace("'", '"'))
    assert places(judge(root, "pre-commit")) == [("leak.secret", "L2", "a.py:1:8")]


def test_personal_data_beside_new_lines_counts_for_nothing(root: Path) -> None:
    stage(root, "a.csv", CARDS)
    committed(root)
    stage(root, "a.csv", CARDS + "no card\n")
    assert judge(root, "pre-commit") == Judged()
    stage(root, "a.csv", CARDS + f"card: {card(7)}\n")
    assert [f.response for f in judge(root, "pre-commit").findings] == [Response.HINT], "one new card"
    stage(root, "a.csv", CARDS + "".join(f"card: {card(n)}\n" for n in range(7, 12)))
    assert [f.response for f in judge(root, "pre-commit").findings] == [Response.DENY]


def test_a_key_that_is_new_between_its_old_first_and_last_line(root: Path) -> None:
    frame = ("-----BEGIN " + "RSA PRIVATE KEY-----\n", "-----END " + "RSA PRIVATE KEY-----\n")
    body = ["".join(token(n)[4:] for n in (2 * m, 2 * m + 1))[:64] + "\n" for m in range(1, 9)]
    stage(root, "k.txt", frame[0] + "".join(body[:4]) + frame[1])
    committed(root)
    stage(root, "k.txt", frame[0] + "".join(body[4:]) + frame[1])
    assert [f.rule for f in judge(root, "pre-commit").findings] == ["leak.secret"]


def test_the_addresses_in_messages_are_there_to_be_read(root: Path) -> None:
    start = head(root)
    for n in range(8):
        put(root, "a.txt", f"{n}\n")
        committed(root, "x\n\n" + "".join(f"Signed-off-by: P <person{n}{m}@company.org>\n" for m in range(8)))
    line = f"x {head(root)} refs/heads/x {start}\n".encode()
    assert commits.judge("pre-push", root, POLICY, ("origin",), line) == Judged()


def test_values_of_the_person_s_own_are_found_whatever_a_comment_says(root: Path) -> None:
    value = "correct-horse-battery-staple-9"
    known = Known({value: "the value of PASSWORD in .env"})
    stage(root, "a.py", f"x = '{value}'  # sentinel: allow\n")
    (found,) = commits.judge("pre-commit", root, POLICY, known=lambda: known).findings
    assert (found.rule, "the value of PASSWORD in .env" in found.what, value in found.what) == (
        "leak.known",
        True,
        False,
    )


def test_known_values_are_asked_for_only_where_there_is_a_text(root: Path) -> None:
    git(root, "rm", "-q", "README.md")

    def known() -> Known:
        raise AssertionError

    assert commits.judge("pre-commit", root, POLICY, known=known) == Judged()


def test_the_hooks_of_the_framework_each_do_their_part(root: Path) -> None:
    stage(root, ".env", SECRET)
    assert places(judge(root, "restricted-paths")) == [("paths.restricted", "L2", "")]
    assert places(judge(root, "secrets")) == [("leak.secret", "L2", ".env:1:8")]


def test_named_files(root: Path) -> None:
    put(root, "old.py", SECRET)
    put(root, "k.pem")
    put(root, "bulk.pem")
    committed(root)
    stage(root, "new.py", SECRET)
    assert places(judge(root, "secrets", "new.py")) == [("leak.secret", "L2", "new.py:1:8")]
    assert places(judge(root, "secrets", "README.md")) == []
    everything = judge(root, "secrets", "README.md", "new.py", "old.py", "k.pem")
    assert [f[2] for f in places(everything)] == ["new.py:1:8", "old.py:1:8"]
    assert judge(root, "restricted-paths", "new.py").findings == ()
    found = judge(root, "restricted-paths", "new.py", "k.pem", "README.md").findings
    assert [f.what for f in found] == ["the repository holds k.pem, which is restricted (pattern *.pem)"]


def test_a_range_as_in_ci(root: Path) -> None:
    start = head(root)
    put(root, "a.py", SECRET)
    put(root, "k.pem")
    added = committed(root)[:12]
    put(root, "a.py", "")
    (root / "k.pem").unlink()
    gone = committed(root, f"without {token(2)}")[:12]
    ends = {"PRE_COMMIT_FROM_REF": start, "PRE_COMMIT_TO_REF": "HEAD"}
    assert [f.what.split(",")[0] for f in judge(root, "restricted-paths", **ends).findings] == [
        f"commit {gone} deletes k.pem",
        f"commit {added} adds k.pem",
    ]
    found = [f.what.split(" in ")[0] for f in judge(root, "secrets", **ends).findings]
    assert found == [
        f"commit {added} adds a GitHub personal access token",
        f"the message of {gone} holds a GitHub personal access token",
    ]
    git(root, "update-ref", "refs/remotes/origin/x", "HEAD")
    assert len(judge(root, "secrets", **ends).findings) == 2, "what is asked about is on a remote already"
    with pytest.raises(SentinelError, match="fetch-depth: 0"):
        judge(root, "secrets", PRE_COMMIT_FROM_REF="0" * 39 + "1", PRE_COMMIT_TO_REF="HEAD")


def test_what_pre_commit_excludes_is_left_out(root: Path) -> None:
    start = head(root)
    for name in ("a.py", "b.py", "gone.py"):
        put(root, name, SECRET)
    committed(root)
    (root / "gone.py").unlink()
    committed(root)
    ends = {"PRE_COMMIT": "1", "PRE_COMMIT_FROM_REF": start, "PRE_COMMIT_TO_REF": "HEAD"}
    assert [f[2] for f in places(judge(root, "secrets", "b.py", **ends))] == ["b.py:1:8", "gone.py:1:8"]
    stage(root, "c.py", SECRET)
    assert judge(root, "secrets", PRE_COMMIT="1").findings == ()
    assert len(judge(root, "secrets", "c.py", PRE_COMMIT="1").findings) == 1
    assert len(judge(root, "secrets").findings) == 1


def test_a_message(root: Path) -> None:
    put(root, ".git/COMMIT_EDITMSG", f"a\n# {TOKEN}\n")
    assert judge(root, "message", ".git/COMMIT_EDITMSG", GIT_EDITOR="vi").findings == ()
    assert places(judge(root, "commit-msg", ".git/COMMIT_EDITMSG", GIT_EDITOR=":")) == [
        ("leak.secret", "L2", "line 2, column 3")
    ]
    for arguments, words in (((), "needs the message's file"), (("none",), "Cannot read the message")):
        with pytest.raises(SentinelError, match=words):
            judge(root, "message", *arguments)


POLICIES = [
    (None, None, "", "no policy at all"),
    (None, "version = 1\n", "", "a good one that is not staged"),
    (None, "[pats]\n", "did you mean paths?", "a bad one that is not staged"),
    ("version = 1\n", "[pats]\n", "", "staged and good; what is on disk does not count"),
    ("[pats]\n", "version = 1\n", "did you mean paths?", "staged and bad"),
    (b"\xff", None, "not UTF-8", "no text"),
    ("[[rule]\n", None, "not TOML", "no TOML"),
]


@pytest.mark.parametrize(("held", "disk", "words"), [p[:3] for p in POLICIES], ids=[p[3] for p in POLICIES])
def test_the_policy_file(root: Path, held, disk, words: str) -> None:
    if held:
        stage(root, "sentinel.toml", held)
    if disk:
        put(root, "sentinel.toml", disk)
    found = judge(root, "policy").findings
    assert bool(found) == bool(words)
    assert all(words in f.what and f.rule == "policy.invalid" for f in found)


def test_the_environment_is_a_value(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon judges for a hook that runs elsewhere: nothing of its own environment counts."""
    other = made(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    monkeypatch.chdir(other)
    plain = {k: v for k, v in os.environ.items() if not k.startswith("GIT_DIR") and k != "GIT_INDEX_FILE"}
    index = {"GIT_INDEX_FILE": str(root / ".git/private")}
    (root / ".env").write_text("A=1\n")
    git(root, "add", "-f", ".env", GIT_DIR=str(root / ".git"), **index)
    assert commits.judge("pre-commit", root, POLICY, environ=plain).findings == ()
    assert len(commits.judge("pre-commit", root, POLICY, environ=plain | index).findings) == 1


def test_a_bare_repository_has_pushes_and_no_commits(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(root), "bare.git")
    line = f"x {head(root)} refs/heads/main {'0' * 40}\n".encode()
    assert commits.judge("pre-push", tmp_path / "bare.git", POLICY, ("origin",), line) == Judged()
    with pytest.raises(SentinelError, match="not in a git work tree"):
        judge(tmp_path / "bare.git", "pre-commit")


def test_the_baseline_lets_pass_what_it_names_and_no_value_of_one_s_own(root: Path) -> None:
    from sentinel_guard.core.leaks.base import Piece
    from sentinel_guard.core.leaks.baseline import NAME, Baseline
    from sentinel_guard.core.leaks.review import review
    from sentinel_guard.host import files

    hits = review([Piece(SECRET, "a.py")]).hits
    update = Baseline(b"s" * 16).updated(hits)
    document = update.baseline.document()
    put(root, NAME, files.toml_tables({"baseline": document["baseline"], "find": document["find"]}))
    stage(root, "a.py", SECRET)
    assert judge(root, "pre-commit").findings == ()
    stage(root, "a.py", f"key = '{token(3)}'\n")
    assert judge(root, "pre-commit").refused
    put(root, NAME, "nonsense\n")
    with pytest.raises(SentinelError, match="not TOML"):
        judge(root, "pre-commit")


def test_what_is_told_is_short() -> None:
    refusals = [Finding("leak", Response.DENY, f"{n} \x1b[2J", instead="the way out") for n in range(25)]
    lines = told([Finding("leak", Response.HINT, "perhaps"), *refusals], ["a note"])
    assert lines[:3] == [
        "SENTINEL WARNING: a note",
        "SENTINEL WARNING: perhaps",
        r"403 SENTINEL BLOCKED: 0 \x1b[2J.",
    ]
    assert lines[-3:] == [r"403 SENTINEL BLOCKED: 19 \x1b[2J.", "  the way out", "403 SENTINEL BLOCKED: and 5 more."]
    assert lines.count("  the way out") == 1


def test_many_warnings_are_summed_up(root: Path) -> None:
    for n in range(8):
        put(root, f"{n}.txt", CARDS.split("\n", maxsplit=1)[0] + "\n")
    git(root, "add", ".")
    found = judge(root, "pre-commit")
    assert not found.refused
    assert len(found.findings) == 6
    assert found.findings[-1].what == "and 3 more that may be leaks"


def test_the_base_of_what_is_known_to_all() -> None:
    assert base_of("pre-commit", b"") == "HEAD"
    assert base_of("pre-push", f"a {'1' * 40} b {'0' * 40}\nc {'1' * 40} d {'2' * 40}\n".encode()) == "2" * 40
    assert base_of("pre-push", f"a {'1' * 40} b {'0' * 40}\n".encode()) == ""
