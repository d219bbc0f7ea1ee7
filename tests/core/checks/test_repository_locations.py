"""Where the repository lies does not change what is said of a command. Every text here is only ever parsed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case, GuardResources
from sentinel_guard.core.checks.leak import CHECK as LEAKS
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Layer, Response
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.session.session import Session
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import FakeWorld

POLICY = merge(builtin())
HOME = "/home/ann"
USUAL = f"{HOME}/work/repo"
PLACES = (
    *("/tmp/x/repo", "/var/tmp/x/repo", "/private/tmp/x/repo", "/dev/shm/x/repo", "/srv/x/repo", "/opt/x/repo"),
    *("/srv/repo", "/opt/repo", "/app/x/repo", "/workspace/repo", "/data/x/repo", "/root/x/repo", "/var/www/repo"),
    *("/usr/local/src/x/repo", "/mnt/x/repo"),
)
NAMES = (
    *(".env", "README.md", "Makefile", "src/main.py", "app.db", "prod.sqlite3", "build/a.o", "node_modules/a/index.js"),
    *(".git/HEAD", ".git/config", ".git/index", "../sibling/f"),
)
COMMANDS = (
    *("rm README.md", "rm -rf build", "rm -rf src", "rm -rf .git", "rm -rf .", "rm -rf ./*", "rm -rf .."),
    *("rm -f app.db", "rm prod.sqlite3", "> app.db", "dd if=/dev/zero of=app.db", "mv app.db /tmp", ": > prod.sqlite3"),
    *("truncate -s 0 app.db", "cp /dev/null app.db", "rm .env", "cat .env", "mv .env x", "chmod 777 .env"),
    *("echo x > README.md", "echo x > ../sibling/new", "echo x > ../sibling/f", "echo x >> ../sibling/f"),
    *("cp README.md ../other/", "cp README.md ../other.md", "rm -rf ../sibling", "rm ../sibling/f", "touch ../z"),
    *("git clone https://example.com/x.git ../y", "git worktree add ../w", "git worktree remove --force ../w"),
    *("tar czf ../backup.tgz .", "mv README.md ../", "mkdir -p ../z", "ln -s ../sibling lib", "git clean -fd"),
    *("git -C ../sibling reset --hard", "git -C ../sibling status", "git reset --hard", "find . -delete"),
    *("find . -name '*.pyc' -delete", "find .. -delete", "chmod -R 777 .", "chown -R user .", "rsync -a ./ ../copy/"),
    *("rsync -a --delete ./ ../sibling/", "sed -i s/a/b/ ../sibling/f", "cd .. && rm -rf sibling", "cd .. && ls"),
    *("mkdir ../x && cd ../x && touch a", "sqlite3 app.db 'drop table t'", "rm -rf /etc", "echo x > /etc/passwd"),
    *("echo x > /etc/x.conf", "rm -rf ~/x", "python3 -m venv ../venv", "unzip x.zip -d ../out", "shred README.md"),
    *("curl -o ../x.tgz https://example.com/x", "rm -rf dist node_modules", "npm install", "git clean -fdx"),
)


def response(text: str, root: str, *, repository: bool = True, tracks: bool = False) -> Response:
    top = root if repository else ""
    world = FakeWorld({f"{root}/{name}".replace("/repo/../", "/"): "" for name in NAMES}, home=HOME, folders=("/etc",))
    action = Action("a", "s", Layer.SHELL, "shell", {"command": text}, root, 0.0, top)
    guarded = GuardResources((f"{HOME}/.local/state/sentinel-guard",), (f"{top}/.git/hooks",) if top else ())
    restricted = (f"{root}/.env",) if top else ()
    session = Session("s", root=top)
    case = Case(action, analyse(action, world), session, POLICY, None, "", restricted, guarded, HOME)
    case = replace(case, tracked=frozenset) if tracks else case
    return max((f.response for f in (*rules(case), *LEAKS(case))), default=Response.ALLOW)


@pytest.mark.parametrize("place", PLACES)
def test_the_answer_is_the_same_wherever_the_repository_lies(place: str) -> None:
    assert {text: response(text, place) for text in COMMANDS} == {text: response(text, USUAL) for text in COMMANDS}


OUTSIDE = [
    ("rm -rf node_modules", "ok", "fetched again"),
    ("rm -rf build dist", "ok", "built again"),
    ("rm -rf src/__pycache__ .pytest_cache", "ok", "made by every run"),
    ("rm -rf ios/build", "ok", "deeper"),
    ("find . -name '*.pyc' -delete", "ok", "compiled again"),
    ("rm -rf src", "ask", "nobody has it"),
    ("rm notes.txt", "ask", "nor that"),
    ("rm -rf ../other/build", "ask", "not where work is done: it may hold anything"),
    ("rm -rf /usr/lib/node_modules", "ask", "the system's"),
    ("echo x > new.txt", "ok", "a new file"),
]


@pytest.mark.parametrize("place", [f"{HOME}/plain", "/srv/x/plain"])
@pytest.mark.parametrize(("text", "wanted"), [row[:2] for row in OUTSIDE], ids=[row[2] for row in OUTSIDE])
def test_outside_of_a_repository_what_is_made_anew_needs_no_question(text: str, wanted: str, place: str) -> None:
    assert (response(text, place, repository=False) >= Response.ASK) is (wanted == "ask")


FAMILY = [
    ("find . -name '*.zzz' -exec mv {} .. \\;", "ok", "nothing is found, nothing runs"),
    ("find . -name '*.zzz' -exec rm -rf .. \\;", "deny", "what has no {} may find something yet: unsure"),
    ("find . -name '*.md' -exec rm -rf .. \\;", "kill", "where something is found it runs"),
    ("find . -name '*.zzz' | xargs -I{} mv {} ..", "ok", "xargs has no item"),
    ("printf '' | xargs mv ..", "ok", "xargs runs it once, and mv only complains"),
    ("mv ..", "ok", "one operand moves nothing"),
    ("mv .git", "ok", "whatever it is"),
    ("shopt -s nullglob; mv *.zzz ..", "ok", "a glob that leaves one operand"),
    ("mv .. $TARGET", "deny", "where to is not known: no kill"),
    ("for f in $(find . -name '*.zzz'); do rm -rf ..; done", "ok", "a loop over nothing"),
    ("find . -maxdepth 1 -type f -name '*.o' -delete", "ok", "flat"),
    ("find . -maxdepth 1 -type f -delete", "deny", "flat, and .env is there"),
    ("find . -maxdepth 1 -type d -name .git -exec rm -rf {} +", "kill", "flat, the history"),
    ("find . -mindepth 1 -maxdepth 1 -name 'build' -exec rm -rf {} +", "snapshot", "flat, a folder"),
    ("find . -type d -name index -delete", "ok", "a kind that nothing of that name is"),
    ("find . -name index -delete", "deny", "find goes into .git, too"),
    ("find . -name index -not -path './.git/*' -delete", "ok", "unless it is told not to"),
    ("find .git -name '*.pack' -delete", "deny", "packs may be there any day"),
    ("find .git -name '*.lock' -delete", "ok", "a stale lock"),
    ("find /dev -name 'sd*' -exec dd if=/dev/zero of={} \\;", "deny", "disks come and go"),
    ("git clean -f .env", "deny", "by name"),
    ("git clean -fdx", "deny", "what is ignored goes, .env too"),
    ("git clean -fdx -e .env", "ask", "unless it is left out"),
    ("git clean -fdx --exclude=.env", "ask", "in one word"),
    ("git clean -fdx src", "ask", "another folder"),
    ("git clean -fdX build", "snapshot", "one that is built anew"),
    ("git clean -fd", "snapshot", "a snapshot has that"),
    ("git stash -a", "deny", "the same, by the stash"),
    ("git stash -u", "snapshot", "a snapshot has that"),
    ("git ls-files -d | xargs git rm", "snapshot", "git has what git rm takes"),
    ("git commit -F .env", "deny", "a secret for a message"),
    ("git notes add -F .env", "deny", "the same, as a note"),
    ("git commit -F msg.txt", "ok", "a message"),
    ("git grep SECRET -- .env", "ask", "its lines are shown"),
    ("git grep -l SECRET -- .env", "ok", "its name is"),
    ("git log -p -- .env", "ask", "of every commit"),
    ("git log --oneline -- .env", "ok", "no content"),
    ("git diff --stat -- .env", "ok", "only counted"),
    ("git config include.path /tmp/x", "ask", "settings that nobody has seen"),
    ("git config include.path ../.gitconfig", "ok", "the repository's own"),
    ("ln -sfn /tmp .git", "ask", "a link among git's own files"),
    ("CDPATH=/ cd etc && rm -rf ../usr", "kill", "CDPATH leads away"),
    ("CDPATH=.. cd sibling && rm f", "ask", "to the neighbours"),
    ("CDPATH=/ cd ./src && rm main.py", "ok", "not for a path that says where it is"),
    ("cd nowhere || true; rm -rf ./*", "ask", "a cd that fails leaves the place as it was"),
    ("cd nowhere || exit 1; rm -rf ./*", "snapshot", "unless it ends there"),
    ("chmod 777 .e*", "deny", "a mode is meant, by a glob"),
    ("chmod 777 .e''nv", "deny", "by quotes"),
    ("chmod 600 .e*", "ok", "only for its owner"),
    ("chmod 644 *", "ok", "all that is there"),
    ("chmod 000 ~", "deny", "the guard could not reach its own files"),
    ("chmod 700 ~", "ok", "it could"),
    ("pre-commit uninstall", "ask", "hooks"),
    ("python3 -m sentinel_guard approve 1", "deny", "the guard, as a module"),
    ("nc -U ~/.local/state/sentinel-guard/operator.sock", "kill", "the guard's socket"),
    ("nc -U ./operator.sock", "deny", "a socket of that name, wherever it lies"),
    ("nc -U /run/app/agent.sock", "ok", "another one"),
    ("git commit -m 'see /run/x/operator.sock'", "ok", "only said"),
    ("systemctl --user stop sentinel-guard", "kill", "the guard's service"),
    ("systemctl --user stop pipewire", "ok", "the person's"),
    (
        "systemctl --user list-unit-files | awk '/sentinel-guard/{print $1}' | xargs systemctl --user mask --now",
        "deny",
        "the guard's service, by a list of its name",
    ),
]


@pytest.mark.parametrize(("text", "wanted"), [row[:2] for row in FAMILY], ids=[row[2] for row in FAMILY])
def test_sweeps_and_what_comes_to_nothing(text: str, wanted: str) -> None:
    answer = response(text, USUAL)
    if wanted == "ok":
        assert answer in (Response.ALLOW, Response.SNAPSHOT, Response.HINT)
    else:
        assert answer is Response[wanted.upper()]


TRACKED = [
    ("git clean -fdx", "ask", "clean leaves what git tracks"),
    ("git rm -q --cached .env; git clean -fdx", "deny", "which another git command of the same text may end"),
    ("git stash -a", "snapshot", "so does stash"),
]


@pytest.mark.parametrize(("text", "wanted"), [row[:2] for row in TRACKED], ids=[row[2] for row in TRACKED])
def test_a_sweep_spares_a_restricted_file_that_git_tracks(text: str, wanted: str) -> None:
    assert response(text, USUAL, tracks=True) is Response[wanted.upper()]
