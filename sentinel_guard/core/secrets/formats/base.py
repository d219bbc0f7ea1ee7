"""Builders for the tables of secret formats: regular expression, examples and keywords from a few public facts.

Rules of this file, for every pattern that leaves it:
1. It means the same to ``re`` and to RE2: no lookaround, no backreference, no repeat above 1000
   (of repeats within repeats: their product).
2. Its time is linear: every repeat is bounded, or ends where its alphabet ends and cannot start inside itself.
3. What identifies the secret is the group ``value``.
Examples are made here from the shape that the provider documents; none of them was ever given out.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import re
import string

from sentinel_guard.core.secrets.model import Format, Grade

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
DIGITS = string.digits
HEX = string.digits + "abcdef"
URL = ALNUM + "_-"
BASE64 = ALNUM + "+/"

HEX32, HEX40, HEX64 = "[0-9a-f]{32}", "[0-9a-f]{40}", "[0-9a-f]{64}"
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

WORDS = "key token secret auth access pass pwd pw cred client login api"
"""What stands between a provider's name and its secret. Each also stands inside of longer words (``apikey``)."""

_LEFT = r"(?:\b|\\[nrt])"
_LEFT_URL = r"(?:^|[^A-Za-z0-9_-]|\\[nrt])"
_RIGHT_URL = r"(?:[^A-Za-z0-9_-]|$)"
_RIGHT_BASE64 = r"(?:[^A-Za-z0-9_+/=-]|$)"

_JOINT = r"""[\d_.\s"'`\[\]{}:>=(-]"""
_GAP = rf"(?:(?:{_JOINT}|[A-Z][a-z])(?:[A-Za-z]|{_JOINT}){{0,40}}?)?"
"""What may stand between ``algolia`` and ``api_key``: nothing, a joint, or the next level of a YAML or JSON file.
No letter that goes on with a longer word: ``export API_KEY`` is no key of Expo."""
_TAIL = r"[\w.-]{0,40}(?:[ \t][\w.-]{0,20}){0,3}"
_SHORT_TAIL = rf"(?:(?:[\d_.A-Z-]|(?i:{'|'.join(WORDS.split())}))[\w.-]{{0,40}})?(?:[ \t][\w.-]{{0,20}}){{0,3}}"
_LINK = (
    r"(?:</key>\s{0,40}<string>"
    r"""|[\\"'`\])]{0,4}[ \t]{0,8}(?:[=:?+.|!~-]{0,4}[=:>,(]>?|[ \t])"""
    r"""|[\\"'`]{0,2},?\s{1,40}[\\"'`]{0,2}[Vv]alue[\\"'`]{0,2}[ \t]{0,4}[=:])"""
    r"""(?:<!\[CDATA\[)?[\s\\"'`@=(]{0,40}"""
)
_END = r"""(?:["'`\s;,)}\]<>\\&|#]|$)"""


@functools.cache
def fake(length: int, alphabet: str = ALNUM) -> str:
    """Characters without order that are the same at every run."""
    digest = hashlib.shake_128(f"{length}{alphabet}".encode()).digest(length)
    return "".join(alphabet[b % len(alphabet)] for b in digest)


def uuid() -> str:
    return "-".join(fake(n, HEX) for n in (8, 4, 4, 4, 12))


def login(password: int = 16) -> str:
    """Base64 of a name and a password of some characters, as in ``Authorization: Basic``."""
    return base64.b64encode(f"me:{fake(password)}".encode()).decode()


def token(
    rule: str,
    what: str,
    shape: str,
    *hit: str,
    miss: tuple[str, ...] = (),
    needles: tuple[str, ...] = (),
    entropy: float = 3.0,
    hosts: tuple[str, ...] = (),
    grade: Grade = Grade.BLOCK,
) -> Format:
    """A secret that its own form gives away. Its fixed start is the needle where none is given."""
    left = _LEFT_URL if "-]" in shape else _LEFT
    needles = needles or (_literal(shape),)
    return Format(rule, what, needles, f"{left}(?P<value>{shape}){_right(shape)}", hit, miss, entropy, hosts, grade)


def assigned(
    rule: str,
    what: str,
    names: str,
    shape: str,
    *values: str,
    words: str = WORDS,
    hit: tuple[str, ...] = (),
    miss: tuple[str, ...] = (),
    needles: tuple[str, ...] = (),
    entropy: float = 2.5,
    hosts: tuple[str, ...] = (),
    grade: Grade = Grade.BLOCK,
) -> Format:
    """A value of a documented shape beside its provider's name; ``names`` and ``words`` are parted by blanks.

    One of the words must stand between the name and the value (``client_secret``), unless they are empty.
    Optional joints in names and words are written ``[_-]?``. Letter case does not count.
    """
    needles = needles or tuple(n.split("[")[0].lower() for n in names.split())
    name = "_".join(re.sub(r"\[[^\]]*\]\??", "_", part.split()[0]) for part in (names, words or "token"))
    texts = (*(f'{name} = "{v}"' for v in values), f"export {name.upper()}={values[0]}")
    misses = (f'{name} = "{values[0][:-2]}"', f'{name} = "{"x" * len(values[0])}"')
    pattern = assignment(names, shape, words)
    return Format(rule, what, needles, pattern, texts + hit, misses + miss, entropy, hosts, grade)


def assignment(names: str, shape: str, words: str = WORDS) -> str:
    """The pattern of ``name word = value`` in the notations of common languages and files."""
    tail = f"{_GAP}(?i:{'|'.join(words.split())}){_TAIL}" if words else _SHORT_TAIL
    name = "|".join(_named(n) for n in names.split())
    return f"(?:{name}){tail}{_LINK}(?P<value>(?i:{shape})){_END}"


def _named(name: str) -> str:
    """The name where a word starts: ``etsy_token``, ``myEtsyToken``, and no ``betsy``."""
    return f"(?:(?:^|[^A-Za-z]|\\\\[nrt])(?i:{name})|[a-z]{name[0].upper()}(?i:{name[1:]}))"


def behind(prefix: str, alphabet: str = HEX, length: int = 2) -> tuple[str, ...]:
    """Needles for a prefix that is too short to be one: with each beginning of what follows it."""
    return tuple(prefix + "".join(rest) for rest in itertools.product(alphabet, repeat=length))


def _literal(shape: str) -> str:
    """The lower-case text that every match of the shape starts with."""
    start = re.match(r"(?:[\w/ :=@~-]|\\[.+/-])*", shape)
    text = start[0] if start else ""
    optional = shape[len(text) : len(text) + 1] in {"?", "*", "{"}
    return (text[:-1] if optional else text).replace("\\", "").lower()


def _right(shape: str) -> str:
    """What may follow. Nothing is asked for after an open end, which takes all that could follow."""
    if re.search(r",\d*\}$|[+*?]$", shape):
        return ""
    last = shape[shape.rfind("[") :]
    if "+/" in last:
        return _RIGHT_BASE64
    return _RIGHT_URL if "-]" in last else r"\b"
