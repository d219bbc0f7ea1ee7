"""Values that match a secret format and are none: example keys printed in manuals, encrypted values.

Nothing here is the person's own: known values are sought by themselves.
"""

from __future__ import annotations

import hashlib

from sentinel_guard.core.secrets.decode_encoded_text import from_base64
from sentinel_guard.core.secrets.placeholder_values import password_like
from sentinel_guard.core.secrets.regex_engine import compile_with_re

_PRINTED = {
    "0011cc25eb432071": "Azurite's account key", "aa6547439583c3a2": "the key of the emulator of Cosmos DB",
    "2cafc0970149a84f": "Stripe's manual", "f2d6ca16515033e5": "Stripe's manual, before",
    "60a09e4357868c1e": "the first account of Anvil and Hardhat", "bc1a50966c9e6486": "the same without 0x",
    "f5e95c9954635b65": "reCAPTCHA's key for tests", "6c96130f130ab0d6": "RFC 6749", "00cf4c781dc37003": "RFC 6749",
    "e9974c507d2a8021": "RFC 6749", "b8e148545b13c78b": "RFC 6750", "a35b81a7d7927b70": "RFC 6749",
}  # fmt: skip
"""SHA-256 (16 digits) of a key -> where it is printed; its digest, so that nobody takes this file for a leak."""
_CLAIMS = r"\"sub\"\s{0,3}:\s{0,3}\"1234567890\"|\"name\"\s{0,3}:\s{0,3}\"John Doe\"|\"iss\"\s{0,3}:\s{0,3}\"joe\""
"""Of the tokens on jwt.io and in RFC 7519."""
_LOGINS = (
    r"(?i)(?:Aladdin:open ?sesame|(?:user(?:name)?|login|test|foo|me):(?:pass(?:word)?|passwd|secret|test|bar))\s?"
)
"""Of RFC 7617 and of everybody's examples."""
_WORDED = r"[A-Za-z][\w.@:-]{4,40}\w\s?"
"""What may be a placeholder in base64, as manifests have it."""
_LONGEST = 60
"""Characters of base64 that hold a login or a word."""
_SEALED = r"Ag[A-D][A-Za-z0-9+/]{40,4000}={0,2}"
"""Of a SealedSecret: it begins with the length of its key, 512."""


def is_example_or_encrypted(value: str) -> bool:
    """Whether a value is one that everybody may see."""
    if not value.isascii():
        return False
    if compile_with_re(_SEALED).fullmatch(value) or _digest(value) in _PRINTED:
        return True
    if value.startswith("ey"):
        return bool(compile_with_re(_CLAIMS).search(from_base64((*value.split("."), "")[1])))
    return len(value) <= _LONGEST and _is_nothing(from_base64(value))


def _is_nothing(held: str) -> bool:
    """Whether what was in base64 is an example's login, or a word."""
    if compile_with_re(_LOGINS).fullmatch(held):
        return True
    return bool(compile_with_re(_WORDED).fullmatch(held)) and not password_like(held.strip())


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()[:16]
