"""Terminal multiplexers and keystroke automation (tmux, screen, xdotool): what they run or type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_TMUX_TYPES = ("send", "paste", "pipe", "setb", "set-b", "loadb", "load-b")
"""Beginnings of tmux's commands, which it lets one abbreviate."""
_TMUX_RUNS = ("new", "split", "resp", "run", "popup", "display-popup", "if", "pipe")
_KEYS = ("Enter", "C-m", "Space", "KPEnter", "C-j")
_TYPES: dict[str, tuple[str, ...]] = {
    "zellij": ("write", "write-chars", "paste"),
    "wezterm": ("send-text",),
    "kitty": ("send-text", "send-key"),
    "kitten": ("send-text", "send-key"),
    "xdotool": ("type", "key", "keydown", "keyup", "click", "mousedown"),
    "ydotool": ("type", "key", "click", "stdin"),
    "wlrctl": ("type",),
}
"""The words with which each of these types."""


def _typing(call: Call) -> Effect:
    return call.effect(Kind.PRIVILEGE, "typing")


def tmux(call: Call) -> Effects:
    """Tmux new, split-window, respawn-pane, run-shell: operands are shell text. send-keys and buffers type."""
    verb, words = call.command.subcommand, [item.text for item in call.operands]
    behind = [words[at + 1] for at, word in enumerate(words[:-1]) if word == ";"]
    if any(name.startswith(_TMUX_TYPES) for name in (verb, *behind)):
        yield _typing(call)
    socket = _socket(call)
    if verb.startswith(_TMUX_RUNS):
        if verb.startswith("new") and socket and not call.world.glob(socket):
            call.world.write(socket, "")
        yield from call.runner.script(" ".join(words), call, "tmux")
    elif verb.startswith("send"):
        yield from call.runner.script(" ".join(word for word in words if word not in _KEYS), call, "tmux")
    elif verb == "kill-server" and socket not in call.world.made():
        yield call.effect(Kind.SIGNAL, "tmux")


def _socket(call: Call) -> str:
    """The socket of a server with a name (``-L``) or a path (``-S``) of its own, as a pattern; empty for no such."""
    name, path, folder = call.head.value("-L"), call.head.value("-S"), call.scope.lookup("TMUX_TMPDIR")
    if path is not None:
        return call.locate(path) if path.known else ""
    if name is None or not name.known or (folder.isset and not folder.known):
        return ""
    return f"{next(iter(folder.items), '') or '/tmp'}/tmux-*/{name.text}"  # noqa: S108 - tmux(1)


def screen(call: Call) -> Effects:
    """``-dm COMMAND`` starts one; ``-X stuff TEXT`` types, into a shell as likely as not."""
    words = [item.text for item in call.operands]
    if call.has("-X") and {"stuff", "paste", "process"} & set(words):
        yield _typing(call)
    if "stuff" in words:
        text = " ".join(words[words.index("stuff") + 1 :])
        yield from call.runner.script(text.replace("\\n", "\n").replace("^M", "\n"), call, "screen")
    elif "exec" in words:
        yield from call.runner.run(call.operands[words.index("exec") + 1 :], call, "screen")
    elif words:
        yield from call.runner.run(call.operands, call, "screen")


def typist(call: Call) -> Iterator[Effect]:
    """Those with a word for typing, and those that do nothing else."""
    known = _TYPES.get(call.command.program)
    if known is None or any(item.text in known for item in call.operands):
        yield _typing(call)


_TMUX_VERBS = (
    *("new", "new-session", "neww", "new-window", "splitw", "split-window", "split", "respawnp", "respawn-pane"),
    *("respawnw", "respawn-window", "run", "run-shell", "if", "if-shell", "pipep", "pipe-pane", "send", "send-keys"),
)

OPTIONS = {
    "tmux": options("-L= -S= -f= -c= | sub first"),
    **dict.fromkeys(
        [f"tmux {verb}" for verb in _TMUX_VERBS], options("-t= -s= -n= -x= -y= -F= -e= -p= -l= -c= -N= | first")
    ),
    **dict.fromkeys(
        ("tmux popup", "tmux display-popup"), options("-b= -c= -d= -e= -h= -s= -S= -t= -T= -w= -x= -y= | first")
    ),
    "screen": options("-S= -p= -c= -e= -h= -s= -t= -T= | first"),
}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "tmux": tmux,
    "screen": screen,
    **dict.fromkeys((*_TYPES, "wtype", "dotool", "dotoolc"), typist),
}
