"""``python -m MODULE``: effects of modules that are programs (pip, pytest, zipfile, timeit …)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sentinel_guard.core.analysis.expansion.command_and_options import Call, Parsed
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.interpreter_options import OptionSyntax, parse_options
from sentinel_guard.core.analysis.languages.one_liners.one_liner_effects import lenient
from sentinel_guard.core.analysis.languages.python.python_effects import python
from sentinel_guard.core.analysis.languages.shared.program_values import abstract
from sentinel_guard.core.model import Effect

_TOOLS = (
    "pytest",
    "tox",
    "nox",
    "coverage",
    "flask",
    "uvicorn",
    "gunicorn",
    "celery",
    "invoke",
    "sphinx",
    "locust",
    "pip",
    "pipx",
    "uv",
    "twine",
    "awscli",
    "ansible",
    "poetry",
    "pre_commit",
    "build",
    "alembic",
    "django",
    "sentinel_guard",
    "keyring",
    "dotenv",
    "doit",
    "fabric",
    "httpie",
    "yt_dlp",
    "gallery_dl",
    "cookiecutter",
    "copier",
    "sqlite_utils",
    "wormhole",
    "send2trash",
    "pipenv",
    "hatch",
    "pdm",
    "mkdocs",
    "scrapy",
    "kaggle",
)
"""Modules that are programs of the same name."""
_RUNNERS = ("cProfile", "profile", "pdb", "trace", "runpy", "ipdb", "memory_profiler", "line_profiler", "kernprof")
"""Modules that run the script behind them."""
_TIMEIT = OptionSyntax(code="", value="nrsu", others="--setup --number --repeat --unit")
_NAMES = {"pre_commit": "pre-commit", "awscli": "aws", "django": "django-admin",
          "fabric": "fab", "httpie": "http", "yt_dlp": "yt-dlp", "gallery_dl": "gallery-dl",
          "sqlite_utils": "sqlite-utils"}  # fmt: skip


def run(call: Call, module: Field) -> Iterable[Effect]:
    """The effects of the module with the operands of this call."""
    if module.text in _TOOLS:
        name = _NAMES.get(module.text, module.text)
        yield from call.runner.run([Field(name), *call.operands], call, "python -m")
    elif module.text in ("zipfile", "tarfile"):
        yield from _archive(call)
    elif module.text == "timeit":
        yield from _timeit(call)
    elif module.text == "IPython":
        yield from call.runner.run([Field("ipython"), *call.operands], call, "python -m")
    elif module.text in _RUNNERS:
        at = next((n for n, item in enumerate(call.operands) if item.text.endswith(".py")), None)
        if at is not None:
            yield from call.runner.run([Field("python3"), *call.operands[at:]], call, "python -m")
    elif module.text in ("shutil", "os"):
        return
    elif module.text in ("gzip", "zipapp", "compileall", "py_compile", "http.server", "json.tool", "venv"):
        yield from _tool(call, module.text)
    elif module.known:
        yield from _module(call, module.text.replace(".", "/"))


def _timeit(call: Call) -> Iterator[Effect]:
    """``-s SETUP CODE …``: each operand is a line of code."""
    found = parse_options(call.operands, _TIMEIT)
    lines = [*found.values.get("-s", ()), *found.values.get("--setup", ()), *found.operands]
    yield from python(call, "\n".join(abstract(call, item) for item in lines))


def _module(call: Call, name: str) -> Iterator[Effect]:
    """A module that is a file here."""
    for path in (f"{name}.py", f"{name}/__main__.py"):
        text = call.script_text(call.locate(path))
        if text is not None:
            yield from lenient(python(replace(call, parsed=Parsed({}, call.operands), files=call.files + 1), text))
            return


def _archive(call: Call) -> Iterator[Effect]:
    """``-e ARCHIVE FOLDER`` extracts, ``-c ARCHIVE FILES`` makes one."""
    words = [item for item in call.operands if not item.text.startswith("-")]
    verbs = {item.text for item in call.operands if item.text.startswith("-")}
    if verbs & {"-e", "--extract"} and words:
        yield from call.read(words[0])
        yield from call.write(words[1] if len(words) > 1 else Field("."), "append")
    elif verbs & {"-c", "--create"} and words:
        for item in words[1:]:
            yield from call.read(item)
        yield from call.write(words[0], "truncate")


def _tool(call: Call, name: str) -> Iterator[Effect]:
    files = [item for item in call.operands if not item.text.startswith("-")]
    if name == "json.tool" and files:
        yield from call.read(files[0])
        for item in files[1:]:
            yield from call.write(item, "truncate")
    elif name == "venv":
        for item in files:
            yield from call.write(item, "append")
