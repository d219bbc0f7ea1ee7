"""Choose which values of a ``.env``-like file or of the environment are secret: none that others write by chance.

Rules of this file:
1. A value that turns up elsewhere stops a commit, so what is ordinary is none: words, numbers, addresses, paths,
   placeholders, what is public by its name.
2. What looks like chance counts under the name of a secret, and if it is long under any; what looks like a word only
   under a name that ends in what a secret is called.
3. Of an address only the password and the token in it count, of a connection string and of JSON their secret parts.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from sentinel_guard.core.analysis.secret_names import may_hold_secret, names_secret
from sentinel_guard.core.secrets.user_secrets.parse_secret_files import NAME, Part, leaves, lines_of, parts
from sentinel_guard.core.secrets.user_secrets.password_likelihood import is_ordinary, is_placeholder, is_random
from sentinel_guard.core.text.control_characters import visible

SHORT, LONG = 8, 20
"""Characters of a value below which it is none; and from which on it needs no name if it looks like chance."""
WORDY = 16
"""Characters that a value of letters alone must have."""
_OF_SECRETS = re.compile(r"(?i)secret|credential|private|vault|token|passw|keys?(?![a-z])|(?<![a-z])env(?![a-z])")
_OPEN = ("sentinel.toml",)
"""Restricted files that hold no secrets."""

_PUBLIC_NAME = re.compile(
    r"(?:NEXT_PUBLIC|NUXT_PUBLIC|EXPO_PUBLIC|VITE|REACT_APP|GATSBY|VUE_APP|NG_APP|STORYBOOK|PUBLIC)_.*"
    r"|(?:.*_)?(?:IDS?|UUID|GUID|NAMES?|USER|USERNAME|LOGIN|E?MAIL|HOSTS?|HOSTNAME|PORT|REGION|ZONE|ENV|ENVIRONMENT|MODE"
    r"|VERSION|TAG|IMAGE|BUCKET|PATH|FILE|FILENAME|DIR|FOLDER|ROOT|COMMIT|SHA|SHA1|SHA256|DIGEST|CHECKSUM|REVISION|FORMAT"
    r"|TYPE|ALG|ALGORITHM|ISSUER|AUDIENCE|SCOPES?|PROVIDER|STRATEGY|TTL|EXPIR[A-Z]*|EXPIRES_(?:AT|IN)|TIMEOUT|LENGTH"
    r"|ENABLED|COUNT|LIMIT|LEVEL|DATE|TIME|LOCALE|TZ|TIMEZONE|MODEL|DOMAIN|ORIGINS?|TABLE|SCHEMA|TOPIC|QUEUE|CLASS|MODULE"
    r"|PUBLIC_KEY|PUBLISHABLE_KEY|PUBKEY|SITE_KEY|SITEKEY|FINGERPRINT|MEASUREMENT|INTEGRITY|ETAG)"
    r"|(?:.*_)?SENTRY_.*DSN|(?:.*_)?(?:GIT|COMMIT|BUILD)_(?:SHA|HASH|REF)"
)
"""What is told to everybody, or is a name of something."""
_SECRET_NAME = re.compile(
    r".*(?:PASS|PASSWORDS?|PASSWD|PASSPHRASE|PWD|PW|SECRETS?|TOKENS?|KEYS?|APIKEY|KEY_?BASE|CREDENTIALS?|AUTH|PAT"
    r"|COOKIE|SALT|PEPPER|MNEMONIC|SEED|DSN|WEBHOOK|PASSWORT|_AUTHTOKEN)"
    r"(?:_?(?:[0-9]{1,3}|PROD|PRODUCTION|DEV|STAGING|LIVE|TEST|OLD|NEW|B64|BASE64|HEX|VALUE|DATA))?"
)
"""What ends in what a secret is called."""
_PHRASE = re.compile(r".*(?:PASS|MNEMONIC|SEED|SECRET)")
_REFERENCE = re.compile(
    r"\$\{|\{\{|\$\(|<[^<>]*>$|^\$[A-Za-z_]\w*$|^%\w+%$|^(?:op|vault|keyring|awssm|gcpsm|arn|env|file|projects)[:/]|^!"
    r"|^ENC\[|^(?:ssh-|ecdsa-|sk-ssh-|sk-ecdsa-)\S+ "
)
"""It says where the secret is, or is the public half of one."""
_CONNECTION = re.compile(r"(?i)(?:^|[;\s])(?:password|pwd|accountkey|sharedaccesskey|secret|token)\s*=\s*([^;\s]+)")
_HOOK = re.compile(r"(?i)hook|/services/|infura|alchemy|quiknode|getblock|/bot[0-9]+:")
"""Addresses whose path is the secret."""
_BARE = re.compile(r"[A-Za-z0-9+/_.~=-]+|[a-z]+://\S+")
"""What may be a secret without a name: one word."""
_SCHEME = re.compile(r"^(?:(?:base64|hex|sha256|plain|bearer|basic|token)[: ]|\{[A-Z0-9-]+\})\s*", re.IGNORECASE)


def values_of(path: str, content: bytes) -> dict[str, str]:
    """The secret values of a file: value -> words that say where it is from (``the value of TOKEN in .env``).

    ``path``: relative, as it is to be shown. A file that is restricted, but not called like one of secrets, may be
    code: of that only what stands under the name of a secret counts. What is no UTF-8 text has none.
    """
    if b"\0" in content or path.rpartition("/")[2] in _OPEN:
        return {}
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return {}
    found = dict[str, str]()
    all_of_it = may_hold_secret(f"/{path}") or _OF_SECRETS.search(path) is not None
    for part in parts(path, text):
        what = f"the value of {_named(part)} in" if re.fullmatch(NAME, part.name) else "a line of"
        for value in secrets(part) if all_of_it or names_secret(_normal(part.name)) else ():
            found.setdefault(value, f"{what} {visible(path)}")
    return found


def values_in(environ: Mapping[str, str]) -> dict[str, str]:
    """The secret values of an environment, as ``values_of``: of variables that are called like one."""
    named = (Part(name, value) for name, value in environ.items() if names_secret(name))
    return {v: f"the value of the variable {_named(part)}" for part in lines_of(named) for v in secrets(part)}


def _named(part: Part) -> str:
    from sentinel_guard.core.text.redact_by_pattern import redact  # noqa: PLC0415 - a commit waits, and many trees have no such values

    return redact(part.name)


def weak(value: str) -> bool:
    """Whether it does not look like chance: a copy of it in an example beside it says that it is none."""
    return not is_random(value)


def secrets(part: Part) -> Iterator[str]:
    """What of a value is secret: all of it, a password in it, or nothing."""
    name, value = _normal(part.name), part.value.strip()
    if len(value) < SHORT or _REFERENCE.search(value) or _PUBLIC_NAME.fullmatch(name):
        return
    if not name and not _BARE.fullmatch(value):
        return
    if "://" in value:
        yield from _of_address(value)
    elif value[0] == "{":
        yield from _of_json(value)
    elif found := _CONNECTION.findall(value):
        yield from (v for v in found if _counts("PASSWORD", v))
    elif name.endswith("AUTH") and (password := _login(_SCHEME.sub("", value))):
        yield from (_SCHEME.sub("", value), password) if _counts("PASSWORD", password) else ()
    elif _counts(name, bare := _SCHEME.sub("", value)):
        yield bare


def _normal(name: str) -> str:
    """``clientSecret``, ``client-secret`` -> ``CLIENT_SECRET``."""
    return re.sub(r"[-.\s]", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).upper()


def _counts(name: str, value: str) -> bool:
    if len(value) < SHORT or is_placeholder(value) or is_ordinary(value):
        return False
    if any(c.isspace() for c in value):
        return len(value) >= WORDY and _PHRASE.match(name) is not None and len(value.split()) > 2
    if is_random(value):
        plain_hex = re.fullmatch(r"[0-9a-fA-F-]+", value) is not None
        return names_secret(name) or (len(value) >= LONG and not plain_hex)
    called = _SECRET_NAME.fullmatch(name) is not None
    return called and (len(value) >= WORDY or not re.fullmatch(r"[A-Za-z]+|[\W_]+|[0-9]+", value))


def _of_address(value: str) -> Iterator[str]:
    try:
        seen = urlsplit(value)
    except ValueError:
        return
    inner = [unquote(v) for v in (seen.password,) if v] or [unquote(seen.username or "")]
    asked = [("PASSWORD", v) for v in inner] + [(_normal(k), v) for k, v in parse_qsl(seen.query)]
    if _HOOK.search(value):
        asked += [("TOKEN", v) for v in re.split(r"[/:]", seen.path) if len(v) >= LONG]
    yield from (v for n, v in asked if (n == "SIG" or _SECRET_NAME.fullmatch(n)) and _counts("PASSWORD", v))


def _of_json(value: str) -> Iterator[str]:
    import json  # noqa: PLC0415 - few values are JSON, and a commit waits

    try:
        data = json.loads(value)
    except (ValueError, RecursionError):
        return
    for part in lines_of(leaves(data)):
        # No JSON within JSON: it may go on for ever.
        if not part.value.startswith("{"):
            yield from secrets(part)


def _login(value: str) -> str:
    """The password of ``user:password`` in base64; empty for anything else."""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""
