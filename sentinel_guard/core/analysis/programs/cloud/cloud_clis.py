"""Cloud CLIs (kubectl, terraform, aws …) that change clusters, stacks and buckets. argv -> effects.

``cloud_cli_subcommands.py`` has their verbs. Here stand the copies, whose direction counts, the commands and queries
that run over there, and what tells that the other end is this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import (
    ansible,
    deployment_tools,
    local_clusters,
    local_ends,
    local_registries,
    other_service_clis,
    remote_commands,
    service_requests,
    terraform_files,
)
from sentinel_guard.core.analysis.programs.cloud.cloud_cli_subcommands import TABLES
from sentinel_guard.core.analysis.programs.cloud.remote_consoles import is_console, is_production
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_WHERE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("kubectl", "oc", "helm"), ("--context", "--kube-context", "-n", "--namespace", "--cluster")),
    "helmfile": ("-e", "--environment"),
    **dict.fromkeys(("terraform", "tofu"), ("-chdir",)),
    "pulumi": ("-s", "--stack"),
    "aws": ("--profile", "--region"),
    "gcloud": ("--project",),
    "az": ("--subscription", "-g", "--resource-group"),
    **dict.fromkeys(("flyctl", "fly", "heroku"), ("-a", "--app")),
    "vercel": ("--scope",),
    "netlify": ("-s", "--site"),
    "firebase": ("-P", "--project"),
    "wrangler": ("-e", "--env"),
    **dict.fromkeys(("serverless", "sls", "sst"), ("-s", "--stage")),
    "cdk": ("--profile",),
    "sam": ("--stack-name",),
    "eksctl": ("--cluster",),
    "railway": ("-e", "--environment"),
    "supabase": ("--project-ref",),
    **dict.fromkeys(("ansible-playbook", "ansible"), ("-i", "--inventory", "-l", "--limit")),
    "kamal": ("-d",),
}
"""Options that say where, for the person who is asked."""
_AT_HOME = frozenset(("kind", "minikube", "k3d", "microk8s", "ctlptl", "limactl", "colima", "orb", "orbctl", "packer"))
"""Tools whose other end is this machine."""
_FORWARDERS = ("port-forward", "proxy")
_GOES_ON = frozenset(
    ("run", "run:detached", "exec", "ssh", "console", "help", "logs", "search", "explain", "completion")
)
"""Verbs whose further words are another command's, or are only looked for."""


def cloud(call: Call) -> Effects:
    """kubectl, terraform, aws …: a verb that destroys or changes; plans, dry runs and queries do nothing."""
    program = call.command.program
    local_ends.note(call)
    here = local_ends.is_here(call)
    told = tuple(remote_commands.of_table(call)) or remote_commands.told_by_words(call)
    yield from remote_commands.leading_on(call, told) if here else told
    yield from _queries(call)
    if call.command.subcommand in _FORWARDERS:
        call.world.forward(" ".join(call.command.argv))
    if here or (program == "supabase" and _is_own_stack(call)):
        if plan := local_ends.saved_plan(call):
            yield replace(
                call.effect(Kind.DEPLOY, program), file=plan if terraform_files.is_own_plan(call, plan) else ""
            )
        return
    if program in local_ends.EMULATED:
        yield from call.runner.run([Field(local_ends.EMULATED[program]), *call.fields[1:]], call, program)
        return
    rows = TABLES[program]
    if program == "aws" and _is_lasting_link(call):
        yield call.effect(Kind.DEPLOY, "a link for everybody")
    if subcommand_tables.what(call, rows) == subcommand_tables.QUIET:
        return
    if any(
        item.text.startswith(("public-", "publicRead")) for item in call.parsed.values("--acl", "-a", "--canned-acl")
    ):
        yield call.effect(Kind.DEPLOY, f"{program} for everybody")
    if (copy := _copy(call)) is not None:
        yield from _copied(call, copy)
        return
    where = next((call.head.value(name) or call.parsed.value(name) for name in _WHERE.get(program, ())
                  if call.has(name)), None)  # fmt: skip
    target = f"{program} {where.text}" if where is not None else program
    aside = program in _AT_HOME or call.command.subcommand in _GOES_ON
    words = subcommand_tables.loses_by_words(call) or subcommand_tables.loses_softly(call)
    yield from () if aside or subcommand_tables.what(call, rows) else service_requests.effects(call, target)
    if words and not (aside or subcommand_tables.what(call, rows)):
        yield call.effect(Kind.DEPLOY, target, "delete", sure=False)
    found = subcommand_tables.effects(call, rows, target)
    yield from (e for e in found if e.kind is not Kind.PUBLISH or not local_registries.is_meant(call))


