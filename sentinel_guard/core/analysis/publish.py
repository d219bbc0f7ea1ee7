"""Programs that publish, or take back, what others use: argv -> effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis.commands import Call, options
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]


def registry(call: Call) -> Effects:
    """npm, cargo, gem, poetry, twine …: the subcommands that publish or take back."""
    program, verb = call.command.program, call.command.subcommand
    if call.has("--dry-run", "-n"):
        return
    words = (verb, *(item.text for item in call.operands[:1]))
    for word, how in _PUBLISHES.get(program, {}).items():
        if word == verb or word == " ".join(words):
            yield call.effect(Kind.PUBLISH, _REGISTRIES.get(program, program), *how.split())


_REGISTRIES = {
    "npm": "npm",
    "pnpm": "npm",
    "yarn": "npm",
    "bun": "npm",
    "cargo": "crates.io",
    "twine": "pypi",
    "gem": "rubygems",
}
_NPM = {
    "publish": "",
    "unpublish": "delete",
    "deprecate": "",
    "dist-tag rm": "delete",
    "owner rm": "delete",
    "npm publish": "",
}
_PUBLISHES: dict[str, dict[str, str]] = {
    "npm": _NPM, "pnpm": _NPM, "yarn": _NPM, "bun": _NPM, "lerna": _NPM,
    "cargo": {"publish": "", "yank": "delete", "owner --remove": "delete"},
    "twine": {"upload": ""},
    **{name: {"publish": "", "upload": ""} for name in ("poetry", "uv", "hatch", "flit", "pdm", "rye", "maturin")},
    "gem": {"push": "", "yank": "delete"},
    "mvn": {"deploy": "", "release:perform": ""},
    "gradle": {"publish": ""},
    "dotnet": {"nuget push": "", "nuget delete": "delete"},
    "docker": {"push": ""},
    "podman": {"push": ""},
    "vsce": {"publish": "", "unpublish": "delete"},
    "semantic-release": {"": ""},
    "hf": {"upload": ""},
    "huggingface-cli": {"upload": "", "delete-cache": ""},
    "helm": {"push": ""},
    "pod": {"trunk push": "", "trunk delete": "delete"},
    "mix": {"hex.publish": ""},
    "goreleaser": {"release": ""},
    "gh": {
        "release create": "", "release upload": "", "release delete": "delete", "release delete-asset": "delete",
        "repo delete": "delete", "repo archive": "delete", "repo edit": "", "pr merge": "", "secret delete": "delete",
        "gist create": "", "gist delete": "delete", "issue delete": "delete", "run delete": "delete",
        "workflow run": "",
        "variable delete": "delete", "secret set": "", "repo create": "",
    },
    "glab": {"release create": "", "release delete": "delete", "repo delete": "delete", "mr merge": ""},
}  # fmt: skip


def github(call: Call) -> Effects:
    """gh: its own table, and ``gh api`` with a method that changes something."""
    yield from registry(call)
    method = call.parsed.value("-X", "--method")
    if call.command.subcommand == "api" and method is not None and method.text.upper() in ("DELETE", "PUT", "PATCH"):
        how = ("delete",) if method.text.upper() == "DELETE" else ()
        yield call.effect(Kind.PUBLISH, call.operands[0].text if call.operands else "api", *how)


OPTIONS = {
    "npm": options("--prefix= -C= -w= --workspace= --registry= --tag= --access= --otp= | sub"),
    "pnpm": options("--prefix= -C= --dir= -F= --filter= --registry= --tag= | sub"),
    "yarn": options("--cwd= --registry= --tag= | sub"),
    "bun": options("--cwd= --filter= -c= --config= | sub"),
    "cargo": options(
        "--manifest-path= --color= --config= -C= -Z= -p= --package= --registry= --token= --features= --target= | sub"
    ),
    "gh": options(
        "-R= --repo= -X= --method= -f= -F= --field= --raw-field= -H= --header= --jq= -q= -t= --title= -b= --body= | sub"
    ),
}
OPTIONS |= {name: options("| sub") for name in _PUBLISHES if name not in OPTIONS}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {**dict.fromkeys(_PUBLISHES, registry), "gh": github}
