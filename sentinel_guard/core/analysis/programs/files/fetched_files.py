"""Files that came by network in this same text and are run, loaded or installed: ``wget x.jar && java -jar x.jar``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from sentinel_guard.core.analysis import known_publishers, network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.files.code_runners import CODE_RUNNERS, given
from sentinel_guard.core.model import Effect


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PACKAGES = re.compile(
    r".*\.(?:whl|tgz|tar\.(?:gz|xz|bz2|zst)|gem|crate|deb|rpm|nupkg|vsix|pkg|msi|apk|flatpak|snap|jar|run|box|oci)"
)
_CODE_FILES = re.compile(
    r".*\.(?:jar|war|wasm|wat|ipynb|dll|exe|phar|pyz?|pex|run|kts?|gradle|cmake|el|vim|lua|mk|groovy|sc|scala|java|rb|[cm]?[jt]s|sh"
    r"|nix|[rR]|jl|clj|edn|rkt|lisp|scm|hs|ml|go|rs|zig|nim|cr|d|tcl|tf|star|exs?|dart|swift|cs|fsx|ps1|pl|php|love|so|apk|tgz)"
)
"""Files that a runner runs or loads; data that it is given beside them is none."""
_SETTINGS = re.compile(r".*\.ya?ml")
_BY_SETTINGS = frozenset(
    ("ansible-playbook", "docker-compose", "podman-compose", "task", "go-task", "conda", "mamba", "cwltool")
)
"""To whom a YAML file says what to run."""
_INSTALLERS = _names(
    "npm npx pnpm yarn bun pip pip3 uv uvx pipx gem dpkg rpm apt apt-get dnf yum zypper pacman apk snap flatpak "
    "installer msiexec code cursor codium windsurf composer helm cargo vagrant"
)
"""They take packages alone."""
_EXECUTES = frozenset(("--execute", "execute", "run"))
_CLIENTS = ("psql", "mysql", "mariadb", "sqlcmd", "mongosh", "cqlsh", "sqlite3", "duckdb")
"""Of these only what stands in the place of a download counts."""


def _takes(call: Call, name: str) -> bool:
    """Whether a program runs, loads or installs a file of this name."""
    program = call.command.program
    if program in _INSTALLERS:
        return _PACKAGES.fullmatch(name) is not None
    if program == "go" and call.command.subcommand == "tool":
        return False  # they look at profiles and traces
    if program == "jupyter" and _EXECUTES.isdisjoint(call.command.argv):
        return False
    kinds = (_CODE_FILES, _PACKAGES, *((_SETTINGS,) if program in _BY_SETTINGS else ()))
    return program not in _CLIENTS and any(kind.fullmatch(name) for kind in kinds)


_READERS = _names(
    "sed awk gawk mawk vi vim nvim view gvim emacs emacsclient gdb lldb rr radare2 r2 rizin nmap tshark tmux"
)
"""They are given files to look at: of these only what stands in the place of code counts."""
FILE_RUNNERS = (
    (CODE_RUNNERS.keys() - _READERS)
    | _INSTALLERS
    | _BY_SETTINGS
    | {*_CLIENTS}
    | _names("clj clojure ipython love nbclient robot wazero zig go nix javaw firejail insmod")
    | _names("osascript mshta regsvr32 rundll32")
)
"""Whoever runs, loads or installs a file that it is given, wherever it stands among the words."""
_MOST = 60
"""Words of a call that are looked at."""
_DOWNLOAD = re.compile(r"<\(.*(?<![\w.-])(?:curl|wget2?|https?|xh|aria2c|fetch|axel|gh api)(?![\w-])", re.DOTALL)


_PIPED = re.compile(
    r"\b(?:curl|wget2?)\b[^\n|;&]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:\S*/)?(?:(?:ba|z|da|k)?sh|python3?|node|perl|ruby|php)\b(?!\s+-[cem]\b)[^\n]*"
    r"|(?:\b(?:(?:ba|z|da|k)?sh|source|eval|python3?|node)|(?<![\w./])\.)\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\(|`)\s*(?:curl|wget2?)\b[^\n]*"
)
_ADDRESS = re.compile(r"https?://[^\s'\"|)>;]+")


def piped_downloads(call: Call, line: str) -> Iterator[Effect]:
    """A line of the project's own that runs a script as the network gives it: ``curl https://… | sh``.

    What lies in the project is otherwise left to the shims, which see it run; this no reader of the file has ever seen.
    """
    if "curl" not in line and "wget" not in line:
        return
    for match in _PIPED.finditer(line):
        given = _ADDRESS.findall(match[0])
        if not given or not all(
            network_addresses.is_local_address(one) or known_publishers.is_installer(one) for one in given
        ):
            yield call.opaque(match[0][:200], "code")


def given_as_code(call: Call) -> Iterator[str]:
    """What was fetched and this program runs, loads or installs, each in a few words."""
    for item in call.fields[1:_MOST]:
        if _DOWNLOAD.match(item.source):
            yield "what a download gives"
        given = item.text.partition("=")[2] if item.text[:1] == "-" else item.text
        for part in given.split(":") if call.world.fetched and item.known else ():
            if _takes(call, part) and call.world.is_fetched(call.locate(part)):
                yield f"what was fetched into {part}"


# ---- clones, and files of code by their place among the words ----

ADDRESS = re.compile(
    r"(?:(?:@[\w.-]+/)?[\w.\[\],-]+ ?@ ?)?(?:(?:git|hg|svn|bzr)\+\S+|(?:https?|ssh|git|ftp)://\S+|git@[\w.-]+:\S+)"
)
HOSTED = re.compile(r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)/[\w.-]+/\S+")
SHORT = re.compile(r"(?:(?:@[\w.-]+/)?[\w.-]+@)?[A-Za-z][\w.-]*/[A-Za-z][\w.-]*(?:[#@]\S+)?")
"""``user/repo``, as npm and its kin read it, also in a version's place; a scoped package begins with ``@``."""
CLONES: dict[str, tuple[tuple[str, ...], ...]] = {
    "git": (("clone",), ("submodule", "add")), "gh": (("repo", "clone"), ("gist", "clone")),
    "glab": (("repo", "clone"),), "jj": (("git", "clone"),), "svn": (("checkout",), ("co",), ("export",)),
    **dict.fromkeys(("hg", "sl", "darcs", "pijul", "fossil", "got"), (("clone",), ("get",), ("open",))),
    **dict.fromkeys(("bzr", "brz"), (("branch",), ("checkout",), ("export",), ("clone",), ("get",))),
    **dict.fromkeys(("degit", "tiged", "giget"), ((),)),
}  # fmt: skip


