"""Finds SQL statements that lose data, use server files or run programs. The only file that knows sqlglot.

Rules of this file:
1. Strings and comments are no statements: ``SELECT 'DROP TABLE x'`` is a question.
2. sqlglot is imported, and a statement parsed, only where a word in it could mean harm; a daemon loads it soon after
   its start, beside whatever it does.
3. What it cannot parse, and what goes beyond ``MAX_PARSED``, is judged by its words: never silent, never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlglot import exp

MAX_PARSED = 8 * 1024
"""Characters of one text that sqlglot is given, each statement taken for ``_PRICE`` more: about 15 ms."""
_PRICE = 150
MAX_DEPTH = 3
"""Texts inside texts: ``DO $$ ... EXECUTE '...' $$``."""
_SHOWN = 80

_BACKSLASH = ("mysql", "bigquery", "clickhouse", "snowflake")
"""Dialects whose strings know ``\\'``."""
_DOLLARS = ("postgres", "snowflake", "duckdb")
_STRINGS = ("mysql", "bigquery", "clickhouse")
"""Dialects whose double quotes hold a string."""
_TRANSACTIONAL = ("postgres", "sqlite", "tsql", "duckdb")
"""Dialects that roll DROP and TRUNCATE back; the others commit them at once."""

_RISKY = re.compile(
    r"\b(?:drop|truncate|delete|update|merge|overwrite|restore|reset|purge|replace|outfile|dumpfile|infile|copy|exec|execute"
    r"|prepare|xp_cmdshell|sp_executesql|pg_read\w*|pg_ls\w*|lo_\w+|load_file|readfile|writefile|dblink\w*|bulk|expire_snapshots"
    r"|remove_orphan_files|rollback_to_\w+)\b",
    re.IGNORECASE,
)
_HARMLESS = r"CONSTRAINT|INDEX|KEY|PRIMARY|FOREIGN|CHECK|NOT|DEFAULT|EXPRESSION|IDENTITY|STATISTICS|CASCADE"
_ALTER_DROPS = re.compile(rf"\bDROP\s+(?!(?:{_HARMLESS})\b)|\bTRUNCATE\s+PARTITION\b")
_TEMPORARY = re.compile(
    r"\b(?:CREATE\s+(?:(?:OR\s+REPLACE|GLOBAL|LOCAL)\s+)*|INTO\s+)TEMP(?:ORARY)?\s+(?:TABLE\s+|VIEW\s+|SEQUENCE\s+)?"
    r"(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)"
)
_CODE = r"VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX|POLICY|RULE|AGGREGATE|OPERATOR"
"""Objects that hold no rows."""
_MADE = re.compile(
    rf"\s*CREATE\s[\w\s]*?\b({_CODE})\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)",
)
_UNMADE = re.compile(
    rf"\s*DROP\s+(?:MATERIALIZED\s+)?({_CODE})\s+(?:CONCURRENTLY\s+)?(?:IF\s+EXISTS\s+)?([\w.]+)",
)
_DROPPED = re.compile(
    r"(?:DROP|TRUNCATE)\s+(?:\w+\s+)??(?:TABLE\s+)?(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?([\w.#]+(?:\s*,\s*[\w.#]+)*)"
)
_ROUTINE = re.compile(
    r"\s*(?:CREATE|ALTER)\b[^;]*?\b(?:TRIGGER|PROC|PROCEDURE|FUNCTION|EVENT|PACKAGE)\b.*\bBEGIN\b", re.DOTALL
)
_ENDS = re.compile(r"\s*END(?!\s+(?:IF|LOOP|WHILE|CASE|REPEAT)\b)\b")
_VERB = (
    r"(?:DROP\s+(?:TABLE|DATABASE|SCHEMA|VIEW|USER|LOGIN|INDEX)\b|TRUNCATE\s+TABLE\b|DELETE\s+FROM\b"
    r"|UPDATE\s+[\w.]+\s+SET\b|ALTER\s+TABLE\b|EXEC\w*\b)"
)
_BLOCK = re.compile(rf"\b(?:BEGIN|THEN|ELSE|LOOP)\s+(?={_VERB})")
_UNSEPARATED = re.compile(rf"\s(?={_VERB})|^\s*GO\s*$", re.MULTILINE)
_DELIMITER = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_EXPLAIN = re.compile(r"\s*(?:EXPLAIN|DESCRIBE|DESC)\b\s*(\([^)]*\)|(?:(?:ANALYZE|VERBOSE)\s+)*)")
_EXECUTES = re.compile(r"\b(?:EXEC(?:UTE)?|PREPARE|SP_EXECUTESQL|DBLINK\w*)\b|^\s*DO\b")
_CONSTANT = re.compile(r"\bWHERE\s+(?:1|TRUE|1\s*=\s*1)\s*$")
_CHOSEN = re.compile(r"\bTOP\s*\(|\bWHERE\s+CURRENT\s+OF\b")
_DEFINITIONS = ("DROP", "TRUNCATE", "ALTER", "CREATE", "RENAME")

