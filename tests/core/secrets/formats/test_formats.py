"""Every row of every table of formats finds what it must, leaves what it must, and is fast on texts made against it."""

import itertools
import re
import time

import pytest

from sentinel_guard.core.secrets import scan_text
from sentinel_guard.core.secrets.entropy_and_dummy_values import entropy, is_dummy_value
from sentinel_guard.core.secrets.formats import (
    ai,
    base,
    cloud,
    infrastructure,
    keys,
    messaging,
    monitoring,
    other_services,
    packages,
    payments,
    social,
    source_hosting,
)
from sentinel_guard.core.secrets.formats.registry import FORMATS
from sentinel_guard.core.secrets.model import Grade

each = pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.rule)
FAMILIES = (
    ai,
    cloud,
    source_hosting,
    infrastructure,
    keys,
    messaging,
    monitoring,
    packages,
    payments,
    other_services,
    social,
)
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
LIMIT = 0.3
"""Seconds that a row may take for some 50 KB that were written to be slow, on a machine shared with others."""


def finds(row, text):
    """Whether the row alone finds something, whatever finer row stands beside it."""
    start = 0
    while match := re.compile(row.pattern, re.ASCII).search(text, start):
        value = match["value"]
        if row.entropy == 0 or (entropy(value) >= row.entropy and not is_dummy_value(value)):
            return True
        start = max(match.end("value"), match.start() + 1)
    return False


@each
def test_what_must_be_found(row):
    for text in row.hit:
        assert any(needle in text.lower() for needle in row.needles), f"no needle of {row.rule} in {text}"
        assert finds(row, text), f"{row.rule} misses {text}"
        assert scan_text.scan(f"first line\n{text}\nlast line\n", generic=False), f"nothing is found in {text}"


@each
def test_what_must_pass(row):
    for text in row.miss:
        assert row.rule not in {leak.rule for leak in scan_text.scan(text, generic=False)}, f"{row.rule} finds {text}"


