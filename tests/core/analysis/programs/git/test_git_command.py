"""git's configuration read from disk, and the subcommands whose effects are easily taken for others."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.programs.git.git_config_files import entries
from sentinel_guard.core.model import Action, Effect, Kind, Layer
from tests.support.fakes import FakeWorld

HOME = "/home/user"
ROOT = f"{HOME}/project"

ENTRIES = [
    ("[core]\nbare = false\n", [("core.bare", "false")], "plain"),
    ("[Core]\nBare\n", [("core.bare", "true")], "no value, upper case"),
    ('[remote "Origin"]\n\turl = x # y\n', [("remote.Origin.url", "x")], "a subsection keeps its case; a comment"),
    ('[a]\nb = "x # y" z ; c\n', [("a.b", "x # y z")], "quotes hold a comment's sign"),
    ('[a]\nb = "!f() { \\"$@\\"; }; f"\n', [("a.b", '!f() { "$@"; }; f')], "escaped quotes"),
    ("[a]\nb = x \\\n y\n", [("a.b", "x  y")], "a line that goes on"),
    ("[a] b = c\n", [("a.b", "c")], "on the header's own line"),
    ("# [a]\n; b = c\n[x]\n", [], "comments"),
    ("b = c\n", [], "outside of a section"),
    ("[a\nb = c\n", [], "no header"),
]


@pytest.mark.parametrize(("text", "wanted"), [r[:2] for r in ENTRIES], ids=[r[2] for r in ENTRIES])
def test_a_file_of_settings_is_read(text, wanted):
    assert list(entries(text)) == wanted


def effects_of(text, files=None, **more):
    world = FakeWorld({f"{ROOT}/.git/HEAD": "", **(files or {})}, home=HOME, **more)
    return analyse(Action("a", "s", Layer.SHELL, "shell", {"command": text}, ROOT, 0.0, ROOT), world)


def told(effects: tuple[Effect, ...]) -> list[str]:
    """Kind, target below the repository and how, for what is not merely run."""
    shown = (
        " ".join((e.kind, e.target.removeprefix(f"{ROOT}/"), *sorted(e.how - {"shown"})))
        for e in effects
        if e.kind not in (Kind.EXECUTE, Kind.NETWORK)
    )
    return list(dict.fromkeys(shown))


OWN, USER = f"{ROOT}/.git/config", f"{HOME}/.gitconfig"
GONE = ["delete .env force"]
LOST = ["git-rewrite worktree force", "git-rewrite index"]
ALIASES = [
    ("git x", {OWN: "[alias]\nx = !rm -f .env"}, GONE, "of the repository"),
    ("git x", {USER: "[alias]\nx = !rm -f .env"}, GONE, "of the person"),
    ("git x", {f"{HOME}/.config/git/config": "[alias]\nx = !rm -f .env"}, GONE, "in the newer place"),
    ("git x", {OWN: "[alias]\nx = status", USER: "[alias]\nx = !rm -f .env"}, [], "the repository's counts first"),
    ("git X", {OWN: "[ALIAS]\nx = !rm -f .env"}, GONE, "in any case"),
    ("git x --hard", {OWN: "[alias]\nx = reset"}, LOST, "options come behind it"),
    ("git x .env", {OWN: "[alias]\nx = !rm -f"}, GONE, "so do arguments of a shell alias"),
    ("git x .env", {OWN: '[alias]\nx = "!f() { rm -f $1; }; f"'}, GONE, "a function in it"),
    ("git -C src x", {OWN: "[alias]\nx = !rm -f .env", f"{ROOT}/src/a": ""}, GONE, "it runs at the top"),
    ("git x", {OWN: "[alias]\nx = y\ny = !rm -f .env"}, GONE, "an alias of an alias"),
    ("git x", {OWN: "[alias]\nx = y\ny = x"}, [], "a circle ends"),
    ("git x", {OWN: "[alias]\nx = x"}, [], "so does itself"),
    ("git status", {OWN: "[alias]\nstatus = !rm -f .env"}, [], "no alias takes a subcommand's place"),
    ("git fsck", {OWN: "[alias]\nfsck = !rm -f .env"}, [], "nor of one that changes nothing"),
    ("git x", {OWN: "[include]\npath = more", f"{ROOT}/.git/more": "[alias]\nx = !rm -f .env"}, GONE, "included"),
    ("git x", {USER: '[includeIf "gitdir:~/x"]\npath = ~/m', f"{HOME}/m": "[alias]\nx = !rm -f .env"}, GONE, "if"),
    ("git --git-dir=../o/.git x", {f"{HOME}/o/.git/config": "[alias]\nx = !rm -f .env"}, GONE, "of another repository"),
    ("cd sub && git x", {f"{ROOT}/sub/.git": "gitdir: ../.git/modules/sub",
                         f"{ROOT}/.git/modules/sub/config": "[alias]\nx = !rm -f ../.env"}, GONE, "of a submodule"),
    ("cd wt && git x", {f"{ROOT}/wt/.git": f"gitdir: {ROOT}/.git/worktrees/wt",
                        f"{ROOT}/.git/worktrees/wt/commondir": "../..", OWN: "[alias]\nx = !rm -f ../.env"},
     GONE, "of a worktree"),
    ("git x", {}, [], "a program that nobody knows"),
    ("git x", {OWN: "[alias]\nx = 'reset --hard"}, [], "a quote that nothing closes"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "files", "wanted"), [r[:3] for r in ALIASES], ids=[r[3] for r in ALIASES])
def test_an_alias_is_what_it_stands_for(text, files, wanted):
    assert told(effects_of(text, files)) == wanted


GIVEN = [
    ("git -c core.worktree=/srv/x checkout -f", "git-rewrite worktree elsewhere force", "another worktree"),
    ("echo '[alias] x = !rm -f .env' > g; GIT_CONFIG_GLOBAL=g git x", GONE[0], "a file that the text made"),
    ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm -f .env' git x", GONE[0], "by variables"),
    ("GIT_CONFIG_PARAMETERS=\"'alias.x'='!rm -f .env'\" git x", GONE[0], "as git hands them on"),
    ("A='!rm -f .env' git --config-env=alias.x=A x", GONE[0], "from a variable"),
    ("git -c gc.pruneExpire=now gc", "git-rewrite objects force", "a setting that prunes"),
    ("git config clean.requireForce false && git clean", "git-rewrite untracked force", "a setting that cleans"),
    ("git -c remote.origin.mirror=true push", "publish origin force", "a remote that mirrors"),
    ("git config remote.origin.mirror true; git push", "publish origin force", "one that was made to mirror before"),
    ("git -c remote.origin.push=+HEAD:main push", "publish origin force", "a forced refspec"),
    ("git -c pager.log='rm -f .env' log", GONE[0], "a pager of one subcommand"),
    ("git -c submodule.x.update='!rm -f .env' submodule update", GONE[0], "an update that is a command"),
    ("git --exec-path=/x status", "privilege environment GIT_EXEC_PATH", "its programs from elsewhere"),
    ("git config -f .env a.b c", "write .env inplace", "a file that is no configuration"),
]


@pytest.mark.parametrize(("text", "wanted"), [r[:2] for r in GIVEN], ids=[r[2] for r in GIVEN])
def test_a_setting_does_what_it_does(text, wanted):
    assert wanted in told(effects_of(text))


FILES = {
    f"{ROOT}/.env": "",
    f"{ROOT}/src/a.py": "",
    f"{ROOT}/list": ".env\n",
    f"{ROOT}/p.patch": "--- a/x\n+++ b/.env\n",
}
ROWS = [
    ("git add .env", ["read .env stage"], "staged by name"),
    ("git add '.e*'", ["read .env stage"], "git expands a pattern"),
    ("git add ':/.env'", ["read .env stage"], "from the top"),
    ("git add ':(top).env'", ["read .env stage"], "the same, in words"),
    ("git add --pathspec-from-file=list", ["read .env stage"], "from a list"),
    ("echo .env | git add --pathspec-from-file=-", ["read .env stage"], "from standard input"),
    ("git add . ':!.env'", [], "a folder; one left out"),
    ("git add -n .env", [], "a look"),
    ("git checkout HEAD -- ':/.env'", ["git-rewrite worktree", "write .env truncate"], "put back from the top"),
    ("git rm -r .", ["git-rewrite worktree force"], "what git knows of all"),
    ("git rm -r src", ["delete src recursive"], "a folder"),
    ("git worktree remove wt", [], "git itself removes no work"),
    ("git stash push .env", ["git-rewrite worktree move", "write .env move"], "a file put away"),
    ("git stash -- .env", ["git-rewrite worktree move", "write .env move"], "the same, shorter"),
    ("git stash -m wip", ["git-rewrite worktree move"], "a message is no file"),
    ("git apply < p.patch", ["read p.patch", "write .env inplace", "write x inplace"], "a patch that comes in"),
    ("git apply --directory=src p.patch", ["write src/.env inplace", "write src/x inplace"], "below a folder"),
    ("git diff --output=.env", ["write .env truncate"], "a difference that is written"),
    ("git archive -o x.tar HEAD .env", ["write x.tar truncate", "read .env"], "an archive"),
    ("git fetch origin main:main", [], "a fetch that only goes ahead"),
    ("git fetch origin +main:main", ["git-rewrite branch main force move"], "a fetch that does not"),
    ("git fetch origin '+refs/heads/*:refs/remotes/origin/*'", [], "a mirror of the remote"),
    (
        "git push ext::'rm -f .env' x",
        ["opaque ext::rm -f .env code", "delete .env force", "publish ext::rm -f .env"],
        "a remote that is a command",
    ),
    (
        "git remote add x 'ext::rm -f .env'",
        ["git-rewrite config remote.x.url", "opaque ext::rm -f .env code", "delete .env force"],
        "for later",
    ),
    ("git grep -Orm x", [], "a command without a name is none here"),
    ("git init --separate-git-dir=/tmp/x", ["delete .git move"], "the history goes elsewhere"),
    ("HUSKY=0 git commit -m x", ["git-rewrite hooks"], "hooks switched off by a variable"),
    ("hg strip tip", ["git-rewrite history force"], "another system"),
    ("svn rm x", [], "not yet committed"),
    ("svn rm https://example.com/x", ["deploy repository delete"], "at once, for all"),
    ("jj op abandon x", ["git-rewrite reflog force"], "its log of operations"),
    ("java -jar bfg.jar x", ["git-rewrite history force"], "a rewriter in a jar"),
    ("java -jar app.jar", [], "any other jar"),
]


@pytest.mark.parametrize(("text", "wanted"), [r[:2] for r in ROWS], ids=[r[2] for r in ROWS])
def test_a_subcommand_does_what_it_does(text, wanted):
    seen = told(effects_of(text, FILES))
    assert sorted(seen) == sorted(wanted)


def test_the_persons_own_environment_is_the_persons():
    own = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "x", "HOME": HOME}
    assert told(effects_of("git commit -m x", environ=own)) == []
