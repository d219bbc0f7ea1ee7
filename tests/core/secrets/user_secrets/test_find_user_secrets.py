"""The person's own values: which of a file are secret, and where they are found."""

from __future__ import annotations

import base64
import copy
import json
import pickle
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.secrets.model import Grade
from sentinel_guard.core.secrets.user_secrets.choose_secret_values import weak
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import MOST, NOTHING, UserSecrets, values_in, values_of

CHANCE = "q7Wn2Zt9" + "Lk4Vx8Rb3Ym6"
"""Looks like chance, twenty characters."""
HEX = "9f8a7b6c5d4e3f2a" * 2
UUID = "3b241101-e2bb-4255-8caf-4136c566a962"
LIVE = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"
WEAK = "Zx9kQ-" + "mmT2"
JWT = "eyJhbGci" + f"OiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.{CHANCE}"
LINE = "MzEfYyjiWA4R4" + "/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu"
PEM = "-----BEGIN " + "PRIVATE KEY-----\n"
END = "\n-----END " + "PRIVATE KEY-----"
CERT = PEM.replace("PRIVATE KEY", "CERTIFICATE") + LINE + END.replace("PRIVATE KEY", "CERTIFICATE")
OPENSSH = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"

SECRET = [
    (".env", f"API_TOKEN={CHANCE}", [CHANCE], "the name of a secret"),
    (".env", f"export API_TOKEN={CHANCE} # mine", [CHANCE], "exported, with a comment"),
    (".env", f"  'API_TOKEN' : '{CHANCE}',", [CHANCE], "quoted"),
    (".env", f"# API_TOKEN={CHANCE}", [CHANCE], "taken out, and no less secret"),
    (".env", "DB_PASSWORD=Summer2031!", ["Summer2031!"], "a weak one under the name of a password"),
    (".env", "DB_PASSWORD=hunter2x9", ["hunter2x9"], "a short one"),
    (".env", "DB_PASSWORD=correcthorsebatterystaple", ["correcthorsebatterystaple"], "letters alone, but many"),
    (".env", "PASSPHRASE=correct horse battery staple", ["correct horse battery staple"], "words"),
    (".env", f"SECRET_KEY_BASE={HEX}", [HEX], "hexadecimal, under the name of a secret"),
    (".env", f"HEROKU_API_KEY={UUID}", [UUID], "a UUID, under the name of a secret"),
    (".env", f"STRIPE={LIVE}", [LIVE], "long and by chance needs no name"),
    (".env", f"AWS_SECRET_ACCESS_KEY=/{CHANCE}{CHANCE[1:]}", [f"/{CHANCE}{CHANCE[1:]}"], "what begins as a path does"),
    (
        ".env",
        f"JWT=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.{CHANCE}",
        [f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.{CHANCE}"],
        "JWT",
    ),
    (".env", f"APP_KEY=base64:{CHANCE}", [CHANCE], "how it is encoded is no part of it"),
    (".env", f"DATABASE_URL=postgres://svc:{WEAK}@db.corp.io/app", [WEAK], "the password in an address"),
    (".env", f"DATABASE_URL=postgres://svc:%40{WEAK}@db.corp.io/app", [f"@{WEAK}"], "as it is meant"),
    (".env", f"HOOK=https://hooks.slack.com/services/T0/B0/{CHANCE}", [CHANCE], "an address that is the secret"),
    (".env", f"BLOB=https://a.blob.core.windows.net/c?sv=1&sig={CHANCE}", [CHANCE], "what signs an address"),
    (".env", f"CONN='Server=h;User=u;Password={CHANCE};'", [CHANCE], "a connection string"),
    (
        ".env",
        f'GCP={{"type":"service_account","private_key_id":"{HEX}","token":"{CHANCE}"}}',
        [CHANCE],
        "JSON in a line",
    ),
    (".env", f'KEY="{PEM}{LINE}{END}"', [LINE], "a key over several lines"),
    (".env", f'KEY="{PEM}{LINE}{END}"'.replace("\n", "\\n"), [LINE], "a key in one line"),
    (".env", f'A="x\nAPI_TOKEN={CHANCE}\n', [CHANCE], "a quote that is never closed hides nothing"),
    ("a.json", json.dumps({"a": [{"clientSecret": CHANCE}]}), [CHANCE], "JSON, another way to write names"),
    ("a.yml", f"prod:\n  - api-key: {CHANCE}\n", [CHANCE], "YAML"),
    ("src/settings.py", f'    API_KEY = "{CHANCE}"', [CHANCE], "code that is restricted"),
    ("a.ini", f"[x]\npassword = {CHANCE}\n", [CHANCE], "INI"),
    (".npmrc", f"//registry.npmjs.org/:_authToken={CHANCE}\nregistry=https://r.io/\n", [CHANCE], "npm"),
    (".npmrc", f"_auth={base64.b64encode(f'me:{CHANCE}'.encode()).decode()}", [CHANCE], "user and password in base64"),
    (".netrc", f"machine h login me\n password {CHANCE}\n", [CHANCE], "netrc"),
    (".pgpass", f"h:5432:db:me:{CHANCE}\n", [CHANCE], "pgpass"),
    (".htpasswd", f"# users\nme:$apr1${CHANCE}\n\n", [f"$apr1${CHANCE}"], "hashes of passwords"),
    (".git-credentials", f"https://me:{CHANCE}@github.com\n", [CHANCE], "git"),
    ("secrets/db_password", "Summer2031!\n", ["Summer2031!"], "a file that holds nothing else"),
    ("secrets/token", f"{CHANCE}\n", [CHANCE], "the same, by chance"),
    ("id_rsa", PEM + LINE + END, [LINE], "a key file"),
    ("id_ed25519", PEM + OPENSSH + "\n" + LINE + END, [LINE], "not the line that all such keys begin with"),
]


def _found(path, text):
    return [v for v in values_of(path, text.encode()) if v != base64.b64encode(f"me:{CHANCE}".encode()).decode()]


@pytest.mark.parametrize(("path", "text", "held", "why"), SECRET, ids=[f"{row[0]}: {row[3]}" for row in SECRET])
def test_what_is_secret(path, text, held, why):
    assert _found(path, text) == held


ORDINARY = {
    "words": ["NODE_ENV=development", "HOST=localhost", "DEBUG=true", "APP_NAME=Laravel", "LOG_CHANNEL=stack", "A="],
    "numbers": ["PORT=3000", "SECRET_TTL=86400000", "AWS_ACCOUNT_ID=123412341234", "TOKEN_EXPIRY=2026-11-22T10:00:00Z"],
    "addresses": [
        "API_URL=https://api.corp.io/v1", "AUTH_URL=http://localhost:8080/auth", "REDIS_URL=redis://localhost:6379/0",
        "MAIL_PASSWORD_RESET=me@corp.io", "KAFKA_AUTH=broker-1.corp.io:9092,broker-2.corp.io:9092",
        "DATABASE_URL=postgres://postgres:postgres@localhost:5432/app", "DB_AUTH_HOST=db.internal.corp.io:5432",
        "DATABASE_URL=mysql://root:password@db:3306/app", "AMQP_URL=amqp://guest:guest@rabbitmq:5672/",
        "SENTRY_DSN=https://0123456789abcdef0123456789abcdee@o1.ingest.sentry.io/1", "X_URL=https://[::1",
        "DOCS_URL=https://docs.google.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "PASS_HOST=10.0.0.1", "GIT_URL=git@h:a/b",
    ],
    "paths": [
        "SSH_KEY=/home/me/.ssh/id_ed25519", "TLS_KEY=./certs/server.key", "GOOGLE_CREDENTIALS=config/gcp-key.json",
    ],
    "placeholders": [
        "API_KEY=your-api-key-here", "JWT_SECRET=your-256-bit-secret", "JWT_SECRET=change_this_to_a_long_random_string",
        "JWT_SECRET=super-secret-jwt-token-with-at-least-32-characters-long", "TOKEN=xxxxxxxxxxxxxxxxxxxx",
        "API_KEY=sk_test_your_key_here", "SECRET_KEY=changeme123", "DB_PASSWORD=postgres123", "TOKEN=<your token>",
        "POSTGRES_PASSWORD=mysecretpassword", "SESSION_SECRET=keyboard cat", "KEY=0123456789abcdef0123456789abcdef",
        "MINIO_SECRET_KEY=minioadmin", "ADMIN_PASSWORD=admin1234", "A_TOKEN=1234567890", "PASSWORD=aaaaaaaaaaaa",
        "DB_PASSWORD=P@ssw0rd123", "JWT_REFRESH_SECRET=your_super_secret_refresh_key", "API_KEY=API_KEY_GOES_HERE",
    ],
    "references": [
        "DB_PASSWORD=${DB_PASS_FROM_ABOVE}", "TOKEN=$(cat /run/secrets/token1)", "TOKEN=op://vault/item/field7x",
        "A_TOKEN={{ vault.token_8 }}", "A_KEY=arn:aws:kms:eu-central-1:123:key/ab12",
    ],
    "public by name": [
        f"NEXT_PUBLIC_KEY={CHANCE}", f"STRIPE_PUBLISHABLE_KEY=pk_{CHANCE}", f"KEY_ID={CHANCE}", f"GIT_COMMIT={HEX}",
        f"COOKIE_NAME={CHANCE}", f"RECAPTCHA_SITE_KEY={CHANCE}",
    ],
    "names of things": [
        "MODEL=claude-3-opus-20240229", "BUCKET_KEY_PREFIX=my-app-prod-assets-2021", f"REQUEST={UUID}", f"CHECK={HEX}",
        "AUTH_STRATEGY=internalauthentication", "IMAGE=ghcr.io/org/app:1.2.3-alpine", "TZ=Europe/Berlin",
        "AUTH_BACKEND=django.contrib.auth.backends.ModelBackend", "CRED_CLASS=SessionAuthenticationBackend",
        "CRON_AUTH=0 0 * * 1", "TRANSFORMER=StanfordAIMI/stanford-deidentifier-base",
    ],
    "short": ["DB_PASSWORD=hunter2", "PIN=1234", "SALT=ab12"],
}  # fmt: skip
EACH = [(line, why) for why, lines in ORDINARY.items() for line in lines]


@pytest.mark.parametrize(("line", "why"), EACH, ids=[f"{why}: {line}" for line, why in EACH])
def test_what_is_none(line, why):
    assert not values_of(".env", line.encode())


NONE = [
    ("server.pem", CERT, "a certificate is public"),
    ("id_rsa.pub", f"ssh-rsa AAAAB3NzaC1yc2EAAA{LINE} me@host", "a public key"),
    ("sentinel.toml", f"token = '{CHANCE}'", "our own policy"),
    ("a", f"A_TOKEN={CHANCE}\0", "no text"),
    ("a.json", '{"a": ' * 3000, "JSON that is none"),
    ("a.json", "[" * 100_000, "JSON too deep"),
    ("a.json", '{"token":' * 50 + f'"{CHANCE}"' + "}" * 50, "JSON deeper than anybody's"),
    ("a.json", '{"token": 17, "secret": null, "key": [true]}', "JSON without texts"),
    (".env", 'TOKEN={"token": "' + CHANCE, "JSON that is cut off"),
    (".env", """TOKEN={"token": "{'token': 'x7'}"}""", "JSON within JSON"),
    (
        ".npmrc",
        f"_auth={base64.b64encode(b'me:guest').decode()}\n_auth=no-base64-9\nx:_auth=abcdefg7",
        "weak or broken",
    ),
    (".env", "", "empty"),
    (".env", "=\n= x\n:\n: y\n'\n\"\n#\n\\", "nonsense"),
    ("src/legal.yml", f"uses: actions/checkout@{CHANCE}\n{CHANCE}\n", "code that is restricted"),
    ("secrets/x.toml", 'dependencies = [\n "pyOpenSSL>=24.3.0",\n "typing-extensions>=4.13.0rc1",\n]', "lines of code"),
    ("secrets/README.md", "Put your tokens here: one for each service, and read the manual first.\n", "prose"),
]


@pytest.mark.parametrize(("path", "text", "why"), NONE, ids=[row[2] for row in NONE])
def test_files_without_a_secret(path, text, why):
    assert not values_of(path, text.encode())


def test_bytes_that_are_no_utf8_hold_none():
    assert not values_of(".env", b"TOKEN=\xff" + CHANCE.encode())


def test_it_is_said_where_a_value_is_from_and_not_what_it_is():
    assert values_of("a/.env", f"API_TOKEN={CHANCE}".encode()) == {CHANCE: "the value of API_TOKEN in a/.env"}
    assert values_of("id_rsa", (PEM + LINE + END).encode()) == {LINE: "the value of PRIVATE_KEY in id_rsa"}
    assert values_of("secrets/x", f"a b\n{CHANCE}\n".encode()) == {CHANCE: "a line of secrets/x"}
    assert values_in({"API_TOKEN": CHANCE}) == {CHANCE: "the value of the variable API_TOKEN"}
    assert values_of("\x1b[2J.env", f"API_TOKEN={CHANCE}".encode()) == {
        CHANCE: "the value of API_TOKEN in \\x1b[2J.env"
    }


VARIABLES = [
    ({"GITHUB_TOKEN": CHANCE}, [CHANCE], "a token"),
    ({"TLS_KEY": f"{PEM}{LINE}{END}"}, [LINE], "a key over several lines"),
    ({"LS_COLORS": CHANCE, "BUILD": CHANCE}, [], "other names"),
    ({"XAUTHORITY": "/run/user/1000/x-Ab12Cd34Ef56Gh78", "GIT_ASKPASS": "/usr/lib/git-core/askpass1"}, [], "paths"),
    ({"SSH_AUTH_SOCK": f"/tmp/{CHANCE}"}, [], "a socket"),
    ({"AUTH_URL": "https://login.corp.io", "PASSWORD_STORE_DIR": "/home/me/.password-store"}, [], "where something is"),
]


@pytest.mark.parametrize(("environ", "held", "why"), VARIABLES, ids=[row[2] for row in VARIABLES])
def test_variables(environ, held, why):
    assert list(values_in(environ)) == held


# --- finding ---

ODD = "Zx9/k+Q=mm T2&ä"
"""What every encoding writes another way."""
KNOWN = UserSecrets({CHANCE: "a", ODD: "b", "hunter2x9": "c"})


FOLDED = f"{'-' * 48}{CHANCE}{'=' * 80}\n".encode()
"""The first ends of lines are within the value, whether it is folded at 60 digits or at 76."""


def _b64(before, value, behind=b""):
    return base64.b64encode(before + value.encode() + behind).decode()


PLACES = [
    (f"x = '{CHANCE}'", [CHANCE], "as it is"),
    (f"a{CHANCE}b", [CHANCE], "a long one within a word"),
    ("p=hunter2x9;", ["hunter2x9"], "a short one"),
    ("p=hunter2x99 ahunter2x9", [], "a short one within a word is another"),
    ("_hunter2x9-", ["hunter2x9"], "what is no letter parts it from others"),
    ("p=HUNTER2X9", [], "other letters"),
    (f"?q={quote(ODD, safe='')}&", [ODD], "percent-encoded"),
    (f"?q={quote_plus(ODD)}&", [ODD], "as a form is"),
    (f"/{quote(ODD)}", [ODD], "as a path is"),
    *((f"<{_b64(b'x' * n, CHANCE)}>", [CHANCE], f"base64, {n} bytes before it") for n in range(6)),
    *((f"<{_b64(b'ab', ODD, b'y' * n)}>", [ODD], f"base64, {n} bytes behind it") for n in range(6)),
    (base64.urlsafe_b64encode(f"-{ODD}-".encode()).decode(), [ODD], "base64 for addresses"),
    (_b64(b"user:", "hunter2x9"), ["hunter2x9"], "base64 of a short one"),
    (f"A_TOKEN={ODD}\n".encode().hex(), [ODD], "hexadecimal, as xxd -p writes it"),
    (f"x{CHANCE.encode().hex().upper()}", [CHANCE], "in capitals"),
    ("".join(f"\\x{byte:02x}" for byte in CHANCE.encode()), [CHANCE], "escapes"),
    (FOLDED.hex("\n", -30), [CHANCE], "folded at 60, as xxd -p does it"),
    (base64.encodebytes(FOLDED).decode(), [CHANCE], "folded at 76, as base64 does it"),
    (base64.encodebytes(FOLDED).decode().replace("\n", "\r\n"), [CHANCE], "the same of Windows"),
    (f"{CHANCE}{CHANCE} {CHANCE}", [CHANCE] * 3, "each time"),
    ("", [], "nothing"),
]


@pytest.mark.parametrize(("text", "values", "why"), PLACES, ids=[row[2] for row in PLACES])
def test_where_they_are_found(text, values, why):
    found = KNOWN.find(text)
    assert [leak.value for leak in found] == values
    assert all(0 <= leak.start < leak.end <= len(text) for leak in found)
    assert all((leak.kind, leak.rule, leak.grade) == ("known", "known-value", Grade.BLOCK) for leak in found)


def test_of_two_that_overlap_the_longer_is_told():
    known = UserSecrets({"abcd1234": "short", "xy-abcd1234-zz": "long", "-zz-9000": "behind"})
    assert [(leak.what, leak.start) for leak in known.find("(xy-abcd1234-zz-9000)")] == [("long", 1)]


def test_what_is_public_is_asked_of_what_was_found_only():
    asked = []
    known = UserSecrets({CHANCE: "a", "hunter2x9": "b", UUID: "c"}, lambda values: asked.append(values) or {CHANCE})
    text = f"{CHANCE} hunter2x9"
    assert [leak.what for leak in known.find(text)] == ["b"] and asked == [{CHANCE, "hunter2x9"}]
    assert not known.find("nothing") and len(asked) == 1
    assert len(known.every(text)) == 2 and len(asked) == 1, "what goes on record is hidden without asking"


def test_a_value_counts_nowhere_but_in_its_own_file():
    known = UserSecrets({CHANCE: "a", f"x{CHANCE}x": "b"}, homes={CHANCE: {".env", "b/.env"}, f"x{CHANCE}x": {"c"}})
    for path, whats in {".env": [], "b/.env": [], "a/.env": ["a"], "": ["a"]}.items():
        assert [leak.what for leak in known.find(CHANCE, path)] == whats, path
    assert [leak.what for leak in known.find(f"x{CHANCE}x", "c")] == ["a"], "another one in it is not at home there"
    assert known.everywhere().find(CHANCE, ".env"), "what leaves the machine leaves its file"


KEY = [LINE, LINE[::-1], LINE.swapcase(), LINE[9:] + LINE[:9]]
WRITTEN = [
    ("\n".join(KEY), "as it is"),
    ("\r\n    ".join(KEY), "indented"),
    ('"' + '\\n" +\n    "'.join(KEY) + '"', "in code"),
    ("\\n".join(KEY), "in one line"),
    (quote("\n".join(KEY)), "percent-encoded"),
    (base64.b64encode("\n".join(KEY).encode()).decode(), "in base64"),
    (base64.encodebytes("\n".join(KEY).encode()).decode(), "in folded base64"),
    ("\n".join(KEY).encode().hex(), "in hexadecimal digits"),
]


@pytest.mark.parametrize(("text", "why"), WRITTEN, ids=[row[1] for row in WRITTEN])
def test_lines_of_one_key_are_one_find(text, why):
    known = UserSecrets({**dict.fromkeys(KEY, "the key"), CHANCE: "another"})
    (leak,) = known.find(f"\n{text}\n")
    assert leak.start < 3 and leak.end > len(text.rstrip()) - 3 and leak.value == f"\n{text}"[leak.start : leak.end]
    assert len(known.find("\n".join([LINE] * 3))) == 3, "the same line again is in another place"
    assert len(known.find(f"{KEY[0]}\n{CHANCE}\n{KEY[1]}")) == 3


def test_values_are_shown_by_nothing():
    assert CHANCE not in repr(KNOWN) + str(KNOWN) + repr(KNOWN.find(CHANCE)) and repr(NOTHING) == "<0 known values>"
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="stay in memory"):
            way(KNOWN)
    assert not hasattr(KNOWN, "__dict__")


