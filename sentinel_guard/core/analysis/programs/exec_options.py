"""Options whose value is a command: ``man -P CMD``, ``zip -TT CMD``, ``split --filter=CMD``, ``cargo watch -s CMD``.

They are found among the words as they stand, whatever the program's own table of options makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect


class _Row(NamedTuple):
    options: tuple[str, ...] = ()
    """Their value is a shell text."""
    words: tuple[str, ...] = ()
    """The command stands behind one of these words, which are operands."""
    needs: str = ""
    """A word that must stand first."""
    glued: tuple[str, ...] = ()
    """A word that begins so holds the shell text."""


def _row(options: str = "", *, words: str = "", needs: str = "", glued: str = "") -> _Row:
    return _Row(tuple(options.split()), tuple(words.split()), needs, tuple(glued.split()))


ROWS: dict[str, _Row] = {
    "man": _row("-P --pager"),
    **dict.fromkeys(("less", "more", "most"), _row(glued="+!")),
    "zip": _row("-TT --unzip-command"),
    **dict.fromkeys(("tar", "bsdtar", "gtar"), _row("--info-script --new-volume-script -F --to-command "
                    "--use-compress-program -I --rmt-command --rsh-command")),
    "split": _row("--filter"),
    "csplit": _row("--filter"),
    **dict.fromkeys(("sort", "gsort"), _row("--compress-program")),
    "wget": _row("--use-askpass"),
    **dict.fromkeys(("scp", "sftp"), _row("-S", glued="ProxyCommand= -oProxyCommand= LocalCommand= -oLocalCommand=")),
    **dict.fromkeys(("rg", "ripgrep"), _row("--pre --hostname-bin")),
    "fzf": _row("--preview"),
    "cargo": _row("-s --shell", needs="watch"),
    "watchmedo": _row("-c --command"),
    **dict.fromkeys(("chokidar", "chokidar-cli"), _row("-c --command")),
    "go": _row("-exec -toolexec --exec --toolexec"),
    **dict.fromkeys(("mvn", "mvnw"), _row("-Dexec.executable")),
    "yarn": _row(words="exec", needs="workspaces"),
    "zellij": _row(words="--", needs="run"),
    "byobu": _row(words="new-session new-window"),
    "gcc": _row("-wrapper"),
    "tcpdump": _row("-z"),
}  # fmt: skip


def exec_option_effects(call: Call) -> Iterator[Effect]:
    """The effects of the commands that its options name."""
    row = ROWS.get(call.command.program)
    if row is None:
        return
    items = list(call.fields[1:])
    if row.needs and not any(item.text == row.needs for item in items[:3]):
        return
    for text in _texts(row, items):
        yield from call.runner.script(text, call, call.command.program)
    at = next((n for n, item in enumerate(items) if item.text in row.words), None)
    if at is not None:
        rest = [item for n, item in enumerate(items[at + 1 :]) if n or item.text != "--"]
        while rest and rest[0].text[:1] == "-":
            del rest[0]
        yield from call.runner.run(rest, call, call.command.program) if rest else ()


def _texts(row: _Row, items: list[Field]) -> Iterator[str]:
    for at, item in enumerate(items):
        name, equals, value = item.text.partition("=")
        glued = next((begin for begin in row.glued if item.text.startswith(begin)), "")
        if glued:
            yield item.text[len(glued) :]
        elif name in row.options and equals:
            yield value if item.known else UNKNOWN
        elif item.text in row.options and at + 1 < len(items):
            following = items[at + 1]
            yield following.text if following.known else ""