_NAMED = (
    (re.compile(r"\bPROGRAM\s*(?=[E']|\$)"), "program"),
    (re.compile(r"\bXP_CMDSHELL\s*\(?\s*(?=N?')"), "code"),
    (re.compile(r"\bINTO\s+(?:OUTFILE|DUMPFILE)\s*(?=['\"])"), "write"),
    (re.compile(r"\ACOPY\b.*?\bTO\s*(?=')", re.DOTALL), "write"),
    (re.compile(r"\bLO_EXPORT\s*\([^,()]*,\s*(?=')"), "write"),
    (re.compile(r"\bWRITEFILE\s*\(\s*(?=')"), "write"),
    (re.compile(r"\A(?:COPY|BULK\s+INSERT)\b.*?\bFROM\s*(?=')", re.DOTALL), "read"),
    (re.compile(r"\bINFILE\s*(?=['\"])"), "read"),
    (re.compile(r"\b(?:PG_READ\w*|PG_LS_DIR|LO_IMPORT|LOAD_FILE|READFILE)\s*\(\s*(?=['\"])"), "read"),
)
"""What stands before a string that names a file or a program."""
_STRING = re.compile(r"[NEne]?(?:'((?:[^']|'')*)'|\"([^\"]*)\"|\$(\w*)\$(.*?)\$\3\$)", re.DOTALL)


class Found(NamedTuple):
    """Something that an SQL text does."""

    how: str
    """``delete``, ``truncate``: data is lost; ``read``, ``write``: a file of the server; ``program``: a shell text that
    the server runs; ``code``: another one that is not looked at."""
    text: str
    """The statement (its first 80 characters), the path, the shell text."""


def found(text: str, dialect: str = "", *, plain: bool = True) -> Iterator[Found]:
    """What an SQL text does that cannot be undone, in order.

    ``dialect`` is sqlglot's name for it, empty where it is not known. ``plain`` is False for a text that held commands
    of its client: then a closing ROLLBACK proves nothing.
    """
    return _found(text, dialect, 0, plain=plain)


def _found(text: str, dialect: str, depth: int, *, plain: bool) -> Iterator[Found]:
    if not _RISKY.search(text) or depth > MAX_DEPTH:
        return
    parts = list(statements(text, dialect))
    undone = _undone([code for _, code in parts], dialect) if plain else range(0)
    temporary, made, left = set[str](), _remade([code for _, code in parts]), MAX_PARSED
    for at, (raw, code) in enumerate(parts):
        temporary |= {_name(match[1]) for match in _TEMPORARY.finditer(code)}
        yield from _inside(raw, code, dialect, depth)
        if not _RISKY.search(code):
            continue
        yield from _named(raw, code)
        if at in undone or _remakes(code, made):
            continue
        left -= len(raw) + _PRICE
        how = _how(raw, code, dialect if left > 0 else None, temporary)
        if how:
            yield Found(how, " ".join(raw.split())[:_SHOWN])


# Text -> statements


