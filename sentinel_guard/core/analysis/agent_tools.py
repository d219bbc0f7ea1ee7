"""Agent tool calls (built-in and MCP tools) -> effects, by the tool's name and by the names of its arguments.

Rules of this file:
1. A tool that is told a command line, a program text or SQL does what that says: ``command_of``, ``_queries``.
2. A known tool does what it is known for. An unknown one (MCP) does, unsurely, what the verb in its name says.
3. A tool whose name says nothing writes the path that it is given only if it is given content too; else it reads it.
4. Texts that are data (``content``, ``new_string``, ``prompt``) are not looked at: to write of ``rm -rf /`` is honest.
5. Which of its arguments a tool believes is not known: of several that may be meant, all are, and what is more than is
   looked at is not taken for harmless. A client drops arguments that it does not know, after it has asked us.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.programs.databases import sql_statements
from sentinel_guard.core.analysis.programs.files.patch_files import enveloped, patched_paths
from sentinel_guard.core.analysis.tool_arguments import (
    MAX_ITEMS,
    Arguments,
    Item,
    folded,
    name_words,
    plain_name,
    texts_of,
    values_of,
)
from sentinel_guard.core.analysis.world import World
from sentinel_guard.core.model import Effect, Kind

MAX_PATH = 4096
"""Characters; a longer one the kernel refuses."""

_KNOWN = {
    "read": "read readfile view cat openfile readmanyfiles grep glob searchfilecontent listdirectory ls notebookread "
    "rg ripgrep searchfiles listfiles codebasesearch grepsearch filesearch listdir viewfile viewimage readnotebook lsp",
    "write": "write writefile createfile writetofile create savefile createtextfile",
    "change": "edit multiedit notebookedit editfile replace strreplace strreplaceeditor strreplacebasededittool insert "
    "texteditor replaceinfile applydiff searchandreplace searchreplace insertcontent updatefile editnotebook patch "
    "editfiles morphedit replacestringinfile multireplacestringinfile inserteditintofile replacefilecontent "
    "editnotebookfile",
    "append": "appendtofile appendfile createdirectory createfolder makedirectory mkdir",
    "delete": "delete deletefile removefile remove unlink rm deletepath deletedirectory rmdir",
    "move": "move movefile rename renamefile mv movepath renamepath",
    "copy": "copyfile copypath",
}
_NAMES = {name: verb for verb, names in _KNOWN.items() for name in names.split()}
"""Names of tools whose meaning is known, without their separators."""
_VERBS = {
    "read": "read get list ls view open cat show search find grep glob fetch describe stat info check count lookup "
    "select inspect analyze preview head tail tree exists navigate explain query",
    "delete": "delete remove rm unlink trash rmdir erase destroy purge wipe drop truncate terminate uninstall flushall",
    "write": "write create save store export dump touch",
    "change": "edit update append patch replace set insert put modify overwrite add apply rewrite undo format upsert",
    "move": "move rename mv",
    "copy": "copy cp duplicate",
    "upload": "upload attach send share submit",
    "download": "download",
}
_WORDS = {word: verb for verb, words in _VERBS.items() for word in words.split()}

_SHELLS = frozenset(
    (
        *("bash", "shell", "runshellcommand", "executecommand", "runcommand", "terminal", "exec", "execcommand"),
        *("localshell", "runterminalcmd", "runinterminal", "executebash", "powershell", "unifiedexec", "runcommands"),
        *(
            "bashtool",
            "containerexec",
            "shellcommand",
            "executeshellcommand",
            "startprocess",
            "writestdin",
            "writebash",
        ),
        *("interactwithprocess", "sendtoterminal"),
    )
)
_COMMANDS = ("command", "cmd", "commandline", "shellcommand", "commands")
_TYPED = ("script", "code", "chars", "input", "text")
"""Names for a command line that only shells use for one."""
_FOLDERS = ("cwd", "workdir", "workingdirectory", "directory", "dirpath", "cd", "dir")
_OWN_FOLDERS = {
    "runshellcommand": ("directory", "dirpath"),
    **dict.fromkeys(
        ("execcommand", "shell", "localshell", "containerexec", "shellcommand", "unifiedexec"), ("workdir",)
    ),
}
"""Tools of clients, and the folder that they run a command in, as their clients document it."""
_GLOBS = ("glob", "globs", "include", "includes", "includepattern", "includeglob", "filepattern", "globpattern")
"""Names for which files a search looks into."""
_CODES = ("code", "script", "source", "cell")
_ENTER = re.compile(r"\{(?:enter|return)\}", re.IGNORECASE)
"""As Copilot CLI's tools write the key that ends a line."""
_PYTHONS = frozenset(("python", "ipython", "jupyter", "ide", "notebook", "cell", "kernel", "interpreter"))
_NODES = frozenset(("node", "nodejs", "javascript", "js", "typescript", "deno", "bun"))
_PAGES = frozenset(("browser", "playwright", "puppeteer", "chrome", "page", "tab", "devtools"))
_CONTAINERS = frozenset(("docker", "podman", "container", "sandbox", "e2b"))
_PODS = frozenset(("pod", "kubernetes", "k8s", "kubectl"))

