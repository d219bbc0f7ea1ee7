"""Whom a signal by name, pattern, lookup or port reaches beside what is the session's (ADR 0052). Only parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.running_processes import OTHERS, Running
from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of
from tests.support.fakes import HOME, FakeWorld

NODE = Running(4711, "node", f"{HOME}/other-project", above=False)
FOX = Running(812, "firefox", HOME, above=False)
TRAIN = Running(77, "python3", "/srv/train", above=False)
AGENT = Running(9, "claude", "/home/ann/project", above=True)
WORLD = {
    ("node /home/ann/other-project/node_modules/.bin/vite --port 3000", 3000): NODE,
    ("/usr/lib/firefox/firefox https://localhost", 0): FOX,
    ("python3 -m uvicorn train:app --port 8000", 8000): TRAIN,
    ("claude --resume", 0): AGENT,
}
NODES, FOXES = "node (pid 4711, in ~/other-project)", "firefox (pid 812, in ~)"
TRAINS, AGENTS = "python3 (pid 77, in /srv/train)", "claude (pid 9, which this agent is or runs in)"

ROWS = [
    ("pkill node", [NODES], "a name"),
    ("pkill no", [NODES], "a part of one"),
    ("pkill -x no", [], "no whole name"),
    ("pkill -KILL node", [NODES], "a signal's letters are no options"),
    ("pkill -SIGTERM -x node", [NODES], "nor are these"),
    ("pkill -9 -f 'uvicorn.*8000'; pkill -f vite", [TRAINS, NODES], "two patterns on command lines"),
    ("pkill vite", [], "without -f command lines do not count"),
    ("pkill -if VITE", [NODES], "either case"),
    ("pkill -f '^(node|deno) .*vite( |$)'", [NODES], "an extended expression"),
    ("pkill -f '[v]ite'", [NODES], "one that does not match itself"),
    ("pkill -f 'node [^ ]+.*vite'", [NODES], "a repeat that could take all of it"),
    ("pkill -f 'no[[:alpha:]]e'", [NODES], "a class of characters"),
    ("pkill -f '.'", [f"{AGENTS}, {TRAINS}, {FOXES} and others"], "all: three are named, the agent first"),
    ("pkill claude", [AGENTS], "the agent itself"),
    ("killall node firefox", [NODES, FOXES], "two names"),
    ("killall nod", [], "killall takes whole names"),
    ("killall -r 'nod|fire'", [f"{FOXES}, {NODES}"], "or expressions"),
    ("killall -i node", [], "killall asks itself"),
    ("sudo pkill node", [NODES], "by somebody else"),
    ("timeout 5 bash -c 'pkill node'", [NODES], "handed on"),
    ("python3 -c \"import os; os.system('pkill node')\"", [NODES], "from Python"),
    ("N=node; pkill $N", [NODES], "a variable"),
    ("kill $(pgrep -f vite)", [NODES], "looked up"),
    ("kill -9 `pgrep node`", [NODES], "in backticks"),
    ("kill $(pidof node)", [NODES], "by pidof"),
    ("kill $(pidof /usr/lib/firefox/firefox)", [], "pidof by a path"),
    ('PIDS=$(pgrep -f vite); [ -n "$PIDS" ] && kill $PIDS', [NODES], "through a variable"),
    ("for p in $(pgrep -f vite); do kill $p; done", [NODES], "one after the other"),
    ("pgrep -f vite | while read p; do kill $p; done", [NODES], "read from a pipe"),
    ("pgrep -f vite | xargs -r kill", [NODES], "by xargs"),
    ("ps aux | grep vite | grep -v grep | awk '{print $2}' | xargs kill -9", [NODES], "grep on a listing"),
    ("ps -ef | grep -E 'vite|next' | cut -c9-16 | xargs kill", [NODES], "an extended one"),
    ("ps -ef | grep 'vite\\|next' | awk '{print $2}' | xargs kill", [NODES], "a basic one"),
    ("ps aux | awk '/vite/ && !/awk/ {print $2}' | xargs kill", [NODES], "awk on a listing"),
    ("ps aux | grep vite | grep -v node | awk '{print $2}' | xargs kill", [], "it is left out"),
    ("ps -eo pid,comm | grep vite | awk '{print $1}' | xargs kill", [], "a listing of names"),
    ("ps -C node -o pid= | xargs kill", [NODES], "ps by name"),
    ("kill $(lsof -ti:3000)", [NODES], "a port"),
    ("lsof -t -i tcp:3000 -sTCP:LISTEN | xargs kill", [NODES], "who listens"),
    ("for n in 3000 3001; do lsof -ti:$n | xargs kill; done", [NODES], "one of several"),
    ("k() { kill $(lsof -ti:$1); }; k 3000", [NODES], "by a function"),
    ("fuser -k 3000/tcp", [NODES], "fuser"),
    ("fuser -k -n tcp 3000", [NODES], "fuser with a name space"),
    ("ss -lptn 'sport = :3000' | grep -oP 'pid=\\K\\d+' | xargs kill", [NODES], "ss"),
    ("netstat -tlnp | grep :3000 | awk '{print $7}' | cut -d/ -f1 | xargs kill", [NODES], "netstat"),
    ("kill $(lsof -ti:3001)", [], "nobody's port"),
    ("kill $(lsof -ti:3001,8000)", [TRAINS], "two ports"),
    ("lsof -i :3000 | grep LISTEN | awk '{print $2}' | xargs kill", [NODES], "who listens, by grep"),
    ("lsof -i :3000 | grep node | awk '{print $2}' | xargs kill", [NODES], "the program, by grep"),
    ("lsof -i :3000 | grep deno | awk '{print $2}' | xargs kill", [], "another one"),
    ("lsof -nP -i | grep :3000 | awk '{print $2}' | xargs kill", [NODES], "the port, by grep"),
    ("npx kill-port 3000", [NODES], "a package that ends who has a port"),
    ("npx fkill-cli :3000; npx fkill firefox", [FOXES], "one that ends who has a name"),
    ("fkill 4711", [], "or one process"),
    ("pkill -f webpack", [], "nobody of that name"),
    ("pgrep -fa vite; ps aux | grep node; lsof -i :3000", [], "a look"),
    ("pkill -0 node", [], "no signal"),
    ("kill 4711", [], "one process, by its number"),
    ("npm run dev & P=$!; pgrep -fa vite; kill $P", [], "what the text started"),
    ("pgrep -fa vite; kill $(cat /tmp/app.pid)", [], "from a file"),
    ("lsof -i :3000; P=$(cat /tmp/app.pid); kill $P", [], "from a file, by a variable"),
    ("pgrep -fa vite; cat /tmp/app.pid | xargs kill", [], "from a file, by a pipe"),
    ("ps aux | grep node; sleep 9 & jobs -p | xargs -r kill", [], "jobs of the text, by a pipe"),
    ("lsof -i :3000; for p in $(jobs -p); do kill $p; done", [], "and one after the other"),
    ("pgrep -f vite > pids; kill $(cat pids)", [NODES], "from a file that was looked up"),
    ("ps aux | grep vite | awk '{print $2}' > a.pid; P=$(cat a.pid); kill $P", [NODES], "behind a filter"),
    ("pgrep -f vite | tee /tmp/a.pid; cat /tmp/a.pid | xargs kill", [NODES], "by a pipe"),
    ("pgrep -f vite > /tmp/a.pid; kill $(< /tmp/a.pid)", [NODES], "without cat"),
    ("pgrep -fa vite > log; kill $(cat app.pid)", [], "from another file"),
    ("pgrep -f vite > a.pid; npm run dev & echo $! > a.pid; kill $(cat a.pid)", [], "which was written anew"),
    ("jobs; pgrep -f vite | xargs kill", [NODES], "looked up behind the jobs"),
    ("cat app.pid; ps aux | grep vite | awk '{print $2}' | xargs kill", [NODES], "behind a file"),
    ("pgrep -f vite > l; jobs; kill $(pgrep -f vite)", [NODES], "named where it is looked up"),
    ("ps aux | grep node | grep 4000 | awk '{print $2}' | xargs -r kill", [], "another port in the command line"),
    ("ps aux | grep node | grep -- '--port 3000' | awk '{print $2}' | xargs kill", [NODES], "that port"),
    ("ps aux | grep node | grep 30 | awk '{print $2}' | xargs kill", [NODES], "digits that a pid may have"),
    (
        'for p in $(pgrep node); do if [ "$(readlink /proc/$p/cwd)" = "$PWD" ]; then kill $p; fi; done',
        [],
        "only where it works in this folder",
    ),
    ('pgrep node | while read p; do [ "$(readlink -f /proc/$p/cwd)" == "$PWD" ] && kill $p; done', [], "so in a pipe"),
    ('for p in $(pgrep -f vite); do pwdx $p | grep -q "$PWD" && kill $p; done', [], "by pwdx"),
    (
        f'for p in $(pgrep node); do [ "$(readlink /proc/$p/cwd)" = {HOME}/other-project ] && kill $p; done',
        [NODES],
        "only where it works in another folder",
    ),
    (
        'for p in $(pgrep node); do [ "$(readlink /proc/$p/cwd)" != "$PWD" ] && kill $p; done',
        [NODES],
        "not in this one",
    ),
    ('for p in $(pgrep node); do pwdx $p | grep -qv "$PWD" && kill $p; done', [NODES], "nor so by pwdx"),
    (
        'for p in $(pgrep node); do [ "$(readlink /proc/$p/cwd)" = "$X" ] && kill $p; done',
        [NODES],
        "nobody knows where",
    ),
    (
        'for p in $(pgrep node); do [ "$(readlink /proc/$p/cwd)" = "$PWD" ] && echo ours; kill $p; done',
        [NODES],
        "it is only told",
    ),
    ("for p in $(pgrep node); do readlink /proc/$p/cwd; kill $p; done", [NODES], "nothing is compared"),
    *(
        (f'for p in $(pgrep node); do [ "$(readlink /proc/{own}/cwd)" = "$PWD" ] && kill $p; done', [NODES], "its own")
        for own in ("self", "$$")
    ),
    ("kill $P; pgrep node", [], "looked up afterwards"),
    ("pkill -P $$ node", [], "children of one process"),
    ("ssh host pkill node", [], "another machine"),
    ("docker exec web pkill node", [], "a container"),
    ("pkill -f '(n+)+e'", [], "an expression that may take long is not looked for"),
    ('pkill -f "$APP"', [], "an unknown pattern"),
    ("taskkill //F //IM python.exe", ["each python.exe of this machine, whosesoever it is"], "Windows, from Git Bash"),
    ("cmd.exe /c 'taskkill /F /IM node.exe'", ["each node.exe of this machine, whosesoever it is"], "and by cmd"),
    ("taskkill.exe /im Code.exe", ["each Code.exe of this machine, whosesoever it is"], "an editor"),
    ("taskkill /F /IM myserver.exe", [], "a program of its own"),
    (
        'powershell.exe -Command "Stop-Process -Name node -Force"',
        ["each node of this machine, whosesoever it is"],
        "PowerShell",
    ),
    (
        'powershell.exe -Command "Get-Process python | Stop-Process"',
        ["each python of this machine, whosesoever it is"],
        "a list by name",
    ),
    ('powershell.exe -Command "Stop-Process -Id 4711"', [], "one process, in PowerShell"),
    ('powershell.exe -Command "Stop-Process -Name myserver"', [], "a program of its own, in PowerShell"),
    ("taskkill /F /PID 4711", [], "one process of Windows"),
]


@pytest.mark.parametrize(("text", "others", "why"), ROWS, ids=[f"{why}: {text}" for text, _, why in ROWS])
def test_whom_it_reaches(text: str, others: list[str], why: str) -> None:
    found = effects_of(text, FakeWorld(others=WORLD))
    assert [e.target for e in found if e.kind is Kind.SIGNAL and OTHERS in e.how] == others, why


class Deaf(FakeWorld):
    def others(self, chosen: object) -> tuple[Running, ...]:
        raise AssertionError(f"asked for {chosen}")


@pytest.mark.parametrize(
    "text", ["make test", "kill 12", "kill $!", "pgrep node", "pkill -P $$", "kill $(cat app.pid)"]
)
def test_nothing_is_asked_where_no_name_is_signalled(text: str) -> None:
    assert not [e for e in effects_of(text, Deaf()) if "error" in e.how]