_BY_OWNER = ("gh", "glab", "degit", "tiged", "giget")
"""To whom ``OWNER/NAME`` is an address."""


def add_cloned(call: Call) -> None:
    """``git clone ADDRESS [FOLDER]``: from here on the folder is fetched, and so is a clone of it."""
    words = tuple([word for word in (call.command.subcommand, *[item.text for item in call.operands[:2]]) if word])
    for verb in CLONES[call.command.program]:
        if words[: len(verb)] == verb:
            break
    else:
        return
    items = call.operands[len(verb) - bool(call.command.subcommand) :]
    if items and (call.command.program in _BY_OWNER or _is_away(call, items[0])):
        name = items[1].text if items[1:] else paths.base(items[0].text.rstrip("/")).removesuffix(".git")
        call.world.fetched.add(call.locate(name))


def _is_away(call: Call, source: Field) -> bool:
    """Whether a repository lies on another machine, or came from there in this text."""
    by_path = source.text.removeprefix("file://")
    here = by_path if by_path == source.text else unquote(by_path)  # git decodes addresses alone
    away = by_path == source.text and (ADDRESS.fullmatch(here) or paths.is_remote(here))
    return source.known and (bool(away) or call.world.is_fetched(call.locate(here)))


_IS_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://")


def code_files(call: Call) -> Iterator[str]:
    """Files of code that a program is given: an address, what a command prints, what this text fetched."""
    program = call.command.program
    for item in given(program, call.fields[1:]):
        text = item.text
        if _IS_ADDRESS.match(text) or HOSTED.fullmatch(text):
            away = not network_addresses.is_local_address(text) and not text.startswith(("file:", "docker:"))
            yield from (text,) if away else ()
        elif CODE_RUNNERS[program].short and SHORT.fullmatch(text):
            known = text.partition("/")[0].lower() in known_publishers.OWNERS or call.world.kind(call.locate(text))
            yield from () if known else (text,)
        elif text.startswith("/dev/fd/"):
            told = call.world.read(text)
            yield from ("what a command prints",) if told is None or UNKNOWN in told else ()
        elif call.is_stdin(item) and text != "-":
            yield from ("what comes by standard input",) if UNKNOWN in call.stdin else ()
        elif item.known and call.world.fetched and call.world.is_fetched(call.locate(item)):
            yield f"what was fetched: {text}"
