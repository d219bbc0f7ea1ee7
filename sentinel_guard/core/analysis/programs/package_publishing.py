"""Publishes and unpublishes packages, releases and gists (npm, cargo, twine, gh …): argv -> effects.

The tables read as ``subcommand_tables.py`` says. A dry run publishes nothing, and neither does a build.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.expansion.command_and_options import Call, Parsed, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import local_registries
from sentinel_guard.core.analysis.programs.git import committed_files
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_DRY = "** --dry-run !--dry-run=false, ** --help"

_NPM = table(
    quiet=f"{_DRY}, stage list|view|download, trust list",
    unpublish="unpublish, npm unpublish, dist-tag|dist-tags rm|remove, owner|author rm|remove, access revoke, team "
    "destroy|rm, "
    "org rm, npm tag remove, token revoke|delete, hook rm, trust revoke, stage reject",
    publish="publish, npm publish, recursive|multi publish, workspaces|workspace ** publish, deprecate|undeprecate, "
    "stage publish|approve, trust *, "
    "dist-tag|dist-tags add|set, npm tag add, owner|author add, access set|grant|public|restricted|edit|2fa-*, token "
    "create, "
    "team create|add, org set, hook add",
)
_PYTHON = table(quiet=_DRY, publish="publish, upload")
_MVN = table(
    quiet="** --help, ** -D=dryRun*, ** jib:dockerBuild, ** -D=altDeploymentRepository=*file:*",
    publish="** deploy|deploy:*|*:deploy|*:deploy-file|release:perform|release:prepare|*:release|jib:build|*:publish|"
    "jreleaser:*release",
)
_GRADLE = table(
    quiet="** -m|--dry-run|--help, ** *ublishToMavenLocal|*ublish*ToMavenLocal|jibDockerBuild",
    publish="** publish|*:publish|publish*To*|*:publish*To*|publishAll*|*:publishAll*|publishPlugins|publishApps*|"
    "publish*Bundle|*:publish*Bundle|publish*Apk|*:publish*Apk|promote*Artifact|*:promote*Artifact|"
    "publishRelease*|*:publishRelease*|publishMod*|uploadArchives|bintrayUpload|closeAndRelease*|jib|jreleaser*|appDistributionUpload*|"
    "artifactoryPublish",
)
_GH = table(
    quiet="** --help",
    unpublish="repo|release|gist|issue|run|secret|variable|label|codespace|cs|ssh-key|gpg-key|project|discussion "
    "delete|delete-asset|remove|"
    "item-delete|field-delete, repo archive, repo sync --force, repo deploy-key delete, issue transfer, "
    "pr close --delete-branch|-d",
    publish="repo edit --visibility|--default-branch, repo create|rename|unarchive, repo deploy-key add, "
    "release create !--draft !-d, release create --draft=false, "
    "release upload|edit, gist create|edit, secret|variable set, "
    "workflow run|disable|enable, pr merge, "
    "ssh-key|gpg-key add, "
    "attestation upload",
)
_GLAB = table(
    quiet="** --help",
    unpublish="repo|project|release|issue|mr|variable|snippet|ssh-key|deploy-key|label|schedule|pipeline|ci|token "
    "delete|rm|archive|revoke, "
    "cluster agent *, milestone delete",
    publish="repo|project create|transfer|mirror, release create|upload, mr merge|accept, variable set|update|import, "
    "ci|pipeline run|trigger|"
    "run-trig, snippet create, ssh-key|deploy-key add, schedule create|run|update, token create|rotate",
)
_HUB = table(unpublish="delete, release delete, gist delete", publish="create, release create|edit, gist create, merge")
_PUB = table(quiet=_DRY, publish="pub publish|lish, publish, pub uploader|token add")

TABLES: dict[str, tuple[Row, ...]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "yarnpkg", "bun"), _NPM),
    "lerna": table(quiet=_DRY, publish="publish"),
    "changeset": table(publish="publish"),
    **dict.fromkeys(("semantic-release", "release-it", "np", "auto"), table(
        quiet="** --dry-run|-d|--help|--version|--preview, ** info|version|changelog|label|pr-check|init", publish="**",
    )),
    "nx": table(quiet="** --dry-run|-d|--help", publish="release, nx-release-publish, ** publish"),
    "cargo": table(quiet=f"{_DRY}, publish -n", unpublish="yank !--undo, owner --remove|-r", publish="publish, owner "
        "--add|-a, yank --undo, "
                   "release --execute|-x, smart-release --execute|-e, workspaces publish, mobile-dist publish"),
    "release-plz": table(quiet=_DRY, publish="release"),
    "twine": table(publish="upload, register"),
    **dict.fromkeys(("poetry", "uv", "hatch", "flit", "pdm", "rye", "maturin", "pixi"), _PYTHON),
    "anaconda": table(unpublish="remove, ** remove", publish="upload, ** upload"),
    "gem": table(unpublish="yank, owner --remove|-r", publish="push, owner --add|-a"),
    **dict.fromkeys(("mvn", "mvnw", "mvnd"), _MVN), **dict.fromkeys(("gradle", "gradlew"), _GRADLE),
    "sbt": table(quiet="publishLocal*|publishM2|publishTo|publishConfiguration",
        publish="publish*|sonatypeRelease|sonatypeBundleRelease|release|ci-release"),
    "lein": table(publish="deploy, ** deploy|release"),
    **dict.fromkeys(("stack", "cabal"), table(publish="upload")),
    "rebar3": table(unpublish="hex retire", publish="hex publish, hex cut"),
    "mix": table(quiet=_DRY, unpublish="hex.retire, hex.publish --revert", publish="hex.publish, hex.owner add|"
        "transfer"),
    "opam": table(publish="publish"), "nimble": table(publish="publish"), "dune-release": table(quiet=_DRY,
        publish=". , publish, opam submit"),
    **dict.fromkeys(("dart", "flutter", "pub"), _PUB),
    "swift": table(quiet=_DRY, unpublish="delete", publish="package-registry publish"),
    "pod": table(unpublish="trunk delete|remove-owner|deprecate", publish="trunk push|add-owner, repo push"),
    "dotnet": table(unpublish="nuget delete", publish="nuget push"),
    **dict.fromkeys(("nuget", "choco"), table(unpublish="delete", publish="push")),
    "conan": table(unpublish="remove -r|--remote", publish="upload"), "luarocks": table(publish="upload"),
        "cpan-upload": table(publish="**"),
    **dict.fromkeys(("jsr", "deno"), _PYTHON),
    **dict.fromkeys(("vsce", "ovsx"), table(quiet="** --help|--dry-run", unpublish="unpublish, delete-publisher",
        publish="publish, create-namespace")),
    "web-ext": table(publish="sign"),
    "snapcraft": table(unpublish="close", publish="upload|push|release|promote"),
    "electron-builder": table(publish="** --publish|-p=always, ** --publish|-p=onTag*"),
    "electron-forge": table(quiet=_DRY, publish="publish"),
    "butler": table(quiet="push --dry-run", publish="push"),
    "steamcmd": table(publish="** +run_app_build*|+app_build*|+workshop_build_item"),
    "fastlane": table(publish="** deliver|upload_*|pilot|supply|release|beta|deploy|submit*|testflight|appstore|"
        "production|publish|match_nuke|nuke"),
    "shorebird": table(quiet="** --help|--dry-run|-n", change="patch|release, releases|patches set-track|promote"),
    **dict.fromkeys(("capgo", "hot-updater", "appflow"), table(quiet=_DRY, destroy="** delete|remove|rollback",
        change="deploy|upload|release, bundle|channel|build upload|set|add, deploy *")),
    **dict.fromkeys(("eas", "eas-cli"), table(quiet="** --help", unpublish="** delete|roll-back-to-embedded",
        publish="submit|update|deploy|channel:edit, build --auto-submit|--auto-submit-with-profile, "
                "env:push|env:create|env:update")),
    "expo": table(publish="publish|upload:*"), "code-push": table(publish="release*|promote|rollback",
        unpublish="deployment rm"),
    "appcenter": table(publish="codepush release*|promote, distribute *"),
    "modal": table(unpublish="app stop, volume|secret rm|delete", publish="deploy"),
    **dict.fromkeys(("hf", "huggingface-cli"), table(unpublish="repo|repos delete, repo-files delete",
        publish="upload|upload-large-folder, repo|repos create")),
    "kaggle": table(unpublish="datasets|kernels|models delete", publish="datasets|kernels|models create|push|version"),
    **dict.fromkeys(("ollama", "cog", "img", "buildah", "apptainer", "singularity", "ko"), table(quiet=". --help, "
        "build --local|-L", publish="push|publish|apply")),
    "pack": table(publish="build --publish, buildpack package --publish"),
    "oras": table(unpublish="** delete", publish="push|attach|copy|cp|tag"),
    **dict.fromkeys(("crane", "gcrane"), table(unpublish="delete", publish="push|copy|cp|tag|append|mutate|rebase")),
    "skopeo": table(unpublish="delete", publish="copy ** docker://* docker://*, copy dir:*|oci:*|docker-archive:*|"
        "docker-daemon:*|containers-storage:* docker://*, "
                    "sync --dest|-d=docker"),
    "regctl": table(unpublish="** delete|rm", publish="image copy|import|mod|create, artifact put, blob|manifest|"
        "index put|create|add"),
    "mkdocs": table(publish="gh-deploy"), "mike": table(unpublish="delete --push|-p", publish="deploy|"
        "set-default --push|-p"),
    "ghp-import": table(publish="** --push|-p"), "quarto": table(publish="publish"), "hugo": table(quiet="** --dryRun|"
        "--dry-run", publish="deploy"),
    "ng": table(publish="deploy"), "docusaurus": table(publish="deploy"),
    "goreleaser": table(quiet="** --snapshot|--help, ** --skip=*publish*, ** --skip-publish", publish="release|"
        "publish|continue|announce"),
    "jreleaser": table(quiet="** --dry-run", publish="full-release|release|deploy|publish|upload|announce"),
    "xcrun": table(publish="altool --upload-app|--upload-package, iTMSTransporter"),
    "gh": _GH, "glab": _GLAB, "hub": _HUB, "tea": table(unpublish="** delete|rm", publish="** create|merge"),
}  # fmt: skip

_REGISTRIES = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "npm"),
    "cargo": "crates.io",
    **dict.fromkeys(("twine", "uv", "poetry", "flit", "hatch", "pdm", "maturin"), "pypi"),
    "gem": "rubygems",
}


def registry(call: Call) -> Iterator[Effect]:
    """npm, cargo, gem, poetry, twine …: the subcommands that publish or take back."""
    program = call.command.program
    if not any(item.text in ("--dry-run", "--help") for item in call.fields):
        found = subcommand_tables.effects(call, TABLES.get(program, ()), _REGISTRIES.get(program, program))
        yield from (e for e in found if e.kind is not Kind.PUBLISH or not local_registries.is_meant(call))


_CARGO = {"sqlx": "sqlx", "diesel": "diesel", "loco": "cargo-loco", "shuttle": "shuttle", "lambda": "cargo-lambda",
          "near": "near", "contract": "cargo-contract", "stylus": "cargo-stylus"}  # fmt: skip
"""Subcommands that are programs of their own."""


def cargo(call: Call) -> Iterator[Effect]:
    """``cargo watch`` runs commands; the rest is the table."""
    if call.command.subcommand in _CARGO:
        yield from call.runner.run([Field(_CARGO[call.command.subcommand]), *call.fields[2:]], call, "cargo")
    elif call.command.subcommand == "watch":
        yield from call.runner.run([Field("cargo-watch"), *call.fields[2:]], call, "cargo")
    elif call.command.subcommand in ("script", "eval") or any(item.text == "-Zscript" for item in call.fields):
        given = [item for item in call.fields[1:] if item.text not in ("script", "eval") and item.text[:1] != "+"]
        yield from call.runner.run([Field("rust-script"), *given], call, "cargo")
    else:
        yield from registry(call)


def uv(call: Call) -> Iterator[Effect]:
    """``uv tool run`` is uvx; the rest is the table."""
    if call.command.subcommand == "tool" and call.operands and call.operands[0].text == "run":
        at = next(n for n, item in enumerate(call.fields, 1) if item is call.operands[0])
        yield from call.runner.run([Field("uvx"), *call.fields[at:]], call, "uv tool")
    else:
        yield from registry(call)


_SBT = re.compile(
    r"[~\s]*(?:(?:\+\+|\^\^)\s*\S+\s+)?(?:-v\s+)?[+^\s]*(all\s.*|(?:[\w.-]+\s*[:/]\s*)*[\w-]+)", re.DOTALL
)
"""A command of sbt, with what comes before the task: ``+`` and ``++VERSION``, ``^`` and ``^^VERSION`` (other versions
of Scala, of sbt), scopes.
"""


def sbt(call: Call) -> Iterator[Effect]:
    """Each operand is a command, or several with ``;`` between them."""
    said = [command for item in call.operands for command in item.text.split(";")]
    for match in filter(None, map(_SBT.match, said)):
        for task in re.sub(r"\s*([:/])\s*", r"\1", match[1]).split():
            name = re.split(r"[:/]", task)[-1]
            yield from registry(replace(call, parsed=Parsed(call.parsed.flags, [Field(name)])))


_METHODS = {"DELETE": ("delete",), "PUT": (), "PATCH": ()}
_MUTATION = re.compile(r"\bmutation\b.*?\b(?:delete|remove|archive|merge|transfer|update)[A-Z]", re.DOTALL)
_ATTACHED = ("gist create", "gist edit", "release create", "release upload", "snippet create")
"""Their operands are files that go up."""


_ORDERS = re.compile(
    r"^\s*(?:atlantis\s+(?:apply|unlock|import|state)\b|bors\s+(?:merge|r\+|r=)|digger\s+apply\b|@\w[\w-]*\s+(?:merge|deploy|release)\b"
    r"|[/.](?:deploy|promote|rollback|destroy|merge|release|publish|apply|ship)\b)",
    re.MULTILINE,
)
"""Comments that programs read as orders."""


def forge(call: Call) -> Iterator[Effect]:
    """gh, glab, hub: the table; ``api`` with a method that changes something; the files that go up."""
    yield from registry(call)
    words = [call.command.subcommand, *(item.text for item in call.operands[:1])]
    if words[0] == "api":
        yield from _api(call)
    elif " ".join(words) in _ATTACHED:
        skip = 2 if words[0] == "release" else 1
        yield from _sent(call, [*call.operands[skip:], *call.parsed.values("-F", "--notes-file", "-f", "--filename")])
    elif words in _FETCHES:
        committed_files.move(call)
    elif words[0] in ("pr", "issue", "mr", "secret", "variable", "project", "run"):
        yield from _sent(call, call.parsed.values("-F", "--body-file", "--env-file"))
        told = call.parsed.values("-b", "--body", "-t", "--title", "-d", "--description")
        if any(map(_ORDERS.search, (item.text for item in told))):
            yield call.effect(Kind.DEPLOY, f"{call.command.program}: what a comment orders", sure=False)
        if any(not item.known or "$(" in item.source or "`" in item.source for item in told):
            yield call.effect(Kind.NETWORK, call.command.program, "data")


_FETCHES = [[kind, verb] for kind in ("pr", "mr", "pulls") for verb in ("checkout", "co")]


def _api(call: Call) -> Iterator[Effect]:
    method = call.parsed.value("-X", "--method")
    how = _METHODS.get(method.text.upper()) if method is not None else None
    where = call.operands[0].text if call.operands else "api"
    fields = call.parsed.values("-f", "-F", "--field", "--raw-field")
    if how is not None:
        yield call.effect(Kind.PUBLISH, where, *how)
    elif where == "graphql" and any(_MUTATION.search(item.text) for item in fields):
        yield call.effect(Kind.PUBLISH, where, "delete")
    files = [item for item in call.parsed.values("-F", "--field") if "=@" in item.text]
    for item in files:
        yield from call.read(Field(item.text.partition("=@")[2], item.known))
    for item in call.parsed.values("--input"):
        yield from call.read(item)
    if files or call.has("--input"):
        yield call.effect(Kind.NETWORK, where, "data")


def _sent(call: Call, items: Sequence[Field]) -> Iterator[Effect]:
    """Files that go to the forge, ``file#label`` among them; ``-`` is standard input."""
    for item in items:
        yield from call.read(Field(item.text.partition("#")[0], item.known, source=item.source))
    if items:
        yield call.effect(Kind.NETWORK, call.command.program, "data")


