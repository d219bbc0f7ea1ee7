"""What code means by what it loads and calls, in any language: lost elsewhere, fetched and run, a shell for others.

Looked at are the texts that an interpreter is given: its arguments, standard input, files that this text wrote. These
are guesses by words, beside what the readers of each language follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sentinel_guard.core.analysis import guard_variables, network_addresses, socket_rights
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages import compilers_and_runtimes
from sentinel_guard.core.analysis.languages.interpreters import PROGRAMS as INTERPRETERS
from sentinel_guard.core.analysis.languages.python import opened_databases
from sentinel_guard.core.analysis.languages.shared import (
    client_losses,
    git_libraries,
    service_libraries,
    walked_deletions,
)
from sentinel_guard.core.analysis.programs import credential_hosts, subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import http_changes
from sentinel_guard.core.analysis.programs.databases import given_databases, migrations
from sentinel_guard.core.analysis.secret_names import is_secret
from sentinel_guard.core.model import Effect, Kind

AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))
_NO_CODE = frozenset((*SHELLS, *AWKS, "sed", "gsed"))
_OTHERS = compilers_and_runtimes.RUNTIMES | {"mix"}
"""Runtimes that are given code which no reader follows by name."""
_EDITORS = frozenset(("emacs", "emacsclient", "vim", "nvim", "vi"))
_PRINTED = ("-p", "--print", "-pe")
"""Options with which a runtime prints the value of what it is given."""
_FILES = 3
"""Operands among which the file stands: ``zig run x.zig``, ``nim c -r x.nim``."""
_SHORT = 8
"""Characters that no code which prints or loses anything has."""
_PATH = re.compile(r"[\w.+-]*(?:/[\w.+-]*)+")
"""A file or a folder: no code that does anything."""

_GUARDS_SOCKET = re.compile(r"/sentinel[-_]guard[^\s'\"]*\.sock\b")
_TRUSTS = re.compile(r"\btrust_remote_code\s*=\s*True|\btorch\.hub\.load\(|\bsource_url\s*=")
_UNPICKLES = re.compile(
    r"\b(?:pickle|joblib|dill|cloudpickle|torch|marshal|pandas|pd)\.(?:load|loads|read_pickle)\s*\("
    r"(?![^\n]*\bweights_only\s*=\s*True)"
)
_LOADS_ADDRESS = re.compile(
    r"\b(?:source|source_url|import|include|require|load|use|install)\(?\s*\(?(?:(?:\w+\.)?download\(|url\()?\s*['\"]https?://"
    r"|\(\s*(?:load|load-file|require|load-url)\s+['\"]https?://|\b(?:install_(?:github|gitlab|bitbucket|git|url)|Pkg\.(?:add|develop)\(\s*(?:url|PackageSpec\(url))\b"
    r"|\bpkg\"(?:add|dev) https?://|\bMix\.install\([^)]*?\b(?:git|github):|\bgem\s+['\"][\w-]+['\"]\s*,\s*(?:git|github|source):"
    r"|:git/url\s+\\?['\"]https?://|:local/root\s+\\?['\"]/tmp/|@file:Repository\(|@GrabResolver\(|//> using (?:repository|jar)\s+\"?https?://"
    r"|//(?:DEPS|REPOS|SOURCES) (?:\w+=)?https?://|(?m:^#[^\n]*@ ?git\+https?://)|\bhttpimport\.|\b(?:micropip|piplite)\.install\(\s*['\"]https?://"
    r"|\bvim\.pack\.add\(|\b(?:package-vc-install|quelpa|straight-use-package|el-get-bundle)\b|\bfrom\s+['\"]https?://"
    r"(?!deno\.land|esm\.sh|jsr\.io|cdn\.skypack\.dev|unpkg\.com|cdn\.jsdelivr\.net|raw\.githubusercontent\.com/denoland)"
    r"|\b(?:io|com)\.github\.(?!clojure/|cognitect-labs/|seancorfield/|babashka/|borkdude/)[\w-]+/[\w.-]+\s+\{[^}]*:git/"
    r"|#load\s+\"https?:"
)
"""``source("https://…")`` of R, ``include(download(…))`` of Julia, ``Mix.install`` of a repository, plugins."""
_FETCHES = re.compile(
    r"\bfetch\(|\burlopen\(|\burlretrieve\(|\brequests\.get\(|\bhttpx\.get\(|\bhttps?\.get\(|\baxios|\bgot\(|\bLWP\b|\bURI\.open|"
    r"\bopen-uri\b|\bfile_get_contents\(\s*['\"]https?|:httpc\b|\bHTTPoison\b|\bReq\.get|\bNet::HTTP\b|\bdownload\(|"
    r"\burl-retrieve\b|\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b|\bcurl\b|\bwget\b|\bHttpClient\b"
    r"|\bnew URL\(|\.toURL\(|\bopenStream\(|\bURLSession\b|\bHTTP::Client\b|\bDownloads\.download\b|\bdownload\.file\("
    r"|\bgetURL\(|\bHTTP::Tiny\b|\bMojo::UserAgent\b|\bFaraday\b|\bHTTParty\b|\bGuzzle\w*"
    r"|\bhttr2?::"
    r"|\bsocket\.http\b|\bhttp\.Get\(|\bHTTP::Tiny\b|\bMojo::UserAgent\b|\bcurl_exec\b|\bGuzzle|\bundici\b|\bget-pure-port\b|\bcall/input-url\b|\bdrakma\b"
    r"|\b(?:http-get|http-request|http/get|urlread|webread|fromURL|simpleHttp|httpLBS|open_url)\b|\bhttp::get(?:url)?\b"
    r"|\burl-retrieve\w+|\brequests['\"]?\)?\.get\(|\breadLines\(\s*['\"]https?|\bslurp\s+['\"]https?|\bHTTP\.get\("
    r"|\bhttp['\"]?\)?\.request\(|\bhackney\b|\bureq::|\breqwest\b"
)
_RUNS = re.compile(
    r"(?<![\w.$])(?:eval|exec)\b(?!\s*=)|\bnew Function\(|\bvm\.run\w*\(|\bCode\.eval_\w+|\binstance_eval\b|"
    r"(?<![\w.])(?:loadstring|load|source)\(|\beval-buffer\b|\bAssembly\.Load\b|\biex\b|\bInvoke-Expression\b|\bimportlib\.util\.spec_from"
    r"|\bGroovyShell\b|\bScriptEngineManager\b|\bimport\(\s*(?:['\"`]data:|URL\.createObjectURL)|\._compile\(|\brequire-?[fF]rom-?[sS]tring\b"
    r"|\bURLClassLoader\b|\bdefineClass\(|\bCSharpScript\b|\binclude_string\(|\bload-string\b|\beval-string\b|\bEVAL\b|\bctypes\.CDLL\(|\bruntime\.Eval\("
    r"|\buplevel\b|\beval-region\b|\bevaluate\(|\binterpret\(|\brun_cell\(|\bcallCommand\b|\bMeta\.parse|\beval\(parse"
    r"|\(load\s|\bdofile\b|\bconsult\(|\bchmod\b[^\n]{0,80}(?:\+x|\b0?o?7[0-7]{2}\b|S_IX)"
)
_AWAY = re.compile(r"\bhttps?://(?!localhost\b|127\.|0\.0\.0\.0|\[::1\])")
_SOCKETS = re.compile(
    r"\bsocket\b|\bTCPSocket\b|\bnet\.(?:connect|Socket|createConnection|Dial)\b|\bfsockopen\b|\bIO::Socket\b|\bSocket\("
)
_SHELL = re.compile(
    r"\bpty\.spawn\b|\bdup2\(|['\"\s/](?:ba|z|da|k)?sh['\"]?\s*,?\s*\[?['\"]?\s*-i\b|(?:spawn|exec|popen|Popen|call|run)"
    r"\w*\(?\s*\[?['\"](?:/bin/|/usr/bin/)?(?:ba|z|da)?sh['\"]|\bcmd\.exe\b|\$SHELL\b"
)
_EMPTIED = re.compile(
    r"\bopen\(\s*['\"]([^'\"\n]+)['\"]\s*,\s*['\"]w[bt+]*['\"]\s*\)\.(?:close|truncate)\("
    r"|\b(?:writeFileSync|writeFile|file_put_contents|File\.write|IO\.write)\(\s*['\"]([^'\"\n]+)['\"]\s*,\s*(?:''|\"\")\s*[,)]"
    r"|\bPath\(\s*['\"]([^'\"\n]+)['\"]\s*\)\.write_(?:text|bytes)\(\s*b?(?:''|\"\")\s*\)"
)
"""A file that is written with nothing."""
_PUBLISHES = re.compile(
    r"\bdevtools::(?:submit_cran|release)\(|\bsubmit_cran\(|\brhub::rc_submit\(|\b(?:rsconnect|shinyapps)::deploy\w+\(|"
    r"\bpkgdown::deploy_\w+\(|\bquarto_publish\w*\(|\bregister\([^()]*push\s*=\s*true|\bPkgDev\.publish\(|"
    r"\btwine\.(?:commands\.upload|cli)\b|\.push_to_hub\(|\brequire\(['\"](?:gh-pages|libnpmpublish)['\"]\)\.publish\(|"
    r"\bghpages\.publish\(|\bCPAN::Uploader\b|\bGem::Commands::PushCommand\b|\b(?:vsce|ovsx)\.publish\w*\("
)
"""Functions by which libraries publish packages, sites and models."""
_REHEARSES = re.compile(r"test\.pypi|\bdry_?[rR]un\s*[:=]\s*(?:[tT]rue|TRUE)")
_FABRIC = re.compile(r"\bfrom fabric\b|\bimport fabric\b|\bparallel_ssh\b|\basyncssh\b|\bpssh\b")
_ON_HOSTS = re.compile(r"\.(?:run|sudo|run_command)\(\s*f?[\"']([^\"'\n]+)[\"']")
"""Commands that libraries run on other machines."""
_WRITES_LETTERS = re.compile(
    r"\.(?:send_?message|sendmail|sendMail|send_email|send_raw_email|messages\.create|emails\.send|send_templated_email)\s*\(|"
    r"\bapi\.(?:sendgrid\.com/v3/mail|(?:eu\.)?mailgun\.net/|postmarkapp\.com/email|resend\.com/emails|brevo\.com/v3/smtp)|"
    r"\bSendGridAPIClient\b[^\n]*\.send\(|\bEmails\.send\(|\bmail\(\s*\$|\bMail::to\(|\bdeliver_now\b|\bdeliver_later\b"
)
_MANY = re.compile(r"\bfor\b|\bwhile\b|\.map\(|\.forEach\(|\.each\b|\bforeach\b|\bfind_each\b|Promise\.all")
_LOSSES = (Kind.DEPLOY, Kind.DATABASE)


def _evaluates(call: Call) -> bool:
    """``bin/app eval CODE``: a release of a project that runs code beside its models."""
    return len(call.fields) == 3 and call.fields[1].text in ("eval", "rpc")


def takes_code(call: Call) -> bool:
    """Whether a program runs code that it is given: an interpreter, an editor, a release."""
    known = call.command.program in PROGRAMS or (len(call.fields) == 3 and _evaluates(call))
    return known or ("/" in call.fields[0].text and bool(_built(call)))


def _built(call: Call) -> str:
    """The source of a program that this text built: ``rustc x.rs -o x && ./x``."""
    made = call.world.made()
    path = call.locate(call.fields[0]) if made else ""
    text = (call.world.read(path) or "") if path in made else ""
    return text.removeprefix(compilers_and_runtimes.BUILT) if text.startswith(compilers_and_runtimes.BUILT) else ""


_TOLD = subcommand_tables.UNASKED | subcommand_tables.APPLIES | {
    "--all", "--commit", "--really", "--prod", "--production", "--delete", "--purge", "--no-preview",
}  # fmt: skip
"""Options with which a script does what it only looks at without them, or does it to all."""


def _script_that_is_told(call: Call) -> Iterator[Effect]:
    """A script on disk that takes things down elsewhere, or writes to many, and is told to: ``cleanup.py --apply``."""
    scripts = [item for item in call.operands[:1] if item.known]
    if not scripts or call.files > 1 or _TOLD.isdisjoint([item.text.partition("=")[0] for item in call.fields[1:]]):
        return
    for item in scripts:
        text = call.script_text(call.locate(item)) or ""
        if _MANY.search(text) is None:
            continue
        lost = client_losses.lost(text) or next(http_changes.lost_by(text), "") or service_libraries.acts(text)
        if lost or (_WRITES_LETTERS.search(text) and not network_addresses.CATCHES_MAIL.search(text)):
            yield call.effect(Kind.DEPLOY, lost or "letters to each of a list", "delete", sure=False)


_SCRIPT = re.compile(r".*\.(?:py|[cm]?[jt]s|rb|php|pl|go|rs|java|kts?|cs|csx|jl|[rR]|groovy|swift|scala|sc)")


def _repository_calls(call: Call) -> Iterator[Effect]:
    """What a script on disk does to repositories by a library: ``go run ./tools/sync.go``."""
    item = next((item for item in call.operands[:2] if item.known and _SCRIPT.fullmatch(item.text)), None)
    if item is not None and call.locate(item) not in call.world.made():
        yield from git_libraries.effects(call, call.script_text(call.locate(item)) or "")


def effects(call: Call) -> Iterator[Effect]:
    """What the code of a call that takes some means."""
    yield from _script_that_is_told(call)
    yield from _repository_calls(call)
    for text in texts(call):
        if found := client_losses.lost(text):
            kept = client_losses.lost(text, models=False) or not _is_of_thrown_away(call, text)
            yield from (call.effect(Kind.DEPLOY, found, "delete", sure=False),) if kept else ()
        for name in guard_variables.changed_in_code(text):
            yield call.effect(Kind.PRIVILEGE, f"environment {name}", sure=False)
        if _GUARDS_SOCKET.search(text):
            yield call.effect(Kind.PRIVILEGE, socket_rights.GUARD, sure=False)
        if acted := service_libraries.acts(text):
            yield call.effect(Kind.DEPLOY, acted, sure=False)
        if (published := _PUBLISHES.search(text)) and not _REHEARSES.search(text):
            yield call.effect(Kind.DEPLOY, published[0].strip("(").strip(), sure=False)
        for match in _EMPTIED.finditer(text):
            path = next(filter(None, match.groups()))
            yield from call.write(Field(path), "truncate", "empty")
        yield from migrations.code(call, text) if _evaluates(call) else ()
        yield from _sent_astray(call, text)
        if (loaded := _loads(call, text)) is not None:
            yield call.opaque(loaded, "code")
        if _WRITES_LETTERS.search(text) and _MANY.search(text) and not network_addresses.CATCHES_MAIL.search(text):
            yield call.effect(Kind.DEPLOY, "letters to each of a list", sure=False)
        for address in http_changes.lost_by(text) if "http" in text.lower() else ():
            yield call.effect(Kind.NETWORK, address, "delete", sure=False)
        for match in _ON_HOSTS.finditer(text) if _FABRIC.search(text) else ():
            for effect in call.runner.script(match[1], call, "fabric"):
                if effect.kind is not Kind.EXECUTE:
                    yield replace(effect, sure=False)
        if _SOCKETS.search(text) and _SHELL.search(text):
            yield call.effect(Kind.PRIVILEGE, "remote shell", sure=False)
        yield from git_libraries.effects(call, text)
        if (folder := walked_deletions.emptied_folder(text, call.world.home)) is not None:
            unknown = call.opaque("what a walk through a folder gives", "delete")
            yield call.contents(folder, sure=False) if folder else unknown
        if folder := walked_deletions.read_folder(text, call.world.home):
            read = (path for path in call.world.glob(f"{call.locate(folder)}/*") if is_secret(path))
            yield from (call.effect(Kind.READ, path, "shown", sure=False) for path in read)


def _is_of_thrown_away(call: Call, text: str) -> bool:
    """Whether the tables of a project that code empties are those of a database to throw away."""
    if given_databases.is_thrown_away(call):
        return True
    file = next(
        (path for item in call.operands[:1] if item.known and (path := call.locate(item)) in call.world.made()), ""
    )
    return call.command.program.startswith("python") and opened_databases.are_thrown_away(call, text, file)


_READ_VARIABLE = re.compile(
    r"(?:process\.env|os\.environ|ENV|Deno\.env\.get|Bun\.env|getenv|Env\.fetch|System\.get_env)[^\w\s]{1,4}([A-Z][A-Z0-9_]*)"
)
_LOADS_ENV = re.compile(
    r"\bdotenv_values\(|\bdotenv\.parse\(|\bconfig\(\)\.parsed\b|\bEnv::load\b|\bgodotenv\.Read\(|\bDotenv\.(?:parse|load)\b|"
    r"\bparse_ini_file\(\s*['\"][^'\"]*\.env\b|\bDotenv\b[^\n;]*->(?:safe)?[lL]oad\(|\bRepositoryEnv\(|\bDotenvy\.source"
)
"""What hands over all that a file of secrets holds."""
_ALL_VARIABLES = re.compile(
    r"(?<!keys )(?<!local )%ENV\b|\$ENV\{\$|\bENV\.(?:to_h|to_a|map|inspect|each\w*)\b"
    r"|\b(?:json_encode|http_build_query|serialize)\(\s*(?:\$_(?:ENV|SERVER)\b(?!\s*\[)|getenv\(\))|\bSystem\.get_env\(\)"
)
"""The environment as one value, in Perl, Ruby, PHP and Elixir; what functions are given, ``function_effects`` sees."""
_POSTS = re.compile(
    r"(?:\.|->)(?:post|put|patch|post_form)\(|method\s*[:=]\s*['\"](?:POST|PUT|PATCH)|\bdata\s*=|\bbody\s*:|"
    r"https?://[^\s'\"]*[?&][\w.-]+=(?:['\"]\s*[.+]|\$?\{|#\{)"
)
"""A request that carries something: in its body, or behind a question mark."""
_ADDRESS = re.compile(r"https?://[^\s'\"`<>)]+")


def _sent_astray(call: Call, text: str) -> Iterator[Effect]:
    """A credential of a service that code sends to somebody else's address; ``.env`` or all variables, to any."""
    if not _FETCHES.search(text) and "requests." not in text:
        return
    if _ALL_VARIABLES.search(text) and _POSTS.search(text) and (away := _AWAY.search(text)):
        yield call.effect(Kind.READ, "/proc/self/environ", sure=False)
        yield call.effect(Kind.NETWORK, away[0], "data", sure=False)
    if _LOADS_ENV.search(text) and _POSTS.search(text) and (away := _AWAY.search(text)):
        yield call.effect(Kind.READ, call.locate(".env"), sure=False)
        yield call.effect(Kind.NETWORK, away[0], "data", sure=False)
    names = " ".join(f"${name}" for name in _READ_VARIABLE.findall(text))
    owners = credential_hosts.owners((names,), call.scope.variables) if names else ()
    for address in _ADDRESS.findall(text) if owners else ():
        if credential_hosts.goes_astray(address, owners):
            yield call.effect(Kind.NETWORK, address, "data", "foreign", sure=False)


