import pytest

from sentinel_guard.core.model import Outcome
from sentinel_guard.core.session.failure_exit_codes import error_excerpt, error_output, failed, infrastructure
from tests.support.judge_cases import execute, outcome

GREP, DIFF, MAKE, ECHO = execute("grep", "x", "f"), execute("diff", "a", "b"), execute("make"), execute("echo", "hi")

CASES = (
    ((GREP,), 0, "", "", None, "success"),
    ((GREP,), 1, "", "", None, "grep found nothing"),
    ((GREP,), 2, "", "grep: f: No such file", "grep: f: No such file", "grep failed"),
    ((GREP,), 1, "", "warning", "warning", "a word on standard error is an error"),
    ((DIFF,), 1, "< a\n> b", "", None, "diff found differences"),
    ((execute("test", "-f", "x"),), 1, "", "", None, "test says no"),
    ((execute("["),), 1, "", "", None, "so does its other name"),
    ((execute("git", "diff", "--quiet", subcommand="diff"),), 1, "", "", None, "git diff --quiet"),
    ((execute("git", "push", subcommand="push"),), 1, "", "", "", "git push failed without a word"),
    ((GREP, ECHO), 1, "", "", None, "grep && echo"),
    ((MAKE, GREP), 1, "", "", "", "it may have been make"),
    ((MAKE,), 2, "out", "", "out", "an error on standard output"),
    ((MAKE,), 2, "out", "err", "err", "standard error goes first"),
    ((execute("systemctl", "is-active", "x"),), 3, "inactive", "", None, "systemctl says that it does not run"),
    ((), 1, "", "", "", "nothing is known of the commands"),
    ((ECHO,), 1, "", "", "", "echo answers nothing"),
)


@pytest.mark.parametrize(("ended", "said"), [(r[:4], r[4]) for r in CASES], ids=[r[5] for r in CASES])
def test_what_a_failure_said(ended, said):
    assert error_output(*ended) == said


FAILED = (
    (None, False, "still running"),
    (outcome(), False, "success"),
    (outcome(code=1, error="x"), True, "an error"),
    (outcome(code=1), True, "an error that said nothing"),
    (outcome(code=1, error=None), True, "an error that nobody saw"),
    (Outcome("a1", 0.0, 3), False, "an answer"),
)


@pytest.mark.parametrize(("done", "bad", "why"), FAILED, ids=[r[2] for r in FAILED])
def test_failed(done, bad, why):
    assert failed(done) is bad


CURL = execute("curl", "-s", "http://localhost:3000")
EXCERPTS = (
    ((CURL,), 7, "", "curl: could not connect", True, "curl -s"),
    ((CURL,), 7, "000", "000 curl: could not connect", True, "curl -s -w '%{http_code}'"),
    ((CURL, MAKE), 2, "", "", False, "another exit code"),
    ((MAKE,), 7, "", "", False, "another program's"),
    ((CURL,), 7, "curl: (7) x", "curl: (7) x", False, "words of its own"),
    ((execute("wget", "-q", "http://localhost"),), 4, "", "wget: could not connect", True, "wget -q"),
)


@pytest.mark.parametrize(
    ("ended", "said", "network"), [(r[:3], r[3], r[4]) for r in EXCERPTS], ids=[r[5] for r in EXCERPTS]
)
def test_what_an_exit_code_says_where_the_program_does_not(ended, said, network):
    assert error_excerpt(*ended) == said
    assert infrastructure(outcome(code=ended[1], error=said)) is network


INFRA = (
    ("HTTP 429 Too Many Requests", True, "429"),
    ("npm ERR! code E429", True, "npm's 429"),
    ("503 Service Unavailable", True, "5xx"),
    ("read ECONNRESET", True, "connection reset"),
    ("curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server", True, "curl"),
    ("curl: (6) Could not resolve host: example.invalid", True, "no such host"),
    ("connect ECONNREFUSED 127.0.0.1:5432", True, "node"),
    ("ConnectionRefusedError: [Errno 111] Connection refused", True, "python"),
    ("psql: error: could not connect to server", True, "psql"),
    ("connect: Network is unreachable", True, "no network"),
    ("ssh: connect to host h port 22: No route to host", True, "no route"),
    ("curl: (28) Operation timed out after 2001 milliseconds", True, "timed out"),
    ("error: line 500 of data.csv", False, "a number is no status"),
    ("error: 'connect' was not declared in this scope", False, "a name is no network"),
    ("E assert refused == accepted", False, "a word is no network"),
    ("error: cannot resolve symbol host", False, "a compiler resolves, too"),
    ("AssertionError: 1 != 2", False, "an ordinary error"),
)


@pytest.mark.parametrize(("text", "is_infra", "why"), INFRA, ids=[r[2] for r in INFRA])
def test_infrastructure(text, is_infra, why):
    assert infrastructure(outcome(code=1, error=text)) is is_infra
