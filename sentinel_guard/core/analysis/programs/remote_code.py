"""Code that came by network and runs, by whatever runner: installers and package runners that are given an address.

Installing by a name from the usual registry passes. An address of a tarball or of a repository, an index that the
command itself names, and what lies in a folder that this same text fetched (``git clone … && make -C …``) are code that
nobody has seen. A folder counts as fetched with all that is below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sentinel_guard.core.analysis import known_publishers, network_addresses
from sentinel_guard.core.analysis.expansion.command_and_options import PLAIN, UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.package_runners import (
    FETCH_BESIDES,
    FROM_VARIABLES,
    NODE,
    RUNNERS,
    UNPROVED,
    UVS,
    Runner,
)
from sentinel_guard.core.analysis.programs import package_publishing
from sentinel_guard.core.analysis.programs.files.code_runners import CODE_RUNNERS
from sentinel_guard.core.analysis.programs.files.fetched_files import (
    ADDRESS,
    CLONES,
    FILE_RUNNERS,
    HOSTED,
    SHORT,
    add_cloned,
    code_files,
    given_as_code,
)

_FORGE = re.compile(r"(?:[\w.-]+@)?(?:github|gitlab|bitbucket|gist|gh|gl|bb|ubi):[\w.~/-]+\S*")
_PACKED = re.compile(r"(?:/tmp/|/var/tmp/|/dev/shm/)\S+\.(?:vsix|whl|tgz|tar\.gz|gem|crate|deb|rpm|nupkg|jar|zip)")
"""A package that lies in a temporary folder: it came from somewhere."""


_SWITCHES = (
    *("--", "-y", "--yes", "-D", "-g", "-q", "--quiet", "-U", "--frozen", "--locked", "--no-sync", "--isolated"),
    *(
        "--offline",
        "--silent",
        "--watch",
        "--hot",
        "--bun",
        "-A",
        "--no-install",
        "--no",
        "--accept-flake-config",
        "--impure",
    ),
)
"""Options without a value, behind which a package may stand."""
_VALUED = (
    *(*UVS, "--registry"),
    *("--proxy", "--https-proxy", "--publish-url", "--build-arg", "-e", "--env", "--label", "-t", "--tag"),
    "--trusted-host",
    *("--cache-from", "--cache-to", "--git"),
)
"""Options whose value is an address of something else than code."""
_STARTS = frozenset(("exec", "x", "dlx", "create", "init", "run"))
"""Behind these the first word is the package, the rest belongs to what it starts."""
_OWNER = re.compile(r"(?:(?:gh|github):|(?:git\+)?https://github\.com/)?([\w.-]+)/[\w.-]+")
"""Whose a template is, on GitHub: elsewhere the same name may be anybody's."""
_EDITORS = frozenset(("code", "cursor", "codium", "windsurf"))
_INSTALLS = re.compile(
    r"(?:^|.* )(?:\S*install\S*|(?:plugins?|extensions?|ext|skills?|shadcn|pkg|addons?|modules?)[: ](?:add|get|use)|"
    r"try-repo|install-plugin|add --repo\S*|dependency:get|archive\.install)(?: .*|$)"
)
"""First words with which any tool fetches what it will run."""
_SOURCE = re.compile(r"-?-?[\w.]+=(?=https?://)|^['\"]")
_SETTLED = frozenset(
    ("git", "curl", "wget", "docker", "podman", "kubectl", "gh", "glab", "jj", "hg", "svn", "apt-key", "gpg")
)
"""Programs whose addresses are looked at elsewhere, or whose words only sound so."""
_NO_SCRIPTS = ("--ignore-scripts", "--dry-run", "--help", "--no-build", "--only-binary")
_BUILDERS = frozenset(
    (
        *("make", "gmake", "ninja", "cmake", "npm", "pnpm", "yarn", "bun", "npx", "cargo", "go", "pip", "pip3"),
        *("uv", "poetry"),
        *("gradle", "gradlew", "mvn", "mvnw", "rake", "bundle", "composer", "just", "task", "tox", "nox"),
        *("pytest", "node"),
        *("deno", "mix", "sbt", "dotnet", "swift", "stack", "cabal", "meson", "scons", "bazel", "docker-compose"),
    )
)
"""Whoever runs what stands in the folder where it is started."""
_LOOKS = frozenset(
    ("--version", "--help", "-v", "-V", "-n", "--dry-run", "ls", "list", "view", "info", "show", "outdated", "fmt")
)
_FOLDERS = (
    "-C",
    "--directory",
    "--prefix",
    "--cwd",
    "--dir",
    "--project",
    "--manifest-path",
    "-f",
    "--file",
    "-S",
    "-B",
)
MOST = 60
"""Words of a call that are looked at."""


