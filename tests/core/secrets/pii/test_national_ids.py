"""National ids: by their check digits, and by a word beside them or their own way to be written."""

from __future__ import annotations

import itertools
import re
from functools import cache

import pytest
from stdnum.util import get_cc_module

from sentinel_guard.core.secrets.pii import scan_pii
from sentinel_guard.core.secrets.pii.national_ids import SHAPES, _holds

NUMBERS = {
    ("us", "ssn"): "21910401#", ("us", "itin"): "912-91-34##", ("gb", "nino"): "AB41 52 6# C",
    ("gb", "nhs"): "48172659##", ("de", "idnr"): "4817265934#", ("fr", "nir"): "1850275116213##",
    ("es", "dni"): "48172659@", ("es", "nie"): "X-4817265@", ("it", "codicefiscale"): "BNCLRA91D52F205@",
    ("nl", "bsn"): "4817265##", ("se", "personnummer"): "850214-21##", ("no", "fodselsnummer"): "14028521###",
    ("dk", "cpr"): "140285-213#", ("fi", "hetu"): "140285-213@", ("pl", "pesel"): "8502142135#",
    ("be", "nn"): "85.02.14-213.##", ("ch", "ssn"): "756.4127.6381.9#", ("at", "vnr"): "48## 140285",
    ("ie", "pps"): "4817265@", ("ro", "cnp"): "185021412345#", ("cz", "rc"): "850214/21##",
    ("tr", "tckimlik"): "241652837##", ("ca", "sin"): "481-726-59#", ("mx", "curp"): "GOMA850214MDFLRN0#",
    ("br", "cpf"): "417.265.839-##", ("cl", "rut"): "14.263.871-@", ("in", "aadhaar"): "4817 2659 301#",
    ("in", "pan"): "BQWPK481#L", ("cn", "ric"): "11010519850214213@", ("kr", "rrn"): "850214-12135##",
    ("za", "idnr"): "850214521308#", ("au", "tfn"): "481 726 5##",
}  # fmt: skip
"""``#`` stands for a digit and ``@`` for a letter or digit that is found out here: nobody's number is written down."""
SSN = "2191" + "04010"
SIGNS = {"#": "0123456789", "@": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}


@cache
def valid(shape):
    template = NUMBERS[shape.country, shape.number]
    for chosen in itertools.product(*(SIGNS[sign] for sign in re.findall("[#@]", template))):
        value = re.sub("[#@]", "{}", template).format(*chosen)
        if re.fullmatch(shape.plain, value) and _holds(shape, value):
            return value
    raise AssertionError(template)


def test_every_shape_has_an_example_and_a_module():
    assert {(s.country, s.number) for s in SHAPES} == NUMBERS.keys()
    assert all(get_cc_module(s.country, s.number) for s in SHAPES if s.number != "nino")


each = pytest.mark.parametrize("shape", SHAPES, ids=[f"{s.country}-{s.number}" for s in SHAPES])


@each
def test_it_is_found_beside_each_of_its_words(shape):
    value = valid(shape)
    for word in shape.words:
        for named in (f"{word}: {value}", f'"{word.replace(" ", "_")}": "{value}"', f"{value} {word.upper()}"):
            found = {leak.value for leak in scan_pii.find(named) if leak.rule == f"pii-{shape.country}-{shape.number}"}
            others = {leak.value for leak in scan_pii.find(named)}
            assert found == {value} or others == {value}, named


@each
def test_alone_it_is_found_only_where_it_tells_itself(shape):
    value = valid(shape)
    ids = [leak for leak in scan_pii.find(f"x: {value}\n") if leak.rule.split("-")[1] not in ("phone", "card", "email")]
    assert bool(ids) == (re.fullmatch(shape.telling, value) is not None if shape.telling else False)


NONE = [
    (f"class ssnoop: x = {SSN}", "a word that begins with one"),
    ("the ssn" + " " * 70 + SSN, "too far away"),
    ("ssn 123-45-6789, 078-05-1120, 219-09-9999, 111-22-3333, 555-55-5555", "numbers that everybody prints"),
    ("ssn 000-10-4010, 666-10-4010, 912-10-4010, 219-00-4010", "numbers that are never given out"),
    ("ssn 219-10-40101", "part of a longer number"),
    ("nino QQ123456C", "letters that are never used"),
    ("sin(123456782) + cos(1)", "another sin"),
    ("2024-11-22 10.0.0.1 3.14159265 0x12345678 1,000,000", "ordinary numbers"),
]


@pytest.mark.parametrize(("text", "why"), NONE, ids=[row[1] for row in NONE])
def test_what_is_none(text, why):
    assert not scan_pii.find(text)


@pytest.mark.parametrize("name", ["ssn", "user_ssn", "userSsn", "SSN", "ssn_number", "ssnNumber", "Social-Security"])
def test_names_in_code_count(name):
    assert [leak.rule for leak in scan_pii.find(f"{name} = '{SSN}'")] == ["pii-us-ssn"]
