"""PowerShell scripts -> effects: statements, pipelines, constants, and the cmdlets that delete, write or run."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sentinel_guard.core.analysis.expansion.command_and_options import MAX_SCRIPT, UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.cmd_shell import unix_path
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    UNRESOLVED,
    abstract,
    constant,
    environment,
    expanded,
    text_of,
)
from sentinel_guard.core.analysis.languages.shared.program_values import field as argument
from sentinel_guard.core.analysis.programs.system import windows_tools
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|`\n|<\#.*?(?:\#>|\Z)|(?<![\w])\#[^\n]*)
      |(?P<raw>@'\n.*?(?:\n'@|\Z)|'(?:[^']|'')*(?:'|\Z))
      |(?P<rich>@"\n.*?(?:\n"@|\Z)|"(?:[^"`]|`.|"")*(?:"|\Z))
      |(?P<variable>\$(?:\{[^}]*\}|(?:env:)?\w+))
      |(?P<end>\|\||&&|[;\n|{}()&,]|@\(|@\{|\$\()
      |(?P<type>\[[\w.\[\]]+\]::\w+)
      |(?P<word>[^\s;|{}(),'"$`]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_INSIDE = re.compile(r"\$(?:\{([^}]*)\}|((?:env:)?\w+)|\([^)]*\))|`(.)", re.DOTALL)

_ALIASES = {
    **dict.fromkeys(("ri", "rm", "rmdir", "del", "erase", "rd"), "remove-item"), "clc": "clear-content",
    "sc": "set-content", "ac": "add-content", **dict.fromkeys(("mi", "mv", "move"), "move-item"),
    **dict.fromkeys(("rni", "ren"), "rename-item"), **dict.fromkeys(("cpi", "cp", "copy"), "copy-item"),
    "ni": "new-item", **dict.fromkeys(("gc", "cat", "type"), "get-content"), "iex": "invoke-expression",
    **dict.fromkeys(("saps", "start"), "start-process"), **dict.fromkeys(("spps", "kill"), "stop-process"),
    **dict.fromkeys(("iwr", "curl", "wget"), "invoke-webrequest"), "irm": "invoke-restmethod",
    **dict.fromkeys(("gci", "ls", "dir"), "get-childitem"), "gi": "get-item", "tee": "tee-object",
}  # fmt: skip
_ROWS = {
    "remove-item": "delete-all", "clear-content": "write truncate", "set-content": "write truncate",
    "add-content": "write append", "out-file": "write truncate", "tee-object": "write truncate",
    "export-csv": "write truncate", "move-item": "move", "rename-item": "move", "copy-item": "copy",
    "new-item": "write append", "get-content": "read", "start-process": "argv", "clear-item": "write truncate",
    "invoke-expression": "eval", "stop-process": "signal", "invoke-webrequest": "network",
    "invoke-restmethod": "network", "import-csv": "read", "set-acl": "write mode",
    "[system.io.file]::delete": "delete", "[io.file]::delete": "delete", "[io.directory]::delete": "delete recursive",
    "[system.io.directory]::delete": "delete recursive", "[io.file]::writealltext": "write truncate",
    "[system.io.file]::writealltext": "write truncate", "[io.file]::move": "move", "[system.io.file]::move": "move",
    "[diagnostics.process]::start": "argv", "[system.diagnostics.process]::start": "argv",
}  # fmt: skip
_POWER = ("stop-computer", "restart-computer")
_DISKS = ("format-volume", "clear-disk", "initialize-disk", "remove-partition", "new-partition")
_LOSES = re.compile(r"(?:remove|clear|uninstall|unregister|revoke|reset|disable|unpublish|dismount)-(?P<noun>\w+)")
"""The verbs of PowerShell (its Approved Verbs) by which something is lost."""
_OF_ITS_OWN = frozenset(
    ("variable", "host", "history", "module", "job", "event", "alias", "psdrive", "pssession", "psbreakpoint",
     "typedata", "eventsubscriber", "function", "bindings", "psreadlinekeyhandler", "formatdata")
)  # fmt: skip
"""Nouns of its own session: nothing else is lost with them."""
_STARTS = re.compile(r"(?i)\\(?:Run|RunOnce|RunServices|Winlogon)(?:\\|$)")
"""Keys of the registry whose programs Windows starts by itself."""
_GUARDS = re.compile(
    r"(?:set|new|add|remove|disable|enable)-(?P<what>netfirewall\w+|mppreference|bitlocker\w*|windowsoptionalfeature)"
)
_SERVICES = re.compile(r"(?:stop|suspend|set|remove)-service")
_ACCOUNTS = re.compile(r"(?:new|set|add|remove|enable|disable|rename)-(?:local|ad)(?:user|group|groupmember)")
_BY_ITSELF = frozenset(("register-scheduledtask", "register-scheduledjob", "set-scheduledtask", "new-service"))
_PATHS = ("-path", "-literalpath", "-filepath", "-lp", "-pspath", "-command", "-uri", "-id", "-name", "-outfile")
_TAKES = (
    "-value", "-encoding", "-filter", "-include", "-exclude", "-itemtype", "-type", "-depth", "-width", "-method",
    "-headers", "-body", "-delimiter", "-erroraction", "-ea", "-driveletter", "-filesystem", "-number", "-verb",
    "-stream", "-inputobject",
)  # fmt: skip
_NOTHING = frozenset(
    [
        "if",
        "else",
        "elseif",
        "foreach",
        "for",
        "while",
        "do",
        "switch",
        "try",
        "catch",
        "finally",
        "function",
        "param",
        "return",
        "throw",
        "in",
        "break",
        "continue",
        "exit",
        "begin",
        "process",
        "end",
        "default",
    ]
)
_MAX_TOKENS = 20_000


@dataclass(slots=True)
class _Stage:
    """A command and its arguments, as they come together."""

    words: list[object] = field(default_factory=list)
    bare: list[bool] = field(default_factory=list)
    """Which of them stand without quotes, so that they may be a parameter."""


class _Script:
    def __init__(self, text: str, deeds: EffectCollector) -> None:
        self.deeds = deeds
        self.text = text
        self.names: dict[str, object] = {}
        self.piped: list[object] = []

    def read(self) -> None:
        stage, count, assigns = _Stage(), 0, ""
        behind = -1
        """Where a variable ends that a path may go on behind."""
        for match in _TOKEN.finditer(self.text):
            kind, text, count = match.lastgroup or "", match[0], count + 1
            if count > _MAX_TOKENS:
                self.deeds.opaque("a PowerShell text of this length", "parse")
                break
            if kind == "space" or text == ",":
                continue
            if kind == "word" and text[0] in "\\/" and match.start() == behind and stage.words:
                if (folder := constant(stage.words[-1])) is not None:
                    stage.words[-1] = folder + text
                continue
            behind = match.end() if kind == "variable" else -1
            if kind == "end":
                assigns = self._finish(stage, text, assigns)
                stage = _Stage()
            elif kind == "word" and text in ("=", "+=") and len(stage.words) == 1:
                assigns, stage = text_of(stage.words[0]), _Stage()
            elif kind == "variable" and not stage.words and re.match(r"\s*=[^=]", self.text[match.end() :][:20]):
                stage.words.append(text[1:].lower())
                stage.bare.append(False)
            else:
                stage.words.append(self._value(kind, text))
                stage.bare.append(kind in ("word", "type"))
        self._finish(stage, ";", assigns)

    def _value(self, kind: str, text: str) -> object:
        if kind == "raw":
            return text[2:-2].strip("\n") if text.startswith("@") else text[1:].removesuffix("'").replace("''", "'")
        if kind == "rich":
            inner = text[2:-2].strip("\n") if text.startswith("@") else text[1:].removesuffix('"')
            return _INSIDE.sub(lambda m: m[3] or text_of(self._variable(m[1] or m[2] or "")), inner)
        if kind == "variable":
            return self._variable(text[1:].strip("{}"))
        return text

    def _variable(self, name: str) -> object:
        name = name.lower()
        if name in self.names:
            return self.names[name]
        if name in ("home", "env:home", "env:userprofile"):
            return self.deeds.call.world.home
        if name in ("pwd", "psscriptroot"):
            return self.deeds.call.cwd
        return environment(self.deeds.call, name[4:].upper()) if name.startswith("env:") else UNRESOLVED

    def _finish(self, stage: _Stage, end: str, assigns: str) -> str:
        """A command is complete. Gives the variable that still waits for a value."""
        if assigns and stage.words:
            self.names[assigns] = stage.words[0] if len(stage.words) == 1 else UNRESOLVED
            return ""
        if stage.words and not (stage.bare[0] and text_of(stage.words[0]).lower() in _NOTHING):
            if end == "(" and "::" in text_of(stage.words[0]):
                self.pending = text_of(stage.words[0]).lower()
                return ""
            if getattr(self, "pending", "") and end == ")":
                self.deeds.do(_ROWS.get(self.pending, "read 99"), stage.words)
            else:
                self._command(stage)
        self.pending = ""
        flags = [text_of(w).lower() for w in stage.words[1:]]
        self.listed = end == "|" and (self.listed or any(f.startswith("-rec") or f == "-r" for f in flags))
        self.piped = [w for w in stage.words[1:] if not text_of(w).startswith("-")] if end == "|" else []
        return assigns if end in ("(", "@(", "$(") else ""

    pending = ""
    listed = False
    """What comes by the pipe is a listing of folders and all below, by a filter."""

    def _command(self, stage: _Stage) -> None:
        first = text_of(stage.words[0])
        name = _ALIASES.get(first.lower(), first.lower()).removesuffix(".exe")
        if name == "foreach-object" or not stage.bare[0]:
            return
        operands, flags = self._parameters(stage)
        call = self.deeds.call
        if name in _POWER:
            self.deeds.effects.append(call.effect(Kind.PRIVILEGE, "power"))
        elif name in _DISKS:
            self.deeds.effects.append(call.effect(Kind.WRITE, "/dev/disk", "mkfs"))
        elif self._administers(name, stage, operands, flags):
            return
        elif name == "stop-process" and not operands:
            self._do(name, _ROWS[name], operands)
            self._ends(self.piped)
        elif name.endswith("itemproperty") and any(_STARTS.search(text_of(word)) for word in operands):
            self.deeds.opaque("what runs by itself", "code")
        elif name in _ROWS:
            how = (
                " recursive"
                if name == "remove-item" and any("-recurse".startswith(f) and len(f) > 1 for f in flags)
                else ""
            )
            how += " force" if how and any("-force".startswith(f) and len(f) > 2 for f in flags) else ""
            self._do(name, f"{_ROWS[name]}{how}{self._sent(stage) if _ROWS[name] == 'network' else ''}", operands)
        elif found := _GUARDS.fullmatch(name):
            what = "firewall" if found["what"].startswith("netfirewall") else "security"
            self.deeds.effects.append(call.effect(Kind.PRIVILEGE, what))
        elif (found := _LOSES.fullmatch(name)) and found["noun"] not in _OF_ITS_OWN and "-whatif" not in flags:
            self.deeds.effects.append(call.effect(Kind.DEPLOY, first, "delete", sure=False))
        elif not re.fullmatch(r"[a-z]+-[a-z]+", name) and re.fullmatch(r"[\w./~+-]+", first):
            self._external(stage)

    def _administers(self, name: str, stage: _Stage, operands: list[object], flags: list[str]) -> bool:
        """Services, accounts, tasks, certificates and processes: whether it is one of these."""
        call, words = self.deeds.call, [text_of(word).lower() for word in stage.words]
        signals = [call.effect(Kind.SIGNAL, text_of(word), "force") for word in operands[:1]]
        if _SERVICES.fullmatch(name):
            if "-whatif" not in flags and (name != "set-service" or "disabled" in words):
                self.deeds.effects += [*signals, call.effect(Kind.PRIVILEGE, "service")]
        elif _ACCOUNTS.fullmatch(name):
            self.deeds.effects.append(call.effect(Kind.PRIVILEGE, "users"))
        elif name in _BY_ITSELF:
            self.deeds.opaque("what runs by itself", "code")
        elif name.startswith("import-") and "certificate" in name and any("root" in word for word in words):
            self.deeds.effects.append(call.effect(Kind.PRIVILEGE, "security"))
        elif name == "stop-process" and "-name" in flags:
            self.deeds.effects += signals
            self._ends(operands)
        else:
            return False
        return True

    def _ends(self, names: list[object]) -> None:
        for word in names:
            self.deeds.effects += windows_tools.ends_shared(self.deeds.call, text_of(word))

    def _sent(self, stage: _Stage) -> str:
        """Whether a request sends a body; the file that it is in is read."""
        words = [text_of(word).lower() for word in stage.words]
        for word, after in zip(words, stage.words[1:], strict=False):
            if word == "-infile":
                self.deeds.effects += self.deeds.call.read(argument(after))
        return " data" if {"-infile", "-body", "-form"} & {*words} else ""

    def _external(self, stage: _Stage) -> None:
        fields = [argument(word) for word in stage.words]
        self.deeds.effects += self.deeds.call.runner.run(fields, self.deeds.call, self.deeds.call.command.program)

    def _do(self, name: str, row: str, operands: list[object]) -> None:
        given = operands or self.piped
        home = self.deeds.call.world.home
        values = [expanded(unix_path(v), home) if isinstance(v, str) else v for v in given]
        if name == "remove-item" and not operands and self.listed:
            self.deeds.opaque("what a recursive listing gives", "delete")
        elif name == "remove-item":
            self.deeds.delete_all(values or [UNRESOLVED], row.split()[1:], {})
        elif name in ("set-content", "add-content", "out-file", "new-item"):
            self.deeds.do(row, values[:1])
        elif name == "start-process":
            self.deeds.start(values)
        elif values:
            self.deeds.do(row, values)

    @staticmethod
    def _parameters(stage: _Stage) -> tuple[list[object], list[str]]:
        operands: list[object] = []
        flags: list[str] = []
        skip = False
        for word, bare in zip(stage.words[1:], stage.bare[1:], strict=True):
            text = text_of(word).lower()
            if skip:
                skip = False
            elif bare and text.startswith("-") and len(text) > 1:
                flags.append(text.rstrip(":"))
                skip = text in _TAKES
            elif not (bare and text in (">", ">>", "2>&1")):
                operands.append(word)
        return operands, flags


def powershell(call: Call) -> Effects:
    """``-Command TEXT``, ``-EncodedCommand BASE64``, ``-File SCRIPT``, or the text on standard input."""
    deeds = EffectCollector(call, lambda inner, text: _Script(text, inner).read())
    words = list(call.fields[1:])
    while words:
        item = words.pop(0)
        name = item.text.lower()
        if name in ("-c", "-command", "/c"):
            _text(deeds, words)
            break
        if name in ("-e", "-ec", "-enc", "-encodedcommand", "-encoded") and words:
            deeds.run_text(_decoded(words.pop(0)))
        elif name in ("-f", "-file") and words:
            yield from _script(call, words[0])
            break
        elif name in _VALUES and words:
            words.pop(0)
        elif not name.startswith("-"):
            if name.endswith(".ps1"):
                yield from _script(call, item)
            else:
                _text(deeds, [item, *words])
            break
    else:
        if call.stdin:
            _text(deeds, [Field(call.stdin, UNKNOWN not in call.stdin)])
    yield from deeds.effects


_VALUES = ("-executionpolicy", "-ep", "-ex", "-workingdirectory", "-wd", "-version", "-windowstyle", "-w",
"-inputformat",
           "-outputformat", "-configurationname", "-settingsfile", "-psconsolefile")  # fmt: skip


def _text(deeds: EffectCollector, words: list[Field]) -> None:
    if words and words[0].text == "-":
        words = [Field(deeds.call.stdin, UNKNOWN not in deeds.call.stdin)]
    text = " ".join(abstract(deeds.call, item) for item in words)[:MAX_SCRIPT]
    if text.strip() == UNKNOWN or text.startswith((f"& {UNKNOWN}", f"iex {UNKNOWN}")):
        deeds.opaque(text, "code")
    deeds.run_text(text)


def _script(call: Call, item: Field) -> Iterator[Effect]:
    """A script on disk."""
    yield from call.read(item)
    text = call.script_text(call.locate(item)) if item.known else None
    if text is not None:
        deeds = EffectCollector(call, lambda inner, code: _Script(code, inner).read())
        deeds.run_text(text)
        yield from (e for e in deeds.effects if e.kind is not Kind.OPAQUE)


def _decoded(item: Field) -> str:
    try:
        return base64.b64decode(item.text + "=" * (-len(item.text) % 4)).decode("utf-16-le", "replace")
    except (ValueError, binascii.Error):
        return ""


def cmdlet(call: Call) -> Effects:
    """A cmdlet that stands in a text for another shell."""
    text = " ".join("'" + f.text.replace("'", "''") + "'" if " " in f.text else f.text for f in call.fields)
    deeds = EffectCollector(call, lambda inner, code: _Script(code, inner).read())
    deeds.run_text(text)
    return deeds.effects


_OPTIONS = options("-Command= -c= -File= -ExecutionPolicy= -EncodedCommand= | words")
OPTIONS = {"pwsh": _OPTIONS, "powershell": _OPTIONS, "Remove-Item": options("-Path= -LiteralPath= | words")}
PROGRAMS = {"pwsh": powershell, "powershell": powershell, "Remove-Item": cmdlet}  # fmt: skip
