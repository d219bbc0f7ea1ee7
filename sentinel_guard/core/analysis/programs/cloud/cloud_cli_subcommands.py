"""Tables of cloud CLI subcommands (kubectl, terraform, aws, gcloud …) that destroy or change what is deployed.

Data only, from the platforms' references; ``subcommand_tables.py`` says how a row reads.
What no row names does nothing.
"""

from __future__ import annotations

from sentinel_guard.core.analysis.programs.cloud.aws_and_google_subcommands import AWS, BQ, GCLOUD, GSUTIL
from sentinel_guard.core.analysis.programs.cloud.aws_and_google_subcommands import DRY as _DRY
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table

_GONE = "delete|destroy|remove|rm|purge|terminate|prune|wipe|erase|uninstall|undeploy|deprovision|teardown"
_READ = (
    "list|ls|show|get|describe|status|info|inspect|logs|log|tail|version|help|whoami|login|logout|validate|plan|"
    "diff|preview"
)
_MADE = "create|update|apply|deploy|up|install|upgrade|set|put|scale|restart|start|stop|reboot|promote|rollback|restore"

GENERIC = table(
    quiet=f"{_DRY}, {_READ}, * {_READ}",
    destroy=f"** {_GONE}, ** delete-*|destroy-*|remove-*|terminate-*|purge-*|*:destroy|*:delete|*:remove|*-delete",
    change=f"{_MADE}, * {_MADE}, * * {_MADE}, ** deploy",
)
"""For a platform without a table of its own."""

