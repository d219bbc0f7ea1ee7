"""Files that may have been written: what they held before and what was written both run, and nothing else. Bash itself
says so of each row, in every combination of outcomes.
"""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer, Response
from tests.support.fakes import FakeWorld
from tests.support.judge_cases import said_of_last

ALLOW, KILL = Response.ALLOW, Response.KILL

FILES = {
    "x.sh": "p old\n",
    "safe.sh": "p safe\n",
    "c.sh": "echo p more > x.sh\n",
    "lib/x.sh": "p lib\n",
    "other/x.sh": "p other\n",
}
CONDITION = "C"
"""What stands for a command whose outcome nobody knows."""

ROWS = [
    ("C && echo p new > x.sh; sh x.sh", "&&"),
    ("C || echo p new > x.sh; sh x.sh", "||"),
    ("C || cp safe.sh x.sh; sh x.sh", "a copy"),
    ("C && echo p new > x.sh && sh x.sh", "only behind the write"),
    ("echo p new > x.sh && sh x.sh", "written in any case"),
    ("echo p new > x.sh; C && sh x.sh", "the run may not come"),
    ("C && echo p new > x.sh && C && sh x.sh; sh x.sh", "once sure, once not"),
    ("C && echo p a > x.sh || echo p b > x.sh; sh x.sh", "one or the other"),
    ("if C; then echo p new > x.sh; fi; sh x.sh", "a branch"),
    ("if C; then echo p new > x.sh; sh x.sh; fi", "in the branch"),
    ("if C; then echo p a > x.sh; else echo p b > x.sh; fi; sh x.sh", "two branches"),
    ("if C; then echo p a > x.sh; else sh x.sh; fi", "the other branch"),
    ("if C; then echo p a > x.sh; elif C; then echo p b > x.sh; fi; sh x.sh", "three"),
    ("if C && echo p new > x.sh; then :; fi; sh x.sh", "in a condition"),
    ("if C; then :; elif echo p new > x.sh; then :; fi; sh x.sh", "in the second"),
    ("case $(C && echo a) in a) echo p a > x.sh;; *) echo p b > x.sh;; esac; sh x.sh", "arms that take all"),
    ("case $(C && echo a) in a) echo p a > x.sh;; esac; sh x.sh", "or none"),
    ("case $(C && echo a) in a) echo p a > x.sh;; *) sh x.sh;; esac", "the other arm"),
    ("while C; do echo p new > x.sh; break; done; sh x.sh", "a loop"),
    ("for i in a b; do echo p $i > x.sh; done; sh x.sh", "rounds that are run"),
    ("for i in $(C && echo a); do echo p new > x.sh; done; sh x.sh", "rounds that are not known"),
    ("f() { C && return; echo p new > x.sh; }; f; sh x.sh", "a function that is left"),
    ("f() { echo p new > x.sh; }; C && f; sh x.sh", "a function that is called"),
    ("(C && echo p new > x.sh); sh x.sh", "a subshell"),
    ("(if C; then echo p new > x.sh; exit; fi); sh x.sh", "that is left"),
    ("C && tee x.sh <<< 'p new' > /dev/null; sh x.sh", "by a program"),
    ("C && sed -i s/old/new/ x.sh; sh x.sh", "edited in place"),
    ("C && echo p more >> x.sh; sh x.sh", "more of it"),
    ("C && echo p new > x.sh; sed -i s/p/p.more/ x.sh; sh x.sh", "edited behind it"),
    ("C && echo p new > x.sh; cp x.sh y.sh; sh y.sh", "copied behind it"),
    ("C && echo p new > x.sh; echo p last > x.sh; sh x.sh", "surely written behind it"),
    ("C && echo p new > x.sh; cat x.sh | sh", "through a pipe"),
    ('C && echo p new > x.sh; bash -c "$(cat x.sh)"', "as a text"),
    ("C && echo p new > x.sh; . ./x.sh", "sourced"),
    ("C && echo p new > x.sh; sh < x.sh", "as standard input"),
    ("C && echo p new > x.sh; t=$(< x.sh); $t", "in a variable"),
    ("C && echo p new > x.sh; bash -c 'sh x.sh; :'", "in a text"),
    ("C && bash -c 'echo p new > x.sh'; sh x.sh", "written in one"),
    ("C && sh c.sh; sh x.sh", "by a script"),
    ("C && echo p a > x.sh; C && echo sh x.sh > y.sh; sh y.sh", "nothing lay there before"),
    ("C && echo p a > x.sh; C && echo sh x.sh > safe.sh; sh safe.sh", "one leads to the other"),
    ("C && echo p a > x.sh; C && echo p b > safe.sh; cat x.sh safe.sh | sh", "two"),
    ("C && echo p a > x.sh; C && echo p b > x.sh; sh x.sh", "three texts"),
    ("C && echo p a > x.sh; C && echo p b > c.sh; C && cp x.sh lib/x.sh; sh x.sh", "others that are not read"),
    ("C && cp -rT other lib; sh lib/x.sh", "a folder"),
    ("cp -rT other lib; sh lib/x.sh", "in any case"),
    ("C && ln -sf safe.sh x.sh; sh x.sh", "a link"),
    ("ln -sf safe.sh x.sh; sh x.sh", "made in any case"),
    ("C && ln -s safe.sh y.sh; sh y.sh", "where nothing was"),
    ("C && ln -sf safe.sh x.sh && sh x.sh", "only behind it"),
    ("cp -n safe.sh x.sh; sh x.sh", "what is there is kept"),
    ("mv -n safe.sh x.sh; sh x.sh", "by a move, too"),
    ("C && echo p new > y.sh; cp -n safe.sh y.sh; sh y.sh", "kept where it was written"),
    ("cp -b safe.sh x.sh; sh x.sh~; sh x.sh", "under another name"),
    ("cp --backup=numbered safe.sh x.sh; sh x.sh.~1~", "by a number"),
    ("mv -S .was safe.sh x.sh; sh x.sh.was", "by a move"),
    ("ln -sfb safe.sh x.sh; sh x.sh~; sh x.sh", "behind a link"),
]
MORE = [
    ("C && echo p a > x.sh || sh x.sh", "a write may fail"),
    ("for i in a b; do C && break; echo p $i > x.sh; done; sh x.sh", "rounds are not told apart"),
    ("find . -name none -exec cp safe.sh x.sh ';'; sh x.sh", "what is found is not known"),
    ("cp -i safe.sh x.sh; sh x.sh", "what is answered"),
    ("cp -u safe.sh x.sh; sh x.sh", "which is newer"),
    ("cp -rn other/. lib; sh lib/x.sh", "files of a folder that are kept"),
    ("cp -l safe.sh y.sh; echo p new > y.sh; sh safe.sh", "two names of one file"),
    ("cp -rl lib new; echo p new > new/x.sh; sh lib/x.sh", "of many"),
    ("ln x.sh l; mv safe.sh x.sh; sh l", "one of which is replaced"),
    ("ln -s safe.sh x.sh; sh x.sh", "a link in the place of a file"),
    ("ln -s x.sh l; mv safe.sh l; sh x.sh", "a link that is replaced"),
    ("ln -s x.sh l; sed -i s/old/new/ l; sh x.sh", "by an edit"),
    ("sed -i '' s/old/new/ x.sh; sh x.sh", "which sed it is"),
    ("sed -i -e s/old/new/ x.sh; sh x.sh", "what BSD's takes for a suffix"),
    ("set -C; echo p new > x.sh; sh x.sh", "what may be kept"),
    ("{ sleep 0; echo p new > x.sh; } & wait; sh x.sh", "in the background"),
    ("{ sleep 0.2; echo p new > x.sh; } & echo p last > x.sh; wait; sh x.sh", "in the background, later than another"),
    ("{ echo p new > x.sh; } | sh x.sh; sh x.sh", "beside each other"),
    ("echo > >(sleep 0; cp safe.sh x.sh); sh x.sh", "what reads an output"),
]