def sources(call: Call) -> Iterator[str]:
    """What code a call fetches and runs, or runs of what was fetched, each in a few words."""
    program = call.command.program
    if program in CLONES:
        add_cloned(call)
    if program == "go":
        yield from _go_modules(call)
    if program in CODE_RUNNERS:
        yield from code_files(call)
    if program in FILE_RUNNERS:
        yield from given_as_code(call)
    for text in addresses(program, call.fields[1:MOST]):
        if not (SHORT.fullmatch(text) and call.world.kind(call.locate(text))):
            yield text
    if call.world.fetched and program in _BUILDERS:
        looks = _LOOKS | ({"tool"} if program == "go" else set())
        yield from _from_fetched(call) if looks.isdisjoint([item.text for item in call.fields[1:4]]) else ()
    if program in ("npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv"):
        yield from _of_manifest(call)
    yield from _from_variables(call)
    yield from by_words(call)


_MODULE = re.compile(
    r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|git\.sr\.ht)/([\w.~-]+)/\S+@(?:latest|main|master|HEAD)"
)
_VANITY = re.compile(r"((?:[\w-]+\.)+[a-z]{2,})/\S+@(?:latest|main|master|HEAD)")


def _go_modules(call: Call) -> Iterator[str]:
    """``go run FORGE/OWNER/x@latest``: an address of a repository, of whatever stands there now."""
    if call.command.subcommand == "run":  # to install is asked of go's registry, which proves what it gives
        for item in call.operands[:2]:
            if match := _MODULE.fullmatch(item.text):
                known = match[1] in known_publishers.GO_OWNERS
            else:
                match = _VANITY.fullmatch(item.text)
                known = match is None or known_publishers.GO_HOSTS.fullmatch(match[1]) is not None
            if not known:
                yield item.text


def by_words(call: Call) -> Iterable[str]:
    """Addresses that any tool is told to install from: ``sf plugins install https://…``, ``--add-source https://…``."""
    program = call.command.program
    short = program in _BY_SHORT_NAMES
    if not (short or "://" in " ".join(call.command.argv[1:_LOOKED_AT])) or program in RUNNERS or program in _SETTLED:
        return ()
    return _installed(call, short=short)


def _installed(call: Call, *, short: bool) -> Iterator[str]:
    texts = [item.text for item in call.fields[1:_LOOKED_AT]]
    if _INSTALLS.match(_spoken(call, texts[:4])) is None or _LOOKS & {*texts}:
        return
    for text in texts:
        given = _SOURCE.sub("", text, count=1)
        if (short and SHORT.fullmatch(given)) or (ADDRESS.fullmatch(given) and _is_unknown(given)):
            yield given


def _spoken(call: Call, texts: Sequence[str]) -> str:
    """A program's name and its first words: no address, which may be of a page about it, and no script by its path."""
    name = () if "/" in call.fields[0].text else (call.command.program,)
    return " ".join((*name, *(text for text in texts if "://" not in text)))


def _is_unknown(text: str) -> bool:
    """Whether a word is an address, not this machine's nor that of a registry that many use, its origin proved."""
    if "://" not in text or network_addresses.is_local_address(text):
        return False
    return text.startswith("http://") or not known_publishers.REGISTRIES.fullmatch(network_addresses.host(text))


_BY_SHORT_NAMES = frozenset(("skills", "shadcn"))
"""To whom ``OWNER/NAME`` is an address, beside those that a row names."""
_LOOKED_AT = 16
"""Words among which an address stands."""


def _from_variables(call: Call) -> Iterator[str]:
    """An index that this text itself put into the installer's variable, where it fetches something."""
    program = call.command.program
    names = FROM_VARIABLES.get(program, ())
    for name, value in UNPROVED.get(program, ()):
        held = call.scope.variables.get(name) if name in call.scope.variables else None
        if held and re.fullmatch(value, held[0]) and _fetches(call):
            yield f"packages whose origin is not proved: {name}"
    if not (call.scope.variables.keys() & names and _fetches(call)):
        return
    for name in names:
        values = call.scope.variables.get(name) or ()
        if any(_is_unknown(part) for value in values for part in re.split(r"[,|\s]", value)):
            yield f"an index: {name}"


