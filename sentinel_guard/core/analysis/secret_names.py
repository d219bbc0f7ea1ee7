"""Recognises secret files and secret environment variables by their names (``.env``, ``id_rsa``, ``API_TOKEN``).

Such files are not shown without a person's yes (ADR 0008), and their content is never folded into a word: what the
analysis says stands in refusals, logs and reports, where a secret has no place.
"""

from __future__ import annotations

import re

STORE = "secrets of "
"""What an effect's target begins with where secrets are read that lie in no file: ``secrets of gh``."""
_EXAMPLE = re.compile(r".*\.(?:example|sample|template|dist|defaults)(?:\.[^/]*)?|.*\.(?:pub|patch)")
_SECRET = re.compile(
    r".*/(?:"
    r"\.env(?:\.[^/]*)?|[^/.][^/]*\.env|\.envrc"
    r"|\.netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.npmrc|\.pypirc|\.vault-token|\.htpasswd"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    r"|\.(?:aws/credentials|docker/config\.json|kube/config|gnupg/.*|config/gh/hosts\.yml|config/gcloud/.*)|Library/Keychains/.*"
    r"|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.terraform\.d/credentials\.tfrc\.json"
    r"|\.[a-z_]+_history|\.local/share/fish/fish_history|ConsoleHost_history\.txt|\.config/nushell/history\.(?:txt|sqlite3)"
    r"|\.local/share/keyrings/.*|\.password-store/.*"
    r"|\.claude/\.credentials\.json|\.codex/auth\.json|\.gemini/oauth_creds\.json|\.aws/(?:sso|cli)/cache/.*"
    r"|\.azure/(?:msal_token_cache|accessTokens)\.[a-z]+|\.config/sops/age/keys\.txt|\.config/hub|\.fly/config\.yml"
    r"|\.config/(?:glab-cli/config\.yml|netlify/config\.json|doctl/config\.yaml)|\.railway/config\.json"
    r"|(?:[^/]+[-_.])?service[-_]?account[^/]*\.json|client_secret[^/]*\.json|(?:config/)?master\.key"
    r"|(?:\.config|Library/Application Support|\.var/app)/.*(?:hrom|rave|dge|pera|ivaldi).*/"
    r"(?:Cookies|Login Data|Web Data|Local State)"
    r"|(?:\.mozilla|Firefox|firefox)/.*/(?:cookies\.sqlite|logins\.json|key4\.db)"
    r")|/etc/(?:shadow-?|gshadow-?|sudoers|ssh/ssh_host_[^/]*_key)|/proc/[^/]+/environ"
)
KINDS = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", ".pgpass", ".my.cnf", ".git-credentials", ".npmrc", ".pypirc"),
    *(".vault-token", ".htpasswd", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".bash_history", ".zsh_history"),
    *("service-account*.json", "client_secret*.json", "master.key"),
)
"""Patterns of names that are a secret's in any folder."""
_KEYS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc")


_VARIABLE = re.compile(r"TOKEN|SECRET|PASS|PRIVATE|CRED|API_?KEY|ACCESS_KEY|_KEY$|AUTH|COOKIE|DSN|_UR[IL]$|CONN_")


def names_secret(variable: str) -> bool:
    """Whether a variable of the environment may hold a secret: its value is not folded into a word."""
    return _VARIABLE.search(variable.upper()) is not None and not variable.endswith("_SOCK")


_CREDENTIAL = re.compile(
    r"(?:.*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY)"
    r"|(?:.*_)?(?:PASS|PAT|JWT|CREDENTIALS?|COOKIE|DSN|PWD)(?<!^PWD)(?<!OLDPWD)"
    r"|(?:.*_)?(?:DATABASE|DB|MONGO(?:DB)?|REDIS|POSTGRES(?:QL)?|MYSQL|AMQP|RABBITMQ|BROKER|SUPABASE_DB)_UR[IL]"
    r"|.*_?(?:ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION|AUTH|MASTER|ADMIN|ACCOUNT)_?KEY)"
    r"(?:_?\d|_(?:PROD|PRODUCTION|LIVE|STAGING|DEV|TEST))?"
)


def names_credential(variable: str) -> bool:
    """Whether a variable is called as what logs in is: narrower than ``names_secret``, which takes in whatever may be
    one (``AUTHOR``, ``API_URL``, ``MAX_TOKENS``).
    """
    return _CREDENTIAL.fullmatch(variable.upper()) is not None


def is_secret(path: str) -> bool:
    """Whether an absolute path names a file of secrets, or a store of them; examples and public keys are none."""
    if path.startswith(STORE):
        return True
    return _SECRET.fullmatch(path) is not None and _EXAMPLE.fullmatch(path.rpartition("/")[2]) is None


def may_hold_secret(path: str) -> bool:
    """Whether the content of a file stays unread: secrets, and what may be a key."""
    return path.endswith(_KEYS) or is_secret(path)
