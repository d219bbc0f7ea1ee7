"""Which cluster a command speaks to: the current context counts where nothing may name another kubeconfig."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ASK, ALLOW = Response.ASK, Response.ALLOW
HERE, AWAY = "kind-try", "prod"
CONFIG = """apiVersion: v1
clusters:
- cluster:
    server: https://127.0.0.1:6443
  name: kind-try
- cluster:
    server: https://prod.acme.com
  name: prod
contexts:
- context:
    cluster: {}
    user: x
  name: kind-try
- context:
    cluster: prod
    user: x
  name: prod
users:
- name: kind-user
current-context: {}
"""
KIND = "clusters:\n- cluster:\n    server: https://127.0.0.1:39013\n"
EKS = "https://x.eks.amazonaws.com"
FILES = {
    "plain.env": "A=1\n",
    "prod.env": "KUBECONFIG=/home/ann/.kube/prod\n",
    "Makefile": "wipe:\n\tkubectl delete ns x\n",
    "set/Makefile": "export KUBECONFIG := $(HOME)/.kube/prod\nwipe:\n\tkubectl delete ns x\n",
    "taken/Makefile": "include ../prod.env\nexport\nwipe:\n\tkubectl delete ns x\n",
    "other/Makefile": "include ../plain.env\nexport\nwipe:\n\tkubectl delete ns x\n",
    "set/justfile": "export KUBECONFIG := '/home/ann/.kube/prod'\nwipe:\n  kubectl delete ns x\n",
    "lf/helmfile.yaml": "releases: []\n",
    "hf/helmfile.yaml": "helmDefaults:\n  kubeContext: prod\n",
    "sk/skaffold.yaml": "deploy:\n  kubeContext: prod\n",
    "here/.kube/config": CONFIG.split("- cluster:\n    server: https://prod", maxsplit=1)[0],
    "both/.kube/config": CONFIG,
    "/tmp/kind.kubeconfig": KIND,
    "/tmp/eks.kubeconfig": f"clusters:\n- cluster:\n    server: {EKS}\n",
    "/tmp/flow.kubeconfig": f"{KIND}- cluster: {{server: {EKS}}}\n",
    "/tmp/remark.kubeconfig": f"{KIND}- cluster:\n    server: {EKS} # there\n",
    "/tmp/quoted.kubeconfig": f'{KIND}- cluster:\n    "server": {EKS}\n',
}
MADE = "kind create cluster --kubeconfig /tmp/k"
WIPE = "kubectl delete ns x"
ROWS = [
    # The current context is of here.
    *(("ls", text, HERE, ALLOW, "nothing names another") for text in (
        WIPE, f"timeout 60 {WIPE}", f"env A=1 {WIPE}", f"bash -c '{WIPE}'", f"source plain.env && {WIPE}",
        "make wipe", "make -C other wipe", "helm uninstall x", "cd lf && helmfile destroy",
        f"kubectl config set-context --current --namespace=x && {WIPE}", f"kubectl config view && {WIPE}",
        f"kubectl config current-context && {WIPE}", "kubectl --context kind-try delete ns x",
        "velero --kubecontext kind-try backup delete --all --confirm")),
    *(("ls", text, HERE, ASK, "the variables may name another file") for text in (
        f"source prod.env && {WIPE}", f"source ~/prod-env.sh && {WIPE}", f"set -a; . ~/.env.prod; set +a; {WIPE}",
        f"export $(cat prod.env | xargs); {WIPE}", f'eval "$(./env.sh)" && {WIPE}', "make -C set wipe",
        "make -C taken wipe", "cd set && just wipe", f"export $X; {WIPE}")),
    *(("ls", f"{text} {WIPE}", HERE, ASK, "what runs it may give another file, or is elsewhere") for text in (
        "direnv exec .", "mise exec --", "dotenv -e prod.env --", "op run --env-file prod.env --", "kubie exec prod x",
        "doppler run -c prd --", "ssh bastion", "docker exec tools", "docker run --rm bitnami/kubectl",
        "limactl shell prod", "HOME=/srv/deploy", "export HOME=/srv/deploy;")),
    ("ls", f"gcloud compute ssh bastion --command '{WIPE}'", HERE, ASK, "elsewhere"),
    *(("ls", text, HERE, ASK, "the tool's own variables, options and files") for text in (
        "HELM_KUBECONTEXT=prod helm uninstall x", "HELM_KUBEAPISERVER=https://prod.acme.com helm uninstall x",
        "cd hf && helmfile destroy", "helmfile -e prod destroy", "cd sk && skaffold delete", "skaffold delete -p prod",
        "kluctl delete -t prod --yes", "werf dismiss --env prod", "WERF_KUBE_CONTEXT=prod werf dismiss",
        "garden delete environment --env prod", "velero --kubecontext prod backup delete --all --confirm",
        "istioctl -c ~/.kube/prod uninstall --purge -y", "tkn -c prod pipeline delete --all -f",
        "kubectl --context kind-try --cluster prod delete ns x",
        "kubectl --tls-server-name prod.acme.com delete ns x")),
    *(("ls", f"{text} && {WIPE}", HERE, ASK, "the text chooses another") for text in (
        "kubectl config set current-context prod", "kubectl config set contexts.kind-try.cluster prod",
        "kubectl config set-context --current --cluster prod", "oc login https://api.prod.acme.com:6443",
        "tsh kube login prod", "vcluster connect prod", "civo kubernetes config prod --save --switch",
        "ibmcloud ks cluster config --cluster prod", "kubectl config rename-context prod kind-try")),
    # By its name and its server.
    ("ls", WIPE, "kind-try of prod", ASK, "called like one of here"),
    *(("ls", f"kubectl exec {text}", HERE, ALLOW, "in a pod of here") for text in (
        "db-0 -- psql -c 'DROP TABLE x'", "db-0 -- psql -h postgres -c 'DROP TABLE x'", "db-0 -- rm -rf /data",
        "db-0 -- psql -h pg.default.svc.cluster.local -c 'DROP TABLE x'", "mq-0 -- rabbitmqctl delete_queue x",
        "web-0 -- bin/rails db:reset", "db-0 -- redis-cli flushall")),
    *(("ls", f"kubectl {option}exec {text}", HERE, ASK, "and from there to somebody's") for text in (
        "db-0 -- psql -h db.acme.io -c 'DROP TABLE x'", "db-0 -- psql postgres://db.acme.io/x -c 'DROP TABLE x'",
        "db-0 -- sh -c 'psql -h db.acme.io -c \"DROP TABLE x\"'", "web-0 -- aws s3 rb s3://shop --force",
        "db-0 -- psql -c '\\c postgres://db.acme.io/x' -c 'DROP TABLE x'", "web-0 -- terraform destroy -auto-approve",
        "web-0 -- env DATABASE_URL=postgres://db.acme.io/x bin/rails db:reset",
        "-i db-0 -- bash <<'E'\npsql -h db.acme.io -c 'DROP TABLE x'\nE") for option in ("", "--context kind-try ")),
    *(("ls", text, HERE, ASK, "what no cluster gets") for text in (
        "helm push x.tgz oci://ghcr.io/charts", "helm --kube-context kind-try push x.tgz oci://ghcr.io/charts",
        "flux push artifact oci://ghcr.io/x:1 --path . --source x --revision y",
        "flux bootstrap github --owner acme --repository fleet")),
    ("ls", "helm push x.tgz oci://localhost:5000/charts", HERE, ALLOW, "a registry of here"),
    *(("ls", text, HERE, ASK, "another machine's, or another home's") for text in (
        "ssh prod kubectl --context microk8s delete ns x", "ssh prod 'kubectl --context kind-try delete ns x'",
        "docker exec tools kubectl --context kind-try delete ns x",
        "HOME=/tmp/h kubectl --context kind-try delete ns x")),
    ("ls", "kubectl --context kind-try delete ns x", "kind-try of prod", ASK, "the same"),
    ("ls", "kubectl config use-context kind-try && kubectl delete ns x", "kind-try of prod", ASK, "the same"),
    ("ls", "kubectl config rename-context prod kind-x && kubectl --context kind-x delete ns x", AWAY, ASK, "renamed"),
    # The text chooses one of here, or perhaps not.
    *(("ls", text, AWAY, ALLOW, "surely chosen") for text in (
        f"kubectl config use-context kind-try && {WIPE}", f"kubectl config use-context kind-try; {WIPE}",
        f"ls && kubectl config use-context kind-try && {WIPE}", f"kubectx kind-try && {WIPE}")),
    *(("ls", f"{text}; {WIPE}", AWAY, ASK, "perhaps not") for text in (
        '[ -n "$L" ] && kubectl config use-context kind-try', "false && kubectl config use-context kind-try",
        'if [ -n "$L" ]; then kubectl config use-context kind-try; fi', "kubectl config use-context kind-user",
        "ssh dev kubectl config use-context kind-try", "docker exec x kubectl config use-context kind-try",
        "HOME=/tmp/h kubectl config use-context kind-try", "(HOME=/tmp/h; kubectl config use-context kind-try)",
        "kubectl config use-context kind-try; kubectl config use-context prod")),
    # A kubeconfig of the session's.
    (MADE, f"KUBECONFIG=/tmp/k {WIPE}", AWAY, ALLOW, "made by kind"),
    (MADE, f"export KUBECONFIG=/tmp/k; kubectl config use-context kind-x; {WIPE}", AWAY, ALLOW, "all of it is here"),
    # Any other one, by what stands in it.
    ("ls", "KUBECONFIG=/tmp/kind.kubeconfig helm install web chart", AWAY, ALLOW, "a cluster of this machine"),
    ("ls", "kubectl --kubeconfig /tmp/kind.kubeconfig delete deploy x", AWAY, ALLOW, "by its option"),
    ("ls", "KUBECONFIG=/tmp/eks.kubeconfig helm install web chart", AWAY, ASK, "another one"),
    ("ls", "kubectl --kubeconfig /tmp/kind.kubeconfig --server https://prod.acme.com delete ns x", AWAY,
     ASK, "another one besides"),
    ("ls", "KUBECONFIG=/tmp/kind.kubeconfig helm --kube-apiserver https://prod.acme.com uninstall web", AWAY,
     ASK, "helm's option"),
    ("ls", "KUBECONFIG=/tmp/kind.kubeconfig argocd app delete prod --yes", AWAY, ASK, "who takes no server from it"),
    ("ls", "kubectl --kubeconfig /tmp/flow.kubeconfig delete ns x", AWAY, ASK, "one of two is another, in braces"),
    ("ls", "kubectl --kubeconfig /tmp/remark.kubeconfig delete ns x", AWAY, ASK, "before a remark"),
    ("ls", "kubectl --kubeconfig /tmp/quoted.kubeconfig delete ns x", AWAY, ASK, "behind a key in quotes"),
    ("ls", "ssh -fNL 39013:prod:6443 b; kubectl --kubeconfig /tmp/kind.kubeconfig delete ns x", AWAY,
     ASK, "its port leads away"),
    ("ls", "ssh -fNL 5432:db:5432 b; kubectl --kubeconfig /tmp/kind.kubeconfig delete ns x", AWAY,
     ALLOW, "another port does"),
    ("ls", "KUBECONFIG=/tmp/none.kubeconfig helm install web chart", AWAY, ASK, "a file that is not there"),
    ("ls", "KUBECONFIG=$K helm install web chart", AWAY, ASK, "one that is not known"),
    # One of the repository under the name of the person's own.
    *(("ls", text, AWAY, ALLOW, "it knows this machine alone") for text in (
        f"KUBECONFIG=here/.kube/config {WIPE}", "helm --kubeconfig here/.kube/config uninstall x",
        f"curl -so x.yaml https://acme.com/x; KUBECONFIG=here/.kube/config {WIPE}",
        f"kubectl --kubeconfig here/.kube/config config view; KUBECONFIG=here/.kube/config {WIPE}",
        "cd here && export KUBECONFIG=$PWD/.kube/config && helm rollback x 1")),
    *(("ls", text, AWAY, ASK, "another server, or the person's") for text in (
        f"KUBECONFIG=both/.kube/config {WIPE}", f"KUBECONFIG=~/.kube/config {WIPE}",
        f"KUBECONFIG=none/.kube/config {WIPE}", "helm uninstall x",
        f"scp prod:.kube/config here/.kube/config; KUBECONFIG=here/.kube/config {WIPE}",
        f"curl -so here/.kube/config https://acme.com/k; KUBECONFIG=here/.kube/config {WIPE}",
        f"sed -i s/127.0.0.1/acme.com/ here/.kube/config; KUBECONFIG=here/.kube/config {WIPE}",
        f"export KUBECONFIG=here/.kube/config; kubectl --kubeconfig $KUBECONFIG config set clusters.x.server y; {WIPE}",
        f"cp ~/.kube/config here/.kube/config && KUBECONFIG=here/.kube/config {WIPE}",
        f"echo 'server: https://prod.acme.com' >> here/.kube/config; KUBECONFIG=here/.kube/config {WIPE}",
        f"ssh -fNL 6443:prod:6443 b; KUBECONFIG=here/.kube/config {WIPE}",
        f"ln -sf ~/.kube/config here/.kube/config && KUBECONFIG=here/.kube/config {WIPE}",
        "KUBECONFIG=here/.kube/config helm --kube-apiserver https://prod.acme.com uninstall x",
        f"aws eks update-kubeconfig --name prod --kubeconfig here/.kube/config; KUBECONFIG=here/.kube/config {WIPE}")),
    *((MADE, text, AWAY, ASK, "changed afterwards") for text in (
        f"cp ~/.kube/prod.yaml /tmp/k && KUBECONFIG=/tmp/k {WIPE}",
        f"aws eks update-kubeconfig --name prod --kubeconfig /tmp/k && KUBECONFIG=/tmp/k {WIPE}",
        f"export KUBECONFIG=/tmp/k; gcloud container clusters get-credentials prod && {WIPE}")),
    *((MADE, f"KUBECONFIG=/tmp/k {text}", AWAY, ASK, "another server") for text in (
        "kubectl --server https://prod.acme.com delete ns x", "kubectl -s https://prod.acme.com delete ns x",
        "helm --kube-apiserver https://prod.acme.com uninstall x")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "then", "context", "response"), [row[:4] for row in ROWS],
    ids=[f"{n}: {row[4]}" for n, row in enumerate(ROWS)],
)  # fmt: skip
def test_which_cluster_is_meant(first: str, then: str, context: str, response: Response) -> None:
    current, _, cluster = context.partition(" of ")
    files = FILES | {"~/.kube/config": CONFIG.format(cluster or HERE, current)}
    assert said_of_last((first, then), files) is response
