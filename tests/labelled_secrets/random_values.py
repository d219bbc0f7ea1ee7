"""Values of every shape, made anew from a seed: what providers give out, what people type, what persons are known by.

From public knowledge of the formats. Nothing here is, or ever was, anybody's.
"""

from __future__ import annotations

import base64
import json
import re
import string
import uuid
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

_B62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
ALPHABETS = {
    "b62": _B62,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
    "alpha": string.ascii_letters,
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "hex": string.hexdigits[:16],
    "HEX": string.hexdigits[:16].upper(),
    "num": string.digits,
}
LISTS = {
    name: words.split()
    for name, words in (
        line.split(":", 1) for line in (Path(__file__).parent / "texts/words.txt").read_text().splitlines()
    )
}
WORDS = LISTS["words"]
_MARK = re.compile(r"<<(\w+)(?::([^<>]*))?>>")
_HEADS = {
    "RSA PRIVATE KEY": ("MIIEpAIBAAKCAQEA", 1588),
    "EC PRIVATE KEY": ("MHcCAQEEI", 160),
    "PRIVATE KEY": ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 1624),
    "ENCRYPTED PRIVATE KEY": ("MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHA", 1700),
    "CERTIFICATE": ("MIIDdzCCAl+gAwIBAgIE", 1200),
    "PUBLIC KEY": ("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A", 360),
}  # fmt: skip


def fill(rng: Random, text: str, given: dict[str, str] | None = None) -> str:
    """The text with every ``<<maker>>`` and ``<<maker:argument>>`` made; ``given`` names what stands already."""
    known = given or {}

    def make(found: re.Match[str]) -> str:
        name, argument = found[1], found[2] or ""
        if name in known:
            return known[name]
        if name in ALPHABETS:
            return run(rng, name, int(argument))
        return MAKERS[name](rng, argument)

    return _MARK.sub(make, text)


def run(rng: Random, alphabet: str, length: int) -> str:
    made = "".join(rng.choices(ALPHABETS[alphabet], k=length))
    return f"{rng.choice('123456789')}{made[1:]}" if alphabet == "num" and length > 2 else made


def summed(rng: Random, prefix: str) -> str:
    """30 letters and digits, and their CRC-32 in base 62 (GitHub, npm)."""
    body = run(rng, "b62", 30)
    rest, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        digits = _B62[digit] + digits
    return prefix + body + digits


def strong(rng: Random, length: str) -> str:
    """What a password manager makes; nothing that a URL or a shell would take apart."""
    must = [rng.choice(string.ascii_lowercase), rng.choice(string.ascii_uppercase), rng.choice(string.digits), "!"]
    made = must + rng.choices(string.ascii_letters + string.digits + "!*+-_=.^~", k=int(length) - len(must) - 1)
    rng.shuffle(made)
    return rng.choice(string.ascii_letters) + "".join(made)


def typed(rng: Random, _: str) -> str:
    """What a person makes up."""
    one, two = rng.sample(WORDS, 2)
    forms = (
        f"{one.title()}{rng.randint(10, 2030)}!", f"{one}{two.title()}{rng.randint(1, 99)}", f"{one.title()}@{two}7",
        f"{one[:5]}-{two[:5]}-{rng.randint(100, 999)}", f"{one.title()}$ecure{rng.randint(1, 99)}",
    )  # fmt: skip
    return rng.choice(forms)


def jwt(rng: Random, _: str) -> str:
    parts = (
        {"alg": "HS256", "typ": "JWT"},
        {"sub": run(rng, "num", 10), "name": person(rng, ""), "iat": rng.randint(1_760_000_000, 1_790_000_000)},
    )
    return ".".join(
        (*(_plain(json.dumps(part, separators=(",", ":"))).rstrip("=") for part in parts), run(rng, "url", 43))
    )


def pem(rng: Random, head: str) -> str:
    start, length = _HEADS[head]
    return _armoured(head, start + run(rng, "b64", length - len(start)) + "==")


def openssh(rng: Random, _: str) -> str:
    start = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQAAACB"
    return _armoured("OPENSSH PRIVATE KEY", start + run(rng, "b64", 250) + "=")


def _armoured(head: str, body: str) -> str:
    lines = (body[n : n + 64] for n in range(0, len(body), 64))
    return "\n".join((f"-----BEGIN {head}-----", *lines, f"-----END {head}-----"))


def based(rng: Random, what: str) -> str:
    """Base64 of something else: of a value, a token, a PEM file, a shell text."""
    texts = {
        "token": "<<summed:ghp_>>\n",
        "cert": "<<pem:CERTIFICATE>>\n",
        "key": "<<pem:RSA PRIVATE KEY>>\n",
        "script": "#!/bin/sh\nexport AWS_SECRET_ACCESS_KEY=<<b64:40>>\nexport GH_TOKEN=<<summed:ghp_>>\n./start\n",
    }
    return _plain(fill(rng, texts.get(what) or f"<<{what}>>"))


