"""judge: what a commit adds, and what is let pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentinel_guard.core.model import Response
from sentinel_guard.core.policy.policy import Leaks, Paths, Policy
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.githooks import judge_hook
from sentinel_guard.host.githooks.hook_request import Judged
from sentinel_guard.host.secrets import added_lines, text_chunks
from tests.support.hook_judgement import CARDS, POLICY, SECRET, judge, places, stage
from tests.support.hook_repositories import TOKEN, card, committed, git, put, token

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
    known = UserSecrets({MINE: "the value of PASSWORD in .env"})
    found = judge_hook.judge("pre-commit", root, POLICY, known=lambda: known).findings
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
        assert not judge_hook.judge(hook, root, POLICY, arguments).refused
        (found,) = judge_hook.judge(hook, root, POLICY, arguments, session=True).findings
        assert "sentinel: allow" not in found.instead and "baseline" not in found.instead
        assert "ask the user" in found.instead


def test_a_line_of_scissors_hides_nothing_of_an_agent_s_message(root: Path) -> None:
    """``git commit -e --cleanup=verbatim -F m`` keeps what is below it."""
    put(root, "m", f"a\n# ------------------------ >8 ------------------------\n{TOKEN}\n")
    for session in (False, True):
        judged = judge_hook.judge("commit-msg", root, POLICY, ("m",), environ={}, session=session)
        assert len(judged.findings) == session


def test_what_is_not_searched_is_asked_about_in_a_session_and_told_outside(root: Path, monkeypatch) -> None:
    monkeypatch.setattr(added_lines, "MAX_FILE", 100)
    monkeypatch.setattr(text_chunks, "LONGEST", 120)
    monkeypatch.setattr(text_chunks, "END", 60)
    monkeypatch.setattr(text_chunks, "OVERLAP", 10)
    stage(root, "big", f"x={TOKEN}\n" + "line\n" * 50 + f"x={MINE}\n" + "line\n" * 50)
    known = UserSecrets({MINE: "the value of PASSWORD in .env"})
    outside = judge_hook.judge("pre-commit", root, POLICY, known=lambda: known)
    assert outside.notes == ("big is over 100 bytes: only its ends were searched for forms of secrets",)
    assert {f.rule for f in outside.findings} == {"leak.secret", "leak.known"}
    assert "big:52:3" in "".join(f.what for f in outside.findings)
    inside = judge_hook.judge("pre-commit", root, POLICY, session=True)
    assert inside.notes == ()
    assert inside.findings[0].response is Response.ASK
    allowed = Policy(POLICY.paths, leaks=Leaks(allow=("big",)))
    assert judge_hook.judge("pre-commit", root, allowed, session=True) == Judged()


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


def test_values_of_the_person_s_own_are_found_whatever_a_comment_says(root: Path) -> None:
    value = "correct-horse-battery-staple-9"
    known = UserSecrets({value: "the value of PASSWORD in .env"})
    stage(root, "a.py", f"x = '{value}'  # sentinel: allow\n")
    (found,) = judge_hook.judge("pre-commit", root, POLICY, known=lambda: known).findings
    assert (found.rule, "the value of PASSWORD in .env" in found.what, value in found.what) == (
        "leak.known",
        True,
        False,
    )


def test_known_values_are_asked_for_only_where_there_is_a_text(root: Path) -> None:
    git(root, "rm", "-q", "README.md")

    def known() -> UserSecrets:
        raise AssertionError

    assert judge_hook.judge("pre-commit", root, POLICY, known=known) == Judged()


def test_the_baseline_lets_pass_what_it_names_and_no_value_of_one_s_own(root: Path) -> None:
    from sentinel_guard.core.secrets.allowlisted_findings import NAME, Allowlist
    from sentinel_guard.core.secrets.model import Piece
    from sentinel_guard.core.secrets.scan_outgoing_content import scan_pieces
    from sentinel_guard.host.machine import atomic_files

    hits = scan_pieces([Piece(SECRET, "a.py")]).hits
    update = Allowlist(b"s" * 16).updated(hits)
    document = update.baseline.document()
    put(root, NAME, atomic_files.toml_tables({"baseline": document["baseline"], "find": document["find"]}))
    stage(root, "a.py", SECRET)
    assert judge(root, "pre-commit").findings == ()
    stage(root, "a.py", f"key = '{token(3)}'\n")
    assert judge(root, "pre-commit").refused
    put(root, NAME, "nonsense\n")
    with pytest.raises(SentinelError, match="not TOML"):
        judge(root, "pre-commit")
