"""SQL -> what of it loses data. Every text here is only ever parsed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core.analysis.programs.databases import sql_statements
from sentinel_guard.core.analysis.programs.databases.sql_client_commands import split


def rows(table):
    return [pytest.param(*row[:-1], id=row[-1]) for row in table]


LOST = [
    ("", "DROP TABLE users", ["delete"], "a table"),
    ("postgres", "drop table a, b cascade", ["delete"], "several"),
    ("postgres", "DROP SCHEMA public CASCADE", ["delete"], "a schema"),
    ("postgres", "DROP OWNED BY app", ["delete"], "what sqlglot takes for a command"),
    ("postgres", "DROP ROLE app", ["delete"], "a role"),
    ("", "DROP KEYSPACE app", ["delete"], "an object that sqlglot has no word for"),
    ("oracle", "DROP TABLE x PURGE", ["delete"], "Oracle"),
    ("postgres", "TRUNCATE ONLY users RESTART IDENTITY", ["truncate"], "truncate"),
    ("mysql", "DELETE FROM users", ["delete"], "no WHERE"),
    ("postgres", "DELETE FROM users -- WHERE id = 1", ["delete"], "a WHERE in a comment"),
    ("postgres", "DELETE FROM users WHERE 1=1", ["delete"], "a WHERE that is always true"),
    ("postgres", "DELETE FROM users WHERE (TRUE)", ["delete"], "true"),
    ("sqlite", "DELETE FROM users WHERE 1", ["delete"], "one"),
    ("sqlite", "DELETE FROM users WHERE id = 3 OR 2 > 1", ["delete"], "or something true"),
    ("sqlite", "DELETE FROM users WHERE NOT 1 > 2", ["delete"], "not something false"),
    ("postgres", "DELETE FROM users WHERE id = id", ["delete"], "equal to itself"),
    ("postgres", "DELETE FROM users WHERE name LIKE '%'", ["delete"], "like anything"),
    ("postgres", "UPDATE t SET a = (SELECT 0 FROM u WHERE id = 1)", ["delete"], "a WHERE of a subquery"),
    ("mysql", "UPDATE users SET admin = 1", ["delete"], "an update of all rows"),
    ("mysql", "DELETE u FROM users u JOIN o ON o.uid = u.id", ["delete"], "several tables"),
    ("postgres", "WITH g AS (DELETE FROM users RETURNING id) SELECT count(*) FROM g", ["delete"], "in a WITH"),
    ("postgres", "EXPLAIN ANALYZE DELETE FROM users", ["delete"], "ANALYZE executes"),
    ("postgres", "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users", ["delete"], "the same in parentheses"),
    ("postgres", "ALTER TABLE users DROP COLUMN email", ["delete"], "a column"),
    ("postgres", "ALTER TABLE users DROP email", ["delete"], "a column without the word"),
    ("mysql", "ALTER TABLE logs DROP PARTITION p2023", ["delete"], "a partition, which sqlglot cannot parse"),
    ("clickhouse", "ALTER TABLE t DELETE WHERE 1", ["delete"], "a mutation"),
    ("bigquery", "MERGE INTO t USING s ON FALSE WHEN NOT MATCHED BY SOURCE THEN DELETE", ["delete"], "a constant ON"),
    ("snowflake", "CREATE OR REPLACE TABLE t AS SELECT 1", ["delete"], "a table put in the place of another"),
    ("tsql", "USE master DROP DATABASE prod", ["delete"], "T-SQL needs no semicolon"),
    ("tsql", "SELECT 1\nGO\nDELETE FROM a\nGO\n", ["delete"], "GO"),
    ("tsql", "IF EXISTS (SELECT 1) BEGIN DROP TABLE x END", ["delete"], "in a block"),
    ("tsql", "EXEC('DROP TABLE users')", ["delete"], "a string that is run"),
    ("tsql", "RESTORE DATABASE x FROM DISK = 'y' WITH REPLACE", ["delete"], "a restore"),
    ("postgres", "DO $$ BEGIN EXECUTE 'DROP TABLE users'; END $$", ["delete"], "a string in a body that is run"),
    ("oracle", "BEGIN EXECUTE IMMEDIATE 'DROP TABLE x'; END;", ["delete"], "PL/SQL"),
    ("mysql", "PREPARE s FROM 'DROP TABLE x'; EXECUTE s", ["delete"], "a prepared string"),
    ("mysql", "/*!50000 DROP TABLE users */", ["delete"], "a comment that mysql executes"),
    ("postgres", "SELECT '\\'; DROP TABLE users; --'", ["delete"], "a backslash is no escape in Postgres"),
    ("postgres", "BEGIN; DELETE FROM users; COMMIT; ROLLBACK", ["delete"], "committed before"),
    ("mysql", "START TRANSACTION; DROP TABLE a; ROLLBACK", ["delete"], "mysql commits a DROP at once"),
    ("postgres", "CREATE TEMP TABLE t (a int); DROP TABLE t; DROP TABLE t", ["delete"], "the second one is real"),
    (
        "sqlite",
        "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM log; END; DROP TABLE y",
        ["delete"],
        "behind a body",
    ),
    ("mysql", "DELIMITER //\nCREATE PROCEDURE p() BEGIN DELETE FROM x; END//\nDROP TABLE y//", ["delete"], "DELIMITER"),
    ("mysql", "DELETE FROM a SET ((", ["delete"], "what cannot be parsed is judged by its words"),
    ("postgres", "CREATE TABLE IF NOT EXISTS t (a int); DROP TABLE t", ["delete"], "it may have been there before"),
]
KEPT = [
    ("postgres", "SELECT 'DROP TABLE users'", "a string"),
    ("postgres", "SELECT $a$; DROP TABLE users; $a$", "a dollar string"),
    ("mysql", "SELECT 'it\\'s; DROP TABLE x; '", "an escaped quote"),
    ("postgres", "INSERT INTO n VALUES ('it''s; DROP TABLE x; --')", "a doubled quote"),
    ("postgres", "SELECT 1 -- DROP TABLE x", "a comment"),
    ("postgres", "SELECT 1 /* ; DROP TABLE x */", "a block comment"),
    ("mysql", "SELECT 1 # ; DROP TABLE x", "a comment of mysql"),
    ("postgres", "DELETE FROM users WHERE id = 1", "a WHERE"),
    ("postgres", "DELETE FROM users WHERE id = $1", "a parameter"),
    ("postgres", "delete from sessions where expires_at < now()", "a WHERE with a function"),
    ("sqlite", "DELETE FROM users WHERE 0", "never"),
    ("mysql", "DELETE FROM carts ORDER BY id LIMIT 100", "a LIMIT"),
    ("tsql", "DELETE TOP (5) FROM t", "TOP"),
    ("postgres", "EXPLAIN DELETE FROM users", "EXPLAIN alone"),
    ("postgres", "BEGIN; DROP TABLE a; SELECT 1; ROLLBACK;", "rolled back"),
    ("mysql", "START TRANSACTION; DELETE FROM a; ROLLBACK", "mysql rolls a DELETE back"),
    ("postgres", "CREATE TEMP TABLE t (id int); DELETE FROM t; DROP TABLE t", "a temporary table"),
    ("postgres", "DROP TABLE IF EXISTS pg_temp.t", "the temporary schema"),
    ("mysql", "DROP TEMPORARY TABLE t", "by its word"),
    ("tsql", "DROP TABLE IF EXISTS #tmp", "by its name"),
    ("postgres", "DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT 1", "made again"),
    ("postgres", "ALTER TABLE users ALTER COLUMN email DROP NOT NULL", "a constraint of a column"),
    ("postgres", "ALTER TABLE users DROP CONSTRAINT email_key", "a constraint"),
    ("postgres", "CREATE TABLE a (b int REFERENCES c ON DELETE CASCADE ON UPDATE CASCADE)", "ON DELETE"),
    ("postgres", "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET n = 2", "an upsert"),
    ("mysql", "INSERT INTO a VALUES (1) ON DUPLICATE KEY UPDATE n = n + 1", "an upsert of mysql"),
    ("mysql", "REPLACE INTO kv VALUES (1, 2)", "a replaced row"),
    ("mysql", "SELECT TRUNCATE(1.234, 2)", "a function"),
    ("postgres", "SELECT * FROM users FOR UPDATE", "a lock"),
    ("postgres", "GRANT DELETE, UPDATE ON users TO app", "a grant"),
    ("postgres", "CREATE POLICY p ON t FOR DELETE USING (true)", "a policy"),
    ("postgres", "CREATE FUNCTION f() RETURNS void AS $$ DELETE FROM x; $$ LANGUAGE sql", "a body that is only stored"),
    ("sqlite", "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM log; END", "a trigger"),
    ("bigquery", "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 1", "a merge"),
    ("sqlite", "VACUUM; REINDEX; PRAGMA wal_checkpoint", "upkeep"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "text", "expected"), rows(LOST))
def test_what_is_lost(dialect, text, expected):
    assert [found.how for found in sql_statements.found(text, dialect)] == expected


@pytest.mark.parametrize(("dialect", "text"), rows(KEPT))
def test_what_is_kept(dialect, text):
    assert not list(sql_statements.found(text, dialect))


SERVER = [
    ("postgres", "COPY (SELECT 1) TO PROGRAM 'rm -rf /x'", ("program", "rm -rf /x"), "a program of the server"),
    ("postgres", "COPY t TO '/srv/x'", ("write", "/srv/x"), "a file of the server"),
    ("postgres", "COPY t FROM '/etc/passwd'", ("read", "/etc/passwd"), "the other way"),
    ("postgres", "SELECT pg_read_file('/etc/passwd')", ("read", "/etc/passwd"), "a function that reads"),
    ("postgres", "SELECT lo_export(1, '/srv/x')", ("write", "/srv/x"), "a function that writes"),
    ("mysql", "SELECT 1 INTO OUTFILE '/srv/x'", ("write", "/srv/x"), "OUTFILE"),
    ("mysql", "SELECT LOAD_FILE('/etc/passwd')", ("read", "/etc/passwd"), "LOAD_FILE"),
    ("sqlite", "SELECT writefile('x', 'y')", ("write", "x"), "sqlite"),
    ("tsql", "EXEC xp_cmdshell 'del x'", ("code", "del x"), "xp_cmdshell"),
]


@pytest.mark.parametrize(("dialect", "text", "expected"), rows(SERVER))
def test_files_and_programs_of_the_server(dialect, text, expected):
    assert expected in list(sql_statements.found(text, dialect))


COMMANDS = [
    ("psql", "\\! rm -rf x", [("shell", "rm -rf x")], "a shell text"),
    ("psql", "select 1; \\! ls", [("shell", "ls")], "in the middle of a line"),
    ("psql", "select '\\! ls'", [], "in a string"),
    ("psql", "\\i drop.sql", [("source", "drop.sql")], "a file of SQL"),
    ("psql", "\\copy u to 'a b.csv' csv", [("write", "a b.csv")], "a copy to a file"),
    ("psql", "\\copy u from stdin", [], "a copy from the text"),
    ("psql", "\\copy u from program 'curl x'", [("shell", "curl x")], "a copy from a program"),
    ("psql", "\\o |sh", [("shell", "sh")], "output into a program"),
    ("psql", "\\set x `id`", [("shell", "id")], "backticks"),
    ("psql", "\\d users", [], "a look"),
    ("psql", "SELECT 'DROP TABLE ' || t FROM x \\gexec", [("delete", "\\gexec of statements that are made here")],
     "SQL that makes SQL"),
    ("psql", "COPY a FROM stdin;\n1\tit's\n\\.\nSELECT 1", [], "rows are data"),
    ("mysql", "system rm x", [("shell", "rm x")], "mysql"),
    ("mysql", "\\. drop.sql", [("source", "drop.sql")], "mysql's file"),
    ("mysql", "SELECT system FROM x", [], "a column of that name"),
    ("sqlite", ".shell rm x", [("shell", "rm x")], "sqlite3"),
    ("sqlite", ".sy rm x", [("shell", "rm x")], "abbreviated"),
    ("sqlite", ".once '|rm x'", [("shell", "rm x")], "a pipe"),
    ("sqlite", ".import --csv a.csv t", [("read", "a.csv")], "an import"),
    ("sqlite", ".backup main b.db", [("write", "b.db")], "a backup"),
    ("sqlite", ".restore old.bak", [("delete", "restore old.bak")], "over what is there"),
    ("sqlite", ".output stdout", [], "the terminal"),
    ("oracle", "HOST rm x\n@drop.sql", [("shell", "rm x"), ("source", "drop.sql")], "sqlplus"),
    ("sqlcmd", ":!! del x", [("shell", "del x")], "sqlcmd"),
    ("", "\\! rm x", [], "a client that is not known"),
]  # fmt: skip


@pytest.mark.parametrize(("style", "text", "expected"), rows(COMMANDS))
def test_commands_of_the_clients(style, text, expected):
    dialects = {"psql": "postgres", "mysql": "mysql", "sqlite": "sqlite", "oracle": "oracle", "sqlcmd": "tsql"}
    assert [tuple(found) for found in split(text, style, dialects.get(style, ""))[1]] == expected


def test_2_sqlglot_is_imported_only_for_a_word_of_harm():
    code = (
        "import sys; from sentinel_guard.core.analysis.programs.databases import sql_statements as sql;"
        "list(sql.found(\"SELECT 1; INSERT INTO x VALUES ('a')\")); assert 'sqlglot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


LONG = [
    ("DELETE FROM t WHERE id = 3;\n" * 2400, "many statements"),
    ("DELETE FROM t WHERE " + " OR ".join(f"a = {n}" for n in range(900)), "a long condition"),
    ("DELETE FROM t WHERE " + "(" * 4000, "parentheses"),
    ("DELETE FROM t WHERE " + "NOT " * 1900 + "1", "negations"),
    ("'\\" * 32_000 + " drop", "quotes and backslashes"),
    ("/*" * 32_000 + " drop", "comments that do not end"),
    ("".join(f"$a{n}$" for n in range(9000)) + " drop", "dollars"),
    ("copy x " * 9000, "a word again and again"),
    ("CREATE TRIGGER x BEGIN DELETE; " * 2000 + " END;", "bodies"),
    ("EXEC 'drop'; " * 1000, "strings that are run"),
]


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "tsql"])
@pytest.mark.parametrize("text", rows(LONG))
@pytest.mark.timeout(5)
def test_3_long_texts_end(text, dialect):
    assert {found.how for found in sql_statements.found(text, dialect)} <= {
        "delete",
        "truncate",
        "read",
        "write",
        "program",
        "code",
    }
    assert len(split(text, "psql", dialect)[0]) <= len(text)


def test_3_beyond_what_is_parsed_the_words_decide():
    text = "DELETE FROM t WHERE id = 3;\n" * 1000 + "DELETE FROM t WHERE 1=1;" + "DELETE FROM u"
    assert [found.text for found in sql_statements.found(text, "postgres")] == [
        "DELETE FROM t WHERE 1=1",
        "DELETE FROM u",
    ]


PIECES = ["DROP", "TABLE", "x", ";", "'", '"', "`", "$$", "/*", "*/", "--", "\n", "(", ")", "WHERE", "1=1",
          "DELETE FROM", "EXEC", "BEGIN", "END", "\\", "CREATE TRIGGER", "\\!", "COPY x FROM stdin",
          "[", "é", "\0"]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=30),
    st.sampled_from(["postgres", "mysql", "tsql", "sqlite", "oracle", ""]),
)
def test_3_nothing_raises(pieces, dialect):
    text = " ".join(pieces)
    list(sql_statements.found(text, dialect))
    for style in ("psql", "mysql", "sqlite", "oracle", "sqlcmd"):
        split(text, style, dialect)
    assert len(sql_statements.mask(text, dialect)) == len(text)