def _switches(call: Call) -> Effects:
    """``kubectx`` and its like: the next kubectl may mean another cluster."""
    local_ends.note(call)
    return remote_commands.told_by_words(call)


def _is_own_stack(call: Call) -> bool:
    """``supabase db reset`` of the stack that the repository describes: its recipe, on this machine (ADR 0045)."""
    words = [call.command.subcommand, *(item.text for item in call.operands[:1])]
    told = call.has("--linked", "--db-url", "--project-ref", "--workdir") or any(not item.known for item in call.fields)
    return words == ["db", "reset"] and not told and bool(call.world.kind(call.locate("supabase/config.toml")))


def _is_lasting_link(call: Call) -> bool:
    """``aws s3 presign`` for longer than an hour."""
    words = [item.text for item in call.fields[1:]]
    if words[:2] != ["s3", "presign"]:
        return False
    given = [b for a, b in pairwise(words) if a == "--expires-in"]
    given += [word.partition("=")[2] for word in words if word.startswith("--expires-in=")]
    return any(not text.isdigit() or int(text) > _HOUR for text in given)


_HOUR = 3600  # seconds; what ``presign`` takes without an option


_QUERIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bq": (("query",), ()),
    "wrangler": (("d1 execute",), ("--command",)),
    "heroku": (("pg:psql",), ("-c", "--command")),
    "aws": (("rds-data execute-statement", "redshift-data execute-statement"), ("--sql",)),
    "gcloud": (("spanner databases execute-sql",), ("--sql",)),
    "turso": (("db shell",), ()),
}
"""Verbs that take SQL, and the option that holds it, else the last operand."""


def _queries(call: Call) -> Iterator[Effect]:
    program = call.command.program
    asked, names = _QUERIES.get(program, ((), ()))
    tried = call.has("--dry_run", "--dry-run") or (program == "wrangler" and not call.has("--remote"))
    if remote_commands.verb_of(call, asked) is not None and not tried:
        given = [("-c", item) for item in (call.parsed.values(*names) if names else call.operands[-1:])]
        given += [("-f", item) for item in call.parsed.values("--file")]
        for option, item in given:
            yield from call.runner.run(
                [Field("psql"), Field("-h"), Field(f"{program}.invalid"), Field(option), item], call, program
            )


# Copies: their direction counts