@each_family
def test_rows_are_well_formed(family):
    for row in family.FORMATS:
        assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", row.rule)
        assert re.match(r"(?:an?|the) \S", row.what), row.rule
        assert row.hit, row.rule
        assert "value" in re.compile(row.pattern).groupindex, row.rule
        assert row.grade > Grade.NOTE, row.rule
        assert all(needle == needle.lower() and len(needle) >= 3 for needle in row.needles), row.rule
        assert all(re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+", host) for host in row.hosts), row.rule


@each_family
def test_patterns_have_nothing_that_re2_has_not(family):
    for row in family.FORMATS:
        outside_classes = re.sub(r"\[(?:\\.|[^\]\\])*\]", "", row.pattern)
        assert not re.search(r"\(\?<?[=!]|\\[1-9]|\(\?P=|[+*?}]\+|\\Z", outside_classes), row.rule
        assert all(int(n) <= 1000 for n in re.findall(r"[{,](\d+)\}", row.pattern)), row.rule


@each_family
def test_patterns_mean_the_same_to_re2(family):
    re2 = pytest.importorskip("re2")
    for row in family.FORMATS:
        theirs = re2.compile(row.pattern)
        for text in (*row.hit, *(f"{a} {b}\n" for a, b in itertools.pairwise(row.hit + row.miss))):
            match, other = re.search(row.pattern, text, re.ASCII), theirs.search(text)
            assert (match and match["value"]) == (other and other["value"]), row.rule


@each_family
def test_texts_made_of_needles_are_no_trouble(family):
    for row in family.FORMATS:
        pattern = re.compile(row.pattern, re.ASCII)
        started = time.process_time()
        for joint in ("", " ", "=", "\n"):
            needle = row.needles[0] + joint
            for text in (needle * 400, needle + "a" * 2000, needle + "a1_- " * 400, row.hit[0][:-4] * 20):
                for _ in pattern.finditer(text):
                    pass
        assert time.process_time() - started < LIMIT, row.rule


def test_rules_have_one_row_each():
    rules = [row.rule for family in FAMILIES for row in family.FORMATS]
    assert rules == [row.rule for row in FORMATS]
    assert len(set(rules)) == len(rules) >= 200


ASSIGNED = base.assigned("adafruit-key", "a key", "adafruit", "[a-z0-9_-]{32}", base.fake(32, base.LOWER))
VALUE = base.fake(32, base.LOWER)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"ADAFRUIT_TOKEN={VALUE}", "env file"),
        (f"export ADAFRUIT_IO_KEY='{VALUE}'", "shell"),
        (f"adafruit_key ?= {VALUE}", "make"),
        (f"adafruit_key := `{VALUE}`", "Go"),
        (f"adafruit_key ::= {VALUE}", "POSIX make"),
        (f'adafruit_key :::= "{VALUE}"', "GNU make"),
        (f'$adafruitKey .= "{VALUE}";', "PHP"),
        (f"'adafruit.key' => '{VALUE}',", "Ruby, PHP"),
        (f'{{"adafruit_key": "{VALUE}"}}', "JSON"),
        (f'{{\\"adafruitKey\\": \\"{VALUE}\\"}}', "JSON in a string"),
        (f'{{"adafruit": {{"key": "{VALUE}"}}}}', "nested JSON"),
        (f"adafruit:\n  io:\n    key: {VALUE}\n", "nested YAML"),
        (f"- name: ADAFRUIT_KEY\n  value: {VALUE}\n", "Kubernetes"),
        (f'{{"name": "ADAFRUIT_KEY", "value": "{VALUE}"}}', "task definition"),
        (f"<adafruitKey>\n        {VALUE}\n    </adafruitKey>", "XML"),
        (f'<add key="AdafruitKey" value="{VALUE}" />', "web.config"),
        (f"<key>AdafruitKey</key>\n    <string>{VALUE}</string>", "plist"),
        (f'System.setProperty("ADAFRUIT_KEY", "{VALUE}");', "Java"),
        (f'private static final String ADAFRUIT_KEY = "{VALUE}";', "Java"),
        (f'var myAdafruitKey string = "{VALUE}"', "Go"),
        (f'client = Adafruit(api_key="{VALUE}")', "Python"),
        (f'os.environ["ADAFRUIT_KEY"] = "{VALUE}"', "Python"),
        (f'.adafruitKey("{VALUE}")', "builder"),
        (f"publish --adafruit-key {VALUE} x", "option"),
        (f"publish --adafruit-key={VALUE}", "option"),
        (f"Adafruit API key: {VALUE}", "prose"),
        (f'{{"config.ini": "ADAFRUIT_KEY={VALUE}\\nB=1"}}', "a file in JSON"),
        (f"X-Adafruit-Key: {VALUE}", "header"),
    ],
    ids=lambda part: part if len(part) < 20 else "",
)
def test_an_assignment_is_seen_in_every_notation(text, why):
    assert finds(ASSIGNED, text), why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"adafruit = '{VALUE}'", "no word that says what it is"),
        (f"metadafruit_key = '{VALUE}'", "another name"),
        (f"adafruitful_key = '{VALUE}'", "a longer word"),
        (f"ADAFRUITFUL_KEY = '{VALUE}'", "a longer word"),
        ("adafruit_key = os.environ['ADAFRUIT_KEY']", "looked up"),
        (f"adafruit_key = '{VALUE}abc'", "too long"),
        (f"adafruit_key = '{VALUE[:-1]}'", "too short"),
        (f"adafruit_key = '{VALUE}.txt'", "a name that goes on"),
        (f"adafruit_key\n\n\n# {'about something else ' * 3}\nname = '{VALUE}'", "too far away"),
    ],
    ids=lambda part: part if len(part) < 30 else "",
)
def test_what_is_no_assignment(text, why):
    assert not finds(ASSIGNED, text), why


def test_examples_are_the_same_at_every_run():
    assert base.fake(12) == base.fake(12)
    assert set(base.fake(100, base.HEX)) <= set(base.HEX)


def test_needles_behind_a_short_prefix():
    assert base.behind("sk_", "ab", 2) == ("sk_aa", "sk_ab", "sk_ba", "sk_bb")
