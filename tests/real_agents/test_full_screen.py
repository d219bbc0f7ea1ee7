"""The real coding agents on a full screen, under guard, with a person who types and looks (``make test-agents``)."""

from __future__ import annotations

import difflib
import time

import pytest

from tests.real_agents.test_headless import PARALLEL, WRECKS, make_dirty, state
from tests.support.agents.full_screen_agent import DEAF, SCREENS, TURN
from tests.support.agents.real_agents import AGENTS
from tests.support.wait_until import until

every_screen = pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in SCREENS], ids=lambda agent: agent.name)
PUSH = "git push --force origin main"


@pytest.fixture
def repo(stage):
    """A repository whose only commit was amended after it had been pushed."""
    stage.commit(a__txt="one\n")
    stage.git("init", "-q", "--bare", str(stage.folder / "remote.git"))
    stage.git("remote", "add", "origin", str(stage.folder / "remote.git"))
    stage.git("push", "-q", "origin", "main")
    stage.git("commit", "-q", "--amend", "-m", "rewritten")
    return stage


def pushed(stage) -> bool:
    return stage.git("rev-parse", "main") == stage.git("ls-remote", "origin", "main").split()[0] + "\n"


def conclude(screen) -> None:
    """The person ends the agent: nothing is left, and each call was on record once, as the model wrote it."""
    assert screen.leave() == 0
    stage = screen.stage
    asked = [command for kind, *commands in screen.steps for command in commands if kind != "say"]
    assert sorted(command.removesuffix(" &") for command in stage.calls()) == sorted(asked)
    left = until(lambda: not left_of(screen), 20) or left_of(screen)
    assert left is True, "no process of the session is left"


def left_of(screen) -> list[list[str]]:
    spared = {screen.tmux.terminal("pid"), screen.tmux.terminal("pane_pid")}
    found = screen.stage.processes().items()
    return [command for pid, command in found if str(pid) not in spared and "daemon" not in command]


@every_screen
def test_keys_turns_and_end(repo, on_screen, agent):
    steps = (
        ("shell", 'echo "it\'s $HOME"'),
        ("shell", "echo two >> a.txt; git add a.txt && git commit -qm 'second: it works'"),
        ("shell", "git checkout -q -b side"),
        ("say", "FIRST TURN ENDS"),
        ("shell", "git log --oneline | cat"),
        ("say", "SECOND TURN ENDS"),
    )
    screen = on_screen(agent, steps)
    screen.keys_arrive()
    screen.turn("first turn", "FIRST TURN ENDS")
    assert f"it's {repo.home}" in screen.model.told[0]
    assert repo.git("log", "-1", "--format=%s").strip() == "second: it works", "it may commit"
    assert repo.git("branch", "--show-current").strip() == "side"
    screen.turn("second turn", "SECOND TURN ENDS")
    assert "second: it works" in screen.model.told[3]
    conclude(screen)


@every_screen
def test_a_call_in_the_background_and_six_at_once(repo, on_screen, agent):
    steps = (("background", "sleep 0.3; echo late > late.txt"), ("parallel", *PARALLEL), ("say", "FIRST TURN ENDS"))
    screen = on_screen(agent, steps)
    screen.turn("first turn", "FIRST TURN ENDS")
    assert until((repo.repo / "late.txt").exists, 10)
    told = "\n".join(screen.model.told)
    assert [n for n in range(len(PARALLEL)) if f"parallel-{n}" not in told] == []
    screen.keys_arrive()
    conclude(screen)


@every_screen
def test_a_kill_gives_back_the_shell_and_what_was_not_committed(repo, on_screen, agent):
    before = make_dirty(repo)
    fatal = (("shell", WRECKS), ("shell", f"rm -r {repo.repo}/.git"), ("shell", "echo never > reached"))
    screen = on_screen(agent, fatal)
    screen.say("first turn")
    assert screen.ended() == 137
    assert "SENTINEL KILL SWITCH" in screen.tmux.screen()
    assert state(repo) == before and not (repo.repo / "reached").exists()
    assert until(lambda: not left_of(screen), 20), left_of(screen)


