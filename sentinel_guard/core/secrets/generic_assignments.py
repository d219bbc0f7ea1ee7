"""Secrets without a provider's format: values assigned to names such as ``password``, and passwords in URLs.

Rules of this file:
1. Only a literal counts: what is looked up, called, or made up elsewhere tells nothing.
2. An ordinary word is no secret, and neither is the name of a thing; a password needs less disorder than a token.
3. It warns, and does not stop; a real-looking password in a URL does.
4. A pattern is tried at a needle only, and what it repeats is bounded.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from sentinel_guard.core.secrets.model import Grade, SecretFind
from sentinel_guard.core.secrets.placeholder_values import password_like, strong, token_like
from sentinel_guard.core.secrets.regex_engine import compile_with_re
from sentinel_guard.core.text.credential_options import FORMS

_KEYS = ("api", "access", "auth", "private", "account", "encryption", "signing", "master", "service", "storage", "app")
NAME_NEEDLES = (
    "passw", "passphrase", "pwd", "pass=", "pass =", "pass:", 'pass"', "pass'", "_pass_", "-pass-", "pass>", "pass)",
    "secret", "credential", "token", *(f"{word}{joint}key" for word in _KEYS for joint in ("", "_", "-", ".")),
)  # fmt: skip
URL_NEEDLE = "://"
PROGRAMS = {
    needle: form.pattern
    for form in FORMS
    for needle in form.needles
    if needle
    in {"sshpass", "mysql", "mariadb", "mongo", "redis-cli", "ldap", "sqlcmd", "htpasswd", "openssl", "ssh-keygen"}
}
"""Programs that take a password as an argument, and how."""
RULES = ("generic-password", "generic-secret", "url-password")

_NAME = (
    r"(?i:[_-]?(?:passw(?:or)?d|passphrase|pwd|pass)"
    rf"|secret|credential|token|(?:{'|'.join(_KEYS)})[_.-]?key)[\w-]{{0,40}}"
)
_TYPED = r"(?i)pass(?!ive|port|age)|pwd"
_QUOTE = r"""\\?["'`]"""
_GAP = "[ \\t]{0,8}"
_SET = (
    rf"""(?:\(|[\\"'`\])]{{0,3}}{_GAP}"""
    r"""(?::?[ \t]{0,2}[A-Za-z][A-Za-z?<>]{0,19}[ \t]{1,3})?"""  # a type: ``password: str = ``, ``var token string = ``
    rf"""(?:=>|:{{0,3}}={{1,3}}|!==?|:|value[ \t]{{0,3}}=){_GAP})[@A-Za-z]{{0,2}}"""
)
_BARE = r"""(?P<value>[^\s"'`]{6,500}+)(?<![,;])"""
_WORD = r"(?:(?i:export|setx?|env|arg)|[+-])[ \t]{1,4}"
_COMMENT = r"(?:#|//|\*|--|;)[ \t]{0,4}(?:[\w.-]{1,20}[ \t]){0,4}"
_WAYS = (
    ("", rf"""{_SET}{_QUOTE}(?P<value>[^"'`\s]{{6,500}}+){_QUOTE}"""),
    (
        r"[(,][ \t]{0,4}[\"'`][\w.-]{0,80}$",
        rf"""[\"'`],[ \t]{{0,4}}{_QUOTE}(?P<value>[^"'`\s]{{6,500}}+){_QUOTE}[ \t]{{0,4}}[,)]""",
    ),
    (
        rf"(?m:^)[ \t]{{0,40}}(?:{_WORD}|{_COMMENT})?[$\"']?[\w.:-]{{0,80}}$",
        rf"""["'\]]{{0,2}}{_GAP}(?:=>|:?=|:[ \t]){_GAP}{_BARE}{_GAP}(?:[ \t][#;][^\n]{{0,200}})?\r?(?m:$)""",
    ),
    (r"(?m:^|[\s;&|(\"'`])[A-Z_0-9]{0,60}$", r"=[\"']?(?P<value>[^\s\"'`()\[\]{},;]{6,500}+)(?=[\"']?\s)"),
    (r"<[\w:.-]{0,80}$", r">\s{0,20}(?P<value>[^<>\s]{6,500}+)\s{0,20}</"),
    (r"(?:^|[\s\"'])--[\w-]{0,80}$", rf"[ =][\"']?{_BARE}(?=[\s\"'`]|$)"),
    (r"[;?&\"'][ \t]?[\w-]{0,80}$", r"=(?P<value>[^;&\"'\s]{6,500}+)(?:[;&\"'\s]|$)"),
)
"""How a value is given to a name, as what stands before and behind it: in quotes; as the next argument of a call; on a
line of its own, also in a comment; before a command; as an element; to an option; in a list of such."""
_EQUALS = r"[=!]==?[ \t]{0,3}[\w.>-]{0,40}$"
_COMPARED = rf"""{_QUOTE}(?P<value>[^"'`\s]{{6,500}}+){_QUOTE}[ \t]{{0,3}}$"""
_URL = r"://(?P<user>[^\s:/@\"'`<>?#]{0,100}):(?P<value>[^\s/@\"'`<>]{4,200})@(?P<host>[\w.-]{1,200}|\[[0-9a-fA-F:]+\])"
_NOBODYS = r"(?i)(?:.*\.)?(?:example|test|invalid|localhost|host)(?:\.(?:com|org|net|edu|\w\w))?|127\..*|0\.0\.0\.0"
_DISTANT = r"[\w-]+(?:\.[\w-]+)+|\[.*"
_LONG = 12
"""Characters of a password that even beside a bare name of a host (``db``) is nobody's example."""
_BACK = 240
"""Characters before a name that are looked at."""
_LETTERS = f"{string.ascii_letters}{string.digits}_-"
_PARTS = r"[A-Z]?[a-z]+|[A-Z]+"
_OTHER = frozenset((
    "age", "algorithm", "arn", "attr", "class", "column", "confirm", "confirmation", "count", "csrf", "description",
    "digest", "dummy", "element", "endpoint", "err", "error", "event", "example", "expiration", "expire", "expires",
    "expiry", "fake", "field", "file", "forgot", "format", "hash", "header", "help", "hint", "id", "ids", "index",
    "input", "kind", "label", "len", "length", "lifetime", "limit", "location", "manager", "max", "message", "mgr",
    "min", "mock", "msg", "name", "param", "path", "pattern", "placeholder", "policy", "prefix", "prompt", "provider",
    "public", "ref", "reference", "regex", "reset", "salt", "sample", "scope", "selector", "size", "strength",
    "suffix", "test", "text", "title", "ttl", "type", "uri", "url", "usage", "valid", "validator", "version", "xsrf",
))  # fmt: skip
"""Words in a name: the secret's word tells about something else (``password_field``, ``token_url``)."""


def assigned(text: str, starts: Iterable[int]) -> Iterator[SecretFind]:
    """What is given to the names that have a needle at these places, in order."""
    done = 0
    for start in starts:
        name = compile_with_re(_NAME).match(text, start) if start >= done else None
        if not name:
            continue
        done = name.end()
        before = text[max(start - _BACK, 0) : start]
        span = _given(text, before, done) or _compared(before, start)
        if not span or before.rfind("{{") > before.rfind("}}"):  # in a template it is an argument
            continue
        first, last = span
        whole, value = _led(before) + name[0], text[first:last].rstrip("\\")  # before a quote in a quoted text
        password = bool(compile_with_re(_TYPED).search(whole))
        if (password_like if password else token_like)(value) and not _of_another(whole):
            rule, what = (RULES[0], "a password") if password else (RULES[1], "a secret")
            yield SecretFind(rule, "secret", what, Grade.WARN, first, first + len(value), value)


def _of_another(name: str) -> bool:
    return any(part.lower() in _OTHER for part in compile_with_re(_PARTS).findall(name))


def _led(before: str) -> str:
    """The start of the name: what stands right before its needle."""
    return before[len(before.rstrip(_LETTERS)) :]


def _given(text: str, before: str, at: int) -> tuple[int, int] | None:
    """Where the value stands that follows the name, which ends at ``at``."""
    for left, right in _WAYS:
        if (found := compile_with_re(right).match(text, at)) and compile_with_re(left).search(before):
            return found.span("value")
    return None


def _compared(before: str, start: int) -> tuple[int, int] | None:
    """Where the literal stands that the name, which begins at ``start``, is compared with."""
    equals = compile_with_re(_EQUALS).search(before[-48:])
    at = len(before[-48:]) - equals.start() if equals else 0
    if not at or not (found := compile_with_re(_COMPARED).search(before[: len(before) - at])):
        return None
    offset = start - len(before)
    return offset + found.start("value"), offset + found.end("value")


def in_urls(text: str, starts: Iterable[int]) -> Iterator[SecretFind]:
    """Passwords in the URLs whose ``://`` stand at these places; of a near host, or a weak one, it warns only."""
    for start in starts:
        if not (found := compile_with_re(_URL).match(text, start)) or found["value"] == found["user"]:
            continue
        value = unquote(found["value"])
        if password_like(value):
            grade = Grade.BLOCK if strong(value) and _matters(found["host"], value) else Grade.WARN
            yield SecretFind(RULES[2], "secret", "a password in a URL", grade, *found.span("value"), found["value"])


def _matters(host: str, password: str) -> bool:
    return not compile_with_re(_NOBODYS).fullmatch(host) and (
        len(password) >= _LONG or bool(compile_with_re(_DISTANT).fullmatch(host))
    )


def in_commands(text: str, starts: Iterable[tuple[int, str]]) -> Iterator[SecretFind]:
    """Passwords in the arguments of the programs that are named at these places, each with its pattern."""
    for start, pattern in starts:
        if not (found := compile_with_re(pattern).match(text, start)):
            continue
        value = found[2].strip("\"'")
        if password_like(value):
            first = text.index(value, found.start(2))
            yield SecretFind(RULES[0], "secret", "a password", Grade.WARN, first, first + len(value), value)
