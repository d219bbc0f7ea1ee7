"""The policy file: every mistake named at once, and a project that can only tighten."""

from __future__ import annotations

import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core.model import Response
from sentinel_guard.core.policy.file_schema import Layer, parse
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Cost, Loop, Paths, Policy
from sentinel_guard.core.policy.settings_table import SETTINGS
from sentinel_guard.errors import ConfigError

RULE = """
[[rule]]
id = "x.y"
program = "x"
response = "deny"
why = "it may not"
hit = ["x"]
miss = ["y"]
"""


def layer(text: str, source: str = "sentinel.toml") -> Layer:
    return parse(tomllib.loads(text), source, text)


MISTAKES = [
    ("[loop]\nwindw = 3", "sentinel.toml:2: [loop] windw: unknown key; did you mean window?", "an unknown key"),
    ("\n[lop]\nwindow = 3", "sentinel.toml:2: lop: unknown key; did you mean loop?", "an unknown table"),
    ("zzzzz = 1", "sentinel.toml:1: zzzzz: unknown key; known are version", "nothing near: all are named"),
    ("[loop]\n\nrepeats = 'x'", "sentinel.toml:3: [loop] repeats: must be a whole number, not a text", "a wrong type"),
    ("[loop]\nrepeats = true", "must be a whole number, not true or false", "a bool is no number"),
    ("[loop]\nrepeats = 2.5", "must be a whole number, not a number", "a fraction is no whole number"),
    ("[loop]\nrepeats = 1", "[loop] repeats: is out of range; 2 to 20 is possible", "below the range"),
    ("[loop]\nwindow = 0x" + "f" * 5000, "[loop] window: is out of range", "a number too long to print"),
    ("[breaker]\nseconds = nan", "[breaker] seconds: is out of range", "not a number at all"),
    ("[loop]\nstrict = 1", "[loop] strict: must be true or false, not a number", "a number is no bool"),
    ("loop = 3", "sentinel.toml:1: loop: must be a table: [loop]", "a value where a table belongs"),
    ("loop.windw = 3", "sentinel.toml:1: [loop] windw", "a dotted key is found too"),
    (
        "[loop.window]\nx = 1",
        "sentinel.toml:1: [loop] window: must be a whole number, not a table",
        "a table for a value",
    ),
    ("[paths]\nrestricted = '.env'", "[paths] restricted: must be a list of texts, none empty, not a text", "no list"),
    (
        "[paths]\nrestricted = ['']",
        "must be a list of texts, none empty, not a list with other things",
        "an empty text",
    ),
    ("[paths]\nrestricted = ['# x']", "'# x' is no gitignore pattern", "a comment restricts nothing"),
    (
        "version = 2",
        "sentinel.toml:1: version: not the version that is read here; write version = 1",
        "a later version",
    ),
    ('"a\\u001b[2J" = 1', "sentinel.toml:1: a\\x1b[2J: unknown key", "what a terminal would obey is written out"),
    ("confirm = 1", "confirm: must be a table: [confirm]", "the gate is a table"),
    (
        "[confirm]\nDEPLOY = ['x']",
        "sentinel.toml:2: [confirm] DEPLOY: an action is named in small letters",
        "a big name",
    ),
    ("[confirm]\ndeploy = 'x'", "[confirm] deploy: must be a list of texts", "patterns are a list"),
    ("rule = 1", "rule: must be a list of tables: [[rule]]", "a rule is a table"),
    ("[[rule]]\nid = 'x'", "[rule] response: is missing; every rule has one", "a rule needs a response"),
    (
        RULE.replace('program = "x"', ""),
        "[rule] program: is missing; a rule names a program or an effect",
        "matches all",
    ),
    (RULE.replace('"deny"', '"allow"'), "'allow' is not known; known are snapshot, hint", "no rule allows"),
    (RULE.replace('"deny"', '"ask"'), "[rule] action: is missing; it is what the gate shows", "a gate shows an action"),
    (RULE.replace('hit = ["x"]', ""), "[rule] hit: is missing; give commands that the rule must match", "no example"),
    (RULE.replace("why =", "wy ="), "[rule] wy: unknown key; did you mean why?", "an unknown key of a rule"),
    (RULE.replace("x.y", "X Y"), "[rule] id: 'X Y' is no id", "an id is plain"),
    (RULE + RULE, "sentinel.toml:11: [rule] id: 'x.y' is there twice", "the second of two rules is named"),
    (RULE + 'effect = "delte"', "'delte' is not known; did you mean delete?", "an unknown kind"),
    (RULE + 'effect = "delete"\ntarget = "{roof}"', "'{roof}' is no name of a target; did you mean {root}?", "a name"),
    (RULE + 'target = "/x"', "[rule] effect: is missing; a target belongs to an effect", "a target without an effect"),
    (RULE + "held = true", "[rule] held: goes with targets below /, {home}/", "a held call has no command"),
    (RULE + 'effect = "delete"\nhow = ["recursiv"]', "did you mean recursive?", "an unknown word of how"),
]


