"""For programs: each command that tells something does so in one shape, with times in one form."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pexpect

TELLS = (
    ("status", "sessions", "the live sessions"),
    ("questions", "questions", "what is asked"),
    ("log", "entries", "what is on record"),
    ("log --blocked", "entries", "a part of it"),
    ("log verify", "said", "whether it holds"),
    ("incidents", "incidents", "reports"),
    ("incidents show", "incidents", "one of them"),
    ("replay", "steps", "its steps, judged anew"),
    ("snapshots", "snapshots", "rescue snapshots"),
    ("snapshots show 1", "snapshots", "one of them"),
    ("rollback --dry-run", "changes", "what a rollback would change"),
    ("policy show", "settings", "the policy"),
    ("policy validate", "files", "its files"),
    ("policy test", "rules", "its rules"),
    ("secrets scan", "findings", "secrets"),
    ("doctor --no-trial", "probes", "the machine"),
    ("daemon status", "daemons", "the daemon"),
    ("check -- tee .env", "verdicts", "a verdict"),
    ("allow --list", "windows", "windows for one's own changes"),
)
TIMES = frozenset({"at", "until", "taken", "when", "asked"})


def times(said: object) -> Iterator[object]:
    """Every value that says when, wherever it stands."""
    if isinstance(said, dict):
        for key, value in said.items():
            if key in TIMES:
                yield value
            yield from times(value)
    elif isinstance(said, list):
        for value in said:
            yield from times(value)


def test_one_shape_and_one_form_of_time(stage):
    stage.policy('[confirm]\ndeploy = ["deploy"]\n')
    stage.commit(a__txt="a\n", dot__env="A=1\n")
    stage.write("a.txt", "b\n")
    stage.agent("git reset --hard", "tee .env", "rm -rf /")
    stage.write("a.txt", "c\n")
    person = stage.on_terminal("deploy production")
    person.expect_exact("Confirm? (Y/N):")
    stage.write("a.txt", "d\n")
    assert stage.sentinel("allow", "a.txt").returncode == 0
    seen = {}
    for words, key, why in TELLS:
        verb, dashes, rest = words.partition(" -- ")
        told = stage.sentinel(*verb.split(), "--json", *([dashes.strip(), *rest.split()] if rest else []))
        assert not told.stderr.startswith("sentinel-guard:"), (words, told.stderr)
        said = json.loads(told.stdout)
        assert isinstance(said, dict) and isinstance(said[key], list), (why, said)
        assert all(isinstance(at, int | float) for at in times(said)), (why, [*times(said)])
        seen[words] = len(said[key])
    assert {words for words, count in seen.items() if not count} <= {"secrets scan"}, seen
    person.send("n")
    person.expect(pexpect.EOF)
