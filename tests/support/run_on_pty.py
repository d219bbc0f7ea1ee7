"""``run`` as a process of its own, on a real pty, against a daemon in a thread that speaks the real protocol."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pyte

from tests.support.time_limits import limit

ROOT = str(Path(__file__).resolve().parents[2])
GRACE = "SENTINEL_TEST_GRACE"
"""Variable: seconds of silence that a question waits for, where a test has to be quicker than they are over."""
# A runner that lost the fake daemon must not start the real one; five seconds of silence are too long for a test.
DRIVER = f"""
import functools, os, sys
sys.path.insert(0, {ROOT!r})
from sentinel_guard.commands.run import event_loop, pty_proxy, run
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine.state_paths import places
run.Operator = functools.partial(run.Operator, command=(sys.executable, "-c", ""))
event_loop.SILENCE = 0.3
pty_proxy.GRACE = float(os.environ.get({GRACE!r}, pty_proxy.GRACE))
try:
    code = run.run(places(), sys.argv[1:])
except SentinelError as e:
    print(e, file=sys.stderr)
    code = 1
sys.exit(code)
"""
BLOCK = "[SENTINEL SECURITY]\r\nAction: DEPLOY\r\nTarget: PRODUCTION\r\nRisk: HIGH\r\nConfirm? (Y/N): "
ASK = {
    "question": "q1", "action": "DEPLOY", "target": "PRODUCTION", "risk": "HIGH",
    "detail": "./deploy --to prod", "why": "it cannot be undone", "seconds": 60,
}  # fmt: skip
# The program must see nothing of what was typed while a question stood there.
ECHO = "import sys\nprint('ready', flush=True)\nfor line in sys.stdin:\n    print('got ' + line.strip(), flush=True)\n"


def plain(*command: str, **more) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # In a session of its own it has no controlling terminal, as under CI.
    alone = {"start_new_session": True, **pipes, **more}
    return subprocess.Popen([sys.executable, "-c", DRIVER, *command], **alone)


def ended(child: pexpect.spawn) -> int:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus if child.exitstatus is not None else 128 + child.signalstatus


def by_shell(line: str) -> bytes:
    """What a shell's line prints on its terminal; ``"$0" -c "$1"`` is the runner."""
    shell = pexpect.spawn("sh", ["-c", line, sys.executable, DRIVER], timeout=limit(10))
    shell.expect(pexpect.EOF)
    shell.close()
    return shell.before


class TwoScreens(pyte.Screen):
    """pyte with an alternate screen, as every terminal has one."""

    def set_mode(self, *modes, **kwargs):
        if kwargs.get("private") and 1049 in modes:
            self.kept = ({y: dict(line) for y, line in self.buffer.items()}, self.cursor.x, self.cursor.y)
            self.erase_in_display(2)
        super().set_mode(*modes, **kwargs)

    def reset_mode(self, *modes, **kwargs):
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and 1049 in modes:
            lines, self.cursor.x, self.cursor.y = self.kept
            self.erase_in_display(2)
            for y, line in lines.items():
                self.buffer[y].update(line)

    def select_graphic_rendition(self, *attributes, private=False):
        if not private:
            super().select_graphic_rendition(*attributes)


class Watcher:
    """What a person sees: a terminal emulator fed by the pty."""

    def __init__(self, child: pexpect.spawn) -> None:
        self.child = child
        self.screen = TwoScreens(child.getwinsize()[1], child.getwinsize()[0])
        self.stream = pyte.ByteStream(self.screen)

    def until(self, sees) -> list[str]:
        deadline = time.monotonic() + limit(10)
        while time.monotonic() < deadline:
            try:
                self.stream.feed(self.child.read_nonblocking(1 << 16, timeout=0.05))
            except pexpect.TIMEOUT:
                if sees(self.text):
                    return self.screen.display
        raise AssertionError("not seen:\n" + self.text)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)
