"""Guesses for programs without a table: files among the operands may be read, the file behind ``-o`` is written.

``prettier --write .env``, ``pandoc -o .env x.md``: a table of all programs there are would never be whole. What is said
here is a guess, so that it can be asked about and never be more; behind options that name a file of settings
(``--env-file .env``) nothing is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import remote_commands, service_requests
from sentinel_guard.core.analysis.programs.files import generators
from sentinel_guard.core.model import Effect, Kind

OPERANDS = 50
"""Words that are looked at."""

_OUTPUT = re.compile(r"-o|--?out(?:put|file|put-file|-file)?|-keyout|--dest(?:ination)?|--save(?:-to)?|--write-to")
_SETTINGS = re.compile(r"-{1,2}\S*(?:env|conf|secret|vars?|setting|cred|key|cert|identity|password)\S*|-[eFk]")
"""Options whose file is loaded, not shown."""
_LEAVES_OUT = re.compile(
    r"--(?!no-)(?:[a-z]+-)?(?:exclude|ignore|skip|omit|except)(?:-(?:pattern|path|dir|file|glob|from|folder)s?)?"
)
"""Options whose value is what a program does not look at, or where that stands."""
_TEXTS = re.compile(r"-c|-e|--exec|--execute|--wrap|--command|--run")
"""Options whose value may be a command, where it has more than one word."""
_COMMANDS = re.compile(
    r"(?:terraform|tofu|terragrunt|pulumi|kubectl|helm|aws|gcloud|az|ansible(?:-playbook)?|cdk)\s+\S"
)
"""A word that is a command of a platform's: whoever is given it starts it there (``spacectl stack task "…"``)."""
_FINDERS = frozenset(("ag", "ack", "ugrep", "ug", "pt", "sift", "ast-grep", "sg", "semgrep", "yq", "git-grep"))
"""Behind ``-e`` they have a pattern."""
_GLUED = re.compile(r"-o(?=[.~/]|\w+/)")
"""The file stands right behind the letter."""
_SPEAK_OF = frozenset(
    (
        *("echo", "printf", "pwd", "which", "whereis", "basename", "dirname", "realpath", "readlink", "true", "false"),
        *("test", "[", "expr", "seq", "sleep", "date", "mktemp", "man", "tldr", "type", "code", "cursor"),
        *("subl", "direnv"),
    )
)
"""They take words, or open a window for the person."""
_LISTS = frozenset(("ls", "dir", "vdir", "stat", "du", "df"))
"""All their words are names of files, whatever they say."""


def unknown(call: Call) -> Iterator[Effect]:
    """Guesses; see above."""
    if call.command.program in _SPEAK_OF:
        return
    if call.command.program in _LISTS:
        for item in call.fields[1 : OPERANDS + 1]:
            if item.known and item.text[:1] != "-" and call.world.kind(call.locate(item)) == "file":
                yield from call.read(item)
        return
    told = bool(call.stdin) or any(map(_tells, (call.command.program, *call.command.argv[1:])))
    if told or _UNTOLD.search(call.command.program):
        yield from _lost(call)
    if len(call.fields) == 1:
        return
    if call.command.flags:
        yield from _inplace(call)
    yield from hands_on(call)
    if (writes := generators.PROGRAMS.get(call.command.program)) is not None:
        yield from writes(call)
    elif call.command.program.startswith("create-"):
        yield from generators.created(call)
    if told:
        yield from remote_commands.told_by_words(call, there=False)
    before = ""
    for item in call.fields[1 : OPERANDS + 1]:
        name, equals, value = item.text.partition("=")
        if item.text[:1] == "-":
            if equals and _OUTPUT.fullmatch(name):
                yield from call.write(Field(value, item.known), "truncate")
            elif glued := _GLUED.match(item.text):
                yield from call.write(Field(item.text[glued.end() :], item.known), "truncate")
            elif equals and _TEXTS.fullmatch(name):
                yield from _text(call, Field(value, item.known))
            before = "" if equals else item.text
            continue
        if before and _OUTPUT.fullmatch(before):
            yield from call.write(item, "truncate") if item.known else ()
        elif (before and _TEXTS.fullmatch(before) and " " in item.text.strip()) or _COMMANDS.match(item.text):
            yield from _text(call, item)
        elif item.known and not (before and (_loads(call, before) or _LEAVES_OUT.fullmatch(before))):
            yield from call.read(item) if call.world.kind(call.locate(item)) == "file" else ()
        before = ""


