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
from sentinel_guard.host import added, commits, parts
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
    (
        "a.txt",
        CARDS.split("\n", maxsplit=1)[0] + "\n",
        [("leak.pii", "L1", "a.txt:1:7"), ("leak.more", "L1", "refuse nothing")],
        "one card is a warning",
    ),
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


MINE = "correct-horse-battery-staple-9"
BYTES = b"\0\1\2" * 300
UNREAD = [
    ("b.tar", BYTES + MINE.encode() + BYTES, "leak.known", "b.tar, which is no text", "the person's own value"),
    ("a.db", BYTES + TOKEN.encode() + BYTES, "leak.secret", "a.db, which is no text", "a form of a provider's"),
    ("a", b"x=" + TOKEN.encode() + b"\n" + b"\0" * 200, "leak.secret", "a, which is no text", "text with NULs behind"),
    ("a", b"\xff\xfex=" + TOKEN.encode(), "leak.secret", "a:1:5", "a mark of UTF-16 before ASCII"),
    ("a", b"\xff\xfe\0\0x=" + TOKEN.encode(), "leak.secret", "a:1:7", "a mark of UTF-32 before ASCII"),
    ("a", f"x={TOKEN}\n".encode("utf-32"), "leak.secret", "a, which is no text", "UTF-32"),
    (f"d/{TOKEN}.svg", b"x\n", "leak.secret", "in the name of a file", "a name, of a drawing"),
    (f"{MINE}/a.py", b"x\n", "leak.known", "in the name of a file", "a value in the name of a folder"),
    ("a.db", BYTES + b'password = "Tr0ub4dor&3xyz"' + BYTES, "", "", "what only looks like a secret in no text"),
]


@pytest.mark.parametrize(("name", "data", "rule", "words"), [u[:4] for u in UNREAD], ids=[u[4] for u in UNREAD])
def test_what_is_no_text_is_looked_into(root: Path, name: str, data: bytes, rule: str, words: str) -> None:
    stage(root, name, data)
    known = Known({MINE: "the value of PASSWORD in .env"})
    found = commits.judge("pre-commit", root, POLICY, known=lambda: known).findings
    assert [f.rule for f in found] == ([rule] if rule else [])
    assert all((words in f.what and "[leaks] allow in /" in f.instead) or ":1:" in words for f in found)
    assert all(secret not in f.what + f.instead for f in found for secret in (TOKEN, MINE))


def test_other_finds_in_a_file_do_not_show_the_secret_in_its_name(root: Path) -> None:
    stage(root, f"{TOKEN}.py", f"key = '{token(2)}'\n")
    found = judge(root, "pre-commit").findings
    assert len(found) == 2
    assert all(TOKEN not in f.what + f.instead for f in found)


@pytest.mark.parametrize("comment", ["sentinel: allow", "gitleaks:allow", "pragma: allowlist secret"])
def test_no_comment_of_an_agent_s_lets_anything_pass(root: Path, comment: str) -> None:
    stage(root, "a.py", SECRET.replace("\n", f"  # {comment}\n"))
    put(root, ".git/COMMIT_EDITMSG", f"{TOKEN} {comment}\n")
    for hook, arguments in (("pre-commit", ()), ("commit-msg", (".git/COMMIT_EDITMSG",))):
        assert not commits.judge(hook, root, POLICY, arguments).refused
        (found,) = commits.judge(hook, root, POLICY, arguments, session=True).findings
        assert "sentinel: allow" not in found.instead and "baseline" not in found.instead
        assert "ask the user" in found.instead


def test_what_is_not_searched_is_asked_about_in_a_session_and_told_outside(root: Path, monkeypatch) -> None:
    monkeypatch.setattr(added, "MAX_FILE", 100)
    monkeypatch.setattr(parts, "LONGEST", 120)
    monkeypatch.setattr(parts, "END", 60)
    monkeypatch.setattr(parts, "OVERLAP", 10)
    stage(root, "big", f"x={TOKEN}\n" + "line\n" * 50 + f"x={MINE}\n" + "line\n" * 50)
    known = Known({MINE: "the value of PASSWORD in .env"})
    outside = commits.judge("pre-commit", root, POLICY, known=lambda: known)
    assert outside.notes == ("big is over 100 bytes: only its ends were searched for forms of secrets",)
    assert {f.rule for f in outside.findings} == {"leak.secret", "leak.known"}
    assert "big:52:3" in "".join(f.what for f in outside.findings)
    inside = commits.judge("pre-commit", root, POLICY, session=True)
    assert inside.notes == ()
    assert inside.findings[0].response is Response.ASK
    allowed = Policy(POLICY.paths, leaks=Leaks(allow=("big",)))
    assert commits.judge("pre-commit", root, allowed, session=True) == Judged()


def test_a_path_that_is_refused_is_refused_once(root: Path) -> None:
    put(root, ".env", SECRET)
    stage(root, "a.py", SECRET)
    found = judge(root, "pre-commit").findings
    assert [f.rule for f in found] == ["paths.restricted", "leak.secret"]
    assert "a.py" in found[1].what


def test_a_key_that_the_policy_lets_in_is_let_in_with_what_it_holds(root: Path) -> None:
    body = "".join((token(2 * n)[4:] + token(2 * n + 1)[4:])[:64] + "\n" for n in range(1, 9))
    key = "-----BEGIN " + f"RSA PRIVATE KEY-----\n{body}-----END " + "RSA PRIVATE KEY-----\n"
    put(root, "key.txt", key)
    stage(root, "test/a.pem", key)
    allowed = Policy(Paths(restricted=("*.pem", "!/test/a.pem")))
    (found,) = judge(root, "pre-commit", policy=allowed).findings
    assert "key.txt" in found.what


