"""Redact secrets in a text by regular expressions, before it is logged, stored or shown.

Rules of this file:
1. Too much rather than too little: this text is for reading, never for running.
2. Time is linear in the text: a pattern starts only where a token can start, and what it repeats has one way to match.
3. Redacting twice changes nothing.
Token formats are public facts of their providers: prefix, alphabet, length.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from sentinel_guard.core.json_codec import dumps
from sentinel_guard.core.text.aho_corasick import KeywordSearch
from sentinel_guard.core.text.credential_options import FORMS, KEYWORD

MARK = "<redacted>"

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)

_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|AIDA|AROA|AGPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # AWS
    r"|gh[pousr]_[A-Za-z0-9]{20,}"  # GitHub
    r"|npm_[A-Za-z0-9]{30,}"  # npm
    r"|hf_[A-Za-z0-9]{30,}"  # Hugging Face
    r"|(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{20,}"  # Stripe
    r"|SK[0-9a-f]{32}(?![A-Za-z0-9])"  # Twilio
    r"|dop_v1_[a-f0-9]{64}"  # DigitalOcean
    r"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"  # Shopify
    r"|dapi[a-f0-9]{32}"  # Databricks
    r")"
)

_LONG_TOKENS = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"github_pat_[A-Za-z0-9_]{20,}"
    r"|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_-]{20,}"  # GitLab
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"  # Slack
    r"|sk-[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"  # Google
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"  # JWT
    r"|ZXlK[A-Za-z0-9_-]{40,}"  # a JWT in base64
    r"|pypi-[A-Za-z0-9_-]{50,}"
    r"|SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"  # SendGrid
    r"|hv[sb]\.[A-Za-z0-9_-]{20,}"  # Vault
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"  # Telegram
    r")"
)

_GLUED = re.compile(
    r"(?:gh[pousr]_[A-Za-z0-9]{30}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z]{34}|(?:sk|rk)_live_[A-Za-z0-9]{20})[A-Za-z0-9_]*"
    r"|github_pat_[A-Za-z0-9_]{40,}|gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,}|whsec_[A-Za-z0-9+/]{32,}"
    r"|xox[abeoprs]-[0-9]{8,}[A-Za-z0-9-]*"
    r"|AIza[A-Za-z0-9_-]{35,}|(?:AKIA|ASIA)[A-Z0-9]{16,}"
    r"|dop_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
    r"|sk-(?:ant|proj)-[A-Za-z0-9_-]{20,}"
)
"""Tokens that nothing else looks like, whatever is written right before or behind them."""

_SLACK_HOOK = re.compile(r"(hooks\.slack\.com/(?:services|workflows)/)[A-Za-z0-9/_-]+")
_URL_PASSWORD = re.compile(r"(?<=://)([^\s:/@]{0,100}):([^\s/@]{1,300})@")
_HEADER = re.compile(
    r"(?i)\b(authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token|digest|negotiate)\s{1,3})?)([^\s\"',]+)"
)
_BEARER = re.compile(r"(?i)\b(bearer\s{1,3})([A-Za-z0-9._~+/=-]{12,})")
_CURL_USER = re.compile(r"((?<=\s)(?:-u|--user)[ =]{0,2}[\"']?[^\s:\"']{1,100}:)([^\s\"']+)")
_OPTION = re.compile(rf"(?i)(--(?:[a-z0-9]{{1,20}}-){{0,2}}{KEYWORD}[\w-]{{0,20}}\s{{1,3}})([^\s<>-]\S*)")
_ASSIGNED = re.compile(
    rf"(?i)({KEYWORD}[\w-]{{0,40}}\\?[\"']?[ \t]{{0,3}}(?:=>|:{{0,2}}={{1,3}}+|:(?!=))[ \t]{{0,3}}\\?)"
    r"(\"[^\"\n]*\"?|'[^'\n]*'?|[^\s\"',;&|()<>{}\[\]]+)"
)
_SECRET_NAME = re.compile(rf"(?i){KEYWORD}|^authorization$")
_HARMLESS = re.compile(
    r"(?i)[\"']?(?:\$|(?:str|string|bytes|bool|boolean|int|float|none|null|nil|true|false|optional)(?![\w!@#$%^&*-]))"
)
"""A reference, a type or a literal stands where a secret could: it tells nothing."""

SHORT = 48
"""Characters: names of fields, ids and words come again and again, so their result is remembered."""

_GITHUB = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
_GITLAB = ("glpat-", "gldt-", "glrt-")
_SHOPIFY = ("shpat_", "shpca_", "shppa_", "shpss_")
_OF_GLUED = (
    *(*_GITHUB, *_GITLAB, *_SHOPIFY, "github_pat_", "npm_", "hf_", "_live_", "whsec_", "xox", "AIza"),
    *("AKIA", "ASIA", "dop_v1_", "sk-ant-", "sk-proj-"),
)
_OF_TOKENS = (
    *("AKIA", "ASIA", "AIDA", "AROA", "AGPA", "ANPA", "ANVA", "ABIA", "ACCA"),
    *(*_GITHUB, *_SHOPIFY, "npm_", "hf_", "_live_", "_test_", "_prod_", "whsec_", "SK", "dop_v1_", "dapi"),
)
_OF_LONG_TOKENS = (
    *(*_GITLAB, "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-", "glimt-", "glffct-", "github_pat_"),
    *("xox", "xapp-", "sk-", "AIza", "ya29.", "GOCSPX-", "eyJ", "ZXlK", "pypi-", "SG.", "hvs.", "hvb.", ":AA"),
)
_WHOLE = (
    (_PRIVATE_KEY, MARK, frozenset({"-----BEGIN"})),
    (_GLUED, MARK, frozenset(_OF_GLUED)),
    (_TOKENS, MARK, frozenset(_OF_TOKENS)),
    (_LONG_TOKENS, MARK, frozenset(_OF_LONG_TOKENS)),
    (_SLACK_HOOK, rf"\1{MARK}", frozenset({"hooks.slack.com"})),
    (_URL_PASSWORD, rf"\1:{MARK}@", frozenset({"://"})),
)
"""Pattern, what stands in its place, and signs: a text in which it finds something has one of them. All signs are
looked for in one pass, which takes a hundredth of the time of all patterns.
"""
_OF_NAMES = frozenset({"pass", "pwd", "secret", "credential", "token", "key"})
"""Signs of KEYWORD."""
_VALUES = (
    (_HEADER, frozenset({"authorization"})),
    (_BEARER, frozenset({"bearer"})),
    (_CURL_USER, frozenset({"-u"})),
    (_OPTION, _OF_NAMES),
)
"""The same; their signs are those of the text case folded."""
_FORMS = tuple((form.pattern, frozenset(form.needles)) for form in FORMS)
_SIGNS = KeywordSearch({sign: sign for _, _, signs in _WHOLE for sign in signs})
_FOLDED_SIGNS = KeywordSearch({sign: sign for _, signs in (*_VALUES, *_FORMS) for sign in signs})
_compiled = functools.cache(re.compile)
"""A form's pattern when its needle is met: a git hook, which ends at once, meets none of them."""
_EMPTY = frozenset({"''", '""'})