LATER = """
import pathlib, subprocess, time

pathlib.Path("begun").touch()
for line in pathlib.Path("plan.txt").read_text().splitlines():
    verb, *words = line.split()
    while verb == "wait" and not pathlib.Path(words[0]).exists():
        time.sleep(0.05)
    verb == "wait" or subprocess.run([verb, *words], capture_output=True)
"""


@every_screen
def test_a_question_leaves_the_screen_as_it_was(repo, on_screen, agent):
    # A running command comes to what is asked about after a while, and goes on for a while.
    repo.write("later.py", LATER)
    repo.write("plan.txt", f"wait go\n{PUSH}\nwait end\n")
    screen = on_screen(agent, (("patient", "python3 later.py"), ("say", "FIRST TURN ENDS")))
    screen.say("first turn")
    assert until((repo.repo / "begun").exists, TURN)
    time.sleep(2)  # the agent has drawn it
    before = screen.still()
    repo.write("go", "")
    screen.asked()
    screen.answer("y")
    assert until(lambda: screen.still() == before, 5), "\n".join(difflib.unified_diff(before, screen.still()))
    assert until(lambda: pushed(repo), 20)
    repo.write("end", "")
    screen.tmux.until("FIRST TURN ENDS")
    conclude(screen)


@every_screen
def test_no_and_yes_to_the_models_command(repo, on_screen, agent):
    steps = (("shell", PUSH), ("say", "FIRST TURN ENDS"), ("shell", PUSH), ("say", "SECOND TURN ENDS"))
    screen = on_screen(agent, steps)
    screen.say("first turn")
    seen = screen.asked()
    assert f"| {PUSH}\n" in seen, "what the model wrote, without the agent's wrapper"
    screen.answer("n")
    screen.tmux.until("FIRST TURN ENDS")
    assert "UserDenied: Authorization refused." in screen.model.told[0]
    assert not pushed(repo)
    screen.keys_arrive()
    screen.say("second turn")
    screen.asked()
    screen.answer("y")
    screen.tmux.until("SECOND TURN ENDS")
    assert pushed(repo)
    conclude(screen)


BLOCK = "[SENTINEL SECURITY]\nAction: FORCE_PUSH\nTarget: origin\nRisk: HIGH\nConfirm? (Y/N):"
SIZES = ((80, 24), (120, 40))


@every_screen
def test_the_window_is_resized_under_a_question_and_after_it(repo, on_screen, agent):
    screen = on_screen(agent, (("shell", PUSH), ("say", "FIRST TURN ENDS"), ("shell", "echo two"), ("say", "THE END")))
    screen.say("first turn")
    screen.asked()
    for size in SIZES:
        screen.tmux.resize(*size)
        screen.tmux.wait(lambda seen: BLOCK in seen, "the question is whole again")
    time.sleep(DEAF)
    screen.answer("n")
    screen.tmux.until("FIRST TURN ENDS")
    for size in (SIZES[1], *SIZES):
        screen.tmux.resize(*size)
        assert until(lambda size=size: screen.inner_size() == size, 10)
        screen.tmux.until(screen.facts.ready)
        screen.keys_arrive()
    screen.turn("second turn", "THE END")
    conclude(screen)


