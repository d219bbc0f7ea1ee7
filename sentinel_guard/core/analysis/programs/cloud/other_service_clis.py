"""CLIs of other hosted services (stripe, twilio, b2, hdfs …): their names, and one table of destructive subcommands.

The verb is told by the first words: ``stripe customers delete``, ``twilio phone-numbers:remove``, ``b2 delete-bucket``.
What asks, tries or helps is quiet; whatever else no row names does nothing. Those whose verbs are options, or mean
something of their own, have rows of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import (
    local_clusters,
    local_ends,
    local_registries,
    remote_commands,
    service_requests,
)
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_VERBS = ("delete", "del", "rm", "rmr", "remove", "destroy", "drop", "purge", "terminate", "wipe", "erase", "reset",
          "deregister", "forget", "prune", "trim", "gc", "uninstall", "down", "nuke", "zeroize",
          "decommission")  # fmt: skip
_GONE = "|".join((*_VERBS, *(f"*:{verb}" for verb in _VERBS), *(f"{verb}-*|{verb}_*" for verb in _VERBS)))
_ENDS = "|".join(f"*-{verb}" for verb in ("delete", "remove", "purge", "destroy"))
_READ = (
    "list|ls|show|get|describe|status|info|inspect|view|search|help|version|login|logout|whoami|config|completion|"
    "run|exec"
)
_RUNS = "run|exec delete|destroy|purge|wipe|terminate|reset"
_TRIED = "** --dry-run !--dry-run=none !--dry-run=false, ** --dryrun|--help|-h|--version|--list"
QUIET = f"{_TRIED}, {_READ}, * {_READ}"
"""What asks, tries or helps."""
SERVICE = table(quiet=_TRIED, destroy=_RUNS, quiet2=QUIET, destroy2=f"{_GONE}|{_ENDS}, * {_GONE}|{_ENDS}, * * {_GONE}")
"""The verb stands first, second or third."""

_NAMES = (
    # accounts, payment, content
    *("stripe", "twilio", "atlas", "fastly", "circleci", "doppler", "op", "bw", "apigeecli", "apigee", "sentry-cli"),
    *("algolia", "sanity", "contentful", "supertokens", "launchdarkly", "ldcli", "newrelic", "datadog-ci"),
    *("neonctl", "neon", "pscale", "xata", "mongocli", "redisctl", "upstash", "cloudflared", "flarectl", "cfcli"),
    *("sendgrid", "postmark", "mailgun", "auth0", "okta", "jira", "linear", "acli", "pd", "opsgenie"),
    *("akamai", "ns1", "dnscontrol", "octodns-sync", "cli53", "route53", "vcd", "govc", "packet", "metal", "equinix"),
    # queues, stores, clusters
    *("nats", "rabbitmqadmin", "pulsar-admin", "pulsarctl", "kafkactl", "kcat", "rpk", "kaf", "zkCli", "zkCli.sh"),
    *("zkcli", "ceph", "gluster", "rbd", "rados", "radosgw-admin", "pcs", "crm", "samba-tool", "ipa", "solr", "barman"),
    *("wal-g", "wal-e", "snapper", "velero", "linstor", "longhornctl", "kopia", "duplicacy", "weed", "juicefs"),
    *("b2", "ossutil", "ossutil64", "oss", "coscmd", "coscli", "bcecmd", "obsutil", "nova", "cinder"),
    *("glance", "neutron", "manila", "trove", "heat", "ironic", "designate", "certbot", "lego"),
    *("occ", "ipfs-cluster-ctl", "elastic", "curator_cli", "ecctl", "logstash-plugin", "typesense", "meilisearch"),
    # clusters: whoever deploys to them, and what they are made of
    *("telepresence", "talosctl", "omnictl", "rke", "kubeadm", "k0sctl"),
    *("ytt", "kbld", "imgpkg", "crossplane", "karmadactl", "vcluster", "loft", "kubeone", "kots"),
    *("cilium", "calicoctl", "hubble", "kubectx", "kubens", "stern", "operator-sdk", "tkn", "kubeseal", "cmctl"),
    *("buildah", "crictl", "ctr", "crane", "regctl", "skopeo", "oras", "harbor", "cosign", "notation"),
    # data, learning, workflows
    *("airflow", "astro", "prefect", "dagster", "dagster-cloud", "meltano", "airbyte", "abctl", "luigi", "flyte"),
    *("pyflyte", "mlflow", "wandb", "clearml", "comet", "kaggle", "modal", "replicate", "cog", "runpodctl", "vastai"),
    *("sky", "sagemaker", "lightning", "huggingface-cli", "hf", "lakectl", "nessie", "dremio", "fivetran", "dbt-cloud"),
    *("duckdb-cloud", "motherduck", "timescale", "tiger", "aiven", "avn", "cratedb", "milvus_cli", "qdrant"),
    *("tiup", "ticloud", "mongocli", "mongosync", "astra", "fauna", "fauna-shell", "appwrite", "pb", "nhost"),
    "directus",
    *("tctl", "tdbg", "zbctl", "camunda", "inngest", "trigger", "sidekiqctl", "sidekiq", "bull", "faktory-cli"),
    "goodjob",
    # what is watched, who is called
    *("grafanactl", "grafana-cli", "grafana", "gcx", "mimirtool", "cortextool", "lokitool", "logcli", "tempo-cli"),
    *("amtool", "promtool", "thanos", "influxd", "chronograf", "datadog", "honeycomb", "sentry", "rollbar"),
    *("newrelic-cli", "logdna", "coralogix", "checkly", "uptime", "statuspage", "incident", "rootly", "firehydrant"),
    # identities, secrets, networks
    *("boundary", "tsh", "teleport", "step", "cfssl", "keycloak", "kcadm", "kcadm.sh", "kratos", "hydra", "ory"),
    *("fga", "clerk", "workos", "descope", "stytch", "infisical", "dotenvx", "akeyless", "conjur", "bws", "envkey"),
    *("netbird", "zerotier-cli", "headscale", "nebula", "wgcf", "unbound-control", "rndc", "pdnsutil"),
    *("knotc", "nsdc", "dnscontrol", "namecheap", "godaddy", "porkbun", "gandi", "dnsimple", "cloudflare", "cf-cli"),
    # accounts of customers, content, flags
    *("plaid", "paddle", "chargebee", "recurly", "braintree", "adyen", "square", "lemonsqueezy", "polar", "medusa"),
    *("launchdarkly", "flagsmith", "unleash", "growthbook", "statsig", "configcat", "flipt", "optimizely"),
    *("posthog", "segment", "mixpanel", "amplitude", "hubspot", "hs", "sf", "sfdx", "zendesk", "zcli", "intercom"),
    *("notion", "ntn", "airtable", "webflow", "strapi", "payload", "ghost", "storyblok", "prismic", "hygraph"),
    "umbraco",
    *("resend", "sendgrid-cli", "mailchimp", "customerio", "vonage", "plivo", "telnyx", "slack", "discord-cli"),
    "zulip",
    # builds and forges elsewhere
    *("buildkite-agent", "bk", "drone", "woodpecker-cli", "travis", "semaphore", "codefresh", "harness-cli", "jf"),
    *("jfrog", "jenkins-cli", "tea", "fj", "berg", "bitbucket", "azdo", "sonar", "codecov", "snyk", "depot", "eas"),
    *("bitrise", "appcenter", "fastlane", "codemagic-cli-tools", "shorebird", "backlog", "clickup", "trello", "asana"),
    # copies kept elsewhere
    *("autorestic", "resticprofile", "rustic", "bupstash", "tarsnap", "proxmox-backup-client", "urbackup", "veeam"),
    *("k8up", "percona-xtrabackup", "pgcopydb", "litestream", "wal-g-mongo", "pbm", "medusa-cassandra"),
)
_SNAPSHOTS = table(quiet="** --dry-run|-n|--help", destroy="forget, prune, delete, recreate, key|tag remove, rewrite")
_HADOOP = table(
    quiet="** -help",
    destroy="dfs|fs ** -rm|-rmr|-rmdir|-expunge|-deleteSnapshot|-truncate, namenode ** -format, "
    "haadmin ** -failover|-transitionToStandby, fsck ** -delete, dfsadmin ** -rollEdits, job|application ** -kill",
)
_KAFKA = table(
    destroy="** --delete|--delete-offsets|--remove|--offset-json-file|--execute",
    change="** --alter|--add-config|--delete-config",
)
"""Offsets are reset, and partitions moved, with ``--execute`` only."""
TABLES: dict[str, tuple[Row, ...]] = {
    **dict.fromkeys(_NAMES, SERVICE),
    "atlas": table(quiet=QUIET, destroy=f"* {_GONE}, * * {_GONE}", change="schema|migrate ** apply, schema apply"),
    "stripe": table(quiet=f"{QUIET}, ** list|retrieve|search", destroy=f"* {_GONE}, * cancel|void|detach|deactivate",
                    change="refunds|payouts|transfers|charges|payment_intents create --live, ** --live"),
    "scancel": table(destroy="** -u|--user|-A|--account|-p|--partition, . -u|--user|-A|--account"),
    "nats": (*SERVICE, *table(destroy="* * edit ** -f|--force")),
    **dict.fromkeys(("zkCli", "zkCli.sh", "zkcli"), table(quiet=QUIET, destroy="** deleteall|delete|rmr")),
    **dict.fromkeys(("pulsar-admin", "pulsarctl"), (*SERVICE, *table(destroy="* truncate|unload|clear-backlog"))),
    **dict.fromkeys(("hdfs", "hadoop", "yarn-cluster", "mapred"), _HADOOP),
    **dict.fromkeys((f"kafka-{tool}{end}" for end in ("", ".sh") for tool in (
        "consumer-groups", "configs", "acls", "delete-records", "reassign-partitions", "leader-election",
        "streams-application-reset")), _KAFKA),
    "rabbitmqctl": table(
        quiet="list_*|status|*_status|help|eval|environment|version|report|ping|wait",
        destroy="delete_*|purge_*|clear_*|stop*|shutdown|reset|force_*|forget_*|remove_*|close_*|hard_reset",
    ),
    "ceph": (*SERVICE, *table(quiet="** --help", destroy="osd out|lost|down, fs fail|rm, mds|mon fail|rm|remove, "
                              "auth del, * * rm|destroy|purge, * * * rm")),
    "gluster": (*SERVICE, *table(destroy="volume stop|reset|remove-brick, peer detach, snapshot restore|deactivate")),
    "rados": table(quiet="df|ls|lspools|stat|get", destroy="** purge|rm|rmpool|rmsnap|rollback"),
    "pcs": (*SERVICE, *table(destroy="cluster stop|destroy, node standby, stonith fence", quiet="status")),
    "crm": (*SERVICE, *table(destroy="* stop|erase, node fence|standby", quiet="status")),
    "drbdadm": table(quiet="** -d|--dry-run", destroy="down|invalidate|wipe-md|disconnect|detach|secondary|create-md"),
    "drbdsetup": table(destroy="down|invalidate|disconnect|detach|del-*"),
    **dict.fromkeys(("ldapdelete", "ldapmodrdn"), table(quiet="** -n", destroy="**")),
    **dict.fromkeys(("restic", "borg", "borgmatic", "rustic", "attic"), _SNAPSHOTS),
    "snapper": table(destroy="** delete|rm|remove|undochange|rollback|delete-config", quiet="** list|status|diff"),
    "timeshift": table(quiet="** --list|--check", destroy="** --delete|--delete-all|--restore"),
    "duplicity": table(quiet="** --dry-run", destroy="remove-*, cleanup --force"),
    "rdiff-backup": table(quiet="** --list-increments|-l", destroy="remove, ** --remove-older-than|--force"),
    "dvc": table(quiet="** --help|-h|--dry", destroy="gc, destroy"),
    "git-annex": table(destroy="drop --force, dead, dropunused --force"),
    "certbot": table(quiet=f"** --dry-run|--help, {_READ}|certificates", destroy="delete|revoke|unregister"),
    "acme.sh": table(destroy="** --remove|--revoke|--deactivate|--uninstall"),
    "pgbackrest": table(quiet="** --dry-run", destroy="** stanza-delete|expire|restore"),
    "solr": (*SERVICE, *table(destroy="stop ** -all, zk rm")),
    "samba-tool": table(quiet=QUIET, destroy="* delete|remove|disable|demote, * * delete|remove, domain demote"),
    "wp": table(
        quiet="** --help, transient|cache|rewrite|cron|cap|option|language|package|config|menu|widget *",
        destroy="* delete|uninstall|reset|spam|trash|empty|destroy|drop, search-replace !--dry-run, * meta delete",
    ),
    "drush": table(quiet="** --simulate|--no, cache*|cr|cc|watchdog:*|state:*",
                   destroy="*:delete|*:cancel|*:uninstall|user-cancel|pmu|pm-uninstall|ucan|edel"),
    "occ": table(quiet="*:list|status|config:*|maintenance:*", destroy="*:delete|*:remove|*:cleanup|*:uninstall|"
                 "*:delete-*|*:reset*"),
    "magento": table(quiet="** --dry-run, cache:*|indexer:*|dev:*|info:*",
                     destroy="setup:uninstall|module:uninstall|theme:uninstall|*:delete|setup:rollback"),
    "shopify": table(quiet="theme push --development|-d|--unpublished, theme dev|list|pull|check|info|console|open, "
                     "app dev|build|info|logs", destroy="theme delete", change="theme push|publish, "
                     "app deploy|release"),
    "qshell": table(quiet=QUIET, destroy="*delete|batch*delete|batchmove|batchrename|expire"),
    "neo4j-admin": table(quiet=QUIET, destroy="** load|restore --overwrite-destination|--force"),
    "skeema": table(quiet="** --dry-run, push local|development", destroy="push --allow-unsafe", change="push"),
    **dict.fromkeys(("gh-ost", "pt-online-schema-change", "pt-archiver"), table(
        quiet="** --dry-run", destroy="** --execute|--purge")),
    "cockroach": table(destroy="node decommission|drain, quit, debug reset-quorum, workload init --drop"),
    "convex": table(quiet="dev|logs|dashboard|docs|function-spec|export, ** --help", destroy="data clear, import "
                    "--replace|--replace-all, env remove|unset", change="deploy|import, env set"),
    "ray": table(quiet="** --help", destroy="down|kill-random-node, job stop|delete"),
    "dbt": table(quiet="** --help|--empty", destroy="run|build|seed|snapshot --full-refresh --target|-t=*prod*"),
    "celery": table(quiet="** --help",
                    destroy="** purge|amqp.queue.delete, control shutdown|revoke, * control shutdown"),
    "rq": table(destroy="empty"),
    "ldcli": table(quiet=QUIET, destroy=f"* {_GONE}|archive",
                   change="flags|segments toggle-on|toggle-off|patch, flags|segments update|replace --data|-d"),
    "twilio": (*SERVICE, *table(change="*messages:create|*calls:create|*broadcast*")),
    "octodns-sync": table(destroy="** --doit"),
    "dnscontrol": table(quiet="preview|check|get-*|fmt|version", destroy="push"),
    "amtool": (*SERVICE, *table(change="silence add|expire|import|update")),
    "sidekiqctl": table(destroy="stop|quiet"),
    "airflow": table(quiet=QUIET, destroy="* delete, db reset|downgrade|clean, tasks clear, "
                     "dags backfill, backfill create"),
    **dict.fromkeys(("pass", "gopass"), table(quiet="** --help", destroy="rm|remove|delete, init --path")),
    "secret-tool": table(destroy="clear"),
    "wsl": table(destroy="** --unregister|--shutdown|--terminate"),
    "jenkins-cli": (*SERVICE, *table(change="groovy|groovysh|shutdown|safe-shutdown|restart|safe-restart|update-job|"
                                     "disable-job|offline-node|reload-configuration|install-plugin")),
    "splunk": (*SERVICE, *table(destroy="clean, * clean")),
    # what is said where people talk
    "slack": (*SERVICE, *table(change="api chat.*|files.*, chat|message|file send|post|upload|update")),
    **dict.fromkeys(("signal-cli", "toot", "bsky", "zulip-send", "himalaya", "mattermost-cli"), table(
        quiet=_TRIED, change="** send|post|reply|forward|thread", destroy="** delete|remove|purge")),
    **dict.fromkeys(("telegram-send", "matrix-commander", "discord-send", "slack-cli"), table(
        quiet=_TRIED, change="**")),
    "twurl": table(change="** -d|-X|--data"),
    "instant-cli": table(quiet="pull|login|init", change="push"),
    "op": table(quiet=f"{QUIET}, read|run|inject|signin|signout", destroy=f"{_GONE}, * {_GONE}"),
}  # fmt: skip

_ADDRESSES = ("-u", "--url", "--server", "-s", "--host", "--endpoint", "--api-url", "--bootstrap-server")


def service(call: Call) -> Iterator[Effect]:
    """What is taken down, or changed for others; nothing where the other end is named as this machine."""
    local_clusters.note(call)
    where = call.head.values(*_ADDRESSES) + call.parsed.values(*_ADDRESSES)
    if call.command.program == "rpk" and _has_brokers_here(call):
        return
    if any(item.known and network_addresses.is_local_address(item.text) for item in where):
        return
    program = call.command.program
    if (program in _BACKUPS and _is_for_trial(call)) or local_registries.is_meant(call) or local_ends.is_here(call):
        return
    if any(not item.known and ("$(" in item.source or "`" in item.source) for item in call.fields[1:]):
        yield call.effect(Kind.NETWORK, program, "data")
    rows = TABLES[program]
    if subcommand_tables.what(call, rows):
        yield from subcommand_tables.effects(call, rows, program)
    else:
        yield from subcommand_tables.by_words(call)
        yield from service_requests.effects(call, program)
    yield from remote_commands.told_by_words(call)


def _has_brokers_here(call: Call) -> bool:
    """``rpk -X brokers=localhost:19092``, ``rpk … --brokers localhost:19092``: each of them on this machine."""
    named = [item.text for item in local_clusters.given(call, "-X", "--brokers") if item.known]
    if local_clusters.given(call, "--profile", "--config") or any("hosts=" in text for text in named):
        return False
    brokers = [text.removeprefix("brokers=") for text in named if "=" not in text or text.startswith("brokers=")]
    return bool(brokers) and all(network_addresses.is_local_address(one) for text in brokers for one in text.split(","))


_BACKUPS = {"restic": "RESTIC_REPOSITORY", "rustic": "RUSTIC_REPOSITORY", "borg": "BORG_REPO"}
"""And the variable that names their repository."""


def _is_for_trial(call: Call) -> bool:
    """Whether a repository of backups lies in a temporary folder of this machine."""
    given = call.head.values("-r", "--repo") or call.parsed.values("-r", "--repo")
    named = [item.text for item in given if item.known] or list(call.scope.lookup(_BACKUPS[call.command.program]).items)
    return bool(named) and all(text.startswith(paths.TEMPORARY) and ".." not in text for text in named)


_TEXT = "-s= -u= --url= --server= --host= --endpoint= --api-url= --profile= --project= -p= --context= --repo= "
OPTIONS = {
    **dict.fromkeys(TABLES, options(f"{_TEXT} | sub")),
    "rpk": options(f"{_TEXT} -X= --brokers= --config= | sub"),
    **dict.fromkeys(("restic", "rustic", "borg", "borgmatic", "kopia"), options("-r= --repo= --repository-file= -p= "
        "--password-file= --keep-last= --keep-daily= --keep-weekly= --keep-monthly= --keep-within= --tag= --host= -H= "
        "-a= --glob-archives= --path= | sub")),
    **dict.fromkeys(("hdfs", "hadoop", "yarn-cluster", "mapred"), options("--config= -conf= -fs= | sub words")),
    **{name: options("--bootstrap-server= --zookeeper= --group= --topic= --command-config= --entity-type= "
                     "--entity-name= --add-config= | sub") for name in TABLES if name[:6] == "kafka-"},
    "solr": options(f"{_TEXT} -p= -z= -m= | sub words"),
    "timeshift": options("--snapshot= --comments= --tags="),
    "snapper": options("-c= --config= | sub"),
    "dvc": options("-r= -j= | sub"),
    "ceph": options("-c= -n= --name= --id= -k= --keyring= | sub"),
    **dict.fromkeys(("rbd", "rados"), options("-p= --pool= -c= -n= --id= -k= --namespace= | sub")),
    "zkCli.sh": options("-server= -timeout= | sub words"),
    "dbt": options("--target= -t= --profile= --profiles-dir= --project-dir= -s= --select= -m= --vars= | sub"),
    "celery": options("-A= --app= -b= --broker= -Q= --queues= | sub"),
    "shopify": options("-s= --store= -t= --theme= -e= --environment= --path= --password= | sub"),
    "wp": options("--path= --url= --user= --ssh= --http= | sub"),
}  # fmt: skip
OPTIONS["zkCli"] = OPTIONS["zkcli"] = OPTIONS["zkCli.sh"]

PROGRAMS: dict[str, Callable[[Call], Effects]] = dict.fromkeys(TABLES, service)
