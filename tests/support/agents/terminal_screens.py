"""What a person sees of real sessions, taken from tmux as text into docs/terminal.md (``make screens``).

Each screen is that of a real session in a throw-away home: real daemon, real client, real git. Where a question or a
menu has gone, the screen must be as it was before; else nothing is written.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.agents.full_screen_agent import AT_SHELL, DEAF, GATE, SCREENS, FullScreenAgent
from tests.support.agents.real_agents import AGENTS
from tests.support.agents.tmux import Tmux
from tests.support.guarded_repository import Stage
from tests.support.wait_until import until

HOME = "/home/bo/work/web-shops"
"""Stands in the page for the throw-away folder, in as many characters."""
PAGE = Path(__file__).parents[3] / "docs" / "terminal.md"
SIZES = ((80, 24), (200, 50))
CLIENT = "claude"
PERSONS = {"AUTHOR": "Bo", "COMMITTER": "Bo"}
CTRL_BACKSLASH = "C-\\"
LATER = """\
import pathlib, subprocess, time
for line in pathlib.Path("plan.txt").read_text().splitlines():
    verb, *words = line.split()
    while verb == "wait" and not pathlib.Path(words[0]).exists():
        time.sleep(0.05)
    verb == "wait" or subprocess.run([verb, *words], capture_output=True)
"""
PLAN = "wait go\ngit push --force origin main\nwait end\n"
"""Not in the program's text, which is read before it runs: the question comes while it runs."""
OVER = r"(?s)\bMore: sentinel-guard\s.*person\$"
AGENT = """\
import subprocess
for line in ("git log --oneline", "sed -i s/debug/production/ .env", "python3 later.py"):
    print("agent>", line, flush=True)
    subprocess.run(["bash", "-c", line])
"""
TEXT = "\n".join(f"    # line {n} of the cart" for n in range(1, 41))


def team(stage: Stage) -> None:
    """A repository whose remote has a commit of somebody else's that a forced push would lose."""
    for role, name in PERSONS.items():
        stage.environ |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": f"{name.lower()}@example.com"}
    stage.commit(cart__py=f"def total(prices):\n{TEXT}\n    return sum(prices)\n", later__py=LATER)
    stage.write("plan.txt", PLAN)
    stage.git("init", "-q", "--bare", str(stage.folder / "team.git"))
    stage.git("remote", "add", "origin", str(stage.folder / "team.git"))
    stage.write("cart.py", "def total(prices):\n    return round(sum(prices), 2)\n")
    stage.git("-c", "user.name=Ann", "commit", "-qam", "Rework cart again", "--author=Ann <ann@example.com>")
    stage.git("push", "-q", "origin", "main")
    stage.git("reset", "-q", "--hard", "HEAD~1")
    stage.write("cart.py", f"def total(prices):\n{TEXT}\n    return float(sum(prices))\n")
    stage.git("commit", "-qam", "Rework cart, smaller")


@contextlib.contextmanager
def staged(below: Path | None = None) -> Iterator[Stage]:
    with contextlib.closing(Stage(below)) as stage:
        stage.policy()
        team(stage)
        yield stage


@contextlib.contextmanager
def shell(stage: Stage, size: tuple[int, int]) -> Iterator[Tmux]:
    folder = stage.folder / f"tmux-{len([*stage.folder.glob('tmux-*')])}"
    folder.mkdir()
    with contextlib.closing(Tmux(folder, stage.environ, stage.repo, size)) as tmux:
        yield tmux


def as_before(screen: Callable[[], object], before: object) -> None:
    """Fails where the screen does not become what it was."""
    assert until(lambda: screen() == before, 10), f"{before}\n--- is now ---\n{screen()}"


def answer(tmux: Tmux, key: str) -> None:
    tmux.settled(DEAF)
    tmux.press(key)
    tmux.until_gone(GATE)