def predicted(text: str) -> set[str]:
    world = FakeWorld({f"/repo/{name}": held for name, held in FILES.items()})
    action = Action("1", "s", Layer.SHELL, "shell", {"command": text}, "/repo", 0.0, root="/repo")
    found = analyse(action, world)
    assert not [e for e in found if e.kind is Kind.OPAQUE and "data" not in e.how]
    return {
        " ".join(e.command.argv[1:])
        for e in found
        if e.kind is Kind.EXECUTE and e.command and e.command.argv[0].startswith("p")
    }


def ran(text: str, folder: Path) -> set[str]:
    """What bash gives ``p`` in all outcomes."""
    found: set[str] = set()
    first, *parts = text.split(CONDITION)
    (folder / "bin").mkdir()
    for name in ("p", "p.more"):
        (folder / "bin" / name).write_text('#!/bin/sh\necho "$*" >> "$LOG"\n')
        (folder / "bin" / name).chmod(0o755)
    for number, outcomes in enumerate(itertools.product(("true", "false"), repeat=len(parts))):
        place, log = folder / str(number), folder / f"{number}.log"
        for name, held in FILES.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(held)
        run = first + "".join(itertools.chain.from_iterable(zip(outcomes, parts, strict=True)))
        environ = {"PATH": f"{folder}/bin:/usr/bin:/bin", "LOG": str(log)}
        subprocess.run(
            ["bash", "-c", run],
            cwd=place,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
        found |= set(log.read_text().splitlines()) if log.exists() else set()
    return found


@pytest.mark.parametrize(("text", "why"), ROWS, ids=[why for _, why in ROWS])
def test_every_text_that_may_run_and_no_other(text: str, why: str, tmp_path: Path) -> None:
    assert predicted(text) == ran(text, tmp_path), why


@pytest.mark.parametrize(("text", "why"), MORE, ids=[why for _, why in MORE])
def test_more_than_may_run_where_that_is_not_told(text: str, why: str, tmp_path: Path) -> None:
    assert predicted(text) >= ran(text, tmp_path), why


def test_beyond_the_limit_it_may_be_anything() -> None:
    many = "; ".join(f"C && echo p {n} > x.sh" for n in range(6))
    world = FakeWorld({"/repo/x.sh": "p old\n"})
    action = Action("1", "s", Layer.SHELL, "shell", {"command": f"{many}; sh x.sh"}, "/repo", 0.0, root="/repo")
    assert [e for e in analyse(action, world) if e.kind is Kind.OPAQUE and "code" in e.how]


JUDGED_FILES = {"nuke.sh": "rm -rf /\n", **dict.fromkeys((".env", "deploy.sh", "a.tmp"), "x\n")}
JUDGED = [
    ("false && printf true > nuke.sh; sh nuke.sh", KILL, "what lay there before runs"),
    ("[ -e .env ] || cp deploy.sh nuke.sh; sh nuke.sh", KILL, "the same, by a copy"),
    ("if make x; then printf true > nuke.sh; fi; sh nuke.sh", KILL, "in a branch"),
    ("[ -e q ] && printf true > q.sh; cp q.sh nuke.sh; sh nuke.sh", KILL, "a copy of what may not be there"),
    ("printf true > no/q.sh; cp no/q.sh nuke.sh; sh nuke.sh", KILL, "of what nothing can be written into"),
    ("trap 'printf true > nuke.sh' EXIT; sh nuke.sh", KILL, "at the end"),
    ("trap 'sh q.sh' EXIT; printf 'rm -rf /' > q.sh", KILL, "the other way round"),
    ("printf true > nuke.sh; git checkout nuke.sh; sh nuke.sh", KILL, "put back"),
    ("printf true > nuke.sh && sh nuke.sh", ALLOW, "what was surely written"),
    ("[ -e .env ] || printf true > nuke.sh && cat nuke.sh", ALLOW, "shown alone"),
    ("[ -e run.sh ] || printf true > run.sh; sh run.sh", ALLOW, "nothing lay there"),
    ("[ -e a.tmp ] || printf true > a.tmp; sh a.tmp", ALLOW, "the project's own, or what was written"),
]


@pytest.mark.parametrize(("text", "response", "why"), JUDGED, ids=[row[2] for row in JUDGED])
def test_each_of_them_is_judged(text: str, response: Response, why: str) -> None:
    assert said_of_last((text,), JUDGED_FILES) is response, why
