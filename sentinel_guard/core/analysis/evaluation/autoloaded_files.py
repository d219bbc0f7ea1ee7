"""Files that a tool loads by itself, where the analysed script wrote them: ``… > conftest.py && pytest``.

Only what the text wrote is looked at: what lies in the project has been there before, and its authors answer for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import MAX_FILES, UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.languages.one_liners.one_liner_effects import inline, lenient
from sentinel_guard.core.analysis.languages.python.python_effects import python
from sentinel_guard.core.analysis.languages.unparsed_languages import code_effects
from sentinel_guard.core.analysis.programs.files import file_commands
from sentinel_guard.core.analysis.programs.files.fetched_files import piped_downloads
from sentinel_guard.core.model import Effect, Kind

MAX_LOADED = 8
"""Files of one command."""


class _Row(NamedTuple):
    files: re.Pattern[str]
    """Of the path, seen from the directory that the tool starts in."""
    language: str
    verbs: tuple[str, ...] = ()
    """One of these words must stand among the operands."""


def _row(files: str, language: str, verbs: str = "") -> _Row:
    return _Row(re.compile(files), language, tuple(verbs.split()))


_PYTEST = _row(r"(?:.*/)?(?:conftest|test_[^/]*|[^/]*_test)\.py", "python")
_SETUP = _row(r"(?:.*/)?setup\.py", "python", "install wheel build develop sync add . -e")
_SITE = _row(r"(?:.*/)?(?:sitecustomize|usercustomize)\.py", "python")
_JEST = _row(r"(?:.*/)?(?:[^/]*\.(?:test|spec)|[^/]*\.config|[^/]*[sS]etup[^/]*)\.[cm]?[jt]sx?", "js")
_RSPEC = _row(r"(?:.*/)?(?:[^/]*_spec|spec_helper|rails_helper|[^/]*_test|test_helper)\.rb", "ruby")
_HOOKS = _row(r"\.(?:git/hooks|husky|githooks)/[^/]+", "shell", "commit push merge rebase checkout switch pull am")
_RUST = _row(r"(?:build|(?:src|tests|benches|examples)/.*)\.rs", "c", "run test build bench check install b r t")
_GO = _row(r".*\.go", "c", "run test generate")
_ROWS: dict[str, _Row] = {
    **dict.fromkeys(("pytest", "py.test", "tox", "nox", "nose2", "pytest-watch", "ptw", "green"), _PYTEST),
    **dict.fromkeys(("pip", "pip3", "uv", "pipx", "poetry", "pdm", "build", "hatch", "easy_install"), _SETUP),
    **dict.fromkeys(("python", "python3", "pypy3", "python2"), _SITE),
    **dict.fromkeys(("jest", "vitest", "mocha", "ava", "tap", "jasmine", "karma", "cypress", "playwright", "tape",
                     "qunit"), _JEST),
    "node": _row(_JEST.files.pattern, "js", "--test"),
    "bun": _row(_JEST.files.pattern, "js", "test"),
    "deno": _row(r"(?:.*/)?[^/]*[._]test\.[cm]?[jt]sx?", "js", "test"),
    **dict.fromkeys(("rspec", "m", "mtest"), _RSPEC),
    "rake": _row(r"(?:[rR]akefile(?:\.rb)?|lib/tasks/.*\.rake)", "ruby"),
    **dict.fromkeys(("bundle", "bundler"), _row(r"Gemfile", "ruby")),
    "guard": _row("Guardfile", "ruby"), "fastlane": _row(r"(?:fastlane/)?Fastfile", "ruby"),
    "pod": _row("Podfile", "ruby"), "vagrant": _row("Vagrantfile", "ruby"), "cap": _row("Capfile", "ruby"),
    "brew": _row("Brewfile", "ruby", "bundle"), "thor": _row("Thorfile", "ruby"),
    "direnv": _row(r"\.envrc", "shell", "allow reload"),
    "git": _HOOKS, "pre-commit": _HOOKS,
    "cargo": _RUST, "go": _GO,
    **dict.fromkeys(("gradle", "gradlew"), _row(r"(?:.*/)?(?:build|settings)\.gradle(?:\.kts)?", "gradle")),
    "mix": _row(r"(?:mix|config/.*)\.exs", "elixir"),
    **dict.fromkeys(("fab", "fabric"), _row(r"fabfile\.py", "python")),
    **dict.fromkeys(("invoke", "inv"), _row(r"tasks\.py", "python")),
    "scons": _row(r"SConstruct|SConscript", "python"), "locust": _row(r"locustfile\.py", "python"),
    "sphinx-build": _row(r"(?:.*/)?conf\.py", "python"), "ipython": _row(r"ipython_config\.py", "python"),
    **dict.fromkeys(("flask", "uvicorn", "gunicorn", "streamlit", "celery", "hypercorn", "fastapi"),
                    _row(r"[^/]+\.py", "python")),
    "gulp": _row(r"gulpfile\.[cm]?[jt]s", "js"), "grunt": _row(r"Gruntfile\.[cm]?js", "js"),
    "Rscript": _row(r"\.Rprofile", "r"), "R": _row(r"\.Rprofile", "r"),
}  # fmt: skip
_TASKS = frozenset(("rake", "thor", "fab", "invoke", "inv", "gulp", "grunt", "go", "gradle", "gradlew"))
"""They run what the file says, and no tests: what cannot be resolved in it counts."""
_SETTINGS = re.compile(r"\.?([\w-]+?)(?:\.config|rc)?\.[cm]?[jt]s")
"""``webpack.config.js``, ``.eslintrc.cjs``: named after the tool that loads it."""


def autoload_effects(call: Call) -> Iterable[Effect]:
    """What the files do that this command loads by itself and that the text wrote, or that it is asked for by name."""
    asked = call.command.program in _ASKED or (call.world.made() and _may_load(call))
    return _effects(call) if asked and call.files < MAX_FILES else ()


def _may_load(call: Call) -> bool:
    """Whether the text wrote anything that this program may load."""
    program, world = call.command.program, call.world
    if program in _ROWS or world.configured:
        return True
    return program not in file_commands.PROGRAMS and (world.coded or bool(_settings_of(program, world)))


def _settings_of(program: str, world: Overlay) -> list[str]:
    """The settings of a tool that the text wrote."""
    return [*world.made_with(program), *world.made_as(_TOOLS_SETTINGS)]


def _effects(call: Call) -> Iterator[Effect]:
    program = call.command.program
    if program in _BLOCKS or program == "cargo":
        yield from _named_tasks(call)
    if program == "pylint":
        for word in (item.text for item in call.fields[1:] if item.text.startswith("--init-hook=")):
            yield from run(call, word.partition("=")[2], "python")
    if program not in file_commands.PROGRAMS and (given := _given(call)):
        yield from _plugins(call, given)
    row = _ROWS.get(program)
    if row is not None and row.verbs and not any(item.text in row.verbs for item in call.fields[1:]):
        row = None
    if row is None and not call.world.configured:
        return
    for path in [*call.world.made()][:MAX_LOADED]:
        language = _language(call, row, path)
        text = call.world.read(path) if language else None
        if language and text and UNKNOWN not in text:
            if program in _TASKS or program == "cargo":
                yield from piped_downloads(call, text)
            found = run(call, text, language)
            yield from found if program in _TASKS else lenient(found)


class _Blocks(NamedTuple):
    """Where a runner's tasks stand on disk, and what begins and ends the task of a name."""

    files: tuple[str, ...]
    begins: str
    ends: str


