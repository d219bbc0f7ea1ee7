"""Shannon entropy of a value, and detection of dummy values: placeholders, references, regular patterns."""

from __future__ import annotations

import math
from collections import Counter

from sentinel_guard.core.secrets.regex_engine import compile_with_re

_STAND_INS = (
    "example", "placeholder", "place_holder", "changeme", "change_me", "change-me", "changeit", "change_it",
    "change_this", "changethis", "replaceme", "replace_", "replace-", "your_", "your-", "yourp", "yours", "yourt",
    "yourk", "dummy", "sample", "redacted", "masked", "insert_", "insert-", "fixme", "xxxx", "***", "...", "----",
    "____", "####", "notset", "not_set", "not-set", "notreal", "not_real", "not-real", "lorem", "foobar", "barbaz",
    "deadbeef",
)  # fmt: skip
"""In small letters. Whoever writes one of these writes no secret; in random characters they do not turn up."""
_SHORT = r"(?:^|[^a-z0-9])(?:todo|fake|mock|your|here|none|null|undefined)(?:$|[^a-z0-9])"
"""Words that could turn up: they count where they stand alone."""
_REFERENCE = (
    r"(?i)\$[A-Za-z_({]\w|[{<\[%@]?\$?\{\{?[\w .|$:-]{0,80}\}|<[\w /:.-]{1,80}>|<%|%\(\w|%\w{2,40}%$|\{%|@@|__\w+__$"
    r"|[\w$.]{0,60}(?:os\.environ|process\.env|getenv|env\b)|!(?:ref|sub|vault|getatt|secret)\b"
    r"|(?:vault|op|arn|ssm|doppler|keyring|ref\+\w{1,20}):|(?:enc|encrypted|secure|cipher)[\[:(]|\{(?:cipher|aes|enc)\}"
)
_INSIDE = r"(?i)\$\{[A-Za-z_][\w.:-]{0,60}\}|\{\{ ?[\w.$ |-]{1,60}\}\}|<[a-z][\w -]{0,40}>|#\{[\w.@]{1,60}\}|\$\(\w"
"""What is looked up elsewhere, or encrypted: a variable, a template, a tag; at the start of a value, and inside one."""
_ORDERED = "0123456789 abcdefghijklmnopqrstuvwxyz 1234567890 9876543210 zyxwvutsrqponmlkjihgfedcba qwertyuiop asdfghjkl"
_SEEDS = (
    "3456", "6543", "abcd", "fghi", "klmn", "pqrs", "uvwx", "zyxw", "utsr", "ponm", "kjih", "fedc", "tyui", "dfgh",
)  # fmt: skip
"""Every stretch of ``RUN`` characters of these has one of them in it."""
RUN = 8
"""Characters in the order of an alphabet or of a keyboard that chance does not bring together."""
_MONOTONE = r"(.)\1{5}"
_LONG = 200
"""Characters of a value from which on chance may bring a short word together."""


def entropy(value: str) -> float:
    """Bits a character (Shannon) of the value's own characters; 0 for the empty value."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def is_dummy_value(value: str, run: int = RUN) -> bool:
    """Whether the value stands for a secret (a placeholder, a reference, a pattern), and is none.

    ``run``: characters in the order of an alphabet, or of a piece that comes again, that make it so.
    """
    low = value.lower()
    if any(word in low for word in _STAND_INS) or compile_with_re(_REFERENCE).match(value) or _periodic(low, run // 2):
        return True
    if ("{" in low or "<" in low or "$(" in low) and compile_with_re(_INSIDE).search(value):
        return True
    return len(low) < _LONG and bool(
        compile_with_re(_SHORT).search(low) or compile_with_re(_MONOTONE).search(low) or _ordered(low, run)
    )


def _ordered(low: str, run: int) -> bool:
    seeded = any(seed in low for seed in _SEEDS)
    return seeded and any(low[at : at + run] in _ORDERED for at in range(len(low) - run + 1))


def _periodic(low: str, longest: int) -> bool:
    """Whether it is one piece of at most so many characters again and again."""
    return len(low) >= RUN and (low + low).find(low, 1) <= min(longest, len(low) // 2)
