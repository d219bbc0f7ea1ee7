"""What is printed in manuals, and what is encrypted, is no secret; what is like it is."""

from __future__ import annotations

import base64
import json

import pytest

from sentinel_guard.core.secrets.example_and_encrypted_values import is_example_or_encrypted
from sentinel_guard.core.secrets.formats.base import BASE64, HEX, URL, fake
from sentinel_guard.core.secrets.scan_text import scan


def _b64(text):
    return base64.b64encode(text.encode()).decode()


def _jwt(**claims):
    return f"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{_b64(json.dumps(claims)).rstrip('=')}.{fake(43, URL)}"


MANUALS = _jwt(sub="1234567890", name="John Doe", iat=1516239022)
MINE = _jwt(sub="8a6e0804", name="Ann Lee", iat=1516239022)
SOPS = f"ENC[AES256_GCM,data:{fake(20, BASE64)}==,iv:{fake(43, BASE64)}=,tag:{fake(22, BASE64)}==,type:str]"
MANIFEST = (
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  DB_USER: cHJvZF91c2VyXzc3NA==\n  password: {}\n"
)
SEALED = f"kind: SealedSecret\nspec:\n  encryptedData:\n    password: AgB{fake(400, BASE64)}\n    apiKey: {{}}\n"
AZURITE = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50u" + "SRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
VAULT = "password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  " + "\n  ".join(fake(80, HEX) for _ in range(3)) + "\n"
AGE = f"token: |\n  -----BEGIN AGE ENCRYPTED FILE-----\n  {fake(64, BASE64)}\n  -----END AGE ENCRYPTED FILE-----\n"

NONE = [
    (f"API_TOKEN = '{MANUALS}'", "the token of jwt.io"),
    (f"curl -H 'Authorization: Bearer {MANUALS}' https://api.corp.io", "the same in a command"),
    (f"Authorization: Bearer {_jwt(iss='joe', exp=1300819380)}", "the token of RFC 7519"),
    (f"AccountName=devstoreaccount1;AccountKey={AZURITE};", "the key of an emulator"),
    ("stripe.api_key = 'sk_" + "test_4eC39HqLyjWDarjtT1zdp7dc'", "a manual's key"),
    (f"curl -H 'Authorization: Basic {_b64('Aladdin:open sesame')}' x.io", "the login of RFC 7617"),
    (f"curl -H 'Authorization: Basic {_b64('username:password')}' x.io", "everybody's login"),
    (MANIFEST.format(_b64("changeme")), "a placeholder in a manifest"),
    (MANIFEST.format(_b64("your-password-here\n")), "another one, with a line end"),
    (MANIFEST.format(_b64("administrator")), "a word"),
    (MANIFEST.format(SOPS), "a manifest that sops has encrypted"),
    (f"password: {SOPS}\n", "a value that sops has encrypted"),
    (f'{{"password": "{SOPS}"}}', "the same in JSON"),
    (SEALED.format(f"AgA{fake(700, BASE64)}=="), "a sealed secret"),
    (VAULT, "what ansible-vault has encrypted"),
    (AGE, "what age has encrypted"),
    (f"\0GITCRYPT\0{fake(200)}", "what git-crypt has encrypted"),
]


@pytest.mark.parametrize(("text", "why"), NONE, ids=[row[1] for row in NONE])
def test_what_everybody_may_see(text, why):
    assert not scan(text)


SECRET = [
    (f"curl -H 'Authorization: Bearer {MINE}' https://api.corp.io", "curl-header", "another token"),
    (MANIFEST.format(_b64("Tr0ub4dor&3x!")), "kubernetes-secret", "a password in a manifest, behind a name"),
    (MANIFEST.format(fake(24, BASE64)), "kubernetes-secret", "bytes in a manifest"),
    (SEALED.format(fake(40)), "generic-secret", "what is not sealed beside what is"),
    (f"AccountName=corp;AccountKey={fake(86, BASE64)}==;", "azure-storage-key", "another key"),
    (f"curl -H 'Authorization: Basic {_b64(f'ann:{fake(12)}')}' x.io", "curl-header", "another login"),
    (f"x: {_b64(MANUALS)}", "jwt-base64", "a token in base64: nobody's manual has that, and it only warns"),
]


@pytest.mark.parametrize(("text", "rule", "why"), SECRET, ids=[row[2] for row in SECRET])
def test_what_is_like_it_and_secret(text, rule, why):
    assert rule in {leak.rule for leak in scan(text)}


@pytest.mark.parametrize(
    "value", ["", "ey", "ey.", "eyJ.\ud800.x", "ZXlK", "Ag", "\ud800", "ey.\xa8", "p\xe4ss", "=" * 60]
)
def test_no_value_raises(value):
    assert not is_example_or_encrypted(value)