_RUBY_BLOCKS = _Blocks(
    ("Rakefile", "rakefile", "Rakefile.rb"), r"^(?P<indent>[ \t]*)(?:multi)?task[ (]+[:'\"]?{}\b.*$", r"^{indent}end\b"
)
_GRADLE_BLOCKS = _Blocks(
    ("build.gradle", "build.gradle.kts"),
    r"^(?P<indent>[ \t]*)(?:task[ (]+['\"]?{0}\b|tasks\.(?:register|create)(?:<\w+>)?\(['\"]{0}['\"]).*$",
    r"^{indent}\}}",
)
_BLOCKS = {"rake": _RUBY_BLOCKS, **dict.fromkeys(("gradle", "gradlew"), _GRADLE_BLOCKS)}
_ASKED = frozenset((*_BLOCKS, "cargo", "pylint"))
"""Programs that are asked by their words for what lies on disk."""
_XTASK = "xtask/src/main.rs"
"""Where ``cargo xtask`` has its program (https://github.com/matklad/cargo-xtask)."""


def _named_tasks(call: Call) -> Iterator[Effect]:
    """What the tasks do that are named, of a file on disk: of a file that the text wrote, all of it counts."""
    blocks, made = _BLOCKS.get(call.command.program), call.world.made()
    if call.command.program == "cargo" and [item.text for item in call.fields[1:2]] == ["xtask"]:
        text = call.script_text(call.locate(_XTASK))
        yield from lenient(run(call, text or "", "c"))
    if blocks is None or not call.operands:
        return
    found = ((path, call.script_text(path)) for path in map(call.locate, blocks.files) if path not in made)
    text = next((text for _, text in found if text), "")
    for item in call.operands[:MAX_LOADED] if text else ():
        block = _block(blocks, text, item.text.rpartition(":")[2].partition("[")[0])
        yield from run(call, block, _ROWS[call.command.program].language) if block else ()


