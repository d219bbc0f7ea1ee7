"""Constant folding of commands: computes what ``$(echo … | base64 -d)`` prints, without running anything.

Each takes its operands and standard input and gives its standard output, or None where it is not that simple.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass

from sentinel_guard.core.analysis.expansion.compressed_text import COMPRESSIONS, bytes_of, filtered, text_of
from sentinel_guard.core.analysis.expansion.constant_filters import FILTERS
from sentinel_guard.core.analysis.parser.dollar_parser import ansi_c
from sentinel_guard.core.analysis.world import World

MAX_OUTPUT = 64 * 1024
"""Characters; more is unknown."""


@dataclass(frozen=True, slots=True)
class ProgramContext:
    """Where a program stands."""

    world: World
    cwd: str | None
    temporary: str = "/tmp"  # noqa: S108 - a default of mktemp, nothing is made there
    """Value of TMPDIR."""


def output(argv: tuple[str, ...], stdin: str, place: ProgramContext) -> str | None:
    """Standard output of a program of the table below; None for others, unusual options and over MAX_OUTPUT."""
    if not argv:
        return None
    name = posixpath.basename(argv[0])
    if name in FILTERS:
        result = FILTERS[name](argv[1:], stdin)
    else:
        program = _PROGRAMS.get(name)
        result = program(argv[1:], stdin, place) if program else None
    return None if result is None or len(result) > MAX_OUTPUT else result


# ---- writers ----


def _echo(words: tuple[str, ...], _stdin: str, _place: ProgramContext) -> str | None:
    end, escapes = "\n", False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        end = "" if "n" in words[0] else end
        escapes = {"e": True, "E": False}.get(words[0].replace("n", "")[-1:], escapes)
        words = words[1:]
    text = " ".join(words)
    if not escapes:
        return text + end
    head, cut, _ = text.partition("\\c")
    return _echo_escapes(head) + ("" if cut else end)


def _echo_escapes(text: str) -> str:
    """Of ``echo -e`` and ``%b``: an octal number begins with 0, and a quote needs no backslash."""
    return ansi_c(_ECHO.sub(lambda m: "\\" + m[1] if m[1] else f"\\\\{m[2]}" if m[2] else m[0], text))


_ECHO = re.compile(r"\\(?:0([0-7]{1,3})|(['\"?1-7]|x\{)|.)", re.DOTALL)
_CONVERSION = re.compile(r"%(?:%|([-+ #0]*\d*(?:\.\d+)?)([sbdiuxXoc]))")


def _printf(words: tuple[str, ...], _stdin: str, _place: ProgramContext) -> str | None:
    words = words[1:] if words[:1] == ("--",) else words
    if not words or words[0].startswith("-"):
        return None
    layout, values = words[0], list(words[1:])
    conversions = sum(1 for m in _CONVERSION.finditer(layout) if m.group(2))
    if len(_CONVERSION.findall(layout)) != len(re.findall(r"%%|%", layout)):
        return None
    rounds = -(-len(values) // conversions) if conversions else 1
    text = ""
    for _ in range(max(rounds, 1)):
        done = _printed(layout, values)
        if done is None or len(text) > MAX_OUTPUT:
            return None
        text += done
    return text


def _printed(layout: str, values: list[str]) -> str | None:
    """The layout once; takes what it needs from ``values``."""
    text, at = "", 0
    for match in _CONVERSION.finditer(layout):
        text += _format_escapes(layout[at : match.start()])
        at = match.end()
        done = _converted(match, values)
        if done is None:
            return None
        text += done
    return text + _format_escapes(layout[at:])


def _format_escapes(text: str) -> str:
    r"""Of printf's format, where ``\c`` and ``\x{`` are nothing special."""
    return ansi_c(
        re.sub(r"\\(c|x\{|.)", lambda m: rf"\\{m[1]}" if m[1] in ("c", "x{") else m[0], text, flags=re.DOTALL)
    )


