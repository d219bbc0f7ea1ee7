"""How command lines carry credentials: options, URLs, headers, piped input. Data for ``redact_by_pattern``.

Each row carries what it must hide (``hunter2…`` is the secret) and what it must leave alone; a test reads both.
Time is linear: what lies between a program and its option is bounded, and so is every name.
"""

from __future__ import annotations

from typing import NamedTuple

KEYWORD = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|credential|token(?!s|iz|[_-]?(?:usage|count|limit))"
    r"|(?:api|access|private|auth|account|encryption|signing|master)[_-]?key)"
)

VALUE = r"(<redacted>|\"[^\"\n\x1f]*\"?|'[^'\n\x1f]*'?|[^\s\"';&|()<>]+)"
"""One word of a shell. What was hidden already counts, so that nothing behind it is taken for the value."""

_SPACED = rf"(?!-){VALUE}"
_GAP = r"\s(?:[^\n;|&]{0,200}?\s)?"
_MIXED = r"(?=[\w+/.~=-]{0,100}?\d)(?=[\w+/.~=-]{0,100}?[a-z])(?=[\w+/.~=-]{0,100}?[A-Z])([\w+/.~=-]{16,})"
_STDIN = r"--password-stdin|--with-token|\bchpasswd|\bpasswd\s{1,3}--stdin|\bsudo\s{1,3}-S\b"


class Form(NamedTuple):
    """Two groups in ``pattern``: what stays, what is hidden."""

    needles: tuple[str, ...]
    """Lower case: a text without any of them is not searched."""
    pattern: str
    hit: str
    miss: str


def _option(programs: str, options: str, *examples: str, value: str = VALUE) -> Form:
    names = tuple(n.replace("\\", "") for n in programs.split("|"))
    return Form(names, rf"(\b(?:{programs})[\w-]{{0,12}}{_GAP}(?:{options})){value}", *examples)


