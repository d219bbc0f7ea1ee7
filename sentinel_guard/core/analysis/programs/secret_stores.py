"""Which commands hand out secrets that no file of this machine shows: keyrings, vaults, clouds, environments.

One kind, whatever the program: a row says ``shows`` (a secret is printed) or ``lists`` (lines ``NAME=VALUE``: a filter
may take harmless ones). The tables read as ``subcommand_tables.py`` says; what only names, sets or loads secrets
has no row. Sources: each program's own reference, versions of 2026.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import compose_files, local_ends, terraform_files
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.analysis.secret_names import STORE, names_credential
from sentinel_guard.core.model import Command

SHOWS, LISTS = "shows", "lists"
ENVIRONMENT, VARIABLE = f"{STORE}the environment", f"{STORE}a variable"

_HELP = "** --help|-h"
_KUBECTL_SECRETS = "get secret|secrets|secret/*|secrets/*"
_KUBECTL = table(
    shows=f"{_KUBECTL_SECRETS} -o|--output=*json*, {_KUBECTL_SECRETS} -o|--output=*yaml*, "
    f"{_KUBECTL_SECRETS} -o|--output=*template*, {_KUBECTL_SECRETS} -o|--output=custom-columns*.data*, "
    f"{_KUBECTL_SECRETS} -o|--output=custom-columns-file*, "
    "config view --raw, create token, view-secret, extract secret*, whoami -t|--show-token, serviceaccounts get-token",
    lists="set env --list",
)
_VAULT = table(
    quiet=f"{_HELP}, read sys/*|auth/token/lookup*, kv get -field=version",
    shows="kv get, read, print token, unwrap, operator init, token create -field=token",
)
_TERRAFORM = table(
    quiet="output -help, show -json *, show *plan*|*.out",
    shows="show -json|--json, output -json|--json, output *secret*|*password*|*token*|*_key|*credential*|"
    "*connection*|*dsn* -raw|--raw, "
    "state pull",
)
_COMPOSE_ASIDE = (
    "!--services !-q !--quiet !--images !--volumes !--networks !--models !--profiles !--hash !--no-interpolate "
    "!-h !--help"
)
_DOCKER = table(
    shows="compose config|convert --environment, inspect --format|-f=*Env*, container inspect --format=*Env*, "
    "inspect --format|-f=*.Config}}*, container inspect --format=*.Config}}*, container inspect *Env*|*.Config}}* -f",
    lists=f"compose config|convert {_COMPOSE_ASIDE}",
)
_COMPOSE = table(lists=f"config|convert {_COMPOSE_ASIDE}")

TABLES: dict[str, tuple[Row, ...]] = {
    # forges and registries
    "gh": table(shows="auth token, auth status --show-token|-t"),
    "glab": table(
        quiet=f"{_HELP}",
        shows="auth status --show-token|-t, config get *token*, variable get|export, variable list -F|--output=json",
    ),
    "git": table(shows="credential fill, credential-* get, config *extraheader, config * *extraheader"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), table(shows="config get *auth*|*token*|*password*")),
    "hf": table(shows="auth token"),
    # clouds
    "aws": table(
        quiet=f"** help, {_HELP}",
        shows="configure export-credentials, configure get *secret*|*token*, secretsmanager get-secret-value|"
        "batch-get-secret-value, ssm get-parameter* --with-decryption, sts get-session-token|assume-role*|"
        "get-federation-token, ecr|ecr-public get-login*, codeartifact get-authorization-token, kms decrypt, "
        "rds generate-db-auth-token, eks get-token, lightsail get-relational-database-master-user-password",
    ),
    "gcloud": table(
        shows="auth print-access-token|print-identity-token|print-refresh-token, "
        "auth application-default print-access-token, secrets versions access, "
        "config config-helper, sql generate-login-token, iam service-accounts keys create",
    ),
    "az": table(
        shows="account get-access-token, keyvault secret show|download|backup, acr login --expose-token, "
        "acr credential show, "
        "** keys|admin-key|query-key list, storage account show-connection-string, redis list-keys, "
        "ad sp create-for-rbac|credential, webapp deployment list-publishing-credentials|list-publishing-profiles",
        lists="webapp|functionapp config appsettings|connection-string list",
    ),
    "doctl": table(shows="registry docker-config, databases connection, kubernetes cluster kubeconfig show"),
    "heroku": table(
        shows="config:get *SECRET*|*TOKEN*|*PASS*|*KEY*|*_URL|*CRED*, auth:token, pg:credentials:url, "
        "authorizations:create",
        lists="config",
    ),
    **dict.fromkeys(("fly", "flyctl"), table(shows="auth token, tokens create")),
    **dict.fromkeys(("netlify", "ntl"), table(
        shows="env:get, env get", lists="env:list --plain|--json, env list --plain|--json",
    )),
    "railway": table(lists="variables|variable !--set !--set-from-stdin !--help"),
    "supabase": table(shows="projects api-keys"),
    "wrangler": table(shows="auth token"),
    "firebase": table(shows="functions:secrets:access, login:ci", lists="functions:config:get"),
    "cf": table(shows="oauth-token", lists="env"),
    "eb": table(lists="printenv"),
    "dokku": table(shows="config:get *SECRET*|*TOKEN*|*PASS*|*KEY*|*_URL", lists="config, config:show|config:export"),
    "kamal": table(shows="secrets print|fetch|extract"),
    "sst": table(shows="secret list"),
    "convex": table(shows="env get", lists="env list"),
    "databricks": table(shows="auth token, secrets get-secret"),
    # clusters, infrastructure
    **dict.fromkeys(("kubectl", "oc"), _KUBECTL),
    **dict.fromkeys(("terraform", "tofu", "terragrunt"), _TERRAFORM),
    "pulumi": table(
        shows="** --show-secrets, config get *secret*|*password*|*token*|*key*, env open|get --show-secrets",
    ),
    **dict.fromkeys(("vault", "bao"), _VAULT),
    "nomad": table(shows="var get"),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _DOCKER),
    **dict.fromkeys(("docker-compose", "podman-compose"), _COMPOSE),
    "pm2": table(lists="env|jlist|prettylist"),
    "rclone": table(shows="config show|dump|reveal, reveal"),
    **dict.fromkeys(("mc", "mcli"), table(shows="alias list|ls|export")),
    "s3cmd": table(shows="** --dump-config"),
    "wg": table(shows="showconf, show *|all private-key|preshared-keys|dump"),
    "nmcli": table(shows="** -s|--show-secrets"),
    "helm": table(quiet="** --help", lists="get values|all|manifest"),
    "kubectl-view-secret": table(shows="**"),
    # what was typed: commands hold tokens
    **dict.fromkeys(("atuin", "mcfly"), table(shows="search, history list|last")),
    # settings of frameworks, with the secrets among them
    "rails": table(shows="credentials:show|encrypted:show|secrets:show"),
    **dict.fromkeys(("python", "python3"), table(shows="*manage.py diffsettings|print_settings")),
    "php": table(shows="*artisan config:show|env:decrypt, *console debug:dotenv, *console secrets:list --reveal"),
    "artisan": table(shows="config:show|env:decrypt"),
    "symfony": table(shows="console debug:dotenv"),
    # keyrings, password managers
    "security": table(
        shows="find-generic-password|find-internet-password -w|-g, dump-keychain|export",
    ),
    "secret-tool": table(shows="lookup|search"),
    "keyring": table(shows="get"),
    "gdbus": table(shows="call --dest|-d=org.freedesktop.secrets, call --dest|-d=org.kde.kwalletd*, "
                   "call --dest|-d=org.kde.klipper"),
    "dbus-send": table(shows="** --dest=org.freedesktop.secrets, ** --dest=org.kde.kwalletd*"),
    "busctl": table(shows="call|get-property org.freedesktop.secrets|org.kde.kwalletd*"),
    "qdbus": table(shows="org.kde.kwalletd*|org.freedesktop.secrets ** *eadPassword|*etSecret*|*eadEntry|*eadMap, "
                   "org.kde.klipper ** *get*lipboard*"),
    "netsh": table(shows="wlan show profile|profiles ** key=clear"),
    "kwallet-query": table(shows="** -r|--read-password"),
    **dict.fromkeys(("pass", "gopass"), table(
        quiet=f"{_HELP}, ls|list|find|search|insert|add|create|generate|edit|rm|remove|delete|mv|cp|git|init|sync|"
        "setup|version|help|audit|mounts|recipients|config, ., show -c|--clip",
        shows="**",
    )),
    "op": table(
        shows="read, item get --reveal, item get --fields=*password*, item get --fields=*credential*, "
        "item get --otp, document get, inject, signin --raw, service-account create, connect token",
    ),
    "bw": table(shows="get password|totp|item|notes|attachment, export, list items, unlock|login --raw"),
    "bws": table(shows="secret get|list"),
    "rbw": table(shows="get|code"),
    "lpass": table(shows="show|export"),
    "keepassxc-cli": table(shows="show -s|--show-protected|-a|--attributes|-t, export"),
    "dcli": table(shows="password|p|note|secret|read"),
    # tools that keep the secrets of projects
    "doppler": table(
        quiet=f"{_HELP}, secrets --only-names, secrets set|delete|upload|notes",
        shows="secrets get|download, configure get token",
        lists="secrets, run env|printenv",
    ),
    "infisical": table(shows="secrets get, export, user get, service-token", lists="secrets !--help"),
    "chamber": table(shows="read", lists="export|env"),
    "sops": table(
        quiet="** -i|--in-place|--output, edit|encrypt|rotate|set|unset|updatekeys|publish|groups|filestatus",
        shows="decrypt, ** -d|--decrypt",
    ),
    "ansible-vault": table(shows="view, decrypt --output=-"),
    "dotenvx": table(shows="get|keypair, decrypt --stdout"),
    "dotenv-vault": table(shows="decrypt|keys"),
    "phase": table(shows="secrets get|export", lists="secrets list --show"),
    "teller": table(lists="env|export|sh|show"),
    "berglas": table(shows="access"),
    "conjur": table(shows="variable get"),
    "akeyless": table(shows="get-secret-value|get-dynamic-secret-value"),
    "aws-vault": table(shows="export"),
    "gpg": table(shows="** -d|--decrypt !-o !--output"),
    "gpg2": table(shows="** -d|--decrypt !-o !--output"),
    "age": table(shows="** -d|--decrypt !-o !--output"),
    "age-keygen": table(shows=". !-o !--output"),
    "git-credential-manager": table(shows="get"),
    "systemctl": table(lists="show-environment, show -p|--property=Environment, show -p|--property=Environment[!F]*, "
                       "show -p|--property=*[!a-zA-Z]Environment"),  # and not the names of EnvironmentFiles
    "launchctl": table(shows="getenv *SECRET*|*TOKEN*|*PASS*|*KEY*"),
    "mise": table(lists="env"),
    # what somebody copied last: a password as likely as not
    "xclip": table(shows="** -o|-out"), "xsel": table(shows="** -o|--output"),
    **dict.fromkeys(("wl-paste", "pbpaste", "termux-clipboard-get"), table(
        quiet="** -l|--list-types|-h|--help|-v|--version", shows="**",
    )),
    "win32yank": table(shows="** -o"), "copyq": table(shows="clipboard|read|selection|eval|exportdata"),
    **dict.fromkeys(("cliphist", "clipcatctl"), table(shows="list|ls|get|decode")),
    "clipman": table(shows="pick|show-history"),
    "greenclip": table(shows="print"),
    "lemonade": table(shows="paste"),
    "gpaste-client": table(quiet="settings|about|version|help|daemon*|start|stop|ui|size|add|delete|empty", shows="**"),
    "keyctl": table(shows="print|pipe|read"),
    **dict.fromkeys(("yt-dlp", "youtube-dl", "gallery-dl"), table(
        shows="** --cookies-from-browser=* --cookies=*, ** --cookies-from-browser=* --cookies-export=*",
    )),
    "direnv": table(lists="export|dump"),
    **dict.fromkeys((
        *("firefox_decrypt", "firefox_decrypt.py", "hack-browser-data", "hackbrowserdata", "lazagne", "laZagne"),
        *("mimikatz", "mimipenguin", "secretsdump.py", "impacket-secretsdump", "pypykatz", "samdump2", "unshadow"),
        *("chainbreaker", "gsecdump", "pwdump", "swiftbelt"),
    ), table(quiet=f"{_HELP}, ** --version", shows="**")),
}  # fmt: skip

_ALL = re.compile(r"(?:env|printenv)(?: -0| --null)*|set|(?:export|declare|typeset|readonly)(?: -[px]+)*")
"""What prints every variable with its value."""
_PRINTERS = frozenset(("env", "printenv", "set", "export", "declare", "typeset", "readonly"))
_PROCESSES = re.compile(r"[a-zA-Z]*e[a-zA-Z]*")
"""Of ps: letters without a dash in front; ``e`` shows the environment of each process."""
_METADATA = re.compile(
    r"(?:https?://)?(?:169\.254\.169\.254|169\.254\.170\.2|\[?fd00:ec2::254\]?|metadata\.google\.internal|metadata|"
    r"100\.100\.100\.200)(?::\d+)?/.*(?:security-credentials|identity/oauth2|/token\b|user-data|credentials)",
    re.IGNORECASE,
)
_CLIPBOARD = re.compile(r"(?i)(?<![\w-])Get-Clipboard\b|Clipboard\]::Get")
_WINDOWS_KEYRING = re.compile(
    r"(?i)PasswordVault\b|\bRetrieve(?:All|Password)\(|\bGet-StoredCredential\b|\.GetNetworkCredential\(|"
    r"\bGet-Secret\b[^|;\n]*-AsPlainText|\bConvertFrom-SecureString\b[^|;\n]*-AsPlainText|\bPtrToString(?:Auto|BSTR)|"
    r"\bGet-VaultCredential\b|\bCredRead|\bProtectedData\]::Unprotect|\bkey=clear\b|\bGet-ADReplAccount\b"
)
_SHELL_ENVIRONMENT = re.compile(
    r"(?i)(?:^|[^\w$])(?:gci|dir|ls|Get-ChildItem|Get-Item)\s+(?:-Path\s+)?env:(?!\w)|\$env\b(?!\s*[.:])"
)
"""The whole environment, as PowerShell and nushell name it."""
METADATA = f"{STORE}the cloud's metadata service"
_SHAPES = r"(?:-(?:First|Last|Skip|Unique|Property|ExpandProperty|AutoSize|HideTableHeaders|Wrap)\b\s*\d*\s*)*"
"""Options that choose lines or columns by number, or how they are laid out."""
_NAMES_ONLY = re.compile(
    r"(?i)[^|;\n]*(?:\|\s*Sort(?:-Object)?(?:\s+-?\w+)*\s*)*\|\s*(?:Measure(?:-Object)?|columns|length"
    rf"|(?:Select(?:-Object)?|Format-\w+|ft|fl)\s+{_SHAPES}(?:Name|Key|Count)\b\s*{_SHAPES}"
    r"|(?:ForEach-Object|foreach|%)\s*(?:\{\s*\$_\.(?:Name|Key)\s*\}|(?:Name|Key)\b))\s*(?:$|[|;)}\n])"
    r"|\s*\)\.(?:Name|Keys|Count)\b"
)
"""What stands behind the environment where only the names of its variables, or their number, are printed."""
_TOKENS = re.compile(r"sk_live|AKIA|gh[pousr]_|xox[bp]|glpat-|AIza|BEGIN[ A-Z\\.]*PRIVATE|hf_\[|npm_\[")
"""Beginnings of tokens, as they stand in a pattern that looks for them."""


OPTIONS = {
    "gallery-dl": options("--cookies-from-browser= --cookies= --cookies-export= -d= -o="),
    **dict.fromkeys(("gdbus", "dbus-send"), options("--dest= -d= --object-path= -o= --method= -m= --timeout= --type=")),
    "xclip": options("-selection= -sel= -d= -display= -t= -target= -l= -loops= | words"),
}


_TRIED: dict[str, Callable[[Call], bool]] = {
    **dict.fromkeys(("vault", "bao", "aws", "awslocal", "consul"), local_ends.is_own_server),
    **dict.fromkeys(("terraform", "tofu"), terraform_files.are_local),
}
"""Whose secrets are those of a trial: a server that the session started, resources of this machine."""


def sources(call: Call) -> Iterator[tuple[str, str]]:
    """Pairs of (what holds the secrets, ``shows`` or ``lists``) of a call that prints them."""
    program = call.command.program
    if program not in PROGRAMS and not program.startswith(HELPERS):
        return
    found = subcommand_tables.what(call, TABLES.get(program, ()))
    if not found and program.startswith(HELPERS) and call.operands[:1]:
        found = SHOWS if call.operands[0].text == "get" else ""
    if found and program in _TRIED and _TRIED[program](call):
        found = ""
    composed = found == LISTS and "compose" in (program.rpartition("-")[2], call.command.subcommand)
    if composed and (files := compose_files.shown_files(call, call.parsed)) is not None:
        yield from ((path, found) for path in files)
        found = ""
    if found in (SHOWS, LISTS) and not (program == "git" and call.command.subcommand != "config" and not call.stdin):
        yield f"{STORE}{program}", found
    if printed := printed_variables(call.command):
        yield printed, LISTS
    if _prints_by_editor(call):
        yield f"{STORE}{program}", SHOWS
    if program in ("nu", "nushell", "pwsh", "powershell") and any(map(_prints_all, call.command.argv[1:])):
        yield ENVIRONMENT, LISTS
    if program in ("pwsh", "powershell") and any(map(_CLIPBOARD.search, call.command.argv[1:])):
        yield f"{STORE}the clipboard", SHOWS
    if program in ("pwsh", "powershell") and any(map(_WINDOWS_KEYRING.search, call.command.argv[1:])):
        yield f"{STORE}Windows", SHOWS
    if program == "yq" and any(re.search(r"(?<![\w.])env(?![\w(])", item.text) for item in call.operands[:1]):
        yield ENVIRONMENT, LISTS
    if program == "ps" and call.fields[1:2] and _PROCESSES.fullmatch(call.fields[1].text):
        yield f"{STORE}the environments of processes", SHOWS
    if _looks_for_tokens(call):
        yield f"{STORE}all files here", SHOWS


def _prints_all(text: str) -> bool:
    return any(_NAMES_ONLY.match(text, found.end()) is None for found in _SHELL_ENVIRONMENT.finditer(text))


_EDITORS = re.compile(
    r"(?:.*/)?(?:n?vim?|nano|emacs(?:client)?|ed|code|cursor|subl|micro|hx|helix|kak|joe|pico|zed|"
    r"gedit|kate|true|:)(?: .*)?"
)
_EDITS = {"rails": "credentials:edit", "ansible-vault": "edit", "sops": "", "pass": "edit", "gopass": "edit",
          "chamber": "", "kubectl": "edit", "oc": "edit", "dotenvx": "edit", "git-crypt": ""}  # fmt: skip
"""What hands secrets to an editor, and the word that says so."""


PROGRAMS = (
    TABLES.keys()
    | _PRINTERS
    | _EDITS.keys()
    | {"nu", "nushell", "pwsh", "powershell", "yq", "ps", "rg", "grep", "egrep"}
)
"""All programs that are looked at here."""


HELPERS = "docker-credential-"
"""With which the names of others begin."""


def _prints_by_editor(call: Call) -> bool:
    """``EDITOR=cat rails credentials:edit``: an editor of the text's own choice that is none."""
    word = _EDITS.get(call.command.program)
    if word is None or (word and word not in (call.command.subcommand, *(item.text for item in call.operands[:2]))):
        return False
    names = [name for name in ("EDITOR", "VISUAL", "SOPS_EDITOR", "KUBE_EDITOR") if name in call.scope.variables]
    values = [" ".join(call.scope.variables[name] or ("",)) for name in names]
    return any(value and not _EDITORS.fullmatch(value) for value in values)


def printed_variables(command: Command) -> str:
    """What is printed of variables that may hold secrets: all, or those that are called like one; else empty."""
    if command.program not in _PRINTERS:
        return ""
    if command.program == "printenv" and command.operands:
        return VARIABLE if any(map(names_credential, command.operands)) else ""
    return ENVIRONMENT if _ALL.fullmatch(" ".join((command.program, *command.argv[1:]))) else ""


def is_metadata(address: str) -> bool:
    """Whether an address of the cloud's metadata service gives out credentials."""
    return _METADATA.match(address) is not None


def _looks_for_tokens(call: Call) -> bool:
    """A search through all files, those that git does not know too, whose pattern is the beginning of a token."""
    match call.command.program:
        case "rg":
            whole = call.has("--no-ignore", "-u", "--unrestricted") and call.has(
                "--hidden", "-.", "-u", "--unrestricted"
            )
        case "grep" | "egrep":
            whole = call.has("-r", "-R", "--recursive", "--dereference-recursive")
        case _:
            return False
    if not whole or call.has("-l", "-L", "-c", "-q", "--files-with-matches", "--count", "--quiet", "--include"):
        return False
    return any(_TOKENS.search(item.text) for item in call.fields[1:])
