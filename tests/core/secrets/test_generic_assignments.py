"""Secrets without a form: in which notations a name gives a value, and which values are none."""

import pytest

from sentinel_guard.core.secrets.entropy_and_dummy_values import entropy, is_dummy_value
from sentinel_guard.core.secrets.formats.base import fake
from sentinel_guard.core.secrets.model import Grade
from sentinel_guard.core.secrets.scan_text import scan

P = "kX9!mm" + "pq_2v"
T = fake(32)

GIVEN = [
    (f'password = "{P}"', P, "Python, TOML"),
    (f"self.db_password = '{P}'", P, "an attribute"),
    (f'password: str = "{P}"', P, "with a type"),
    (f'var password string = "{P}"', P, "Go"),
    (f"password := `{P}`", P, "Go, short"),
    (f'String password = "{P}";', P, "Java"),
    (f'{{"password": "{P}"}}', P, "JSON"),
    (f'"{{\\"password\\": \\"{P}\\"}}"', P, "JSON in a string"),
    (f"password: {P}", P, "YAML"),
    (f"  - dbPassword: '{P}'", P, "YAML, in a list"),
    (f":password => '{P}'", P, "Ruby"),
    (f"$config['password'] = '{P}';", P, "PHP"),
    (f"define('DB_PASSWORD', '{P}');", P, "a constant of PHP"),
    (f'os.getenv("DB_PASSWORD", "{P}")', P, "what stands in for a variable"),
    (f"DB_PASSWORD={P}", P, "a file of variables"),
    (f"export DB_PASS={P}\n", P, "exported"),
    (f"ENV ADMIN_PASSWORD {P}\nENV ADMIN_PASSWORD={P}\n", P, "a Dockerfile"),
    (f"# admin password: {P}", P, "in a comment"),
    (f"<password>{P}</password>", P, "XML"),
    (f'<add key="DbPassword" value="{P}" />', P, ".NET"),
    (f"Server=db;User=me;Password={P};Port=1", P, "a string of a connection"),
    (f"tool --password {P} --force", P, "an option"),
    (f"tool --db-password={P}", P, "an option, joined"),
    (f'if password == "{P}":', P, "compared"),
    (f'if ("{P}" === password) {{', P, "compared the other way round"),
    (f"db.connect('me', password='{P}')", P, "an argument by name"),
    (f'setPassword("{P}")', P, "an argument"),
    ('password = "meadow-onyx-147"', "meadow-onyx-147", "words and a number"),
    ('password = "hunter22x"', "hunter22x", "weak"),
    ('password = "correcthorsebatterystaple"', "correcthorsebatterystaple", "letters alone, but many"),
    (f'api_key = "{T}"', T, "a token"),
    (f"clientSecret: '{T}'", T, "a secret"),
    (f'"access-token": "{T}"', T, "dashed"),
    (f"storage.key={T}", T, "dotted"),
    ("npmAuthToken: 92e3cffe-85a8-45db-847f-2f13bf58ee0d", "92e3cffe-85a8-45db-847f-2f13bf58ee0d", "a UUID"),
    (f"PGPASSWORD={P} psql -h db", P, "before a command"),
    (f"openssl enc -aes-256-cbc -k {P} -in a", P, "an argument of openssl"),
    (f"sshpass -p '{P}' ssh me@host", P, "an argument of sshpass"),
    (f"mysqldump -u me -p{P} shop", P, "glued to its option"),
]

