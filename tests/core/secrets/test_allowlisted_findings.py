"""The baseline: each of its rules, and what it says of a file that it cannot read."""

from __future__ import annotations

import pytest
import tomli_w

from sentinel_guard.core.secrets.allowlisted_findings import ANY, NONE, Allowlist, ReviewStatus, Row
from sentinel_guard.core.secrets.model import Grade, Hit, SecretFind
from sentinel_guard.errors import ConfigError

SALT = bytes(range(16))
VALUE = "hunter" + "2hunter2"


def hit(value: str = VALUE, path: str = "app.py", rule: str = "generic-password", kind: str = "secret", line: int = 3):
    leak = SecretFind(rule, kind, "a password", Grade.BLOCK, 0, len(value), value)
    return Hit(leak, path, line, 1, "password = <… 14 characters>")


def baseline(*hits: Hit, said: ReviewStatus = ReviewStatus.UNREVIEWED) -> Allowlist:
    made = Allowlist(SALT).updated(hits).baseline
    return made.with_verdicts(dict.fromkeys(made.rows, said))


def text(of: Allowlist) -> str:
    return tomli_w.dumps(of.document())


def test_no_file_lets_nothing_be():
    assert not NONE.allows(hit())


def test_rule_1_no_value_stands_in_it_and_a_salt_changes_every_hash():
    one, other = baseline(hit()), Allowlist(SALT[::-1]).updated([hit()]).baseline
    assert VALUE not in text(one)
    assert one.rows[0].hash != other.rows[0].hash


@pytest.mark.parametrize(
    ("said", "found", "let_be"),
    [
        (ReviewStatus.UNREVIEWED, hit(), True),
        (ReviewStatus.ACCEPTED, hit(), True),
        (ReviewStatus.FALSE, hit(), True),
        (ReviewStatus.REAL, hit(), False),
        (ReviewStatus.UNREVIEWED, hit(path="copy.py"), False),
        (ReviewStatus.ACCEPTED, hit(path="copy.py"), False),
        (ReviewStatus.FALSE, hit(path="copy.py"), True),
        (ReviewStatus.FALSE, hit(path=""), True),
        (ReviewStatus.FALSE, hit(rule="github-pat"), False),
        (ReviewStatus.FALSE, hit(value=VALUE + "3"), False),
        (ReviewStatus.ACCEPTED, hit(line=99), True),
    ],
    ids=[
        "what was there is not asked about", "accepted where it is", "false where it is", "a real one stays refused",
        "an unreviewed one elsewhere has leaked further", "so has an accepted one", "a false one is false everywhere",
        "a false one in a command too", "another rule is another find", "another value is another find",
        "a line is only a hint",
    ],
)  # fmt: skip
def test_rule_2_what_a_verdict_holds_for(said, found, let_be):
    assert baseline(hit(), said=said).allows(found) is let_be


def test_rule_3_an_agent_has_only_what_a_person_marked():
    assert not baseline(hit()).reviewed().allows(hit())
    assert baseline(hit(), said=ReviewStatus.ACCEPTED).reviewed().allows(hit())


def test_rule_4_a_known_value_is_neither_taken_in_nor_let_be():
    known = hit(kind="known", rule="known-value")
    assert not baseline(known).rows
    row = Row("app.py", "known-value", ANY, 1, ReviewStatus.FALSE)
    assert not Allowlist(SALT, [row]).allows(known)


def test_what_a_person_marked_goes_before_what_nobody_did():
    two = Allowlist(SALT, [*baseline(hit()).rows, *baseline(hit(path="b.py"), said=ReviewStatus.FALSE).rows])
    assert two.row(hit()) == two.rows[0], "the row of its own file is the nearest"
    assert two.row(hit(path="c.py")) == two.rows[1]


def test_updating_keeps_verdicts_adds_what_is_new_and_drops_what_is_gone():
    before = baseline(hit(), hit("gone" + VALUE), said=ReviewStatus.ACCEPTED)
    update = before.updated([hit(line=8), hit("new" + VALUE)])
    assert [(r.line, r.said) for r in update.baseline.rows] == [
        (3, ReviewStatus.UNREVIEWED),
        (8, ReviewStatus.ACCEPTED),
    ]
    assert [len(rows) for rows in (update.new, update.moved, update.gone)] == [1, 0, 1]


