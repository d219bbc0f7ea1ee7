"""Files that came by network in this same text and are run, loaded or installed: ``wget x.jar && java -jar x.jar``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call

_CODE_FILES = re.compile(
    r".*\.(?:jar|war|wasm|wat|ipynb|dll|exe|phar|pyz?|pex|whl|tgz|tar\.(?:gz|xz|bz2|zst)|gem|crate|deb|rpm|nupkg|vsix|pkg|msi|apk|flatpak|snap|run"
    r"|kts?|gradle|cmake|el|vim|lua|mk|groovy|sc|scala|java|rb|[cm]?[jt]s|sh|nix|[rR]|jl|clj|edn|rkt|lisp|scm|hs|ml|go|rs|zig|nim|cr|d|tcl"
    r"|ya?ml|tf|star|exs?|dart|swift|cs|fsx|ps1|pl|php|love|so|box|oci)"
)
"""Files that a runner runs, loads or installs; data that it is given beside them is none."""
FILE_RUNNERS = frozenset(
    (
        *(
            "java",
            "javaw",
            "jshell",
            "kotlin",
            "scala",
            "wasmtime",
            "wasmer",
            "wasmedge",
            "wazero",
            "iwasm",
            "spin",
            "mono",
            "wine",
        ),
        *("dotnet", "papermill", "jupyter", "jupyter-nbconvert", "ipython", "runipy", "nbclient", "voila", "streamlit"),
        *(
            "marimo",
            "chainlit",
            "ansible-playbook",
            "k6",
            "locust",
            "robot",
            "snakemake",
            "nextflow",
            "cwltool",
            "love",
            "blender",
        ),
        *(
            "godot",
            "gdb",
            "emacs",
            "vim",
            "nvim",
            "gradle",
            "gradlew",
            "mvn",
            "cmake",
            "just",
            "task",
            "go-task",
            "nix",
        ),
        *(
            "nix-build",
            "nix-shell",
            "npm",
            "npx",
            "pnpm",
            "yarn",
            "bun",
            "pip",
            "pip3",
            "uv",
            "uvx",
            "pipx",
            "gem",
            "dpkg",
        ),
        *(
            "rpm",
            "apt",
            "apt-get",
            "dnf",
            "yum",
            "zypper",
            "pacman",
            "apk",
            "snap",
            "flatpak",
            "installer",
            "msiexec",
            "R",
        ),
        *(
            "code",
            "cursor",
            "codium",
            "windsurf",
            "docker-compose",
            "podman-compose",
            "racket",
            "sbcl",
            "clojure",
            "clj",
            "bb",
        ),
        *(
            "guile",
            "zig",
            "nim",
            "dart",
            "swift",
            "go",
            "crystal",
            "runghc",
            "stack",
            "ocaml",
            "tclsh",
            "octave",
            "rust-script",
        ),
        *(
            "scala-cli",
            "jbang",
            "kotlinc",
            "raku",
            "swipl",
            "cargo",
            "conda",
            "mamba",
            "composer",
            "helm",
            "insmod",
            "vagrant",
        ),
        *("qemu-x86_64", "firejail", "osascript", "mshta", "regsvr32", "rundll32", "sqlite3", "frida"),
    )
)
"""Whoever runs, loads or installs a file that it is given."""
_MOST = 60
"""Words of a call that are looked at."""
_DOWNLOAD = re.compile(r"<\(.*(?<![\w.-])(?:curl|wget2?|https?|xh|aria2c|fetch|axel|gh api)(?![\w-])", re.DOTALL)


def given_as_code(call: Call) -> Iterator[str]:
    """What was fetched and this program runs, loads or installs, each in a few words."""
    for item in call.fields[1:_MOST]:
        if _DOWNLOAD.match(item.source):
            yield "what a download gives"
        given = item.text.partition("=")[2] if item.text[:1] == "-" else item.text
        for part in given.split(":") if call.world.fetched and item.known else ():
            if _CODE_FILES.fullmatch(part) and call.world.is_fetched(call.locate(part)):
                yield f"what was fetched into {part}"
