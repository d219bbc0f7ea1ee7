"""What generators of projects and managers of dotfiles write over: ``copier recopy``, ``rails g --force``.

One meaning, as of an archive that is unpacked over a folder: which files change stands in a template. By program: the
verbs behind which it writes (none: always), and the options with which what is there is replaced (none: always).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect

_FORCED = ("--force", "-f", "--overwrite", "--overwrite-if-exists")


class _Row(NamedTuple):
    verbs: tuple[str, ...] = ()
    options: tuple[str, ...] = _FORCED
    home: bool = False
    """It is the home that it writes into."""


_NEW = ("new", "generate", "g", "init", "create", "add")
_HOME = _Row(
    ("apply", "update", "install", "deploy", "link", "restore", "checkout", "reset", "clone", "clean"), home=True
)
_ROWS: dict[str, tuple[_Row, ...]] = {
    "copier": (_Row(("copy", "update"), ("--overwrite", "-w", "--force", "-f")), _Row(("recopy",), ())),
    "cruft": (_Row(("update",), ("-y", "--skip-apply-ask")), _Row(("create",))),
    **dict.fromkeys(("cookiecutter", "yo", "degit", "tiged", "giget", "hygen", "plop", "sao"), (_Row(),)),
    **dict.fromkeys(("ng", "nest", "dotnet", "shadcn", "shadcn-ui", "kubebuilder", "operator-sdk", "wrangler",
                     "flutter", "ionic", "vue", "adonis", "ace", "strapi", "ember"), (_Row(_NEW),)),
    "rails": (_Row(("new", "generate", "g", "app:update", "app:template")),),
    "cargo": (_Row(("generate",)),),
    "stow": (_Row((), ("--adopt",)),),
    # dotfiles
    **dict.fromkeys(("chezmoi", "mackup", "homesick", "homeshick", "dotdrop", "dotter", "yadm"),
                    (_HOME, _Row(("checkout", "reset"), ("-f", "--force", "--hard"), home=True),
                     _Row(("init",), ("--apply",), home=True))),
    "vcsh": (_Row(("reset", "checkout", "clean"), ("-f", "--force", "--hard", "-fdx", "-fd"), home=True),),
    "rcup": (_Row((), ("-f",), home=True),),
}  # fmt: skip
_WORDS = 3
"""Words among which a verb may stand."""
_EMPTIES = frozenset(("create-vite", "create-vue", "create-vite-extra"))
"""They empty the folder before they fill it."""


def written_over(call: Call) -> Iterator[Effect]:
    """The folder whose files are replaced."""
    words = [item.text for item in call.fields[1:]]
    plain = [word for word in words if word[:1] != "-"][:_WORDS]
    flags = {word.partition("=")[0] for word in words if word[:1] == "-"} | call.command.flags
    if "--dry-run" in flags or "--pretend" in flags:
        return
    for row in _ROWS[call.command.program]:
        if (not row.verbs or not {*row.verbs}.isdisjoint(plain)) and (not row.options or flags & {*row.options}):
            yield from call.write(Field(call.world.home if row.home else "."), "append", "unpack")
            return


def created(call: Call) -> Iterator[Effect]:
    """``create-vite . --overwrite``: the generators that npm, pnpm, yarn and bun start by ``create NAME``."""
    words = [item for item in call.fields[1:] if item.text not in ("--", "")]
    if {item.text for item in words}.isdisjoint(_FORCED):
        return
    folder = next((item for item in words if item.text[:1] != "-" and call.is_folder(item)), None)
    if folder is not None and folder.known and call.command.program in _EMPTIES:
        yield call.contents(folder.text)
    elif folder is not None:
        yield from call.write(folder, "append", "unpack")


def creator(name: str) -> str:
    """What ``npm create NAME`` starts: ``create-NAME``, without the version and the owner."""
    bare = name.rpartition("/")[2] if name[:1] == "@" else name
    return f"create-{bare.partition('@')[0]}"


PROGRAMS: dict[str, Callable[[Call], Iterator[Effect]]] = dict.fromkeys(_ROWS, written_over)
