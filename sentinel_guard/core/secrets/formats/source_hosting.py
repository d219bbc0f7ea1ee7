"""Secret formats of source code hosts: GitHub, GitLab, Bitbucket and the like."""

from __future__ import annotations

from sentinel_guard.core.secrets.formats.base import HEX, HEX40, LOWER, UPPER, URL, assigned, fake, token
from sentinel_guard.core.secrets.model import Format

GITHUB = ("github.com", "githubusercontent.com", "ghcr.io", "githubcopilot.com")
GITLAB = ("gitlab.com",)
ATLASSIAN = ("atlassian.com", "atlassian.net", "bitbucket.org")
GITLAB_20 = "[A-Za-z0-9_-]{20,50}"
ROUTABLE = r"[A-Za-z0-9_-]{27,300}\.[0-9a-z]{2}[0-9a-z]{7}"

# The last six characters of a GitHub token are the CRC-32 of the rest in base 62. It is not asked for: whoever leaks a
# token with a typing error leaks a token, and a placeholder has no random characters.
FORMATS: tuple[Format, ...] = (
    token(
        "github-pat", "a GitHub personal access token", "ghp_[A-Za-z0-9]{36}", "ghp_" + fake(36),
        miss=("ghp_" + fake(20), "ghp_" + "x" * 36, "ghp_" + fake(60)), hosts=GITHUB,
    ),
    token("github-oauth", "a GitHub OAuth token", "gho_[A-Za-z0-9]{36}", "gho_" + fake(36), hosts=GITHUB),
    token(
        "github-app-token", "a GitHub app token", "gh[us]_[A-Za-z0-9]{36}", "ghu_" + fake(36), "ghs_" + fake(36),
        needles=("ghu_", "ghs_"), hosts=GITHUB,
    ),
    token(
        "github-refresh-token", "a GitHub refresh token", "ghr_[A-Za-z0-9]{36,76}", "ghr_" + fake(36),
        "ghr_" + fake(76), hosts=GITHUB,
    ),
    token(
        "github-fine-grained-pat", "a fine-grained GitHub token", "github_pat_[A-Za-z0-9_]{82}",
        f"github_pat_{fake(22)}_{fake(59)}", miss=("github_pat_" + fake(40),), hosts=GITHUB,
    ),
    token(
        "gitlab-pat", "a GitLab personal access token", f"glpat-{GITLAB_20}", "glpat-" + fake(20, URL),
        miss=("glpat-" + fake(12), "glpat-" + "x" * 20), hosts=GITLAB,
    ),
    token(
        "gitlab-pat-routable", "a GitLab personal access token", f"glpat-{ROUTABLE}",
        f"glpat-{fake(40, URL)}.{fake(9, LOWER)}", hosts=GITLAB,
    ),
    token(
        "gitlab-deploy-token", "a GitLab deploy token", f"gldt-{GITLAB_20}", "gldt-" + fake(20, URL),
        miss=("gldt-" + fake(16, URL),), hosts=GITLAB,
    ),
    token("gitlab-feed-token", "a GitLab feed token", f"glft-{GITLAB_20}", "glft-" + fake(20, URL), hosts=GITLAB),
    token("gitlab-scim-token", "a GitLab SCIM token", f"glsoat-{GITLAB_20}", "glsoat-" + fake(20, URL), hosts=GITLAB),
    token(
        "gitlab-runner-token", "a GitLab runner token", f"glrtr?-{GITLAB_20}", "glrt-" + fake(20, URL),
        needles=("glrt-", "glrtr-"), hosts=GITLAB,
    ),
    token(
        "gitlab-runner-token-routable", "a GitLab runner token", rf"glrtr?-t\d_{ROUTABLE}",
        f"glrt-t1_{fake(27, URL)}.{fake(9, LOWER)}", needles=("glrt-t", "glrtr-t"), hosts=GITLAB,
    ),
    token(
        "gitlab-runner-registration", "a GitLab runner registration token", "GR1348941[A-Za-z0-9_-]{20,50}",
        "GR1348941" + fake(20, URL), miss=("GR1348941" + "X" * 20,), hosts=GITLAB,
    ),
    token(
        "gitlab-job-token", "a GitLab CI job token", "glcbt-[A-Za-z0-9]{1,5}_[A-Za-z0-9_-]{20}",
        f"glcbt-{fake(2, HEX)}_{fake(20, URL)}", hosts=GITLAB,
    ),
    token(
        "gitlab-trigger-token", "a GitLab pipeline trigger token", "glptt-[A-Za-z0-9_-]{40}", "glptt-" + fake(40, HEX),
        miss=("glptt-" + fake(20), "glptt-" + "x" * 40), hosts=GITLAB,
    ),
    token(
        "gitlab-agent-token", "a GitLab agent token", "glagent-[A-Za-z0-9_-]{50,300}", "glagent-" + fake(50, URL),
        hosts=GITLAB,
    ),
    token(
        "gitlab-oauth-secret", "a GitLab OAuth application's secret", "gloas-[A-Za-z0-9_-]{64}",
        "gloas-" + fake(64, URL), miss=("gloas-" + fake(40),), hosts=GITLAB,
    ),
    token(
        "gitlab-mail-token", "a GitLab incoming mail token", "glimt-[A-Za-z0-9_-]{25}", "glimt-" + fake(25, URL),
        hosts=GITLAB,
    ),
    token(
        "gitlab-feature-flag-token", "a GitLab feature flag token", "glffct-[A-Za-z0-9_-]{20}",
        "glffct-" + fake(20, URL), hosts=GITLAB,
    ),
    token(
        "gitlab-session", "a GitLab session", "_gitlab_session=[0-9a-z]{32}", "_gitlab_session=" + fake(32, LOWER),
        hosts=GITLAB,
    ),
    token(
        "atlassian-token", "an Atlassian API token", "AT[AS]TT3xFfGF[A-Za-z0-9_=-]{100,300}",
        f"ATATT3xFfGF0{fake(170, URL)}={fake(8, UPPER)}", needles=("atatt3xff", "atstt3xff"), hosts=ATLASSIAN,
    ),
    assigned(
        "atlassian-old-token", "an Atlassian API token", "atlassian confluence jira trello", "[a-z0-9]{24}",
        fake(24, LOWER), miss=("getPagesInConfluenceSpace,searchConfluenceUsing",), entropy=3.2, hosts=ATLASSIAN,
    ),
    token(
        "bitbucket-app-password", "a Bitbucket app password", "ATBB[A-Za-z0-9_=.-]{32}", "ATBB" + fake(32),
        hosts=ATLASSIAN,
    ),
    token(
        "bitbucket-repository-token", "a Bitbucket repository token", "ATCTT3xFfG[A-Za-z0-9_=-]{100,300}",
        f"ATCTT3xFfGN0{fake(170, URL)}={fake(8, UPPER)}", hosts=ATLASSIAN,
    ),
    assigned(
        "bitbucket-client-id", "a Bitbucket client id", "bitbucket", "[a-z0-9]{32}", fake(32, LOWER), hosts=ATLASSIAN,
    ),
    assigned(
        "bitbucket-client-secret", "a Bitbucket client secret", "bitbucket", "[a-z0-9=_-]{64}", fake(64, LOWER),
        hosts=ATLASSIAN,
    ),
    assigned("trello-key", "a Trello API key", "trello", "[A-Za-z0-9-]{32}", fake(32, HEX), hosts=("trello.com",)),
    token("trello-token", "a Trello token", "ATTA[0-9a-f]{64}[0-9A-F]{8}", f"ATTA{fake(64, HEX)}{fake(8, '0123ABF')}",
          hosts=("trello.com",)),
    token(
        "azure-devops-pat", "an Azure DevOps token", "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", fake(76) + "AZDO" + fake(4),
        needles=("azdo",), hosts=("azure.com", "visualstudio.com"),
    ),
    assigned(
        "azure-devops-old-pat", "an Azure DevOps token", "azure[_-]?devops azdo vsts ado system[_-]?access",
        "[a-z2-7]{52}", fake(52, "abcdefghijklmnopqrstuvwxyz234567"), hosts=("azure.com", "visualstudio.com"),
        needles=("devops", "azdo", "vsts", "ado_", "ado-", "system_access", "systemaccess", "system-access"),
    ),
    assigned(
        "gitea-token", "a Gitea or Forgejo token", "gitea forgejo codeberg gogs", HEX40, fake(40, HEX),
        hosts=("codeberg.org", "gitea.com"), words="token pat api[_-]?key access pass",
    ),
    token(
        "sourcegraph-token", "a Sourcegraph token", "sgp_(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}",
        f"sgp_local_{fake(40, HEX)}", f"sgp_{fake(16, HEX)}_{fake(40, HEX)}", f"sgp_{fake(40, HEX)}",
        miss=(f"sgp_local_{fake(39, HEX)}G",), hosts=("sourcegraph.com",),
    ),
    token("sourcegraph-license", "a Sourcegraph licence key", "slk_[A-Fa-f0-9]{64}",
          "slk_" + fake(64, HEX), hosts=("sourcegraph.com",)),
    assigned("sourcegraph-old-token", "a Sourcegraph token", "sourcegraph", HEX40, fake(40, HEX),
             hosts=("sourcegraph.com",)),
    assigned(
        "gitter-token", "a Gitter token", "gitter", "[a-z0-9_-]{40}", fake(40, LOWER), hosts=("gitter.im",),
    ),
    assigned("launchpad-secret", "a Launchpad OAuth secret", "launchpad", "[a-z0-9]{80}", fake(80, LOWER),
             hosts=("launchpad.net",)),
)  # fmt: skip
