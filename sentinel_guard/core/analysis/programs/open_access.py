"""Opens this machine to others: tunnels, reverse forwards, file servers over a home. argv -> effects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.analysis.programs.system import served_secrets
from sentinel_guard.core.model import Effect, Kind

TARGET = "open access"
_HELP = "** --help|-h|--version|-v, version|help|config|update|completion|login|auth|status|list|credits|diagnose"
_TERMINALS = ("ttyd", "gotty", "websocketd", "wetty", "shellinabox", "shellinaboxd", "butterfly.server.py")
TABLES: dict[str, tuple[Row, ...]] = {
    "ngrok": table(quiet=_HELP, opens="http|tcp|tls|start|tunnel|file"),
    **dict.fromkeys(("lt", "localtunnel", "zrok", "pagekite", "pagekite.py", "telebit", "pinggy", "expose",
                     "tunnelmole", "tmole"),
                    table(quiet=_HELP, opens="**, . --port|-p")),
    "cloudflared": table(quiet="tunnel list|info|login|route|create|delete, ** --help",
                         opens="tunnel --url|--hello-world, tunnel run, access"),
    "bore": table(quiet=_HELP, opens="local"),
    "tailscale": table(quiet="funnel|serve status|reset|off", opens="funnel|serve **, up|set --ssh"),
    "serveo": table(opens="**"),
    "vscode-tunnel": table(opens="**"),
    "devtunnel": table(quiet=_HELP, opens="host"),
    **dict.fromkeys(("frpc", "frps", "rathole", "wstunnel", "gost", "inlets", "inletsctl", "sish", "boringproxy"),
                    table(quiet=f"{_HELP}, verify|reload|stop", opens="**, . -c|--config|-L|-R")),
    "chisel": table(quiet=_HELP, opens="server|client"),
    **dict.fromkeys(("code", "cursor", "code-insiders", "codium"),
                    table(quiet="tunnel status|kill|unregister|user|prune", opens="tunnel|serve-web, serve-web")),
    **dict.fromkeys(("tmate", "upterm", "sshx", "teleconsole", "warp", "duckly"),
                    table(quiet="** --help|-V|--version, version|session", opens="**, host, .")),
    # a terminal, or all files, for whoever asks
    **dict.fromkeys(_TERMINALS,
                    table(quiet="** --help|--version|-h, ** -i|-a|--interface|--address|--host=127.*, "
                          "** -i|-a|--interface|--address|--host=lo*", opens="**, . --port|-p|-W")),
    "code-server": table(quiet="** --help|--version", opens="** --auth=none"),
    "filebrowser": table(quiet="config|users|hash|rules|version|cmds", opens="** --noauth, ** -a|--address=0.0.0.0"),
    **dict.fromkeys(("redis-server", "valkey-server"), table(opens="** --protected-mode=no")),
    "mongod": table(opens="** --bind_ip_all, ** --bind_ip=*0.0.0.0*"),
    **dict.fromkeys(("mysqld", "mysqld_safe", "mariadbd", "mariadbd-safe"),
                    table(opens="** --skip-grant-tables !--skip-networking")),
    "xhost": table(opens="+"),
    **dict.fromkeys(("vncserver", "Xvnc", "x11vnc", "x0vncserver", "tigervncserver"), table(
        quiet="** -localhost", opens="** -SecurityTypes=None, ** -nopw",
    )),
    "etcd": table(opens="** --listen-client-urls=http://0.0.0.0*"),
    "dockerd": table(opens="** -H|--host=tcp://*"),
    **dict.fromkeys(("kubectl", "oc"), table(opens="proxy --address=0.0.0.0, port-forward --address=0.0.0.0, "
                                             "proxy --accept-hosts|--disable-filter")),
}  # fmt: skip
"""https://ngrok.com/docs, https://github.com/fatedier/frp, https://tsl0922.github.io/ttyd, redis.io/docs, versions of
2026."""
OPTIONS = {
    "code-server": options("--auth= --bind-addr= --port="),
    "filebrowser": options("-r= --root= -a= --address= -p= --port= -d= --database= | sub"),
    **dict.fromkeys(("redis-server", "valkey-server"), options("--protected-mode= --bind= --port=")),
    "mongod": options("--bind_ip= --dbpath= --port= --config= -f="),
    **dict.fromkeys(
        ("vncserver", "Xvnc", "x0vncserver", "tigervncserver", "x11vnc"),
        options(
            "-SecurityTypes= -geometry= -depth= -rfbport= -display= -rfbauth= | words",
        ),
    ),
    "etcd": options("--listen-client-urls= --advertise-client-urls= --data-dir= --name="),
    "dockerd": options("-H= --host= --data-root= --config-file="),
    "serve": options(
        "-l= --listen= -p= -c= --config= --ssl-cert= --ssl-key= --ssl-pass= "
        "-s --single -C --cors -d --debug -L -n -u -S"
    ),
    "http-server": options(
        "-p= --port= -a= -c= -e= --ext= -P= --proxy= --proxy-options= -t= -T= --mimetypes= -C= --cert= -K= --key= "
        "--username= --password= --base-dir= -o -d -i -g -b -r -s -S -U --cors --gzip --brotli --silent --tls"
    ),
    "miniserve": options("-p= --port= -i= --interfaces= -a= --auth= --index= --title= --route-prefix= -c= -d="),
    "dufs": options("-b= --bind= -p= --port= -a= --auth= -c= --config= --path-prefix= --assets= --hidden="),
    "updog": options("-d= --directory= -p= --port= --password="),
    "caddy": options("-r= --root= -l= --listen= -d= --domain= -c= --config= -a= --adapter= -f= --from= -t= --to="),
    **dict.fromkeys(_TERMINALS, options("-i= --interface= -a= --address= --host= -p= --port= -c= --credential=")),
}
_NO_TOKEN = re.compile(
    r"--(?:(?:Notebook|Server|Identity|Password\w*)\w*\.)?(?:token|password|hashed_password)=(?:['\"]{2})?"
)
_WIDE = re.compile(
    r"(?:-b|-a|-l|--?(?:bind|host|ip|address|addr|listen|interfaces?)[= ]|tcp://)?(?:0\.0\.0\.0|\[?::\]?|\*)(?::\d+)?"
)
"""All interfaces of this machine."""
_HERE = re.compile(r"(?:.*[=/ ])?(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)(?::\d+)?")
"""This machine alone."""
_LISTENS_AT = frozenset(
    (
        *("-b", "--bind", "--bind-address", "-a", "--address", "--addr", "-l", "--listen", "-i", "--interfaces"),
        *("--interface", "-h", "--host", "--hostname", "-S", "-p"),
    )
)
"""Options whose value says to whom a server listens; in others (``--proxy``, ``--cors``) another one is named."""
_PYTHONS = ("python", "python3", "python2")
_PYTHONS_SERVER = re.compile(r"(?:.* )?-\w*m ?(?:http\.server|SimpleHTTPServer)(?: .*)?")
_SERVERS = frozenset(("http-server", "serve", "live-server", "miniserve", "updog", "dufs", "caddy", "servor"))
"""File servers that listen on all interfaces unless they are told where."""
_ROOT = ("-r", "--root", "-d", "--directory")
"""Options for the folder that is served; else it is the first operand, which a build may be yet to make."""


PROGRAMS = (
    _SERVERS
    | TABLES.keys()
    | {*_PYTHONS, "php", "ruby", "busybox", "jupyter", "jupyter-lab", "jupyter-notebook"}
    | {"docker", "podman", "nerdctl", "socat"}
)
"""All programs that are looked at here."""


def opened(call: Call) -> Iterator[Effect]:
    """What lets other machines in."""
    program = call.command.program
    if subcommand_tables.what(call, TABLES.get(program, ())) == "opens":
        yield call.effect(Kind.PRIVILEGE, TARGET)
    texts = [item.text for item in call.fields[1:]]
    if program == "socat" and any(map(_LISTENS.match, texts)):
        yield call.effect(Kind.PRIVILEGE, TARGET)
    if call.command.subcommand in ("run", "create") and _publishes_store(call):
        yield call.effect(Kind.PRIVILEGE, TARGET)
    if program.startswith("jupyter") and any(map(_NO_TOKEN.fullmatch, texts)) and _is_wide(texts):
        yield call.effect(Kind.PRIVILEGE, TARGET)
    if (program in _PYTHONS and _PYTHONS_SERVER.fullmatch(" ".join(texts))) or (program == "ruby" and "httpd" in texts):
        folders = _values(texts, "-d", "--directory")
        if program == "ruby":
            folders = [item.text for item in call.operands if item.text != "httpd" and not item.text.isdigit()][:1]
        yield from _serves(call, folders, everywhere=True, wide=bool({"0.0.0.0", "::"} & {*texts}))  # noqa: S104
    elif program == "busybox" and texts[:1] == ["httpd"]:
        yield from _serves(call, _values(texts, "-h"), everywhere=True)
    elif program == "php" and "-S" in texts:
        yield from _serves(call, _values(texts, "-t", "--docroot"), everywhere=True, wide=_is_wide(texts))
    elif program in _SERVERS:
        everywhere = program != "caddy" or texts[:1] == ["file-server"]
        given = call.parsed.values(*_ROOT) or (call.operands[:1] if program != "caddy" else [])
        if all(item.known for item in given):
            yield from _serves(call, [item.text for item in given], everywhere=everywhere, wide=_is_wide(texts))


def _values(texts: Sequence[str], *names: str) -> list[str]:
    return [after for word, after in pairwise(texts) if word in names]


_LISTENS = re.compile(r"(?i)(?:tcp|udp|openssl|sctp)[46]?-l(?:isten)?:(?!.*\bbind=(?:127\.|localhost|\[?::1))")
"""An address of socat's that takes connections from everywhere, and hands them on."""
_NO_PASSWORD = re.compile(
    r"(?i)POSTGRES_HOST_AUTH_METHOD=trust|\w*ALLOW_EMPTY_(?:ROOT_)?PASSWORD=(?:1|y|yes|true)|NEO4J_AUTH=none|"
    r"xpack\.security\.enabled=false|(?:DISABLE|PLUGINS)_SECURITY\w*=true|AUTHENTICATION_ANONYMOUS\w*=true"
)
_OPEN_STORES = re.compile(
    r"(?:[\w.:-]+/)*(?:redis|valkey|mongo|memcached|elasticsearch|cassandra|etcd|dragonfly)(?::.*)?"
)
"""Images that ask for no password unless they are told to."""