def test_a_file_that_moves_keeps_its_verdicts():
    update = baseline(hit(), said=ReviewStatus.ACCEPTED).updated([hit(path="lib/app.py")])
    assert [(r.path, r.said) for r in update.moved] == [("lib/app.py", ReviewStatus.ACCEPTED)]
    assert not update.new and not update.gone


def test_a_row_of_a_commit_that_may_still_be_pushed_stays():
    made = baseline(hit(), hit("other" + VALUE, "b.py"), said=ReviewStatus.FALSE)
    update = made.updated([hit(path="moved.py")], past=[hit(), hit()])
    assert [(r.path, r.said) for r in update.baseline.rows] == [
        ("app.py", ReviewStatus.FALSE),
        ("moved.py", ReviewStatus.FALSE),
    ]
    assert ([r.path for r in update.moved], [r.path for r in update.gone]) == (["moved.py"], ["b.py"])
    assert update.baseline.allows(hit()) and update.new == ()


def test_a_find_in_a_name_has_a_row_without_the_name():
    made = baseline(hit(path=f"a/{VALUE}.txt", line=0))
    assert VALUE not in text(made) and made.rows[0].path == ""
    assert made.allows(hit(path=f"b/{VALUE}", line=0)) and not made.allows(hit(path=f"a/{VALUE}.txt"))


def test_a_copy_is_new_and_the_first_one_keeps_its_verdict():
    update = baseline(hit(), said=ReviewStatus.ACCEPTED).updated([hit(), hit(path="copy.py")])
    assert [(r.path, r.said) for r in update.new] == [("copy.py", ReviewStatus.UNREVIEWED)]
    assert not update.moved


def test_one_value_twice_in_a_file_is_one_row():
    assert len(baseline(hit(line=3), hit(line=9)).rows) == 1


def test_personal_data_has_a_row_for_its_file():
    mails = [hit(f"a{n}@b.example", "users.csv", "pii-email", "pii") for n in range(3)]
    made = baseline(*mails, hit("4111", "users.csv", "pii-card", "pii"))
    assert [(r.rule, r.hash) for r in made.rows] == [("pii-card", ANY), ("pii-email", ANY)]
    assert made.allows(hit("other@b.example", "users.csv", "pii-email", "pii"))
    assert not made.allows(hit("other@b.example", "more.csv", "pii-email", "pii"))


def test_a_file_of_personal_data_that_moves_is_new():
    update = baseline(hit("a@b.example", "users.csv", "pii-email", "pii")).updated(
        [hit("c@b.example", "other.csv", "pii-email", "pii")]
    )
    assert [len(rows) for rows in (update.new, update.moved, update.gone)] == [1, 0, 1]


def test_a_name_that_is_not_utf8_can_be_written_and_is_found_again():
    odd = hit(path="caf\udce9.py")
    made = Allowlist.parse(text(baseline(odd)))
    assert made.allows(odd)


def test_what_is_written_is_read_back():
    made = baseline(hit(), hit("x" + VALUE, path="b/c.yml"), said=ReviewStatus.FALSE)
    again = Allowlist.parse(text(made))
    assert (again.salt, again.rows) == (made.salt, made.rows)


GOOD = text(baseline(hit()))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("", "[baseline] must say version = 1"),
        ("not toml", "Expected '='"),
        (GOOD.replace("version = 1", "version = 2"), "version = 1"),
        (GOOD.replace('salt = "', 'salt = "zz'), "non-hexadecimal"),
        (GOOD.replace(SALT.hex(), "00"), "salt must be 16 bytes"),
        (GOOD.replace("unreviewed", "fine"), "find 1: verdict is one of unreviewed, false, accepted, real"),
        (GOOD.replace("rule =", "rule_id ="), "find 1 must have exactly: hash, line, path, rule, verdict"),
        (GOOD.replace("line = 3", 'line = "3"'), "find 1 must have exactly"),
        (GOOD.replace('path = "app.py"', "path = 7"), "find 1: all but line are texts"),
        (f"allow = true\n{GOOD}", "unknown key 'allow'"),
        (GOOD.replace("version = 1", "version = 1\nallow = true"), "unknown key 'allow'"),
    ],
    ids=lambda value: value if len(value) < 60 else "",
)
def test_rule_5_what_it_does_not_know_is_an_error(broken, words):
    with pytest.raises(ConfigError) as caught:
        Allowlist.parse(broken)
    assert words in str(caught.value) and "secrets baseline" in caught.value.hint