_URLS = ("url", "uri", "urls", "href", "endpoint", "link", "address")
_BODIES = ("body", "data", "payload", "json", "form", "formdata", "files")
_IN_TEXT = re.compile(r"https?://[^\s\"'<>)]+")
_PATCHES = ("patch", "input", "diff", "patchtext", "command", "changes")
_CONTENTS = (
    *("content", "contents", "text", "newtext", "data", "body", "value", "newstring", "newstr", "filetext", "code"),
    *("replacement", "edits", "codeedit", "codecontent", "newcontent"),
)
_PATHS = ("uri", "source", "destination", "src", "dst", "dest", "glob", "include")
_ENDINGS = ("path", "paths", "file", "files", "filename", "filenames", "directory", "folder")
_BASES = (
    *("profile", "xpath", "jsonpath", "openfiles", "cwd", "dir", "workdir", "repopath", "projectpath", "rootpath"),
    *("workingdirectory", "workspacefolder", "rootfolder", "projectdirectory"),
)
"""No paths, or the place that everything else is relative to."""
_SCHEME = re.compile(
    r"(?:https?|ftps?|wss?|s3|gs|gcs|az|abfss?|hdfs|git|ssh|sftp|data|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|jdbc|"
    r"docker|oci|npm|memory|resource|vscode[\w-]*|github|gitlab|notion|slack|chrome[\w-]*|about|blob)://",
    re.IGNORECASE,
)
_FORGES = frozenset(("github", "gitlab", "gitea", "bitbucket", "forgejo", "codeberg", "azuredevops", "devops"))
_FROM = ("source", "src", "from", "old", "input")
_TO = ("destination", "dest", "dst", "to", "new", "output", "save", "target")

_DATABASES = {
    "postgres": "postgres", "postgresql": "postgres", "pg": "postgres", "supabase": "postgres", "neon": "postgres",
    "mysql": "mysql", "mariadb": "mysql", "sqlite": "sqlite", "mssql": "tsql", "sqlserver": "tsql",
    "bigquery": "bigquery", "snowflake": "snowflake", "duckdb": "duckdb", "motherduck": "duckdb",
    "clickhouse": "clickhouse", "oracle": "oracle",
    **dict.fromkeys(("sql", "db", "database", "mongodb", "mongo", "redis", "cassandra", "influxdb", "dbhub"), ""),
    **dict.fromkeys(("elasticsearch", "neo4j", "dynamodb", "firestore", "qdrant", "pinecone", "planetscale"), ""),
}  # fmt: skip
"""Words in a tool's name that speak of a database -> sqlglot's dialect."""
_QUERIES = ("sql", "query", "statement", "queries", "statements", "command", "q", "script")
_DOCUMENTS = frozenset(("docs", "documentation", "search"))
_STORES = frozenset(
    "database table collection index indices keyspace bucket schema project branch all cluster namespace".split()  # noqa: SIM905 - one line reads better than thirteen
)
_CHOOSES = ("filter", "where", "id", "ids", "key", "keys", "condition", "query", "predicate", "points")
_EMPTIES = frozenset(("drop", "truncate", "flush", "flushall", "flushdb", "wipe", "purge", "reset"))
_PLACES = frozenset(
    (
        *("kubernetes", "k8s", "kubectl", "helm", "aws", "gcp", "gcloud", "azure", "terraform", "pulumi", "cloudflare"),
        *("vercel", "netlify", "heroku", "railway", "render", "digitalocean", "docker", "github", "gitlab", "fly"),
        *("argocd", "s3", "ec2", "lambda", "firebase"),
    )
)
"""Words in a tool's name that speak of what runs or is kept elsewhere."""
_EMPTYING = re.compile(r"\s*(?:FLUSHALL|FLUSHDB)\b|.*\.\s*(?:drop|dropDatabase)\s*\(", re.IGNORECASE | re.DOTALL)
_KEEPS = frozenset(("file", "comment", "label", "reaction", "draft", "message", "note", "reviewer", "assignee"))
"""What is deleted there without much loss: a file in a repository stays in its history."""