@lru_cache(maxsize=16)
def _quoted(dialect: str) -> re.Pattern[str]:
    inner = r"(?:[^{0}\\]|\\.|{0}{0})*+" if dialect in _BACKSLASH else r"(?:[^{0}]|{0}{0})*+"
    string = "'" + inner.format("'") + r"(?:'|\Z)"
    double = '"' + inner.format('"') + r'(?:"|\Z)'
    strings, names = [string], [r"`[^`]*(?:`|\Z)"]
    (strings if dialect in _STRINGS else names).append(double)
    if dialect == "tsql":
        names.append(r"\[[^\]]*(?:\]|\Z)")
    if dialect == "postgres":
        strings.insert(0, r"\b[eE]'(?:[^'\\]|\\.|'')*+(?:'|\Z)")
    if dialect in _DOLLARS:
        strings.append(r"\$(?P<tag>[A-Za-z_]\w*)?\$(?:.*?\$(?(tag)(?P=tag))\$|.*)")
    comments = [r"--[^\n]*", r"/\*(?:.*?\*/|.*)", *([r"#[^\n]*"] if dialect in ("mysql", "bigquery") else [])]
    groups = (f"(?P<{n}>{'|'.join(g)})" for n, g in (("string", strings), ("name", names), ("comment", comments)))
    return re.compile("|".join(groups), re.DOTALL)


def mask(text: str, dialect: str = "") -> str:
    """The text, as long as before: strings and comments blank, quoted names as plain ones."""

    def plain(match: re.Match[str]) -> str:
        whole = match[0]
        if match["name"]:
            return "".join(c if c.isalnum() or c in "_#" else "_" for c in whole)
        return f"'{' ' * (len(whole) - 2)}'" if match["string"] and len(whole) > 1 else " " * len(whole)

    return _quoted(dialect).sub(plain, text)


def statements(text: str, dialect: str = "") -> Iterator[tuple[str, str]]:
    """Pairs of (statement as written, the same masked and in upper case). Bodies of routines stay in one piece."""
    if dialect == "mysql" and "/*!" in text:
        text = re.sub(r"/\*!\d*(.*?)\*/", r" \1 ", text, flags=re.DOTALL)
    code = mask(text, dialect)
    code = code.upper() if code.isascii() else "".join(c.upper() if c.isascii() else c for c in code)
    code = _delimited(code) if dialect == "mysql" and "DELIMITER" in code else code
    cuts = _cuts(code, dialect)
    spans = [(start + (code[start : start + 1] == ";"), end) for start, end in zip([0, *cuts], cuts, strict=False)]
    last_end = max((n for n, (start, end) in enumerate(spans) if _ENDS.match(code, start, end)), default=-1)
    body = False
    for at, (start, end) in enumerate(spans):
        part = code[start:end].strip()
        if body:
            body = not _ENDS.match(part)
        elif at < last_end and _ROUTINE.match(part):
            body = True
        elif part:
            yield text[start:end].strip(), part


def _delimited(code: str) -> str:
    """With semicolons for what ``DELIMITER`` of the mysql client says; as long as before."""
    for mark in {match[1] for match in _DELIMITER.finditer(code)} - {";"}:
        code = code.replace(mark, ";".ljust(len(mark)))
    return _DELIMITER.sub(lambda match: " " * len(match[0]), code)


def _cuts(code: str, dialect: str) -> list[int]:
    """Where one statement ends: at semicolons, before the statements of a block, and in T-SQL before any verb."""
    cuts = {n for n, c in enumerate(code) if c == ";"} | {match.end() for match in _BLOCK.finditer(code)}
    if dialect == "tsql":
        cuts |= {match.end() for match in _UNSEPARATED.finditer(code)}
    return sorted(cuts | {len(code)})


# Statements -> losses


def _how(raw: str, code: str, dialect: str | None, temporary: set[str]) -> str:
    """``delete``, ``truncate`` or nothing, for one statement. Without a dialect its words decide."""
    explained = _EXPLAIN.match(code)
    if explained is not None:
        if "ANALYZE" not in explained[1]:
            return ""
        raw, code = raw[explained.end() :], code[explained.end() :]
    names = {_name(name) for match in [_DROPPED.match(code)] if match for name in match[1].split(",")}
    if names and all(name in temporary or name.startswith(("#", "pg_temp")) for name in names):
        temporary -= names if code.startswith("DROP") else set()
        return ""
    named = code.startswith(("RESET", "PURGE", "CALL"))  # statements that sqlglot takes for names
    return _by_words(code) if dialect is None or named else _by_tree(raw, code, dialect, temporary)


