"""Tell passwords and tokens from placeholders, references, code and words assigned to a secret's name."""

from __future__ import annotations

from sentinel_guard.core.secrets.entropy_and_dummy_values import entropy, is_dummy_value
from sentinel_guard.core.secrets.regex_engine import compile_with_re

_CODE = (
    r"[A-Za-z_$][\w$]{0,23}(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]{0,23})+[()\[\];,]*"  # a.b.c, a dotted name or a file's
    r"|[@%!~]?[\w.$:>\[\]-]{0,100}\([^)]{0,200}\)?.{0,100}"  # f(x)
    r"|\[[\w.]{1,60}\]::.{0,200}|[\w.$]{1,60}\[[^\]]{0,100}\][.\w]*"  # a["b"]
    r"|(?:\.{0,2}|~)/.{0,300}|[A-Za-z]:\\.{0,300}|\w{1,12}://.{0,300}"  # paths and URLs
    r"|[^\\]*\\[dswbnrtuxDSWB].{0,300}"  # patterns and escapes
    r"|[\w.\[\]-]{1,40}=[^=].{0,300}[&;,]?"  # another assignment
    r"|[^\s]{0,200}[\[({]|&[\w.]{1,60}|\*{1,2}[\w.]{1,60}|![\w.]{1,60}.{0,60}|@[\w.]{1,60}|-{1,2}[a-z][\w-]{1,60}"
)
"""The whole of a value that is code, or names a place."""
_PARTS = r"[_\-./:,;|+\s]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_WORD = r"[A-Za-z]{0,15}|[A-Za-z]{0,30}(?:pass|secret|token|key|user|auth)[A-Za-z]{0,30}\d{0,4}|\d{1,4}"
_NAMED = r"(?:sha|md|base|utf|oauth|http|ipv|ssl|tls|rsa|aes|des|pbkdf|argon|x|v|s|p|i|h|u|k)\d{1,4}"
_SYMBOLS = r"[^A-Za-z0-9_\-./:,;|+\s]"
_PHRASE = r"[A-Za-z]{3,15}(?:[-_.][A-Za-z]{3,15})+[-_.]?\d{2,6}"
_OWN_NAME = r"(?i)pass|pwd|secret|token|key|user|auth|admin|test|name"
_TRIVIAL = (
    r"[\W_]*(?:my|the|new|old|user|admin|root|test|db)?[\W_]*(?:p[a@]ss?w[o0]?r?d?|pass|pwd|secret|token|value)[\W_]*"
)
_TELLING, _SHORTEST = 12, 3
"""Characters of a value from which on its words must have so many on the average."""
_PUBLIC = ("pk_", "pk.")
"""What a provider's publishable keys start with."""


def password_like(value: str) -> bool:
    """Whether a person could have chosen it as a password, and did not write it as a word of the language."""
    if len(value) < 6 or len(set(value)) < 5 or not _literal(value):
        return False
    return not words(value) or bool(
        compile_with_re(_PHRASE).fullmatch(value) and not compile_with_re(_OWN_NAME).search(value)
    )


def token_like(value: str) -> bool:
    """Whether a machine could have made it: long, and in disorder."""
    if len(value) < 10 or entropy(value) < 2.8 or value.startswith(_PUBLIC):
        return False
    return _literal(value) and not words(value)


def strong(value: str) -> bool:
    """Whether a password is one that somebody relies on: eight characters or more, of three kinds; ten of two."""
    kinds = sum(bool(compile_with_re(kind).search(value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]"))
    return (
        password_like(value)
        and len(value) >= (8 if kinds > 2 else 10)
        and bool(compile_with_re("[0-9]").search(value))
        and value.isascii()
    )


def _literal(value: str) -> bool:
    return (
        not is_dummy_value(value)
        and not compile_with_re(_CODE).fullmatch(value)
        and not compile_with_re(_TRIVIAL).fullmatch(value.lower())
    )


def words(value: str) -> bool:
    """Whether it is made of words and small numbers only, however joined."""
    if compile_with_re(_SYMBOLS).search(value.rstrip("!?*")):
        return False
    parts = compile_with_re(_PARTS).split(value)
    if len(value) >= _TELLING and len(parts) * _SHORTEST > len(value):  # capitals that chance put there join no words
        return False
    return all(
        compile_with_re(_WORD).fullmatch(part) or compile_with_re(_NAMED).fullmatch(part.lower()) for part in parts
    )