def _integer(value: str) -> int:
    """A number as C reads it. Raises ValueError."""
    sign = -1 if value.startswith("-") else 1
    digits = value.lstrip("+-") or "0"
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    return sign * (int(digits, 8) if octal else int(digits, 0))


def _converted(match: re.Match[str], values: list[str]) -> str | None:
    flags, kind = match.groups()
    if not kind:
        return "%"
    if len(flags) > 4:
        return None
    value = values.pop(0) if values else ""
    if kind in "sbc":
        value = _echo_escapes(value) if kind == "b" else value[:1] if kind == "c" else value
        if not value.isascii() and (kind == "c" or flags):
            return None  # bytes, not characters, are counted
        return str(f"%{flags.lstrip('0+# ')}s" % value)
    if value[:1] in ("'", '"'):
        return str(f"%{flags}{kind}" % ord(value[1:2] or "\0"))
    try:
        number = _integer(value)
        return str(f"%{flags}{kind}" % (number if kind in "di" else number & (1 << 64) - 1))
    except ValueError:
        return None


# ---- filters ----


def _cat(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
    return stdin if set(words) <= {"-"} else None


def _base64(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
    options = {w for w in words if w not in ("-", "-w0", "-w", "0", "--wrap=0", "-i", "--ignore-garbage")}
    if not options:
        wrapped = base64.b64encode(bytes_of(stdin)).decode()
        unwrapped = {"-w0", "--wrap=0", "-w"} & set(words)
        return wrapped if unwrapped or not wrapped else wrapped + "\n" if len(wrapped) <= 76 else None
    if not options <= {"-d", "-D", "--decode", "-di", "-id"}:
        return None
    letters = re.sub(r"[^A-Za-z0-9+/]", "", stdin)
    return _decoded(lambda: base64.b64decode(letters + "=" * (-len(letters) % 4)))


def _openssl(words: tuple[str, ...], stdin: str, place: ProgramContext) -> str | None:
    """``openssl base64 -d``, ``openssl enc -base64 -d``."""
    plain = words[1:] if words[:1] == ("base64",) else words[2:] if words[:2] == ("enc", "-base64") else ()
    return _base64(("-d",), stdin, place) if {*plain} in ({"-d"}, {"-d", "-A"}) else None


def _type(words: tuple[str, ...], stdin: str, place: ProgramContext) -> str | None:
    return _which(words[1:], stdin, place) if words[:1] in (("-p",), ("-P",)) else None


def _base32(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
    return _decoded(lambda: base64.b32decode("".join(stdin.split()))) if set(words) & {"-d", "--decode"} else None


def _xxd(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
    if (
        not set(words) <= {"-r", "-p", "-ps", "-rp", "-pr", "-"}
        or "r" not in "".join(words)
        or "p" not in "".join(words)
    ):
        return None
    return _decoded(lambda: bytes.fromhex("".join(stdin.split())))


def _compression(name: str) -> Callable[[tuple[str, ...], str, ProgramContext], str | None]:
    return lambda words, stdin, _place: filtered(name, words, stdin)


def _decoded(decode: Callable[[], bytes]) -> str | None:
    try:
        return text_of(decode())
    except (binascii.Error, ValueError):  # what holds no text of these formats raises the latter
        return None


def _rev(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
    return None if words else "\n".join(line[::-1] for line in stdin.split("\n"))


_CLASSES = {
    "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\v\f",
    "[:blank:]": " \t",
}


def _tr(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
    if len(words) != 2 or (words[0].startswith("-") and words[0] != "-d"):
        return None
    first, second = (_characters(word) for word in words)
    if words[0] == "-d":
        return None if second is None else "".join(c for c in stdin if c not in second)
    if not first or not second:
        return None
    second += second[-1] * (len(first) - len(second))
    return stdin.translate({ord(a): b for a, b in zip(first, second, strict=False)})


def _characters(text: str) -> str | None:
    """A set of ``tr``: ranges, classes, escapes."""
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    if "[:" in text or "[=" in text or "*]" in text:
        return None
    text = _echo_escapes(text)
    return re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), text, flags=re.DOTALL)


def _cut(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
    match = re.fullmatch(r"(?:-d\0?(.)\0)?-([cbf])\0?(\d+)(?:(-)(\d*))?(?:\0-d\0?(.))?", "\0".join(words), re.DOTALL)
    if not match:
        return None
    before, kind, low, dash, high, behind = match.groups()
    start = int(low) - 1
    stop = start + 1 if not dash else int(high) if high else None
    delimiter = before or behind or "\t"
    lines = stdin.removesuffix("\n").split("\n") if stdin else []
    if kind in "cb":
        return "".join(line[start:stop] + "\n" for line in lines)
    return "".join((delimiter.join(x.split(delimiter)[start:stop]) if delimiter in x else x) + "\n" for x in lines)


def _head_or_tail(name: str) -> Callable[[tuple[str, ...], str, ProgramContext], str | None]:
    def program(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
        match = re.fullmatch(r"|-n\0?(\d+)|-(\d+)|-c\0?(\d+)|--lines=(\d+)|--bytes=(\d+)", "\0".join(words))
        if not match:
            return None
        lines, short, characters, long, size = match.groups()
        if characters or size:
            units = list(stdin)
            count = int(characters or size)
        else:
            units = stdin.splitlines(keepends=True)
            count = int(lines or short or long or 10)
        return "".join(units[:count] if name == "head" else units[max(len(units) - count, 0) :])

    return program


_SUBSTITUTE = re.compile(r"s([/|#,:@!])((?:[\w ./,:=@%+-]|\\[/.])*)\1([^\\&]*?)\1(g?)")


def _sed(words: tuple[str, ...], stdin: str, _place: ProgramContext) -> str | None:
    """``sed s/text/text/g``: no metacharacters but an escaped or lonely dot."""
    words = words[1:] if words[:1] in (("-e",), ("-E",), ("-r",)) else words
    match = _SUBSTITUTE.fullmatch(words[0]) if len(words) == 1 else None
    if not match:
        return None
    _, pattern, replacement, everywhere = match.groups()
    if "+" in pattern or match.group(1) in pattern.replace("\\" + match.group(1), ""):
        return None
    regex = re.compile(pattern.replace("\\/", "/"))
    lines = stdin.split("\n")
    return "\n".join(regex.sub(lambda _: replacement, line, count=0 if everywhere else 1) for line in lines)


# ---- paths ----


def _pwd(words: tuple[str, ...], _stdin: str, place: ProgramContext) -> str | None:
    return None if place.cwd is None or not set(words) <= {"-P", "-L"} else _resolved(place, ".", words) + "\n"


def _resolved(place: ProgramContext, path: str, words: tuple[str, ...]) -> str:
    assert place.cwd is not None
    whole = posixpath.join(place.cwd, path)
    return place.world.resolve(whole) if "-P" in words else posixpath.normpath(whole)


def _basename(words: tuple[str, ...], _stdin: str, _place: ProgramContext) -> str | None:
    words = words[1:] if words[:1] == ("--",) else words
    if not 1 <= len(words) <= 2 or words[0].startswith("-"):
        return None
    name = posixpath.basename(words[0].rstrip("/")) or words[0][:1]
    suffix = words[1] if len(words) == 2 else ""
    return (name.removesuffix(suffix) or name) + "\n"


def _dirname(words: tuple[str, ...], _stdin: str, _place: ProgramContext) -> str | None:
    words = words[1:] if words[:1] == ("--",) else words
    if len(words) != 1 or words[0].startswith("-"):
        return None
    path = words[0].rstrip("/")
    return (posixpath.dirname(path).rstrip("/") or ("/" if words[0].startswith("/") else ".")) + "\n"


def _realpath(words: tuple[str, ...], _stdin: str, place: ProgramContext) -> str | None:
    paths = [w for w in words if w not in ("-f", "-e", "-m", "-P", "--")]
    if len(paths) != 1 or paths[0].startswith("-") or (place.cwd is None and not paths[0].startswith("/")):
        return None
    return place.world.resolve(posixpath.join(place.cwd or "/", paths[0])) + "\n"


def _readlink(words: tuple[str, ...], stdin: str, place: ProgramContext) -> str | None:
    return _realpath(words, stdin, place) if set(words) & {"-f", "-e", "-m"} else None


def _which(words: tuple[str, ...], _stdin: str, place: ProgramContext) -> str | None:
    words = words[1:] if words[:1] in (("-v",), ("-p",), ("-P",)) else words
    found = place.world.which(words[0]) if len(words) == 1 and not words[0].startswith("-") else ""
    return found + "\n" if found else None


def _command(words: tuple[str, ...], stdin: str, place: ProgramContext) -> str | None:
    return _which(words, stdin, place) if words[:1] == ("-v",) else output(words, stdin, place)


_MKTEMP = re.compile(
    r"-(?P<letters>[dqut]+)|--(?:directory|quiet|dry-run|(?P<inside>tmpdir))|--(?P<name>suffix|tmpdir)=(?P<value>.*)"
)


def _mktemp(words: tuple[str, ...], _stdin: str, place: ProgramContext) -> str | None:
    """A fresh name: the template itself stands for it, as nothing is there yet."""
    joined = re.sub(r"(?:^|\0)(?:-p|--(suffix))\0", lambda m: f"\0--{m[1] or 'tmpdir'}=", "\0".join(words)).split("\0")
    options = [(word, _MKTEMP.fullmatch(word)) for word in joined if word]
    templates = [word for word, option in options if option is None]
    if len(templates) > 1 or (templates and templates[0].startswith("-")):
        return None
    given = {option["name"]: option["value"] for _, option in options if option and option["name"]}
    inside = any(option["inside"] or "t" in (option["letters"] or "") for _, option in options if option)
    template = templates[0] if templates else "tmp.XXXXXXXXXX"
    named = given.get("tmpdir", "")
    folder = place.temporary if not named and (inside or "tmpdir" in given or not templates) else place.cwd
    if folder is None or "XXX" not in template:
        return None
    return posixpath.join(folder, named, template + given.get("suffix", "")) + "\n"


def _git(words: tuple[str, ...], _stdin: str, place: ProgramContext) -> str | None:
    """``git rev-parse --show-toplevel``."""
    if words != ("rev-parse", "--show-toplevel") or place.cwd is None:
        return None
    folder = place.world.resolve(place.cwd)
    while folder != "/" and not place.world.kind(posixpath.join(folder, ".git")):
        folder = posixpath.dirname(folder)
    return folder + "\n" if folder != "/" else None


_PROGRAMS: dict[str, Callable[[tuple[str, ...], str, ProgramContext], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "base64": _base64,
    "base32": _base32,
    "openssl": _openssl,
    "type": _type,
    "xxd": _xxd,
    "rev": _rev,
    "tr": _tr,
    "cut": _cut,
    "head": _head_or_tail("head"),
    "tail": _head_or_tail("tail"),
    "sed": _sed,
    "pwd": _pwd,
    "basename": _basename,
    "dirname": _dirname,
    "realpath": _realpath,
    "readlink": _readlink,
    "which": _which,
    "command": _command,
    "builtin": output,
    "mktemp": _mktemp,
    "git": _git,
    **{name: _compression(name) for name in COMPRESSIONS},
}
READERS = frozenset(
    ("cat", "base64", "base32", "openssl", "xxd", "rev", "tr", "cut", "head", "tail", "sed", *COMPRESSIONS)
)
"""Those that print what they read on standard input."""
NAMES = frozenset((*_PROGRAMS, *FILTERS))
"""Who is in the table."""