# What a tool runs


def command_of(tool: str, arguments: Arguments) -> str | list[str] | None:
    """The shell text or argv that a tool runs; None for tools that run none."""
    given = values_of(arguments)
    name, words = plain_name(tool), frozenset(name_words(tool))
    shell = name in _SHELLS
    if not shell and (found := _search(name, words, arguments)):
        return found
    if not shell and (name in _NAMES or words & _DATABASES.keys() or name == "applypatch"):
        return None
    values = [value for key in (*_COMMANDS, *(_TYPED if shell else ())) for value in given.get(key, ()) if value]
    values = [_lines(value) if value in given.get("commands", ()) else value for value in values]
    if not (shell or words & _PAGES) and len(given) > 1:
        # An editor that is told what to do: {"command": "view", "path": ...}
        told = [value for value in values if isinstance(value, str) and _WORDS.get(value.partition("_")[0])]
        if told and len(told) == len(values):
            return None
    if len(values) == 1 and isinstance(values[0], list):
        return [str(item) for item in values[0]]
    texts = [shlex.join(map(str, v)) if isinstance(v, list) else v for v in values if isinstance(v, list | str)]
    texts = [_ENTER.sub("\n", text) for text in texts]
    if texts and not words & _PAGES:
        return _placed("\n".join(dict.fromkeys(texts)), name, given, words)
    return _program({key: values[0] for key, values in given.items()}, words)


def _search(name: str, words: frozenset[str], arguments: Arguments) -> list[str]:
    """A search that names the files it looks into, as rg would be told; empty for any other tool."""
    items = list(texts_of(arguments))
    whole = name == "readmanyfiles"
    globs = [i.text for i in items if i.key in _GLOBS or (whole and i.key in ("path", "paths") and _is_glob(i.text))]
    if not globs or (_NAMES.get(name) or _first(tuple(words))) != "read":
        return []
    folders = [i.text for i in items if i.key.endswith(_ENDINGS) and not _is_glob(i.text)]
    pieces = (piece for glob in globs for piece in ([glob] if "{" in glob else re.split(r"[,\s]+", glob)) if piece)
    chosen = [word for glob in dict.fromkeys(pieces) for word in ("-g", glob)]
    return ["rg", "--hidden", "--no-ignore", "-e", "x", *chosen, "--", *folders]


def _is_glob(text: str) -> bool:
    return any(c in text for c in "*?[{")


def _lines(value: object) -> object:
    return "\n".join(_line(item) for item in value) if isinstance(value, list) else value


def _line(item: object) -> str:
    return str(item.get("command", item.get("cmd", ""))) if isinstance(item, Mapping) else str(item)


def _placed(text: str, name: str, given: Mapping[str, list[object]], words: frozenset[str]) -> str | list[str]:
    """A command line, in its folder, or in the container or on the machine that it is for."""
    if words & _PODS:
        return ["kubectl", "exec", "pod", "--", "sh", "-c", text]
    if words & _CONTAINERS:
        return ["docker", "exec", "container", "sh", "-c", text]
    if "ssh" in words:
        return ["ssh", str(given.get("host", ["host"])[0]), text]
    own = _OWN_FOLDERS.get(name, ())
    named = {f: key in own for key in _FOLDERS for f in given.get(key, ()) if isinstance(f, str) and f not in ("", ".")}
    texts = [f"cd {shlex.quote(folder)}\n{text}" for folder in named]
    if sum(named.values()) != 1 or len(named) != 1:
        texts.append(text)  # rule 5
    return texts[0] if len(texts) == 1 else "\n".join(f"(\n{one}\n)" for one in texts)


