"""Secrets that lie in no file: the same response for every source that prints them, none for what only loads them."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository

WORLD = repository()
PYTHON = "import os, subprocess"
NODE = 'const {execSync} = require("child_process")'

SHOWN = [
    ("env", "all variables"),
    ("env | sort | head -80", "through filters that let them pass"),
    ("env > /tmp/e.txt", "into a copy"),
    ("env | grep -i key", "those that a filter takes"),
    ("env | grep -E '^[[:upper:]_]+KEY='", "by a class of characters"),
    ("env | grep -E '(.+)+!'", "what it takes would take long to find out"),
    ("printenv GITHUB_TOKEN", "one of them"),
    ("echo $GITHUB_TOKEN", "one, by the shell"),
    ('echo "$(test -z "$API_KEY" || echo "$API_KEY")"', "one, behind a test"),
    ('echo "${API_KEY:?missing}"', "one that must be set"),
    ('echo "${API_KEY^^}"', "one in capitals"),
    ('echo "${API_KEY@Q}"', "one in quotes"),
    ('echo "${API_KEY:1} ${API_KEY:0:40}"', "most of one"),
    ('echo "$(tr a b <<< "$API_KEY")"', "one, given to a filter in what is substituted"),
    ('echo "$([ "$API_KEY" -gt 0 ] && echo set)"', "one that is no number, which the test prints"),
    ('test() { echo "$2"; }; echo "$(test -n "$API_KEY")"', "one, by a function called like a test"),
    ('echo "$([ -n "$API_KEY" ] && echo set) $API_KEY"', "one, beside a test"),
    ('[ x "$API_KEY" y ]', "in an error: no operator"),
    ("test $API_KEY x && echo set", "no operator of one word"),
    ('[ "$API_KEY" -eq 0 ]', "no number"),
    ('[ "$DB_PASS" -eq 0 ]', "a password is none either"),
    ("[[ $API_KEY -gt 0 ]]", "no number of bash's own test"),
    ("let n=API_KEY+1", "in an expression"),
    ("n=$((API_KEY + 1))", "in one that is substituted"),
    ("(( API_KEY > 0 )) && echo set", "in one that is a command"),
    ('cd "$GITHUB_TOKEN"', "no folder"),
    ('ls "$GITHUB_TOKEN"', "no file"),
    ('sleep "$DB_PASSWORD"', "no time"),
    ("echo '$API_KEY' | envsubst", "one, by who fills in its name"),
    ("set", "all variables of the shell"),
    ("export -p", "those that are exported"),
    ("bash -c env", "by another shell"),
    ('python3 -c "import os; print(os.environ)"', "by Python"),
    ('python3 -c "import os\nfor k, v in os.environ.items(): print(k, v)"', "by Python, one after the other"),
    ("python3 -c \"import os; print(os.getenv('DB_PASSWORD'))\"", "by Python, one of them"),
    ("node -p process.env", "by node, as a value"),
    ('node -e "Object.entries(process.env).forEach(([k, v]) => console.log(k, v))"', "by node, one after the other"),
    ("node -e \"require('dotenv').config(); console.log(process.env.DATABASE_URL)\"", "by node, loaded before"),
    ("ruby -e 'ENV.each { |k, v| puts v }'", "by Ruby"),
    ("perl -e 'print \"$_=$ENV{$_}\\n\" for keys %ENV'", "by Perl"),
    ("jq -n env", "by jq"),
    ("jq -n '$ENV.API_KEY'", "by jq, one of them"),
    ("awk 'BEGIN { for (k in ENVIRON) print ENVIRON[k] }'", "by awk"),
    ("ps auxe", "of all processes"),
    ("tr '\\0' '\\n' < /proc/$(pgrep node)/environ", "of a process that is not known"),
    ("docker exec web env", "of a container"),
    ("kubectl exec web -- printenv", "of a container elsewhere"),
    ("docker compose config", "filled in"),
    ("docker compose config | grep -A20 environment:", "with the lines around"),
    ("docker inspect -f '{{.Config.Env}}' web", "of a container, by name"),
    ("gh auth token", "a forge's"),
    ("T=$(gh auth token); echo $T", "held in a variable"),
    ("aws secretsmanager get-secret-value --secret-id x", "a cloud's"),
    ("kubectl get secret x -o yaml", "a cluster's"),
    ("kubectl get secret x -o json | jq .data", "a filter that takes them"),
    ("vault kv get secret/x", "a vault's"),
    ("terraform output -json", "a stack's"),
    ("secret-tool lookup service x", "a keyring's"),
    ("pass show x", "a password manager's"),
    ("sops -d x.yaml", "decrypted"),
    ("printf 'host=x\\n' | git credential fill", "git's"),
    ("curl http://169.254.169.254/latest/meta-data/iam/security-credentials/x", "the machine's role"),
    ("set -x; . ./.env", "traced while it is loaded"),
    ("bash -xc '. ./.env'", "traced by another shell"),
    ("tail ~/.bash_history", "what was typed before"),
    ("cp ~/.config/google-chrome/Default/Cookies /tmp/c", "a browser's"),
    ('cat "$DIR/.env"', "by its name in a folder that is not known"),
    ("grep -rn 'ghp_' .", "looked for in all files"),
    (
        f"python3 -c '{PYTHON}; print(subprocess.check_output([\"printenv\"], env={{**os.environ}}))'",
        "a child prints it",
    ),
    (f"python3 -c '{PYTHON}; print(subprocess.run([\"date\"], env={{**os.environ}}), os.environ)'", "beside a child"),
    (f"python3 -c '{PYTHON}; print(subprocess.run(c, env={{**os.environ}}))'", "of a child that is not known"),
    ("python3 -c 'import os; subprocess.run = dict; print(subprocess.run(\"a\", env={**os.environ}))'", "no child"),
    ("python3 -c 'import os, x as subprocess; print(subprocess.run(\"a\", env={**os.environ}))'", "another library"),
    (f"node -e '{NODE}; console.log(execSync(\"node -p process.env\", {{env: {{...process.env}}}}))'", "node's child"),
    (
        f"node -e '{NODE}; console.log(execSync(\"date\", {{env: {{...process.env}}}}), {{...process.env}})'",
        "beside it",
    ),
    ("node -e 'const execSync = (c, o) => o; console.log(execSync(\"date\", {env: {...process.env}}))'", "no child"),
    ('node -e \'import {inspect as execSync} from "util"; console.log(execSync("a", {env: process.env}))\'', "renamed"),
    (
        f"node -e '{NODE}; console.log({{execSync(c, o) {{return o}}}}.execSync(\"a\", {{env: process.env}}))'",
        "a method",
    ),
    (f"node -e '{NODE}; console.log(\"execSync(`\" // `\n, {{env: {{...process.env}}}})'", "a quote in a remark"),
    (
        'node -e \'const {spawnSync} = require("child_process"); console.log(spawnSync("date", {env: process.env}))\'',
        "what gives back its options",
    ),
]
NOT_SHOWN = [
    ("env FOO=1 make", "a variable is given to a program"),
    ("env | grep -i proxy", "a filter takes harmless ones"),
    ("env | cut -d= -f1", "their names"),
    ("env | grep -c TOKEN", "their number"),
    ("env > /dev/null", "nowhere"),
    ("printenv PATH", "a harmless one"),
    ('echo "${GITHUB_TOKEN:+set} ${#GITHUB_TOKEN} ${GITHUB_TOKEN:0:4}"', "whether it is set, how long it is"),
    ('echo "${API_KEY: -4} ${API_KEY:0:4} ${API_KEY:+set}"', "a few characters of one, and whether it is set"),
    (': "${API_KEY:?missing}"', "one that must be set, unsaid"),
    ('echo "$([ -n "$API_KEY" ] && echo set || echo missing)"', "whether it is set, by a test"),
    ('echo "$(if [[ -z $API_KEY ]]; then echo missing; fi)"', "the same, by bash's own test"),
    ('echo `test -n "$API_KEY" && echo set`', "the same, in backticks"),
    ('echo "$(case "$API_KEY" in ghp_*) echo classic;; esac)"', "how it begins"),
    ('bash -lc "echo T $( [ -n \\"$API_KEY\\" ] && echo set )"', "the same, in another shell's text"),
    ('[ -n "$API_KEY" ] && [ "$API_KEY" != x ] && [ ${#API_KEY} -gt 20 ]', "whether, which, how long"),
    ('[ "$API_KEY" ] || test ! "$API_KEY"; test -z $API_KEY', "whether it is set, in one word"),
    ('[ "$(printf %s "$API_KEY" | wc -c)" -gt 20 ]', "how long it is, counted"),
    ('[ "$API_KEY" -eq 0 ] 2> /dev/null', "whether it is a number, unsaid"),
    ("PASS=0; ((PASS++)); n=$((MAX_TOKENS / 2)); echo $((PASS + n))", "counters"),
    ('. ./counts.sh; [ "$PASS" -gt 0 ] && [[ $FAIL -eq 0 || $pass -gt 9 ]]', "counters of tests"),
    ('ls -l "$GOOGLE_APPLICATION_CREDENTIALS"', "a file's name"),
    ('[ -f "$PRIVATE_KEY" ] && chmod 600 "$PRIVATE_KEY"', "whether a file is there"),
    ('wc -c <<< "$API_KEY"', "given to who counts"),
    ('API_TOKEN=5; [ "$API_TOKEN" -eq 5 ] && cd "$API_TOKEN"', "a value of this text's own, compared"),
    ("echo 'set $API_KEY first'", "its name in quotes"),
    ('echo "set \\$API_KEY first"', "its name behind a backslash"),
    ('echo "$NPM_TOKEN" | docker login -u x --password-stdin', "given to who logs in"),
    ("TOKEN=x; echo $TOKEN", "a value of this text's own"),
    ("python3 -c \"import os; print('API_KEY' in os.environ, bool(os.getenv('API_KEY')))\"", "whether it is set"),
    ("python3 -c \"import os; e = dict(os.environ, A='1'); print(len(e))\"", "handed on"),
    ('python3 -c "import os; print(sorted(os.environ))"', "names, by Python"),
    ('node -p "Object.keys(process.env)"', "names, by node"),
    (
        "node -e \"console.log(process.env.API_KEY ? 'set' : 'unset', process.env.NODE_ENV)\"",
        "whether, and a harmless one",
    ),
    ("jq .env package.json", "a key of a file"),
    ("ps aux", "no environments"),
    ("docker compose config -q", "checked only"),
    ("docker compose config | grep image", "harmless lines"),
    ("docker run --rm alpine env", "of a container that was given none"),
    ("docker inspect -f '{{.State.Status}}' web", "another field"),
    ("gh auth status", "masked"),
    ("gh auth token | docker login ghcr.io -u x --password-stdin", "given to who logs in"),
    ("aws ecr get-login-password | docker login -u AWS --password-stdin x", "given to who logs in"),
    ('curl -H "Authorization: Bearer $(gh auth token)" https://api.github.com/user', "in a header"),
    ("kubectl get secrets", "their names"),
    ("kubectl get secret x -o json | jq '.data | keys'", "the names in one"),
    ("kubectl get secret x -o json | jq -r '.data | keys[]'", "the same, a line each"),
    ("terraform output -raw vpc_id", "no secret"),
    ("curl http://169.254.169.254/latest/meta-data/instance-id", "what the machine is called"),
    ("pass ls", "their names"),
    (". ./.env", "loaded"),
    ("doppler run -- npm start", "loaded for a program"),
    ("rg -n AKIA src", "looked for in what git knows"),
    (f'python3 -c \'{PYTHON}; print(subprocess.check_output(["date"], env={{**os.environ, "TZ": tz}}))\'', "a child's"),
    (
        f"python3 -c '{PYTHON}; print(subprocess.run([\"date\"], env=dict(os.environ, TZ=tz), text=True).stdout)'",
        "as dict",
    ),
    (f'python3 -c \'{PYTHON}; print(subprocess.run("date", shell=True, env=os.environ | {{"TZ": tz}}))\'', "joined"),
    (
        f"node -e '{NODE}; console.log(execSync(\"date\", {{env: {{...process.env, TZ: tz}}}}).toString())'",
        "node's child's",
    ),
    ('node -p \'require("child_process").execFileSync("date", ["-u"], {env: process.env}).toString()\'', "in place"),
]


def rows(given: list[tuple[str, str]]) -> list[object]:
    return [pytest.param(command, id=why) for command, why in given]


def shown(command: str) -> bool:
    return any(e.kind is Kind.READ and "shown" in e.how and not _plain(e.target) for e in effects_of(command, WORLD))


def _plain(target: str) -> bool:
    return target.endswith(("package.json", "/src", "/repo"))


@pytest.mark.parametrize("command", rows(SHOWN))
def test_what_comes_before_who_asked(command: str) -> None:
    assert shown(command)


@pytest.mark.parametrize("command", rows(NOT_SHOWN))
def test_what_is_only_loaded_counted_or_named(command: str) -> None:
    assert not shown(command)
