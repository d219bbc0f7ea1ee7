"""Programs that change what runs elsewhere: clusters, stacks, buckets. argv -> effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import Call, options
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_DELETES = frozenset(
    [
        "destroy",
        "delete",
        "rm",
        "rb",
        "remove",
        "uninstall",
        "undo",
        "down",
        "purge",
        "drain",
        "terminate",
        "erase",
        "deprovision",
        "delete-stack",
        "rollback",
        "reset",
        "delete-bucket",
        "delete-objects",
        "delete-object",
        "terminate-instances",
        "delete-db-instance",
        "delete-db-cluster",
        "delete-table",
        "delete-cluster",
        "delete-function",
        "delete-repository",
        "delete-user",
        "delete-secret",
        "schedule-key-deletion",
        "prune",
        "wipe",
        "apps:destroy",
        "pg:reset",
        "addons:destroy",
        "state-rm",
        "hosting:disable",
        "firestore:delete",
        "database:remove",
        "functions:delete",
        "project-delete",
        "teardown",
        "force-unlock",
        "taint",
        "unlink",
    ]
)
_CHANGES = frozenset(
    [
        "apply",
        "up",
        "deploy",
        "install",
        "upgrade",
        "create",
        "replace",
        "patch",
        "scale",
        "rollout",
        "set",
        "edit",
        "run",
        "import",
        "sync",
        "cp",
        "mv",
        "promote",
        "release",
        "update",
        "put-object",
        "redeploy",
        "cordon",
        "taint",
        "label",
        "annotate",
        "autoscale",
        "provision",
        "publish",
        "ship",
        "launch",
    ]
)
_CLOUD: dict[str, tuple[str, ...]] = {
    "kubectl": ("--context", "-n", "--namespace", "--cluster"),
    "oc": ("--context", "-n", "--namespace"),
    "helm": ("--kube-context", "-n", "--namespace"),
    "helmfile": ("-e", "--environment"),
    "terraform": ("-chdir",),
    "tofu": ("-chdir",),
    "terragrunt": (),
    "pulumi": ("-s", "--stack"),
    "aws": ("--profile", "--region"),
    "gcloud": ("--project",),
    "az": ("--subscription", "-g", "--resource-group"),
    "gsutil": (),
    "doctl": (),
    "flyctl": ("-a", "--app"),
    "fly": ("-a", "--app"),
    "vercel": ("--scope",),
    "netlify": ("-s", "--site"),
    "heroku": ("-a", "--app"),
    "firebase": ("-P", "--project"),
    "wrangler": ("-e", "--env"),
    "serverless": ("-s", "--stage"),
    "sls": ("-s", "--stage"),
    "cdk": ("--profile",),
    "sam": ("--stack-name",),
    "eksctl": ("--cluster",),
    "nomad": (),
    "consul": (),
    "vault": (),
    "railway": ("-e", "--environment"),
    "supabase": ("--project-ref",),
    "cf": (),
    "eb": (),
    "ansible-playbook": ("-i", "--inventory", "-l", "--limit"),
    "ansible": ("-i", "--inventory"),
    "s3cmd": (),
    "rclone": (),
    "mc": (),
    "argocd": (),
    "flux": (),
    "kustomize": (),
    "copilot": (),
    "amplify": (),
    "linode-cli": (),
    "hcloud": (),
    "ibmcloud": (),
    "oci": (),
    "cap": (),
    "kamal": ("-d",),
    "dokku": (),
    "openstack": (),
    "bq": (),
    "azcopy": (),
    "vagrant": (),
    "virsh": (),
    "sceptre": (),
}
_QUIET = frozenset(
    [
        "get",
        "describe",
        "logs",
        "list",
        "ls",
        "show",
        "plan",
        "diff",
        "preview",
        "status",
        "version",
        "config",
        "whoami",
        "login",
        "output",
        "validate",
        "fmt",
        "init",
    ]
)


_COPIES: dict[str, tuple[str, ...]] = {
    "aws": ("s3 cp", "s3 sync"),
    "gsutil": ("cp", "rsync"),
    "gcloud": ("storage cp", "storage rsync"),
    "mc": ("cp", "mirror"),
    "s3cmd": ("get", "sync"),
    "rclone": ("copy", "copyto", "sync"),
    "azcopy": ("copy", "cp", "sync"),
    "kubectl": ("cp",),
    "oc": ("cp", "rsync"),
}
"""What copies from one place to another: where it ends here, nothing changes elsewhere."""
_MIRRORS = (
    *("--delete", "-d", "--remove", "--delete-destination", "--delete-removed"),
    "--delete-unmatched-destination-objects",
)
"""What is there and not at the source is deleted."""


def cloud(call: Call) -> Effects:
    """kubectl, terraform, aws …: a verb that destroys or changes; plans, dry runs and queries do nothing."""
    if call.has(
        "--dry-run", "--check", "--dryrun", "--whatif", "--what-if", "-what-if", "--plan-only", "--syntax-check"
    ):
        given = call.parsed.value("--dry-run")
        if given is None or given.text != "none":
            return
    if (ends := _download(call)) is not None:
        yield from _fetched(call, *ends)
        return
    verb = call.command.subcommand
    words = [verb, *(item.text for item in call.operands[:3])]
    if verb in _QUIET or not words:
        return
    where = call.parsed.value(*_CLOUD.get(call.command.program, ()))
    target = f"{call.command.program} {where.text}" if where is not None else call.command.program
    gone = call.has("-destroy", "--destroy", "--delete", "--prune") or any(_destroys(w) for w in words)
    if gone:
        yield call.effect(Kind.DEPLOY, target, "delete")
    elif (
        _CHANGES & set(words[:2])
        or call.command.program in ("ansible-playbook", "cap", "kamal", "vercel")
        or _ships(words)
    ):
        yield call.effect(Kind.DEPLOY, target)


def _download(call: Call) -> tuple[str, Field, Field] | None:
    """Verb, source and destination of a copy that ends here; a third operand might be an option's value."""
    program, verb, items = call.command.program, call.command.subcommand, call.operands
    if program in ("aws", "gcloud") and items:
        verb, items = f"{verb} {items[0].text}", items[1:]
    if verb not in _COPIES.get(program, ()) or len(items) != 2:
        return None
    source, target = items
    if not target.known or not _is_away(program, source.text) or _is_away(program, target.text):
        return None
    return verb, source, target