@pytest.mark.parametrize(("text", "words"), [m[:2] for m in MISTAKES], ids=[m[2] for m in MISTAKES])
def test_a_mistake_is_named(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        layer(text)
    assert words in str(caught.value)


def test_all_mistakes_are_told_at_once_in_order() -> None:
    with pytest.raises(ConfigError) as caught:
        layer("[cost]\ntokens = 1\n[loop]\nrepeats = 'x'\n[lop]\n")
    lines = caught.value.message.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["sentinel.toml:2", "sentinel.toml:4", "sentinel.toml:5"]
    assert "3 mistakes" in caught.value.hint


def test_what_a_file_says_is_what_the_layer_holds() -> None:
    found = layer("[loop]\nrepeats = 4\n[confirm]\nship = ['ship it']" + RULE)
    assert found.settings == {("loop", "repeats"): 4}
    assert found.confirm == {"ship": ("ship it",)}
    rule = found.rules[0]
    assert (rule.id, rule.response, rule.program, rule.source) == ("x.y", Response.DENY, ("x",), "sentinel.toml")


def test_every_setting_has_its_field_in_the_policy() -> None:
    elsewhere = {"shims", "rules"}
    for section, keys in SETTINGS.items():
        for key in keys:
            assert section in elsewhere or hasattr(getattr(Policy(), section), key), f"[{section}] {key}"


@settings(max_examples=30)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_document_breaks_the_parser(value: object) -> None:
    for document in (
        {"loop": value},
        {"rule": value},
        {"confirm": value},
        {"paths": value},
        {"x": value},
        {"rule": [value]},
    ):
        try:
            parse(document, "x", "")
        except ConfigError as e:
            assert str(e)


EXCESS = [
    (f"[paths]\nrestricted = ['{'*a' * 9}']", "sentinel.toml:2: [paths] restricted: '*a*a", "stars"),
    (f"[confirm]\ndeploy = ['{'*a' * 9}']", "has more than 8 stars", "a gate's pattern is one too"),
    (RULE + f"operand = '{'*a' * 9}'", "[rule] operand: ", "and a rule's"),
    (f"[paths]\nhidden = ['{'a' * 1001}']", "a text of 1001 characters; 1000 are possible", "a long text"),
    (f"[paths]\nhidden = {['a'] * 1001}", "sentinel.toml:1: version: the file holds 1001 patterns", "many"),
]


@pytest.mark.parametrize(("text", "words"), [row[:2] for row in EXCESS], ids=[row[2] for row in EXCESS])
def test_a_projects_file_has_limits(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        parse(tomllib.loads(text), "sentinel.toml", text, limited=True)
    assert layer(text, "the person's own")


def test_what_a_project_needs_is_within_the_limits() -> None:
    text = "[paths]\nrestricted = ['**/a/**/b/**/*.x', '/**/*_*_*.min.js']" + RULE.replace("may", "** may **" * 5)
    assert parse(tomllib.loads(text), "sentinel.toml", text, limited=True) == layer(text)


BUILTIN = layer("[paths]\nrestricted = ['.env', '.env.*', '!.env.example']\n[confirm]\ndeploy = ['deploy']" + RULE, "")


def test_without_files_the_defaults_are_in_force() -> None:
    policy = merge(BUILTIN)
    assert (policy.loop, policy.cost, policy.warnings, policy.sources) == (Loop(), Cost(), (), ())
    assert policy.shims == ("git", "rm", "deploy")


def test_the_user_may_loosen_and_disable() -> None:
    user = layer(
        "[loop]\nrepeats = 9\n[rules]\ndisable = ['x.y']\n[confirm]\ndeploy = []\n[paths]\nrestricted = ['!.env.*']"
    )
    policy = merge(BUILTIN, user)
    assert policy.loop.repeats == 9
    assert policy.rules == ()
    assert policy.confirm == {"deploy": ()}
    assert policy.restricts("/r/.env", "/r") == ".env"
    assert not policy.restricts("/r/.env.local", "/r")
    assert policy.warnings == ()


def test_a_user_rule_takes_the_place_of_a_built_in_one() -> None:
    policy = merge(BUILTIN, layer(RULE.replace("deny", "hint"), "mine"))
    assert [(r.id, r.response, r.source) for r in policy.rules] == [("x.y", Response.HINT, "mine")]


def test_a_name_in_disable_that_is_no_rule_is_said() -> None:
    assert "names x.z, which is no rule" in merge(BUILTIN, layer("[rules]\ndisable = ['x.z']")).warnings[0]


PROJECTS = [
    ("[loop]\nrepeats = 2", ("loop", "repeats", 2), False, "fewer repeats are tighter"),
    ("[loop]\nrepeats = 4", ("loop", "repeats", 3), True, "more repeats are looser"),
    ("[loop]\nwindow = 20", ("loop", "window", 20), False, "a longer window sees more"),
    ("[loop]\nstrict = true", ("loop", "strict", True), False, "strict is tighter"),
    ("[loop]\npolls = ['x']", ("loop", "polls", ()), True, "only the user declares polls"),
    ("[failures]\nseconds = 30", ("failures", "seconds", 60.0), True, "a shorter time sees less"),
    ("[breaker]\nseconds = 120", ("breaker", "seconds", 120), False, "a longer pause is tighter"),
    ("[cost]\ntokens_per_minute = 60000", ("cost", "tokens_per_minute", 50_000), True, "more tokens are looser"),
    ("[fatal]\nrollback = false", ("fatal", "rollback", True), True, "a rollback is not switched off by a project"),
    ("[gate]\nseconds = 0", ("gate", "seconds", 300.0), True, "0 waits for ever: looser"),
    ("[gate]\nseconds = 60", ("gate", "seconds", 60), False, "a shorter wait ends in a no sooner"),
    ("[error_rate]\ntrip = 0.95", ("error_rate", "trip", 0.9), True, "a later trip is looser"),
]


@pytest.mark.parametrize(("text", "wanted", "warned"), [p[:3] for p in PROJECTS], ids=[p[3] for p in PROJECTS])
def test_a_project_can_only_tighten(text: str, wanted: tuple[str, str, object], warned: bool) -> None:
    policy = merge(BUILTIN, project=layer(text))
    section, key, value = wanted
    assert getattr(getattr(policy, section), key) == value
    assert bool(policy.warnings) is warned
    assert not warned or f"[{section}] {key}" in policy.warnings[0]


def test_a_project_can_neither_disable_nor_redirect() -> None:
    project = layer(
        "[rules]\ndisable = ['x.y']\n[alerts]\nurls = ['https://evil.example']" + RULE.replace("deny", "hint")
    )
    policy = merge(BUILTIN, project=project)
    assert [r.response for r in policy.rules] == [Response.DENY, Response.HINT]
    assert policy.alerts.urls == ()
    assert len(policy.warnings) == 2


def test_a_project_adds_to_gate_and_shims() -> None:
    policy = merge(
        BUILTIN, project=layer("[confirm]\ndeploy = ['./ship*']\nship = ['ship it']\n[shims]\nnames = ['kubectl']")
    )
    assert policy.confirm == {"deploy": ("deploy", "./ship*"), "ship": ("ship it",)}
    assert policy.shims == ("git", "rm", "kubectl", "deploy", "ship")


def test_a_projects_negation_takes_nothing_back() -> None:
    policy = merge(BUILTIN, project=layer("[paths]\nrestricted = ['*.key', '!.env', '!ok.key']"))
    assert policy.restricts("/r/.env", "/r") == ".env"
    assert policy.restricts("/r/my.key", "/r") == "*.key"
    assert not policy.restricts("/r/ok.key", "/r")


def test_the_window_is_never_shorter_than_the_loop() -> None:
    assert merge(BUILTIN, layer("[loop]\nwindow = 3\nrepeats = 5")).loop.window == 5


RESTRICTED = Policy(Paths((".env", ".env.*", "!.env.example", "*.pem", "secrets/", "/sentinel.toml"), ("private/",)))
PATHS = [
    ("/r/.env", ".env", "the file at the top"),
    ("/r/deep/down/.env", ".env", "and anywhere below"),
    ("/r/.env.local", ".env.*", "its kin"),
    ("/r/.env.example", "", "taken back by a negation"),
    ("/r/environment", "", "another name"),
    ("/r/secrets", "secrets/", "the folder itself"),
    ("/r/secrets/a/b", "secrets/", "what lies below a restricted folder"),
    ("/r/secrets/.env.example", "secrets/", "a negation does not reach into it"),
    ("/r/sentinel.toml", "/sentinel.toml", "anchored at the root"),
    ("/r/sub/sentinel.toml", "", "and only there"),
    ("/elsewhere/key.pem", "*.pem", "outside of the root too"),
    ("/sentinel.toml", "/sentinel.toml", "outside, the absolute path is matched without its slash"),
    ("/r2/x", "", "a sibling that begins like the root is no part of it"),
    ("/r", "", "the root itself is not named by a pattern"),
    ("/r/.env/", ".env", "a closing slash changes nothing"),
    ("/r/caf\udce9.pem", "*.pem", "bytes that are not UTF-8"),
]


@pytest.mark.parametrize(("path", "pattern"), [p[:2] for p in PATHS], ids=[p[2] for p in PATHS])
def test_restricted_paths(path: str, pattern: str) -> None:
    assert RESTRICTED.restricts(path, "/r") == pattern


def test_hidden_paths_are_their_own_list() -> None:
    assert RESTRICTED.hides("/r/private/x", "/r") == "private/"
    assert not RESTRICTED.hides("/r/.env", "/r")
