"""Secret formats of package and container image registries."""

from __future__ import annotations

from sentinel_guard.core.secrets.formats.base import (
    BASE64,
    HEX,
    LOWER,
    UPPER,
    URL,
    UUID,
    assigned,
    fake,
    login,
    token,
    uuid,
)
from sentinel_guard.core.secrets.model import Format

NPM = ("npmjs.org", "npmjs.com")
JFROG = ("jfrog.io",)
DOCKER = ("docker.com", "docker.io")

# npm's tokens end in the same CRC-32 as GitHub's; why it is not asked for stands in source_hosting.py.
FORMATS: tuple[Format, ...] = (
    token("npm-token", "an npm token", "npm_[A-Za-z0-9]{36}", "npm_" + fake(36), miss=("npm_" + fake(20),), hosts=NPM),
    Format(
        "npm-auth-token", "an npm registry's token", ("_authtoken",),
        rf"_authToken\s{{0,3}}=\s{{0,3}}[\"']?(?P<value>{UUID}|npm_[A-Za-z0-9]{{36}}|[A-Za-z0-9+/_.-]{{32,1000}}={{0,2}})",
        (f"//registry.npmjs.org/:_authToken={uuid()}", f"//npm.x.io/:_authToken={fake(40)}"),
        ("//registry.npmjs.org/:_authToken=${NPM_TOKEN}", "//registry.npmjs.org/:_authToken=x"), 3.0, NPM,
    ),
    Format(
        "npm-auth", "an npm registry's password", ("_auth",),
        r"(?:^|[\s:])_(?:auth|password)\s{0,3}=\s{0,3}[\"']?(?P<value>[A-Za-z0-9+/]{12,1000}={0,2})",
        (f"//npm.x.io/:_auth={fake(40, BASE64)}", f"_auth = {fake(30)}=="), ("_auth=${NPM_AUTH}", "always-auth=true"),
        3.0, NPM,
    ),
    token(
        "pypi-token", "a PyPI token", "pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{50,1000}",
        "pypi-AgEIcHlwaS5vcmc" + fake(120, URL), "pypi-AgENdGVzdC5weXBpLm9yZw" + fake(120, URL),
        miss=("pypi-AgEIcHlwaS5vcmc" + fake(12),), needles=("pypi-age",), hosts=("pypi.org",),
    ),
    token("rubygems-key", "a RubyGems key", "rubygems_[0-9a-f]{48}", "rubygems_" + fake(48, HEX),
          hosts=("rubygems.org",)),
    token("nuget-key", "a NuGet key", "oy2[a-z0-9]{43}", "oy2" + fake(43, LOWER), entropy=3.5, hosts=("nuget.org",)),
    Format(
        "nuget-password", "a password of a NuGet source", ("cleartextpassword",),
        r"(?i:<add\s{1,5}key=\"ClearTextPassword\"\s{1,5}value=\")(?P<value>[^\"%\s<\[{$#][^\"%\s]{5,100}%?[^\"\s]{0,100})\"",
        (f'<add key="ClearTextPassword" value="{fake(12)}" />',),
        ('<add key="ClearTextPassword" value="abc" />', '<add key="ClearTextPassword" value="%NUGET_PASSWORD%" />',
         '<add key="ClearTextPassword" value="<<NUGET_TOKEN>>" />',
         '<add key="ClearTextPassword" value="[[Nuget.Key]]" />'),
        2.5, ("nuget.org",),
    ),
    token("cargo-token", "a crates.io token", "cio[A-Za-z0-9]{32}", f'token = "cio{fake(32)}"',
          needles=('"cio', "'cio", "=cio", " cio"), entropy=4.0, hosts=("crates.io",)),
    token("clojars-token", "a Clojars token", "(?i:CLOJARS_[a-z0-9]{60})", "CLOJARS_" + fake(60, HEX),
          needles=("clojars_",), hosts=("clojars.org",)),
    token("packagist-token", "a Packagist token", "packagist_[a-z]{3}_[0-9a-f]{68}", "packagist_uut_" + fake(68, HEX),
          hosts=("packagist.com",)),
    token("docker-token", "a Docker Hub token", "dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,32}", "dckr_pat_" + fake(27, URL),
          "dckr_oat_" + fake(32, URL), hosts=DOCKER),
    Format(
        "docker-auth", "a password of a Docker registry", ('"auth"',),
        r"\"auth\"\s{0,3}:\s{0,3}\"(?P<value>[A-Za-z0-9+/]{16,1000}={0,2})\"",
        (f'{{"auths": {{"registry.io": {{"auth": "{login(24)}"}}}}}}',), ('{"auth": "none"}',), 3.5, DOCKER,
    ),
    token("artifactory-key", "an Artifactory key", "AKCp[A-Za-z0-9]{69}", "AKCp8" + fake(68), miss=("AKCp" + fake(60),),
          hosts=JFROG),
    token("artifactory-reference-token", "an Artifactory reference token", "cmVmdGtu[A-Za-z0-9]{56}",
          "cmVmdGtu" + fake(56), hosts=JFROG),
    Format(
        "artifactory-header", "an Artifactory key", ("x-jfrog-art-api", "artifactory"),
        r"(?i:X-JFrog-Art-Api|artifactory)[\w:.-]{0,30}[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<value>A(?:P|KC)[A-Za-z0-9]{10,100})",
        (f"X-JFrog-Art-Api: AP6{fake(30)}", f"artifactory:_password=AP6{fake(30)}"),
        ("X-JFrog-Art-Api: $API_KEY", f"testAP6{fake(20)}"), 2.5, JFROG,
    ),
    assigned("jfrog-key", "a JFrog key", "jfrog artifactory bintray xray", "(?:[a-z0-9]{73}|[a-z0-9]{64})",
             fake(73, LOWER), fake(64, LOWER), hosts=JFROG),
    assigned("cloudsmith-key", "a Cloudsmith key", "cloudsmith", "(?:csa_)?[0-9a-f]{40}", fake(40, HEX),
             hosts=("cloudsmith.io",)),
    assigned("gemfury-token", "a Gemfury token", "gemfury fury", "[A-Za-z0-9]{20}", fake(20), words="token auth",
             entropy=3.2, hosts=("fury.io",)),
    assigned(
        "sidekiq-secret", "a Sidekiq licence", "BUNDLE_ENTERPRISE__CONTRIBSYS__COM BUNDLE_GEMS__CONTRIBSYS__COM",
        "[0-9a-f]{8}:[0-9a-f]{8}", f"{fake(8, HEX)}:{fake(8, HEX)[::-1]}", words="", entropy=0.0,
        hosts=("contribsys.com",),
    ),
    Format(
        "sidekiq-url", "a Sidekiq licence", (".contribsys.com",),
        r"https?://(?P<value>[0-9a-f]{8}:[0-9a-f]{8})@(?:gems|enterprise)\.contribsys\.com",
        (f"https://{fake(8, HEX)}:{fake(8, HEX)[::-1]}@gems.contribsys.com/",), ("https://gems.contribsys.com/",), 0.0,
        ("contribsys.com",),
    ),
    token("deno-token", "a Deno token", "dd[op]_[A-Za-z0-9]{36}", "ddp_" + fake(36), needles=("ddp_", "ddo_"),
          hosts=("deno.com", "deno.dev")),
    assigned("expo-token", "an Expo token", "expo", "[A-Za-z0-9_-]{40}", fake(40, URL), words="token", entropy=3.8,
             hosts=("expo.dev", "expo.io")),
    assigned(
        "apple-app-password", "an app-specific password of Apple", "apple fastlane itunes altool notary",
        "[a-z]{4}-[a-z]{4}-[a-z]{4}-[a-z]{4}", "-".join(fake(4, LOWER[:26])[::s] for s in (1, -1)) + "-qzkw-vbxj",
        words="pass", entropy=3.0, hosts=("apple.com",), miss=("apple_password = abcd-1234-efgh-5678",),
    ),
    assigned("octopus-key", "an Octopus Deploy key", "octopus", "API-[A-Z0-9]{26}", "API-" + fake(26, UPPER), words="",
             hosts=("octopus.app",), miss=("octopus=Garden-Coin_API-CalculadoraDeInvestimentos",)),
)  # fmt: skip