def is_new(effect: Effect, found: list[Effect]) -> bool:
    """Whether a guess of a loss says more than what was followed in the same command."""
    lost = effect.kind is Kind.DEPLOY and "delete" in effect.how
    if effect.kind is Kind.DELETE or (effect.kind is Kind.OPAQUE and "delete" in effect.how):
        return not any(e.command is effect.command and e.kind is Kind.DELETE for e in found)
    return not (lost and any(e.command is effect.command and e.kind in _LOSSES and "delete" in e.how for e in found))


def _loads(call: Call, text: str) -> str | None:
    """Code of others that runs: a library that is told to trust it, an object that was fetched, a text by network."""
    if match := _TRUSTS.search(text) or _LOADS_ADDRESS.search(text):
        return match[0]
    comes = any(path in text for path in call.world.fetched) or bool(_AWAY.search(text) and _FETCHES.search(text))
    if comes and _UNPICKLES.search(text):
        return "an object that was fetched"
    if _AWAY.search(text) and _FETCHES.search(text) and (match := _RUNS.search(text)):
        return f"what was fetched: {match[0]}"
    return None


LANGUAGES = (INTERPRETERS.keys() - _NO_CODE) | _OTHERS
"""Interpreters of languages that are no shell's."""
PROGRAMS = LANGUAGES | _EDITORS
"""All programs that take code by their name."""


def texts(call: Call) -> Iterator[str]:
    """The code of an interpreter's call: arguments, standard input, files that this text wrote."""
    printed = call.has(*_PRINTED)
    for item in call.fields[1:]:
        if len(item.text) > _SHORT and (printed or not _PATH.fullmatch(item.text)):
            yield f"print({item.text})" if printed else item.text
    if call.stdin:
        yield call.stdin.replace(UNKNOWN, "")
    made = call.world.made()
    for item in call.operands[:_FILES] if made else ():
        if item.known and (path := call.locate(item)) in made:
            yield (call.world.read(path) or "").replace(UNKNOWN, "")
    if made and (source := _built(call)):
        yield source.replace(UNKNOWN, "")