def _name(text: str) -> str:
    return text.strip(" _").lower()


_PROCEDURES = re.compile(r"\b(?:EXPIRE_SNAPSHOTS|REMOVE_ORPHAN_FILES|ROLLBACK_TO_\w+)\b")
"""Of Iceberg's: what a table was before is gone for good."""


def _by_words(code: str) -> str:
    """What sqlglot does not know: the first word, and what must stand behind it."""
    words = code.replace("(", " (").split()
    head = words[0] if words else ""
    if head == "ALTER":
        return "delete" if _ALTER_DROPS.search(code) else ""
    if head in ("DROP", "RESTORE"):
        return "" if words[1:2] in (["TEMPORARY"], ["STATISTICS"], ["PREPARE"], ["INDEX"]) else "delete"
    if head in ("RESET", "PURGE"):
        return "delete" if {"MASTER", "BINARY"} & {*words[1:2]} else ""
    if head == "CALL":
        return "delete" if _PROCEDURES.search(code) else ""
    if head == "TRUNCATE":
        return "truncate"
    unbound = not _CHOSEN.search(code) and "LIMIT" not in words and ("WHERE" not in words or _CONSTANT.search(code))
    verbs = {"DELETE": len(words) > 1, "UPDATE": "SET" in words, "WITH": "DELETE" in words}
    changes = verbs.get(head, False)
    return "delete" if unbound and changes else ""


def _by_tree(raw: str, code: str, dialect: str, temporary: set[str]) -> str:
    try:
        trees = _parsed(raw, dialect)
        return next((how for tree in trees for how in _lost(tree, code, dialect, temporary)), "")
    except Exception:  # noqa: BLE001 - whatever goes wrong in a parser of that size, the words still say enough
        return _by_words(code)


def load() -> None:
    """Load the parser, for a process that has time now."""
    _by_tree("DELETE FROM t", "DELETE FROM T", "", set())


def _parsed(raw: str, dialect: str) -> list[exp.Expr]:
    import sqlglot  # noqa: PLC0415 - 120 ms, which most commands need not wait for
    from sqlglot.parser import logger  # noqa: PLC0415 - the same

    logger.disabled = True  # it tells standard error what it takes for a Command; we ask for that ourselves
    return [tree for tree in sqlglot.parse(raw, read=dialect or None) if tree is not None]


def _lost(tree: exp.Expr, code: str, dialect: str, temporary: set[str]) -> Iterator[str]:
    from sqlglot import exp  # noqa: PLC0415 - as above

    for node in tree.walk():
        if isinstance(node, exp.Drop):
            kept = node.args.get("temporary") or node.args.get("kind") == "INDEX"
            if not kept and not isinstance(node.parent, exp.Alter):
                yield "delete"
        elif isinstance(node, exp.TruncateTable):
            yield "truncate"
        elif isinstance(node, exp.Delete | exp.Update):
            table = node.find(exp.Table)
            spared = table is not None and table.name.lower() in temporary
            if not (spared or _bounded(node) or _CHOSEN.search(code) or isinstance(node.parent, exp.When)):
                yield "delete"
        elif isinstance(node, exp.Merge):
            deletes = any(str(when.args.get("then")).upper() == "DELETE" for when in node.find_all(exp.When))
            if deletes and node.args.get("on") is not None and _constant(node.args["on"]) is not None:
                yield "delete"
        elif isinstance(node, exp.Create):
            kinds = ("TABLE", "DATABASE", "SCHEMA")
            if node.args.get("replace") and node.args.get("kind") in kinds and dialect != "duckdb":
                yield "delete"
        elif isinstance(node, exp.Command | exp.Alter) and (how := _by_words(code)):
            yield how


