"""Files that the secret scan skips (lock files, minified code, drawings), and how to tell tests and documents."""

from __future__ import annotations

import re

_NAMES = frozenset({
    "bun.lock", "cargo.lock", "composer.lock", "conda-lock.yml", "deno.lock", "flake.lock", "gemfile.lock", "go.sum",
    "gradle.lockfile", "mix.lock", "npm-shrinkwrap.json", "package-lock.json", "package.resolved", "packages.lock.json",
    "pdm.lock", "pipfile.lock", "pixi.lock", "pnpm-lock.yaml", "podfile.lock", "poetry.lock", "pubspec.lock",
    "terraform.lock.hcl", ".terraform.lock.hcl", "uv.lock", "yarn.lock",
})  # fmt: skip
_ENDS = (".svg", ".min.js", ".min.mjs", ".min.css", ".bundle.js", ".js.map", ".css.map", ".mjs.map", ".ts.map")


def skipped(path: str) -> bool:
    """Whether the path, relative to the repository, names a drawing, a lock file, or minified code."""
    name = path.rpartition("/")[2].lower()
    return name in _NAMES or name.endswith(_ENDS)


_APART = re.compile(
    r"(?:^|/)(?:[\w.-]*[._-])?(?:tests?|testing|testdata|specs?|fixtures?|mocks?|__mocks__|__tests__|examples?|samples?"
    r"|demos?|docs?|locales?|i18n)(?:[._-][\w.-]*)?(?=/)"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*[._-](?:test|tests|spec|mock|stories)\.\w+"
    r"|[^/]*\.(?:md|mdx|rst|adoc|po|pot|html?|css|scss|less|snap|d\.ts|example|sample|template|dist)|[^/]*\.(?:example|sample|template)\.\w+|changelog[^/]*|readme[^/]*)$",
    re.IGNORECASE,
)


def is_test_or_document(path: str) -> bool:
    """Whether the path is one of tests or documents: what is assigned to a password there is made up."""
    return bool(_APART.search(path))