def _publishes_store(call: Call) -> bool:
    """Whether a container's store that asks for no password is published on every address, by name: ``-p 0.0.0.0:…``.

    A port alone (``-p 5432:5432``) is everyday work on a machine behind a firewall.
    """
    if not any(item.text.startswith(("0.0.0.0:", "[::]:")) for item in call.parsed.values("-p", "--publish")):
        return False
    given = call.parsed.values("-e", "--env")
    if any(_NO_PASSWORD.fullmatch(item.text) for item in given):
        return True
    image, *command = call.operands or [Field("")]
    return _OPEN_STORES.fullmatch(image.text) is not None and not any(
        "pass" in item.text.lower() for item in (*given, *command)
    )


def _is_wide(texts: list[str]) -> bool:
    return any(map(_WIDE.fullmatch, texts))


def _is_for_here(texts: Sequence[str]) -> bool:
    given = (*pairwise(texts), *(word.partition("=")[::2] for word in texts))
    return any(_HERE.fullmatch(value) for option, value in given if option in _LISTENS_AT)


def _serves(call: Call, folders: list[str], *, wide: bool = False, everywhere: bool = False) -> Iterator[Effect]:
    """A home, or a folder that holds one, is no site; nor is for all who can reach this machine what holds secrets.

    ``everywhere``: on all interfaces unless a word says where; ``wide``: on all, as a word says.
    """
    home = call.world.home
    reached = wide or (everywhere and not _is_for_here([item.text for item in call.fields[1:]]))
    for folder in folders or [call.cwd]:
        path = call.locate(folder)
        secret = wide and call.world.kind(f"{path}/.env") == "file"
        known = call.certain(folder) if folders else call.here
        if reached and known and served_secrets.are_below(call, path):
            yield call.effect(Kind.PRIVILEGE, served_secrets.TARGET)
        elif secret or (home and f"{home}/".startswith(f"{path.rstrip('/')}/")):
            yield call.effect(Kind.PRIVILEGE, TARGET)


def is_reached(words: Sequence[str]) -> bool:
    """Whether ssh is to let the other side reach a port of this one (``-R``)."""
    return any(map(_REACHED.match, words))


def forwards(words: Sequence[str]) -> bool:
    """Whether ssh is to lead a port of this machine to the other side (``-L``)."""
    return any(map(_FORWARDS.match, words))


_SWITCHES = "-[46AaCfGgKkMNnqsTtVvXxYy]*"
"""Letters that take no value, before one that does: ``-fNR``."""
_REACHED = re.compile(f"{_SWITCHES}R")
_FORWARDS = re.compile(rf"{_SWITCHES}L|(?:-o)?(?i:LocalForward)")
