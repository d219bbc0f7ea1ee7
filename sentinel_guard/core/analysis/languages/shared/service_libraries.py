"""Names of libraries by which code speaks to services elsewhere: clouds, stores, forges, payment, mail, trackers."""

from __future__ import annotations

import re
from collections.abc import Collection

from sentinel_guard.core.analysis.languages.shared.local_receivers import first_elsewhere

SERVICES = (
    # clouds and clusters
    *("boto3", "botocore", "@aws-sdk", "aws-sdk", "google.cloud", "googleapiclient", "@google-cloud", "googleapis"),
    *("azure.", "@azure/", "kubernetes", "digitalocean", "linode", "hcloud", "openstack", "novaclient", "docker"),
    *("heroku", "cloudflare", "vercel", "netlify", "firebase_admin", "firebase-admin", "supabase", "proxmoxer"),
    *("pyvmomi", "libcloud", "pulumi", "nomad", "consul", "consulate", "aioconsul", "hvac", "etcd3", "kazoo"),
    *("pynetbox", "scaleway", "ovh"),
    # stores
    *("qdrant", "pinecone", "weaviate", "chromadb", "milvus", "elasticsearch", "@elastic", "opensearch"),
    "algoliasearch",
    *("typesense", "meilisearch", "snowflake", "databricks", "bigquery", "influxdb", "couchbase", "neo4j", "minio"),
    # forges, registries, models
    *("github", "octokit", "gitlab", "gitea", "bitbucket", "huggingface_hub", "wandb", "mlflow", "neptune", "clearml"),
    # money, mail, people
    *("stripe", "paypal", "braintree", "adyen", "square", "plaid", "paddle", "twilio", "sendgrid", "mailchimp"),
    "resend",
    *("mailgun", "postmark", "auth0", "okta", "workos", "clerk", "ldap3", "msgraph", "o365", "gspread"),
    *("slack", "discord"),
    *("telegram", "jira", "atlassian", "linear", "asana", "trello", "zendesk", "intercom", "hubspot", "salesforce"),
    *("shopify", "woocommerce", "notion", "airtable", "contentful", "sanity", "dropbox", "boxsdk", "pagerduty"),
    *("opsgenie", "datadog", "sentry_sdk", "newrelic", "grafana", "launchdarkly", "unleash", "segment", "posthog"),
)
"""As they stand in a line that loads them, in small letters."""
LOADS = re.compile(r"\b(?:import|from|require|use|using)\b[^\n;]*|\b(?:boto3|stripe)\.|\b[A-Z]\w+(?=::[A-Z])")
"""What loads a library."""


_ALSO_WORDS = frozenset(("linear", "square", "segment", "paddle", "consul", "sanity", "rq"))
"""Names that are parts of others, too (``sklearn.linear_model``, ``pyarrow.parquet``)."""
_AS_A_PACKAGE = re.compile(
    rf"(?:(?<![a-z0-9.])|(?<=\bcom\.))({'|'.join(_ALSO_WORDS)})(?:hq|up|connect|_?(?:sdk|client|api|analytics|billing))?(?!\w)"
)
_TAKEN = re.compile(r"(\bfrom [\w.]+ import\b)[^\n]*")
"""What Python takes out of a module: ``from torch.nn import Linear``."""


def loaded(code: str) -> str:
    """The lines that load libraries, in small letters."""
    return "\n".join(match[0] for match in LOADS.finditer(code)).lower()


def names_any(lines: str, libraries: Collection[str]) -> bool:
    """Whether lines that load libraries name one of these."""
    if any(name in lines for name in libraries if name not in _ALSO_WORDS):
        return True
    return any(match[1] in libraries for match in _AS_A_PACKAGE.finditer(_TAKEN.sub(r"\1", lines)))


_RIGHTS = re.compile(
    r"\bprivate\s*[=:]\s*[Ff]alse|\bvisibility\s*[=:]\s*['\"]public|\bACL\s*[=:]\s*['\"]public|\bmake_public\(|\ballUsers\b|"
    r"\b(?:role|permission)\s*[=:]\s*['\"](?:admin|owner|maintain)|\badd_to_collaborators\(|\bPublicAccessBlock|"
    r"\bremove_protection\(|\bdelete_branch_protection\(|0\.0\.0\.0/0"
)
_KEPT = r"issue|pull|request|\bpr|\bmr|ticket|card|case|incident|alert|order|account|discussion|thread|channel|poll"
_ACTS = re.compile(
    r"\.(?:pay|refund|cancel|void_invoice|finalize_invoice|charge|capture|archive|deactivate|suspend|disable|invite|archive|trash|ban|kick|unpublish|"
    r"edit|transition_issue|add_comment|create_comment|create_issue|update_user|chat_postMessage|post_message|publish|"
    r"(?:refunds?|payouts?|transfers?|charges?|Refund|Payout|Transfer|Charge|PaymentIntent|Invoice)\.create)\s*\("
    rf"|\.?\b\w*(?:{_KEPT})s?\.close\("
    r"|\bfor\b[ (]{0,2}(?:const |let |var )?(?P<one>\w{1,40}) (?:in|of)\b"
    rf"(?=[^\n]{{0,120}}?(?:{_KEPT})s?\b)[^\n:{{]{{0,120}}[:{{)]\s{{0,40}}(?:await )?(?P=one)\.close\("
)
"""Files, figures and connections are closed, too."""
_CLOUDS = (
    *("boto3", "botocore", "aws-sdk", "google.cloud", "googleapiclient", "@google-cloud", "azure"),
    *("kubernetes", "openstack"),
    *("digitalocean", "linode", "hcloud", "cloudflare", "heroku", "libcloud", "slack", "huggingface_hub", "stripe"),
)
"""Those whose command lines are asked about for what they change."""
_CHANGES = re.compile(
    r"\.(?:create|put|modify|update|attach|detach|authorize|revoke|stop|start|reboot|run|patch|replace|enable|disable|"
    r"associate|invoke|send|publish|change|cancel|deregister|disassociate|transfer|restore|reset|suspend)_(?!object\b|paginator|session|client|presigned|kubeconfig|query|metric|engine|index\b)\w+\("
    r"|\bnew (?:Create|Put|Modify|Update|Attach|Authorize|Stop|Start|Run|Invoke|Publish|Send)"
    r"(?!Object|Multipart)\w*Command\("
    r"|\.chat_?[pP]ost_?Message\(|\.chat\.postMessage\(|\.upload_(?:folder|file)\(\s*\w*(?:folder|path)\w*=|"
    r"\.(?:refunds|payouts|transfers|charges|Refund|Payout|Transfer|Charge)\.create\("
)
_HERE = re.compile(
    r"localhost|127\.0\.0\.1|\bmoto\b|mock_aws|endpoint_url|DryRun\s*[=:]\s*[tT]rue|dry_run\s*=\s*['\"]?(?:True|All)"
)
_MANY = re.compile(r"\bfor\b|\bwhile\b|\.map\(|[._](?:for)?[eE]ach(?:_\w+)?\b|\bforeach\b|Promise\.all")


def acts(code: str) -> str:
    """What code does to others through such a library: a right that it gives, an act on each of many; else empty."""
    lines = loaded(code)
    if not lines or not names_any(lines, SERVICES) or _HERE.search(code):
        return ""
    found = first_elsewhere(_CHANGES, code) if names_any(lines, _CLOUDS) else None
    found = found or _RIGHTS.search(code) or (first_elsewhere(_ACTS, code) if _MANY.search(code) else None)
    return found[0].strip(".( ") if found else ""
