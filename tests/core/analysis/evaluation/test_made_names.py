"""Which names the success of a text proves to be its own: those whose maker had to succeed for that."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import FakeWorld

SHOP = frozenset(("database shop",))
MAKE = "createdb shop"
PROVED = [
    (MAKE, "on its own"),
    (f"ls; {MAKE}", "the last of a text"),
    (f"cd app || exit 1; {MAKE}", "behind an end that is a failure"),
    (f"{MAKE} && psql shop -f schema.sql", "with what follows"),
    (f"bash prepare.sh && {MAKE}", "behind a script that makes nothing of that name"),
    (f"sudo -u postgres {MAKE}", "by another user"),
    (f"timeout 60 {MAKE} > log 2>&1", "with a limit of time, its words in a file"),
    (f"time {MAKE}", "its time is taken"),
    (f"PGUSER=me nice {MAKE}", "behind an assignment"),
    (f"{{ {MAKE}; }}", "in a group"),
    (f"OUT=$({MAKE} 2>&1)", "an assignment ends as what it substitutes"),
    (f'OUT="$({MAKE})" && ls', "in quotes"),
    ("psql -qc 'CREATE DATABASE shop'", "one statement that a client is given"),
    ("mysql -uroot -psecret -e 'CREATE DATABASE shop'", "another client"),
    ("sqlcmd -b -Q 'CREATE DATABASE shop'", "one that is told to end with the error"),
]
HIDDEN = [
    ("./setup.sh", "a script"),
    ("make setup", "a recipe"),
    ("make -i quiet", "one whose errors do not count"),
    ("npm run setup", "a script of package.json"),
    (f"bash -c '{MAKE} || true'", "a shell's text"),
    (f"/bin/bash -c '{MAKE}; ls'", "the same by its path"),
    (f"timeout 60 bash -c '{MAKE} || true'", "with a limit of time"),
    (f"eval '{MAKE} || true'", "what is evaluated"),
    (f"f() {{ {MAKE} || true; }}; f", "a function"),
    (f"setsid {MAKE}", "a session of its own ends as it likes"),
    (f"systemd-run --user {MAKE}", "a unit"),
    (f"tmux new-session -d '{MAKE}'", "a terminal"),
    ("xargs -n1 createdb <<< shop", "by xargs"),
    (f"echo $({MAKE})", "a substitution"),
    (f"export OUT=$({MAKE})", "export ends well whatever it substitutes"),
    (f"cat <({MAKE})", "a substitution of a file"),
    (f"OUT=$({MAKE}; ls)", "a substitution that goes on"),
    (f"OUT=$({MAKE}) ls", "an assignment in front of a command"),
    (f"! {MAKE}", "where it is to fail"),
    (f"({MAKE} || true)", "a subshell that hides it"),
    (f"{MAKE} || true", "a list that does"),
    (f"{MAKE}; ls", "another command's end"),
    (f"{MAKE} | tail -1", "a pipe's"),
    (f"{MAKE} &", "nobody waits for it"),
    (f"if {MAKE}; then ls; fi", "a condition"),
    (f"for i in 1 2; do {MAKE}; done", "a loop"),
    (f"trap 'exit 0' EXIT; {MAKE}", "a trap says how the text ends"),
    (f"trap end EXIT; {MAKE}", "a function may"),
    (f"exit 0; {MAKE}", "it did not come there"),
    (f"ls && exit\n{MAKE}", "perhaps"),
    ("psql -f setup.sql", "a file whose statements may fail"),
    ("psql < setup.sql", "what a client reads"),
    ("psql <<E\nCREATE DATABASE shop;\nE", "the same"),
    ("psql <<< 'CREATE DATABASE shop'", "and in one line"),
    ("psql -c 'CREATE DATABASE shop' -c 'SELECT 1'", "two statements: the last one's end"),
    ("psql -c '-- create database shop'", "a remark"),
    ("mysql --force -e 'CREATE DATABASE shop'", "a client that goes on"),
    ("sqlcmd -Q 'CREATE DATABASE shop'", "one that ends well all the same"),
    ("createdb --version shop", "it only says its version"),
]
FILES = {
    "setup.sh": f"#!/bin/bash\n{MAKE} || true\n",
    "Makefile": f"setup:\n\t-{MAKE}\nquiet:\n\t{MAKE}\n",
    "package.json": f'{{"scripts": {{"setup": "{MAKE} || true"}}}}',
    "setup.sql": "CREATE DATABASE shop;\n",
    "prepare.sh": "#!/bin/bash\nls\n",
    "schema.sql": "SELECT 1;\n",
}


def made(text: str) -> frozenset[str]:
    """What the success of a text proves, without the server that it lies on."""
    world = FakeWorld({"/repo/.git/HEAD": ""} | {f"/repo/{name}": held for name, held in FILES.items()})
    action = Action("1", "s", Layer.SHELL, "shell", {"command": text}, "/repo", 0.0, root="/repo")
    effects = [e for e in analyse(action, world) if e.kind is Kind.EXECUTE and "makes" in e.how]
    return frozenset(effect.target.partition(" of ")[0] for effect in effects)


@pytest.mark.parametrize(("text", "why"), PROVED)
def test_a_name_whose_maker_had_to_succeed_is_proved(text: str, why: str) -> None:
    assert made(text) == SHOP, why


@pytest.mark.parametrize(("text", "why"), HIDDEN)
def test_one_whose_maker_may_have_failed_is_not(text: str, why: str) -> None:
    assert made(text) == frozenset(), why


RUN, DROP = "docker run -d -p 5432:5432 postgres", "psql -h localhost -p 5432 -c 'DROP TABLE x'"
NAMED, IN_IT = "docker run -d --name db postgres", "docker exec db psql -c 'DROP TABLE x'"
OWN_TEXTS = [
    (f"{RUN} && {DROP}", True, "made before"),
    (f"{RUN} || exit 1; {DROP}", True, "or the text ends"),
    (f"{RUN} || {{ echo no; exit 1; }}\n{DROP}", True, "in a group"),
    (f"die() {{ echo no; exit 1; }}\n{RUN} || die\n{DROP}", True, "by a function"),
    (f"docker rm -f db || true; {NAMED} && {IN_IT}", True, "what may fail makes nothing"),
    (f"docker start db || {NAMED}; {IN_IT}", True, "it is made behind a failure"),
    (f"{RUN} || true; {DROP}", False, "it may have failed"),
    (f"{NAMED} || docker start db; {IN_IT}", False, "another one is started then"),
    (f"{NAMED} || {IN_IT}", False, "what runs only where it failed"),
    (f"ls && {NAMED} || true\n{IN_IT}", False, "in a longer list"),
    (f"die() {{ echo no; }}\n{NAMED} || die\n{IN_IT}", False, "a function that does not end it"),
    (f"{NAMED} || (exit 1); {IN_IT}", False, "a subshell's end"),
]


@pytest.mark.parametrize(("text", "own", "why"), OWN_TEXTS)
def test_a_name_that_may_not_have_been_made_is_nobodys_within_a_text(text: str, own: bool, why: str) -> None:
    world = FakeWorld({"/repo/.git/HEAD": ""})
    action = Action("1", "s", Layer.SHELL, "shell", {"command": text}, "/repo", 0.0, root="/repo")
    lost = [e for e in analyse(action, world) if e.kind is Kind.DATABASE and "x" in e.target]
    assert (not lost) is own, why


UNREAD = [
    ("D=/tmp/b; {}; rm -rf $D", ". ./none", True, "a file that is not there"),
    ("D=/tmp/b; {}; rm -rf $D", '. "$(c)"', True, "any file"),
    ("D=/tmp/b; {}; rm -rf $D", 'eval "$(c)"', True, "a text that nobody knows"),
    ("D=/tmp/b; {}; rm -rf $D", "export $(xargs < conf)", True, "names of a file"),
    ("D=/tmp/b; {}; rm -rf $D", 'while read -r l; do export "$l"; done < conf', True, "names of its lines"),
    ("D=/tmp/b; {}; rm -rf $D", ". ./.env", True, "a file that names the variable"),
    ("E=/tmp/b; {}; rm -rf $E", ". ./.env", False, "one that names others only"),
    ("E=/tmp/b; {}; rm -rf $E", "export $(grep -v '^#' .env | xargs)", False, "the same, by its words"),
    ("E=/tmp/b; {}; rm -rf $E", ". .venv/bin/activate", False, "one that sets up a tool"),
    ("E=/repo/out; {}; rm -rf $E", ". ./none", False, "a place in the project"),
    ("{}; D=/tmp/b; rm -rf $D", ". ./none", False, "what is set behind it"),
]


@pytest.mark.parametrize(("text", "unread", "doubted", "why"), UNREAD)
def test_what_nobody_read_may_set_the_variables_of_a_text(text: str, unread: str, doubted: bool, why: str) -> None:
    world = FakeWorld({"/repo/.git/HEAD": "", "/repo/.env": "# here\nD=/srv/data\n", "/repo/out/a": ""})
    action = Action("1", "s", Layer.SHELL, "shell", {"command": text.format(unread)}, "/repo", 0.0, root="/repo")
    deleted = {e.target for e in analyse(action, world) if e.kind is Kind.DELETE and e.sure}
    assert deleted.isdisjoint(("/tmp/b", "/repo/out")) is doubted, why