def test_it_is_bounded():
    assert len(UserSecrets({f"value-{n:06}": "" for n in range(3 * MOST)})) == MOST
    assert len(UserSecrets({"short": ""})) == 0


def test_what_looks_like_chance_is_not_weak():
    assert not weak(CHANCE) and not weak(LIVE) and weak("Summer2031!") and weak("dev-secret-key-one")


WORDS = [*"aAzZ09+/=_-% \n'\"ä\U0001f600\ud800", CHANCE, ODD, quote(ODD), "hunter2x9"]
TEXT = st.lists(st.sampled_from(WORDS)).map("".join)


@given(TEXT)
def test_offsets_are_true(text):
    end = 0
    for leak in KNOWN.find(text):
        assert end <= leak.start < leak.end <= len(text)
        end = leak.end
        if leak.end - leak.start == len(leak.value):
            assert text[leak.start : leak.end] == leak.value


@given(st.text(), st.text(), st.text(st.characters(codec="utf-8"), min_size=8))
def test_a_value_is_found_in_anything(before, behind, value):
    known = UserSecrets({value: ""})
    assert known.find(f"{before}|{value}|{behind}")
    assert known.find(base64.b64encode(f"|{value}|".encode()).decode())


@given(st.sampled_from([".env", "a.json", ".npmrc", ".netrc", ".pgpass", "x.pem", "id_rsa"]), st.binary())
def test_no_file_raises(path, content):
    """Nothing is raised; of what is no text there is no value, and of each other one it is said where it is from."""
    found = values_of(path, content)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    assert "\0" not in text or found == {}
    assert all(len(value) >= 8 for value in found)
    assert all(what.startswith(("the value of ", "a line of ")) for what in found.values())
    assert all(what.endswith(f" {path}") for what in found.values())