def _bounded(node: exp.Expr) -> bool:
    """A DELETE or UPDATE means some rows: it has a WHERE that may be false, or a LIMIT."""
    where = node.args.get("where")
    return bool(node.args.get("limit")) or (where is not None and _constant(where.this) is not True)


def _constant(condition: exp.Expr) -> bool | None:
    """What a condition always is; None where that depends on the row. (sqlglot's own simplify is not linear.)"""
    from sqlglot import exp  # noqa: PLC0415 - as above

    simple = condition.unnest()
    if isinstance(simple, exp.Or | exp.And):
        sides = [_constant(side) for side in simple.flatten()]
        decides = isinstance(simple, exp.Or)
        return decides if decides in sides else None if None in sides else not decides
    if isinstance(simple, exp.Not):
        inner = _constant(simple.this)
        return None if inner is None else not inner
    if isinstance(simple, exp.Boolean):
        return bool(simple.this)
    if isinstance(simple, exp.Literal):
        return simple.this not in ("0", "", "f", "false", "n", "no", "off")
    if isinstance(simple, exp.Like) and simple.expression.is_string:
        return True if not simple.expression.name.strip("%") else None
    return _compared(simple) if isinstance(simple, exp.Binary) else None


def _compared(pair: exp.Binary) -> bool | None:
    """``1 = 1``, ``2 > 1``, ``id = id``; numbers by their value."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    left, right = pair.left.unnest(), pair.right.unnest()
    if isinstance(pair, exp.EQ | exp.GTE | exp.LTE) and left == right:
        return True
    if not (isinstance(left, exp.Literal) and isinstance(right, exp.Literal)):
        return None
    if not (left.is_number and right.is_number):
        return left.this != right.this if isinstance(pair, exp.NEQ) else None
    a, b = float(left.this), float(right.this)
    told = {exp.EQ: a == b, exp.NEQ: a != b, exp.GT: a > b, exp.LT: a < b, exp.GTE: a >= b, exp.LTE: a <= b}
    return told.get(type(pair))


# What a whole text undoes


def _undone(codes: list[str], dialect: str) -> range:
    """The statements that a ROLLBACK, the text's last word, surely takes back."""
    heads = [code.split(None, 1)[0] for code in codes]
    if not heads or heads[-1] not in ("ROLLBACK", "ABORT") or " TO " in codes[-1]:
        return range(0)
    last = len(heads) - 1
    begin = max(
        (n for n, code in enumerate(codes) if re.match(r"BEGIN(?:\s+TRAN\w*|\s+WORK)?$|START\s+TRAN", code)), default=-1
    )
    between = heads[begin + 1 : last]
    ends = {"COMMIT", "END", "ROLLBACK", "ABORT", "PREPARE", *(() if dialect in _TRANSACTIONAL else _DEFINITIONS)}
    return range(0) if begin < 0 or ends & set(between) else range(begin, last)


def _remade(codes: list[str]) -> set[tuple[str, str]]:
    return {(match[1], _name(match[2])) for code in codes if (match := _MADE.match(code))}


def _remakes(code: str, made: set[tuple[str, str]]) -> bool:
    """``DROP VIEW v; CREATE VIEW v AS ...`` loses nothing."""
    match = _UNMADE.match(code)
    return match is not None and (match[1], _name(match[2])) in made


# Strings that are more than data


def _named(raw: str, code: str) -> Iterator[Found]:
    """Files and programs of the server."""
    for pattern, how in _NAMED:
        for match in pattern.finditer(code):
            if string := _STRING.match(raw, match.end()):
                yield Found(how, _value(string))


def _inside(raw: str, code: str, dialect: str, depth: int) -> Iterator[Found]:
    """``DO $$ ... $$``, ``EXECUTE '...'``: strings that are run."""
    if _EXECUTES.search(code):
        for string in _STRING.finditer(raw):
            yield from _found(_value(string), dialect, depth + 1, plain=False)


def _value(string: re.Match[str]) -> str:
    return (string[1] or "").replace("''", "'") or string[2] or string[4] or ""
