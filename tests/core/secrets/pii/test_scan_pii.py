"""Personal data: what is found, and what the number of finds makes of it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn

from sentinel_guard.core.secrets.model import Grade, SecretFind
from sentinel_guard.core.secrets.pii import scan_pii
from sentinel_guard.core.secrets.pii.cards_and_ibans import _LENGTHS
from sentinel_guard.core.secrets.pii.example_numbers import IBANS


def card(first: str, blanks: str = "") -> str:
    """A number that no one has printed yet: its last digit is made here. ``blanks``: lengths of its groups."""
    digits, groups = first + luhn.calc_check_digit(first), []
    for length in blanks.split():
        groups.append(digits[: int(length)])
        digits = digits[int(length) :]
    return " ".join([*groups, digits]) if digits else " ".join(groups)


def account(country: str, rest: str) -> str:
    return country + iban.calc_check_digits(f"{country}00{rest}") + rest


SSN = "2191" + "04010"
VISA, MASTER, AMEX = card("453914880343646"), card("531275901236474"), card("37635982004917")
GERMAN, FRENCH = account("DE", "502109007011234567"), account("FR", "3000600001" + "12345678901" + "23")
POLISH = account("PL", "109024020000000" + "604357921")

FOUND = [
    (f"x {VISA}.", "pii-card", VISA, "a card"),
    (f'"{MASTER}"', "pii-card", MASTER, "another issuer"),
    (f"{AMEX},", "pii-card", AMEX, "fifteen digits"),
    (f"pay {card('453914880343646', '4 4 4 4')} now", "pii-card", card("453914880343646", "4 4 4 4"), "in groups"),
    (f"pay {card('453914880343646', '4 4 4 4').replace(' ', '-')}", "pii-card",
     card("453914880343646", "4 4 4 4").replace(" ", "-"), "with dashes"),
    (f"a {card('37635982004917', '4 6 5')}", "pii-card", card("37635982004917", "4 6 5"), "groups of its own"),
    (f"visa: {card('453914880343')}", "pii-card", card("453914880343"), "thirteen digits beside a word"),
    (f"to {GERMAN} now", "pii-iban", GERMAN, "an IBAN"),
    (f"IBAN:{GERMAN[:4]} {GERMAN[4:8]} {GERMAN[8:12]} {GERMAN[12:16]} {GERMAN[16:20]} {GERMAN[20:]} BIC", "pii-iban",
     f"{GERMAN[:4]} {GERMAN[4:8]} {GERMAN[8:12]} {GERMAN[12:16]} {GERMAN[16:20]} {GERMAN[20:]}", "in groups"),
    (f"AB12 {FRENCH}", "pii-iban", FRENCH, "what looks like one before it"),
    ("ann.lee@corp.io", "pii-email", "ann.lee@corp.io", "an address"),
    ("<ann.lee+x@mail.corp.co.uk>", "pii-email", "ann.lee+x@mail.corp.co.uk", "a longer one"),
    ("mailto:ann@xn--bcher-kva.example2.de?x", "pii-email", "ann@xn--bcher-kva.example2.de", "in a link"),
    ("call +49 1512 3456 781", "pii-phone", "+49 1512 3456 781", "a phone number with its country"),
    ("phone: (212) 736-5000", "pii-phone", "212) 736-5000", "one beside a word"),
    ("Tel. 030 22732153 ", "pii-phone", "030 22732153", "of another country"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule", "value", "why"), FOUND, ids=[f"{row[1]}: {row[3]}" for row in FOUND])
def test_what_is_found(text, rule, value, why):
    assert [(leak.rule, leak.value, leak.kind) for leak in scan_pii.find(text)] == [(rule, value, "pii")]


NOT_FOUND = [
    (VISA[:-1] + str((int(VISA[-1]) + 1) % 10), "a wrong last digit"),
    (f"0.{VISA}", "a fraction"),
    (f"id{VISA}", "part of a word"),
    (f"/status/{VISA}", "part of an address"),
    (f"-{VISA}", "a negative number"),
    (f"{VISA}1234567", "part of a longer number"),
    (card("453914880343"), "thirteen digits, as bar codes have"),
    (card("453914880343646123"), "nineteen digits, as ids have"),
    ("1748503543012 1700000000000", "moments in milliseconds"),
    (GERMAN[:-1] + str((int(GERMAN[-1]) + 1) % 10), "an IBAN with a wrong digit"),
    (GERMAN + "0", "too long an IBAN"),
    (f"x{GERMAN}", "part of a word"),
    ("ZZ" + GERMAN[2:], "no country"),
    ("me@example.com you@test.org a@localhost b@corp.invalid", "domains that stand for one"),
    ("noreply@corp.io info@corp.io git@github.com 1234+me@users.noreply.github.com", "nobody's addresses"),
    ("icon@2x.png lodash@4.17.21 user@host getty@tty1.service pkg@latest.tgz", "what has an @ and is none"),
    ("Signed-off-by: Ann Lee <ann@corp.io>\nCo-authored-by: Bo <bo@corp.io>", "trailers of commits"),
    ('authors = ["Ann Lee <ann@corp.io>"]\n__author__ = "bo@corp.io"', "authors of packages"),
    ("# Copyright (c) 2020 Ann Lee <ann@corp.io>", "a notice"),
    ("# Ann Lee <ann@corp.io>, 2011", "a credit in a comment"),
    ("git clone ssh://ann@corp.io/x https://ann@corp.io/x", "addresses of another kind"),
    ("call +1 415 555 0132 or +44 7700 900123", "numbers set apart for films"),
    ("+123456789 +1000000000 +999 1234 5678", "numbers that are none"),
    ("a 212-736-5000 b", "a phone number that nothing tells from others"),
    ("version 212.736.5000 phonetics", "a word that holds another"),
    ("", "nothing"),
]


@pytest.mark.parametrize(("text", "why"), NOT_FOUND, ids=[row[1] for row in NOT_FOUND])
def test_what_is_not(text, why):
    assert not scan_pii.find(text)


EXAMPLES = [
    ("DE89 3704 0044 0532 0130 00 GB82-WEST-1234-5698-7654-32", "examples of IBANs, however written"),
    (" ".join(sorted(IBANS)), "all of them"),
]


@pytest.mark.parametrize(("text", "why"), EXAMPLES, ids=[row[1] for row in EXAMPLES])
def test_examples_of_ibans_warn_outside_of_tests_and_documents(text, why):
    found = scan_pii.find(text)
    assert {leak.grade for leak in scan_pii.grade(found)} == {Grade.WARN}
    assert {leak.grade for leak in scan_pii.grade(found, "docs/iban.md")} == {Grade.NOTE}


TEST_CARDS = ["4242424242424242", "4111 1111 1111 1111", "5555555555554444", "378282246310005", "30569309025904"]


@pytest.mark.parametrize("number", TEST_CARDS)
def test_cards_that_everybody_prints_are_told_apart(number):
    (leak,) = scan_pii.find(f"card {number}")
    assert leak.grade is Grade.NOTE and scan_pii.grade([leak])[0].grade is Grade.NOTE


def test_ids_that_look_like_cards_are_told_by_their_number():
    ids = [f"45391488034{n:05}" for n in range(0, 100_000, 997)]
    assert not [leak for leak in scan_pii.find("\n".join(ids)) if leak.rule == "pii-card"]
    valid = [number for number in ids if luhn.is_valid(number)]
    assert len(scan_pii.find("\n".join(valid))) == len(valid) > 5
    assert len(scan_pii.find("\n".join(f"card {number}" for number in ids))) == len(valid)


def test_the_lengths_of_ibans_are_those_of_the_registry():
    known = {country: length for country, length in _LENGTHS.items() if iban._ibandb.info(f"{country}00")[0][1]}
    assert len(known) > 70
    for country, length in known.items():
        parts = iban._ibandb.info(f"{country}00{'0' * 40}")
        bban = next(properties["bban"] for _, properties in parts if "bban" in properties)
        assert sum(int(part.rstrip("!anc")) for part in bban.replace("!", " ").replace("n", " ").replace("a", " ")
                   .replace("c", " ").split()) + 4 == length, country  # fmt: skip


def mails(number):
    return "\n".join(f"ann{n}@corp{n}.io" for n in range(number))


def cards(number):
    return " ".join(card(f"45391488{n:07}", "4 4 4 4") for n in range(1000, 1000 + number))


def phones(number):
    return "\n".join(f"phone,+4930{22700000 + n}" for n in range(number))


SSNS = " ".join(f"ssn 219-{n:02}-{4000 + n}" for n in range(10, 13))

GRADES = [
    (mails(1), "", None, "one address"),
    (mails(4), "", None, "four addresses"),
    ("\n".join([mails(4)] * 20), "", None, "the same four again and again"),
    (mails(5), "", Grade.WARN, "five"),
    (mails(49), "", Grade.WARN, "forty-nine"),
    (mails(50), "", Grade.BLOCK, "fifty"),
    (mails(60), "AUTHORS", None, "those that are there to be read"),
    (mails(60), "docs/CONTRIBUTORS.md", None, "the same elsewhere"),
    (mails(60), "src/authors_dump.csv", None, "a list of authors by any name"),
    (mails(60), "package.json", None, "contributors of a package"),
    (mails(60), "web/composer.json", None, "the same of PHP"),
    (mails(60), "x.egg-info/PKG-INFO", None, "what a package says of itself"),
    (mails(60), "doc/changelog.d/12.fix.rst", None, "a folder of changes"),
    (mails(60), "docs/release_notes/1.0.md", None, "the same by another name"),
    (mails(60), "whatsnew-4.2.rst", None, "changes of a version"),
    (mails(60), "SECURITY.md", None, "whom to write to"),
    (mails(60), "security_users.csv", Grade.BLOCK, "a list of users"),
    (mails(60), "src/package.json.bak.csv", Grade.BLOCK, "a name that only begins so"),
    (mails(60), "data/customers.csv", Grade.BLOCK, "those that are not"),
    (cards(1), "", Grade.WARN, "a card"),
    (cards(2), "AUTHORS", Grade.WARN, "two cards, wherever"),
    (f"{VISA} {VISA} {VISA} {card('453914880343646', '4 4 4 4')}", "", Grade.WARN, "one card in many forms"),
    (cards(3), "", Grade.BLOCK, "three cards"),
    (f"{cards(1)} {GERMAN} {POLISH}", "", Grade.BLOCK, "cards and accounts together"),
    (" ".join(TEST_CARDS), "", None, "test cards, however many"),
    (phones(4), "", None, "four phone numbers"),
    (phones(5), "", Grade.WARN, "five"),
    (phones(50), "", Grade.BLOCK, "fifty"),
    (
        "name,phone\n" + "\n".join(f"ann{n},2127{n}" for n in range(36500, 36506)),
        "",
        Grade.WARN,
        "a column with a name",
    ),
    ("\n".join(f"{n},(212) 736-5{n},x" for n in range(110, 120)), "", Grade.WARN, "a column of phone numbers"),
    ("\n".join(f"212 736 5{n} are x" for n in range(110, 120)), "", None, "numbers within lines"),
    ("id,ssn,x\n" + "\n".join(f"{n},2191040{n},y" for n in range(10, 90, 9)), "", Grade.BLOCK, "a column of ids"),
    ("id,n,x\n" + "\n".join(f"{n},2191040{n},y" for n in range(10, 90, 9)), "", None, "a column of numbers"),
    (SSNS.split(" ssn")[0], "", Grade.WARN, "a social security number"),
    (SSNS, "", Grade.BLOCK, "three"),
]


@pytest.mark.parametrize(("text", "path", "grade", "why"), GRADES, ids=[row[3] for row in GRADES])
def test_what_the_number_makes_of_them(text, path, grade, why):
    graded = [leak.grade for leak in scan_pii.grade(scan_pii.find(text), path)]
    assert {g for g in graded if g} == ({grade} if grade else set())


def test_grading_keeps_order_and_leaves_others_alone():
    secret = SecretFind("github-pat", "secret", "a token", Grade.BLOCK, 0, 4, "abcd")
    leaks = [secret, *scan_pii.find(mails(5)), secret]
    graded = scan_pii.grade(leaks)
    assert [leak.start for leak in graded] == [leak.start for leak in leaks]
    assert graded[0] is secret and graded[-1] is secret and graded[1].grade is Grade.WARN
    assert scan_pii.grade([]) == []


def test_no_value_is_shown():
    assert VISA not in repr(scan_pii.find(VISA)) and scan_pii.find(VISA)


WORDS = [
    VISA,
    GERMAN,
    "ann@corp.io",
    "+49 30 22732153",
    "ssn ",
    f"{SSN[:3]}-{SSN[3:5]}-{SSN[5:]}",
    "phone ",
    *"@+-. \n(1aZ,",
    "\ud800",
    "ä",
    "٣",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=40).map("".join)))
def test_offsets_are_true_and_nothing_raises(text):
    end = 0
    for leak in scan_pii.grade(scan_pii.find(text)):
        assert leak.start >= end and text[leak.start : leak.end] == leak.value != ""
        end = leak.end


M = 250_000
HOSTILE = {
    "digits": "1" * M, "addresses without an end": "a@a." * (M // 4), "plus signs": "+1 " * (M // 3),
    "addresses": mails(M // 18), "cards": f"{VISA} " * (M // 17), "ids": f"ssn {SSN} " * (M // 14),
    "phones": "phone 212-736-5000 " * (M // 19), "beginnings of IBANs": "DE89 " * (M // 5),
    "letters": "AA00" * (M // 4),
    "IBANs": f"{GERMAN} " * (M // 23), "fractions": "1.1." * (M // 4), "dashes": "1-" * (M // 2),
    "a long name": "a" * M + "@corp.io", "a long domain": "a@" + "a." * (M // 2), "digits apart": "1 " * (M // 2),
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_no_time(text):
    began = time.process_time()
    scan_pii.grade(scan_pii.find(text))
    assert time.process_time() - began < 2
