"""Whether a command prints or copies the content of the files that it reads (READ, how: shown).

A secret that was shown is in the agent's transcript, and with it at its provider: no snapshot takes that back. Loading
one (``source .env``, ``export $(cat .env | xargs)``), counting, comparing and listing its names show nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from sentinel_guard.core.analysis.parser.syntax_tree import (
    ArithSub,
    Case,
    CommandSub,
    DoubleQuoted,
    List,
    Literal,
    Loop,
    Node,
    Parameter,
    Pipeline,
    ProcessSub,
    Simple,
    Test,
    Variable,
    Word,
    children,
    simple_commands,
)
from sentinel_guard.core.analysis.posix_expressions import for_short_texts
from sentinel_guard.core.model import Command

PRINTERS = frozenset(
    (
        *("echo", "printf", "cat", "tee", "head", "tail", "less", "more", "logger", "wall", "say", "notify-send"),
        *("base64", "xxd", "rev", "tr"),
    )
)
"""What is handed to these, or reaches them, is seen."""
_BEFORE = ("command", "builtin", "exec", "sudo", "env", "nohup", "time")
_WITH = {
    **dict.fromkeys(("python", "python3"), ("-c",)),
    **dict.fromkeys(("node", "perl", "ruby"), ("-e",)),
    "php": ("-r",),
    "git": ("commit", "tag", "notes"),
    "jq": ("-n", "-rn", "-nr"),
    "expr": (),
}
"""What these say holds what was substituted, where one of the words is there."""

_SILENT = frozenset(
    (
        *("ls", "stat", "test", "[", "wc", "du", "file", "find", "fd", "cmp", "cksum", "sum", "md5sum", "b2sum"),
        *("sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum", "md5", "touch", "chmod", "chown"),
        *("basename", "dirname", "realpath", "readlink", "ssh", "ssh-add", "ssh-keygen", "docker", "podman", "source"),
        *(".", "env", "printenv", "read", "mapfile", "readarray", "mv", "rm", "ln", "true", ":"),
        *("set", "export", "declare", "typeset", "readonly"),
    )
)
"""They may open a file; what they say is not its content."""
_PASSES_ON = frozenset(("env", "docker", "podman", "ssh", "source", ".", "find", "fd", "rm", "mv", "ln"))
"""Of these that does not hold for what they start."""
_NOTHING = re.compile(
    r"(?:[ef]?grep|rg) (?:-[hHinsvwxEFPar]+ )*(?:-[hHinsvwxEFPar]*[qclL][hHinsvwxEFPar]*|--quiet|--silent|--count"
    r"|--files-with\w*)(?: (?!-[ef]|--).*)?"
    r"|diff (?:-[qrsN]*q[qrsN]*|--brief)(?: .*)?"
)
_NAMES_ONLY = re.compile(
    r"[ef]?grep (?:-\w+ )*-\w*o\w* ['\"]?\^\[[^\]]*\][*+]?=?['\"]?(?: [^-]\S*)*"
    r"|cut (?:-d ?= -f ?1|-f ?1 -d ?=)(?: [^-]\S*)*"
    r"|g?sed (?:-[nEr]+ )*['\"]?s(.)=\.\*\1[^$&\\]*?\1g?['\"]?(?: [^-]\S*)*"
    r"|g?awk -F ?'?='? ['\"]?(?:/[^/]*/ ?)?\{ ?print (?:\$1|\"[^\"$]*\"|[ ,])+\}['\"]?(?: [^-=\s]+)*"
)
"""Nothing of a line, and no more than the name before ``=``."""
_OPEN = (
    r"(?:HOST|PORT|ENV|ENVIRONMENT|DEBUG|LEVEL|FROM|NAME|MODE|REGION|TIMEOUT|TZ|LOCALE|DRIVER|ENABLED|VERSION|PATH|DIR"
    r"|(?<=DB_)DATABASE|BUCKET|TTL|COUNT|SIZE|LIMIT|WORKERS|LOG|FORMAT|DOMAIN|TYPE)"
)
_OPEN_NAME = (
    rf"(?:\^|\b|\\b)?(?:[A-Z][A-Z0-9]*_)*(?:(?<=_){_OPEN}=?|(?<=\^){_OPEN}(?:=|\\b)|(?<=\^)(?:PORT|HOST|DEBUG|TZ))"
)
"""One that begins a longer name ends where it says so: ``^LOG`` picks ``LOGIN_SECRET``, too."""
_OPEN_LINES = re.compile(
    r"(?:[ef]?grep|rg) (?:-[hHinswxroEFP]+ |--color(?:=\w+)? )*(?:-e )?['\"]?"
    rf"(?:\^?\()?{_OPEN_NAME}(?:\\?\|{_OPEN_NAME})*\)?=?['\"]?(?: [^-]\S*)*"
    rf"|g?sed -n ['\"]?/{_OPEN_NAME}/p['\"]?(?: [^-]\S*)*"
    rf"|g?awk -F ?'?='? ['\"]?(?:/{_OPEN_NAME}/|"
    rf"\$1 ?== ?['\"]?{_OPEN_NAME}['\"]?) ?(?:\{{ ?print(?: \$\d)? ?\}})?['\"]?(?: [^-=\s]+)*"
)
"""Lines of variables that are called like nothing secret: each pattern is the end of a name."""
_BYTES = {
    "cmp": frozenset(("-l", "-b", "--verbose", "--print-bytes")),
    "file": frozenset(("-f", "--files-from")),
    **dict.fromkeys(("wc", "du"), frozenset(("--files0-from",))),
}
"""Options with which these show bytes or lines."""
_LOADS = re.compile(
    r"(?:docker|podman|crane(?: auth)?|gh auth|glab auth|npm|oras|helm registry|skopeo|vercel|op|bw) login\b.*"
    r"|(?:gh|wrangler|fly|flyctl|glab|vercel|supabase|doppler) (?:secret|secrets|variable|variables|env) "
    r"(?:set|put|add|import|upload)\b.*"
    r"|(?:kubectl|oc) .*?(?:apply|create|replace)\b.*|ssh-add\b.*|gpg2? .*--import\b.*|vault (?:write|kv put)\b.*"
    r"|(?:pbcopy|xclip|xsel|wl-copy)\b.*|pass (?:insert|add)\b.*|openssl (?:dgst|sha\d+|md5)\b.*"
    r"|(?:head|tail) -c ?[1-8]|cut -c ?(?:1-)?[1-8]"
    r"|(?:jq|yq)(?: -[rcMSCe]+)* "
    r"(?:\.[\w.\[\]\"-]*\s*\|\s*)?(?:keys|keys_unsorted|length|type)(?:\[\])?(?:\s*\|\s*(?:\.\[\]|sort|length))*"
)
"""Who takes in what it reads, or lets a few characters of it through."""
_LOADERS = frozenset(
    (
        *("docker", "podman", "crane", "gh", "glab", "npm", "oras", "helm", "skopeo", "vercel", "op", "bw", "wrangler"),
        *(
            "fly",
            "flyctl",
            "supabase",
            "doppler",
            "kubectl",
            "oc",
            "ssh-add",
            "gpg",
            "gpg2",
            "vault",
            "pbcopy",
            "xclip",
        ),
        *("xsel", "wl-copy", "pass", "openssl", "head", "tail", "cut", "jq", "yq"),
    )
)
"""The programs of these: the expression is asked of no other."""
_FILTERS = frozenset(("grep", "egrep", "fgrep", "rg", "cut", "sed", "gsed", "awk", "gawk", "diff"))
LONGEST = 200
"""Characters of a filter that are looked at."""


COPIERS = frozenset(("cp", "install", "tar", "dd", "rsync", "zip", "7z", "tee", "scp", "cpio", "gpg", "split"))
"""What they read stays somewhere, whatever becomes of their output."""


def exposes_content(command: Command, path: str = ".env") -> bool:
    """Whether a command that reads this file gives its content away, on its output or as a copy."""
    if command.program not in _FILTERS:
        return command.program not in _SILENT or bool(_BYTES.get(command.program, frozenset()) & command.flags)
    return _lets_through(" ".join((command.program, *command.argv[1:])), "env" in path.rpartition("/")[2])


@lru_cache(maxsize=256)
def _lets_through(filtering: str, variables: bool) -> bool:
    """Whether a filter, as written, prints anything of what it reads but the names of ``variables``."""
    if len(filtering) > LONGEST:
        return True
    only = variables and (_NAMES_ONLY.fullmatch(filtering) or _OPEN_LINES.fullmatch(filtering))
    return not (_NOTHING.fullmatch(filtering) or only)


def prints_arguments(words: Sequence[Word]) -> bool:
    """Whether what is substituted into these words of a command is seen: ``echo "$(cat .env)"``."""
    at = 1 if len(words) > 1 and words[0].literal in _BEFORE else 0
    name = (words[at].literal or "").rpartition("/")[2] if words else ""
    if name in PRINTERS:
        return True
    with_ = _WITH.get(name)
    return with_ is not None and (not with_ or any(word.literal in with_ for word in words[at + 1 :]))


_NAMED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_DEFINES = re.compile(r"\(\s*\)|\bfunction\b")
TESTS = frozenset(("[", "test"))
_ASKS = frozenset(("-n", "-z", "-a", "-o", "-d", "-e", "-f", "-r", "-s", "-w", "-x"))
"""Tests that say nothing of what they compare: of a number that is none ``[`` and ``[[`` print all of it."""


_WHOLE = frozenset(("", "-", ":-", "=", ":=", "?", ":?", "^", "^^", ",", ",,", "@Q", "@E", "@A", "@U", "@u", "@L"))
"""Expansions of all that a variable holds."""
_FEW = 12
"""Characters by which a token is told from others."""


def said_values(word: Word, tests: AbstractSet[str], *, quoted: bool) -> Iterator[str]:
    """The variables whose value a word may say: by ``${x:+y}``, ``${#x}`` and ``${x:0:4}`` none, nor what
    ``$([ -n "$x" ] && echo set)`` only asks for, where these commands are tests. ``quoted``: those, too, whose names
    stand in quoted text.
    """
    tests = frozenset() if _DEFINES.search(word.source) else tests
    todo: list[object] = [word]
    while todo:
        node = todo.pop()
        if isinstance(node, Variable):
            yield node.name
        elif isinstance(node, Literal):
            yield from _NAMED.findall(node.text) if quoted and node.quoted and "$" in node.text else ()
        elif isinstance(node, Case):
            todo += [arm.body for arm in node.arms]
        elif not (node is None or isinstance(node, str | int) or _only_asks(node, tests)):
            if isinstance(node, Parameter) and node.index is None and (node.op in _WHOLE or _is_long(node)):
                yield node.name
            todo += children(node)


_NUMBERS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_NAME = re.compile(r"(?<![\w#.])[A-Za-z_]\w*")
_COMPLAIN = frozenset(
    (
        *("cd", "pushd", "ls", "stat", "du", "wc", "file", "kill", "sleep", "exit", "return", "shift", "type", "unset"),
        *("ulimit", "umask"),
    )
)
"""What says the word in its error that it cannot make anything of."""
_NO_PLACE = re.compile(r"(?:.*(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|SECRET_KEY|ACCESS_KEY)|.*_UR[IL])\d?")
"""What is called so is no path: ``CREDENTIALS`` may be one."""


def values_of_errors(words: Sequence[Word], tests: AbstractSet[str]) -> Iterator[str]:
    """The variables whose value a command says in an error: where a test looks for an operator or a number, in an
    expression, in the place of a file that is not there.
    """
    name = words[0].literal if words else None
    if name in tests:
        given = words[1 : -1 if name == "[" else None]
        given = given[1:] if len(given) > len("xy") and given[0].literal == "!" else given
        yield from compared_values(given)
        if len(given) in (2, 3):
            yield from _whole_values(given[-2])
    elif name == "let":
        yield from (held for word in words[1:] for held in values_in_expression(word.source))
    elif name in _COMPLAIN:
        yield from (held for word in words[1:] for held in _whole_values(word) if _NO_PLACE.fullmatch(held.upper()))
    todo: list[object] = [*words]
    while todo:
        node = todo.pop()
        if isinstance(node, ArithSub):
            yield from values_in_expression(node.source)
        elif not isinstance(node, CommandSub | ProcessSub | str | int | None):
            todo += children(node)


_COUNTER = "PASS"
"""Tests that passed are counted under a password's name."""


def compared_values(words: Sequence[Word]) -> Iterator[str]:
    """Of a test, what is compared as a number."""
    signs = [word.literal in _NUMBERS or (word.literal == "-t" and not at) for at, word in enumerate(words)]
    for at, word in enumerate(words):
        if any(signs[max(0, at - 1) : at + 2]):
            yield from (name for name in _whole_values(word) if name.upper() != _COUNTER)


def values_in_expression(text: str) -> Iterator[str]:
    """The variables of an arithmetic expression. Counters are called so, too: ``((PASS++))``."""
    return (name for name in _NAME.findall(text) if _NO_PLACE.fullmatch(name))


def _whole_values(word: Word) -> Iterator[str]:
    """The variables that stand in a word themselves, not in a command in it."""
    for part in word.parts:
        for inner in part.parts if isinstance(part, DoubleQuoted) else (part,):
            if isinstance(inner, Variable) or (isinstance(inner, Parameter) and inner.op in _WHOLE):
                yield inner.name


def _is_long(part: Parameter) -> bool:
    """``${x:0}``, ``${x:0:40}``: all that is behind a place, or more than shows which one it is."""
    if part.op != ":" or part.argument is None or part.argument.source.strip()[:1] == "-":
        return False
    length = part.extra.source.strip() if part.extra is not None else ""
    return not length or (length.isdecimal() and int(length[:4]) > _FEW)


def _only_asks(node: object, tests: AbstractSet[str]) -> bool:
    """Whether a command is a test that prints nothing of its words."""
    if not isinstance(node, Simple | Test) or node.redirects:
        return False
    if isinstance(node, Simple) and not (node.words and node.words[0].literal in tests):
        return False
    return all((word.literal or "")[:1] != "-" or word.literal in _ASKS for word in node.words)


def discards_input(stage: Node) -> bool:
    """Whether a stage of a pipe, or what stands in ``>(…)``, lets nothing through of what comes in."""
    if type(stage) is Simple:
        return _discards(stage)
    if isinstance(stage, List):
        return len(stage.items) == 1 and discards_input(stage.items[0][0])
    if isinstance(stage, Pipeline):
        return last_discarding_stage(stage.commands) >= 0
    return isinstance(stage, Loop) and printing_command(stage) is None


def _discards(stage: Simple) -> bool:
    if not stage.words:
        return False
    for r in stage.redirects:
        if r.op in (">", ">>", ">|", "&>") and r.target and r.target.literal == "/dev/null":
            return True
    program = stage.words[0].literal
    if program in _LOADERS and _LOADS.fullmatch(" ".join([word.literal or word.source for word in stage.words])):
        return True
    if program not in _FILTERS:
        return program in _SILENT and program not in _PASSES_ON
    plain = [word.source if word.literal is None else word.literal for word in stage.words]
    return not _lets_through(" ".join(plain), variables=True)


def last_discarding_stage(stages: Sequence[Node]) -> int:
    """Where the last stage stands that lets nothing through; -1 for none, or where tee takes it out before."""
    last = -1
    for at, stage in enumerate(stages):
        if type(stage) is Simple and stage.words and stage.words[0].literal == "tee":
            return -1
        if discards_input(stage):
            last = at
    return last


_GREPS = frozenset(("grep", "egrep", "fgrep", "rg"))
_AROUND = re.compile(r"-[A-Za-z]*[vABCf]\d*|-\d+|--(?:invert-match|after-|before-|context|file).*")
_NAMES_OF_SECRETS = tuple(
    f"{name}{sign}x"
    for name in (
        *("API_KEY", "SECRET_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "ACCESS_TOKEN", "NPM_TOKEN", "JWT_SECRET"),
        *("DB_PASSWORD", "POSTGRES_PASSWORD", "MYSQL_ROOT_PASSWORD", "SMTP_PASS", "DATABASE_URL", "REDIS_URL"),
        *("SENTRY_DSN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "STRIPE_SECRET_KEY", "PRIVATE_KEY", "CREDENTIALS"),
    )
    for sign in ("=", ": ")
)
"""Lines of a list of variables as they usually are: who picks none of them picks no secret."""


def last_harmless_filter(stages: Sequence[Node]) -> int:
    """Where the last stage stands that picks lines by a pattern which no secret's name meets; -1 for none."""
    for at in range(len(stages) - 1, 0, -1):
        stage = stages[at]
        if type(stage) is Simple and stage.words and stage.words[0].literal in _GREPS:
            words = [word.literal for word in stage.words]
            if _picks_harmless(*words):
                return at
    return -1


@lru_cache(maxsize=256)
def _picks_harmless(program: str, *words: str | None) -> bool:
    if any(word is None or _AROUND.fullmatch(word) for word in words):
        return False
    flags = "".join(word for word in words if word and re.fullmatch(r"-[a-zA-Z]+", word))
    patterns = [word for word in words if word and word[0] != "-"]
    if len(patterns) != 1:
        return False
    extended = "E" in flags or program in ("egrep", "rg")
    text = re.escape(patterns[0]) if "F" in flags else patterns[0]
    text = text if extended or "P" in flags else text.replace("\\|", "|")
    pattern = for_short_texts(text, ignores_case="i" in flags)
    return pattern is not None and not any(map(pattern.search, _NAMES_OF_SECRETS))


def printing_command(tree: Node) -> Command | None:
    """The first command in a loop's body that says what it was given: ``while read l; do echo "$l"; done < .env``."""
    for simple in simple_commands(tree):
        if prints_arguments(simple.words):
            return Command(simple.words[0].literal or "", tuple(word.source for word in simple.words))
    return None