def _fetches(call: Call) -> bool:
    """Whether an installer's verb is one that takes something from an index."""
    row = RUNNERS.get(call.command.program, Runner())
    verbs = (*row.verbs, *FETCH_BESIDES.get(call.command.program, ()))
    spoken = [call.command.subcommand, *(item.text for item in call.operands[:2])]
    bare = call.command.program == "yarn" and not any(spoken)
    return not verbs or bare or any(word in verbs for word in spoken)


PROGRAMS = frozenset((*RUNNERS, *_BUILDERS, "go", *CLONES, *FILE_RUNNERS, *CODE_RUNNERS))
"""All programs that are looked at here."""


_ENGINES = frozenset(("docker", "podman", "docker-compose", "podman-compose"))


def addresses(program: str, words: Sequence[Field]) -> Iterator[str]:
    """Addresses among the words of an installer or a package runner, and indexes that it is pointed to."""
    row = RUNNERS.get(program)
    if row is None:
        return
    texts = _without_pairs([item.text for item in words])
    if program in _ENGINES and (behind := next((at for at, text in enumerate(texts) if text in ("exec", "run")), 0)):
        del texts[behind:]  # ``docker compose exec SERVICE COMMAND``: the command is followed by itself
    if any(text.partition("=")[0] in _NO_SCRIPTS for text in texts):
        return
    if program == "helm" and texts[:2] == ["repo", "add"]:
        return  # charts that a later install names
    if texts[:2] in (["config", "set"], ["config", "--set"], ["set", "registry"]):
        yield from (f"an index: {text}" for text in map(_setting, texts[2:]) if _is_unknown(text))
        if _names_shell(texts[2:]):
            yield "a program in the place of the shell"
        if "strict-ssl" in " ".join(texts) and "false" in " ".join(texts):
            yield "packages whose origin is not proved"
        return
    if row.verbs and not (texts[:1] and texts[0] in row.verbs) and not any(text in row.verbs for text in texts[:4]):
        return
    yield from (f"an index: {text}" for text in _indexes(program, row, texts))
    short = row.short and not (program == "bun" and texts[:1] == ["run"])
    for text in _packages(program, row, texts):
        if program in _EDITORS and (_PACKED.fullmatch(text) or _is_stranger(text, known_publishers.PUBLISHERS, ".")):
            yield text
        tapped = "tap" in texts[:1] or text.count("/") > 1  # brew install OWNER/TAP/NAME taps, too
        if program == "brew" and tapped and _is_stranger(text, known_publishers.TAPS, "/"):
            yield text
        plain = ".." not in text.split("/")  # it leaves its owner
        if plain and known_publishers.passes(program, text):
            continue
        known = known_publishers.OF_TOOLS.get(program)
        if plain and known and (match := _OWNER.match(text)) and match[1] in known:
            continue
        if row.hosted and HOSTED.match(text.removeprefix("git::").removeprefix("https://")):
            yield text
        if not (_FORGE.fullmatch(text) or ADDRESS.fullmatch(text) or (short and SHORT.fullmatch(text))):
            continue
        if not network_addresses.is_local_address(re.sub(r"^(?:[\w.-]+ ?@ ?)?\w+\+", "", text)):
            yield text


_PAIRS = frozenset(("--option", "--arg", "--argstr", "--override-input", "--override-flake"))
"""Options of nix with a name and a value."""


def _without_pairs(texts: list[str]) -> list[str]:
    for at in range(len(texts) - 1, -1, -1):
        if texts[at] in _PAIRS:
            del texts[at : at + 3]
    return texts


_PROGRAM_SETTINGS = re.compile(r"(?:script-shell|shell|node-options|init-module|onload-script|git)(?:=.*)?")
_SHELLS = re.compile(r"(?:/(?:usr/)?bin/)?(?:ba|z|da|k)?sh|(?:pwsh|powershell|cmd)(?:\.exe)?|git")


def _names_shell(texts: Sequence[str]) -> bool:
    """Whether a setting of a package manager names a program that is no shell: ``script-shell /tmp/x``."""
    words = [part for text in texts for part in text.split("=", 1)]
    return bool(words and _PROGRAM_SETTINGS.fullmatch(words[0])) and not any(map(_SHELLS.fullmatch, words[1:]))


def _is_stranger(text: str, known: frozenset[str], mark: str) -> bool:
    """Whether a name is of an owner whom not everybody knows."""
    owner, found, _ = text.partition(mark)
    return bool(found) and text[:1] not in "./~" and owner.lower() not in known