_COPIES: dict[str, tuple[str, ...]] = {
    "aws": ("s3 cp", "s3 sync"),
    "gsutil": ("cp", "rsync"),
    "gcloud": ("storage cp", "storage rsync", "compute scp"),
    "mc": ("cp", "mirror", "put"),
    "s3cmd": ("get", "put", "sync"),
    "s5cmd": ("cp", "sync"),
    "rclone": ("copy", "copyto", "sync", "move", "moveto"),
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
_TREES = ("-r", "-R", "--recursive")


class _Copy:
    """A copy's verb, its two ends, and which of them are away."""

    def __init__(self, program: str, verb: str, source: Field, target: Field) -> None:
        self.verb, self.source, self.target = verb, source, target
        self.from_away, self.to_away = _is_away(program, source.text), _is_away(program, target.text)


def _copy(call: Call) -> _Copy | None:
    """A copy with two operands whose ends are known; a third one might be an option's value."""
    program, verb, items = call.command.program, call.command.subcommand, call.operands
    if program in ("aws", "gcloud") and items:
        verb, items = f"{verb} {items[0].text}", items[1:]
    if verb not in _COPIES.get(program, ()) or len(items) != 2 or not items[1].known:
        return None
    copy = _Copy(program, verb, items[0], items[1])
    single = not (call.has(*_TREES) or verb.endswith(("sync", "mirror", "copy", "move")))
    uploads = single and not copy.from_away and program not in ("kubectl", "oc")
    return copy if (copy.from_away and not copy.to_away) or (copy.to_away and uploads) else None


def _is_away(program: str, text: str) -> bool:
    """A bucket, a pod, a remote: ``s3://b``, ``pod:/x``. A bare name is ``alias/bucket`` for mc."""
    if program == "mc":
        return text not in (".", "..", "-") and not text.startswith(("./", "../", "/", "~"))
    return ":" in text


def _copied(call: Call, copy: _Copy) -> Effects:
    source, target = copy.source, copy.target
    if copy.to_away:
        yield from call.read(source)
        yield call.effect(Kind.NETWORK, target.text, "data", sure=source.known)
        return
    if copy.verb.startswith("move"):
        yield call.effect(Kind.DEPLOY, call.command.program, "delete")
    yield call.effect(Kind.NETWORK, source.text, sure=source.known)
    if copy.verb.endswith(("sync", "mirror")):
        yield from call.write(target, "append")
        if call.has(*_MIRRORS) or call.command.program == "rclone":
            yield call.contents(target.text)
    elif paths.base(source.text.rstrip("/")) and call.is_folder(target):
        yield from call.write(call.into(target, source), "truncate")
    else:
        yield from call.write(target, "truncate")


def uploads(call: Call) -> Effects:
    """Azure storage: the file that goes up, beside what the table says."""
    if {"upload", "upload-batch"} & {item.text for item in call.operands[:4]}:
        for item in call.parsed.values("-f", "--file", "-s", "--source"):
            yield from call.read(item)
            yield call.effect(Kind.NETWORK, "az storage", "data", sure=item.known)
    yield from cloud(call)


def vercel(call: Call) -> Effects:
    """``vercel env pull [FILE]`` writes the settings of the project into a file."""
    words = [call.command.subcommand, *(item.text for item in call.operands[:1])]
    if words == ["env", "pull"]:
        file = call.operands[1] if call.operands[1:] else Field(".env.local")
        yield from call.write(file, "truncate")
        call.world.secrets.add(call.locate(file))
    yield from cloud(call)


def railway(call: Call) -> Effects:
    """``railway run`` runs the rest here, with the variables of the other end; ``shell`` is a shell with them."""
    typed = {"run": call.operands, "shell": ()}.get(call.command.subcommand)
    if typed is not None and is_console(typed) and is_production(call):
        yield call.effect(Kind.DEPLOY, "railway")
    if call.command.subcommand == "run":
        yield from call.runner.run(call.operands, call, "railway")
    else:
        yield from cloud(call)


OPTIONS = {
    "kubectl": options(
        "-n= --namespace= --context= --cluster= --kubeconfig= -s= --server= --user= --token= --as= -f= --filename= "
        "-l= --selector= -o= --output= -c= --container= -p= --patch= --replicas= --grace-period= --timeout= --image= "
        "-k= --kustomize= -v= --cache-dir= --request-timeout= --field-selector= --type= --from-file= --address= "
        "--accept-hosts= | sub"
    ),
    "helm": options("-n= --namespace= --kube-context= --kubeconfig= -f= --values= --set= --version= --timeout= | sub"),
    "helmfile": options("-e= --environment= -f= --file= -n= --namespace= -l= --selector= --kube-context= --args= | "
        "sub"),
    "terraform": options("-chdir= -var= -var-file= -target= -state= -out= -replace= -backend-config= | sub words"),
    "pulumi": options("-s= --stack= -C= --cwd= -m= --message= -t= --target= --color= -v= -c= --config= | sub"),
    "aws": options(
        "--profile= --region= --output= --endpoint-url= --query= --bucket= --key= --exclude= --include= --acl= "
        "--storage-class= --sse= --page-size= --cache-control= --content-type= --metadata= --command= --sql= --color= "
        "--ca-bundle= --cli-read-timeout= --cli-connect-timeout= --cli-binary-format= | sub"
    ),
    "gcloud": options("--project= --account= --region= --zone= --format= --configuration= --command= --sql= "
                      "--impersonate-service-account= --verbosity= --filter= --billing-project= | sub"),
    "az": options("--subscription= -g= --resource-group= -n= --name= -o= --output= --query= -f= --file= -s= --source= "
                  "-c= --container-name= --account-name= --method= -m= -u= --uri= | sub"),
    "gsutil": options("-o= -h= -i= -u= | sub"),
    "bq": options("--location= --project_id= --dataset_id= --format= --bigqueryrc= --api= | sub"),
    "fly": options("-a= --app= -c= --config= -t= --access-token= -C= --command= --org= -o= | sub"),
    "vercel": options("-S= --scope= -t= --token= --cwd= -A= --local-config= -Q= --global-config= -b= --build-env= -e= "
                      "--env= -m= --meta= --target= --regions= | sub"),
    "netlify": options("-s= --site= --auth= -d= --dir= -m= --message= -a= --alias= -f= --functions= --filter= "
                       "--context= --data= --timeout= | sub"),
    "railway": options("-e= --environment= -s= --service= -p= --project= --set= | sub first"),
    "railway run": options("-e= --environment= -s= --service= -p= --project= | first"),
    "railway variables": options("-e= -s= --set= --environment= --service="),
    "ansible-playbook": options(
        "-i= --inventory= -l= --limit= -e= --extra-vars= -t= --tags= -u= --user= -f= --forks= -M= --start-at-task= "
        "--skip-tags= --vault-password-file= --vault-id= -c= --connection= --private-key= -T="
    ),
    "ansible": options("-i= --inventory= -l= --limit= -m= --module-name= -a= --args= -e= --extra-vars= -u= --user= -f= "
                       "--forks= -M= -B= -P= -t= --tree= -c= --connection= --become-user= --become-method= -T="),
    "serverless": options("-s= --stage= -r= --region= -c= --config= --aws-profile= --param= | sub"),
    "heroku": options("-a= --app= -r= --remote= -c= --command= --confirm= -t= --team= -s= --size= --type= | sub"),
    "firebase": options("-P= --project= --only= --except= --token= -m= --message= -c= --config= --account= | sub"),
    "wrangler": options("-c= --config= -e= --env= --name= --command= --file= --cwd= --binding= --branch= -p= --path= |"
        " sub"),
    "supabase": options("--project-ref= --workdir= --db-url= -p= --password= --profile= --schema= -o= | sub"),
    "cdk": options("-a= --app= -c= --context= --profile= -o= --output= --require-approval= --outputs-file= "
                   "--parameters= -t= --tags= --toolkit-stack-name= -r= --role-arn= | sub"),
    "sam": options("-t= --template= --template-file= --stack-name= --region= --profile= --config-env= --s3-bucket= "
                   "--parameter-overrides= --capabilities= | sub"),
    "sst": options("--stage= --profile= --region= | sub"),
    "doctl": options("-t= --access-token= --context= -c= --config= -u= --api-url= -o= --output= --format= "
                     "--ssh-command= | sub"),
    "argocd": options("--server= --auth-token= --config= --grpc-web-root-path= -l= --header= -H= --revision= | sub"),
    "nomad": options("-address= -region= -namespace= -token= -ca-cert= -task= -job= -version= | sub words"),
    "vault": options("-address= -namespace= -ns= -format= -field= -mount= -versions= -ca-cert= | sub words"),
    "consul": options("-http-addr= -token= -datacenter= -ca-file= -namespace= | sub words"),
    "virsh": options("-c= --connect= -d= --debug= -l= --log= | sub"),
    "rclone": options("--config= --filter= --filter-from= --exclude= --exclude-from= --include= --include-from= "
                      "--transfers= --checkers= --bwlimit= --log-file= --max-age= --min-age= --retries= | sub"),
    "eb": options("-e= -c= --command= --profile= -r= --region= -l= --label= -m= --message= | sub"),
    "vagrant": options("-c= --command= --provider= | sub"),
    "kamal": options("-d= --destination= -c= --config-file= -r= --roles= -h= --hosts= -p= --version= | sub"),
    "cap": options("-r= -f= -z | sub"),
    "eksctl": options("--cluster= --name= --region= -r= -p= --profile= -f= --config-file= -n= --nodegroup= | sub"),
    **dict.fromkeys(("surge", "gh-pages"), options("-d= --dist= -b= --branch= -r= --repo= -m= --message= -p= "
        "--project=")),
}  # fmt: skip
OPTIONS["tofu"] = OPTIONS["terragrunt"] = OPTIONS["terramate"] = OPTIONS["terraform"]
OPTIONS["flyctl"], OPTIONS["sls"], OPTIONS["bao"] = OPTIONS["fly"], OPTIONS["serverless"], OPTIONS["vault"]
OPTIONS["oc"] = OPTIONS["kubectl"]
OPTIONS["mc"] = OPTIONS["mcli"] = options("-C= --config-dir= | sub")
OPTIONS |= {name: options("| sub") for name in TABLES if name not in OPTIONS}
OPTIONS |= {name: OPTIONS[of] for name, of in local_ends.EMULATED.items()}
OPTIONS = {**other_service_clis.OPTIONS, **deployment_tools.OPTIONS, **OPTIONS}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **other_service_clis.PROGRAMS,
    **deployment_tools.PROGRAMS,
    **dict.fromkeys(local_clusters.SWITCHERS, _switches),
    **dict.fromkeys((*TABLES, *local_ends.EMULATED), cloud),
    "ansible": ansible.ad_hoc,
    "az": uploads,
    "railway": railway,
    "vercel": vercel,
}