FORMS = (
    Form(
        ("sshpass",), rf"(\bsshpass\s{{1,3}}(?:-[ve]\s{{1,3}}){{0,2}}-p\s{{0,3}}){VALUE}",
        "sshpass -p hunter2 ssh -p 22 h", "sshpass -f file ssh -p 22 h",
    ),
    _option("mysql|mariadb", "-p", "mysqldump -u root -phunter2 shop", "mysql -u root -p shop"),
    _option("mongo", r"-p\s{1,3}", "mongosh -u me -p hunter2", "mongosh --port 27017", value=_SPACED),
    _option("redis-cli", r"(?:-a|--pass)[\s=]{1,3}", "redis-cli -h h -a hunter2 ping", "redis-cli -h h ping"),
    _option("ldap", r"-w\s{0,3}", "ldapsearch -x -w hunter2", "ldapsearch -x -W"),
    _option("sqlcmd|bcp|mosquitto_", r"-P\s{0,3}", "sqlcmd -S h -P hunter2", "mosquitto_sub -h h -p 1883"),
    _option("swaks", r"-ap\s{1,3}", "swaks -au me -ap hunter2", "swaks --to a@b.c"),
    _option("ssh-keygen", r"-[NP]\s{1,3}", "ssh-keygen -t ed25519 -N hunter2", "ssh-keygen -t ed25519 -N '' -f k"),
    _option("7z", "-p", "7z a -phunter2 a.7z src", "7z x -y a.7z"),
    _option("zip", r"-P\s{0,3}", "zip -r -P hunter2 a.zip src", "unzip -p a.zip x"),
    Form(
        ("login",), rf"((?<![\w-])login{_GAP}-p[\s=]{{0,3}}){_SPACED}",
        "docker login -u me -p hunter2 registry.io", "bash --login -c 'mkdir -p src'",
    ),
    Form(
        ("openssl",),
        rf"(\bopenssl\s{{1,3}}(?:enc|aes|des|bf|rc|camellia|aria|sm4|chacha)[\w-]{{0,20}}{_GAP}-[kK]\s{{1,3}}){VALUE}",
        "openssl enc -aes-256-cbc -k hunter2", "openssl s_client -connect h:443 -k x",
    ),
    Form(
        ("pass:",), rf"((?<!\S)-pass(?:in|out)?\s{{1,3}}pass:){VALUE}",
        "openssl rsa -passin pass:hunter2", "openssl rsa -passin env:PW",
    ),
    Form(
        ("htpasswd",),
        rf"(\bhtpasswd\s{{1,3}}(?:-\w{{1,9}}\s{{1,3}}){{0,3}}-(?!\w{{0,9}}n)\w{{0,9}}b\w{{0,9}}\s{{1,3}}"
        rf"\S{{1,200}}\s{{1,3}}\S{{1,100}}\s{{1,3}}){VALUE}",
        "htpasswd -bc users me hunter2", "htpasswd -c users me",
    ),
    Form(
        ("htpasswd",),
        rf"(\bhtpasswd\s{{1,3}}-(?=\w{{0,9}}n)\w{{0,9}}b\w{{0,9}}\s{{1,3}}\S{{1,100}}\s{{1,3}}){VALUE}",
        "htpasswd -nbB me hunter2", "htpasswd -n me",
    ),
    Form(
        ("secret",), rf"(\bgh\s{{1,3}}secret\s{{1,3}}set{_GAP}(?:-b|--body)[\s=]{{1,3}}){VALUE}",
        "gh secret set NAME --body hunter2", "gh issue create --body text",
    ),
    Form(
        ("--from-literal",), rf"(--from-literal[=\s]{{1,3}}[\"']?[^\s=\"']{{1,100}}=){VALUE}",
        "kubectl create secret generic s --from-literal=k=hunter2", "kubectl create secret generic s --from-file=k",
    ),
    Form(
        ("config",),
        rf"((?i:\bconfig(?:ure)?\s{{1,3}}(?:(?:set|add|-\S{{1,30}})\s{{1,3}}){{0,4}}"
        rf"(?!\S{{0,100}}\.(?:helper|username|usehttppath))\S{{0,100}}?(?:{KEYWORD}|:_auth)[\w-]{{0,40}}\s{{1,3}})){_SPACED}",
        "aws configure set aws_secret_access_key hunter2", "git config credential.helper store",
    ),
    Form(
        ("_auth",), rf"(_auth(?:Token)?\s{{1,3}}){_SPACED}",
        "//registry/:_authToken hunter2", "grep user_auth_test src",
    ),
    Form(
        ("setx", "set"),
        rf"((?i:\b(?:setx|set\s{{1,3}}-\w{{0,3}}x\w{{0,2}})\s{{1,3}}\w{{0,60}}?{KEYWORD}\w{{0,40}}\s{{1,3}})){_SPACED}",
        "set -gx DB_PASSWORD hunter2", "set -x PATH a",
    ),
    Form(
        ("pass", "pw"),
        r"((?i:(?<![a-z0-9])(?:db|my|root|admin|user|smtp|mail|ftp|pg|ssh)?(?:pass|pw))"
        rf"(?:=|\\?[\"']\s{{0,3}}[:=]\s{{0,3}}\\?))(?!\d{{1,4}}(?![^\s,;])){VALUE}",
        "DB_PASS=hunter2 ./run", "pass=12 fail=0 bypass=yes",
    ),
    Form(
        ("-pass", "-pw"), rf"(--(?:[a-z0-9]{{1,20}}-){{0,2}}(?:pass|pw)\s{{1,3}}){_SPACED}",
        "tool --db-pass hunter2", "tool --pass-through x",
    ),
    Form(
        ("key=", "sig=", "signature=", "auth=", "jwt=", "sid=", "session", "hmac=", "otp=", "ticket=", "code="),
        r"((?i:[?&](?:x-[a-z]{1,5}-)?(?:key|sig|signature|auth|jwt|sid|session(?:_?id)?|hmac|otp|ticket|code)=))"
        r"([^\s&\"'#<>]+)",
        "curl 'https://h/?a=1&sig=hunter2&se=1'", "curl 'https://h/?page=2&monkey=1'",
    ),
    Form(
        ("key=", "sig=", "signature=", "auth=", "jwt=", "sid=", "session="),
        rf"((?i:(?<![\w-])(?:key|sig|signature|auth|jwt|sid|session)=)){_MIXED}",
        "denied for key=hunter2xK9vLmPq7TsWc3", "sort --key=2 and key=lambda_of_something_long",
    ),
    Form(
        ("http",), r"((?i:https?://))((?=[^\s:/@]{0,100}?\d)[^\s:/@?#<>]{16,255}|[^\s:/@?#<>]{20,255})(?=(?::[^\s/@]{0,300})?@)",
        "git clone https://hunter2xK9vLmPq7TsWc3@host/x", "git clone https://first.last@host/x",
    ),
    Form(
        ("cookie",), r"((?i:\b(?:set-)?cookie\\?[\"']?\s{0,3}:\s{0,3}\\?[\"']?))([^\n\"'\x1f]+)",
        "curl -H 'Cookie: a=1; session=hunter2' http://h", "cookie_jar = load()",
    ),
    Form(
        ("-b", "--cookie"),
        rf"(\b(?:curl|https?)\s[^\n]{{0,200}}?(?<=\s)(?:-b|--cookie)[\s=]{{0,3}}(?=[\"']?(?:[\w.-]{{1,60}}=|<redacted>))){VALUE}",
        "curl -s -b 'session=hunter2; b=1' http://h", "curl -b cookies.txt http://h",
    ),
    Form(
        ("password", "passphrase", "passwd", "pin", "secret", "token", "key"),
        r"((?i:\b(?:password|passphrase|passwd|pin|secret|token|api[_ -]?key)\s(?:is|was)\s)[\"']?)"
        r"((?=[^\s\"']{0,40}?\d)[^\s\"'<>]{6,})",
        "help-me 'my password is hunter2'", "the password is required, the token is 5 minutes old",
    ),
    Form(
        ("-stdin", "--with-token", "chpasswd", "sudo"),
        rf"(\b(?:echo|printf)\s{{1,3}}(?:-\w{{1,3}}\s{{1,3}}|[\"']%s(?:\\n)?[\"']\s{{1,3}}){{0,2}}){VALUE}"
        rf"(?=\s{{0,3}}\|[^|;&\n]{{0,200}}?(?:{_STDIN}))",
        "echo hunter2 | docker login --password-stdin", "echo done | tee log; docker login --password-stdin",
    ),
    Form(
        ("-stdin",), rf"(--password-stdin\s{{1,3}}<<<\s{{0,3}}){VALUE}",
        "docker login --password-stdin <<< hunter2", "docker login --password-stdin < file",
    ),
)  # fmt: skip
"""Too much rather than too little, as in ``redact_by_pattern``: a value that is no secret may be hidden, seldom."""
