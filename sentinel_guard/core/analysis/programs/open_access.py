"""Opens this machine to others: tunnels, reverse forwards, file servers over a home. argv -> effects."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.model import Effect, Kind

TARGET = "open access"
_HELP = "** --help|-h|--version|-v, version|help|config|update|completion|login|auth|status|list|credits|diagnose"
TABLES: dict[str, tuple[Row, ...]] = {
    "ngrok": table(quiet=_HELP, opens="http|tcp|tls|start|tunnel|file"),
    **dict.fromkeys(("lt", "localtunnel", "zrok", "pagekite", "pagekite.py", "telebit", "pinggy", "expose",
                     "tunnelmole", "tmole"),
                    table(quiet=_HELP, opens="**, . --port|-p")),
    "cloudflared": table(quiet="tunnel list|info|login|route|create|delete, ** --help",
                         opens="tunnel --url|--hello-world, tunnel run, access"),
    "bore": table(quiet=_HELP, opens="local"),
    "tailscale": table(quiet="funnel|serve status|reset|off", opens="funnel|serve **"),
    "serveo": table(opens="**"),
    "vscode-tunnel": table(opens="**"),
    "devtunnel": table(quiet=_HELP, opens="host"),
}  # fmt: skip
_SERVERS = frozenset(("http-server", "serve", "live-server", "miniserve", "updog", "dufs", "caddy", "servor", "sirv"))


def opened(call: Call) -> Iterator[Effect]:
    """What lets other machines in."""
    program = call.command.program
    if subcommand_tables.what(call, TABLES.get(program, ())) == "opens":
        yield call.effect(Kind.PRIVILEGE, TARGET)
    texts = [item.text for item in call.fields[1:]]
    if program in ("python", "python3", "python2") and texts[:2] == ["-m", "http.server"]:
        yield from _serves(call, [b for a, b in pairwise(texts) if a in ("-d", "--directory")])
    elif program in _SERVERS or (program == "php" and "-S" in texts):
        yield from _serves(call, [text for text in texts if text[:1] in "/~." and len(text) > 0])


def _serves(call: Call, folders: list[str]) -> Iterator[Effect]:
    """A home, or a folder that holds one, is no site."""
    home = call.world.home
    for folder in folders or [call.cwd]:
        path = call.locate(folder)
        if home and f"{home}/".startswith(f"{path.rstrip('/')}/"):
            yield call.effect(Kind.PRIVILEGE, TARGET)


def forwards(words: list[str]) -> bool:
    """Whether ssh is to let the other side reach a port of this one (``-R``)."""
    return any(word == "-R" or (word.startswith("-R") and len(word) > 2) for word in words)
