"""Losses in databases that a Python program opens by SQLAlchemy: those to throw away, beside what may be another."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import HOME, FakeWorld

ROOT = f"{HOME}/shop"
SEED = """from sqlalchemy import text
from shop.db import engine
with engine.begin() as c:
    c.execute(text('delete from items'))
"""
ATTACHES = SEED.replace("    c", "    c.execute(text(\"attach '/home/ann/a.db' as a\"))\n    c")
DB = """import os
from sqlalchemy import create_engine
engine = create_engine(os.environ.get('DATABASE_URL', 'sqlite:///dev.db'))
"""
PLAIN = {"scripts/seed.py": SEED, "shop/db.py": DB}
URL = "DATABASE_URL=sqlite:////tmp/repro.db"
SERVED = (
    "docker run -d --rm --name t -p 5499:5432 postgres && "
    "DATABASE_URL=postgresql://localhost:5499/x python -m scripts.seed"
)
RUN = f"{URL} python -m scripts.seed"
SCRIPT = f"{URL} python scripts/seed.py"
SETTINGS = """from pydantic_settings import BaseSettings
class Settings(BaseSettings):
    database_url: str = 'postgresql://db.acme.io/shop'
settings = Settings()
"""
BY_SETTINGS = """from sqlalchemy import create_engine
from .config import settings
engine = create_engine(settings.database_url)
"""
INNER = "    class Config:\n        "
BY_NAME = """import os
from sqlalchemy import create_engine
URL = os.getenv('DATABASE_URL')
engine = create_engine(URL)
"""
BY_SECOND = BY_NAME.replace("engine =", "if LIVE: URL = LIVE_URL\nengine =")
APP = """import os
from flask import Flask
from .models import db
def create_app():
    app = Flask(__name__)
    %s
    db.init_app(app)
    return app
