"""Which processes a list means: all there are, or those of a name. Only parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository

WORLD = repository({})
ALL = [
    ("kill -9 $(ps aux | awk '{print $2}')", "a column of all processes"),
    ("kill -9 `ps -e -o pid=`", "numbers alone, in backquotes"),
    ("kill $(ps -A -o pid)", "with a heading"),
    ('kill "$(pgrep .)"', "a pattern that all meet"),
    ("kill -9 $(pgrep -u root)", "all of root's"),
    ("kill -9 $(pidof systemd)", "the first process by its name"),
    ("ps -e -o pid= | xargs kill -9", "through xargs"),
    ("ps -ef | awk '{print $2}' | xargs kill", "through a filter"),
    ("ps aux | awk '{print $2}' | tail -n +2 | xargs kill", "without the heading"),
    ("pgrep -v bash | xargs kill", "all but one name"),
]
CHOSEN = [
    ("kill $(pgrep -f vite)", "by a pattern of the command line"),
    ("kill -9 $(ps aux | grep '[n]ode' | awk '{print $2}')", "by name, the bracket idiom"),
    ("ps aux | grep node | grep -v grep | awk '{print $2}' | xargs kill", "by name, through xargs"),
    ("kill -9 $(lsof -ti:3000)", "whoever holds a port"),
    ("lsof -ti:3000 | xargs kill", "the same, through xargs"),
    ("kill $(cat app.pid)", "a number from a file"),
    ("kill $(ps -C node -o pid=)", "ps itself chooses"),
    ("kill $(ps -o pid= --ppid 77)", "children of one process"),
    ("kill $(pgrep -P 77)", "the same, by pgrep"),
    ("kill $(pidof app)", "by program"),
    ("ps aux | awk '{print $2}' | head", "nobody is signalled"),
    ("kill -9 $!", "what the text started"),
]


def signalled(command: str) -> bool:
    """Whether the first process of the machine is among those that get a signal."""
    return any(e.kind is Kind.SIGNAL and e.target == "1" for e in effects_of(command, WORLD))


@pytest.mark.parametrize("command", [row[0] for row in ALL], ids=[row[1] for row in ALL])
def test_a_list_of_all_processes_holds_the_first(command: str) -> None:
    assert signalled(command)


@pytest.mark.parametrize("command", [row[0] for row in CHOSEN], ids=[row[1] for row in CHOSEN])
def test_a_list_that_somebody_chose_does_not(command: str) -> None:
    assert not signalled(command)