def _plain(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def person(rng: Random, _: str) -> str:
    return f"{rng.choice(LISTS['first'])} {rng.choice(LISTS['last'])}"


def mail(rng: Random, _: str) -> str:
    first, last = person(rng, "").lower().split()
    return f"{first}.{last}{rng.choice(('', rng.randint(2, 99)))}@{rng.choice(LISTS['posts'])}"


def mails(rng: Random, count: str) -> str:
    return ",\n".join(f'"{mail(rng, "").replace("@", f"{n}@")}"' for n in range(int(count)))


def phone(rng: Random, _: str) -> str:
    def digits(n: int) -> str:
        return run(rng, "num", n)

    forms = (
        f"+1 {rng.choice(('212', '415', '617', '303'))}-{rng.choice(('234', '367', '448', '682'))}-{digits(4)}",
        f"({rng.choice(('212', '415', '617', '303'))}) {rng.choice(('234', '367', '448', '682'))}-{digits(4)}",
        f"+44 74{rng.randint(10, 79)} {digits(6)}",
        f"+49 151 {digits(8)}",
        f"+33 6 {' '.join(f'{rng.randint(10, 99)}' for _ in range(4))}",
    )
    return rng.choice(forms)


def card(rng: Random, how: str) -> str:
    """A number with the range of an issuer and a right last digit."""
    prefix = rng.choice(("4", "51", "52", "53", "54", "55", "6011"))
    body = prefix + run(rng, "num", 15 - len(prefix))
    number = body + next(d for d in string.digits if luhn(body + d))
    gap = {"spaced": " ", "dashed": "-"}.get(how, "")
    return gap.join(number[n : n + 4] for n in range(0, 16, 4))


def luhn(number: str) -> bool:
    digits = [int(d) for d in reversed(number)]
    return (sum(digits[::2]) + sum(sum(divmod(2 * d, 10)) for d in digits[1::2])) % 10 == 0


def noluhn(rng: Random, _: str) -> str:
    return next(n for n in iter(lambda: run(rng, "num", 16), "") if not luhn(n))


def iban(rng: Random, how: str) -> str:
    country = rng.choice(sorted(_COUNTRIES))
    body = fill(rng, _COUNTRIES[country])
    if country == "BE":
        body = body[:10] + f"{int(body[:10]) % 97 or 97:02}"
    check = 98 - _remainder(f"{body}{country}00")
    number = f"{country}{check:02}{body}"
    return " ".join(number[n : n + 4] for n in range(0, len(number), 4)) if how == "spaced" else number


def noiban(rng: Random, _: str) -> str:
    number = iban(rng, "")
    return f"{number[:2]}{(int(number[2:4]) + 11) % 97:02}{number[4:]}"


def _remainder(text: str) -> int:
    return int("".join(str(int(c, 36)) for c in text)) % 97


_COUNTRIES = {
    "DE": "<<num:18>>", "AT": "<<num:16>>", "CH": "00<<num:15>>", "DK": "<<num:14>>", "LU": "<<num:16>>",
    "NL": "ABNA<<num:10>>", "GB": "NWBK<<num:14>>", "IE": "AIBK<<num:14>>", "RO": "BTRL<<num:16>>",
    "AE": "033<<num:16>>", "BE": "<<num:12>>",
}  # fmt: skip


def ssn(rng: Random, _: str) -> str:
    return f"{rng.choice([*range(101, 660), *range(700, 772)])}-{rng.randint(11, 99)}-{rng.randint(1001, 9999)}"


def dni(rng: Random, _: str) -> str:
    number = rng.randint(10_000_000, 79_999_999)
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def cpf(rng: Random, _: str) -> str:
    d = [rng.randint(0, 9) for _ in range(9)]
    for _ in range(2):
        rest = sum((len(d) + 1 - n) * x for n, x in enumerate(d)) % 11
        d.append(0 if rest < 2 else 11 - rest)
    return "{}{}{}.{}{}{}.{}{}{}-{}{}".format(*d)


def bsn(rng: Random, _: str) -> str:
    while True:
        d = [rng.randint(1, 9), *(rng.randint(0, 9) for _ in range(8))]
        if sum((9 - n) * x for n, x in enumerate(d[:8])) % 11 == d[8]:
            return "".join(map(str, d))


MAKERS: dict[str, Callable[[Random, str], str]] = {
    "summed": summed, "strong": strong, "typed": typed, "jwt": jwt, "pem": pem, "openssh": openssh, "based": based,
    "name": person, "mail": mail, "mails": mails, "phone": phone, "card": card, "noluhn": noluhn, "iban": iban,
    "noiban": noiban, "ssn": ssn, "dni": dni, "cpf": cpf, "bsn": bsn,
    "as_is": lambda _, text: text,
    "basic": lambda rng, _: _plain(f"{rng.choice(WORDS)}:{strong(rng, '18')}"),
    "bcrypt": lambda rng, _: f"$2b$12${run(rng, 'b62', 53)}",
    "der": lambda rng, length: "MIIEvQIBADANBgkqhkiG9w0B"[: int(length)] + run(rng, "b64", int(length) - 24),
    "indented": lambda rng, what: "\n".join(f"      {line}" for line in MAKERS[what](rng, "").splitlines()),
    "token_name": lambda rng, _: rng.choice(LISTS["token_names"]),
    "uuid": lambda rng, _: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "word": lambda rng, _: rng.choice(WORDS),
}  # fmt: skip
