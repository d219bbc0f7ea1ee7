"""What reads a folder that was not looked at whole may read a secret; what does something else with it does not."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Effect, Kind, Layer
from tests.support.fakes import FakeWorld


class Vast(FakeWorld):
    """A folder of which nobody has seen the end."""

    def glob(self, pattern: str) -> tuple[str, ...]:
        self.cut = "/vast/" in pattern and "**" not in pattern
        return super().glob(pattern)


def found(command: str) -> tuple[Effect, ...]:
    world = Vast({f"/w/vast/f{n}": "" for n in range(3)} | {"/w/few/a": ""}, folders=("/w/vast", "/w/few", "/w/to"))
    return analyse(Action("a", "s", Layer.SHELL, "shell", {"command": command}, "/w", 0.0, "/w"), world)


SHOWN = [
    # (a command, what it is said to show, why)
    ("cat vast/*", "/w/vast/*.env", "hidden files are none of a star"),
    ("cat vast/.*", "/w/vast/.env", "they are meant"),
    ("shopt -s dotglob; cat vast/*", "/w/vast/.env", "by an option"),
    ("cat vast/p*", "/w/vast/*.env", "prod.env begins so"),
    ("cat vast/*.env", "/w/vast/*.env", "by their ending"),
    ("cat vast/*.json", "/w/vast/service-account*.json", "an account's key"),
    ("cat vast/**", "/w/vast/*.env", "without globstar a star"),
    ("shopt -s globstar; cat vast/**", "/w/vast/*.env", "with it, too"),
    ("head -n1 vast/*", "/w/vast/*.env", "the first lines"),
    ("grep -h = vast/*", "/w/vast/*.env", "lines of them"),
    ("cd vast; cat *", "/w/vast/*.env", "the folder itself"),
    ("cat vast/crash-*", "/w/vast/*.env", "a beginning of one's own, where somebody keeps files"),
    ("cat /tmp/vast/p*", "/tmp/vast/*.env", "in a temporary folder, too, whatever begins so"),
    ("cat /tmp/vast/id_*", "/tmp/vast/id_rsa", "and a key, by its whole name"),
    ("cat ./vast/*", "/w/vast/*.env", "in other words"),
    ("sudo cat vast/*", "/w/vast/*.env", "behind a wrapper"),
    ('x=$(cat vast/*); echo "$x"', "/w/vast/*.env", "in a variable"),
    ('for f in vast/*; do cat "$f"; done', "/w/vast/*.env", "one by one"),
    ('for f in vast/*; do test -f "$f" && head "$f"; done', "/w/vast/*.env", "under a condition"),
    ("for f in vast/**; do cat $f; done", "/w/vast/*.env", "and both"),
]


@pytest.mark.parametrize(("command", "target"), [row[:2] for row in SHOWN], ids=[row[2] for row in SHOWN])
def test_it_may_show_a_secret(command, target):
    assert target in [e.target for e in found(command) if "shown" in e.how]


SPARED = [
    # (a command, why it shows nothing)
    ("cat vast/*.log", "no secret is called so"),
    ("cat vast/*.ts", "nor so"),
    ("cat vast/file-[0-9]*.txt", "nor so"),
    ("cat vast/*/", "folders"),
    ("cat few/*", "a folder that was looked at whole"),
    ("wc -l vast/*", "it counts"),
    ("ls vast/*", "it names them"),
    ("cp vast/* to/", "a copy"),
    ("mv vast/* to/", "a move"),
    ("rm vast/*", "a deletion"),
    ("rm -rf vast/*", "with folders"),
    ("tar czf x.tgz vast/*", "an archive"),
    ("ln -s vast/* to/", "links"),
    ("chmod 644 vast/*", "modes"),
    ('for f in vast/*; do rm "$f"; done', "one by one"),
    ('for f in vast/*; do cp "$f" to/; done', "copied one by one"),
    ('for f in vast/*; do wc -l "$f"; done', "counted one by one"),
    ("for f in vast/*.log; do cat $f; done", "of another name"),
    ("xxd /tmp/vast/crash-* | head", "files of one purpose in a temporary folder"),
]


@pytest.mark.parametrize("command", [row[0] for row in SPARED], ids=[row[1] for row in SPARED])
def test_it_shows_none(command):
    assert not [e.target for e in found(command) if "shown" in e.how and "*" in e.target]


@pytest.mark.parametrize(
    "loop", ['for f in vast/*; do rm "$f"; done', 'for f in vast/*; do mv "$f" to/; done', "rm vast/**", "rm vast/*"]
)
def test_what_may_be_there_is_supposed_for_nothing_but_reading(loop):
    assert not [e for e in found(loop) if e.kind is not Kind.READ and ".env" in e.target]


LOST = [
    # (a command, whether what it deletes is said not to be known, why)
    ("rm -f /tmp/vast/out_*.json", False, "names in a temporary folder, whichever there are"),
    ("rm -f vast/out_*.json", True, "of a folder that somebody keeps"),
    ("rm -f /tmp/vast/*/x.json", True, "a folder below it may lead elsewhere"),
]


@pytest.mark.parametrize(("command", "unknown"), [row[:2] for row in LOST], ids=[row[2] for row in LOST])
def test_a_pattern_over_many_names(command, unknown):
    assert any(e.kind is Kind.OPAQUE and "delete" in e.how for e in found(command)) is unknown