def _is_away(program: str, text: str) -> bool:
    """A bucket, a pod, a remote: ``s3://b``, ``pod:/x``. A bare name is ``alias/bucket`` for mc."""
    if program == "mc":
        return text not in (".", "..") and not text.startswith(("./", "../", "/", "~"))
    return ":" in text


def _fetched(call: Call, verb: str, source: Field, target: Field) -> Effects:
    yield call.effect(Kind.NETWORK, source.text, sure=source.known)
    if verb.endswith(("sync", "mirror")):
        yield from call.write(target, "append")
        if call.has(*_MIRRORS) or call.command.program == "rclone":
            yield call.contents(target.text)
    elif paths.base(source.text.rstrip("/")) and call.is_folder(target):
        yield from call.write(call.into(target, source), "truncate")
    else:
        yield from call.write(target, "truncate")


def _destroys(word: str) -> bool:
    return word in _DELETES or word.startswith(
        ("delete-", "terminate-", "destroy-", "remove-", "deregister-", "purge-")
    )


def _ships(words: list[str]) -> bool:
    return any(
        word.startswith(("deploy", "create-", "put-", "update-", "run-", "start-", "stop-")) for word in words[:2]
    )


OPTIONS = {
    "kubectl": options(
        "-n= --namespace= --context= --cluster= --kubeconfig= -s= --server= --user= --token= --as= -f= --filename= "
        "-l= --selector= "
        "-o= --output= -c= --container= -p= --patch= --replicas= --grace-period= --timeout= --image= -k= --kustomize= "
        "| sub"
    ),
    "helm": options("-n= --namespace= --kube-context= --kubeconfig= -f= --values= --set= --version= --timeout= | sub"),
    "terraform": options("-chdir= -var= -var-file= -target= -state= -out= | sub words"),
    "pulumi": options("-s= --stack= -C= --cwd= -m= --message= -t= --target= | sub"),
    "aws": options(
        "--profile= --region= --output= --endpoint-url= --query= --bucket= --key= --exclude= --include= --acl= "
        "--storage-class= --sse= --page-size= --cache-control= --content-type= --metadata= | sub"
    ),
    "gcloud": options("--project= --account= --region= --zone= --format= --configuration= | sub"),
    "az": options("--subscription= -g= --resource-group= -n= --name= -o= --output= | sub"),
    "gsutil": options("-o= -h= -i= -u= | sub"),
    "fly": options("-a= --app= -c= --config= -t= --access-token= | sub"),
    "ansible-playbook": options(
        "-i= --inventory= -l= --limit= -e= --extra-vars= -t= --tags= -u= --user= -f= --forks= -M="
    ),
    "serverless": options("-s= --stage= -r= --region= -c= --config= | sub"),
    "heroku": options("-a= --app= -r= --remote= | sub"),
}
OPTIONS["tofu"] = OPTIONS["terragrunt"] = OPTIONS["terraform"]
OPTIONS["flyctl"], OPTIONS["sls"] = OPTIONS["fly"], OPTIONS["serverless"]
OPTIONS |= {name: options("| sub") for name in _CLOUD if name not in OPTIONS}

PROGRAMS: dict[str, Callable[[Call], Effects]] = dict.fromkeys(_CLOUD, cloud)
