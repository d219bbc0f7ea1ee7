"""Documents say what the code says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bench import guard_faults
from sentinel_guard.cli.main import cli
from sentinel_guard.core import response_phrases
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks import rules as rules_check
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.model import Response
from sentinel_guard.core.policy import file_schema, rule_examples, target_placeholders
from sentinel_guard.core.policy.settings_table import SETTINGS
from sentinel_guard.core.session import parse_test_output
from sentinel_guard.core.verify_policy import Prover
from tests.support.generated_documents import ANALYSIS_PAGE, CHECKS_PAGE, GENERATED, POLICY, POLICY_PAGE, ROOT, written
from tests.support.layers import PACKAGE

ESCALATION = ROOT / "docs" / "workflows" / "AGENT_ESCALATION.md"
ADR = ROOT / "docs" / "adr"
PAGES = sorted([*ROOT.glob("*.md"), *(p for p in (ROOT / "docs").rglob("*.md") if "incidents" not in p.parts)])
TOPS = "sentinel_guard|core|agents|audit|humans|host|daemon|commands|cli|tests|bench|docs"
CODE_PATH = re.compile(rf"`((?:{TOPS})/(?!incidents)[\w./-]+)`")
"""A path of this repository, as pages name it; below ``sentinel_guard`` without that. Reports are written by use."""
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("name", GENERATED)
def test_generated_parts_are_what_the_code_says(name):
    page, _ = GENERATED[name]
    assert page.read_text(encoding="utf-8") == written(name), "run: python -m tests.support.generated_documents"


def section(page: Path, heading: str) -> str:
    """What stands below a heading, up to the next heading; empty where it is not there."""
    _, _, below = page.read_text(encoding="utf-8").partition(f"\n{heading}\n")
    return re.split(r"^#+ ", below, maxsplit=1, flags=re.MULTILINE)[0]


def examples() -> Iterator[str]:
    yield from re.findall(r"^```toml\n(.*?)^```", POLICY_PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("table", SETTINGS)
def test_every_setting_is_explained_and_nothing_else(table):
    assert re.findall(r"^- `(\w+)`:", section(POLICY_PAGE, f"### `[{table}]`"), re.MULTILINE) == list(SETTINGS[table])


def test_every_setting_and_key_of_a_rule_has_an_example_that_loads():
    layers = [file_schema.parse(tomllib.loads(text), "policy.md", text) for text in examples()]
    assert {place for layer in layers for place in layer.settings} == {(t, k) for t in SETTINGS for k in SETTINGS[t]}
    assert [p.words for layer in layers for p in rule_examples.validate(layer.rules, analyse)] == []


def test_every_rule_of_every_pack_is_listed_once():
    ids = first_column(CHECKS_PAGE, "## The built-in rules", whole=True)
    assert sorted(ids) == sorted(rule.id for rule in POLICY.rules)
    titles = re.findall(r"^### Pack (\w+)$", CHECKS_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [title.lower() for title in titles] == [name for name in rule_examples.NAMES if name != "defaults"]


def test_what_is_opaque_names_its_rules():
    named = re.findall(r"\(`(opaque\.\w+)`\)", section(ANALYSIS_PAGE, "## What is opaque"))
    assert sorted(named) == sorted(rule.id for rule in POLICY.rules if rule.id.startswith("opaque."))


OPAQUE = re.findall(r"^\| .* \| `(.+)` \| (asked|passes)", section(ANALYSIS_PAGE, "## What is opaque"), re.MULTILINE)


@pytest.mark.parametrize(("text", "answer"), OPAQUE)
def test_what_is_opaque_is_answered_so(text, answer):
    stopped = Prover(POLICY, analyse).stopping(text.replace("\\|", "|"))
    assert (stopped is not None and stopped.response is Response.ASK) is (answer == "asked")


@pytest.mark.parametrize("name", cli.commands["policy"].commands)
def test_every_policy_command_is_in_the_policy_page(name):
    assert f"sentinel-guard policy {name}" in POLICY_PAGE.read_text(encoding="utf-8")


def test_every_option_of_policy_add_is_in_the_policy_page():
    command = cli.commands["policy"].commands["add"]
    options = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
    text = section(POLICY_PAGE, "### From an example")
    assert [o for o in sorted(options) if f"`{o}`" not in text] == []


def first_column(page: Path, heading: str, *, whole: bool = False) -> list[str]:
    """The names in the first column of the tables below a heading; ``whole``: to the end of the page."""
    text = page.read_text(encoding="utf-8").partition(f"\n{heading}\n")[2] if whole else section(page, heading)
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


VOCABULARY = [
    ("## A rule of your own", file_schema.RULE_KEYS, "keys of a rule"),
    ("### The responses", file_schema.RULE_RESPONSES, "responses"),
    ("### Effects", file_schema.KINDS, "kinds of effects"),
    ("### Names of targets", target_placeholders.NAMES, "names of targets"),
]


@pytest.mark.parametrize(("heading", "known"), [row[:2] for row in VOCABULARY], ids=[row[2] for row in VOCABULARY])
def test_the_words_of_a_rule_are_all_there(heading, known):
    assert sorted(first_column(POLICY_PAGE, heading)) == sorted(known)


def test_every_word_of_how_is_there():
    text = section(POLICY_PAGE, "### Effects")
    assert [word for word in file_schema.HOW if f"`{word}`" not in text] == []


PARTS = ("Looks at", "Speaks", "Level", "What to do", "Does not say")


@pytest.mark.parametrize("name", [check.name for check in CHECKS])
def test_every_check_has_its_section(name):
    assert tuple(re.findall(r"^- \*\*(.+?)\*\*", section(CHECKS_PAGE, f"## `{name}`"), re.MULTILINE)) == PARTS


def test_no_other_check_has_a_section():
    assert re.findall(r"^## `(\w+)`$", CHECKS_PAGE.read_text(encoding="utf-8"), re.MULTILINE) == [
        c.name for c in CHECKS
    ]


def test_findings_that_stand_in_code_are_listed():
    code = Path(rules_check.__file__).read_text(encoding="utf-8")
    ids = set(re.findall(r"\"((?:guard|paths|kernel)\.[a-z]+)\"", code))
    assert ids | {"confirm.NAME"} == set(first_column(CHECKS_PAGE, "## `rules`"))


def test_every_test_runner_is_named():
    text = section(CHECKS_PAGE, "## `failing_tests`")
    assert [runner.name for runner in parse_test_output.RUNNERS if not re.search(rf"\b{runner.name}\b", text)] == []


GATE = """
    [SENTINEL SECURITY]
    Action: DEPLOY
    Target: PRODUCTION
    Risk: HIGH
    Confirm? (Y/N):