def _program(given: Arguments, words: frozenset[str]) -> str | list[str] | None:
    """A program text: as its interpreter would be given it."""
    text = next((t for key in _CODES if isinstance(t := given.get(key), str)), "")
    language = str(given.get("language", "")).lower()
    runs = bool(words & {"execute", "run", "exec", "eval", "evaluate"}) and not words & _PAGES
    if not text or not (runs or language):
        return None
    if language in ("bash", "sh", "shell", "zsh"):
        return text
    if language in _NODES or (not language and words & _NODES):
        return ["node", "-e", text]
    if language in ("python", "python3", "py") or (not language and words & (_PYTHONS | {"code"})):
        shell = [line.lstrip()[1:] for line in text.splitlines() if line.lstrip().startswith("!")]
        rest = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("!", "%")))
        if text.startswith(("%%bash", "%%sh")):
            return text.partition("\n")[2]
        return "\n".join([*shell, shlex.join(["python3", "-c", rest])]) if shell else ["python3", "-c", rest]
    return None


# What it does besides


def tool_effects(tool: str, arguments: Arguments, cwd: str, world: World) -> Iterator[Effect]:
    """What a tool does to the files, hosts and databases that its arguments name."""
    items = list(texts_of(arguments))
    name, words = plain_name(tool), name_words(tool)
    yield from _network(name, words, items, arguments)
    if patch := next((i.text for i in items if i.key in _PATCHES and _is_patch(i.text)), ""):
        yield from _patched(patch, cwd, world)
    if name == "applypatch":
        return
    yield from _databases(tool, words, items, arguments)
    verb, sure = _verb(name, words, items)
    if len(items) > MAX_ITEMS:
        yield Effect(Kind.OPAQUE, f"{tool}: more than is looked at", sure=False, how=frozenset(("parse",)))
    if _elsewhere(name, words, items):
        if verb in ("write", "change", "delete", "move"):
            yield Effect(Kind.PUBLISH, " ".join(i.text for i in items if i.key in ("owner", "repo", "projectid")))
        return
    for item in items:
        if _is_path(item, verb):
            path = _located(item.text, cwd, world, follow=verb not in ("delete", "move"))
            yield from _touched(item, verb, path, words, sure=sure)


def _verb(name: str, words: Sequence[str], items: Sequence[Item]) -> tuple[str, bool]:
    """What a tool does to a path, and whether that is known."""
    told = next((i.text for i in items if i.key == "command" and i.beside & {"path", "filepath", "oldpath"}), "")
    if told and (verb := _first(name_words(told))):
        return verb, True
    if name in _NAMES:
        return _NAMES[name], True
    return _first(words), False


@lru_cache(maxsize=1024)
def _first(words: tuple[str, ...]) -> str:
    """The first verb among some words; a search that replaces is a change."""
    if "replace" in words:
        return "change"
    whole = next((_WORDS[word] for word in words if word in _WORDS), "")
    return (
        whole
        or next((v for w in words for k, v in _WORDS.items() if len(k) > 3 and w.startswith(k)), "")
        or next((v for w in words for k, v in _WORDS.items() if len(k) > 3 and w.endswith(k)), "")
    )


def _touched(item: Item, verb: str, path: str, words: Sequence[str], *, sure: bool) -> Iterator[Effect]:
    comes, goes = item.key.startswith(_FROM), item.key.startswith(_TO)
    if not verb:
        verb, sure = ("change", False) if item.beside & {*_CONTENTS} else ("read", True)
    if verb == "move":
        yield Effect(Kind.WRITE if goes else Kind.DELETE, path, sure, frozenset(("move",)))
    elif verb == "delete":
        yield Effect(Kind.DELETE, path, sure, frozenset(("recursive",) if sure else ()))
    elif verb == "upload":
        yield Effect(Kind.READ, path)
        yield Effect(Kind.NETWORK, " ".join(words), how=frozenset(("data",)))
    elif (verb in ("read", "copy") and not goes) or (comes and verb != "append"):
        yield Effect(Kind.READ, path)
    else:
        how = {"write": ("truncate",), "change": ("inplace",), "append": ("append",), "copy": ("truncate",)}
        yield Effect(Kind.WRITE, path, sure, frozenset(how.get(verb, ()) if sure else ()))


