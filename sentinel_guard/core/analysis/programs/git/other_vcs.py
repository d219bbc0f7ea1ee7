"""Other version control tools, with the same effects as git: hg, svn, jj, bfg, hub."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]


class _Row(NamedTuple):
    """What a subcommand does where one of the flags is given, or always where none is named."""

    kind: Kind
    target: str
    how: str = ""
    flags: tuple[str, ...] = ()


_LOST = Kind.GIT_REWRITE
_TABLE: dict[str, tuple[_Row, ...]] = {
    **dict.fromkeys(("hg update", "hg up", "hg checkout", "hg co"),
                    (_Row(_LOST, "worktree", "force", ("-C", "--clean")),)),
    "hg revert": (_Row(_LOST, "worktree", "force"),),
    "hg purge": (_Row(_LOST, "untracked", "force"), _Row(_LOST, "ignored", "force", ("--all",))),
    "hg strip": (_Row(_LOST, "history", "force"),),
    "hg debugstrip": (_Row(_LOST, "history", "force"),),
    "hg rollback": (_Row(_LOST, "history", "force"),),
    "hg push": (_Row(Kind.PUBLISH, "default", "force", ("-f", "--force")),),
    "svn revert": (_Row(_LOST, "worktree", "force"),),
    "svn cleanup": (_Row(_LOST, "untracked", "force", ("--remove-unversioned",)),
                    _Row(_LOST, "ignored", "force", ("--remove-ignored",))),
    **{f"svn {verb}": (_Row(Kind.DEPLOY, "repository", "delete"),) for verb in ("delete", "del", "rm", "remove")},
    "jj abandon": (_Row(_LOST, "worktree", "force"),),
    "jj restore": (_Row(_LOST, "worktree", "force"),),
    "jj op": (_Row(_LOST, "reflog", "force", ("abandon",)),),
    "jj util": (_Row(_LOST, "objects", "force", ("gc",)),),
    "jj git": (_Row(Kind.PUBLISH, "origin", "delete", ("--deleted",)),),
    "p4 revert": (_Row(_LOST, "worktree", "force"),),
    "p4 clean": (_Row(_LOST, "worktree", "force"), _Row(_LOST, "untracked", "force")),
    "p4 sync": (_Row(_LOST, "worktree", "force", ("-f",)),),
    **{f"p4 {verb}": (_Row(Kind.DEPLOY, "repository", "delete"),) for verb in ("obliterate", "archive")},
    **{f"sl {verb}": (_Row(_LOST, "worktree", "force"),) for verb in ("revert", "hide", "purge", "clean")},
    "fossil revert": (_Row(_LOST, "worktree", "force"),),
    "fossil clean": (_Row(_LOST, "untracked", "force"),),
    "dolt reset": (_Row(_LOST, "worktree", "force", ("--hard",)),),
    "dolt push": (_Row(Kind.PUBLISH, "origin", "force", ("-f", "--force")),),
    "dolt branch": (_Row(_LOST, "history", "force", ("-D",)),),
    "dolt checkout": (_Row(_LOST, "worktree", "force", ("-f", "--force", ".")),),
    "bfg": (_Row(_LOST, "history", "force"),),
}  # fmt: skip


def vcs(call: Call) -> Effects:
    """The rows of ``program subcommand``. A flag of a row may be the next word too: ``jj op abandon``."""
    verb = call.command.subcommand or (call.operands[0].text if call.operands else "")
    name = f"{call.command.program} {verb}".strip()
    said = {*call.command.flags, *(item.text for item in call.operands[:1])}
    if call.has("-n", "--dry-run", "--help") or (name == "hg purge" and call.has("-p", "--print")):
        return
    if name not in _TABLE and subcommand_tables.loses_by_words(call):
        yield call.effect(_LOST, "history", "force", sure=False)
    for row in _TABLE.get(name, _TABLE.get(call.command.program, ())):
        if (not row.flags or said.intersection(row.flags)) and not _online(call, row):
            yield call.effect(row.kind, row.target, *row.how.split())


def _online(call: Call, row: _Row) -> bool:
    """``svn rm file`` is undone by ``svn revert``; ``svn rm URL`` is done at once, for all."""
    deletes = call.command.program == "svn" and row.kind is Kind.DEPLOY
    return deletes and not any("://" in item.text for item in call.operands)


def hub(call: Call) -> Effects:
    """A git with some subcommands more, one of them ``api`` as gh has it."""
    program = "gh" if call.fields[1:2] and call.fields[1].text == "api" else "git"
    return call.runner.run([Field(program), *call.fields[1:]], call, "hub")


def java(call: Call) -> Effects:
    """``java -jar bfg.jar``; of any other jar, what its words say."""
    jar = call.parsed.value("-jar")
    if jar is not None and jar.text.rpartition("/")[2].startswith("bfg"):
        yield from vcs(replace(call, command=replace(call.command, program="bfg", subcommand="")))
    elif jar is not None and subcommand_tables.loses_by_words(call):
        yield call.effect(Kind.DEPLOY, jar.text, "delete", sure=False)


OPTIONS = {
    "hg": options("-R= --repository= --cwd= --config= -r= --rev= -m= --message= -d= --date= -u= --user= | sub"),
    "svn": options("-m= --message= -r= --revision= --depth= --username= --password= -F= --file= | sub"),
    "p4": options("-p= -u= -P= -c= -H= -d= -C= | sub"),
    **dict.fromkeys(("sl", "fossil"), options("-R= --repository= --cwd= | sub")),
    "jj": options("-R= --repository= -r= --revisions= -m= --message= --at-op= --config= --from= --to= -b= | sub"),
    "java": options("-jar= -cp= -classpath= | words first"),
}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **dict.fromkeys(("hg", "svn", "jj", "bfg", "p4", "sl", "fossil"), vcs), "hub": hub, "java": java,
}  # fmt: skip
