"""Agent tool calls and patches -> effects. Nothing here is ever run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.programs.files.patch_files import enveloped, patched_paths
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import FakeWorld

REPO = "/home/ann/repo"
WORLD = FakeWorld({f"{REPO}/.env": "SECRET=1"}, folders=(f"{REPO}/sub", "/tmp/x"))


def effects_of(tool, arguments):
    return analyse(Action("1", "s", Layer.HOOK, tool, arguments, REPO, 0.0, root=REPO), WORLD)


def shown(tool, arguments) -> list[str]:
    return [
        " ".join(
            [e.kind.value, e.target.replace(f"{REPO}/", ""), *sorted(e.how - {"shown"}), *([] if e.sure else ["?"])]
        )
        for e in effects_of(tool, arguments)
        if e.kind is not Kind.EXECUTE
    ]


def rows(table):
    return [pytest.param(*row[:-1], id=f"{row[0]} - {row[-1]}") for row in table]


PATCH = "*** Begin Patch\n*** Update File: .env\n@@\n-a\n+b\n*** End Patch\n"
MOVED = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-a\n+b\n*** End Patch\n"
DIFF = "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-a\n+b\n"
GONE = ["delete .env force"]
FILES = [
    ("Write", {"file_path": ".env", "content": "rm -rf /"}, ["write .env truncate"], "Claude Code"),
    ("MultiEdit", {"file_path": ".env", "edits": [{"old_string": "a"}]}, ["write .env inplace"], "several edits"),
    ("Edit", {"input": PATCH}, ["write .env inplace"], "Copilot"),
    ("apply_patch", {"command": PATCH}, ["write .env inplace"], "Codex's hook"),
    ("apply_patch", {"input": MOVED}, ["write a.py inplace", "delete a.py", "write b.py inplace"], "a move"),
    ("replace", {"file_path": ".env", "old_string": "a", "new_string": "b"}, ["write .env inplace"], "Gemini"),
    ("edit", {"filePath": f"{REPO}/.env", "newString": "x"}, ["write .env inplace"], "opencode"),
    ("search_replace", {"file_path": ".env"}, ["write .env inplace"], "a search that replaces"),
    ("edit_file", {"target_file": ".env", "code_edit": "x"}, ["write .env inplace"], "Cursor"),
    ("insert_edit_into_file", {"filePath": ".env", "code": "x"}, ["write .env inplace"], "VS Code"),
    ("multi_replace_string_in_file", {"replacements": [{"filePath": ".env"}]}, ["write .env inplace"], "in a list"),
    ("write_to_file", {"TargetFile": ".env"}, ["write .env truncate"], "Windsurf"),
    ("str_replace_based_edit_tool", {"command": "view", "path": ".env"}, ["read .env"], "an editor that only looks"),
    ("str_replace_based_edit_tool", {"command": "create", "path": ".env"}, ["write .env truncate"], "that creates"),
    ("memory", {"command": "rename", "old_path": "a", "new_path": "b"}, ["delete a move", "write b move"], "renames"),
    ("move_path", {"source_path": "a", "destination_path": "b"}, ["delete a move", "write b move"], "Zed"),
    ("delete_path", {"path": ".env"}, ["delete .env recursive"], "Zed deletes"),
    ("read_many_files", {"paths": ["a", ".env"]}, ["read a", "read .env"], "several"),
    ("view_image", {"path": "a.png"}, ["read a.png"], "Codex looks at a picture"),
    ("Grep", {"pattern": "x", "path": ".env"}, ["read .env"], "a search in a file"),
    ("Glob", {"pattern": "**/.env"}, [], "a search for names"),
    ("WebFetch", {"url": "file:///etc/hosts", "prompt": "p"}, ["read /etc/hosts"], "a file by its address"),
    ("create_directory", {"dirPath": "x"}, ["write x append"], "a folder"),
    ("mcp__fs__write_file", {"path": ".env", "content": "x"}, ["write .env truncate"], "MCP with a known name"),
    ("mcp_fs_write_file", {"path": ".env", "content": "x"}, ["write .env ?"], "MCP as Gemini names it"),
    ("fs-delete_file", {"path": ".env"}, ["delete .env ?"], "MCP as Copilot names it"),
    ("mcp__fs__copy_file", {"source": ".env", "destination": "b"}, ["read .env", "write b truncate"], "a copy"),
    ("mcp__fs__read_multiple_files", {"paths": [".env", "b"]}, ["read .env", "read b"], "a list of paths"),
    ("mcp__fs__write", {"files": [{"path": "a", "content": "x"}]}, ["write a truncate"], "objects in a list"),
    ("mcp__x__process", {"path": ".env"}, ["read .env"], "a name that says nothing"),
    ("mcp__x__process", {"path": ".env", "content": "x"}, ["write .env ?"], "the same with content"),
    ("mcp__x__open", {"uri": "file:///etc/h%20s"}, ["read /etc/h s"], "an escaped address"),
    ("mcp__git__git_status", {"repo_path": REPO}, [], "where everything else is relative to"),
    ("mcp__github__create_or_update_file", {"owner": "o", "repo": "r", "path": ".env", "content": "x"},
     ["publish o r"], "a path in a repository elsewhere"),
    ("mcp__github__get_file_contents", {"owner": "o", "repo": "r", "path": ".env"}, [], "read there"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "expected"), rows(FILES))
def test_files(tool, arguments, expected):
    assert shown(tool, arguments) == expected


COMMANDS = [
    ("Shell", {"command": "rm -f .env"}, GONE, "Cursor"),
    ("run_shell_command", {"command": "rm -f .env", "directory": "."}, GONE, "Gemini"),
    ("run_shell_command", {"command": "rm -f .env", "directory": "sub"}, ["delete sub/.env force"], "in a folder"),
    ("exec_command", {"cmd": "rm -f .env", "workdir": "/tmp/x"}, ["delete /tmp/x/.env force"], "Codex in a folder"),
    ("local_shell", {"action": {"command": ["rm", "-f", ".env"]}}, GONE, "an argv one object down"),
    ("run_commands", {"commands": ["ls", "rm -f .env"]}, GONE, "Cline: a list of texts is no argv"),
    ("run_command", {"CommandLine": "rm -f .env"}, GONE, "Windsurf"),
    ("write_stdin", {"session_id": 1, "chars": "rm -f .env\n"}, GONE, "typed into a shell that runs"),
    ("mcp__desktop__start_process", {"command": "rm -f .env"}, GONE, "MCP"),
    ("mcp__anything__go", {"command": "rm -f .env"}, GONE, "a command line by the argument's name"),
    ("mcp__ide__executeCode", {"code": "import os; os.remove('.env')"}, ["delete .env"], "Python in a notebook"),
    ("execute_ipython_cell", {"code": "!rm -f .env\nprint(1)"}, GONE, "a shell line in a notebook"),
    ("run_code", {"language": "bash", "code": "rm -f .env"}, GONE, "a language by its name"),
    ("bash", {"restart": True}, [], "no command"),
    ("bash", {"command": None}, [], "nothing"),
    ("Task", {"prompt": "rm -rf /", "description": "x"}, [], "a task is told in words"),
    ("TodoWrite", {"todos": [{"content": "rm .env"}]}, [], "a list of things to do"),
    ("mcp__browser__evaluate", {"script": "() => document.title"}, [], "a page's own script"),
    ("mcp__sentinel__request_human_help", {"context": "stuck on drop table"}, [], "the beacon"),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), rows(COMMANDS))
def test_commands(tool, arguments, expected):
    assert shown(tool, arguments) == expected


def test_a_container_and_another_machine_are_not_this_one():
    for tool in ("mcp__ssh__run", "mcp__docker__exec", "mcp__k8s__exec_in_pod"):
        assert not [e for e in effects_of(tool, {"command": "rm -rf /"}) if e.kind is Kind.DELETE and e.sure]


ELSEWHERE = [
    ("mcp__postgres__query", {"sql": "DROP TABLE x"}, ["database DROP TABLE x delete"], "SQL"),
    ("mcp__postgres__query", {"sql": "SELECT 'DROP TABLE x'"}, [], "a question"),
    ("mcp__supabase__execute_sql", {"query": "delete from u"}, ["database delete from u delete"], "by another name"),
    ("mcp__supabase__search_docs", {"query": "drop table users"}, [], "a search in documents"),
    ("mcp__mongodb__drop-collection", {"collection": "x"}, ["database mcp__mongodb__drop-collection delete"], "a name"),
    ("mcp__mongodb__delete-many", {"collection": "x", "filter": {"a": 1}}, [], "some documents"),
    ("mcp__mongodb__delete-many", {"collection": "x", "filter": {}},
     ["database mcp__mongodb__delete-many delete"], "all documents"),
    ("mcp__redis__delete", {"key": "k"}, [], "one key"),
    ("mcp__redis__execute", {"command": "FLUSHALL"}, ["database FLUSHALL delete"], "a command of redis"),
    ("mcp__github__delete_repository", {"name": "r"}, ["deploy mcp__github__delete_repository delete"], "a repository"),
    ("mcp__kubernetes__kubectl_delete", {"name": "prod"}, ["deploy mcp__kubernetes__kubectl_delete delete"], "k8s"),
    ("mcp__terraform__destroy", {"dir": "."}, ["deploy mcp__terraform__destroy delete"], "a stack"),
    ("mcp__vercel__list_projects", {}, [], "a list"),
    ("mcp__notion__delete_page", {"page_id": "x"}, [], "what we know nothing of"),
    ("mcp__slack__upload_file", {"file_path": ".env"},
     ["read .env", "network slack upload file data"], "a file that leaves"),
    ("http_request", {"url": "https://x.example", "body": "k=v"}, ["network https://x.example data"], "it sends"),
    ("http_request", {"url": "https://x.example", "method": "DELETE"}, ["network https://x.example delete"], "DELETE"),
    ("web_fetch", {"prompt": "sum up https://x.example/a please"}, ["network https://x.example/a"], "Gemini's fetch"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "expected"), rows(ELSEWHERE))
def test_what_is_elsewhere(tool, arguments, expected):
    assert shown(tool, arguments) == expected


PATCHES = [
    ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", [("x", False)], "unified"),
    ("--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", [("x", False)], "with CRLF"),
    ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", [("x", True)], "a deletion"),
    ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", [("x", False)], "a new file"),
    ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", [("y", False), ("x", False)], "two names: either may be meant"),
    ("--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n--- a/.env\n-+++ b/.env\n+b\n", [("x", False)], "lines like headers"),
    ("--- a/x\t2026-01-01\n+++ b/x\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n", [("x", False)], "with dates"),
    ("*** a/x\t2026\n--- b/x\t2026\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n", [("x", False)], "context"),
    ("Index: src/x\n", [("src/x", False)], "svn"),
    ("diff --git a/x b/y\nrename from x\nrename to y\n", [("y", False), ("x", True), ("y", False)], "a rename"),
    ("diff --git a/.env b/.env\nold mode 100644\nnew mode 100755\n", [(".env", False)], "only a mode"),
    ("diff --git a/a b/b c b/a b/b c\nnew mode 100755\n", [("a b/b c", False)], "a name with the mark in it"),
    ("diff --git a/x.bin b/x.bin\nGIT binary patch\nliteral 0\n", [("x.bin", False)], "binary"),
    ('diff --git "a/\\303\\244" "b/\\303\\244"\nnew mode 100755\n', [("ä", False)], "a quoted name"),
    ('--- "a/\\303\\244.txt"\n+++ "b/\\303\\244.txt"\n@@ -1 +1 @@\n-a\n+b\n', [("ä.txt", False)], "octal escapes"),
    ('--- "a/q\\"\\t"\n+++ "b/q\\"\\t"\n@@ -1 +1 @@\n-a\n+b\n', [('q"\t', False)], "letters that escape"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*row[:-1], id=row[-1]) for row in PATCHES])
def test_patches(text, expected):
    assert list(patched_paths(text)) == expected


def test_a_patch_with_other_depths():
    assert list(patched_paths("--- x/y/z\n+++ x/y/z\n@@ -1 +1 @@\n-a\n+b\n", 0)) == [("x/y/z", False)]
    assert list(patched_paths("--- x/y/z\n+++ x/y/z\n@@ -1 +1 @@\n-a\n+b\n", 2)) == [("z", False)]


def test_the_envelope_names_what_moves_twice():
    assert list(enveloped(MOVED)) == [("a.py", False), ("a.py", True), ("b.py", False)]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["path", "command", "sql", "edits", "x"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(
        ["Bash", "Write", "apply_patch", "mcp__pg__query", "", "__", "run_commands", "mcp__ssh__x", "delete"]
    ),
    st.dictionaries(
        st.sampled_from(["command", "path", "files", "input", "code", "url", "query", "action", "cwd"]), VALUES
    ),
)
def test_arguments_of_any_shape_are_taken(tool, arguments):
    assert not any("error" in effect.how for effect in effects_of(tool, arguments)), "a fault of the analysis"


def test_deep_and_long_arguments_end():
    deep: dict[str, object] = {"path": "x"}
    for _ in range(200):
        deep = {"path": deep}
    for arguments in (deep, {"paths": ["x"] * 5000 + [".env"]}):
        found = effects_of("Write", arguments)
        assert len(found) < 2100
        assert any(e.kind is Kind.OPAQUE for e in found), "what was not looked at is not taken for harmless"
    edits = [{"old_string": "a", "new_string": "b"}] * 1500
    assert [e.target for e in effects_of("MultiEdit", {"edits": edits, "file_path": ".env"})] == [f"{REPO}/.env"]


HIDDEN = (
    ("bash", {"command": "true", "action": {"command": "cat .env"}}, "an object that some clients have"),
    ("bash", {"command": "cat .env", "action": {"command": "true"}}, "that others pass over"),
    ("bash", {"command": "cat .env", "Command": "true"}, "two names that are one without capitals"),
    ("bash", {"command": "true", "cmd": "cat .env"}, "two names for a command"),
    ("bash", {"command": "true", "script": ["cat", ".env"]}, "one of them as a list"),
    ("bash", {"command": "cat .env", "cwd": "/tmp"}, "a folder that the tool has not"),
    ("run_shell_command", {"command": "cat .env", "cwd": "/tmp"}, "nor this one"),
    ("run_shell_command", {"command": "cat .env", "cwd": "/tmp", "directory": "."}, "beside its own"),
    ("view", {"path": "/home/ann/repo/a://../.env"}, "a path that looks like an address"),
    ("view", {"path": "a://../.env"}, "the same, relative"),
    ("view", {"path": "x\n/../.env"}, "a folder with a line end in its name"),
    ("view", {"path": "./" * 3000 + ".env"}, "a long path that is a short one"),
    ("view", {"path": ".env", "owner": "x", "repo": "y"}, "as a forge is told"),
    ("read_file", {"path": ".env", "project_id": "x", "branch": "y"}, "as another one is"),
    ("mcp__fs__read_file", {"path": ".env", "owner": "x", "repo": "y"}, "by a server of files"),
    ("Grep", {"pattern": "x", "glob": ".env", "output_mode": "content"}, "a search of one file"),
    ("Grep", {"pattern": "x", "glob": ".en*"}, "of a pattern"),
    ("Grep", {"pattern": "x", "glob": "{.env,a.txt}"}, "of alternatives"),
    ("Grep", {"pattern": "x", "glob": "*.{env,txt}"}, "of endings, which a hidden name has, too"),
    ("Grep", {"pattern": "x", "glob": "[.]env"}, "of characters"),
    ("Grep", {"pattern": "x", "glob": "a.txt,.env"}, "of a list"),
    ("write_bash", {"input": "cat .env{enter}", "shellId": "1"}, "a key that ends the line"),
    ("Grep", {"pattern": "x", "glob": "a.txt .env", "path": "."}, "with blanks"),
    ("rg", {"pattern": "x", "path": "/home/ann/repo", "glob": ".en*"}, "Copilot"),
    ("grep_search", {"pattern": "x", "include_pattern": ".env"}, "Gemini"),
    ("read_many_files", {"paths": ["**/.env*"]}, "a reader of many"),
    ("read_many_files", {"include": [".e*"]}, "by another name"),
    ("apply", {"changes": {"/home/ann/repo/.env": {"content": "x"}}}, "names that are paths"),
)


@pytest.mark.parametrize(("tool", "arguments"), rows(HIDDEN))
def test_no_argument_hides_another_one(tool, arguments):
    assert any(".env" in e.target or e.target.endswith("/.en*") for e in effects_of(tool, arguments))


FREE = (
    ("Grep", {"pattern": "x", "glob": "*.py"}, "files of a kind"),
    ("Grep", {"pattern": "x", "glob": "*.{ts,tsx}", "path": "src"}, "of two kinds"),
    ("mcp__github__create_or_update_file", {"owner": "x", "repo": "y", "path": ".env"}, "a file of a forge"),
    ("mcp__github__delete_file", {"owner": "x", "repo": "y", "path": ".env"}, "by a known name"),
    ("mcp__store__get", {"path": "s3://bucket/.env"}, "an address"),
)


@pytest.mark.parametrize(("tool", "arguments"), rows(FREE))
def test_what_touches_no_secret_of_here(tool, arguments):
    assert not any(e.target.startswith(f"{REPO}/.env") for e in effects_of(tool, arguments))