def _located(text: str, cwd: str, world: World, *, follow: bool) -> str:
    if text.startswith("file://"):
        text = unquote(text.removeprefix("file://").removeprefix("localhost"))
    named = world.home + text[1:] if text == "~" or text.startswith("~/") else text
    return paths.locate(named, cwd, world, follow=follow)


def _is_path(item: Item, verb: str) -> bool:
    text, key = item.text, item.key
    named = key in _PATHS or key.endswith(_ENDINGS) or (key in _URLS and text.startswith("file://"))
    if key in ("from", "to") and verb in ("move", "copy"):
        named = True
    if key in _BASES:
        return False
    if key in _GLOBS and _is_glob(text):
        return False
    # A client makes "a://../.env" and "x\n/../.env" plain before it opens them.
    near = len(text) <= MAX_PATH or len(posixpath.normpath(text)) <= MAX_PATH
    return named and bool(text) and near and not _SCHEME.match(text)


def _elsewhere(name: str, words: Sequence[str], items: Sequence[Item]) -> bool:
    """The paths lie in a repository of a forge: ``create_or_update_file {owner, repo, path, content}``."""
    if name in _NAMES and not _FORGES & {*words}:
        return False
    return any({"owner", "repo"} <= item.beside or {"projectid", "branch"} <= item.beside for item in items)


def _network(name: str, words: Sequence[str], items: Sequence[Item], arguments: Arguments) -> Iterator[Effect]:
    given = {folded(key): value for key, value in arguments.items()}
    how = {"data"} if any(given.get(key) for key in _BODIES) and not {"get", "fetch"} & {*words} else set()
    how |= {"delete"} if str(given.get("method", "")).upper() == "DELETE" else set()
    for item in items:
        if item.key in _URLS and "://" in item.text and not item.text.startswith("file://"):
            yield Effect(Kind.NETWORK, item.text, how=frozenset(how))
        elif name == "webfetch" and item.key == "prompt":
            yield from (Effect(Kind.NETWORK, found) for found in _IN_TEXT.findall(item.text))


def _databases(tool: str, words: Sequence[str], items: Sequence[Item], arguments: Arguments) -> Iterator[Effect]:
    spoken = [word for word in words if word in _DATABASES]
    dialect = next((_DATABASES[word] for word in spoken if _DATABASES[word]), "")
    asked = [i for i in items if i.key == "sql" or (spoken and i.key in _QUERIES and not _DOCUMENTS & {*words})]
    for item in asked:
        if spoken and _EMPTYING.match(item.text):
            yield Effect(Kind.DATABASE, item.text[:80], how=frozenset(("delete",)))
        for what in sql_statements.found(item.text, dialect):
            if what.how in ("delete", "truncate"):
                yield Effect(Kind.DATABASE, what.text, how=frozenset((what.how,)))
            elif what.how in ("program", "code"):
                yield Effect(Kind.OPAQUE, what.text, sure=False, how=frozenset(("code",)))
    said, verbs = {*words}, _first(tuple(words))
    if _is_path_tool(items):
        return
    chosen = any(value and (folded(key) in _CHOOSES or folded(key).endswith("id")) for key, value in arguments.items())
    whole = bool(said & _STORES) or not chosen
    if spoken and not asked and (said & _EMPTIES or (verbs == "delete" and whole)):
        yield Effect(Kind.DATABASE, tool, how=frozenset(("delete",)))
    elif said & _PLACES and verbs == "delete" and not said & _KEEPS:
        yield Effect(Kind.DEPLOY, tool, how=frozenset(("delete",)))


def _is_path_tool(items: Sequence[Item]) -> bool:
    return any(_is_path(item, "") for item in items)


# Patches


def _is_patch(text: str) -> bool:
    return "*** Begin Patch" in text or "\n+++ " in text or text.startswith(("--- ", "diff --git "))


def _patched(text: str, cwd: str, world: World) -> Iterator[Effect]:
    for name, removed in list(enveloped(text)) or list(patched_paths(text)):
        if removed:
            yield Effect(Kind.DELETE, paths.locate(name, cwd, world, follow=False))
        else:
            yield Effect(Kind.WRITE, paths.locate(name, cwd, world), how=frozenset(("inplace",)))
