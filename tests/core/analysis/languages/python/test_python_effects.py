"""Python text -> effects. Every text here is only ever parsed."""

from __future__ import annotations

import pytest

from tests.core.analysis.programs.test_registry import rows, shown

HARM = [
    ("import os; os.remove(bytes.fromhex('2e656e76').decode())", ["delete .env"], "hex"),
    ("import os; os.remove('%s%s' % ('.e','nv'))", ["delete .env"], "a format by percent"),
    ("import os; os.remove('{}env'.format('.'))", ["delete .env"], "format"),
    ("import codecs,os; os.remove(codecs.decode('.rai','rot13'))", ["delete .env"], "rot13"),
    ("import os; os.remove('vne.'[::-1])", ["delete .env"], "backwards"),
    ("import os; f=lambda p: os.unlink(p); f('.env')", ["delete .env"], "a lambda"),
    ("def w(p):\n  import os\n  os.unlink(p)\nw('.env')", ["delete .env"], "a function that is called"),
    ("def w():\n  import os\n  os.unlink('.env')", ["delete .env ?"], "one that is not"),
    ("import os; list(map(os.remove, ['.env']))", ["delete .env"], "map"),
    ("import os; [os.remove(f) for f in ('a', '.env')]", ["delete a", "delete .env"], "a comprehension"),
    ("import pathlib; [p.unlink() for p in pathlib.Path('.').glob('.env*')]", ["delete .env"], "a glob"),
    ("globals()['__builtins__'].__import__('os').remove('.env')", ["delete .env"], "through globals"),
    ("vars(__import__('os'))['remove']('.env')", ["delete .env"], "through vars"),
    ("exec(__import__('base64').b64decode('aW1wb3J0IG9zO29zLnJlbW92ZSgnLmVudicp'))", ["delete .env"], "decoded"),
    ("import os; os.open('.env', os.O_WRONLY|os.O_TRUNC)", ["write .env truncate"], "flags of os.open"),
    ("open(mode='w', file='.env')", ["write .env truncate"], "by name"),
    ("import os; os.rename(src='.env', dst='x')", ["delete .env move", "write x move"], "a move by name"),
    ("import os; os.posix_spawn('/bin/rm',['rm','-f','.env'],{})", ["delete .env force"], "posix_spawn"),
    ("import os; os.execlp('rm', 'rm', '-f', '.env')", ["delete .env force"], "execlp"),
    ("from subprocess import *; run('rm -f .env', shell=True)", ["delete .env force"], "a star import"),
    ("import subprocess; subprocess.run(['bash'], input='rm -f .env')", ["delete .env force"], "standard input"),
    ("import subprocess; subprocess.run('rm -f a', shell=True, cwd='/')", ["delete /a force"], "in another folder"),
    ("import threading,os; threading.Thread(target=os.remove,args=('.env',))", ["delete .env"], "a thread"),
    ("import sqlite3; sqlite3.connect('a').execute('DROP TABLE u')", ["database DROP TABLE u delete"], "SQL"),
    ("import os; os.remove(input())", ["opaque $(a value) delete ?"], "an unknown path"),
]  # fmt: skip
HONEST = [
    ("print('rm -rf /')", [], "a string"),
    ("l=['.env']; l.remove('.env'); {'x'}.remove('x')", [], "a list and a set"),
    ("import shutil; shutil.rmtree('build')", ["delete build recursive"], "a folder that is known"),
    ("import tempfile,shutil; shutil.rmtree(tempfile.mkdtemp())", ["delete /tmp/tmp.unnamed recursive"], "scratch"),
    ("import os,glob; [os.remove(f) for f in glob.glob('*.o')]", ["delete *.o"], "a glob that finds nothing"),
    ("import os\nfor r,d,fs in os.walk('.'):\n  for f in fs:\n    if f.endswith('.pyc'): os.remove(os.path.join(r,f))",
     ["delete **/*.pyc"], "files of one ending"),
    ("import sys; print(open(sys.argv[1]).read())", [], "an argument that is missing"),
    ("import json; json.dump({}, open('package.json','w'))", ["write package.json truncate"], "an honest write"),
    ("import re,pathlib; p=pathlib.Path('README.md'); p.write_text(re.sub('a','b',p.read_text()))",
     ["read README.md", "write README.md truncate"], "read and written"),
    ("import subprocess; print(subprocess.check_output(['git','status']))", [], "an honest program"),
    ("df.replace('a','b'); df.drop('x'); X.objects.filter(id=1).delete()", [], "methods of somebody's objects"),
    ("import sqlite3; sqlite3.connect('a').execute('SELECT 1')", [], "a query"),
    ("import numpy as np; np.delete([1], 0)", [], "delete of an array"),
    ("print(f'{1+1} {x!r}')", [], "an f-string"),
    ("exec(open('setup.py').read())", ["read setup.py", "read setup.py"], "a file that is run"),
    ("def f(n):\n  return f(n-1)\nf(3)", [], "recursion"),
    ("import os; print(os.environ['HOME'], os.path.exists('.env'))", [], "a look"),
    ("x = 'a' 'b'; print(x * 3, -1, not x, x[1:])", [], "operators"),
    ("class A:\n  def run(self): print(self.x)\nA().run()", [], "a class"),
    ("print(open('README.md').read())", ["read README.md"], "a file that is read"),
    ("import pickle; pickle.load(open('m.pkl','rb'))", ["read m.pkl"], "a pickle"),
    ("import asyncio\nasync def m(): await asyncio.sleep(0)\nasyncio.run(m())", [], "a coroutine"),
    ("with open('out.txt','a') as f: f.write('rm -rf /')", ["write out.txt append"], "a log"),
    ("import os; os.makedirs('build', exist_ok=True)", ["write build append"], "a new folder"),
    ("this is no python (", ["opaque this is no python ( data ?"], "no Python at all"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "effects"), rows([*HARM, *HONEST]))
def test_python(text, effects):
    quoted = text.replace("'", "'\\''")
    found = shown(f"python3 -c '{quoted}'")
    assert found == effects


COMMANDS = [
    ("python3 -Ic \"import os; os.remove('.env')\"", ["delete .env"], "a bundle"),
    ('python3 -c "import os,sys; os.remove(sys.argv[1])" .env', ["delete .env"], "an argument"),
    ('echo .env | python3 -c "import os,sys; os.remove(sys.stdin.read().strip())"', ["delete .env"], "the input"),
    ("F=.env python3 -c \"import os; os.remove(os.environ['F'])\"", ["delete .env"], "the environment"),
    ("python3 -m zipfile -e a.zip out", ["read a.zip", "write out append"], "a module that unpacks"),
    ("python3 -m http.server 8000", [], "a module that serves"),
    ("python3 -c \"print('$X', $(date +%s))\"", [], "the shell fills in data"),
    ('python3 -c "$X"', ["opaque … code ?"], "the shell fills in the code"),
    ("python3 -m pytest -q", [], "a test run"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "effects"), rows(COMMANDS))
def test_python_commands(command, effects):
    assert shown(command) == effects
