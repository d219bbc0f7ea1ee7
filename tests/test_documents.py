"""Documents say what the code says. ``python tests/test_documents.py`` writes the generated parts anew."""

from __future__ import annotations

import io
import json
import re
import tomllib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import click
import pytest
from rich.console import Console

from sentinel_guard.cli.main import cli
from sentinel_guard.commands import check_explain
from sentinel_guard.core import response_phrases
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.evaluation import walk_syntax_tree
from sentinel_guard.core.analysis.expansion import command_and_options, file_overlay
from sentinel_guard.core.analysis.parser import bash_parser
from sentinel_guard.core.analysis.programs import command_wrappers
from sentinel_guard.core.checks import rules as rules_check
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.model import Action, Layer, Response, Verdict
from sentinel_guard.core.policy import file_schema, rule_examples, target_placeholders
from sentinel_guard.core.policy.agent_settings import ALL, HOME, PROJECT, SettingsFolder
from sentinel_guard.core.policy.agent_settings import rows as agent_rows
from sentinel_guard.core.policy.file_schema import SETTINGS, Setting, Tighter
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Rule
from sentinel_guard.core.session import parse_test_output
from sentinel_guard.core.session.session import NEXT, Event, State
from sentinel_guard.core.verify_policy import Prover
from sentinel_guard.host import world as host_world
from sentinel_guard.host.policy_files import builtin
from tests.support.agents.tested_agents import agents_tested
from tests.support.layers import LAYERS, PACKAGE, purpose

ROOT = Path(__file__).parent.parent
ARCHITECTURE = ROOT / "docs" / "architecture.md"
ESCALATION = ROOT / "docs" / "workflows" / "AGENT_ESCALATION.md"
ADR = ROOT / "docs" / "adr"
ANALYSIS_PAGE = ROOT / "docs" / "analysis.md"
POLICY_PAGE = ROOT / "docs" / "policy.md"
CHECKS_PAGE = ROOT / "docs" / "checks.md"
WATCHING_PAGE = ROOT / "docs" / "watching.md"
POLICY = merge(builtin())
FINAL = (State.KILLED, State.ENDED)
PAGES = sorted([*ROOT.glob("*.md"), *(p for p in (ROOT / "docs").rglob("*.md") if "incidents" not in p.parts)])
TOPS = "sentinel_guard|core|agents|audit|humans|host|daemon|commands|cli|tests|bench|docs"
CODE_PATH = re.compile(rf"`((?:{TOPS})/(?!incidents)[\w./-]+)`")
"""A path of this repository, as pages name it; below ``sentinel_guard`` without that. Reports are written by use."""
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def diagram() -> str:
    """The state table as a mermaid block. Events that every live state knows are drawn once, from LIVE."""
    live = [s for s in State if s not in FINAL]
    common = {
        (e, NEXT[live[0], e]) for e in Event if len({NEXT.get((s, e)) for s in live}) == 1 and (live[0], e) in NEXT
    }
    edges: dict[tuple[State, State], list[str]] = {}
    for (state, event), to in NEXT.items():
        if (event, to) not in common:
            edges.setdefault((state, to), []).append(event.value)
    inner = [f"        {a.value} --> {b.value}: {', '.join(names)}" for (a, b), names in edges.items()]
    outer = [f"    LIVE --> {to.value}: {event.value}" for event, to in sorted(common)]
    ends = [f"    {state.value} --> [*]" for state in FINAL]
    begin = ["stateDiagram-v2", "    [*] --> LIVE", "    state LIVE {", f"        [*] --> {live[0].value}"]
    return "\n".join(["```mermaid", *begin, *inner, "    }", *outer, *ends, "```", ""])


TIGHTER = {
    Tighter.LOWER: "lower",
    Tighter.HIGHER: "higher",
    Tighter.TRUE: "`true`",
    Tighter.MORE: "more entries",
    Tighter.WAIT: "shorter; `0` (for ever) is the loosest",
    Tighter.USER: "none: only your own file may set it",
}
TYPES = {
    "int": "whole number",
    "number": "number",
    "bool": "`true` or `false`",
    "patterns": "list of gitignore patterns",
    "words": "list of texts",
}


def settings() -> str:
    """The schema as a table: what each setting is, is built in as, and may be moved to."""
    rows = [
        f"| `[{table}] {key}` | {_type(setting)} | `{_built_in(table, key)}` | {TIGHTER[setting.tighter]} |"
        for table, keys in SETTINGS.items()
        for key, setting in keys.items()
    ]
    return "\n".join(["| setting | type | built in | tighter for a project |", "|---|---|---|---|", *rows, ""])


def _type(setting: Setting) -> str:
    span = f", {setting.low:g} to {setting.high:,.10g}" if setting.high else ""
    return TYPES[setting.type] + span


def _built_in(table: str, key: str) -> str:
    whole = {"shims": POLICY.shims, "alerts": POLICY.alerts, "rules": ()}
    value = whole[table] if table in whole else getattr(getattr(POLICY, table), key)
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def rules() -> str:
    """The packs as tables, in the order in which their rules stand."""
    head = ["| rule | response | for example | why | instead |", "|---|---|---|---|---|"]
    parts = [
        "\n".join([f"### {source.title()}", *head, *map(_row, found), ""])
        for source, found in groupby(POLICY.rules, lambda rule: rule.source)
    ]
    return "\n".join(parts)


