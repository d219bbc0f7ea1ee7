"""What an audit entry says in one line."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Entry
from sentinel_guard.core.text.entry_summary import summary

HINT = {"rule": "", "check": "hint", "response": "hint", "what": "look"}
CLEAN = {"rule": "git.clean", "check": "rules", "response": "snapshot", "what": "files go"}
ENV = {"rule": "paths.restricted", "check": "rules", "response": "deny", "what": ".env goes"}
YES = {"yes": True, "action": "DEPLOY", "target": "PROD", "assurance": "terminal", "authorized_by": "user"}
NO = {"yes": False, "action": "DEPLOY", "target": "PROD", "assurance": "none", "why": "silence"}
ODD = {"response": "deny", "arguments": {"command": "x"}, "findings": [1]}
SAID = [
    ("a yes", "human", YES, "Y to DEPLOY on PROD (user, terminal)"),
    ("tokens", "usage", {"input": 0, "output": 60_000, "cache_read": 5}, "tokens: 60,000 output, 5 cache read"),
    ("no tokens", "usage", {"input": 0}, "tokens: none"),
    (
        "tokens of a reply",
        "usage",
        {"output": 5, "source": "claude", "model": "opus", "key": "m", "replied": 9.0},
        "tokens: 5 output (claude opus)",
    ),
    ("unread", "usage", {"source": "qwen", "unread": "no file"}, "tokens of qwen are not known: no file"),
    ("read again", "usage", {"source": "qwen", "unread": ""}, "tokens known again"),
    (
        "written anew",
        "usage",
        {"source": "qwen", "output": 9, "lowered": {"output": 0}},
        "tokens: 9 output (qwen); its record was written anew with lower counts, which do not count",
    ),
    ("what a hook refused", "watch", {"what": "pre-commit refused: x", "path": "/r"}, "pre-commit refused: x (/r)"),
    ("a change without words", "watch", {"path": ".env", "check": "unannounced"}, "path=.env check=unannounced"),
    ("a yes for a while", "human", YES | {"grant": "g1"}, "Y to DEPLOY on PROD (user, terminal, g1)"),
    ("silence", "human", NO, "N to DEPLOY on PROD (silence, none)"),
    (
        "what a person allowed",
        "verdict",
        {"response": "allow", "arguments": {"command": "deploy"}, "authorized_by": "user"},
        "allow: deploy (authorized_by: user)",
    ),
    (
        "an agent's tool",
        "verdict",
        {"response": "allow", "tool": "Write", "arguments": {"path": "x"}},
        "allow: Write path=x",
    ),
    (
        "a session",
        "session",
        {"command": ["agent", "a b"], "root": "/r", "start_hash": "0123456789abcdef"},
        "agent 'a b' in /r from 0123456789ab",
    ),
    ("an observation", "observation", {"response": "hint", "findings": [HINT]}, "hint [hint] look"),
    (
        "several findings: the decisive one",
        "verdict",
        {"response": "deny", "arguments": {"command": "git clean -fdx"}, "findings": [CLEAN, ENV]},
        "deny: git clean -fdx [paths.restricted] .env goes",
    ),
    (
        "a granted one decides no more",
        "verdict",
        {"response": "snapshot", "arguments": {"command": "x"}, "findings": [ENV, CLEAN], "granted": [ENV]},
        "snapshot: x [git.clean] files go",
    ),
    (
        "all granted: what was granted",
        "verdict",
        {"response": "allow", "arguments": {"command": "x"}, "findings": [ENV], "granted": [ENV]},
        "allow: x [paths.restricted] .env goes",
    ),
    ("a breaker", "state", {"event": "break", "until": 5.0, "reason": "a loop"}, "break: a loop"),
    ("a question", "state", {"event": "ask", "action": "DEPLOY", "target": "PROD"}, "ask: DEPLOY PROD"),
    (
        "a person's word",
        "state",
        {"event": "resume", "authorized_by": "user", "assurance": "terminal"},
        "resume (user, terminal)",
    ),
    (
        "a rollback",
        "recovery",
        {"ok": True, "start_hash": "0123456789abcdef", "rescue": "refs/x", "problems": [], "notes": []},
        "put back to 0123456789ab, and verified; the agent's work is kept at refs/x",
    ),
    (
        "a rollback that failed",
        "recovery",
        {"ok": False, "start_hash": "", "rescue": "", "problems": ["git is gone."]},
        "not put back as a whole; git is gone.",
    ),
    ("a report", "incident", {"path": "/r/I.md", "headline": "Blocked.", "seal": "x"}, "/r/I.md: Blocked."),
    ("an end", "end", {"code": 0}, "exit 0"),
    ("an end with its reason", "end", {"code": -1, "reason": "its owner has gone"}, "its owner has gone"),
    ("a kind of its own", "odd", {"event": "x", "until": 5.0, "reason": ""}, "event=x until=5.0"),
    ("a state without its fields", "state", {"odd": 1}, "odd=1"),
    ("a verdict without its fields", "verdict", {"odd": 1}, "odd=1"),
    ("an outcome without its fields", "outcome", {"code": 1}, "code=1"),
    ("findings that are none", "verdict", ODD, "deny: x"),
    ("arguments that are none", "verdict", {"response": "deny", "arguments": 5}, "deny: 5"),
]


@pytest.mark.parametrize(("kind", "data", "said"), [row[1:] for row in SAID], ids=[row[0] for row in SAID])
def test_the_summary_of_an_entry(kind, data, said):
    assert summary(Entry(1.0, "s1", kind, data)) == said
