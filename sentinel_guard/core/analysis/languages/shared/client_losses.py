"""Code in any language that takes things down through the client library of a service: boto3, qdrant, bullmq ...

Told by two things: the text loads such a library, and calls a method whose name says that something is lost. What
speaks to this machine, or only tries (``DryRun``), is left alone.
"""

from __future__ import annotations

import re

_SERVICES = (
    *("boto3", "botocore", "@aws-sdk", "aws-sdk", "google.cloud", "@google-cloud", "azure.", "@azure/", "kubernetes"),
    *(
        "qdrant",
        "pinecone",
        "weaviate",
        "chromadb",
        "milvus",
        "elasticsearch",
        "@elastic",
        "opensearch",
        "algoliasearch",
    ),
    *("stripe", "cloudflare", "firebase_admin", "firebase-admin", "supabase", "github", "octokit", "gitlab", "heroku"),
    *(
        "digitalocean",
        "linode",
        "hcloud",
        "openstack",
        "docker",
        "typesense",
        "meilisearch",
        "auth0",
        "twilio",
        "snowflake",
    ),
)
_HOSTED = ("huggingface_hub", "wandb", "mlflow", "sendgrid", "sentry_sdk", "datadog", "launchdarkly", "notion")
_QUEUES = (
    "redis",
    "bullmq",
    "'bull'",
    '"bull"',
    "kafka",
    "pika",
    "amqplib",
    "celery",
    "rq",
    "nats",
    "mongo",
    "mongoose",
)
_LOADS = re.compile(r"\b(?:import|from|require|use|using)\b[^\n;]*|\b(?:boto3|stripe)\.")
_TAKES_DOWN = re.compile(
    r"(?:\.|::)(?:(?:batch_?|force_?)?(?:delete|destroy|drop|purge|terminate|obliterate|recreate|wipe|deregister)\w*)\s*\("
    r"|\bnew (?:Delete|Terminate|Destroy|Purge)\w*Command\(",
    re.IGNORECASE,
)
_EMPTIES = re.compile(
    r"(?:\.|::)(?:obliterate|flush_?(?:all|db)|drop\w*|purge\w*|queue_(?:delete|purge)|delete_?topics?|destroy_all)\s*\("
    r"|\.delete_?[mM]any\(\s*(?:\{\s*\}\s*)?\)",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"localhost|127\.0\.0\.1|Ephemeral|:memory:|\bfakeredis\b|\bmoto\b|mongomock|\.from_env\(|DryRun\s*[=:]\s*[tT]rue|dry_run\s*=\s*True"
)


def lost(code: str) -> str:
    """The call by which something is lost elsewhere; empty for none."""
    loaded = " ".join(match[0] for match in _LOADS.finditer(code)).lower()
    if not loaded or _HERE.search(code):
        return ""
    takes = _TAKES_DOWN.search(code) if any(name in loaded for name in (*_SERVICES, *_HOSTED)) else None
    found = takes or (_EMPTIES.search(code) if any(name in loaded for name in _QUEUES) else None)
    return found[0].strip(".:( \n") if found else ""
