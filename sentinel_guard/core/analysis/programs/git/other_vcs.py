"""Other version control tools, with the same effects as git: hg, svn, bzr, cvs, darcs, jj, p4, bfg, hub and others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.git import own_clones
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
    # Mercurial, Sapling
    **dict.fromkeys(("hg update", "hg up", "hg checkout", "hg co", "sl goto", "sl update", "sl checkout"),
                    (_Row(_LOST, "worktree", "force", ("-C", "--clean")),)),
    "hg purge": (_Row(_LOST, "untracked", "force"), _Row(_LOST, "ignored", "force", ("--all",))),
    **dict.fromkeys(("hg shelve", "sl shelve"),
                    (_Row(_LOST, "stash", "force", ("-d", "--delete", "--cleanup")),)),
    **dict.fromkeys(("hg merge", "hg rebase", "hg histedit", "hg graft", "sl rebase", "sl histedit", "sl graft"),
                    (_Row(_LOST, "worktree", "force", ("--abort",)),)),
    **dict.fromkeys(("hg strip", "hg debugstrip", "hg rollback", "hg prune"), (_Row(_LOST, "history", "force"),)),
    **dict.fromkeys(("hg push", "sl push", "dolt push", "but push"),
                    (_Row(Kind.PUBLISH, "default", "force", ("-f", "--force", "--with-force")),)),
    # Subversion, CVS, RCS
    "svn cleanup": (_Row(_LOST, "untracked", "force", ("--remove-unversioned",)),
                    _Row(_LOST, "ignored", "force", ("--remove-ignored",))),
    **dict.fromkeys(("svn update", "svn up", "svn resolve", "svn switch", "svn merge"),
                    (_Row(_LOST, "worktree", "force", ("--accept=theirs-full", "--accept=tf", "--accept=base")),)),
    **{f"svn {verb}": (_Row(Kind.DEPLOY, "repository", "delete"),) for verb in ("delete", "del", "rm", "remove")},
    **dict.fromkeys(("svnadmin rmtxns", "svnadmin load", "svnadmin setrevprop", "svnadmin delrevprop"),
                    (_Row(_LOST, "history", "force"),)),
    **dict.fromkeys(("cvs update", "cvs up", "cvs checkout", "cvs co"), (_Row(_LOST, "worktree", "force", ("-C",)),)),
    **dict.fromkeys(("cvs release", "cvs remove", "cvs rm"), (_Row(_LOST, "worktree", "force", ("-d", "-f")),)),
    "cvs admin": (_Row(_LOST, "history", "force", ("-o",)),),
    "co": (_Row(_LOST, "worktree", "force", ("-f",)),), "rcs": (_Row(_LOST, "history", "force", ("-o",)),),
    # Bazaar and Breezy, darcs, pijul, Game of Trees, monotone
    **{f"{name} {verb}": rows for name in ("bzr", "brz") for verb, rows in {
        "uncommit": (_Row(_LOST, "history", "force"),),
        "clean-tree": (_Row(_LOST, "untracked", "force"), _Row(_LOST, "ignored", "force", ("--ignored",))),
        "push": (_Row(Kind.PUBLISH, "default", "force", ("--overwrite",)),),
        "pull": (_Row(_LOST, "history", "force", ("--overwrite",)),),
        "switch": (_Row(_LOST, "worktree", "force", ("--force",)),),
        "shelve": (_Row(_LOST, "worktree", "force", ("--destroy",)),),
    }.items()},
    **dict.fromkeys(("darcs obliterate", "darcs unpull", "darcs unrecord", "pijul unrecord", "got histedit"),
                    (_Row(_LOST, "history", "force"),)),
    "got branch": (_Row(_LOST, "history", "force", ("-d",)),),
    "got send": (_Row(Kind.PUBLISH, "default", "force", ("-f", "-d")),),
    "pijul reset": (_Row(_LOST, "worktree", "force"),),
    # Jujutsu, GitButler, gitless, Android's repo
    "jj op": (_Row(_LOST, "reflog", "force", ("abandon",)),),
    "jj util": (_Row(_LOST, "objects", "force", ("gc",)),),
    "jj git": (_Row(Kind.PUBLISH, "origin", "delete", ("--deleted",)),),
    "but discard": (_Row(_LOST, "worktree", "force"),), "but branch": (_Row(_LOST, "history", "force", ("delete",)),),
    "gl checkout": (_Row(_LOST, "worktree", "force"),), "gl branch": (_Row(_LOST, "history", "force", ("-d",)),),
    "repo sync": (_Row(_LOST, "worktree", "force", ("--force-sync", "--force-remove-dirty", "--force-checkout")),),
    "repo abandon": (_Row(_LOST, "history", "force"),),
    "repo upload": (_Row(Kind.PUBLISH, "default"),),
    # Perforce, TFVC, Plastic, ClearCase, AccuRev
    "p4 clean": (_Row(_LOST, "worktree", "force"), _Row(_LOST, "untracked", "force")),
    "p4 sync": (_Row(_LOST, "worktree", "force", ("-f",)),),
    **dict.fromkeys(("p4 reconcile", "p4 rec", "p4 unshelve"), (_Row(_LOST, "worktree", "force", ("-w", "-f")),)),
    **{f"p4 {verb}": (_Row(Kind.DEPLOY, "repository", "delete", ("-d",)),)
       for verb in ("client", "change", "changelist", "branch", "label", "depot", "user", "group", "shelve", "stream")},
    **{f"p4 {verb}": (_Row(Kind.DEPLOY, "repository", "delete"),) for verb in ("obliterate", "archive")},
    "tf vc": (_Row(_LOST, "worktree", "force", ("undo",)),),
    "tf destroy": (_Row(Kind.DEPLOY, "repository", "delete"),),
    **dict.fromkeys(("cm undo", "cm undochange", "cm unco", "cm undocheckout", "cm unc"),
                    (_Row(_LOST, "worktree", "force"),)),
    **{f"cm {thing}": (_Row(Kind.DEPLOY, "repository", "delete", ("delete",)),)
       for thing in ("branch", "br", "changeset", "label", "lb", "repository", "repo", "workspace", "shelveset")},
    **dict.fromkeys(("cleartool unco", "cleartool uncheckout"), (_Row(_LOST, "worktree", "force"),)),
    **{f"cleartool {verb}": (_Row(Kind.DEPLOY, "repository", "delete"),)
       for verb in ("rmelem", "rmver", "rmbranch", "rmvob", "rmtype", "rmview", "rmhlink")},
    **dict.fromkeys(("accurev purge", "accurev undo", "accurev revert"), (_Row(_LOST, "worktree", "force"),)),
    # Fossil, Dolt, what rewrites a history
    "fossil clean": (_Row(_LOST, "untracked", "force"),),
    **dict.fromkeys(("fossil checkout", "fossil co", "fossil close", "fossil update"),
                    (_Row(_LOST, "worktree", "force", ("-f", "--force")),)),
    "fossil stash": (_Row(_LOST, "stash", "force", ("drop", "rm")),),
    **dict.fromkeys(("fossil shun", "fossil scrub"), (_Row(_LOST, "history", "force"),)),
    "dolt reset": (_Row(_LOST, "worktree", "force", ("--hard",)),),
    "dolt branch": (_Row(_LOST, "history", "force", ("-D",)),),
    "dolt checkout": (_Row(_LOST, "worktree", "force", ("-f", "--force", ".")),),
    "gix clean": (_Row(_LOST, "untracked", "force"), _Row(_LOST, "ignored", "force", ("-x", "--ignored"))),
    "bfg": (_Row(_LOST, "history", "force"),),
    # git-extras: https://github.com/tj/git-extras, version 7
    **dict.fromkeys(("git-obliterate", "git-fresh-branch"), (_Row(_LOST, "history", "force"),)),
    "git-undo": (_Row(_LOST, "worktree", "force", ("-h", "--hard")),),
    "git-reset-file": (_Row(_LOST, "worktree", "force"),),
    **dict.fromkeys(("git-clear", "git-nuke"), (_Row(_LOST, "worktree", "force"), _Row(_LOST, "ignored", "force"))),
    "git-clear-soft": (_Row(_LOST, "worktree", "force"), _Row(_LOST, "untracked", "force")),
    **dict.fromkeys(("git-delete-branch", "git-delete-tag"), (_Row(Kind.PUBLISH, "origin", "delete"),)),
    **dict.fromkeys(
        (*(f"{name} revert" for name in ("hg", "svn", "bzr", "brz", "darcs", "got", "fossil", "p4", "sl", "mtn")),
         "jj abandon", "jj restore", "sl hide", "sl purge", "sl clean", "tf undo"),
        (_Row(_LOST, "worktree", "force"),),
    ),
}  # fmt: skip
"""Each program's own reference, versions of 2026. What can be undone by one command (``jj undo``) has no row."""