"""
QUOTED = [
    ("R5's intervention", f"\n    {response_phrases.INTERVENTION}\n"),
    ("R7's prompt", GATE),
    ("R7's refusal", f"`{response_phrases.USER_DENIED}`"),
    ("R7's record", "`authorized_by: user`"),
    ("R8's way back", "`/resume`"),
    ("R10's command", "`git reset --hard [START_HASH]`"),
    ("L1's opening", "`SENTINEL HINT:`"),
    ("L2's opening", "`403 SENTINEL BLOCKED:`"),
    ("L3's opening", f"`{response_phrases.BREAKER}`"),
    ("L4's opening", f"`{response_phrases.KILL_SWITCH}`"),
]


@pytest.mark.parametrize("text", [row[1] for row in QUOTED], ids=[row[0] for row in QUOTED])
def test_the_protocol_is_quoted_word_for_word(text):
    assert text in ESCALATION.read_text(encoding="utf-8")


@pytest.mark.parametrize("number", range(1, 11))
def test_every_requirement_stands_in_the_protocol(number):
    assert re.search(rf"\bR{number}\b", ESCALATION.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{target} is not there"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_in_pages_are_there(page):
    for path in CODE_PATH.findall(page.read_text(encoding="utf-8")):
        if "NAME" not in path and "FAMILY" not in path:
            assert any((top / path.rstrip("/")).exists() for top in (ROOT, PACKAGE)), f"{path} is not there"


def test_every_decision_is_in_the_index_and_short():
    index = (ADR / "index.md").read_text(encoding="utf-8")
    records = sorted(ADR.glob("[0-9]*.md"))
    assert re.findall(r"\]\((\d{4}-[a-z-]+\.md)\)", index) == [r.name for r in records]
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert 25 <= text.count("\n") <= 80
        assert re.search(r"Good, because|good, because|good against", text), (
            f"{record.name} has no option that speaks for itself"
        )


def test_no_fault_frees_a_session_or_loses_an_entry_without_a_reason():
    found = json.loads(guard_faults.RESULTS.read_text(encoding="utf-8"))
    assert set(found) == set(guard_faults.FAULTS), "run: make faults"
    harmed = {name for name, row in found.items() if row["free"] or row["lost"]}
    assert harmed <= set(guard_faults.REASONS)
    assert [name for name, row in found.items() if not row["tried"] or not row["ran"]] == []


AGENT_RUNS = tuple(f"tests/real_agents/{name}" for name in ("conftest.py", "results.json", "overhead.json"))
RECORDED = """
import pytest

@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_it_is_recorded(agent): assert agent == "claude"
"""


def test_a_recorded_run_of_the_real_agents_leaves_its_page_as_the_code_has_it(tmp_path):
    shutil.copytree(ROOT / "tests" / "support", tmp_path / "tests" / "support")
    shutil.copytree(ROOT / "bench", tmp_path / "bench")
    for name in ("pyproject.toml", "docs/agents.md", "tests/conftest.py", *AGENT_RUNS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tests" / "real_agents" / "test_recorded.py").write_text(RECORDED)
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/real_agents"]
    done = subprocess.run(
        run, cwd=tmp_path, env={**os.environ, "SENTINEL_TEST_RECORD": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done
    (row,) = re.findall(r"^\| it is recorded .*$", (tmp_path / "docs" / "agents.md").read_text(), re.MULTILINE)
    assert [cell.split(",")[0].strip() for cell in row.split("|")[2:4]] == ["yes", "failed"], row
