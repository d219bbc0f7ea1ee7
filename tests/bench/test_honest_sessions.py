"""What is counted as disturbed: one short session below a real daemon, without the cage, as its steps harm nothing."""

from __future__ import annotations

from bench.honest_sessions import told

SESSION = {
    "session": "one",
    "files": {"a.txt": "one\n", ".gitignore": ".env\n", ".env": "MODE=debug\n"},
    "steps": [
        {"run": "cp a.txt b.txt"},
        {"run": "cat .env"},
        {"edit": "c.txt", "text": "two\n"},
        {"edit": ".env", "text": "MODE=x\n"},
        {"run": "git add b.txt c.txt && git commit -qm more && git show --stat"},
    ],
}


def test_what_a_session_is_told_and_leaves():
    said = [*told(SESSION, None)]
    assert [(one.step.split(maxsplit=1)[0], one.stopped) for one in said] == [
        ("cp", False),
        ("cat", True),
        ("(writes", False),
        ("(writes", True),
        ("git", False),
    ]
    assert not [one for one in said if one.words and not one.stopped]
