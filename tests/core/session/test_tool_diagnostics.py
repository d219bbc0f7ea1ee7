import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.core.session.tool_diagnostics import MAX_FOUND, diagnose

TRACEBACK = """Traceback (most recent call last):
  File "/repo/app.py", line 9, in <module>
    main()
  File "/repo/app.py", line 5, in main
    json.loads("{")
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting property name
"""
PYTEST = """    def test_x():
>       assert d == {"a": 2}
E       AssertionError: assert {'a': 1} == {'a': 2}
E         Differing items:

tests/test_q.py:3: AssertionError
"""
COLLECT = 'E     File "/repo/bad.py", line 2\nE       def f(:\nE             ^\nE   SyntaxError: invalid syntax\n'
RUFF = "F401 [*] `os` imported but unused\n --> src/a.py:1:8\n  |\n1 | import os\n"
RUSTC = "error[E0308]: mismatched types\n --> src/main.rs:12:5\n  |\n"
ESLINT = "/repo/src/a.js\n  1:7   warning  unused  no-unused-vars\n  12:5  error  'x' is not defined  no-undef\n"
NODE = "/repo/b.js:2\nnope()\n^\n\nReferenceError: nope is not defined\n    at Object.<anonymous> (/repo/b.js:2:1)\n"
REQUIRE = """node:internal/modules/cjs/loader:1143
  throw err;
  ^

Error: Cannot find module 'lodash'
Require stack:
- /repo/c.js
    at Module._resolve (node:internal/modules/cjs/loader:1140:15)
    at Object.<anonymous> (/repo/c.js:1:1)
"""
SHELLCHECK = "In x.sh line 3:\nrm $x\n   ^-- SC2086 (info): Double quote to prevent globbing\n"

