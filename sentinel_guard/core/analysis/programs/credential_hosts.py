"""Whether a credential is sent to its own service: ``$OPENAI_API_KEY`` belongs to openai.com and to nobody else.

Told by the first word of the variable's name, of services that everybody knows; a name that says no service belongs
anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from sentinel_guard.core.analysis import network_addresses
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.one_key import SUBSTITUTION
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.secret_names import names_credential
from sentinel_guard.core.model import Effect

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


_GIVERS: dict[str, tuple[str, ...]] = {
    "OPENAI": ("api.openai.com",), "ANTHROPIC": ("api.anthropic.com",), "DEEPSEEK": ("api.deepseek.com",),
    "MISTRAL": ("api.mistral.ai", "codestral.mistral.ai"), "GROQ": ("api.groq.com",), "OPENROUTER": ("openrouter.ai",),
    "TOGETHER": ("api.together.xyz", "api.together.ai"), "COHERE": ("api.cohere.com", "api.cohere.ai"),
    "PERPLEXITY": ("api.perplexity.ai",), "XAI": ("api.x.ai",), "FIREWORKS": ("api.fireworks.ai",),
    "CEREBRAS": ("api.cerebras.ai",), "REPLICATE": ("api.replicate.com",), "ELEVENLABS": ("api.elevenlabs.io",),
    "DEEPGRAM": ("api.deepgram.com",), "TAVILY": ("api.tavily.com",), "VOYAGE": ("api.voyageai.com",),
    "MOONSHOT": ("api.moonshot.ai", "api.moonshot.cn"), "SERPER": ("google.serper.dev",),
    **dict.fromkeys(("GEMINI", "GOOGLE"), ("generativelanguage.googleapis.com",)),
    **dict.fromkeys(("HF", "HUGGINGFACE", "HUGGING"),
                    ("huggingface.co", "api-inference.huggingface.co", "router.huggingface.co")),
    **dict.fromkeys(("GITHUB", "GH"), ("api.github.com", "uploads.github.com", "models.github.ai")),
    **dict.fromkeys(("GITLAB", "GL"), ("gitlab.com",)), "STRIPE": ("api.stripe.com", "files.stripe.com"),
    "SENDGRID": ("api.sendgrid.com",), "MAILGUN": ("api.mailgun.net", "api.eu.mailgun.net"),
    "RESEND": ("api.resend.com",),
    "POSTMARK": ("api.postmarkapp.com",), "TWILIO": ("api.twilio.com", "verify.twilio.com"),
    "TELEGRAM": ("api.telegram.org",), "SLACK": ("slack.com", "files.slack.com"), "DISCORD": ("discord.com",),
    "NOTION": ("api.notion.com",), "LINEAR": ("api.linear.app",), "AIRTABLE": ("api.airtable.com",),
    "FIGMA": ("api.figma.com",), "SUPABASE": ("api.supabase.com",), "VERCEL": ("api.vercel.com",),
    "NETLIFY": ("api.netlify.com",), "HEROKU": ("api.heroku.com",), "RENDER": ("api.render.com",),
    **dict.fromkeys(("CLOUDFLARE", "CF"), ("api.cloudflare.com",)), "FLY": ("api.fly.io", "api.machines.dev"),
    **dict.fromkeys(("DIGITALOCEAN", "DO"), ("api.digitalocean.com",)), "SNYK": ("api.snyk.io",),
    "SENTRY": ("sentry.io", "us.sentry.io", "de.sentry.io"), "PINECONE": ("api.pinecone.io",),
    **dict.fromkeys(("DATADOG", "DD"), ("api.datadoghq.com", "api.datadoghq.eu")), "NPM": ("registry.npmjs.org",),
}  # fmt: skip
"""First word of a key's name -> the hosts at which the service itself, and nobody who rents there, reads what comes."""
_HOST = re.compile(r"https://([A-Za-z0-9.-]+)(?::443)?(?:[/?].*)?", re.DOTALL)
_PLAIN = frozenset((
    "-s", "--silent", "-S", "--show-error", "-f", "--fail", "--fail-with-body", "-X", "--request", "-d", "--data",
    "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "-H", "--header", "-G",
    "--get", "-o", "--output", "-w", "--write-out", "-m", "--max-time", "--connect-timeout", "-q", "--retry",
    "--retry-delay", "--retry-max-time", "--retry-all-errors", "-N", "--no-buffer", "--compressed", "-i", "--include",
    "-I", "--head", "-u", "--user", "--oauth2-bearer", "--url", "-L", "--location", "-4", "-A", "--user-agent",
    "--http1.1", "--http2", "--no-progress-meter", "-g", "--globoff",
))  # fmt: skip
"""Options of curl with which it asks whom it is told to, as securely as ever, and shows nothing that it sends."""
_VALUE = rf"(?:\$[A-Za-z_]\w*|\$\{{[A-Za-z_]\w*\}}|{SUBSTITUTION})"
_AUTHORIZATION = re.compile(rf"[\"']?(?i:authorization):[ ]?(?:[A-Za-z-]+[ ])?[\"']?{_VALUE}[\"']?")
_TAKES = re.compile(rf"[\"']?(?i:[\w-]*(?:key|token|auth|secret)[\w-]*):[ ]?[\"']?{_VALUE}[\"']?")
_USER = re.compile(rf"[\"']?(?:\w*|{_VALUE}):?[\"']?{_VALUE}?:?[\"']?")
_IN_ADDRESS = re.compile(
    r"[\"']?https://(?:api\.telegram\.org/(?:file/)?bot|generativelanguage\.googleapis\.com/[\w/.:-]*\?key=)"
    rf"{_VALUE}(?:/[\w/?=&.%-]*)?[\"']?"
)
"""The services that read a key there."""
_SETTINGS = re.compile(r"(?i)(?:https?|all|no)_proxy|curl_\w+|ssl\w+|home|xdg_config_home|path|ld_\w+")


