import pytest

from sentinel_guard.core.model import Command, TestRun
from sentinel_guard.core.session.parse_test_output import parse_tests


def run(*argv, subcommand=""):
    return Command(argv[0], argv, subcommand, operands=argv[1:])


PYTEST = """=========== short test summary info ===========
FAILED tests/test_a.py::test_x - assert 1 == 2
ERROR tests/test_b.py - ImportError: no
========= 1 failed, 3 passed, 1 error in 0.12s ==========
"""
UNITTEST = """FAIL: test_a (tests.T.test_a)
ERROR: test_b (tests.T.test_b)
Ran 3 tests in 0.001s

FAILED (failures=1, errors=1)
"""
JEST = """FAIL src/a.test.js
  ● sum \u203a adds
    expect(received)

Tests:       1 failed, 2 passed, 3 total
"""
VITEST = """ FAIL  src/a.test.ts > sum > adds
      Tests  1 failed | 2 passed (3)
"""
GO = "--- FAIL: TestA (0.00s)\n    a_test.go:5: no\n    --- FAIL: TestA/sub (0.00s)\nFAIL\nFAIL\texample/a\t0.01s\n"
CARGO = (
    "test a::b ... FAILED\ntest a::c ... ok\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; finished in 0.00s\n"
)
MAVEN = """[ERROR]   FooTest.bar:12 expected: <1> but was: <2>
[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0
"""
RSPEC = "rspec ./spec/a_spec.rb:3 # A adds\n\n5 examples, 2 failures\n"
PHPUNIT = "1) App\\FooTest::testBar\nFailed asserting\n\nFAILURES!\nTests: 5, Assertions: 6, Failures: 1.\n"
CTEST = "50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t  2 - adds (Failed)\n"
MOCHA = "  2 passing (5ms)\n  1 failing\n\n  1) sum adds\n"
NODE = "not ok 1 - adds\n# pass 0\n# fail 1\n"
GRADLE = "FooTest > bar() FAILED\n2 tests completed, 1 failed\n"

RED = (
    (run("pytest"), PYTEST, "pytest", {"tests/test_a.py::test_x", "tests/test_b.py"}, 2, "pytest"),
    (
        run("python", "-m", "pytest", "-q"),
        "2 failed, 1 passed in 0.01s\n",
        "pytest",
        set(),
        2,
        "pytest -q: counts alone",
    ),
    (
        run("python3", "-m", "unittest"),
        UNITTEST,
        "unittest",
        {"test_a tests.T.test_a", "test_b tests.T.test_b"},
        2,
        "unittest",
    ),
    (run("npx", "jest"), JEST, "jest", {"sum \u203a adds"}, 1, "jest under npx"),
    (run("./node_modules/.bin/vitest", "run"), VITEST, "vitest", {"src/a.test.ts > sum > adds"}, 1, "vitest by path"),
    (run("go", "test", "./...", subcommand="test"), GO, "go", {"TestA", "TestA/sub"}, 2, "go test"),
    (run("cargo", "test", subcommand="test"), CARGO, "cargo", {"a::b"}, 1, "cargo test"),
    (run("mvn", "-q", "verify"), MAVEN, "maven", {"FooTest.bar"}, 1, "mvn"),
    (run("bundle", "exec", "rspec"), RSPEC, "rspec", {"./spec/a_spec.rb:3"}, 2, "rspec under bundle"),
    (run("vendor/bin/phpunit"), PHPUNIT, "phpunit", {"App\\FooTest::testBar"}, 1, "phpunit by path"),
    (run("ctest"), CTEST, "ctest", {"adds"}, 1, "ctest"),
    (run("mocha"), MOCHA, "mocha", {"sum adds"}, 1, "mocha"),
    (run("node", "--test"), NODE, "node", {"adds"}, 1, "node's own runner"),
    (run("./gradlew", "test"), GRADLE, "gradle", {"FooTest > bar()"}, 1, "gradle wrapper"),
    (run("npm", "test"), JEST, "jest", {"sum \u203a adds"}, 1, "a task runner is asked what it printed"),
    (
        run("make", "check"),
        f"\x1b[31m{PYTEST}\x1b[0m",
        "pytest",
        {"tests/test_a.py::test_x", "tests/test_b.py"},
        2,
        "colours",
    ),
)


@pytest.mark.parametrize(("command", "text", "run"), [(r[0], r[1], r[2:5]) for r in RED], ids=[r[5] for r in RED])
def test_red_runs(command, text, run):
    runner, names, count = run
    command = Command(command.argv[0].rsplit("/", 1)[-1], command.argv, command.subcommand, operands=command.operands)
    assert parse_tests([command], text, "", 1) == TestRun(runner, frozenset(names), count)


OTHER = (
    (run("pytest"), "3 passed in 0.10s\n", 0, TestRun("pytest", frozenset(), 0), "green"),
    (
        run("python", "-m", "unittest"),
        "Ran 3 tests in 0.001s\n\nOK\n",
        0,
        TestRun("unittest", frozenset(), 0),
        "green unittest",
    ),
    (run("pytest", "--nope"), "ERROR: usage: pytest [options]\n", 4, None, "a usage error is no red test"),
    (run("pytest"), "no tests ran in 0.01s\n", 5, None, "nothing ran"),
    (run("go", "test", subcommand="test"), "FAIL\texample/a [build failed]\n", 1, None, "a build that broke"),
    (run("go", "build", subcommand="build"), GO, 1, None, "another subcommand"),
    (run("cat", "log"), PYTEST, 1, None, "a file that holds a report"),
    (run("grep", "-r", "pytest", "."), "", 1, None, "a runner's name as an operand without a report"),
)


@pytest.mark.parametrize(("command", "text", "code", "found", "why"), OTHER, ids=[r[4] for r in OTHER])
def test_other_runs(command, text, code, found, why):
    assert parse_tests([command], "", text, code) == found


def test_the_runner_may_stand_anywhere_in_the_list():
    assert parse_tests([run("cd", "x"), run("pytest")], PYTEST, "", 1).count == 2
