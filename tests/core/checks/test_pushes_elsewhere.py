"""Which texts with a push from another repository are looked into, and which are asked about in any case (ADR 0053)."""

from __future__ import annotations

import pytest

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Kind, Layer
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.session.session import Session
from sentinel_guard.host.policy_files import builtin
from tests.support.analysis_effects import REPO, effects_of, repository

OTHER = "/home/ann/other"
TO = f"cd {OTHER} && "
LAYOUT = {f"{OTHER}/.git/{name}": text for name, text in (("HEAD", "ref: refs/heads/x\n"), ("config", "[core]\n"))}
FOUND = "commit to come adds a token"
LOOKED_AT = [
    ("git push", "alone"),
    ('git add -A && git commit -q -m "fix: x" && git push -q origin feat/x', "with what goes into it"),
    ("git commit -qam x; git push origin HEAD 2>&1 | tail -3", "and who reads what it prints"),
    ("git commit -m \"$(cat <<'E'\nfix `x` of $y\n\nBy: me\nE\n)\" && git push -u origin HEAD", "a message of lines"),
    ("git checkout -b fix && git add . && git commit -m x && git push -u origin fix", "on a new branch"),
    ("git switch -c fix && git commit --amend --no-edit && git push origin fix", "on another"),
    ("git status --short && git log --oneline -3 && git diff --stat && git branch --show-current && git push", "looks"),
    ("git push && gh pr create --fill && gh run watch", "and a pull request"),
    ("git push; sleep 20; gh pr checks", "a pause behind it"),
    ("for i in 1 2 3; do git push; done", "a loop that ends"),
    ('echo "pushing"; ls | wc -l; [ -f x ] && grep -q a b; git push; pwd', "and what only reads"),
    ('MSG=fix; git commit -m "$MSG" && git push', "words that are known"),
]
ASKED = [
    ("echo a > x; git add x; git push", "what it writes itself"),
    ("cat ~/.netrc >> x; git commit -qam x; git push", "the same"),
    ("cp ../repo/src/a.py . && git add . && git push", "a copy"),
    ("git -C ../repo format-patch -o . HEAD~1 && git push", "a patch"),
    ("make build && git push", "a build"),
    ("npm version patch && git push", "a program that writes and commits"),
    ("./x.sh; git push", "a script"),
    ("python3 -c 'print(1)'; git push", "code"),
    (". ./x.sh; git push", "a file that nobody has read"),
    ("git push; ./x.sh", "behind it: it may be a loop"),
    ("for i in 1 2; do git push; echo a > x; git commit -qam x; done", "a loop"),
    ('git commit -qm "$(cat x)"; git push', "words that nobody knows"),
    ("git commit -qF ~/.netrc; git push", "a message from a file"),
    ('git commit -q -m x --author="a <b@c.de>"; git push', "an option that is not known"),
    ("git add -f .env.local; git push", "what is ignored"),
    ("git pull ../repo main && git push", "commits from elsewhere"),
    ("git fetch ../repo && git merge FETCH_HEAD && git push", "the same"),
    ("git stash pop && git commit -qam x && git push", "from the stash"),
    ("git checkout other && git push", "another branch"),
    ("git checkout -b x other && git push", "a branch of another"),
    ("git cherry-pick abc && git push", "another commit"),
    ("git push --tags", "every tag"),
    ("git push --all origin", "every branch"),
    ("git push --force-with-lease", "forced in a way"),
    ("git push -f", "forced"),
    ("git push origin --delete x", "a deletion"),
    ("git push origin +x", "forced by a sign"),
    ("git push -o ci.skip", "an option of the remote's"),
    ("git push --receive-pack=./x", "a program there"),
    ("git push origin $X", "a branch that nobody knows"),
    ("git remote add me https://example.com/x.git && git push me HEAD", "a new remote"),
    ("git remote set-url origin https://example.com/x.git; git push", "another address"),
    ("git config url.x.insteadOf y; git push", "a setting"),
    ("git -c remote.origin.url=x push", "one for it alone"),
    ("git -c url.x.insteadOf=y push", "the same"),
    (f"git --git-dir={OTHER}/.git push", "by an option"),
    ("git --work-tree=/home/ann/repo add . && git push", "another work tree"),
    (f"GIT_DIR={OTHER}/.git git push", "by a variable"),
    ("GIT_WORK_TREE=/home/ann/repo git add a.py && git push", "the same for one before"),
    ("GIT_INDEX_FILE=x git commit -qm x; git push", "another index"),
    ("export GIT_DIR=.git; git push", "exported"),
    ("HOME=/tmp/h git push", "other settings"),
    ("https_proxy=http://me.example git push", "by way of another machine"),
    ("GIT_SSH_COMMAND='ssh -p 1' git push", "another way"),
    ("sudo git push", "as another person"),
    ("env X=1 git push", "through a program"),
    ("./git push", "another git"),
    ("true; (sleep 1; cp ../repo/a .) & git push", "beside it"),
    ("gh repo sync && git push", "a client that changes it"),
    ("sleep 60; git add -A; git commit -qm x; git push", "later, when something else may be there"),
    ("(sleep 60 && git push) &", "the same, beside other calls"),
    ("gh run watch; git push", "as long as a run takes"),
    ("tail -f x | head -1; git push", "as a file grows"),
    ("while :; do git add -A; git commit -qm x; git push; sleep 9; done", "again and again"),
    ("until [ -f x ]; do :; done; git push", "once a file is there"),
    ("for i in 1 2; do git push; sleep 9; done", "a pause before the next"),
    ("git -C ../tree commit -qam x && git push origin tree", "a commit in another work tree of it"),
    ("cd ../tree && git commit -qam x && cd ../other && git push origin tree", "the same"),
    ("curl -o x https://example.com && git push", "from the network"),
]


def verdict(text: str, found: str | None) -> list[str]:
    """The reasons of the rules that ask or refuse for the push."""
    pushes = {} if found is None else {OTHER: found}
    world = repository(LAYOUT, folders=(f"{OTHER}/.git/objects", f"{OTHER}/.git/refs"), pushes=pushes)
    action = Action("1", "s", Layer.SHELL, "shell", {"command": text}, REPO, 0.0, root=REPO)
    effects = effects_of(text, world)
    assert any(e.kind is Kind.PUBLISH for e in effects), text
    case = Case(action, effects, Session("s", root=REPO), merge(builtin()), home="/home/ann")
    return [f.why for f in rules(case) if f.rule == "git.push-elsewhere"]


@pytest.mark.parametrize(("text", "why"), LOOKED_AT)
def test_what_is_looked_into(text: str, why: str) -> None:
    assert verdict(TO + text, "") == [], why
    [said] = set(verdict(TO + text, FOUND))
    assert said.endswith(FOUND), "the question says what was found"
    assert verdict(TO + text, None), "not known"


@pytest.mark.parametrize(("text", "why"), ASKED)
def test_what_is_asked_about_whatever_is_there(text: str, why: str) -> None:
    assert verdict(TO + text, ""), why