def is_used(read: Effect, send: Effect) -> bool:
    """Whether all that may go of what is read is a key, to the service that gave it, to log in there."""
    return "key" in read.how and "login" in send.how and gives(send.target, read.written)


def gives(address: str, names: Iterable[str]) -> bool:
    """Whether an address is, for certain, of the service whose keys are called so."""
    found = _HOST.fullmatch(address)
    return found is not None and all(
        any(found[1].lower() in _GIVERS.get(part.upper().partition("_")[0], ()) for part in name.split("."))
        for name in names
    )


def logs_in(call: Call, urls: Sequence[Field], sent: Sequence[Field]) -> bool:
    """Whether all that is not known of what curl is told are keys, where services take theirs."""
    own = (f"{call.scope.home}/.curlrc", f"{call.scope.home}/.config/curlrc")
    if not call.command.flags <= _PLAIN or call.command.program != "curl" or any(map(call.world.kind, own)):
        return False
    astray = call.scope.is_on("xtrace") or any(map(_SETTINGS.fullmatch, call.scope.variables))
    if astray or any(_is_made(call, item) for item in sent):
        return False
    stays = not call.has("-L", "--location")  # else other headers than that one go to wherever the service leads
    headers = call.parsed.values("-H", "--header")
    keys = [i for i in headers if _AUTHORIZATION.fullmatch(i.source) or (stays and _TAKES.fullmatch(i.source))]
    keys += [i for i in call.parsed.values("-u", "--user", "--oauth2-bearer") if _USER.fullmatch(i.source)]
    keys += [i for i in urls if stays and _IN_ADDRESS.fullmatch(i.source)]
    return bool(keys) and all(item.known or any(item is key for key in keys) for item in call.fields)


def _is_made(call: Call, item: Field) -> bool:
    """Whether what is sent stands in a file that this text wrote, or comes by a pipe: a key may be in it."""
    at, named = item.text.rpartition("@")[1:] if "@" in item.text else item.text.rpartition("=<")[1:]
    files = re.split("[,;]", named) if at else ()
    unknown = UNKNOWN in call.stdin or "$" in call.stdin
    return any(unknown if file == "-" else call.locate(file) in call.world.made() for file in files)