@every_screen
def test_a_running_command_is_interrupted(repo, on_screen, agent):
    steps = (("patient", "touch begun; sleep 500"), ("shell", "echo two"), ("say", "SECOND TURN ENDS"))
    screen = on_screen(agent, steps)
    screen.say("first turn")
    assert until((repo.repo / "begun").exists, TURN)
    time.sleep(1)
    screen.interrupt()
    assert until(lambda: ["sleep", "500", ""] not in repo.processes().values(), 10), "the command has ended"
    screen.turn("second turn", "SECOND TURN ENDS")
    conclude(screen)


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "codex"], ids=lambda agent: agent.name)
def test_a_yes_that_comes_after_the_agents_limit_reaches_the_command(repo, on_screen, agent):
    steps = (("shell", f"{PUSH}; echo done > done.txt"), ("say", "FIRST TURN ENDS"))
    screen = on_screen(agent, steps)
    screen.say("first turn")
    screen.asked()
    assert until(lambda: screen.model.told, 30), "Codex has gone on"
    assert "SENTINEL: a person is being asked" in screen.model.told[0]
    screen.answer("y")
    assert until((repo.repo / "done.txt").exists, 20)
    assert pushed(repo)
    screen.tmux.until("FIRST TURN ENDS")
    conclude(screen)


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "claude"], ids=lambda agent: agent.name)
def test_a_yes_that_comes_while_the_agent_stands_still_reaches_the_command(repo, on_screen, agent):
    # It draws all the time, and waits for its terminal below the question: its limit strikes after the answer.
    steps = (("shell", f"{PUSH}; echo done > done.txt"), ("say", "FIRST TURN ENDS"))
    screen = on_screen(agent, steps)
    screen.say("first turn")
    screen.asked()
    time.sleep(CLAUDES_LIMIT + 10)
    assert not screen.model.told
    screen.answer("y")
    assert until((repo.repo / "done.txt").exists, 20)
    assert pushed(repo)
    screen.tmux.until("FIRST TURN ENDS", TURN)
    assert "SENTINEL: a person is being asked" in screen.model.told[0]
    screen.tmux.until("Background command .* completed")
    conclude(screen)


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "opencode"], ids=lambda agent: agent.name)
def test_a_model_whose_agent_ends_the_call_has_heard_that_a_person_is_asked(repo, on_screen, agent):
    screen = on_screen(agent, (("shell", f"{PUSH}; echo done > done.txt"), ("say", "FIRST TURN ENDS")))
    screen.say("first turn")
    screen.asked()
    time.sleep(OPENCODES_LIMIT + 10)
    screen.answer("y")
    assert until(lambda: screen.model.told, 30), "its limit has struck with the answer"
    assert "SENTINEL: a person is being asked" in screen.model.told[0]
    assert not pushed(repo) and not (repo.repo / "done.txt").exists(), "a yes to what has ended runs nothing"
    screen.tmux.until("FIRST TURN ENDS", TURN)
    conclude(screen)


CLAUDES_LIMIT = OPENCODES_LIMIT = 120.0
IDLE = 600.0


@pytest.mark.idle
@pytest.mark.timeout(IDLE + 300)
@every_screen
def test_a_turn_works_after_ten_minutes_of_nothing(repo, on_screen, agent):
    steps = (("shell", "echo one"), ("say", "FIRST TURN ENDS"), ("shell", "echo two"), ("say", "SECOND TURN ENDS"))
    screen = on_screen(agent, steps)
    screen.turn("first turn", "FIRST TURN ENDS")
    time.sleep(IDLE)
    screen.keys_arrive()
    screen.turn("second turn", "SECOND TURN ENDS")
    assert "two" in screen.model.told[1]
    conclude(screen)


@every_screen
def test_it_stops_and_goes_on_as_a_job_of_the_persons_shell(repo, on_screen, agent):
    steps = (("shell", "echo one"), ("say", "FIRST TURN ENDS"), ("shell", "echo two"), ("say", "SECOND TURN ENDS"))
    screen = on_screen(agent, steps)
    screen.turn("first turn", "FIRST TURN ENDS")
    screen.suspend()
    screen.tmux.enter("clear; echo shell-$((40 + 2)); jobs")
    screen.tmux.until(r"(?s)^shell-42\n.*Stopped")
    screen.tmux.enter("fg")
    time.sleep(2)
    screen.erase()
    screen.keys_arrive()
    screen.turn("second turn", "SECOND TURN ENDS")
    assert "two" in screen.model.told[1]
    conclude(screen)


@every_screen
def test_what_is_asked_while_it_is_stopped_waits_for_the_person(repo, on_screen, agent):
    repo.write("later.py", LATER)
    repo.write("plan.txt", f"wait go\n{PUSH}\n")
    screen = on_screen(agent, (("patient", "python3 later.py"), ("say", "FIRST TURN ENDS")))
    screen.say("first turn")
    assert until((repo.repo / "begun").exists, TURN)
    time.sleep(1)
    screen.suspend()
    repo.write("go", "")
    time.sleep(2)
    screen.tmux.enter("fg")
    screen.asked()
    assert not pushed(repo)
    screen.answer("y")
    screen.tmux.until("FIRST TURN ENDS")
    assert pushed(repo)
    conclude(screen)