_KUBECTL = {
    "quiet": f"{_DRY}, rollout status|history, auth can-i|whoami, config current-context|get-*|use-*|view|set-context|"
    f"rename-context, "
    "explain, get, describe, logs, diff, plugin, apply view-last-applied, top, wait, completion, cp --help",
    "destroy": "delete, drain, scale --replicas=0, replace --force, rollout undo, apply --prune, config delete-*|"
    "unset, "
    "adm drain|prune",
    "change": "apply, create, replace, patch, scale, rollout, set, edit, run, expose, autoscale, cordon, uncordon, "
    "taint, "
    "label, annotate, certificate, debug, cp, config set*, auth reconcile",
}
_TERRAFORM = table(
    quiet="plan, run-all plan, run plan, stack plan, apply -help|--help, destroy -help|--help, workspace show|list|"
    "select|new",
    destroy="destroy, run-all|run|stack|state destroy, apply|plan-all -destroy|--destroy, run-all|run apply -destroy|"
    "--destroy, "
    "destroy-all, state rm|push, workspace delete, force-unlock, run-all|run state|force-unlock",
    change="init -migrate-state|-force-copy, refresh, apply, run-all|run|stack apply, apply-all, up, import, "
    "taint, untaint, state mv|replace-provider",
)
_HELM = table(
    quiet=f"{_DRY}, repo, dependency|dep, search, show|inspect, get, history|hist, status, template, lint, plugin, "
    f"diff, secrets",
    destroy="uninstall|delete|del|un, rollback",
    change="install, upgrade",
    publish="push, cm-push, s3 push",
)
_SERVERLESS = table(
    quiet=f"{_DRY}, deploy list, info, logs, print, package, offline, metrics, invoke local, rollback --help",
    destroy="remove, rollback",
    change="deploy",
)
_ANSIBLE = table(
    quiet=". --version|--help|-h, ** --check|-C|--syntax-check|--list-tasks|--list-hosts|--list-tags", change="**"
)
_AZ_READS = (
    "list|show|list-*|show-*|get-*|download*|tail|wait|exists|check-*|query|what-if|validate|log|logs|browse|url|"
    "generate-*"
)
_AZ = table(
    quiet="login|logout|account|config|configure|extension|version|find|feedback|interactive|bicep|cloud|cache|"
    "self-test, "
    f"acr login, aks get-credentials|install-cli|browse, repos pr, boards, devops configure|login, ** --help|-h, ** "
    f"{_AZ_READS}",
    destroy="** delete|purge|remove|untag|delete-*|*-delete|stop|deallocate|disable*|reset*|revoke*|terminate|"
    "failover*|undeploy|"
    "cancel|detach|remove-*|stop-*|power-off|uninstall, rest --method=[dD]*",
    change="** create|update|set|set-permission|"
    "up|deploy*|start|restart|apply|import|scale|upgrade|add|assign|invoke|swap|approve|"
    "restore|"
    "regenerate*|renew*|rotate*|enable*|attach|resize|upload-batch|sync|build|run|publish|copy|move|import-*|create-*|"
    "update-*|add-*|grant*|redeploy|reimage|open-port, rest --method=[pP]*",
)
_CTL_READS = "list|ls|get|show|view|info|status|describe|logs|kubeconfig|read|ssh|events|types-list|regions-list"
_CTL = table(
    quiet=f"{_DRY}, auth|account|login|help|version|completion|context|configure|init|registry login, {_CTL_READS}, * "
    f"{_CTL_READS}, "
    f"* * {_CTL_READS}, * *-list|*-view, ** --help",
    destroy="** delete|rm|remove|destroy|d|poweroff|power-off|shutdown|rebuild|reset|stop|terminate|detach*|disable*|"
    "remove-*|delete-*|*-delete|unassign|purge|deprovision|bulk-delete|nuke",
    change="** create|update|deploy|resize|restart|reboot|start|power-on|poweron|power-cycle|restore|enable*|attach*|"
    "add-*|"
    "set-*|create-*|*-create|*-update|boot|upgrade|scale|apply|launch|action|put|import|migrate|assign|change-*|"
    "replace*",
)
_FLY = table(
    quiet="deploy --build-only, ** --help, * list|show|status|ls|logs, doctor|status|logs|version|auth|dashboard|"
    "proxy|ssh, "
    "apps open|errors|releases, pg|postgres connect|list|users|db, image show, config",
    destroy="destroy, suspend, scale count 0, * destroy|delete|remove|rm|unset|release|stop|kill|unregister|purge|"
    "suspend|detach, "
    "* * destroy|delete|remove",
    change="deploy, launch, scale, restart, resume, move, secrets|certs|ips set|import|deploy|add|allocate*|stage, "
    "machine|machines|m|volumes|vol|apps|postgres|pg|redis|regions|storage|wireguard|image *, autoscale",
)
_VERCEL = table(
    quiet="dev|build|link|pull|inspect|logs|ls|list|login|logout|whoami|help|switch|init|bisect|telemetry|open|curl|"
    "teams, "
    "env pull|ls|list|run, domains|dns|certs|project|projects|alias|integration|blob|redirects|cache ls|list|inspect|"
    "get|issue, "
    ". -v|--version|-h|--help, git",
    destroy="rm|remove, * rm|remove|del|delete|purge, rollback, cache purge|invalidate",
    change="., deploy, **",
)
_NETLIFY = table(
    quiet="dev*|build|status*|login|logout|link|unlink|init|open*|logs*|watch|completion*|serve|recipes*|clone, ** "
    "--help, "
    "*:list|*:get|*:search",
    destroy="*:delete|*:unset|*:remove, sites|env|blobs|functions delete|unset|remove, api delete*|remove*|cancel*|"
    "purge*",
    change="deploy*, *:set|*:import|*:create*|*:clone, env|sites|blobs set|import|create|clone, api create*|update*|"
    "restore*|"
    "rollback*|set*|lock*|unlock*|enable*|disable*",
)
_RAILWAY = table(
    quiet="logs|status|list|login|logout|whoami|link|unlink|open|docs|shell|connect|ssh|init|completion|domain, "
    "variables|variable . !--set, variables|variable list|ls, environment|service !--delete",
    destroy="down, delete, * delete|remove|rm",
    change="up, redeploy, deploy, restart, add, variables|variable --set, variable|variables set, scale, volume add|"
    "attach|detach",
)
_RENDER = table(
    quiet="* list|get|view|logs|tail, login|logout|workspace|workspaces|logs|psql|ssh|whoami",
    destroy="* delete|suspend|cancel|remove, * * delete",
    change="* create|update|restart|resume|deploy|rollback, deploy, restart",
)
_HEROKU = table(
    quiet="logs|apps|config|ps|info|releases|open|login|logout|whoami|auth*|status|help|version|local*|addons|domains|"
    "certs|access, "
    "pg|pg:info|pg:ps|pg:psql|pg:diagnose|pg:locks|pg:backups|pg:backups:download|pg:backups:url|pg:pull|pg:wait|"
    "pg:outliers, "
    "apps:info|apps:open|apps:errors|config:get|releases:info|git:*|redis:info|redis:cli|pipelines|pipelines:info|"
    "*:list",
    destroy="destroy, *:destroy|*:delete|*:reset|*:killall|*:kill|*:stop|*:unset|*:rollback|*:remove|*:clear|*:detach|"
    "*:copy|"
    "*:push|*:restore|*:disable|*:rm|*:revoke|*:unfollow|*:off|*:revert|*:leave|*:transfer, rollback, ps:scale *=0",
    change="restart, *:restart, create, *:create|*:set|*:scale|*:resize|*:type|*:on|*:promote|*:upgrade|*:enable|"
    "*:add|*:attach|"
    "*:release|*:follow|*:rename|*:update|*:failover|*:maintenance|*:rotate|*:exec",
)
_WRANGLER = table(
    quiet=f"{_DRY}, ** --local, dev|tail|whoami|types|init|login|logout|docs|check|complete, * list|get|info|status, "
    f"* * list|get|info, "
    "deployments|versions|pages list|view|status|dev|functions|download, pages deployment list|tail, generate|setup, "
    "*:* list|get",
    destroy="delete, ** delete|remove|purge|unset, rollback, versions rollback, d1 time-travel restore, kv:key|"
    "kv:bulk delete",
    change="deploy|publish, ** deploy|publish|upload|put|bulk|create|update|set|add|apply|restore|rename|resume|pause|"
    "send|import|trigger",
)
_FIREBASE = table(
    quiet="emulators:*|serve|login*|logout|projects:list|apps:list|apps:sdkconfig|use|open|init|target*|*:list|*:get|"
    "*:log|*:export, "
    "deploy --dry-run",
    destroy="*:delete*|*:destroy|*:disable|*:remove|*:unset|*:prune|*:uninstall|*:rollback|*:clear, hosting:*:delete",
    change="deploy, *:deploy|*:clone|*:set|*:update|*:push|*:import|*:create|*:install|*:configure|*:enable|*:access|"
    "*:upload|"
    "*:migrate|*:add",
)
_SUPABASE = table(
    quiet=f"{_DRY}, db push|diff|pull|dump|lint|start|branch --local, gen|init|link|login|logout|status|start|"
    f"services|inspect|test, "
    "* list|get|new|download|serve|status, functions serve|new|download, migration new|list|squash|fetch, db diff|"
    "pull|dump|lint|start",
    destroy="db reset, stop --no-backup, * delete|unset|remove|rm|disable|pause, * * delete|remove|rm, migration "
    "repair|down, "
    "sso|domains|vanity-subdomains|network-bans delete|remove",
    change="db push, functions deploy, secrets set, config push, migration up --linked|--db-url, * create|update|"
    "merge|activate, "
    "postgres-config|ssl-enforcement|network-restrictions update, bootstrap, seed",
)
_EB = table(
    quiet="list|status|logs|events|health|console|open|ssh|use|init|printenv|tags --list|labs --help, ** --help",
    destroy="terminate, abort, restore --delete, appversion --delete|-d",
    change="deploy|create|upgrade|swap|scale|setenv|config|clone|restore|migrate|restart|tags",
)
_AMPLIFY = table(
    destroy="delete, remove, * remove|delete", change="push|publish|deploy|sandbox, env|function|api push|update"
)
_ARGOCD = table(
    quiet=f"{_DRY}, * list|get|diff|history|manifests|logs|wait|resources|can-i, version|login|logout|context|relogin|"
    f"completion",
    destroy="* delete*|terminate-op|rollback|rm|remove*|delete-resource, * * delete|rm",
    change="* sync|set|unset|create|patch*|add*|edit|update*|actions|rotate-auth|generate-token, appset|cluster|repo|"
    "proj|account *",
)
_FLUX = table(
    quiet=f"{_DRY}, ** --export, get|check|logs|events|stats|tree|trace|diff|build|version|completion|envsubst|debug|"
    f"list|pull",
    destroy="delete|uninstall",
    change="create|reconcile|suspend|resume|bootstrap|install|migrate",
    publish="push|tag artifact",
)
_NOMAD = table(
    quiet="job plan|status|inspect|history|validate|init|deployments|allocs, plan|status|logs|inspect|validate|"
    "version|monitor, "
    "alloc logs|status|fs, node status|config, namespace|var|volume|acl list|status|inspect|get|read, * list|status|"
    "info|read",
    destroy="stop, ** stop|delete|purge|drain|revert|kill|force-leave|remove-peer|deregister|detach|gc|expire, job "
    "stop, leave",
    change="run, job run|dispatch|restart|scale|promote|eval|periodic|action|start, * apply|put|create|register|"
    "restart|signal|promote|"
    "resume|eligibility|restore|reconcile|set|update|bootstrap|pause|fail, system *, operator * set*|restore",
)
_VAULT = table(
    quiet="read|list|status|login|version|server|agent|debug|path-help|print|unwrap, kv get|list|metadata --help, * "
    "list|lookup|read, "
    "token|lease capabilities|renew|lookup, write *auth/*/login*|*/issue/*|transit/*|sys/tools/*|sys/capabilities*|"
    "*/verify*, kv metadata get",
    destroy="delete, kv delete|destroy, kv metadata delete, secrets|auth|audit|plugin disable|deregister, policy|"
    "namespace delete, "
    "token|lease revoke, operator seal|step-down|rekey|rotate|generate-root, operator raft remove-peer|snapshot|demote",
    change="write|patch, kv put|patch|rollback|undelete, kv metadata put|patch, secrets|auth|audit|plugin enable|tune|"
    "move|register|reload, "
    "policy write, token create, operator init|unseal|migrate|import, namespace create|patch|lock|unlock",
)
_CONSUL = table(
    destroy="kv delete, leave, force-leave, ** delete|deregister|remove-peer, snapshot restore",
    change="kv put|import, ** create|update|write|register|bootstrap|set-agent-token, maint, reload, peering *, "
    "connect ca set-config",
)
_DOKKU = table(
    quiet="*:report|*:list|*:info|*:export|*:help|*:logs|config:show|config:get|logs|version",
    destroy="*:destroy|*:stop|*:unlink|*:unset|*:remove*|*:clear*|*:disable|*:unexpose|*:cleanup|*:prune, cleanup",
    change="*:create|*:set*|*:scale|*:restart|*:rebuild|*:start|*:link|*:expose|*:sync|*:from-*|*:add*|*:enable|"
    "*:import|*:rename|*:clone|*:promote, "
    "git:*|deploy|tags:deploy",
)
_KAMAL = table(
    quiet="config|docs|audit|version|help|details|init|secrets, app|proxy|accessory|traefik logs|details|containers|"
    "images|version|exec|live, "
    "lock status, build details|dev|create, server exec",
    destroy="remove, rollback, ** remove|stop|prune|all|rollback, prune",
    change="deploy|redeploy|setup|upgrade, ** boot|start|reboot|restart|deploy|push|release|maintenance|pull|bootstrap",
)
_CF = table(
    destroy="delete*|d|stop|unbind-*|unmap-*|purge-*|unset-*|disable-*|rollback",
    change="push|p|scale|"
    "restart|restage|start|bind-*|create-*|"
    "update-*|set-*|map-*|run-task|cancel-*|enable-*|share-*|rename*|apply-manifest",
)
_VIRSH = table(
    destroy="destroy|undefine|reset|detach-*|vol-delete|vol-wipe|pool-destroy|pool-delete|pool-undefine|net-destroy|"
    "net-undefine|"
    "snapshot-delete|snapshot-revert|managedsave-remove|blockcommit|checkpoint-delete|secret-undefine|nodedev-destroy",
    change="shutdown|reboot|suspend|migrate|setmem|setvcpus|edit",
)
_PROXMOX = table(
    destroy="destroy|stop|reset|rollback|delsnapshot|unlink|delete, disk unlink, snapshot delete",
    change="shutdown|reboot|migrate|resize|move*|template|restore|set|suspend|create",
)
_VBOX = table(
    destroy="unregistervm --delete|--delete-all, controlvm * poweroff|reset, closemedium ** --delete, "
    "snapshot * delete|restore, "
    "natnetwork|hostonlyif remove"
)
_MACHINES = table(destroy="delete|rm|remove|reset|factory-reset|purge, machine rm|reset, snapshot delete|restore")
_LOCAL = table(destroy="delete --all|-A|--purge, * delete --all|-a, delete clusters --all, ** reset")
"""Clusters of this machine are made to be thrown away; all of them at once is another matter."""

