"""Registries, and owners of modules, extensions and formulae, that many use: what they give by a name passes."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import network_addresses

REGISTRIES = re.compile(
    r"(?:[\w-]+\.)*(?:pypi\.org|pythonhosted\.org|npmjs\.org|yarnpkg\.com|crates\.io|rubygems\.org|pytorch\.org|nvidia\.com|"
    r"npm\.pkg\.github\.com|pkgs\.dev\.azure\.com|jfrog\.io|pkg\.dev|amazonaws\.com|jsr\.io|gitlab\.com|piwheels\.org|"
    r"pyg\.org|tuna\.tsinghua\.edu\.cn|aliyun\.com|npmmirror\.com|"
    r"proxy\.golang\.org|goproxy\.(?:cn|io)|api\.nuget\.org|"
    r"(?:maven|search|central|s01|oss)\.(?:apache|sonatype|google|maven)\.(?:org|com)|repo1?\.maven\.(?:apache\.)?org|"
    r"repo\.clojars\.org|plugins\.gradle\.org|packagist\.org|conan\.io|anaconda\.org|anaconda\.com|conda-forge\.org|"
    r"vagrantcloud\.com|vagrantup\.com|cloud-images\.ubuntu\.com|cloud\.debian\.org|cloud\.centos\.org|hex\.pm|"
    r"pub\.dev|rspm\.posit\.co|packagemanager\.posit\.co|cran\.r-project\.org|opam\.ocaml\.org)"
)
"""Registries that many use: what is published there by a name passes."""
PUBLISHERS = frozenset(
    (
        *("ms-python", "ms-vscode", "ms-vscode-remote", "ms-azuretools", "ms-toolsai", "ms-dotnettools"),
        "ms-playwright",
        *("ms-vsliveshare", "ms-kubernetes-tools", "vscode", "github", "dbaeumer", "esbenp", "golang", "rust-lang"),
        *("redhat", "eamodio", "bradlc", "hashicorp", "vue", "svelte", "astro-build", "prisma", "graphql", "biomejs"),
        *("charliermarsh", "tamasfe", "llvm-vs-code-extensions", "vscodevim", "streetsidesoftware", "editorconfig"),
        *("firefox-devtools", "angular", "denoland", "oven", "tauri-apps", "anthropic", "openai", "google", "docker"),
        *("vitest", "orta", "mikestead", "yzhang", "davidanson", "usernamehw", "christian-kohler", "humao", "rangav"),
    )
)
"""Publishers of extensions that many use."""
TAPS = frozenset(
    (
        *("homebrew", "hashicorp", "mongodb", "aws", "azure", "github", "heroku", "stripe", "supabase", "oven-sh"),
        *("docker", "microsoft", "golangci", "goreleaser", "anchore", "aquasecurity", "bufbuild", "charmbracelet"),
        *("cloudflare", "confluentinc", "datadog", "elastic", "fluxcd", "getsentry", "grafana", "hetznercloud"),
        *("instrumenta", "jesseduffield", "kreuzwerker", "minio", "nats-io", "planetscale", "pulumi", "railwayapp"),
        *("redis-stack", "render-oss", "shivammathur", "snyk", "sst", "superfly", "temporalio", "tursodatabase"),
        *("vectordotdev", "vmware-tanzu", "weaveworks", "withgraphite", "ariga", "dopplerhq", "infisical", "sass"),
    )
)
"""Owners of formulae that many use."""
GO_OWNERS = frozenset(
    (
        *("golang", "golangci", "google", "googleapis", "kubernetes", "kubernetes-sigs", "bufbuild", "grpc-ecosystem"),
        *("swaggo", "air-verse", "cosmtrek", "sqlc-dev", "kyleconroy", "pressly", "golang-migrate", "vektra", "a-h"),
        *("uber-go", "mgechev", "securego", "dominikh", "go-delve", "rakyll", "boyter", "goreleaser", "spf13", "ent"),
        *("99designs", "oapi-codegen", "deepmap", "princjef", "matryer", "gotestyourself", "rogpeppe", "segmentio"),
        *("rhysd", "daixiang0", "magefile", "go-task", "charmbracelet", "prometheus", "hashicorp", "open-telemetry"),
        *("fullstorydev", "tinygo-org", "wailsapp", "volatiletech", "aarondl", "go-swagger", "cweill", "fatih"),
        "josharian",
    )
)
"""Owners of modules whose tools many projects install."""
TEMPLATES = frozenset(
    (
        *(
            "cookiecutter",
            "audreyfeldroy",
            "audreyr",
            "drivendataorg",
            "pyscaffold",
            "fastapi",
            "tiangolo",
            "vitejs",
            "vuejs",
        ),
        *(
            "sveltejs",
            "vercel",
            "remix-run",
            "withastro",
            "expo",
            "angular",
            "nestjs",
            "solidjs",
            "tauri-apps",
            "denoland",
        ),
        *(
            "microsoft",
            "google",
            "aws-samples",
            "hashicorp",
            "facebook",
            "django",
            "pallets",
            "scientific-python",
            "nuxt",
        ),
    )
)
"""Owners of templates that many begin a project with."""
FLAKES = frozenset(
    (
        *("NixOS", "nixos", "nix-community", "numtide", "cachix", "hercules-ci", "DeterminateSystems", "ipetkov"),
        *("oxalica", "srid", "snowfallorg", "Mic92", "serokell", "tweag", "nixified-ai", "hyprwm", "helix-editor"),
    )
)
"""Owners of flakes that many use."""
OF_TOOLS = {
    **dict.fromkeys(("cookiecutter", "copier", "degit", "tiged", "giget", "cargo-generate"), TEMPLATES),
    "nix": FLAKES, "nextflow": frozenset(("nf-core", "nextflow-io", "epi2me-labs")),
    "claude": frozenset(("anthropics",)),
    "helm": frozenset(("helm-unittest", "helm", "databus23", "jkroepke", "chartmuseum", "aslafy-z", "losisin", "dadav",
                       "hypnoglow", "helmfile", "karuppiah7890", "technosophos", "quintush")),
    **dict.fromkeys(("asdf", "mise"), frozenset(("asdf-vm", "asdf-community", "mise-plugins", "jdx"))),
    **dict.fromkeys(("fisher", "omf", "zinit", "antigen", "antibody", "sheldon", "zplug"),
                    frozenset(("jorgebucaran", "zsh-users", "ohmyzsh", "oh-my-fish", "zdharma-continuum", "romkatv",
                               "PatrickF1", "jethrokuan", "junegunn", "Aloxaf"))),
}  # fmt: skip
"""Whose repositories pass, by the tool that is given their names."""
_INSTALLERS = re.compile(
    r"https://(?:(?:[\w-]+\.)*(?:sh\.rustup\.rs|rust-lang\.org|astral\.sh|python-poetry\.org|pdm-project\.org|bun\.sh|bun\.com"
    r"|deno\.land|deno\.com|pnpm\.io|sdkman\.io|nixos\.org|determinate\.systems|mise\.run|jdx\.dev|helm\.sh|docker\.com|k3s\.io"
    r"|starship\.rs|volta\.sh|fnm\.vercel\.app|nodesource\.com|yarnpkg\.com|pypa\.io|getcomposer\.org|rvm\.io|just\.systems"
    r"|taskfile\.dev|nexte\.st|dot\.net|pixi\.sh|prefix\.dev|jetpack\.io|jetify\.com|claude\.ai|ollama\.com|fly\.io|pulumi\.com"
    r"|dagger\.io|opentofu\.org|brew\.sh|dl\.google\.com|(?:sdk|packages)\.cloud\.google\.com|microsoft\.com"
    r"|hashicorp\.com|duckdb\.org|k6\.io)/"
    r"|raw\.githubusercontent\.com/(?P<owner>[\w.-]+)/|github\.com/(?P<releases>[\w.-]+)/)"
)
_INSTALLER_OWNERS = GO_OWNERS | {owner.lower() for owner in TAPS} | frozenset(
    ("nvm-sh", "homebrew", "helm", "pyenv", "asdf-vm", "rbenv", "junegunn", "ohmyzsh", "rust-lang", "nodenv",
     "jesseduffield", "aquasecurity", "anchore", "tilt-dev", "rancher", "k3d-io", "kubernetes-sigs", "containerbase",
     "direnv", "cargo-bins", "apache", "home-assistant", "plone", "openstack")
)  # fmt: skip
_NOT_THE_OWNERS = re.compile(
    r"(?i)/\.{1,2}(?:/|$)|%|\\|/pull/\d|/[0-9a-f]{40}/|\.com/+[^/]+/+[^/]+/+(?:raw/+)?[0-9a-f]{4,40}/"
)
"""What leads from an owner's address to somebody else's: a step up, or a commit, which a fork may have made and a few
digits of its number name.
"""


def is_installer(address: str) -> bool:
    """Whether a script of installation, or a list of what is to be installed, lies where many projects take theirs."""
    match = _INSTALLERS.match(address)
    owner = match and (match["owner"] or match["releases"])
    return match is not None and (
        not owner or (owner.lower() in _INSTALLER_OWNERS and not _NOT_THE_OWNERS.search(address))
    )


GO_HOSTS = re.compile(
    r"(?:[\w-]+\.)*(?:golang\.org|go\.dev|k8s\.io|uber\.org|honnef\.co|mvdan\.cc|gotest\.tools|modernc\.org|gopkg\.in"
    r"|cuelang\.org|entgo\.io|goa\.design|gorm\.io|gvisor\.dev|rsc\.io|gioui\.org|fyne\.io|filippo\.io|tinygo\.org"
    r"|dagger\.io|google\.com|connectrpc\.com|buf\.build|helm\.sh|istio\.io|opentelemetry\.io|mongodb\.org|knative\.dev"
    r"|oras\.land|tailscale\.com|gonum\.org|etcd\.io|gocloud\.dev|starlark\.net|ariga\.io|elv\.sh|pulumi\.com|temporal\.io)"
)
"""Hosts of Go modules that many use, beside the forges."""
OWNERS = (
    GO_OWNERS
    | TEMPLATES
    | TAPS
    | frozenset(
        (
            # Swift, Dart, Zig, Haxe, Elixir
            *("realm", "nicklockwood", "swiftgen", "yonaskolb", "apple", "swiftlang", "krzysztofzablocki", "mono0926"),
            *(
                "pointfreeco",
                "vapor",
                "tuist",
                "xcodegen",
                "peripheryapp",
                "flutter",
                "dart-lang",
                "invertase",
                "felangel",
            ),
            *(
                "hejsil",
                "ziglang",
                "zigtools",
                "mitchellh",
                "haxefoundation",
                "openfl",
                "haxeflixel",
                "phoenixframework",
            ),
            *("elixir-lang", "elixir-nx", "dashbitco", "hexpm", "ash-project", "nerves-project", "plataformatec"),
            # plugins of shells
            *(
                "jorgebucaran",
                "pure-fish",
                "patrickf1",
                "ilancosman",
                "franciscolourenco",
                "jethrokuan",
                "meaningful-ooo",
            ),
            *("decors", "oh-my-fish", "zsh-users", "romkatv", "ohmyzsh", "sindresorhus", "zdharma-continuum", "aloxaf"),
            *("agkozak", "mafredri", "hlissner", "marlonrichert", "catppuccin", "dracula", "starship", "junegunn"),
            # work flows, boxes, builders
            *(
                "nf-core",
                "nextflow-io",
                "epi2me-labs",
                "snakemake-workflows",
                "common-workflow-language",
                "ubuntu",
                "debian",
            ),
            *(
                "generic",
                "bento",
                "centos",
                "fedora",
                "almalinux",
                "rockylinux",
                "archlinux",
                "paketobuildpacks",
                "heroku",
            ),
            *("buildpacksio", "earthly", "dagger", "clojure", "cognitect-labs", "seancorfield", "babashka", "borkdude"),
            *("conan-io", "conda-forge", "spack", "kubernetes-sigs", "microsoft"),
        )
    )
)
"""Owners of repositories from which many install, whatever the installer."""
_ANY_OWNER = re.compile(r"(?:(?:gh|github):|(?:git\+)?https://(?:github|gitlab)\.com/)?([\w.-]+)/[\w.-]+")
_BY_KNOWN_OWNERS = frozenset(
    (
        *(
            "mint",
            "fisher",
            "omf",
            "zinit",
            "zi",
            "znap",
            "antigen",
            "antibody",
            "antidote",
            "zplug",
            "zgenom",
            "spack",
        ),
        *("sheldon", "vagrant", "dart", "flutter", "zig", "haxelib", "mix", "krew", "conan", "vcpkg"),
    )
)
"""Installers whose packages are repositories: of owners whom many use they pass."""
_BY_LISTS = frozenset(("pip", "pip2", "pip3", "uv"))
"""Installers that take a list of requirements or constraints by its address."""
_KNOWN_HOSTS = frozenset(("vagrant", "conan", "conda", "mamba", "micromamba", "cs", "coursier", "composer"))
_PINNED = re.compile(r"/tags/|/releases/download/|#[0-9a-f]{40}\b|/archive/(?:v?\d|[0-9a-f]{40})")
"""An address that names one state for good; zig writes its hash down, too."""


def passes(program: str, address: str) -> bool:
    """Whether an address is of an owner, or of a host, whom many use."""
    if program == "zig" and _PINNED.search(address):
        return True
    if program in _BY_LISTS and address.startswith("https://raw.githubusercontent.com/") and is_installer(address):
        return True
    if program in _BY_KNOWN_OWNERS and (match := _ANY_OWNER.match(address)) and match[1].lower() in OWNERS:
        return True
    return program in _KNOWN_HOSTS and REGISTRIES.fullmatch(network_addresses.host(address)) is not None