def _row(rule: Rule) -> str:
    asked = f": {rule.action}, {rule.risk}" if rule.response is Response.ASK else ""
    level = f" ({rule.response.level})" if rule.response.level else ""
    cells = (f"`{rule.id}`", rule.response.word + asked + level, _code(rule.hit[0]), rule.why, _code(rule.instead))
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    assert "`" not in text
    return f"`{text}`".replace("|", "\\|") if text else ""


EXPLAINED = (
    "cd src && ls -l",
    "sudo bash -c 'rm -rf /'",
    "X=origin; git push --force $X main | tee push.log",
    'rm -rf "$BUILD"',
)


def explained() -> str:
    """Commands as ``check --explain`` shows them, in the world of the examples."""
    return "\n".join(["```text", "\n\n".join(f"$ {c}\n{_explained(c)}" for c in EXPLAINED), "```", ""])


def _explained(command: str) -> str:
    action = Action(
        "example", "", Layer.CLI, "shell", {"command": command}, rule_examples.ROOT, 0.0, rule_examples.ROOT
    )
    prover = Prover(POLICY, analyse)
    verdict = Verdict(action, rule_examples.example(command, analyse), prover.findings(command))
    sink = io.StringIO()
    check_explain.show(verdict, POLICY, rule_examples.HOME, Console(file=sink, width=80, highlight=False))
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()[1:])


LIMITS = (
    ("characters of a text", bash_parser.MAX_TEXT),
    ("texts inside texts", walk_syntax_tree.MAX_DEPTH),
    ("wrappers around a command", command_wrappers.MAX_WRAPPERS),
    ("scripts on disk that start one another", command_and_options.MAX_FILES),
    ("characters of such a script", command_and_options.MAX_SCRIPT),
    ("looks into the file system for one text (globs)", file_overlay.MAX_GLOBS),
    ("paths that a glob gives", host_world.MAX_MATCHES),
)


def limits() -> str:
    return "\n".join(["| what | at most |", "|---|---|", *(f"| {what} | {most:,} |" for what, most in LIMITS), ""])


def layers() -> str:
    """The folders of the package, lowest first, and what each is for."""
    rows = [f"| `{e}` | {purpose(PACKAGE / e / '__init__.py' if e.endswith('/') else PACKAGE / e)} |" for e in LAYERS]
    return "\n".join(["| | what it is for |", "|---|---|", *rows, ""])


def agent_settings() -> str:
    """The table of the agents' settings files: where they are, and what counts in them."""
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for agent, folder, file in agent_rows():
        groups.setdefault((agent.agent, file.keys, file.answers), []).append(f"`{_place(folder)}{file.path}`")
    rows = [
        f"| {agent} | {', '.join(files)} | {_counting(keys)} | {_listed(answers)} |"
        for (agent, keys, answers), files in groups.items()
    ]
    moved = dict.fromkeys(
        f"{_moved(folder)} by `{folder.variable}`" for _, folder, _ in agent_rows() if folder.variable
    )
    head = ["| agent | files | keys that count | of these an answer of yours |", "|---|---|---|---|"]
    return "\n".join([*head, *rows, "", f"Moved by a variable: {', '.join(moved)}.", ""])


def _moved(folder: SettingsFolder) -> str:
    name = f"`{folder.folder}`" if folder.folder != HOME else f"`~/{folder.files[0].path}`"
    return f"{name} to `{folder.below}`" if folder.below else name


def _place(folder: SettingsFolder) -> str:
    return "" if folder.folder == PROJECT else f"{folder.folder}/"


def _counting(keys: tuple[str, ...]) -> str:
    return "every byte" if not keys else "all" if keys == ALL else _listed(keys)


def _listed(keys: tuple[str, ...]) -> str:
    return "all" if keys == ALL else ", ".join(f"`{key}`" for key in keys)


GENERATED = {
    "agent-settings": (WATCHING_PAGE, agent_settings),
    "layers": (ARCHITECTURE, layers),
    "explained": (ANALYSIS_PAGE, explained),
    "limits": (ANALYSIS_PAGE, limits),
    "states": (ARCHITECTURE, diagram),
    "settings": (POLICY_PAGE, settings),
    "rules": (CHECKS_PAGE, rules),
    "agents": (ROOT / "docs/agents.md", agents_tested),
}


def written(name: str) -> str:
    """The page of a generated part, with that part as the code has it."""
    page, make = GENERATED[name]
    begin, end = f"<!-- {name}: generated -->\n", f"<!-- /{name} -->"
    before, opened, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    assert opened
    assert closed, f"{page.name} has no place for {name}"
    return before + begin + make() + end + after


@pytest.mark.parametrize("name", GENERATED)
def test_generated_parts_are_what_the_code_says(name):
    page, _ = GENERATED[name]
    assert page.read_text(encoding="utf-8") == written(name), "run: python tests/test_documents.py"


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
    ids = set(re.findall(r"\"((?:guard|paths)\.[a-z]+)\"", code))
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


if __name__ == "__main__":
    for part, (page, _) in GENERATED.items():
        page.write_text(written(part), encoding="utf-8")