def gist(call: Call) -> Iterator[Effect]:
    """gist, pastebinit, transfer …: each operand, or standard input, is published."""
    files = [*call.operands, *call.parsed.values("-i", "--file", "-f")]
    for item in files:
        yield from call.read(item)
    if files or call.stdin:
        yield call.effect(Kind.NETWORK, call.command.program, "data")


OPTIONS = {
    "npm": options("-c= --call= --prefix= -C= -w= --workspace= --registry= --tag= --access= --otp= --loglevel= "
        "--script-shell= --userconfig= --globalconfig= --if-present --ignore-scripts --dry-run --version --help "
        "--workspaces -s --silent | sub"),
    "pnpm": options("--prefix= -C= --dir= -F= --filter= --registry= --tag= --access= --otp= --loglevel= "
        "-s --silent -r --recursive -w --workspace-root | sub"),
    "yarn": options("--cwd= --registry= --tag= --access= --new-version= -s --silent | sub"),
    "bun": options("--cwd= --filter= -c= --config= --tag= --access= --silent -b --bun | sub"),
    "cargo": options(
        "--manifest-path= --color= --config= -C= -Z= -p= --package= --registry= --token= --features= --target= "
            "--index= "
        "--vers= --version= | sub"
    ),
    "gh": options(
        "-R= --repo= -X= --method= -f= -F= --field= --raw-field= -H= --header= --jq= -q= -t= --title= -b= --body= "
        "--body-file= --notes-file= -n= --notes= --input= --visibility= -d= --desc= --filename= --env-file= --target= "
        "-e= --env= -o= --org= -u= --user= | sub"
    ),
    "glab": options("--output= -R= --repo= -X= --method= -f= -F= --field= --raw-field= -H= --header= -t= --title= -d= "
        "--description= "
                    "--notes= -n= --notes-file= -N= --input= -m= | sub"),
    "twine": options("-r= --repository= --repository-url= -u= --username= -p= --password= --config-file= -c= "
        "--comment= | sub"),
    "poetry": options("-C= --directory= -P= --project= -r= --repository= -u= --username= -p= --password= | sub"),
    "uv": options("--directory= --project= --index-url= --publish-url= -t= --token= --python= -p= | sub"),
    "gem": options("-k= --key= --host= -v= --version= -a= --add= -r= --remove= | sub"),
    "dotnet": options("-s= --source= -k= --api-key= -c= -o= | sub"),
    "goreleaser": options("-f= --config= --skip= --timeout= -p= --parallelism= --release-notes= | sub"),
    "mvn": options("-f= --file= -pl= --projects= -s= --settings= -P= --activate-profiles= -D= -T="),
    "gradle": options("-p= --project-dir= -b= -c= -x= --exclude-task= -P= -D= -I= --init-script= --console="),
    "electron-builder": options("-p= --publish= -c= --config="),
    "fastlane": options("--env= | sub"),
    "skopeo": options("-s= --src= -d= --dest= --authfile= | sub"),
    "dune-release": options("-p= --pkg-names= | sub"),
    "release-it": options("-c= --config= -i= --increment="),
    **dict.fromkeys(("gist", "pastebinit"), options("-d= -f= -t= -a= -i= -b= -u= -P=")),
}  # fmt: skip
OPTIONS |= {"mvnw": OPTIONS["mvn"], "mvnd": OPTIONS["mvn"], "gradlew": OPTIONS["gradle"]}
OPTIONS |= dict.fromkeys(("semantic-release", "np", "auto", "cpan-upload", "ghp-import", "sbt"), options(""))
OPTIONS |= {name: options("| sub") for name in TABLES if name not in OPTIONS}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **dict.fromkeys(TABLES, registry),
    "cargo": cargo,
    "sbt": sbt,
    "uv": uv,
    **dict.fromkeys(("gh", "glab", "hub", "tea"), forge),
    **dict.fromkeys(("gist", "pastebinit", "transfer", "transfer.sh", "sprunge", "ix", "termbin", "wgetpaste",
        "fpaste", "dpaste", "slackcat"), gist),
}  # fmt: skip
