"""The parts of the documents that come from the code.

``python -m tests.support.generated_documents [NAME ...]`` writes them.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from bench import guard_faults, runtime_matrix
from sentinel_guard.commands import check_explain
from sentinel_guard.core.analysis import package_runners, step_budget
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.evaluation import walk_syntax_tree
from sentinel_guard.core.analysis.expansion import command_and_options, file_overlay
from sentinel_guard.core.analysis.parser import bash_parser
from sentinel_guard.core.analysis.programs import (
    open_access,
    package_publishing,
    peel_wrappers,
    secret_stores,
)
from sentinel_guard.core.analysis.programs.cloud import (
    aws_and_google_subcommands,
    cloud_cli_subcommands,
    deployment_tools,
    other_service_clis,
)
from sentinel_guard.core.analysis.programs.subcommand_tables import Row
from sentinel_guard.core.analysis.programs.system import system_admin, windows_tools
from sentinel_guard.core.model import Action, Layer, Response, Verdict
from sentinel_guard.core.policy import rule_examples
from sentinel_guard.core.policy.agent_settings import ALL, HOME, PROJECT, SettingsFolder
from sentinel_guard.core.policy.agent_settings import rows as agent_rows
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Rule
from sentinel_guard.core.policy.settings_table import SETTINGS, Setting, Tighter
from sentinel_guard.core.session.session import NEXT, Event, State
from sentinel_guard.core.verify_policy import Prover
from sentinel_guard.host import glob_search
from sentinel_guard.host.policy_files import builtin
from sentinel_guard.humans.styled_text import Printer
from tests.support.agents.tested_agents import agents_hooks, agents_overhead, agents_overhead_parts, agents_tested
from tests.support.layers import LAYERS, PACKAGE, purpose

ROOT = Path(__file__).parents[2]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
ANALYSIS_PAGE = ROOT / "docs" / "analysis.md"
POLICY_PAGE = ROOT / "docs" / "policy.md"
CHECKS_PAGE = ROOT / "docs" / "checks.md"
WATCHING_PAGE = ROOT / "docs" / "watching.md"
AGENTS_PAGE = ROOT / "docs" / "agents.md"
VERBS_PAGE = ROOT / "docs" / "verbs.md"
THREATS_PAGE = ROOT / "docs" / "threat-model.md"
POLICY = merge(builtin())
FINAL = (State.KILLED, State.ENDED)


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
    Tighter.LATER: "one that stands later",
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
    if setting.choices:
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    span = f", {setting.low:g} to {setting.high:,.10g}" if setting.high else ""
    return TYPES[setting.type] + span


def _built_in(table: str, key: str) -> str:
    whole = {"shims": POLICY.shims, "rules": ()}
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
    check_explain.show(verdict, POLICY, rule_examples.HOME, Printer(sink, width=80))
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()[1:])


LIMITS = (
    ("characters of a text", bash_parser.MAX_TEXT),
    ("texts inside texts", walk_syntax_tree.MAX_DEPTH),
    ("wrappers around a command", peel_wrappers.MAX_WRAPPERS),
    ("scripts on disk that start one another", command_and_options.MAX_FILES),
    ("characters of such a script", command_and_options.MAX_SCRIPT),
    ("steps of a text that is typed: some 1,500 commands of three words", step_budget.MAX_STEPS),
    ("steps of the scripts that it starts; each may take half of what is left", step_budget.SCRIPT_STEPS),
    ("different globs of a text", file_overlay.MAX_GLOBS),
    ("files of commits that git is asked for", file_overlay.MAX_COMMITTED),
    ("files and folders that one of them looks at", glob_search.MAX_ENTRIES),
    ("files and folders that all of them look at; each may take half of what is left", glob_search.ENTRIES_IN_ALL),
    ("paths that a glob gives, apart from secrets, restricted files and what a rule names", glob_search.MAX_MATCHES),
    ("paths of a glob that are judged one by one, those apart", step_budget.MATCHES),
    ("paths of all globs of a text that are judged one by one, those apart", step_budget.MATCHES_IN_ALL),
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
        f"| {agent} | {', '.join(dict.fromkeys(files))} | {_counting(keys)} | {_listed(answers)} |"
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


_MEANINGS = {
    "quiet": "reads", "change": "changes there", "destroy": "destroys there", "publish": "publishes",
    "unpublish": "destroys there", "shows": "shows secrets", "lists": "shows secrets", "opens": "opens access",
}  # fmt: skip
VERB_TABLES: Mapping[str, Mapping[str, tuple[Row, ...]]] = {
    "Clouds, clusters, platforms": cloud_cli_subcommands.TABLES,
    "Clusters and chains that a project is brought to": deployment_tools.TABLES,
    "Other services and stores": other_service_clis.TABLES,
    "Packages, releases, forges": package_publishing.TABLES,
    "Secrets": secret_stores.TABLES,
    "Access from outside": open_access.TABLES,
    "This machine": system_admin.TABLES | windows_tools.TABLES,
}


def verbs() -> str:
    """A table for each family; programs with the same rows stand together."""
    told = ", ".join(f"`{name}` {version}" for name, version in aws_and_google_subcommands.VERSIONS.items())
    compared = f"\nCompared with what the installed program lists: {told}. Others: their documents of 2026.\n"
    families = (line for title, table in VERB_TABLES.items() for line in _family(title, table))
    return compared + "\n".join(families) + "\n" + _runners()


def _family(title: str, table: Mapping[str, tuple[Row, ...]]) -> Iterator[str]:
    yield from ("", f"## {title}", "| programs | meaning | verbs |", "|---|---|---|")
    groups: dict[int, list[str]] = {}
    for name, rows in table.items():
        groups.setdefault(id(rows), []).append(name)
    for names in groups.values():
        shown = ", ".join(f"`{name}`" for name in names)
        for meaning, patterns in _by_meaning(table[names[0]]).items():
            told = ", ".join(f"`{pattern}`" for pattern in dict.fromkeys(patterns)).replace("|", "\\|")
            yield f"| {shown} | {meaning} | {told} |"
            shown = ""


def _by_meaning(rows: tuple[Row, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        meaning = _MEANINGS.get(row.what, f"changes this machine: {row.what.replace('_', ' ')}")
        found.setdefault(meaning, []).append(row.pattern)
    return found


def _runners() -> str:
    """Who runs code that it is given an address of."""
    head = ["", "## Runners of code", "| programs | meaning | verbs and options |", "|---|---|---|"]
    return "\n".join([*head, *(_runner(name) for name in sorted(package_runners.RUNNERS))]) + "\n"


def _runner(name: str) -> str:
    row = package_runners.RUNNERS[name]
    words = ", ".join(f"`{word}`" for word in dict.fromkeys((*row.verbs, *row.options)))
    return f"| `{name}` | runs code | {words or 'whatever'} |"


GENERATED = {
    "agent-settings": (WATCHING_PAGE, agent_settings),
    "layers": (ARCHITECTURE, layers),
    "explained": (ANALYSIS_PAGE, explained),
    "limits": (ANALYSIS_PAGE, limits),
    "states": (ARCHITECTURE, diagram),
    "settings": (POLICY_PAGE, settings),
    "rules": (CHECKS_PAGE, rules),
    "agents": (AGENTS_PAGE, agents_tested),
    "agent hooks": (AGENTS_PAGE, agents_hooks),
    "overhead": (AGENTS_PAGE, agents_overhead),
    "overhead parts": (AGENTS_PAGE, agents_overhead_parts),
    "faults": (THREATS_PAGE, guard_faults.table),
    "ways": (THREATS_PAGE, runtime_matrix.table),
    "verbs": (VERBS_PAGE, verbs),
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


def write(names: Iterable[str] = GENERATED) -> None:
    """Write these parts anew into their pages."""
    for name in names:
        page, _ = GENERATED[name]
        page.write_text(written(name), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:] or GENERATED)