"""
URI = "app.config['SQLALCHEMY_DATABASE_URI'] = os.environ.get('DATABASE_URL', 'sqlite:///dev.db')"
MODELS = "from flask_sqlalchemy import SQLAlchemy\ndb = SQLAlchemy()\n"
MADE_ANEW = (
    "from shop import create_app\nfrom shop.models import db\nwith create_app().app_context():\n    db.drop_all()\n"
)
FLASK = {"seed.py": MADE_ANEW, "shop/__init__.py": APP % URI, "shop/models.py": MODELS}
WRITTEN = f"mkdir -p /tmp/b && cat > /tmp/b/seed.py <<'PY'\n{MADE_ANEW}PY\n"


def flask(line, **more):
    return {**FLASK, "shop/__init__.py": APP % line, **more}


def db(text):
    return {**PLAIN, "shop/db.py": text}


SPARED = [
    (RUN, PLAIN, "the variable that the project's engine takes names a temporary file"),
    (SCRIPT, PLAIN, "by the file, in a project that is installed to be edited"),
    (f"export {URL}; python -m scripts.seed", PLAIN, "exported"),
    (RUN, db(BY_NAME), "by a name for it"),
    (RUN, db(BY_NAME.replace("URL')", "URL') or 'sqlite:///dev.db'")), "with another one where there is none"),
    (RUN, {**db(BY_SETTINGS), "shop/config.py": SETTINGS}, "by settings that take the variable first"),
    (RUN, {**db(BY_NAME), "shop/db.py": f"from dotenv import load_dotenv\nload_dotenv()\n{BY_NAME}"}, "and .env after"),
    (f"{URL} python seed.py", FLASK, "an application of Flask"),
    (f"{WRITTEN}{URL} PYTHONPATH=. python /tmp/b/seed.py", FLASK, "a script that the text writes elsewhere"),
    (f"{URL} python seed.py", flask("app.config.update(SQLALCHEMY_DATABASE_URI=os.environ['DATABASE_URL'])"),
     "by update"),
    (f"{URL} python seed.py", flask("from .config import C; app.config.from_object(C)",
     **{"shop/config.py": "import os\nclass C:\n    SQLALCHEMY_DATABASE_URI = os.environ['DATABASE_URL']\n"}),
     "by a class"),
    (f"{URL} python seed.py", flask("from .config import C; app.config.from_object(C)",
     **{"shop/config.py": "import os\nclass C:\n    SQLALCHEMY_DATABASE_URI: str = os.environ['DATABASE_URL']\n"}),
     "by a class that tells its type"),
    (RUN,
     {**db(BY_SETTINGS), "shop/config.py": SETTINGS.replace("settings =", f"{INNER}env_file = '.env'\nsettings =")},
     "by settings with a file behind the variable"),
    (SERVED,
     PLAIN, "a server that the text started"),
    (RUN, db(DB.replace("db'))", "db'), connect_args={'check_same_thread': False})")), "arguments of a file's"),
    ("python scripts/seed.py", db(DB.replace("os.environ.get('DATABASE_URL', 'sqlite:///dev.db')", "'sqlite://'")),
     "in memory"),
]  # fmt: skip
LOST = [
    ("python -m scripts.seed", PLAIN, "no variable: the project's own file"),
    (RUN.replace("////tmp", "///tmp"), PLAIN, "a file of the project: behind three slashes a name is relative"),
    (RUN.replace("/tmp/repro.db", f"{HOME}/shop.db"), PLAIN, "a file that is not temporary"),
    (RUN.replace("/tmp/repro.db", "/tmp/../home/ann/shop.db"), PLAIN, "one by a detour"),
    (RUN.replace("sqlite:////tmp/repro.db", "postgresql://db.acme.io/shop"), PLAIN, "a server"),
    (RUN.replace("sqlite:////tmp/repro.db", "postgresql://localhost:5432/shop"), PLAIN, "one of this machine"),
    (RUN.replace("DATABASE_URL=", "DATABASE_URL=; X="), PLAIN, "another variable"),
    (f"{URL}; python -m scripts.seed", PLAIN, "it does not reach the program"),
    (f"{URL} sudo python -m scripts.seed", PLAIN, "nor through sudo"),
    (f"{URL} ssh web python -m scripts.seed", PLAIN, "on another machine"),
    (RUN.replace("/tmp/repro.db", "/tmp/$X"), PLAIN, "nobody knows which file"),
    (RUN, db(DB.replace("DATABASE_URL", "LIVE_URL")), "the engine takes another variable"),
    (RUN, db(DB.replace("os.environ.get('DATABASE_URL', 'sqlite:///dev.db')", "'postgresql://db.acme.io/shop'")),
     "or none"),
    (RUN, db(f"{DB}if os.environ.get('LIVE'):\n    engine = create_engine('postgresql://db.acme.io/shop')\n"),
     "another one in a branch"),
    (RUN, db(BY_SECOND), "a name that changes"),
    (RUN, db(BY_NAME.replace("os.getenv('DATABASE_URL')", "os.getenv('LIVE_URL') or os.getenv('DATABASE_URL')")),
     "another variable first"),
    (RUN, db(f"import os\nos.environ['DATABASE_URL'] = 'postgresql://db.acme.io/shop'\n{DB}"), "set by the code"),
    (RUN, db(f"import os\nos.environ.update(x)\n{DB}"), "perhaps"),
    (RUN, db(f"from dotenv import load_dotenv\nload_dotenv(override=True)\n{DB}"), "a file before the variable"),
    (RUN, db(f"from dotenv import load_dotenv\nload_dotenv(None, None, False, True)\n{DB}"), "the same, by position"),
    (RUN, db(DB.replace("'))", "'), creator=connect)").replace("db')", "db'), creator=connect")), "made by a function"),
    (RUN, db(f"import psycopg2\n{DB}"), "a library that opens others"),
    (RUN, db(f"from shop.live import x\n{DB}"), "a module that nobody has read"),
    (RUN, db(f"class os:\n    environ = live()\n{DB.removeprefix('import os')}"), "another thing of that name"),
    (RUN, db(DB.replace("import os", "from shop import settings as os")), "another module by that name"),
    (RUN, db(DB.replace("import os", "import os\nif LIVE: os = live()")), "perhaps another"),
    (RUN, {**PLAIN, "sitecustomize.py": "import live"}, "a module that Python loads first"),
    (f"PYTHONPATH=$X {RUN}", PLAIN, "modules from nobody knows where"),
    (RUN, {**PLAIN, "scripts/seed.py": SEED.replace("with", "engine = Engine(pool, dialect, url)\nwith")}, "by hand"),
    (SERVED,
     db(DB.replace("db'))", "db'), connect_args={'host': 'db.acme.io'})")), "another host by an argument"),
    (RUN, db(f"import importlib\n{DB}"), "modules by a name"),
    (RUN, db(DB.replace("import create_engine", "import create_engine, create_engine as made")), "by another name"),
    (RUN, {**PLAIN, "scripts/seed.py": ATTACHES}, "another file is attached"),
    (RUN, {**db(BY_NAME), "shop/__init__.py": "import shop.db\nshop.db.URL = live()\n"}, "set from elsewhere"),
    (RUN, {**db(BY_SETTINGS), "shop/config.py": SETTINGS.replace("()", "(database_url='postgresql://db.acme.io/x')")},
     "settings that are given it"),
    (RUN, {**db(BY_SETTINGS), "shop/config.py": SETTINGS.replace("str =", "str = Field(alias='LIVE') or")},
     "settings that take another variable"),
    (RUN, {**db(BY_SETTINGS), "shop/config.py": SETTINGS.replace("settings =", "    env_prefix = 'X'\nsettings =")},
     "the same"),
    (RUN, {**db(BY_SETTINGS), "shop/config.py": SETTINGS.replace("str =", "Annotated[str, Field(alias='LIVE')] =")},
     "the same by its type"),
    *((RUN, {**db(BY_SETTINGS), "shop/config.py": SETTINGS.replace("settings =", f"{text}\nsettings =")}, "for many")
      for text in (f"{INNER}fields = {{'database_url': {{'env': 'LIVE'}}}}",
                   "    model_config = SettingsConfigDict(alias_generator=live)")),
    (RUN, db(f"from dotenv import load_dotenv as load\nload(override=True)\n{DB}"), "a file first, by another name"),
    *((f"{URL} python seed.py", flask("from .config import C; app.config.from_object(C)",
       **{"shop/config.py": f"{BY_NAME}class C:\n    X = 1\n    {text}\n"}), f"another one, bound by {text[:20]}")
      for text in ("SQLALCHEMY_DATABASE_URI: str = 'postgresql://db.acme.io/shop'",
                   "LIVE = SQLALCHEMY_DATABASE_URI = 'postgresql://db.acme.io/shop'",
                   "X, SQLALCHEMY_DATABASE_URI = 1, 'postgresql://db.acme.io/shop'",
                   "@property\n    def SQLALCHEMY_DATABASE_URI(self): return live()",
                   "from .live import URL as SQLALCHEMY_DATABASE_URI\nC.SQLALCHEMY_DATABASE_URI = x")),
    ("python seed.py", FLASK, "no variable for Flask's"),
    (f"{URL} python seed.py", flask(f"{URI}; app.config.from_pyfile('live.cfg')"), "a file of settings"),
    (f"{URL} python seed.py", flask(f"{URI}; app.config['SQLALCHEMY_BINDS'] = x"), "several databases"),
    (f"{URL} python seed.py", flask(f"{URI}; app.config.update(x)"), "settings that are not known"),
    (f"{URL} python seed.py", flask("pass"), "Flask is told none"),
    (f"{URL} python seed.py", flask(f"{URI}\n    if x: app.config['SQLALCHEMY_DATABASE_URI'] = y"), "or two"),
    (f"{WRITTEN}{URL} PYTHONPATH=. python /tmp/b/seed.py",
     {**FLASK, "/tmp/b/shop.py": "def create_app(): return live()\n"}, "a module beside the script goes first"),
    (f"{WRITTEN}{URL} python /tmp/b/seed.py", FLASK, "nobody knows where a script elsewhere has its modules from"),
    (f"echo 'engine = create_engine(x)' >> shop/db.py; {RUN}", PLAIN, "the text changes the module"),
    (f"python fetch.py > shop/db.py; {RUN}", PLAIN, "a program writes it"),
]  # fmt: skip
ROWS = [*((*row, False) for row in SPARED), *((*row, True) for row in LOST)]


@pytest.mark.parametrize(("text", "files", "why", "lost"), ROWS, ids=[row[2] for row in ROWS])
def test_which_database_a_program_opens(text: str, files: dict[str, str], why: str, lost: bool) -> None:
    held = {name if name[0] == "/" else f"{ROOT}/{name}": code for name, code in files.items()}
    action = Action("1", "s", Layer.SHELL, "shell", {"command": text}, ROOT, 0.0, root=ROOT)
    effects = analyse(action, FakeWorld(held, folders=(ROOT,)))
    assert any(e.kind in (Kind.DATABASE, Kind.DEPLOY) and {"delete"} <= e.how for e in effects) is lost, why
