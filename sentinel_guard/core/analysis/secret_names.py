"""Recognises secret files and secret environment variables by their names (``.env``, ``id_rsa``, ``API_TOKEN``).

Such files are not shown without a person's yes (ADR 0008), and their content is never folded into a word: what the
analysis says stands in refusals, logs and reports, where a secret has no place.
"""

from __future__ import annotations

import re
from functools import lru_cache

STORE = "secrets of "
"""What an effect's target begins with where secrets are read that lie in no file: ``secrets of gh``."""
_EXAMPLE = re.compile(r".*\.(?:example|sample|template|dist|defaults)(?:\.[^/]*)?|.*\.(?:pub|patch)")
_STORES = (
    r"\.netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.config/git/credentials|\.npmrc|\.pypirc|\.vault-token|\.htpasswd",
    r"\.s3cfg|\.boto|\.databrickscfg|\.rclone\.conf|\.sentryclirc|\.msmtprc|\.mbsyncrc|\.smbcredentials|\.vault[_-]pass(?:word)?(?:\.txt)?",
    r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|\.(?:aws|gem)/credentials|\.cargo/credentials(?:\.toml)?|\.codex/auth\.json",
    r"\.docker/config\.json|\.kube/config|\.gnupg/.*|\.config/gh/hosts\.yml|\.config/gcloud/.*|Library/Keychains/.*",
    r"\.terraform\.d/credentials\.tfrc\.json|\.m2/settings(?:-security)?\.xml|\.gradle/gradle\.properties",
    r"\.[a-z_]+_history|\.local/share/fish/fish_history|ConsoleHost_history\.txt|\.config/nushell/history\.(?:txt|sqlite3)",
    r"\.local/share/keyrings/.*|\.password-store/.*|Bitwarden CLI/data\.json",
    r"\.claude/\.credentials\.json|\.gemini/oauth_creds\.json|\.aws/(?:sso|cli)/cache/.*|\.azure/(?:msal_token_cache|accessTokens)\.[a-z]+",
    r"\.config/(?:sops/age/keys\.txt|hub|glab-cli/config\.yml|netlify/config\.json|doctl/config\.yaml|hcloud/cli\.toml)",
    r"\.config/(?:rclone/rclone\.conf|stripe/config\.toml|ngrok/ngrok\.yml|scw/config\.yaml|linode-cli|argocd/config)",
    r"\.config/(?:configstore/firebase-tools\.json|github-copilot/(?:apps|hosts)\.json|\.wrangler/config/\w+\.toml)",
    r"\.(?:fly/config\.yml|railway/config\.json|wrangler/config/\w+\.toml|ngrok2/ngrok\.yml|twilio-cli/config\.json)",
    r"\.(?:oci/config|aliyun/config\.json|cf/config\.json|snowsql/config|dbt/profiles\.yml|kaggle/kaggle\.json)",
    r"\.(?:tsh/keys|step/secrets|near-credentials|ethereum/keystore|electrum/wallets)/.*|\.config/solana/id\.json",
    r"wallet\.dat|[^/]+\.(?:macaroon|keytab)",
    r"(?:[^/]+[-_.])?service[-_]?account[^/]*\.json|client_secret[^/]*\.json|(?:config/)?master\.key",
    r"(?:\.config|Library/Application Support|\.var/app)/.*(?:hrom|rave|dge|pera|ivaldi).*/(?:Cookies|Login Data)",
    r"(?:\.config|Library/Application Support|\.var/app)/.*(?:hrom|rave|dge|pera|ivaldi).*/(?:Web Data|Local State)",
    r"(?:\.mozilla|Firefox|firefox|\.thunderbird)/.*/(?:cookies\.sqlite|logins\.json|key4\.db)",
    r"AppData/(?:Local|Roaming)/.*/(?:Login Data|Login Data For Account|Cookies|Web Data|Local State)",
    r"AppData/(?:Local|Roaming)/Microsoft/(?:Credentials|Protect|Vault)/.*|Windows/System32/config/(?:SAM|SECURITY|SYSTEM)",
    r"Library/(?:Cookies/.*|Messages/chat\.db)|\.local/share/(?:kwalletd|remmina|atuin)/.*",
    r"\.config/(?:1Password|op|rbw|remmina)/.*",
    r"\.config/(?:Slack|discord|Signal|Bitwarden)/(?:Cookies|config\.json|data\.json|Local Storage/.*|sql/.*)",
    r"\.cache/cliphist/db",
    r"\.config/(?:filezilla/(?:sitemanager|recentservers)\.xml|weechat/sec\.conf|syncthing/key\.pem)|\.purple/accounts\.xml",
)
"""Below any folder."""
_HIDDEN = (
    r"\.ssh/(?!config$|known_hosts$|authorized_keys$|environment$|rc$)[^/.]+"
    r"|\.[^/]+/(?:[^/]+/){0,2}(?:(?:credentials|auth|access[-_]tokens?|oauth_creds|token)\.(?:json|toml|db|ya?ml)|credentials)"
    r"|\.[^/]+/(?:auth|(?:[^/]+/)?(?:access[-_]tokens?|oauth_creds|token))"
)
"""Directly below a home: what is called so, whoever's it is; ``auth`` deeper down is as likely a folder."""
_OF_SYSTEM = (
    r"/etc/(?:g?shadow-?|sudoers|ssh/ssh_host_[^/]*_key|wireguard/.*|ssl/private/.*|kubernetes/admin\.conf"
    r"|wpa_supplicant/.*\.conf|NetworkManager/system-connections/.*|rancher/k3s/k3s\.yaml|mysql/debian\.cnf)|/var/lib/iwd/.*"
    r"|(?:/var)?/run/secrets/.*|/proc/[^/]+/environ"
)
_IN_HOME = re.compile(rf"(?:.*/home(?:/[^/]+)?|/root|.*/Users/[^/]+|~|\$\{{?HOME\}}?)/(?:{_HIDDEN})")
_BELOW = re.compile(_HIDDEN)
_SECRET = re.compile(rf".*/(?:\.env(?:\.[^/]*)?|[^/.][^/]*\.env|\.envrc|{'|'.join(_STORES)})|{_OF_SYSTEM}")
KINDS = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", ".pgpass", ".my.cnf", ".git-credentials", ".npmrc", ".pypirc"),
    *(".vault-token", ".htpasswd", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".bash_history", ".zsh_history"),
    *("service-account*.json", "client_secret*.json", "master.key"),
)
"""Patterns of names that are a secret's in any folder."""
_KEYS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc")


_VARIABLE = re.compile(r"TOKEN|SECRET|PASS|PRIVATE|CRED|API_?KEY|ACCESS_KEY|_KEY$|AUTH|COOKIE|DSN|_UR[IL]$|CONN_")


@lru_cache(maxsize=1024)
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


def is_secret(path: str, *, home: str = "", root: str = "") -> bool:
    """Whether an absolute path names a file of secrets, or a store of them; examples and public keys are none.

    ``home`` lies where homes usually lie, where nobody says; in the repository ``root`` a hidden folder is a tool's.
    """
    if path.startswith(STORE):
        return True
    below = path[len(home) + 1 :] if home and path.startswith(f"{home}/") else ""
    own = (_IN_HOME.fullmatch(path) or _BELOW.fullmatch(below)) and not (root and path.startswith(f"{root}/"))
    return bool(own or _SECRET.fullmatch(path)) and _EXAMPLE.fullmatch(path.rpartition("/")[2]) is None


@lru_cache(maxsize=1024)
def may_hold_secret(path: str) -> bool:
    """Whether the content of a file stays unread: secrets, and what may be a key."""
    return path.endswith(_KEYS) or is_secret(path)
