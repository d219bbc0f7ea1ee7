"""Find e-mail addresses and phone numbers: only many of them in one file count as personal data.

A number that is no phone's looks like one too often, so phonenumbers is asked about candidates: written with a plus, or
beside a word that says what they are. That library takes 30 ms to come in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from sentinel_guard.core.secrets.model import Grade, SecretFind
from sentinel_guard.core.secrets.pii.context_words import Words, around, is_cell

_DOMAIN = re.compile(
    r"@((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,6}([A-Za-z]{2,24}|xn--[A-Za-z0-9-]{2,59}))(?![\w@-]|\.\w)"
)
_LOCAL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+'-"
_MAX_LOCAL = 64
"""Characters before the @ (RFC 5321)."""
_NOBODY = re.compile(
    r"(?i)(?:no-?reply|do-?not-?reply|git|info|support|help|admin|root|postmaster|webmaster|hostmaster|abuse|security"
    r"|contact|sales|hello|team|office|press|legal|privacy|billing|marketing|bot|.*\[bot\]|mailer-daemon|nobody"
    r"|[0-9]+\+.*|bounces?|notifications?|feedback|.*-(?:users|dev|devel|list|announce|bugs|request))"
)
"""Addresses of offices, lists and machines."""
_NOWHERE = re.compile(
    r"(?i)(?:.*\.)?(?:example\.[a-z.]+|[a-z.-]*\.?(?:test|invalid|localhost|local|internal|lan|example|localdomain)"
    r"|(?:test|tests|foo|bar|baz|foobar|acme|domain|mydomain|yourdomain|your-domain|company|yourcompany|mycompany|email"
    r"|sample|dummy|fake|mail|site|website|host|server|organization|org|x|y|a|b)\.[a-z]{2,4}"
    r"|users\.noreply\.github\.com|noreply\.[a-z.]+|localhost\.[a-z]+)"
)
"""Domains that stand for one (RFC 2606, RFC 6761), and those that people invent."""
_FILE = re.compile(
    r"(?i)png|jpe?g|gif|svg|webp|ico|s?css|[jt]sx?|[mc]js|json|ya?ml|toml|lock|txt|rst|html?|xml|rb|go|java|kt|swift|c|h"
    r"|[ch]pp|cs|php|bash|sql|csv|log|conf|cfg|ini|service|socket|target|timer|mount|so|dll|exe|zip|t?gz|tar|whl|jar|war"
    r"|map|vue|wasm|patch|diff|tmp|bak|pdf"
)
"""Ends of file names (``icon@2x.png``); those that are mostly countries stay."""
_CREDIT = re.compile(
    r"(?im)(?:author|maintain|contribut|copyright|\(c\)|©|signed-off-by|co-authored-by|(?:reviewed|acked|tested|reported"
    r"|suggested|helped)-by|packager|written by|developed by|thanks|credit|@param|git@"
    r"|ssh://|://[^\s/]*$|^\s*(?:#|//|\*|;|--|%)\s.*<$)"
)
"""On the line before an address: it is there to be read (a credit in a comment too), or it is no address."""

_PLUS = re.compile(r"\+[1-9](?<![\w+]\+[0-9])(?:[ ().-]{0,2}[0-9]){6,14}(?![\w]|[.-][0-9])")
_NATIONAL = re.compile(r"[0-9](?<![\w.+/#$-][0-9])[0-9]{1,4}\)?(?:[ ().-]{0,2}[0-9]){4,10}(?![\w]|[.-][0-9])")
_GROUPED = re.compile(r"[2-9][0-9]{2}(?:\) ?|[ .-])[2-9][0-9]{2}[ .-][0-9]{4}")
_PHONE = Words(
    ("phone", "phones", "telephone", "phonenumber", "tel", "mobile", "cell", "cellphone", "fax", "whatsapp", "telefon",
     "handy", "mobil", "call me", "téléphone", "teléfono", "telefono", "number is", "sms", "msisdn", "hotline")
)  # fmt: skip
_REGIONS = ("US", "GB", "DE", "FR", "JP", "CN", "IN", "BR", "ES", "IT")
"""Where a number without its country may belong."""
_FICTION = re.compile(
    r"1?[2-9][0-9]{2}5550[01][0-9]{2}|44(?:7700900|2079460|1632960)[0-9]{3}|0?7700900[0-9]{3}|.*0{6,}.*|.*123456789.*"
)
"""Digits of numbers that are set apart for films and manuals."""
_MOST = 1000
"""Candidates in a text that are looked at."""


def find(text: str) -> Iterator[SecretFind]:
    """Addresses and phone numbers, all ``NOTE``: they count in number."""
    yield from _addresses(text)
    yield from _phones(text)


def _addresses(text: str) -> Iterator[SecretFind]:
    for seen in _DOMAIN.finditer(text) if "@" in text else ():
        before = text[max(0, seen.start() - _MAX_LOCAL - 1) : seen.start()]
        local = before[len(before.rstrip(_LOCAL)) :].lstrip(".'-%+")
        if not 0 < len(local) <= _MAX_LOCAL or local.endswith(".") or not _is_someone(local, seen[1], seen[2]):
            continue
        start = seen.start() - len(local)
        line = text.rfind("\n", max(0, start - 200), start) + 1 or max(0, start - 200)
        if not _CREDIT.search(text, line, start):
            value = text[start : seen.end()]
            yield SecretFind("pii-email", "pii", "an e-mail address", Grade.NOTE, start, seen.end(), value)


def _is_someone(local: str, domain: str, top: str) -> bool:
    if _FILE.fullmatch(top) or _NOWHERE.fullmatch(domain):
        return False
    return _NOBODY.fullmatch(local) is None


def _phones(text: str) -> Iterator[SecretFind]:
    candidates = chain(
        ((seen, ("ZZ",)) for seen in islice(_PLUS.finditer(text), _MOST)),
        ((seen, _REGIONS) for seen in islice(_national(text), _MOST)),
    )
    for seen, regions in candidates:
        if _is_number(seen[0], regions):
            yield SecretFind("pii-phone", "pii", "a phone number", Grade.NOTE, *seen.span(), seen[0])


def _national(text: str) -> Iterator[re.Match[str]]:
    """Beside a word, below one, or in a cell of its own and written as phone numbers are."""
    found = list(_NATIONAL.finditer(text))
    named = bool(found) and _PHONE.anywhere(around(text, (seen.start() for seen in found)))
    heads = named and _PHONE.heads(text)
    for seen in found:
        start, end = seen.span()
        cell = is_cell(text, start - (text[start - 1 : start] == "("), end)
        if (cell and (heads or _GROUPED.fullmatch(seen[0]))) or (named and _PHONE.near(text, start, end)):
            yield seen


def _is_number(value: str, regions: tuple[str, ...]) -> bool:
    if _FICTION.fullmatch(re.sub(r"[^0-9]", "", value)):
        return False
    import phonenumbers  # noqa: PLC0415 - takes 30 ms, and few texts hold a candidate

    for region in regions:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(value, region)):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False
