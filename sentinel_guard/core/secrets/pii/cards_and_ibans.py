"""Find payment card numbers (ISO/IEC 7812: issuer, length, Luhn) and IBANs (ISO 13616: mod 97)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.secrets.model import Grade, SecretFind
from sentinel_guard.core.secrets.pii.context_words import Words
from sentinel_guard.core.secrets.pii.example_numbers import CARDS

_CARD = re.compile(
    r"[0-9](?<![\w.$/+-][0-9])"
    r"(?:[0-9]{11,18}|[0-9]{3}([ -])(?:[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?|[0-9]{6}\1[0-9]{4,5}))"
    r"(?![\w-]|\.[0-9])"
)
"""Begins with a character, not with what stands before it: so the scan for it is a quick one."""
_IBAN = re.compile(r"[0-9](?<=[A-Z]{2}[0-9])(?<!\w[A-Z]{2}[0-9])[0-9](?=((?:[ -]?[A-Z0-9]){11,30}))")
"""From its check digits on."""

_ISSUERS = (
    ("visa", 4, 4, (13, 16, 19)),
    ("mastercard", 51, 55, (16,)),
    ("mastercard", 2221, 2720, (16,)),
    ("american express", 34, 34, (15,)),
    ("american express", 37, 37, (15,)),
    ("discover", 6011, 6011, (16, 19)),
    ("discover", 644, 659, (16, 19)),
    ("diners club", 300, 305, (14, 16, 19)),
    ("diners club", 309, 309, (14, 16, 19)),
    ("diners club", 36, 36, (14, 16, 19)),
    ("diners club", 38, 39, (14, 16, 19)),
    ("jcb", 3528, 3589, (16, 17, 18, 19)),
    ("unionpay", 62, 62, (16, 17, 18, 19)),
    ("mir", 2200, 2204, (16, 17, 18, 19)),
    ("troy", 9792, 9792, (16,)),
    ("rupay", 81, 82, (16,)),
    *(("maestro", n, n, tuple(range(12, 20))) for n in (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763)),
)
"""Issuer, first digits from and to, lengths."""
_PLAIN = (14, 15, 16)
"""Lengths that count without blanks and without a word: others are lengths of time stamps, bar codes and ids."""
_CARD_WORDS = Words(
    ("card", "cards", "cc", "ccn", "pan", "cvv", "cvc", "visa", "mastercard", "amex", "american express", "maestro",
     "credit", "debit", "kreditkarte", "kartennummer", "carte", "tarjeta", "carta di credito", "creditcard",
     "cardnumber")
)  # fmt: skip
_LENGTHS = {
    country: int(length)
    for country, length in re.findall(
        r"([A-Z]{2})([0-9]{2})",
        "AD24,AE23,AL28,AT20,AZ28,BA20,BE16,BG22,BH22,BI27,BR29,BY28,CH21,CR22,CY28,CZ24,DE22,DJ27,DK18,DO28,"
        "EE20,EG29,ES24,FI18,FK18,FO18,FR27,GB22,GE22,GI23,GL18,GR27,GT28,HN28,HR21,HU28,IE22,IL23,IQ23,IS26,"
        "IT27,JO30,KW30,KZ20,LB28,LC32,LI21,LT20,LU20,LV21,LY25,MC27,MD24,ME22,MK19,MN20,MR27,MT31,MU30,NI28,"
        "NL18,NO15,OM23,PK24,PL28,PS29,PT25,QA29,RO24,RS22,RU33,SA24,SC31,SD18,SE24,SI19,SK24,SM27,SO23,ST25,"
        "SV28,TL23,TN24,TR26,UA29,VA22,VG24,XK20,YE30",
    )
}
"""Country -> characters of its IBANs (the SWIFT registry)."""


def find(text: str) -> Iterator[SecretFind]:
    """Cards and IBANs: ``WARN``, test cards ``NOTE``."""
    yield from _cards(text)
    yield from _ibans(text)


def _cards(text: str) -> Iterator[SecretFind]:
    plain, shaped = list[SecretFind](), 0
    for seen in _CARD.finditer(text):
        digits = re.sub(r"[ -]", "", seen[0])
        issuer = _issuer(digits)
        if not issuer:
            continue
        told = bool(seen[1]) or _CARD_WORDS.near(text, *seen.span())
        shaped += not told
        if _luhn(digits) and (told or len(digits) in _PLAIN):
            weight = Grade.NOTE if _is_test(digits) else Grade.WARN
            leak = SecretFind("pii-card", "pii", f"a {issuer} card number", weight, *seen.span(), seen[0])
            if told:
                yield leak
            else:
                plain.append(leak)
    # Of ids that only look like card numbers, one in ten passes Luhn: where most do not, they are ids.
    if shaped < 6 or 2 * len(plain) > shaped:
        yield from plain


def _issuer(digits: str) -> str:
    for issuer, low, high, lengths in _ISSUERS:
        if len(digits) in lengths and low <= int(digits[: len(str(low))]) <= high:
            return issuer
    return ""


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(d), 10)) for d in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_test(digits: str) -> bool:
    return digits in CARDS or len(set(digits)) < 4 or re.search(r"(\d)\1{5}", digits) is not None


def _ibans(text: str) -> Iterator[SecretFind]:
    for seen in _IBAN.finditer(text):
        start = seen.start() - 2
        end = _end(text, start, seen.end(1), _LENGTHS.get(text[start : start + 2], 0))
        value = text[start:end]
        if end and _mod97(re.sub(r"[ -]", "", value)):
            yield SecretFind("pii-iban", "pii", "an IBAN", Grade.WARN, start, end, value)


def _end(text: str, start: int, last: int, length: int) -> int:
    """Offset behind that many letters and digits; 0 where more or fewer of them stand there."""
    end = start + length
    while length and end <= last:
        missing = length - (end - start - sum(map(text[start:end].count, " -")))
        if not missing:
            return 0 if text[end : end + 1].isalnum() else end
        end += missing
    return 0


def _mod97(iban: str) -> bool:
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1
