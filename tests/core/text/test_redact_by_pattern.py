import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sentinel_guard.core.text import redact_by_pattern
from sentinel_guard.core.text.credential_options import FORMS
from sentinel_guard.core.text.redact_by_pattern import MARK, redact, redact_data

A = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

HIDDEN = (
    (f"AKIA{'IOSFODNN7EXAMPLE'}", "AWS access key"),
    (f"ghp_{A}", "GitHub"),
    (f"github_pat_{A}", "GitHub, fine-grained"),
    (f"glpat-{A[:20]}", "GitLab"),
    (f"xoxb-123456789012-{A[:24]}", "Slack"),
    (f"sk_live_{A[:24]}", "Stripe"),
    (f"sk-ant-api03-{A}", "Anthropic"),
    (f"sk-proj-{A}", "OpenAI"),
    (f"AIza{A[:35]}", "Google"),
    (f"npm_{A[:36]}", "npm"),
    (f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{A}", "JWT"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "private key"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn", "private key, cut off"),
)


GLUED = tuple(row for row in HIDDEN if row[1] not in ("JWT", "private key", "private key, cut off"))


@pytest.mark.parametrize(("secret", "why"), GLUED, ids=[r[1] for r in GLUED])
def test_what_is_glued_to_a_token_does_not_save_it(secret, why):
    assert secret[4:] not in redact(f"x{secret}"), "a letter before it (24)"
    assert secret[6:] not in redact(f"{secret}{secret}{secret}"), "another one behind it (24)"
    assert secret[4:] not in redact(f"{'a' * 60}_{secret}"), "in a longer text"


@pytest.mark.parametrize(("secret", "why"), HIDDEN, ids=[r[1] for r in HIDDEN])
def test_known_forms(secret, why):
    assert redact(f"before {secret}") == f"before {MARK}"


NAMED = (
    ("export DB_PASSWORD=hunter2; ls", f"export DB_PASSWORD={MARK}; ls", "assignment"),
    ("AWS_SECRET_ACCESS_KEY=abc/def+1", f"AWS_SECRET_ACCESS_KEY={MARK}", "the name says secret"),
    ('{"api_key": "abc", "n": 1}', f'{{"api_key": "{MARK}", "n": 1}}', "JSON"),
    (r'"{\"password\": \"x1\"}"', rf'"{{\"password\": \"{MARK}\"}}"', "JSON in JSON"),
    ("password: 'two words'", f"password: '{MARK}'", "quoted"),
    ('password="cut off', f'password="{MARK}', "a quote that stays open"),
    ('if password == "hunter2":', f'if password == "{MARK}":', "a comparison"),
    ("password:=hunter2", f"password:={MARK}", "an assignment with a colon"),
    ("tool --api-key abc123 run", f"tool --api-key {MARK} run", "option with a space"),
    ("git clone https://u:p4ss@host/x", f"git clone https://u:{MARK}@host/x", "password in a URL"),
    ("curl https://h/x?token=abc&n=1", f"curl https://h/x?token={MARK}&n=1", "query"),
    ("curl -H 'Authorization: Bearer abc.def'", f"curl -H 'Authorization: Bearer {MARK}'", "header"),
    ("curl -u bob:s3cret https://h", f"curl -u bob:{MARK} https://h", "curl's user"),
)


@pytest.mark.parametrize(("text", "shown", "why"), NAMED, ids=[r[2] for r in NAMED])
def test_named_secrets(text, shown, why):
    assert redact(text) == shown


KEPT = (
    ("git commit -m 'tokens and passwords'", "words are no values"),
    ("max_tokens=4096", "a count of tokens"),
    ("PASSWORD=$PW ./run", "a reference"),
    ("def f(password: str) -> None:", "a type"),
    ("https://host:8080/path", "a port"),
    ("git@github.com:me/repo.git", "an address of git"),
    ("sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4", "a hash"),
    ("git push --force-with-lease", "an ordinary command"),
    ("risk-free sk-1", "too short for a token"),
    ("laughs_and_a_long_name_in_snake_case_of_a_test", "a name that holds what a token begins with"),
    ("task-proj-x high_resolution_images.npm_config_registry", "names again"),
)


@pytest.mark.parametrize(("text", "why"), KEPT, ids=[r[1] for r in KEPT])
def test_what_is_no_secret_stays(text, why):
    assert redact(text) == text


@pytest.mark.parametrize("form", FORMS, ids=[f.hit for f in FORMS])
def test_a_secret_is_known_by_its_place(form):
    assert "hunter2" not in redact(form.hit)
    assert MARK in redact(form.hit)
    assert redact(redact(form.hit)) == redact(form.hit)
    assert redact(form.miss) == form.miss


PATTERNS = [
    *[pytest.param(pattern, signs, str, id=pattern.pattern[:20]) for pattern, _, signs in redact_by_pattern._WHOLE],
    *[pytest.param(p, signs, str.casefold, id=p.pattern[:20]) for p, signs in redact_by_pattern._VALUES],
    pytest.param(redact_by_pattern._ASSIGNED, redact_by_pattern._OF_NAMES, str.casefold, id="assigned"),
    *[pytest.param(form.pattern, form.needles, str.casefold, id=form.hit) for form in FORMS],
]


