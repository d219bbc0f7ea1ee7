"""PATH: whether it keeps the guard's programs whatever branch is taken, and which programs it leads to."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import FakeWorld

SHIMS = "/state/sessions/1/shims"
BEGUN = f"{SHIMS}:/opt/a:/usr/bin"
WORLD = FakeWorld(
    {"/repo/.git/HEAD": "", "/repo/bin/deploy": "#!/bin/sh\nrm -rf /\n", "/repo/bin/git": "#!/bin/sh\nrm -rf /\n"},
    environ={"PATH": BEGUN, "HOME": "/home/ann"},
    shims=(SHIMS,),
)


def effects_of(text: str, world: FakeWorld = WORLD):
    return analyse(Action("1", "s", Layer.SHELL, "shell", {"command": text}, "/repo", 0.0, root="/repo"), world)


def replaces(text: str, world: FakeWorld = WORLD) -> bool:
    """Whether PATH may lose what was in it."""
    return any(e.target == "environment PATH" and "append" not in e.how for e in effects_of(text, world))


CODEX = "if [ -n \"${PATH:-}\" ]; then export PATH='/x':\"$PATH\"; else export PATH='/x'; fi"
CONDA = """__conda_setup="$('/opt/conda/bin/conda' 'shell.bash' 'hook' 2> /dev/null)"
if [ $? -eq 0 ]; then
    eval "$__conda_setup"
else
    if [ -f "/opt/conda/etc/profile.d/conda.sh" ]; then
        . "/opt/conda/etc/profile.d/conda.sh"
    else
        export PATH="/opt/conda/bin:$PATH"
    fi