_UNTOLD = re.compile(r"[-_:]")
"""In names of programs that may say what they lose."""


@lru_cache(maxsize=4096)
def _tells(word: str) -> bool:
    """Whether a word alone may tell what a program does that nobody knows; of most commands none does."""
    return subcommand_tables.may_tell(word) or remote_commands.may_tell(word) or service_requests.may_tell(word)


_WHOLE_SECRETS = re.compile(
    r"(?:\$\(|`)\s*(?:(?:env|printenv|export -p)\s*(?:\)|`|\|)|(?:cat|base64|xxd|gzip|gpg|openssl|head|tail|<)"
    r"[^)`]*(?:\.env\b(?!\.(?:example|sample))|credentials\b|\bid_(?:rsa|ed25519)\b(?!\.pub)|_history\b))"
)
"""A word that holds all variables, or a whole file of secrets: nobody logs in with that."""


def hands_on(call: Call) -> Iterator[Effect]:
    """``apprise -b "$(cat .env)"``: a program that is given all secrets, and may send them; a guess."""
    for item in call.fields[1:]:
        if ("$(" in item.source or "`" in item.source) and _WHOLE_SECRETS.search(item.source):
            yield replace(call.effect(Kind.NETWORK, call.command.program, "data", sure=False), data=UNKNOWN)
            return


_UNINSTALLS = re.compile(r"[\w.-]+[-_](?:uninstall|destroy|purge|wipe|nuke|killall)(?:\.sh)?")
"""Scripts that services bring along: ``k3s-uninstall.sh``; one that can be read is what it says."""


def _lost(call: Call) -> Iterator[Effect]:
    """``acmectl db destroy``: a program that nobody knows, but whose own words say what it does."""
    program = call.command.program
    bears = ("-" in program or "_" in program) and _UNINSTALLS.fullmatch(program)
    if bears and not call.world.kind(call.locate(call.fields[0])):
        yield call.effect(Kind.DEPLOY, program, "delete", sure=False)
    if program in subcommand_tables.MADE_ANEW or program in _FINDERS or "/" in call.fields[0].text:
        return
    named = ":" in program and subcommand_tables.is_loss(program)
    yield from service_requests.effects(call, program) if len(call.fields) > 1 else ()
    yield from subcommand_tables.by_words(call, loses=named or subcommand_tables.typed_loss(call.stdin))


def _loads(call: Call, option: str) -> bool:
    """Behind ``-f`` stands what is read, but for those who start another program with it."""
    runs = "env" in call.command.program or "--" in call.command.argv
    return _SETTINGS.fullmatch(option) is not None or (runs and option == "-f")


def _text(call: Call, item: Field) -> Iterator[Effect]:
    """A value that would be a command of the shell's, if this program is one that runs it; a guess."""
    if not item.known or " " not in item.text.strip() or call.command.program in _FINDERS:
        return
    for effect in call.runner.script(item.text, call, call.command.program):
        if effect.kind is not Kind.OPAQUE:
            yield replace(effect, sure=False)


def _inplace(call: Call) -> Iterator[Effect]:
    """Files that a program is told to change where they stand: ``yq -i``, ``biome check --write``."""
    if call.has(*_IN_PLACE) or (call.has("-i", "-w") and call.command.program in _EDITORS):
        before = {id(item): option.text for option, item in pairwise(call.fields[: OPERANDS + 1])}
        for item in call.operands[:OPERANDS]:
            named = item.text.startswith(("/", "./", "../")) and " " not in item.text
            left_out = _LEAVES_OUT.fullmatch(before.get(id(item), ""))
            if item.known and not left_out and (named or call.world.kind(call.locate(item)) == "file"):
                yield from call.write(item, "inplace")


_IN_PLACE = ("--in-place", "--inplace", "--write", "--overwrite", "--fix", "--replace-input")
_EDITORS = frozenset(
    ("yq", "sops", "gojq", "jaq", "tomlq", "xq", "clang-format", "autopep8", "autoflake", "yapf", "gofmt",
     "docformatter", "goimports", "gofumpt", "shfmt", "isort", "rufo", "zprint", "terrafmt")
)  # fmt: skip
"""Those to whom ``-i`` or ``-w`` says so; to others it is an input, or a width."""