LET_BE = [
    ('password = ""', "nothing"),
    ('password = "password"', "the word"),
    ('password = "my-secret-password"', "words"),
    ('password = "changeme123"', "a placeholder"),
    ('password = "<your password>"', "a placeholder in brackets"),
    ('password = "xxxxxxxxxxxx"', "one letter"),
    ('password = "********"', "masked"),
    ('password = "12345678"', "the digits in order"),
    ('password = os.environ["DB_PASSWORD"]', "looked up"),
    ('password = "${DB_PASSWORD}"', "a variable"),
    ('password = "{{ vault_password }}"', "a template"),
    ("password: {{ lookup('vault', 'x', secret='a9b8c7d6e5f4') }}", "an argument in a template"),
    ('password = "%(password)s"', "to be filled in"),
    ("password: op://vault/item1/password", "in a vault"),
    ("password: ENC[AES256_GCM,data:p673wD9x,iv:YY=]", "encrypted"),
    ("password: '%env(DB_PASSWORD1)%'", "a function of a template"),
    ("password: !Ref DbPassword1", "a tag of YAML"),
    ("password = form.cleaned_data['password1']", "a call's result"),
    ("password = getpass.getpass()", "asked for"),
    ("password: Annotated[", "a type"),
    ("password: string;", "a type"),
    ("this.password = password2;", "a variable"),
    ('password_field = "login.password1x"', "the name of a field"),
    ('password_hash = "9f8a7b6c5d4e3f2a"', "a hash"),
    ('PASSWORD_RESET_URL = "/accounts/reset/9a8b7c/"', "a link"),
    ('passwords = ["TokenAuth", "SecretAuth2"]', "a list of names"),
    ('token = "csrfmiddlewaretoken"', "a name"),
    ("mysql -u root -p shop", "asked for"),
    ("mysql -u root -p$PASS shop", "a variable"),
    ('token_id = "3b241101-e2bb-4255-8caf-4136c566a962"', "the id of a token"),
    ('token_type = "bearer9x8y7z6w"', "about a token"),
    ('password = "someClassNameOfOurs"', "humps of a name"),
    ('api_key = "https://acme.io/v1/a9b8c7d6"', "a link"),
    ('private_key = "/etc/ssl/k3y-9a8b7c.pem"', "a path"),
    ('token = re.compile(r"\\d+[a-f]{2}x9")', "a pattern"),
    ('accessToken = "pk.' + f'{T}"', "published on purpose"),
    ("the token is a long string of letters", "prose"),
    ("password\n= 'abc'", "not on one line"),
]

URLS = [
    (f"postgres://app:{P}@db.acme.io/x", Grade.BLOCK, "a password that matters"),
    ("https://ci:" + f"{fake(24)}@pypi.acme.internal/simple", Grade.BLOCK, "of a private index"),
    (f"redis://:{fake(21)}@cache:6379", Grade.BLOCK, "a long one of a host without a domain"),
    ("amqp://app:p%40ss-w0rd9X@mq.acme.io", Grade.BLOCK, "judged as it is when decoded"),
    ("postgres://app:abc12x@db.acme.io/x", Grade.WARN, "a weak one"),
    (f"postgres://app:{P}@localhost/x", Grade.WARN, "of this machine"),
    (f"https://app:{P}@www.example.com/", Grade.WARN, "of nobody's host"),
    ("postgres://postgres:postgres@db/x", None, "the same as the user"),
    ("postgres://user:password@db.acme.io/x", None, "the word"),
    ("postgres://app:${PASSWORD}@db.acme.io/x", None, "a variable"),
    ("https://acme.io:8080/a@b", None, "a port"),
]

MADE_UP = [
    ("AKIA" + "IOSFODNN7EXAMPLE", True, "AWS's own"),
    ("abcabcabcabc", True, "one piece again and again"),
    ("${TOKEN}", True, "a variable"),
    ("process.env.TOKEN", True, "looked up"),
    ("<token>", True, "a tag"),
    ("qwertyuiop99", True, "a row of keys"),
    (fake(40), False, "random"),
    (fake(400), False, "random and long"),
    ("m{{h}o)p${e]nob(ody", False, "signs alone make no template"),
]


@pytest.mark.parametrize(("text", "value", "why"), GIVEN, ids=[row[2] for row in GIVEN])
def test_a_value_that_is_given_to_a_name_is_warned_of(text, value, why):
    leaks = [leak for leak in scan(text) if leak.grade is Grade.WARN]
    assert value in {leak.value for leak in leaks}
    assert all(text[leak.start : leak.end] == leak.value for leak in leaks)
    assert scan(text, generic=False) == []


@pytest.mark.parametrize(("text", "why"), LET_BE, ids=[row[1] for row in LET_BE])
def test_what_is_no_secret_is_let_be(text, why):
    assert scan(text) == []


@pytest.mark.parametrize(("text", "grade", "why"), URLS, ids=[row[2] for row in URLS])
def test_passwords_in_urls(text, grade, why):
    assert [(leak.rule, leak.grade) for leak in scan(text)] == ([("url-password", grade)] if grade is not None else [])


@pytest.mark.parametrize(("value", "expected", "why"), MADE_UP, ids=[row[2] for row in MADE_UP])
def test_what_stands_for_a_secret_is_none(value, expected, why):
    assert is_dummy_value(value) is expected


def test_entropy_is_in_bits_a_character():
    assert entropy("") == entropy("aaaa") == 0
    assert entropy("abcd") == 2