@pytest.mark.parametrize(("pattern", "signs", "fold"), PATTERNS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_whatever_a_pattern_finds_has_a_sign_by_which_it_is_looked_for(pattern, signs, fold, data):
    found = fold(data.draw(st.from_regex(pattern)))
    assert any(sign in found for sign in signs)


ORDINARY = (
    "mkdir -p src", "grep -p x y", "ssh -p 22 h", "git log -p", "git add -p", "cp -a a b", "ls -a", "sort -k 2 x",
    "docker run -p 80:80 mysql", "docker compose -p shop up", "psql -p 5432 shop", "tar -xpf a.tar", "curl -k https://h",
    "python -m pytest -p no:cacheprovider", "rsync -a src/ dst/", "npm config set registry https://r",
    "cd login && mkdir -p src", "zip -r a.zip src", "git config user.name bob", "echo done | tee log",
    "sort --key=2", "7z x a.7z", "git clone https://me@dev.azure.com/x", "ssh://git@github.com/x",
    "tests pass: 5", "pass=5 fail=0",
)  # fmt: skip


@pytest.mark.parametrize("command", ORDINARY)
def test_ordinary_commands_are_untouched(command):
    assert redact(command) == command
    assert redact_data({"argv": command.split()}) == {"argv": command.split()}


LISTS = (
    (["sshpass", "-p", "two words", "ssh", "a b"], ["sshpass", "-p", MARK, "ssh", "a b"], "the word behind the option"),
    (["mysql", "-phunter2", "shop"], ["mysql", f"-p{MARK}", "shop"], "the rest of the option's word"),
    (["x", "--password", "a b"], ["x", "--password", MARK], "an option that says what it takes"),
    (["bash", "-c", "sshpass -p x ssh h"], ["bash", "-c", f"sshpass -p {MARK} ssh h"], "a command in a word"),
    (["ls", 1, None], ["ls", 1, None], "no command"),
    (["mysql", "-p\x1fx"], ["mysql", "-p\x1fx"], "a word with the mark between words"),
)


@pytest.mark.parametrize(("words", "shown"), [r[:2] for r in LISTS], ids=[r[2] for r in LISTS])
def test_lists_are_read_as_commands(words, shown):
    assert redact_data(words) == shown
    assert redact_data(shown) == shown


def test_data_is_redacted_at_every_depth_and_by_its_name():
    data = {"a": [f"x ghp_{A}", 1, None], "b": {"password": "p", "n": 2.5, "ok": True}, "token": ""}
    assert redact_data(data) == {
        "a": [f"x {MARK}", 1, None],
        "b": {"password": MARK, "n": 2.5, "ok": True},
        "token": "",
    }


PIECES = st.lists(
    st.sampled_from(["mysql", " -p", "login ", "curl ", " -b ", "?key=", "pass=", "http", "config ", "|sudo -S"])
    | st.sampled_from(["password", "token", "api_key", "Bearer ", "-u ", "--", "://", "sk-", A, MARK, *"=: @;a\n\"'\\"])
    | st.text(max_size=3),
    max_size=25,
).map("".join)


@given(PIECES)
@example("to\u212aen=hunter2")  # the Kelvin sign: a k to a pattern that ignores case
def test_redacting_twice_changes_nothing_and_data_is_redacted_like_its_texts(text):
    assert redact(redact(text)) == redact(text)
    assert redact_data({"a": text, "b": [1, [text]]}) == {"a": redact(text), "b": [1, [redact(text)]]}


UNITS = (
    "eyJ",
    "eyJ-",
    "password",
    'password="',
    "--token ",
    "://a",
    "-----BEGIN A PRIVATE KEY-----",
    "bearer ",
    " -u a",
    "--a-a-",
    "mysql ",
    "mysql -p",
    "login -",
    "login login -p ",
    "htpasswd -b ",
    "config set ",
    "config secret",
    "?key=",
    "key=aA1",
    "https://a1",
    "cookie:",
    "curl -b ",
    "echo 'a' | ",
    "token is ",
)


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_ends(unit):
    """200 KB of what pays most to repeat: a pattern that is quadratic runs into the suite's timeout."""
    assert redact((unit * 200_000)[:200_000])


def every_pattern(text: str) -> str:
    """What redact gives where no sign is looked for."""
    for pattern, mark, _ in redact_by_pattern._WHOLE:
        text = pattern.sub(mark, text)
    for value, _ in redact_by_pattern._VALUES:
        text = value.sub(redact_by_pattern._hide_value, text)
    text = redact_by_pattern._ASSIGNED.sub(redact_by_pattern._hide_value, text)
    for form in FORMS:
        text = re.sub(form.pattern, redact_by_pattern._hide_value, text)
    return text


PARTS = st.sampled_from(
    [
        *(*(secret for secret, _ in HIDDEN), *(text for text, _, _ in NAMED)),
        *(example for form in FORMS for example in (form.hit, form.miss)),
        *("pa\u017f\u017fword=x", "to\u212aen: y", "\u0130", "ß", "SK" + "0a" * 16),
    ]
)
"""What something is found in, and letters that fold to those of a name."""


def cut(part: str, at: int, upper: bool) -> str:
    return (part.swapcase() if upper else part)[at:]


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=400)
@given(
    st.lists(
        st.one_of(st.builds(cut, PARTS, st.integers(0, 3), st.booleans()), st.text(max_size=12)), min_size=1, max_size=6
    ),
    st.sampled_from(["\n", " ", "", "\r\n", "=", "\x85"]),
)
def test_no_pattern_finds_something_where_its_signs_are_not(parts, between):
    text = between.join(parts)
    assert redact_by_pattern._redact(text) == every_pattern(text)
