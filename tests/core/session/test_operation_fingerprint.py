import pytest

from sentinel_guard.core.model import Action, Layer
from sentinel_guard.core.session.operation_fingerprint import command_text, is_poll, operation


def act(tool="shell", cwd="/w", at=0.0, ident="a", **arguments):
    return Action(ident, "s", Layer.HOOK, tool, arguments, cwd, at)


LS = act(command="ls")

SAME = (
    (act(command="ls", at=9.0, ident="b"), True, "time and id are no part of it"),
    (act(command="ls", description="list files"), True, "a description is cosmetic"),
    (act(command="ls", timeout=5), True, "so is a timeout"),
    (act(command="ls -l"), False, "another command"),
    (act(command="ls", cwd="/x"), False, "another place"),
    (act(tool="Read", command="ls"), False, "another tool"),
    (act(command="ls", background=True), False, "an argument that does something counts"),
)


@pytest.mark.parametrize(("other", "same", "why"), SAME, ids=[r[2] for r in SAME])
def test_operation(other, same, why):
    assert (operation(LS) == operation(other)) is same


def test_the_order_of_arguments_does_not_matter():
    assert operation(act(a=1, b=[2, {"c": 3, "d": 4}])) == operation(act(b=[2, {"d": 4, "c": 3}], a=1))


def test_bytes_that_are_not_utf8_stay_apart():
    assert operation(act(command="cat \udcff")) != operation(act(command="cat \udcfe"))


SPOKEN = (
    (act(command="ls | wc"), "ls | wc", "a shell text"),
    (act(argv=["git", "commit", "-m", "a b"]), "git commit -m 'a b'", "an argv is quoted"),
    (act(tool="Write", path="x"), 'Write {"path": "x"}', "a tool with its input"),
)


@pytest.mark.parametrize(("action", "text", "why"), SPOKEN, ids=[r[2] for r in SPOKEN])
def test_spoken(action, text, why):
    assert command_text(action) == text


POLLS = (
    (act(command="sleep 30; gh run view 7"), True, "led by sleep"),
    (act(command="gh run view 7"), True, "declared"),
    (act(argv=["gh", "run", "view", "7"]), True, "declared, as argv"),
    (act(command="make test"), False, "an ordinary command"),
    (act(command="sleepy --now"), False, "another program"),
    (act(command="make && sleep 1"), False, "sleep at the end waits for nothing"),
)


@pytest.mark.parametrize(("action", "poll", "why"), POLLS, ids=[r[2] for r in POLLS])
def test_polls(action, poll, why):
    assert is_poll(action, ("", "gh run view")) is poll
