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


Hosts = tuple[str, ...]
"""What stands in the names of a service's own hosts."""


def owners(sources: Iterable[str], assigned: Container[str]) -> tuple[Hosts, ...]:
    """Whose the credentials are that words, as written, use; ``assigned``: made by the text, so that they are none."""
    names = dict.fromkeys(name for source in sources if "$" in source for name in _USED.findall(source))
    own = (_HOSTS.get(n.partition("_")[0]) for n in names if n not in assigned and names_credential(n))
    return tuple(hosts for hosts in own if hosts)


def of_program(name: str) -> Hosts:
    """Of whose service the token is that a program hands out: ``gh auth token``; empty where nobody knows."""
    return _HOSTS.get(name.upper(), ())


def goes_astray(address: str, credentials: Iterable[Hosts]) -> bool:
    """Whether a host of somebody else is sent one of these."""
    host = network_addresses.host(address).lower()
    if "." not in host or network_addresses.is_local_address(address):
        return False
    return any(not any(part in host for part in own) for own in credentials)
