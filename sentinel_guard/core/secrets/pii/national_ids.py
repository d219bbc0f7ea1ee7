"""Find national identification numbers: their formats are a table, python-stdnum verifies the check digits.

That library takes 45 ms to come in, so it is asked about candidates only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from sentinel_guard.core.secrets.model import Grade, SecretFind
from sentinel_guard.core.secrets.pii.context_words import Words, around, is_cell
from sentinel_guard.core.secrets.pii.example_numbers import IDS


class Shape(NamedTuple):
    """How one country writes its ids."""

    country: str
    number: str
    """With the country: the module of python-stdnum."""
    what: str
    plain: str
    """As it is written in a file or a column: counts beside one of the words."""
    words: tuple[str, ...]
    telling: str = ""
    """As it is written for people, where nothing else is: counts alone."""


SHAPES = (
    Shape(
        "us", "ssn", "a US social security number", r"[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}",
        ("ssn", "social security"), r"[0-9][0-9]{2}-[0-9]{2}-[0-9]{4}",
    ),
    Shape("us", "itin", "a US taxpayer number", r"9[0-9]{2}-?[0-9]{2}-?[0-9]{4}", ("itin", "taxpayer")),
    Shape("gb", "nino", "a UK national insurance number", r"[A-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]",
          ("nino", "national insurance", "ni number")),
    Shape("gb", "nhs", "a UK NHS number", r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}", ("nhs",)),
    Shape("de", "idnr", "a German tax number", r"[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}",
          ("steuer id", "steueridentifikationsnummer", "steuernummer", "idnr")),
    Shape(
        "fr", "nir", "a French social security number",
        r"[12][ .]?[0-9]{2}[ .]?[0-9]{2}[ .]?(?:[0-9]{2}|2[AB])[ .]?[0-9]{3}[ .]?[0-9]{3}[ .]?[0-9]{2}",
        ("nir", "sécurité sociale", "securite sociale", "insee", "nss"),
        r"[12] [0-9]{2} [01][0-9] (?:[0-9]{2}|2[AB]) [0-9]{3} [0-9]{3} [0-9]{2}",
    ),
    Shape("es", "dni", "a Spanish id number", r"[0-9]{8}-?[A-Z]", ("dni", "nif", "documento nacional")),
    Shape("es", "nie", "a Spanish foreigner's number", r"[XYZ]-?[0-9]{7}-?[A-Z]", ("nie", "extranjero")),
    Shape(
        "it", "codicefiscale", "an Italian tax code",
        r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]", ("codice fiscale",),
        r"[A-Z][A-Z]{5}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]",
    ),
    Shape("nl", "bsn", "a Dutch citizen number", r"[0-9]{4}[. ]?[0-9]{2}[. ]?[0-9]{3}",
          ("bsn", "burgerservicenummer", "sofinummer")),
    Shape("se", "personnummer", "a Swedish personal number", r"(?:[0-9]{2})?[0-9]{6}[-+]?[0-9]{4}",
          ("personnummer", "personnr", "samordningsnummer")),
    Shape("no", "fodselsnummer", "a Norwegian birth number", r"[0-9]{6} ?[0-9]{5}",
          ("fødselsnummer", "fodselsnummer", "personnummer")),
    Shape("dk", "cpr", "a Danish CPR number", r"[0-9]{6}-?[0-9]{4}", ("cpr", "personnummer")),
    Shape("fi", "hetu", "a Finnish personal code", r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Y]",
          ("hetu", "henkilötunnus", "henkilotunnus")),
    Shape("pl", "pesel", "a Polish PESEL", r"[0-9]{11}", ("pesel",)),
    Shape("be", "nn", "a Belgian national number", r"[0-9]{2}[.]?[0-9]{2}[.]?[0-9]{2}-?[0-9]{3}[.]?[0-9]{2}",
          ("rijksregisternummer", "niss", "insz", "registre national", "national number")),
    Shape("ch", "ssn", "a Swiss social security number", r"756[.]?[0-9]{4}[.]?[0-9]{4}[.]?[0-9]{2}",
          ("ahv", "avs", "sozialversicherungsnummer"), r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}"),
    Shape("at", "vnr", "an Austrian social security number", r"[0-9]{4} ?[0-9]{6}",
          ("svnr", "vsnr", "sozialversicherungsnummer", "versicherungsnummer")),
    Shape("ie", "pps", "an Irish PPS number", r"[0-9]{7}[A-W][A-IW]?", ("pps", "ppsn")),
    Shape("ro", "cnp", "a Romanian CNP", r"[1-8][0-9]{12}", ("cnp", "cod numeric personal")),
    Shape("cz", "rc", "a Czech birth number", r"[0-9]{6}/?[0-9]{3,4}", ("rodné číslo", "rodne cislo")),
    Shape("tr", "tckimlik", "a Turkish id number", r"[1-9][0-9]{10}", ("tc kimlik", "tckn", "kimlik")),
    Shape("ca", "sin", "a Canadian social insurance number", r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}",
          ("social insurance", "canadian sin", "sin number")),
    Shape("mx", "curp", "a Mexican CURP", r"[A-Z]{4}[0-9]{6}[HM][A-Z]{5}[0-9A-Z][0-9]", ("curp",),
          r"[A-Z][A-Z]{3}[0-9]{6}[HM][A-Z]{5}[0-9A-Z][0-9]"),
    Shape("br", "cpf", "a Brazilian CPF", r"[0-9]{3}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9]{2}", ("cpf",),
          r"[0-9][0-9]{2}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}"),
    Shape("cl", "rut", "a Chilean RUT", r"[0-9]{1,2}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9K]", ("rut", "rol único tributario")),
    Shape("in", "aadhaar", "an Indian Aadhaar number", r"[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}",
          ("aadhaar", "aadhar", "uidai")),
    Shape("in", "pan", "an Indian tax number", r"[A-Z]{3}[ABCFGHLJPT][A-Z][0-9]{4}[A-Z]",
          ("pan", "pan card", "permanent account")),
    Shape("cn", "ric", "a Chinese id number", r"[1-9][0-9]{16}[0-9X]", ("身份证", "resident identity", "id card")),
    Shape("kr", "rrn", "a Korean resident number", r"[0-9]{6}-?[1-8][0-9]{6}", ("rrn", "주민등록번호")),
    Shape("za", "idnr", "a South African id number", r"[0-9]{13}", ("south african id", "rsa id", "sa id")),
    Shape("au", "tfn", "an Australian tax file number", r"[0-9]{3} ?[0-9]{3} ?[0-9]{2,3}", ("tfn", "tax file")),
)  # fmt: skip

_DIGITS = re.compile(r"[0-9](?<![\w.$/+-][0-9])(?:[ ./-]?[0-9]){4}")
_LETTERS = re.compile(r"[0-9](?:(?<=[A-Z][0-9])|(?<=[A-Z][ -][0-9]))[0-9](?= ?[0-9]{2}|[A-EHLMPRST][0-9]{2})")
"""Where an id can start, and where one that begins with letters has its first digits. Both begin with a digit, not with
what stands before it: so the scan for it is a quick one."""
_BEFORE = re.compile(r"(?<![\w.$/+-])[A-Z]{1,6}[ -]?\Z")
MOST = 10_000
"""Candidates in a text whose check digits are asked for: where there are more, it is known what they are."""
_BEHIND = r"(?![\w-]|\.[0-9])"
_NINO = re.compile(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][0-9]{6}[A-D]")


class _Finder(NamedTuple):
    shape: Shape
    plain: re.Pattern[str]
    telling: re.Pattern[str] | None
    words: Words


def find(text: str) -> Iterator[SecretFind]:
    """National ids, ``WARN``."""
    for shape, seen in islice(_candidates(text), MOST):
        if _holds(shape, seen[0]):
            yield SecretFind(
                f"pii-{shape.country}-{shape.number}", "pii", shape.what, Grade.WARN, *seen.span(), seen[0]
            )


def _candidates(text: str) -> Iterator[tuple[Shape, re.Match[str]]]:
    places = sorted({*(seen.start() for seen in _DIGITS.finditer(text)), *_lettered(text)})
    nearby = around(text, places)
    for finder in _finders() if places else ():
        named = finder.words.anywhere(nearby)
        heads = named and finder.words.heads(text)
        for place in places if named or finder.telling else ():
            told = finder.telling and finder.telling.match(text, place)
            seen = told or (finder.plain.match(text, place) if named else None)
            if seen and (told or (heads and is_cell(text, *seen.span())) or finder.words.near(text, *seen.span())):
                yield finder.shape, seen


def _lettered(text: str) -> Iterator[int]:
    for seen in _LETTERS.finditer(text):
        if before := _BEFORE.search(text, max(0, seen.start() - 8), seen.start()):
            yield before.start()


def _holds(shape: Shape, value: str) -> bool:
    compact = re.sub(r"[\W_]", "", value)
    if compact in IDS or len(set(compact)) < 2:
        return False
    if shape.number == "nino":
        return _NINO.fullmatch(compact) is not None
    from stdnum import util  # noqa: PLC0415 - takes 45 ms, and few texts hold a candidate

    module = util.get_cc_module(shape.country, shape.number)
    return module is not None and bool(module.is_valid(value))


@cache
def _finders() -> tuple[_Finder, ...]:
    return tuple(_Finder(s, _whole(s.plain), _whole(s.telling) if s.telling else None, Words(s.words)) for s in SHAPES)


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?:{pattern}){_BEHIND}")