LINES = st.lists(
    st.sampled_from(
        ["A_TOKEN=", "'", '"', '"""', CHANCE, "\n", "\\", PEM, LINE, END, "{", ": ", "# ", "=", "://", "@", "%"]
    )
)


@given(st.sampled_from([".env", "a.json", ".npmrc"]), LINES)
def test_no_text_raises_and_values_are_of_it(path, words):
    text = "".join(words)
    assert all(len(value) >= 8 for value in values_of(path, text.encode()))


HOSTILE = [
    ("'\n" * 30_000, "quotes that never close"),
    ('A="' * 20_000, "quotes in one line"),
    ('A="\n' * 15_000, "assignments that never close"),
    ("A" * 64_000, "one word"),
    ("A=" + "a-" * 32_000, "a value of dashes"),
    ("-----BEGIN " * 6_000, "keys that never begin"),
    ("A_URL=x://" + "/:" * 30_000, "an address"),
]


@pytest.mark.parametrize(("text", "why"), HOSTILE, ids=[row[1] for row in HOSTILE])
def test_a_hostile_file_takes_no_time(text, why):
    began = time.process_time()
    values_of(".env", text.encode())
    assert time.process_time() - began < 2


@pytest.mark.parametrize("text", ["a" * 300_000, "aaaaaaab" * 40_000, CHANCE * 15_000])
def test_finding_is_linear(text):
    known = UserSecrets({"a" * 8: "", CHANCE: "", **{f"aaaaaaa{n:04}": "" for n in range(MOST - 2)}})
    began = time.process_time()
    known.find(text)
    assert time.process_time() - began < 2