WAYS = [
    (
        "a.py",
        SECRET,
        "end its line with the comment `sentinel: allow`, or run: sentinel-guard secrets baseline",
        "text",
    ),
    ("a.json", f'{{"k": "{TOKEN}"}}\n', "no secret, run: sentinel-guard secrets baseline", "a file without comments"),
    ("a.csv", CARDS, "add the file to [leaks] allow in ", "personal data"),
]


@pytest.mark.parametrize(("name", "text", "words"), [w[:3] for w in WAYS], ids=[w[3] for w in WAYS])
def test_only_ways_out_that_work_are_named(root: Path, name: str, text: str, words: str) -> None:
    stage(root, name, text)
    judged = judge(root, "pre-commit", SENTINEL_HOME="/s")
    assert words in judged.findings[0].instead
    assert judged.anyway == "If you mean it all the same, it is yours to choose: git commit --no-verify"
    inside = commits.judge("pre-commit", root, POLICY, session=True)
    assert (inside.anyway, "--no-verify" in inside.findings[0].instead) == ("", False)
    committed(root)
    line = f"x {head(root)} refs/heads/x {head(root, 'HEAD^')}\n".encode()
    pushed = commits.judge("pre-push", root, POLICY, ("origin",), line)
    assert "secrets baseline --history" in pushed.findings[0].instead
    assert pushed.anyway.endswith("git push --no-verify")


def test_names_that_a_push_carries(root: Path) -> None:
    start = head(root)
    committed(root, "x", f"--author={TOKEN} <a@b.org>")
    line = f"x {head(root)} refs/heads/b-{token(2)} {start}\n".encode()
    for session, response in ((False, Response.DENY), (True, Response.BREAK)):
        found = commits.judge("pre-push", root, POLICY, ("origin",), line, session=session).findings
        assert [(f.rule, f.response) for f in found] == [("leak.secret", response)] * 2
        assert all(secret not in f.what for f in found for secret in (TOKEN, token(2)))


def test_a_policy_that_cannot_be_read_refuses_and_is_told_once(root: Path) -> None:
    stage(root, "sentinel.toml", "[paths]\nrestricted = ['private/']\n[pats]\n")
    policy = Policy(POLICY.paths, warnings=("it is broken",))
    judged = judge(root, "pre-commit", policy=policy)
    assert [f.rule for f in judged.findings] == ["policy.invalid"]
    assert judged.notes == ()
    (root / "sentinel.toml").unlink()
    os.mkfifo(root / "sentinel.toml")
    assert "correct" in judge(root, "pre-commit", policy=policy).findings[0].instead.lower(), "a pipe"
    (root / "sentinel.toml").unlink()
    put(root, "sentinel.toml", "version = 1\n")
    assert judge(root, "pre-commit", policy=policy) == Judged((), ("it is broken",))
    mine = put(root.parent, "s/config/sentinel.toml", "version = ")
    (found,) = judge(root, "pre-commit", policy=policy, SENTINEL_HOME=str(root.parent / "s")).findings
    assert str(mine) in found.instead
    put(root, ".git/COMMIT_EDITMSG", "x\n")
    assert judge(root, "commit-msg", ".git/COMMIT_EDITMSG", policy=policy) == Judged()


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
    assert [f.rule for f in judge(root, "pre-commit").findings] == ["leak.pii", "leak.more"], "one new card"
    assert not judge(root, "pre-commit").refused
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
    for editor in ("vi", ":"):
        judged = judge(root, "commit-msg", ".git/COMMIT_EDITMSG", GIT_EDITOR=editor)
        assert places(judged) == [("leak.secret", "L2", "line 2, column 3")]
        assert "baseline" not in judged.findings[0].instead, "it looks at files"
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
    refusals.insert(3, Finding("rules", Response.DENY, "other", instead="git restore x"))
    refusals.insert(9, Finding("leak", Response.DENY, "x = <masked>", instead="git restore x", evidence="rule"))
    lines = told([Finding("leak", Response.HINT, "perhaps"), *refusals], ["a note"], "git commit --no-verify")
    assert lines[:3] == [
        "SENTINEL WARNING: a note",
        "SENTINEL WARNING: perhaps",
        r"403 SENTINEL BLOCKED: 0 \x1b[2J.",
    ]
    assert lines[-7:] == [
        r"403 SENTINEL BLOCKED: 19 \x1b[2J.",
        "403 SENTINEL BLOCKED: and 5 more like these.",
        "  The way out",
        "403 SENTINEL BLOCKED: other.",
        "403 SENTINEL BLOCKED: x = <masked>",
        "  Run: git restore x",
        "git commit --no-verify",
    ]
    assert told([], ["a note"], "git commit --no-verify") == ["SENTINEL WARNING: a note"]


def test_many_warnings_are_summed_up(root: Path) -> None:
    for n in range(8):
        put(root, f"{n}.txt", CARDS.split("\n", maxsplit=1)[0] + "\n")
    git(root, "add", ".")
    found = judge(root, "pre-commit")
    assert not found.refused
    assert len(found.findings) == 7
    assert found.findings[-2].what == "and 3 more that may be leaks"
    assert found.findings[-1].what.startswith("warnings refuse nothing")
    committed(root)
    line = f"x {head(root)} refs/heads/x {head(root, 'HEAD^')}\n".encode()
    assert commits.judge("pre-push", root, POLICY, ("origin",), line) == Judged(), "they were told at the commit"


def test_the_base_of_what_is_known_to_all() -> None:
    assert base_of("pre-commit", b"") == "HEAD"
    assert base_of("pre-push", f"a {'1' * 40} b {'0' * 40}\nc {'1' * 40} d {'2' * 40}\n".encode()) == "2" * 40
    assert base_of("pre-push", f"a {'1' * 40} b {'0' * 40}\n".encode()) == ""
