"""READ, how: shown — what is read comes before the agent's eyes, or into a copy (ADR 0008)."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.analysis_effects import REPO, effects_of, repository

WORLD = repository({"load.sh": "cat .env\n", "Makefile": "show:\n\tcat .env\n"})

SHOWN = [
    ("cat .env", "plainly"),
    ("sudo cat .env", "behind a wrapper"),
    ("cat < .env", "by redirection"),
    ("cat .env | head -5", "through a filter"),
    ("cat .env | base64", "in another dress"),
    ('echo "$(cat .env)"', "substituted into what speaks"),
    ("echo $(<.env)", "bash's short form of it"),
    ('while read -r l; do echo "$l"; done < .env', "line by line"),
    ('for l in $(cat .env); do printf "%s" "$l"; done', "word by word"),
    ("grep KEY .env", "a line of it"),
    ("cat .env | grep -v x", "most lines of it"),
    ("cp .env /tmp/x", "a copy"),
    ("bash -c 'cat .env'", "another text"),
    ("find . -name .env -exec cat {} +", "found first"),
    ("python3 -c \"print(open('.env').read())\"", "by an interpreter's text"),
    ("cp .env q > /dev/null", "a copy that says nothing"),
    ("cat .env | tee x | wc -l", "taken out of the pipe"),
    ("cat .env | env cat", "handed on"),
    ("grep -o '^.*' .env", "whole lines"),
    ("grep -iesecret .env", "letters of a pattern are no flags"),
    ("sed 's/=.*/&/' .env", "put back by the replacement"),
    ('/bin/echo "$(cat .env)"', "by its path"),
    ('command echo "$(cat .env)"', "behind a builtin"),
    ('git commit -m "$(cat .env)"', "into the history"),
    ("x=$(cat .env); y=$x; echo $y", "handed from variable to variable"),
    ("source .env && echo $API_KEY", "a loaded secret"),
    ("source .env; cat <<< $SECRET", "in a here-string"),
    ("source .env; printenv API_KEY", "by its name"),
    ("set -a; . ./.env; env", "all of them"),
    ("echo 'cat .env' > q.sh; sh q.sh", "in a script that the text wrote"),
    ("cat .env > /dev/stderr", "the other stream"),
    ("cat .env > /dev/stdout", "the same one, by its name"),
    ("cat .env > /dev/fd/2", "by its number"),
    ("cat .env > /dev/tty", "on the terminal"),
    ("cat .env > >(cat)", "through a substitution"),
    ("cat .env > >(tee x.log)", "through tee in one"),
    ("echo x > >(cat .env)", "what is substituted prints it"),
    (": > >(cat .env >&2)", "to the other stream"),
    ("[[ x ]] > >(cat .env)", "behind a test"),
    ("cat .env > >(grep -c A; cat .env)", "behind a filter, once more"),
]
LOADED = [
    ("source .env", "loaded"),
    ("set -a; . ./.env; set +a; npm start", "loaded for a program"),
    ("export $(grep -v '^#' .env | xargs)", "the usual line"),
    ("env $(cat .env | xargs) node app.js", "the other one"),
    ('while read -r l; do export "$l"; done < .env', "the third one"),
    ("KEY=$(grep KEY .env | cut -d= -f2) ./run", "for one command"),
    ("test -f .env && echo yes", "looked for"),
    ("ls -la .env", "listed"),
    ("wc -l .env", "counted"),
    ("cat .env | wc -l", "counted in a pipe"),
    ("grep -q KEY .env && echo there", "asked about"),
    ("grep -c . .env", "counted by grep"),
    ("cut -d= -f1 .env", "the names only"),
    ("sed 's/=.*//' .env", "the names only, by sed"),
    ("awk -F= '{print $1}' .env", "the names only, by awk"),
    ("cat .env | cut -d= -f1", "the names only, in a pipe"),
    ("diff -q .env README.md", "compared"),
    ("sha256sum .env", "hashed"),
    ("cat .env > /dev/null", "thrown away"),
    ('source .env && echo "port $PORT"', "a variable that is no secret by its name"),
    ("grep -o '^[A-Z_]*' .env", "the names only, by grep"),
    ("V=$(cat VERSION); echo $V", "another file"),
    ("bash load.sh", "a script on disk does as it does"),
    ("make show", "a recipe, too"),
    ("cat .env > >(grep -c A)", "counted, by what is substituted"),
    ("cat .env > >(cut -d= -f1 | sort)", "the names only, by a pipe that is substituted"),
    ("cat .env > >(cat > /dev/null)", "thrown away there"),
]


def _shown(command: str) -> bool:
    read = [e for e in effects_of(command, WORLD) if e.kind is Kind.READ and e.target == f"{REPO}/.env"]
    return any("shown" in e.how for e in read)


@pytest.mark.parametrize("command", [pytest.param(command, id=why) for command, why in SHOWN])
def test_what_is_shown_or_copied(command):
    assert _shown(command)


@pytest.mark.parametrize("command", [pytest.param(command, id=why) for command, why in LOADED])
def test_what_is_loaded_counted_or_named(command):
    assert not _shown(command)


def test_a_tool_shows_what_it_reads():
    effects = analyse(Action("1", "s", Layer.HOOK, "Read", {"file_path": f"{REPO}/.env"}, REPO, 0.0, root=REPO), WORLD)
    assert [(e.target, "shown" in e.how) for e in effects] == [(f"{REPO}/.env", True)]


REPLACED = [
    ("> ~/notes.txt", True, "emptied"),
    ("truncate -s 0 ~/notes.txt", True, "by a program"),
    ("mv README.md ~/notes.txt", True, "moved over"),
    ("echo x > ~/new.txt", False, "a new one"),
    ("echo x > ~/new.txt; echo y > ~/new.txt", False, "what the text made itself"),
    ("echo x >> ~/notes.txt", False, "the old lines stay"),
    ("echo x > README.md", False, "git and the snapshot have it"),
    ("echo x > /tmp/notes.txt", False, "nobody keeps anything there"),
]


@pytest.mark.parametrize(("command", "wanted"), [pytest.param(c, w, id=why) for c, w, why in REPLACED])
def test_a_file_outside_that_is_replaced(command, wanted):
    world = repository({"/home/ann/notes.txt": "x", "/tmp/notes.txt": "x"})
    assert any("over" in e.how for e in effects_of(command, world)) is wanted
