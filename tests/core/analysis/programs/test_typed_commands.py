"""Which commands take what is typed on their terminal. Every command here is only ever parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.analysis_effects import REPO, repository, told


def typed(command: str, *, terminal: bool = True) -> list[str]:
    """The programs that would be typed into."""
    action = Action("1", "s", Layer.SHELL, "shell", {"command": command}, REPO, 0.0, root=REPO, typed=terminal)
    effects = analyse(action, repository({"run.sh": "python3\n", "app.py": "x = 1\n"}))
    return [e.target for e in effects if e.kind is Kind.EXECUTE and "typed" in e.how]


COMMANDS = (
    ("bash -i", [], "a bash asks about each line by itself"),
    ("exec bash -l", [], "in any way that comes to its shim"),
    ("timeout 9 bash", [], "through what looks it up on PATH"),
    ("/bin/bash", ["bash"], "not beside its shim"),
    ("env -i bash", ["bash"], "nor with another PATH"),
    ("sh -i", ["sh"], "no other shell can ask"),
    ("zsh", ["zsh"], "nor this"),
    ("sh -s a", ["sh"], "words of its own are no script"),
    ("sh run.sh", ["python3"], "what a script starts has its terminal"),
    ("sh -c python", ["python"], "and so has what a text starts"),
    ("python3; ls", ["python3"], "whatever follows"),
    ("python3 | tee log", ["python3"], "wherever its output goes"),
    ("python3 -i app.py", ["python3"], "a prompt behind a script"),
    ("perl -i.bak -pe s/a/b/ app.py", [], "to perl the same letter is another thing"),
    ("perl -ne print", [], "and it has its text in one word with others"),
    ("python3 -", ["python3"], "the name of standard input"),
    ("python3 -m http.server", [], "a module"),
    ("python3 < app.py", [], "another standard input"),
    ("cat app.py | python3", [], "a pipe"),
    ("while true; do python3; done < app.py", [], "around a loop"),
    ("xargs python3", [], "xargs gives what it starts no terminal"),
    ("docker exec -it c sh", [], "in a container nothing is ours to see"),
    ("kubectl exec -it p -- psql", [], "nor there"),
    ("ssh host python3", [], "nor on another machine"),
    ("node --inspect", ["node"], "options that give no text"),
    ("node -e 1", [], "an option that does"),
    ("deno", ["deno"], "deno prompts"),
    ("deno run app.ts", [], "with a script it does not"),
    ("bun", [], "bun shows its help"),
    ("bun repl", ["bun"], "but here it prompts"),
    ("cockroach sql -e 'SELECT 1'", [], "a verb that is given its statement"),
    ("cockroach sql", ["cockroach"], "and that is not"),
    ("cockroach start", [], "another verb"),
    ("mongosh app x.js", [], "a script behind the database"),
    ("psql --version", [], "what only tells"),
)


@pytest.mark.parametrize(("command", "programs"), [c[:2] for c in COMMANDS], ids=[f"{c[0]} - {c[2]}" for c in COMMANDS])
def test_what_is_typed_into(command, programs):
    assert typed(command) == programs


def test_at_any_other_input_nothing_is(command="python3; zsh; psql"):
    assert typed(command, terminal=False) == []


DEFINED = (
    ("F='.env'\n", "cat $F", ["read .env shown"], "a variable"),
    ("alias show='cat'\n", "show .env", ["read .env shown"], "an alias"),
    ("f () \n{ \n    cat .env\n}\n", "f", ["read .env shown"], "a function"),
    ("f () \n{ \n    cat .env\n}\nPATH='/x'\n", "true", [], "of itself it does nothing"),
    ("F='.env", "cat README.md", ["read README.md shown"], "what cannot be read says nothing"),
)


@pytest.mark.parametrize(("known", "line", "effects"), [d[:3] for d in DEFINED], ids=[d[3] for d in DEFINED])
def test_a_line_means_what_its_shell_knows(known, line, effects):
    action = Action("1", "s", Layer.LINE, "shell", {"command": line}, REPO, 0.0, root=REPO, definitions=known)
    found = analyse(action, repository())
    assert list(dict.fromkeys(told(found, *(kind for kind in Kind if kind is not Kind.EXECUTE)))) == effects


READER = (
    ("PS0=", ["privilege environment PS0"], "what asks about each line"),
    ("unset PS0", ["privilege environment PS0"], "taken away"),
    ("PROMPT_COMMAND=", ["privilege environment PROMPT_COMMAND"], "what puts it back"),
    ("fc -s echo=cat", ["opaque fc -s echo=cat code ?"], "the history, run again and changed"),
    ("fc -ln -5", [], "the history, listed"),
    ("bind -x '\"\\C-t\": cat .env'", ["read .env shown"], "a command on a key"),
    ("bind '\"\\C-t\": beginning-of-line'", [], "a key of the editor"),
    ("PS1='$(cat .env)$ '", ["read .env shown"], "a command in a prompt"),
    ("PS1='\\u:\\w$ '", [], "a prompt"),
)


@pytest.mark.parametrize(("command", "effects"), [r[:2] for r in READER], ids=[r[2] for r in READER])
def test_what_would_pass_the_reader_by(command, effects):
    action = Action("1", "s", Layer.LINE, "shell", {"command": command}, REPO, 0.0, root=REPO)
    found = analyse(action, repository())
    assert told(found, *(kind for kind in Kind if kind is not Kind.EXECUTE)) == effects