def _packages(program: str, row: Runner, texts: Sequence[str]) -> Iterator[str]:
    at = _run_at(program, row, texts)
    own = _own(program, at, texts)
    yield from (b for a, b in pairwise(own) if a in row.options)
    yield from (text.partition("=")[2] for text in own if text.partition("=")[0] in row.options and "=" in text)
    if at is not None and row.plain:
        unnamed = at and texts[at - 1][:1] == "-" and texts[at - 1] not in _SWITCHES
        yield from texts[at : at + 1 + bool(unnamed)]  # it may be that option's value
    elif row.plain:
        plain = [b for a, b in pairwise(("", *texts)) if b[:1] != "-" and _stands_free(a, b, row)]
        yield from plain[1:] if plain and plain[0] in row.verbs else plain


def _run_at(program: str, row: Runner, texts: Sequence[str]) -> int | None:
    """Where the word stands that is run, what follows being its own; None for an installer."""
    own = package_publishing.OPTIONS.get(program, PLAIN).values
    valued = {*row.options, *row.indexes, *_VALUED, *_FOLDERS, *own, "-p", "--python", "--extra", "--group"}
    plain = [n for n, (a, b) in enumerate(pairwise(("", *texts))) if b[:1] != "-" and a not in valued]
    first = texts[plain[0]] if plain else ""
    starts = row.first and not row.verbs and first in _STARTS
    if not (row.first or (first in row.verbs and first in _STARTS)):
        return None
    return next(iter(plain[starts or first in row.verbs :]), len(texts))


def _own(program: str, at: int | None, texts: Sequence[str]) -> Sequence[str]:
    """The words that are a runner's own; npm has options up to ``--``, whatever it runs."""
    if at is None or program == "npm":
        return texts[: texts.index("--")] if "--" in texts else texts
    return texts[:at]


def _stands_free(before: str, word: str, row: Runner) -> bool:
    """Whether a word is no option's value."""
    if before[:1] != "-" or before in _SWITCHES:
        return True
    valued = before in _VALUED or before in row.indexes
    return not valued and any(kind.fullmatch(word) for kind in (ADDRESS, _FORGE, HOSTED))


def _indexes(program: str, row: Runner, texts: Sequence[str]) -> Iterator[str]:
    """Indexes that options name; those behind what is run are for that (``uv run app.py --url https://…``)."""
    own = _own(program, _run_at(program, row, texts), texts) if row.indexes else ()
    named = [b for a, b in pairwise(own) if a in row.indexes]
    named += [text.partition("=")[2] for text in own if text.partition("=")[0] in row.indexes]
    for text in named:
        found = _QUOTED_ADDRESS.search(text) if text[:1] == "{" else None
        yield from filter(_is_unknown, (found[1] if found else text,))


_QUOTED_ADDRESS = re.compile(r"\"((?:https?|git|ssh)://[^\"]+)\"")
"""The address in an index that is told as JSON: ``{"type": "vcs", "url": "https://…"}``."""


def _setting(text: str) -> str:
    """The value of ``registry=https://…``, or the word itself."""
    name, equals, value = text.partition("=")
    return value if equals and "://" not in name else text


def _from_fetched(call: Call) -> Iterator[str]:
    texts = [item.text for item in call.fields[1:MOST]]
    given = [b for a, b in pairwise(texts) if a in _FOLDERS]
    given += [text.partition("=")[2] for text in texts if text.partition("=")[0] in _FOLDERS and "=" in text]
    given += [text for text in texts if text[:1] in "./" and text[:1]]
    places = [call.cwd, *(call.locate(text) for text in given)]
    if any(call.world.is_fetched(place) for place in places):
        yield f"what was fetched into {next(p for p in places if call.world.is_fetched(p))}"


def _of_manifest(call: Call) -> Iterator[str]:
    """Addresses in a manifest or a list of requirements that this text wrote itself."""
    made = call.world.made()
    verb = call.command.subcommand or (call.operands[0].text if call.operands else "")
    if not made or verb not in (*NODE, "sync"):
        return
    names = [b.text for a, b in pairwise(call.fields) if a.text in ("-r", "--requirement")]
    for path in [call.locate("package.json"), *(call.locate(name) for name in names)]:
        text = call.world.read(path) if path in made else None
        for spec in _specs(text.replace(UNKNOWN, "")) if text else ():
            if _FORGE.fullmatch(spec) or ADDRESS.fullmatch(spec):
                yield spec


def _specs(text: str) -> Iterable[str]:
    try:
        package = json.loads(text, strict=False)
    except ValueError:
        return [line.strip() for line in text.splitlines()]
    groups = [value for key, value in package.items() if "ependencies" in key] if isinstance(package, dict) else []
    return [spec for group in groups if isinstance(group, dict) for spec in group.values() if isinstance(spec, str)]