TABLES: dict[str, tuple[Row, ...]] = {
    "kubectl": table(**_KUBECTL),
    "oc": table(
        **{
            **_KUBECTL,
            "destroy": _KUBECTL["destroy"] + ", rollback",
            "change": _KUBECTL["change"] + ", new-app, start-build, policy, adm policy|taint|cordon|uncordon|upgrade, "
                "import-image, tag",
        }
    ),
    "helm": _HELM,
    "helmfile": table(
        quiet="diff|template|lint|list|build|status|fetch|deps|repos|cache|test|write-values|init, ** --dry-run",
        destroy="destroy|delete", change="apply|sync|charts",
    ),
    **dict.fromkeys(("terraform", "tofu", "terragrunt", "terramate"), _TERRAFORM),
    "pulumi": table(
        quiet="** --preview-only, preview|pre, stack ls|output|select|init|export|graph|history|tag|"
            "change-secrets-provider, config, about",
        destroy="destroy|down|dn, stack rm, state delete|edit, cancel", change="up|update, refresh, import, stack "
            "import, state *, watch, deployment run",
    ),
    **dict.fromkeys(("cdk", "cdktf", "cdk8s"), table(
        quiet="** --help|-h, bootstrap --show-template, diff|synth|synthesize|ls|list|doctor|get|init|metadata|docs|"
            "output, deploy --no-execute",
        destroy="destroy|rollback", change="deploy|apply|watch|bootstrap|import|migrate|refactor",
    )),
    "sam": table(
        quiet="local|build|validate|init|logs|traces|list|package|docs, deploy --no-execute-changeset",
            destroy="delete",
        change="deploy|sync|publish, pipeline bootstrap",
    ),
    "sst": table(quiet="dev|diff|version|shell|secret list|install|init|console", destroy="remove, secret remove",
        change="deploy|refresh|state|unlock, secret set"),
    **dict.fromkeys(("serverless", "sls", "osls"), _SERVERLESS),
    "ansible-playbook": _ANSIBLE,
    "aws": AWS, "gcloud": GCLOUD, "az": _AZ, "gsutil": GSUTIL, "bq": BQ,
    **dict.fromkeys(("doctl", "linode-cli", "hcloud", "oci", "scw", "vultr-cli", "vultr", "exo", "civo", "upctl",
        "ibmcloud", "openstack", "aliyun",
                     "tccli", "ovhcloud", "rosa", "eksctl", "clusterctl", "confluent", "planetscale", "turso",
                     "databricks", "temporal", "auth0", "okta"), _CTL),
    "kops": table(quiet=f"{_DRY}, delete|update|rolling-update|upgrade !--yes !-y", destroy="delete -y|--yes",
                  change="update|rolling-update|upgrade -y|--yes, create|replace|edit|set|unset"),
    **dict.fromkeys(("fly", "flyctl"), _FLY),
    "vercel": _VERCEL, "now": _VERCEL, "netlify": _NETLIFY, "ntl": _NETLIFY, "railway": _RAILWAY, "render": _RENDER,
        "heroku": _HEROKU,
    "wrangler": _WRANGLER, "firebase": _FIREBASE, "supabase": _SUPABASE, "eb": _EB, "amplify": _AMPLIFY,
        "ampx": _AMPLIFY,
    "argocd": _ARGOCD, "flux": _FLUX, "nomad": _NOMAD, "vault": _VAULT, "bao": _VAULT, "consul": _CONSUL,
        "dokku": _DOKKU, "kamal": _KAMAL,
    "cf": _CF, "virsh": _VIRSH, "qm": _PROXMOX, "pct": _PROXMOX, "pvesh": table(destroy="delete", change="create|set"),
    "VBoxManage": _VBOX, "vboxmanage": _VBOX, "prlctl": _MACHINES, "vmrun": table(destroy="deleteVM|revertToSnapshot|"
        "deleteSnapshot|stop"),
    "vagrant": table(quiet="** --help|-h", destroy="destroy, snapshot delete|restore", publish="cloud publish|push",
        change="push"),
    **dict.fromkeys(("limactl", "colima", "orb", "orbctl"), _MACHINES),
    **dict.fromkeys(("kind", "minikube", "k3d", "microk8s", "ctlptl"), _LOCAL),
    "packer": (),
    "surge": table(quiet="list|whoami|login|logout|token, . --help|--version", destroy="teardown", change="**"),
    "gh-pages": table(quiet="** --help|-h|--version|-V", change="**"),
    "cap": table(quiet=". -T|--tasks|-V, sync|copy|open|run|add|update|ls|init|doctor|build, "
        "* *:check|*:console|*:tail", destroy="* *:rollback|*:stop|*:cleanup",
        change="* **"),
    "rclone": table(
        quiet="** --dry-run|-n, ls|lsd|lsl|lsf|lsjson|size|check|cat|about|version|config|tree|md5sum|sha1sum|"
            "listremotes|ncdu|mount|serve",
        destroy="purge|delete|deletefile|rmdir|rmdirs|cleanup|move|moveto|sync|bisync|dedupe, backend *",
            change="copy|copyto|copyurl|rcat|mkdir|settier|touch|link",
    ),
    **dict.fromkeys(("mc", "mcli"), table(
        quiet="ls|cat|head|stat|du|find|diff|tree|alias|share|watch|ping, version info, admin info, "
        "admin|idp|ilm|tag|policy|anonymous|event|encrypt * list|ls|info, ** --dry-run|--fake",
        destroy="rm|rb|mv, mirror --remove, admin * remove|rm|stop|disable, version suspend, ** remove",
        change="cp|mirror|mb|put|pipe|policy|anonymous|tag|ilm|encrypt|event|admin|undo|retention",
    )),
    **dict.fromkeys(("s3cmd", "s5cmd"), table(
        quiet="ls|la|du|get|info|cat|head, ** --dry-run|-n", destroy="del|rm|rb|mv|expire, sync --delete-removed|"
            "--delete",
        change="put|sync|cp|mb|setacl|setpolicy|modify|accesslog|pipe|cors|delpolicy|setlifecycle",
    )),
    "azcopy": table(quiet="list|login|logout|jobs|env|doc|benchmark, ** --dry-run", destroy="rm|remove, sync "
        "--delete-destination !--delete-destination=false",
                    change="copy|cp|sync|make|set-properties"),
    **dict.fromkeys(("copilot", "sceptre", "kustomize", "convox", "porter", "dagger", "zappa", "chalice",
        "tsuru",
                     "stackit", "nixops", "colmena", "juju", "puppet", "knife", "bosh", "waypoint", "encore",
                         "deployctl", "clever",
                     "koyeb", "northflank", "qovery", "zeabur", "rancher", "kn", "istioctl", "linkerd", "velero"),
                         GENERIC),
}  # fmt: skip