def over_vim(size: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """The gate, the menu and its chat over vim."""
    with staged() as stage, shell(stage, size) as tmux:
        vim = "vim -u NONE -i NONE -n +12 cart.py"
        tmux.enter(f"sentinel-guard run -- bash -c 'python3 later.py & {vim}'")
        tmux.until("line 12 of the cart")
        # What vim says of a file stands there until the next redraw, whoever asks for it.
        tmux.press("C-l")
        before = tmux.settled()
        stage.write("go", "")
        yield f"A question over vim, {size[0]} x {size[1]}", (tmux.until(GATE) and tmux.settled(0.5))
        answer(tmux, "n")
        as_before(tmux.screen, before)
        if size == SIZES[0]:
            yield from menu(tmux, before)
        stage.write("end", "")
        tmux.settled(DEAF)
        tmux.type(":q")
        tmux.press("Enter")
        tmux.until(OVER)


def menu(tmux: Tmux, before: str) -> Iterator[tuple[str, str]]:
    tmux.settled(DEAF)
    tmux.press(CTRL_BACKSLASH)
    yield r"The menu (Ctrl-\)", (tmux.until("Your choice:") and tmux.settled(0.5))
    tmux.press("c")
    tmux.until("Your agent reads it")
    tmux.settled(DEAF)
    tmux.type("leave the cart alone, please")
    tmux.press("Enter")
    yield "The chat", (tmux.until("you: leave") and tmux.settled(0.5))
    tmux.type("/resume")
    tmux.press("Enter")
    as_before(tmux.screen, before)


def over_a_client(size: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """The gate over a real client, with its turn half done."""
    agent = next(a for a in AGENTS if a.name == CLIENT)
    steps = (("patient", "python3 later.py"), ("say", "The cart is done."))
    with staged(Path("/var/tmp")) as stage, contextlib.closing(FullScreenAgent(stage, agent, steps)) as screen:
        screen.tmux.resize(*size)
        screen.tmux.until(SCREENS[CLIENT].ready)
        screen.say("push the cart")
        assert until(lambda: any("later.py" in " ".join(c) for c in stage.processes().values()), 60)
        screen.tmux.settled(1, 4)
        before = still(screen)
        stage.write("go", "")
        screen.tmux.until(GATE)
        yield f"A question over {CLIENT.capitalize()} Code, {size[0]} x {size[1]}", screen.tmux.settled(0.5)
        answer(screen.tmux, "n")
        as_before(lambda: still(screen), before)
        stage.write("end", "")
        screen.tmux.until("The cart is done")
        screen.leave()


def still(screen: FullScreenAgent) -> list[str]:
    """Without what changes by itself: a tip, and for how long a command has been running."""
    return [re.sub(r" \((?:#m )?#s\)$", "", line) for line in screen.still() if "Tip:" not in line]


def console() -> Iterator[tuple[str, str]]:
    """The console beside a session that asks."""
    with staged() as stage, shell(stage, SIZES[0]) as agents, shell(stage, (120, 36)) as tmux:
        stage.write("agent.py", AGENT)
        agents.enter("sentinel-guard run -- python3 agent.py")
        stage.write("go", "")
        agents.until(GATE)
        before = tmux.screen()
        tmux.enter("sentinel-guard console")
        tmux.until("Enter shows the gate")
        yield "The console, 120 x 36", tmux.settled(2, 6)
        tmux.press("Enter")
        yield "Its gate", (tmux.until(GATE) and tmux.settled(1.5, 5))
        tmux.press("n")
        tmux.until_gone(GATE)
        stage.write("end", "")
        tmux.press("q")
        tmux.until(AT_SHELL)
        assert tmux.screen() == f"{before.rstrip()} sentinel-guard console\n{before}", (
            "the shell's screen is there again"
        )


def start_and_end() -> Iterator[tuple[str, str]]:
    with staged() as stage, shell(stage, (120, 24)) as tmux:
        stage.write("agent.py", AGENT)
        stage.write("plan.txt", "git add cart.py\n")
        tmux.enter("sentinel-guard run -- python3 agent.py")
        yield "The start and the end", tmux.until(OVER)


def taken() -> Iterator[tuple[str, str]]:
    """Title and text of each screen, in the order of the page."""
    for size in SIZES:
        yield from over_vim(size)
    for size in SIZES:
        yield from over_a_client(size)
    yield from console()
    yield from start_and_end()


def page(head: str) -> str:
    """The page: its head as it is, then each screen."""
    parts = [f"## {title}\n```text\n{tidy(text)}\n```\n" for title, text in taken()]
    return head + MARK + "\n" + "\n".join(parts)


def tidy(text: str) -> str:
    """Without where the throw-away home happens to lie, and spaces at the ends of lines."""
    shown = re.sub(r"/(?:var/)?tmp/sg-\w+", lambda place: HOME[: len(place[0])], text)
    return "\n".join(line.rstrip() for line in shown.rstrip().splitlines())


MARK = "<!-- screens: written by make screens -->"


def main() -> None:
    os.environ.pop("TMUX", None)
    head = PAGE.read_text().partition(MARK)[0]
    PAGE.write_text(page(head))
    print(f"{PAGE} is written anew.")


if __name__ == "__main__":
    sys.exit(main())
