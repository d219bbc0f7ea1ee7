"""Installers and package runners: behind which words and options they are given code, an index, a variable for one."""

from __future__ import annotations

from typing import NamedTuple


class Runner(NamedTuple):
    """What an installer, or whoever starts packages, is given."""

    verbs: tuple[str, ...] = ()
    """First words behind which addresses run code; none: the program itself does."""
    options: tuple[str, ...] = ()
    """Options whose values are packages."""
    short: bool = False
    """``user/repo`` is an address."""
    first: bool = False
    """Only the first operand is a package; the rest belongs to what it starts."""
    plain: bool = True
    """Operands are packages; else only the options' values."""
    indexes: tuple[str, ...] = ()
    """Options whose value is an index that packages are taken from."""
    hosted: bool = False
    """``github.com/owner/repo`` is an address."""


NODE = ("install", "i", "in", "ci", "add", "exec", "x", "dlx", "create", "init", "update", "up", "upgrade")
_NPM = ("--registry",)
_PIPS = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links")
UVS = (*_PIPS, "--index", "--default-index")
_SOURCES = (
    *("--source", "--server", "--only-server", "--repository", "--repository-url", "--repofrompath", "-X", "-Source"),
)
_PIP = Runner(("install", "wheel"), ("-e", "--editable", "-r", "--requirement", "-c", "--constraint"), indexes=_PIPS)
_UVX = Runner((), ("--from", "--with", "--with-editable"), first=True, indexes=UVS)
RUNNERS: dict[str, Runner] = {
    **dict.fromkeys(("npm", "pnpm", "yarn"),
                    Runner((*NODE, "set", "plugin"), ("--package",), short=True, indexes=_NPM)),
    "bun": Runner((*NODE, "run"), ("--package",), short=True, indexes=_NPM),
    "corepack": Runner(("prepare", "use")),
    **dict.fromkeys(("bundle", "bundler"), Runner(("config",), indexes=_SOURCES)),
    **dict.fromkeys(("npx", "pnpx", "bunx"), Runner((), ("-p", "--package"), short=True, first=True, indexes=_NPM)),
    **dict.fromkeys(("pip", "pip3", "pip2"), _PIP),
    "uv": Runner(("pip", "add", "tool", "run"), (*_PIP.options, *_UVX.options), indexes=UVS),
    "uvx": _UVX,
    "pipx": Runner(("install", "run", "inject", "upgrade"), ("--spec",), indexes=_PIPS),
    **dict.fromkeys(("poetry", "pdm", "rye", "pipenv"),
                    Runner(("add", "install"), ("--git",), indexes=(*UVS, "--source"))),
    **dict.fromkeys(("pixi", "conda", "mamba", "micromamba"),
                    Runner(("add", "install", "env", "create", "update", "global"), ("--git", "-f", "--file"),
                           indexes=("-c", "--channel"))),
    "cargo": Runner(("install", "binstall", "add", "generate"), ("--git",), plain=False,
                    indexes=("--index", "--registry")),
    "brew": Runner(("install", "tap", "cask", "bundle", "reinstall")),
    "rpm": Runner((), ("-i", "-U", "-F", "-ivh", "-Uvh", "--install", "--upgrade"), plain=False),
    **dict.fromkeys(("pacman", "yay", "paru"), Runner((), ("-U", "--upgrade"), plain=False)),
    **dict.fromkeys(("gem", "composer", "helm", "cabal", "volta", "proto", "apk", "guix", "nuget", "asdf", "mise",
                     "dpkg", "dnf", "yum", "zypper", "apt", "apt-get", "luarocks", "opam", "nimble"),
                    Runner(("install", "plugin", "plugins", "add", "require", "global", "use", "config", "-i", "-U",
                            "create-project", "pin", "specific_install", "fetch"), indexes=_SOURCES)),
    "mix": Runner(("archive.install", "escript.install", "local.hex", "local.rebar", "igniter.install"), short=True),
    **dict.fromkeys(("dart", "flutter"), Runner(("pub",), ("--git-url",))),
    "mint": Runner(("run", "install"), short=True), "haxelib": Runner(("git", "hg", "install")),
    "zig": Runner(("fetch",)), "conan": Runner(("remote", "config", "install"), indexes=("-r", "--remote")),
    "vcpkg": Runner(("install",), ("--overlay-ports", "--overlay-triplets")), "spack": Runner(("repo", "mirror")),
    **dict.fromkeys(("cs", "coursier"), Runner(("launch", "bootstrap", "install", "fetch", "setup", "java"),
                                               ("--channel",), indexes=("-r", "--repository"))),
    **dict.fromkeys(("mvn", "mvnw"), Runner((), plain=False, indexes=(
        "-DremoteRepositories", "-DarchetypeCatalog", "-DarchetypeRepository", "-DremoteRepository"))),
    **dict.fromkeys(("serverless", "sls"), Runner(("create",), ("--template-url", "-u"), plain=False)),
    "pack": Runner(("build", "builder", "buildpack"), ("--buildpack", "-b", "--extension"), plain=False),
    **dict.fromkeys(("cordova", "ionic", "ng", "expo", "meteor"), Runner(("plugin", "add", "install"))),
    "zef": Runner(("install",)), "raco": Runner(("pkg",)),
    "deno": Runner(("run", "install", "x", "serve", "test", "eval", "add", "i")),
    "nix": Runner(("run", "shell", "develop", "profile", "build"), first=True),
    **dict.fromkeys(("docker", "podman"), Runner(("build", "buildx", "compose", "kube", "play"), ("-f", "--file"))),
    **dict.fromkeys(("cookiecutter", "copier", "degit"), Runner()),
    **dict.fromkeys(("node", "nodejs", "tsx", "ts-node"),
                    Runner((), ("--import", "--loader", "--experimental-loader", "-r", "--require"), plain=False)),
    **dict.fromkeys(("nix-env", "ansible-pull", "docker-compose", "podman-compose"),
                    Runner((), ("-if", "-f", "--file", "-U", "--url"), plain=False)),
    **dict.fromkeys(("certutil", "bitsadmin", "mshta", "regsvr32", "msiexec"), Runner((), ("-f", "/i", "-i"))),
    "winget": Runner(("install", "upgrade"), ("-m", "--manifest"), indexes=("--source", "-s")),
    "scoop": Runner(("install", "bucket")),
    **dict.fromkeys(("jbang", "kotlin", "groovy", "yo", "Rscript", "papermill", "jshell", "kscript",
                     "amm", "R", "scala-cli", "scala"),
                    Runner(first=True)),
    **dict.fromkeys(("marimo", "streamlit", "k6", "locust", "artillery", "chainlit"),
                    Runner(("run", "edit", "shebang", "repl", "compile"), ("-f", "--locustfile"))),
    **dict.fromkeys(("gradle", "gradlew"), Runner((), ("-I", "--init-script"), plain=False)),
    **dict.fromkeys(("mvn", "mvnw"), Runner(plain=False, indexes=("-DremoteRepositories", "-DarchetypeCatalog"))),
    **dict.fromkeys(("task", "go-task"), Runner((), ("-t", "--taskfile"), plain=False)),
    **dict.fromkeys(("snakemake", "helmfile", "skaffold", "tilt", "cwltool"),
                    Runner((), ("-s", "--snakefile", "-f", "--file", "--filename"), first=True)),
    "nextflow": Runner(("run", "pull"), short=True, first=True),
    "earthly": Runner(hosted=True), "dagger": Runner((), ("-m", "--mod"), plain=False, hosted=True),
    "pulumi": Runner(("new", "up"), first=True),
    **dict.fromkeys(("terraform", "tofu"), Runner(("init",), ("-from-module",), plain=False, hosted=True)),
    "cargo-generate": Runner((), ("--git",), short=True),
    "kubectl": Runner(("krew",), ("--manifest-url", "--manifest", "--archive"), short=True),
    "krew": Runner(("install", "index"), short=True),
    "vagrant": Runner(("plugin", "box", "init", "up"), ("--plugin-source", "--box-url")),
    "multipass": Runner(("launch",)), "limactl": Runner(("start", "create")),
    **dict.fromkeys(("fisher", "omf", "zinit", "zi", "znap", "antigen", "antibody", "antidote", "sheldon", "zplug",
                     "zgenom"),
                    Runner(("install", "update", "add", "light", "load", "bundle", "snippet", "source", "theme",
                            "clone"),
                           ("--github", "--git", "--gist", "--remote"), short=True)),
    "cpanm": Runner(first=True, indexes=("--mirror",)),
    **dict.fromkeys(("wasmtime", "wasmer", "spin"), Runner(("run", "up"))),
    "flatpak": Runner(("install", "remote-add")),
    "gh": Runner(("extension", "extensions", "ext"), short=True),
    "gemini": Runner(("extensions",)), "claude": Runner(("plugin",), short=True),
    **dict.fromkeys(("code", "cursor", "codium", "windsurf"), Runner((), ("--install-extension",), plain=False)),
}  # fmt: skip
FROM_VARIABLES = {
    **dict.fromkeys(("pip", "pip3", "pipx"), ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS")),
    **dict.fromkeys(("uv", "uvx"), ("UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX")),
    **dict.fromkeys(("npm", "npx", "pnpm", "bun"), ("npm_config_registry", "NPM_CONFIG_REGISTRY")),
    "yarn": ("npm_config_registry", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER"),
    "go": ("GOPROXY",), "cargo": ("CARGO_REGISTRIES_CRATES_IO_INDEX",), "gem": ("RUBYGEMS_HOST",),
}  # fmt: skip
"""Variables by which an installer takes its packages from elsewhere."""
UNPROVED = {
    "go": (("GOINSECURE", r".+"), ("GOSUMDB", r"off"), ("GONOSUMDB", r"\*"), ("GONOSUMCHECK", r"1"),
           ("GOFLAGS", r".*-insecure.*")),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun"),
                    (("NODE_TLS_REJECT_UNAUTHORIZED", r"0"), ("npm_config_strict_ssl", r"false"),
                     ("NPM_CONFIG_STRICT_SSL", r"false"), ("YARN_ENABLE_STRICT_SSL", r"false|0"))),
    **dict.fromkeys(("pip", "pip3", "pipx", "uv", "uvx"), (("PIP_TRUSTED_HOST", r"\*"), ("UV_INSECURE_HOST", r"\*"))),
    "cargo": (("CARGO_HTTP_CHECK_REVOKE", r"false"),),
}  # fmt: skip
"""Variables with which an installer takes what nobody vouches for."""
FETCH_BESIDES = {
    "go": ("get", "install", "run", "mod", "build", "test", "work", "list", "vet", "generate"),
    "cargo": ("build", "run", "test", "check", "update", "fetch"), "gem": ("update", "fetch"),
    **dict.fromkeys(("pip", "pip3"), ("download",)), "uv": ("sync", "lock"),
}  # fmt: skip
"""Verbs that fetch from an index, beside those of a row."""