_BETWEEN = "\x1f"
"""Between the words of a list: white space to a pattern, and in no word."""
_BLANK = "\ue000"
"""A blank inside a word of a list."""


def redact(text: str) -> str:
    """The text with every secret that is known by its form or by its name replaced by ``<redacted>``."""
    return _short(text) if len(text) <= SHORT else _redact(text)


def redact_glued_tokens(text: str) -> str:
    """The text without tokens that nothing else looks like, glued to other words or to one another too."""
    return text if _SIGNS.present(text).isdisjoint(_OF_GLUED) else _GLUED.sub(MARK, text)


def _redact(text: str) -> str:
    """What is hidden takes signs away, and brings none: those of the text as it came are enough."""
    signs, folded = _SIGNS.present(text), _FOLDED_SIGNS.present(text.casefold())
    for pattern, mark, wanted in _WHOLE if signs else ():
        if not signs.isdisjoint(wanted):
            text = pattern.sub(mark, text)
    if not folded:
        return text
    for value, wanted in _VALUES:
        if not folded.isdisjoint(wanted):
            text = value.sub(_hide_value, text)
    return _by_place(_assigned(text) if not folded.isdisjoint(_OF_NAMES) else text, folded)


def _assigned(text: str) -> str:
    """The slowest pattern, whose finds end with their line: on lines with a sign of it."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        folded = line.casefold()
        if any(sign in folded for sign in _OF_NAMES):
            lines[at] = _ASSIGNED.sub(_hide_value, line)
    return "\n".join(lines)


def _by_place(text: str, signs: AbstractSet[str]) -> str:
    for pattern, wanted in _FORMS if signs else ():
        if not signs.isdisjoint(wanted):
            text = _compiled(pattern).sub(_hide_value, text)
    return text


_short = functools.lru_cache(maxsize=2048)(_redact)


def redact_data(data: object) -> object:
    """JSON-able data with every string redacted, and whatever stands under a secret's name."""
    return data if _has_no_sign(data) else _redacted(data)


def _has_no_sign(data: object) -> bool:
    """Whether the data as one text holds no sign, as that of most calls: one look in place of one for each string."""
    try:
        text = dumps(data)
    except (TypeError, ValueError, RecursionError):
        return False
    # A sign is ASCII, but case folding may make one of what is not (the Kelvin sign is a k).
    return "\\u" not in text and not (_SIGNS.holds_any(text) or _FOLDED_SIGNS.holds_any(text.lower()))


def _redacted(data: object) -> object:
    if isinstance(data, str):
        return redact(data)
    if isinstance(data, Mapping):
        return {redact(str(key)): _under(str(key), value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return _words([_redacted(item) for item in data])
    return data


def _words(items: list[object]) -> list[object]:
    """A list may be a command: the secret stands in one word, what tells it from others in the word before."""
    words = [item for item in items if isinstance(item, str) and _BETWEEN not in item and _BLANK not in item]
    if len(words) < 2 or len(words) != len(items):
        return items
    text = _BETWEEN.join(words).replace(" ", _BLANK)
    hidden = (
        _by_place(_OPTION.sub(_hide_value, text), _FOLDED_SIGNS.present(text.casefold()))
        .replace(_BLANK, " ")
        .split(_BETWEEN)
    )
    return [*hidden] if len(hidden) == len(words) else items


def _under(key: str, value: object) -> object:
    if isinstance(value, str):
        return MARK if value and _is_secrets_name(key) else redact(value)
    return _redacted(value)


def _is_secrets_name(key: str) -> bool:
    return _short_name(key) if len(key) <= SHORT else bool(_SECRET_NAME.search(key))


@functools.lru_cache(maxsize=1024)
def _short_name(key: str) -> bool:
    return bool(_SECRET_NAME.search(key))


def _hide_value(match: re.Match[str]) -> str:
    head, value = match.groups()
    if value in _EMPTY or _HARMLESS.match(value):
        return match.group()
    opened = value[0] if value[0] in "\"'" else ""
    return f"{head}{opened}{MARK}{_closing(value, opened)}"


def _closing(value: str, quote: str) -> str:
    """The quote that closes the value, with its backslash inside of quoted JSON; nothing where it stays open."""
    if not quote or len(value) < 2 or not value.endswith(quote):
        return ""
    return value[-2:] if value[-2] == "\\" else quote