def vcs(call: Call) -> Effects:
    """The rows of ``program subcommand``. A flag of a row may be the next word too: ``jj op abandon``."""
    verb = call.command.subcommand or (call.operands[0].text if call.operands else "")
    name = f"{call.command.program} {verb}".strip()
    yield from _configured(call, verb)
    said = {*call.command.flags, *(item.text for item in call.operands[:1])}
    said |= {f"--accept={item.text}" for item in call.parsed.values("--accept")}
    if call.has("-n", "--dry-run", "--help") or (name == "hg purge" and call.has("-p", "--print")):
        return
    if name == "gix clean" and not call.has("-e", "--execute"):
        return  # without it, it only says what it would delete
    if name not in _TABLE and subcommand_tables.loses_by_words(call):
        yield call.effect(_LOST, "history", "force", sure=False)
    for row in _TABLE.get(name, _TABLE.get(call.command.program, ())):
        if (not row.flags or said.intersection(row.flags)) and not _online(call, row):
            effect = call.effect(row.kind, row.target, *row.how.split())
            yield from _of_clone(call, effect) if call.command.program == "bfg" else (effect,)


def _of_clone(call: Call, effect: Effect) -> Effects:
    """``bfg --delete-files x CLONE``: a repository of git."""
    folders = [item for item in call.operands[-1:] if item.known]
    return own_clones.spared(replace(call, cwd=call.locate(folders[0])) if folders else call, effect)