fi
unset __conda_setup
"""
PATHMUNGE = """pathmunge () {
    case ":${PATH}:" in
        *:"$1":*) ;;
        *) if [ "$2" = "after" ] ; then PATH=$PATH:$1; else PATH=$1:$PATH; fi
    esac
}
pathmunge /opt/bin
"""
KEPT = [
    (CODEX, "Codex: set in both branches"),
    ('if [ -z "$PATH" ]; then PATH=/usr/bin; fi', "where it was empty nothing is lost"),
    ('if [ -d x ]; then :; elif [ -z "$PATH" ]; then PATH=/usr/bin; fi', "the same in an elif"),
    ('[ -z "$PATH" ] && export PATH=/usr/bin', "in a list"),
    ("[[ -n $PATH ]] || PATH=/usr/bin", "turned round"),
    ('[ "$PATH" = "" ] && PATH=/usr/bin', "as a comparison"),
    ('! [ "$PATH" ] && PATH=/usr/bin', "negated"),
    ("PATH=${PATH:-/usr/bin}", "a default"),
    ('case ":${PATH}:" in *:"$HOME/.cargo/bin":*) ;; *) export PATH="$HOME/.cargo/bin:$PATH" ;; esac', "rustup"),
    ('export PYENV_ROOT="$HOME/.pyenv"; [[ -d $PYENV_ROOT/bin ]] && export PATH="$PYENV_ROOT/bin:$PATH"', "pyenv"),
    ('export NVM_DIR="$HOME/.nvm"; PATH="${NVM_BIN-$NVM_DIR/bin}:$PATH"', "nvm"),
    (CONDA, "conda"),
    (PATHMUNGE, "pathmunge"),
    ("PATH=/opt/x${PATH:+:$PATH}", "an operator"),
    ("PATH+=:/x", "appended"),
    ("p=/x:$PATH; export PATH=$p", "by way of another variable"),
    ("if c; then p=/x:$PATH; else p=/y:$PATH; fi; export PATH=$p", "one of two, each of which keeps it"),
    ("if c; then p=$(brew --prefix)/bin:; fi; PATH=$p$PATH", "a prefix that is not known"),
    ('p="$(brew --prefix)/bin:$PATH"; export PATH="$p"', "the same in a variable"),
    ("o=$PATH; PATH=/x:$PATH; c || PATH=/y:$PATH; PATH=$o", "put back"),
    ("for d in /x /y; do PATH=$d:$PATH; done; PATH=$PATH:/z", "a loop"),
    ("while read d; do PATH=$d:$PATH; done; PATH=$PATH:/z", "one of unknown length"),
    ("PATH=${PATH/:\\/opt\\/a/}", "another folder is taken out"),
    ("PATH=$(echo $PATH | sed s,x,,)", "filtered by a program"),
    ("export PATH", "not assigned"),
    ("f() { local PATH=/x:$PATH; c; }; f", "a local one"),
]  # fmt: skip
LOST = [
    ("export PATH=/usr/bin", "replaced"),
    ('if [ -n "$PATH" ]; then PATH=/usr/bin; else PATH=/x:$PATH; fi', "in the wrong branch"),
    ('[ -n "$PATH" ] && PATH=/usr/bin', "where it is not empty"),
    ('[ -z "$PATH" ] || PATH=/usr/bin', "turned round"),
    ('[ -z "$HOME" ] && PATH=/usr/bin', "another variable is empty"),
    ('[ -z "$PATH" ] && c || PATH=/usr/bin', "behind either"),
    ('[ -z "$PATH" ] && c; PATH=/usr/bin', "behind the list"),
    ('[() { true; }; if [ -z "$PATH" ]; then PATH=/usr/bin; fi', "a test of the text's own"),
    ('unset PATH; [ -z "$PATH" ] && PATH=/usr/bin', "the text has emptied it"),
    ('f() { local PATH; [ -z "$PATH" ] && PATH=/usr/bin; git push; }; f', "by a local name"),
    ("f() { local PATH+=/usr/bin; git push; }; f", "appended to a local name that is empty"),
    ("read PATH <<< /usr/bin", "read"),
    ("printf -v PATH /usr/bin", "printed"),
    ("for PATH in /usr/bin; do git push; done", "a loop's variable"),
    ("declare -n p=PATH; p=/usr/bin", "by another name"),
    ("PATH=${PATH#*:}", "the guard's folder is cut off"),
    ("PATH=${PATH:+/usr/bin}", "an operator that drops it"),
    ("PATH=${PATH//shims/x}", "spoiled"),
    ("env PATH=/usr/bin git push", "for one command"),
    ("if c; then p=/x:$PATH; else p=/usr/bin; fi; export PATH=$p", "one of two does not keep it"),
    ("p=/x:$PATH; c && p=./evil; PATH=$p git push", "nor does this"),
    ("p=/x:$PATH; [ -d y ] || p=$(c); PATH=$p", "one is not known"),
    ('p="$(brew --prefix)/bin:$PATH"; p=/usr/bin; export PATH="$p"', "assigned anew"),
]  # fmt: skip


@pytest.mark.parametrize("text", [row[0] for row in KEPT], ids=[row[1] for row in KEPT])
def test_what_keeps_it_passes(text: str) -> None:
    assert not replaces(text)
    assert not [e for e in effects_of(text) if e.kind is Kind.OPAQUE and e.how & {"code", "name", "parse"}]


@pytest.mark.parametrize("text", [row[0] for row in LOST], ids=[row[1] for row in LOST])
def test_what_does_not_is_told(text: str) -> None:
    assert replaces(text)


def test_outside_of_a_session_the_first_folder_stands_for_the_guards() -> None:
    world = FakeWorld({}, environ={"PATH": "/first:/usr/bin"})
    assert not replaces("PATH=${PATH%:*}", world) and replaces("PATH=${PATH#*:}", world)
    assert replaces("PATH=/first", world), "what is not made of it must keep all"


WRITTEN = "printf '#!/bin/sh\\nrm -rf /\\n' > evil/git; "
LED = [
    (WRITTEN + "PATH=./evil:$PATH git status", True, "a program of the text's own under a name that is known"),
    (WRITTEN + "export PATH=$PWD/evil:$PATH; git status", True, "exported"),
    (WRITTEN + "if c; then PATH=./evil:$PATH; else PATH=/x:$PATH; fi; git status", True, "in one of two branches"),
    (WRITTEN + "[ -d y ] && PATH=evil:$PATH; git status", True, "maybe"),
    (WRITTEN + "evil/git status", True, "by its path"),
    (WRITTEN + "PATH=./good:$PATH git status", False, "another folder"),
    (WRITTEN + "git status", False, "not in PATH"),
    ("PATH=./bin:$PATH deploy", True, "a script of the project, by a name that nobody knows"),
    ("deploy", False, "not in PATH"),
    ("PATH=./bin:$PATH git status", False, "what lies in the project under a known name, its authors answer for"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found"), [row[:2] for row in LED], ids=[row[2] for row in LED])
def test_programs_are_looked_for_where_the_text_says(text: str, found: bool) -> None:
    assert any(e.kind is Kind.DELETE and e.target == "/" for e in effects_of(text)) is found
