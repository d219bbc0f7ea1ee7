"""Whether a credential is sent to its own service: ``$OPENAI_API_KEY`` belongs to openai.com and to nobody else.

Told by the first word of the variable's name, of services that everybody knows; a name that says no service belongs
anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from sentinel_guard.core.analysis import network_addresses
from sentinel_guard.core.analysis.secret_names import names_credential

_USED = re.compile(r"\$\{?([A-Z][A-Z0-9_]*)")
_HOSTS: dict[str, tuple[str, ...]] = {
    "OPENAI": ("openai", "azure", "openrouter", "litellm"),
    "ANTHROPIC": ("anthropic", "claude", "litellm"),
    **dict.fromkeys(("GITHUB", "GH"), ("github", "ghcr", "githubcopilot")),
    **dict.fromkeys(("GITLAB", "GL"), ("gitlab",)),
    **dict.fromkeys(("AWS",), ("amazonaws", "aws", "s3", "minio", "cloudflarestorage", "digitaloceanspaces")),
    **dict.fromkeys(("HF", "HUGGINGFACE", "HUGGING"), ("huggingface", "hf.co", "hf.space")),
    "NPM": ("npmjs", "npm"), "PYPI": ("pypi",), "STRIPE": ("stripe",), "SLACK": ("slack",), "TWILIO": ("twilio",),
    "SENDGRID": ("sendgrid",), "MAILGUN": ("mailgun",), "DATADOG": ("datadog", "datadoghq"), "SENTRY": ("sentry",),
    **dict.fromkeys(("CLOUDFLARE", "CF"), ("cloudflare",)), "VERCEL": ("vercel",), "NETLIFY": ("netlify",),
    **dict.fromkeys(("DIGITALOCEAN", "DO"), ("digitalocean",)), "HEROKU": ("heroku",), "SUPABASE": ("supabase",),
    "GEMINI": ("google",), "GOOGLE": ("google",), "AZURE": ("azure", "microsoft", "windows"), "MISTRAL": ("mistral",),
    "DISCORD": ("discord",), "TELEGRAM": ("telegram",), "NOTION": ("notion",), "LINEAR": ("linear",),
    "JIRA": ("atlassian",), "DOCKER": ("docker",), "FLY": ("fly",), "RAILWAY": ("railway",), "SNYK": ("snyk",),
}  # fmt: skip
"""First word of a name -> what stands in the names of its hosts."""


def goes_astray(address: str, sources: Iterable[str], assigned: Container[str]) -> bool:
    """Whether words, as written, send such a credential to a host of somebody else; ``assigned``: made by the text."""
    host = network_addresses.host(address).lower()
    if "." not in host or network_addresses.is_local_address(address):
        return False
    for source in sources:
        for name in _USED.findall(source) if "$" in source else ():
            own = _HOSTS.get(name.partition("_")[0])
            if own and name not in assigned and names_credential(name) and not any(part in host for part in own):
                return True
    return False
