"""Empty files that a program keeps in its own hidden folder of the home, as marks: with one only its name is lost."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Layer, Response
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.session.session import Session
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import HOME, FakeWorld

ROOT = f"{HOME}/project"
EMPTY = (
    *(".tool/sessions/1", ".tool/sessions/2", ".tool/old/.git/HEAD", ".config/systemd/user.service", ".ssh/keys/x"),
    *(".mark", "marks/sessions/1", ".full/sessions/1", *(f".many/sessions/{n}" for n in range(60))),
)
WORLD = FakeWorld(
    {
        **{f"{HOME}/{name}": "" for name in EMPTY},
        f"{HOME}/.full/sessions/2": "x\n",
        f"{ROOT}/.git/HEAD": "x\n",
    }
)
ALLOW, SNAPSHOT, ASK = Response.ALLOW, Response.SNAPSHOT, Response.ASK
SEARCH = "find ~/.tool/sessions -mmin +120 -type f"

ROWS = [
    (f"{SEARCH} -exec rm {{}} + 2>/dev/null || true", ALLOW, "marks that a search finds"),
    (f"{SEARCH} -delete", ALLOW, "the same by find itself"),
    (f"{SEARCH} -exec rm -f {{}} ';'", ALLOW, "one after the other"),
    ("rm ~/.tool/sessions/1", ALLOW, "one by its name, as the search starts it"),
    ("find ~/.gone/sessions -type f -exec rm {} +", ALLOW, "nothing is there"),
    (
        'mkdir -p ~/.tool/sessions; touch ~/.tool/sessions/"$PPID"; ' + f"{SEARCH} -exec rm {{}} + || true",
        SNAPSHOT,
        "behind the mark of this session, whose name is not known",
    ),
    ("find ~/.full/sessions -type f -delete", ASK, "a file with content among them"),
    ("rm ~/.full/sessions/2", ASK, "that file by its name"),
    ("echo x > ~/.tool/sessions/1; rm ~/.tool/sessions/1", ASK, "one that the text fills"),
    ("mv ~/.full/sessions/2 ~/.tool/sessions/3; find ~/.tool/sessions -type f -delete", ASK, "one that it moves there"),
    ("find ~/.many/sessions -type f -delete", ASK, "more than are told one by one"),
    ("find ~/.tool -type f -delete", ASK, "a hidden folder as a whole"),
    ("find ~/.tool/old -type f -delete", ASK, "a repository in one"),
    ("find ~ -type f -delete", Response.KILL, "the home"),
    ("find ~/marks/sessions -type f -delete", ASK, "a folder of the person's"),
    ("rm ~/marks/sessions/1", ASK, "a file in it"),
    ("rm ~/.mark", ASK, "a file of the home itself"),
    ("rm ~/.config/systemd/user.service", ASK, "a setting: an empty unit is a service that is switched off"),
    ("find ~/.ssh/keys -type f -delete", ASK, "where keys lie"),
    ("find ~/.tool/sessions -delete", ASK, "the folders, too"),
    ("find ~/.tool/sessions -exec rm -rf {} + -type f", ASK, "the folders, too: the test comes later"),
    ("find ~/.tool/sessions -type f -o -delete", ASK, "all but the files"),
    ("find -L ~/.tool/sessions -type f -delete", ASK, "what links lead to"),
    ("find ~/.tool/sessions -type f -exec rm -rf ~/.full {} +", ASK, "another path beside them"),
    (f"{SEARCH} -exec sh -c 'rm -rf ~/.full' {{}} +", ASK, "a text that takes something else"),
]


@pytest.mark.parametrize(("command", "wanted"), [pytest.param(c, w, id=f"{why}: {c[:60]}") for c, w, why in ROWS])
def test_of_an_empty_mark_only_the_name_is_lost(command: str, wanted: Response) -> None:
    action = Action("a", "s", Layer.SHELL, "shell", {"command": command}, ROOT, 0.0, ROOT)
    case = Case(action, analyse(action, WORLD), Session("s", ROOT), merge(builtin()), home=HOME)
    assert max((finding.response for finding in rules(case)), default=ALLOW) is wanted