FOUND = (
    (
        TRACEBACK,
        "python",
        "/repo/app.py",
        5,
        "json.decoder.JSONDecodeError: Expecting property name",
        "traceback: the innermost own frame",
    ),
    (
        '  File "/r/a.py", line 2\n    def f(:\n          ^\nSyntaxError: bad\n',
        "python",
        "/r/a.py",
        2,
        "SyntaxError: bad",
        "syntax",
    ),
    (
        'File "/r/a.py", line 2\n    def f(:\n          ^\nSyntaxError: bad',
        "python",
        "/r/a.py",
        2,
        "SyntaxError: bad",
        "syntax, without the blanks around it that a client takes away",
    ),
    (RUFF, "ruff", "src/a.py", 1, "F401 [*] `os` imported but unused", "ruff, full"),
    (
        "src/a.py:1:8: F401 `os` imported but unused\n",
        "ruff/flake8",
        "src/a.py",
        1,
        "F401 `os` imported but unused",
        "ruff, flake8",
    ),
    (
        "a.py:2: error: Incompatible types  [assignment]\n",
        "mypy",
        "a.py",
        2,
        "Incompatible types  [assignment]",
        "mypy",
    ),
    (PYTEST, "pytest", "tests/test_q.py", 3, "AssertionError: assert {'a': 1} == {'a': 2}", "pytest: the E line"),
    (COLLECT, "python", "/repo/bad.py", 2, "SyntaxError: invalid syntax", "pytest: an error of collection"),
    ("a.c:1:20: error: 'x' undeclared\n", "gcc", "a.c", 1, "'x' undeclared", "gcc, clang"),
    ("a.c:1:20: warning: unused\na.c:9:1: error: no\n", "gcc", "a.c", 9, "no", "warnings are passed over"),
    ("A.java:3: error: incompatible types\n", "javac", "A.java", 3, "incompatible types", "javac"),
    ("# example\n./a.go:3:5: undefined: x\n", "go", "./a.go", 3, "undefined: x", "go build"),
    ("vet: ./a.go:3:5: bad\n", "go", "./a.go", 3, "bad", "go vet"),
    (RUSTC, "rustc", "src/main.rs", 12, "mismatched types", "rustc, cargo"),
    ("src/app.ts(12,5): error TS2304: no 'foo'.\n", "tsc", "src/app.ts", 12, "TS2304: no 'foo'.", "tsc"),
    ("src/app.ts:12:5 - error TS2304: no 'foo'.\n", "tsc", "src/app.ts", 12, "TS2304: no 'foo'.", "tsc, pretty"),
    (ESLINT, "eslint", "/repo/src/a.js", 12, "'x' is not defined no-undef", "eslint: errors only"),
    (NODE, "node", "/repo/b.js", 2, "ReferenceError: nope is not defined", "node"),
    (
        REQUIRE,
        "node",
        "/repo/c.js",
        1,
        "Error: Cannot find module 'lodash'",
        "node: a frame of its own is not the place",
    ),
    (SHELLCHECK, "shellcheck", "x.sh", 3, "SC2086 (info): Double quote to prevent globbing", "shellcheck"),
    ("x.sh:3:1: note: Double quote [SC2086]\n", "shellcheck", "x.sh", 3, "Double quote [SC2086]", "shellcheck -f gcc"),
    ("x.sh: line 2: nope: command not found\n", "bash", "x.sh", 2, "nope: command not found", "bash, script"),
    ("bash: line 1: nope: command not found\n", "bash", "", 0, "nope: command not found", "bash -c has no file"),
    ("/bin/bash: line 2: nope: command not found\n", "bash", "", 0, "nope: command not found", "nor by its path"),
    ("/usr/bin/bash: line 7: [: x: unary operator\n", "bash", "", 0, "[: x: unary operator", "which no one opens"),
    ("./bin/bash: line 7: boom\n", "bash", "./bin/bash", 7, "boom", "a script of the project may be called so"),
    ("x.sh: 2: nope: not found\n", "sh", "x.sh", 2, "nope: not found", "dash"),
    ("zsh:1: command not found: nope\n", "zsh", "", 0, "command not found: nope", "zsh"),
    ("Makefile:2: *** missing separator.  Stop.\n", "make", "Makefile", 2, "missing separator.  Stop.", "make, place"),
    (
        "make: *** No rule to make target 'x'.  Stop.\n",
        "make",
        "",
        0,
        "No rule to make target 'x'.  Stop.",
        "make, no rule",
    ),
    ("PHP Parse error:  bad in a.php on line 3\n", "php", "a.php", 3, "bad", "php"),
    ("a.rb:3:in 'foo': undefined (NameError)\n", "ruby", "a.rb", 3, "'foo': undefined (NameError)", "ruby"),
    ("fatal: not a git repository\n", "git", "", 0, "fatal: not a git repository", "git"),
    ("conf/app.ini:7: unknown key\n", "", "conf/app.ini", 7, "unknown key", "any tool that names a place"),
    ("tool: Error: cannot connect\n", "", "", 0, "Error: cannot connect", "any tool that says error"),
)


@pytest.mark.parametrize(("text", "said"), [(r[0], r[1:5]) for r in FOUND], ids=[r[5] for r in FOUND])
def test_the_first_complaint(text, said):
    first = diagnose(text)[0]
    assert (first.tool, first.file, first.line, first.message) == said


SILENT = (
    ("", "nothing"),
    ("all fine\n", "no complaint"),
    ("see https://host:8080/path: more\n", "a url is no place"),
    ("12:30:01: done\n", "a time is no place"),
    ("a.c:1:20: warning: unused\n", "a warning alone"),
    ('  File "a.py", line 2, in f\n    g()\n', "a traceback that is cut off"),
    (" --> src/a.rs:1:8\n", "a place without a header"),
    ("/repo/a.js:2\nexport default 1\n", "a file and a line without an error"),
)


@pytest.mark.parametrize(("text", "why"), SILENT, ids=[r[1] for r in SILENT])
def test_no_complaint(text, why):
    assert diagnose(text) == []


def test_the_same_complaint_counts_once_and_the_list_is_short():
    assert len(diagnose("a.c:1:1: error: x\n" * 9)) == 1
    assert len(diagnose("".join(f"a.c:{n}:1: error: x\n" for n in range(1, 99)))) == MAX_FOUND


@given(st.text(alphabet=st.sampled_from('abE. :"/-<>()0123456789\n'), max_size=200))
def test_any_text_gives_few_complaints_that_say_something(text):
    found = diagnose(text)
    assert len(found) <= MAX_FOUND
    assert all(complaint.message and complaint.line >= 0 for complaint in found)