def _configured(call: Call, verb: str) -> Effects:
    """``hg --config hooks.update=COMMAND``, ``alias.x=!COMMAND``; a hook may run what has just been fetched."""
    for item in call.parsed.values("--config") + call.head.values("--config"):
        name, _, value = item.text.partition("=")
        if name.startswith(("hooks.", "alias.")) or name in ("ui.ssh", "ui.editor", "ui.merge"):
            yield from call.runner.script(value.removeprefix("!"), call, call.command.program)
        if name.startswith(("hooks.", "extensions.")) and value and verb in ("clone", "pull", "update", "fetch"):
            yield call.opaque(item, "code")


def _online(call: Call, row: _Row) -> bool:
    """``svn rm file`` is undone by ``svn revert``; ``svn rm URL`` is done at once, for all."""
    deletes = call.command.program == "svn" and row.kind is Kind.DEPLOY
    return deletes and not any("://" in item.text for item in call.operands)


def hub(call: Call) -> Effects:
    """A git with some subcommands more, one of them ``api`` as gh has it."""
    program = "gh" if call.fields[1:2] and call.fields[1].text == "api" else "git"
    return call.runner.run([Field(program), *call.fields[1:]], call, "hub")


_CLIENTS = re.compile(r"jenkins-cli|flyway|liquibase|keycloak|kcadm|nexus-cli|cassandra-stress")
"""Clients of services that are handed out as jars: they mean what the program of that name means."""


def java(call: Call) -> Effects:
    """``java -jar bfg.jar``; of any other jar, what its words say."""
    jar = call.parsed.value("-jar")
    if jar is not None and jar.text.rpartition("/")[2].startswith("bfg"):
        yield from vcs(replace(call, command=replace(call.command, program="bfg", subcommand="")))
    elif jar is not None and (name := _CLIENTS.match(jar.text.rpartition("/")[2])):
        at = next(n for n, item in enumerate(call.fields) if item.text == jar.text)
        yield from call.runner.run([Field(name[0]), *call.fields[at + 1 :]], call, "java")
    elif jar is not None and subcommand_tables.loses_by_words(call):
        yield call.effect(Kind.DEPLOY, jar.text, "delete", sure=False)


OPTIONS = {
    "hg": options("-R= --repository= --cwd= --config= -r= --rev= -m= --message= -d= --date= -u= --user= | sub"),
    "svn": options("-m= --message= -r= --revision= --depth= --username= --password= -F= --file= --accept= | sub"),
    "p4": options("-p= -u= -P= -c= -H= -d= -C= | sub"),
    **dict.fromkeys(
        (
            "sl",
            "fossil",
            "darcs",
            "pijul",
            "got",
            "but",
            "gl",
            "repo",
            "tf",
            "cm",
            "cleartool",
            "accurev",
            "svnadmin",
            "mtn",
        ),
        options("-R= --repository= --cwd= | sub"),
    ),
    **dict.fromkeys(("bzr", "brz"), options("-d= --directory= -r= --revision= -m= --message= | sub")),
    "gix": options("-r= --repository= -c= -t= | sub"),
    "cvs": options("-d= -e= -T= -z= -s= -r= -D= -j= -k= -m= | sub"),
    "jj": options("-R= --repository= -r= --revisions= -m= --message= --at-op= --config= --from= --to= -b= | sub"),
    "bfg": options(
        "-D= --delete-files= --delete-folders= -b= --strip-blobs-bigger-than= -B= --strip-biggest-blobs= "
        "-bi= --strip-blobs-with-ids= -rt= --replace-text= -p= --protect-blobs-from="
    ),
    "java": options("-jar= -cp= -classpath= | words first"),
}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **dict.fromkeys((name.partition(" ")[0] for name in _TABLE if name[:5] != "dolt "), vcs), "hub": hub, "java": java,
}  # fmt: skip