def _block(blocks: _Blocks, text: str, name: str) -> str:
    begin = re.search(blocks.begins.format(re.escape(name)), text, re.MULTILINE) if name.strip() else None
    if begin is None:
        return ""
    rest = text[begin.start() :]
    if begin[0].count("{") and begin[0].count("{") == begin[0].count("}"):
        return begin[0]
    end = re.compile(blocks.ends.format(indent=begin["indent"]), re.MULTILINE).search(rest)
    return rest[: end.end()] if end else rest


_PLUGS = re.compile(
    r"--?(?:require|plugins?|load|load-plugins|rules?dir|rules|import|extensions?|custom-\w+|formatter|preset|loader|"
    r"reporter|resolver|transform|setup\w*|additional-\w+)"
)
"""Options of tools that name code which they load."""
_CODE = {".py": "python", ".rb": "ruby", ".js": "js", ".cjs": "js", ".mjs": "js", ".ts": "js", ".pl": "perl"}
_TOOLS_SETTINGS = frozenset(("setup.cfg", "pyproject.toml", "tox.ini", "package.json"))
_INIT_HOOK = re.compile(r"(?m)^\s*init-hook\s*=\s*(['\"]?)(.*)\1\s*$")


def _given(call: Call) -> list[str]:
    """What may name a plugin: values of options, and the settings of the tool, where the text wrote them."""
    argv, world, given = call.command.argv, call.world, list[str]()
    for at, word in enumerate(argv):
        if word[:1] == "-" and at:
            name, sign, value = word.partition("=")
            after = argv[at + 1] if at + 1 < len(argv) else ""
            if _PLUGS.fullmatch(name) or (word == "-r" and after.endswith(tuple(_CODE))):
                given.append(value if sign else after)
    return given + [world.texts(path) for path in dict.fromkeys(_settings_of(call.command.program, world))]


def _plugins(call: Call, given: Sequence[str]) -> Iterator[Effect]:
    """Code that the text wrote, and that an option or the settings of the tool name as a plugin."""
    for text in given:
        for match in _INIT_HOOK.finditer(text):
            yield from run(call, match[2], "python")
    for path in [*call.world.made()][:MAX_LOADED]:
        name, (stem, dot, ending) = paths.base(path), paths.base(path).rpartition(".")
        language, folder = _CODE.get(dot + ending, ""), paths.base(paths.parent(path))
        named = re.compile(rf"(?<![\w-])(?:{re.escape(stem)}(?:\.{re.escape(ending)})?|{re.escape(folder)})/?(?![\w-])")
        if language and any(name == text or named.search(text) for text in given):
            yield from lenient(run(call, call.world.read(path) or "", language))


_ON_OPENING = (
    (
        re.compile(r".*/\.github/workflows/[^/]+\.ya?ml"),
        re.compile(r"pull_request_target(?s:.*)\bhead\.(?:sha|ref)\b"),
    ),
    (
        re.compile(r".*/package\.json"),
        re.compile(r'"(?:pre|post)?install"\s*:\s*"[^\n]*(?:curl|wget|https?\b|fetch\(|\|\s*sh\b)'),
    ),
    (re.compile(r".*\.pth"), re.compile(r"(?m)^import\b.*(?:system|popen|subprocess|exec|urlopen)")),
    (re.compile(r".*/\.vscode/tasks\.json"), re.compile(r"\"folderOpen\"")),
    (
        re.compile(r".*/\.?devcontainer(?:/[^/]+)?/?devcontainer\.json|.*/\.devcontainer\.json"),
        re.compile(r"\"initializeCommand\""),
    ),
)
"""Files that run by themselves (an editor opens the folder, a package is installed, a stranger asks to merge): by name,
and by what in them runs a program then."""
_OPENED = (".yml", ".yaml", ".json", ".pth")
"""Their endings."""


def on_opening(world: Overlay) -> Iterator[str]:
    """The files that the text wrote so that a program runs by itself."""
    for path in world.made():
        text = world.texts(path) if path.endswith(_OPENED) else None
        if text and any(name.fullmatch(path) and runs.search(text) for name, runs in _ON_OPENING):
            yield path


def _language(call: Call, row: _Row | None, path: str) -> str:
    folder = call.cwd.rstrip("/") + "/"
    name = path.removeprefix(folder)
    if row is not None:
        return row.language if row.files.fullmatch(name) else ""
    match = _SETTINGS.fullmatch(paths.base(path))
    return "js" if match and match[1] == call.command.program else ""


def _deep(effect: Effect) -> Effect:
    return replace(effect, how=effect.how | {"recursive"}) if effect.kind is Kind.DELETE else effect


def run(call: Call, text: str, language: str) -> Iterable[Effect]:
    """The effects of a text in the language of this name."""
    match language:
        case "python":
            return python(call, text)
        case "shell":
            return call.runner.script(text, call, call.command.program, file=True)
        case "c":
            return code_effects(call, text)
        case "gradle":  # its delete takes folders
            return map(_deep, code_effects(call, text))
    return inline(call, text, language)
