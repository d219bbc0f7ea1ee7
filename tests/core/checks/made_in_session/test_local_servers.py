"""Clusters, registries, brokers and clones that are this machine's own: what a session does to them is free."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.core.checks.made_in_session.test_session_made_names import CONFIG
from tests.support.fakes import HOME
from tests.support.judge_cases import PROJECT, said_of_last

ASK, ALLOW = Response.ASK, Response.ALLOW
CLONE, BARE = "git clone . /tmp/x", "git clone --mirror . /tmp/x.git"
UP, RUN = "docker compose -p ledger-it up -d", "docker run -d --name mq rabbitmq:3"
IN, BESIDE = "docker compose -p ledger-it exec -T mq", "docker compose exec -T"
MINI = "minikube start -p notes"
CONTEXTS = CONFIG + "contexts:\n- name: kind-dev\n- name: prod\n"
FILES = {
    "compose.yaml": "services:\n  mq:\n    image: rabbitmq\n  keptmq:\n    image: rabbitmq\n"
    "    volumes: [mq:/var/lib]\n  led:\n    image: redpanda\n    command: start --addr PLAINTEXT://0.0.0.0:9092\n"
    "volumes:\n  mq: {}\n",
    "/tmp/mini.yaml": "clusters:\n- cluster:\n    extensions: [{provider: minikube.sigs.k8s.io}]\n"
    "    server: https://192.168.49.2:8443\n",
    "/tmp/net.yaml": "clusters:\n- cluster:\n    server: https://192.168.49.2:8443\n",
}
CLONES = [
    (CLONE, "git -C /tmp/x filter-repo --path libs --force", "", ALLOW, "a clone of the session's"),
    (BARE, "cd /tmp/x.git && git filter-branch --tree-filter true HEAD", "", ALLOW, "a bare one"),
    (CLONE, "cd /tmp/x && git reflog expire --expire=now --all && git gc --prune=now", "", ALLOW, "what it keeps"),
    (CLONE, "git -C /tmp/x branch -D main", "", ALLOW, "its branches"),
    (BARE, "bfg --delete-files id_rsa /tmp/x.git", "", ALLOW, "by another tool"),
    (BARE, "java -jar /opt/bfg.jar --strip-blobs-bigger-than 1M /tmp/x.git", "", ALLOW, "by its jar"),
    ("ls", "git clone -q . /tmp/x && cd /tmp/x && git filter-repo --force --path a", "", ALLOW, "of the same text"),
    (CLONE, "git filter-repo --force --path a", "", ASK, "the session's repository"),
    (CLONE, "git -C /tmp/x filter-repo --target . --path a", "", ASK, "it writes into another one"),
    (CLONE, "git -C /tmp/y filter-repo --force --path a", "", ASK, "another folder"),
    (CLONE, "git -C /tmp/x push --force --mirror origin", "", ASK, "what it sends is another matter"),
    (f"{CLONE}; true", "git -C /tmp/x filter-repo --force --path a", "", ASK, "it may not have been cloned"),
    ("git worktree add /tmp/x", "git -C /tmp/x filter-branch --tree-filter true HEAD", "", ASK, "its own work tree"),
    ("ls", "bfg --delete-files id_rsa .", "", ASK, "the repository itself"),
    (
        "ls",
        "git worktree add ../w && cd ../w && git checkout -- a && git clean -fdx",
        "",
        ALLOW,
        "its tree, of one text",
    ),
    ("ls", "git worktree add ../w; git -C ../v checkout -- a", "", ASK, "another folder"),
    ("ls", "git clone . ../w && git -C ../w reset --hard", "", ALLOW, "a clone's"),
    ("ls", "git worktree add ../w && git -C ../w --work-tree=../v checkout -- a", "", ASK, "another tree by option"),
    ("ls", "git worktree add ../w && git -C ../w config core.worktree ../v", "", ASK, "by a setting"),
    ("ls", "git worktree add ../w && git -C ../w stash drop", "", ASK, "what all trees share"),
]
BROKERS = [
    (UP, f"{IN} rpk topic delete a.b", "", ALLOW, "a project of the session's"),
    (UP, f"{IN} redis-cli -c flushall", "", ALLOW, "a cache there"),
    (UP, f"{IN} psql -U app -c 'drop table x'", "", ALLOW, "a database there"),
    (UP, f"{IN} sh -c 'redis-cli flushall'", "", ALLOW, "by a shell"),
    (UP, f"{IN} rpk -X brokers=kafka.acme.com:9092 topic delete a.b", "", ASK, "another machine's brokers"),
    (UP, f"{IN} rpk topic delete a.b --brokers kafka.acme.com:9092", "", ASK, "the same by an option"),
    (UP, f"{IN} redis-cli -h cache.acme.com flushall", "", ASK, "another machine's cache"),
    (UP, f"{IN} psql -h db.acme.com -c 'drop table x'", "", ASK, "another machine's database"),
    ("ls", "docker compose -p live exec -T mq rpk topic delete a.b", "", ASK, "nobody started it"),
    ("ls", f"{BESIDE} mq rabbitmqctl purge_queue x", "", ALLOW, "a service that keeps nothing"),
    ("ls", f"{BESIDE} led rpk topic delete a", "", ALLOW, "one that is told where it listens"),
    ("ls", f"{BESIDE} mq nats stream rm x -f", "", ALLOW, "streams"),
    ("ls", f"{BESIDE} mq etcdctl del --prefix /", "", ALLOW, "keys"),
    ("ls", f"{BESIDE} mq kafka-topics --bootstrap-server localhost:9092 --delete --topic x", "", ALLOW, "topics"),
    ("ls", f"{BESIDE} keptmq rabbitmqctl purge_queue x", "", ASK, "one that keeps"),
    ("ls", f"{BESIDE} mq rabbitmqctl -n rabbit@mq.acme.com purge_queue x", "", ASK, "another node"),
    ("ls", f"{BESIDE} mq nats -s nats://prod.acme.com:4222 stream rm x -f", "", ASK, "another server"),
    ("ls", f"{BESIDE} mq etcdctl --endpoints=https://etcd.acme.com:2379 del --prefix /", "", ASK, "the same"),
    (RUN, "docker exec mq rabbitmqctl delete_queue x", "", ALLOW, "a container of the session's"),
    (RUN, "docker exec mq psql -h db.acme.com -c 'drop table x'", "", ASK, "from there to another machine"),
    (RUN, "docker exec mq rabbitmqctl -n rabbit@shop-mq delete_queue x", "", ASK, "a node by its name"),
    (RUN, "docker exec mq rabbitmqctl -n rabbit@localhost delete_queue x", "", ALLOW, "that of the container"),
    (RUN, "docker exec mq rpk topic delete a -X brokers=shop:9092", "", ASK, "brokers in a pair"),
    (RUN, "docker exec mq zkCli.sh -server shop:2181 deleteall /a", "", ASK, "a server by one dash"),
    (RUN, "docker exec mq memcflush --servers=shop", "", ASK, "several"),
    (RUN, "docker exec mq memcflush --servers=localhost", "", ALLOW, "here"),
    ("ls", "docker exec mq rabbitmqctl delete_queue x", "", ASK, "a container of somebody's"),
    ("ls", "rpk -X brokers=localhost:19092 topic delete b", "", ALLOW, "brokers of this machine"),
    ("ls", "rpk topic delete c --brokers localhost:19092", "", ALLOW, "by another option"),
    ("ls", "rpk topic delete c --brokers localhost:19092,kafka.acme.com:9092", "", ASK, "and another machine's"),
    (
        "ls",
        "rpk -X brokers=localhost:19092 -X admin.hosts=prod:9644 topic delete c",
        "",
        ASK,
        "another's administration",
    ),
    ("ls", "rpk -X brokers=localhost:19092 --profile prod topic delete c", "", ASK, "settings of another"),
    ("ls", "rpk topic delete c -X tls.enabled=true", "", ASK, "nobody knows which"),
]
CLUSTERS = [
    (MINI, "kubectl --context notes delete namespace x", "", ALLOW, "minikube calls its context as its profile"),
    (MINI, "kubectl delete namespace x", "notes", ALLOW, "the current one"),
    ("minikube start --profile=notes", "helm --kube-context notes uninstall x", "", ALLOW, "in one word"),
    (MINI, "kubectl --context prod delete namespace x", "notes", ASK, "another one"),
    ("ls", "kubectl --context notes delete namespace x", "", ASK, "nobody knows which"),
    ("ls", "kubectl config use-context kind-dev && kubectl delete ns x", "prod", ALLOW, "the text chooses one of here"),
    ("ls", "kubectx kind-dev && helm uninstall x", "prod", ALLOW, "by another tool"),
    ("ls", "kubectl config use-context kind-other; kubectl delete ns x", "prod", ASK, "there is none of that name"),
    ("ls", "kubectl config use-context kind-dev && kubectl config use-context prod && kubectl delete ns x", "prod", ASK,
     "and then another"),
    ("ls", "kubectl config use-context kind-dev && KUBECONFIG=~/.kube/prod kubectl delete ns x", "prod", ASK,
     "another file counts before it"),
    ("k3d kubeconfig get t > /tmp/k", "KUBECONFIG=/tmp/k helm upgrade --install api charts/api", "", ALLOW,
     "what k3d prints leads to its own"),
    ("kind get kubeconfig --name t > /tmp/k", "kubectl --kubeconfig /tmp/k drain node", "", ALLOW, "and kind's"),
    ("aws eks update-kubeconfig --kubeconfig /tmp/k", "kubectl --kubeconfig /tmp/k drain node", "", ASK, "a cloud's"),
    ("ls", "kubectl --kubeconfig /tmp/mini.yaml delete ns x", "", ALLOW, "a machine of minikube's"),
    ("ls", "kubectl --kubeconfig /tmp/net.yaml delete ns x", "", ASK, "a machine of the network"),
    *(("ls", text, "kind-dev", ALLOW, "the current cluster is of here") for text in (
        "skaffold run", "skaffold delete", "helmfile sync", "flux install", "istioctl install -y", "cilium uninstall",
        "velero backup delete x --confirm", "KO_DOCKER_REPO=kind.local ko apply -f config")),
    *(("ls", text, "prod", ASK, "the current cluster is of others") for text in (
        "skaffold run", "helmfile sync", "cilium uninstall", "velero backup delete x --confirm",
        "KO_DOCKER_REPO=kind.local ko apply -f config")),
]  # fmt: skip
HERE = [
    "docker push localhost:5005/api:dev", "docker push 127.0.0.1:5000/api", "podman push a localhost:5000/a",
    "docker push k3d-reg.localhost:5000/api:$(git rev-parse --short HEAD)", "oras push localhost:5000/x:1 a.txt",
    "R=localhost:5000; docker tag a $R/a && docker push $R/a", "docker build --push -t localhost:5000/a .",
    "docker buildx build --push -t localhost:5000/a .", "crane copy alpine localhost:5000/alpine",
    "skopeo copy docker://alpine docker://localhost:5000/a", "crane delete localhost:5000/alpine",
    "helm push api-1.0.tgz oci://localhost:5000/charts", "KO_DOCKER_REPO=ko.local ko publish ./cmd/a",
    "npm publish --registry http://localhost:4873", "npx lerna publish --registry http://localhost:4873 --yes",
    "npm_config_registry=http://localhost:4873 npm publish",
    "npm unpublish x@1.0.0 --registry http://localhost:4873 --force", "gem push --host http://localhost:9292 x.gem",
    "twine upload --repository-url http://localhost:8080 dist/*", "uv publish --publish-url http://localhost:8080",
    "dotnet nuget push x.nupkg -s ./feed", "dotnet nuget push x.nupkg -s /tmp/feed",
    "dotnet nuget push x.nupkg --source http://localhost:5555/v3/index.json",
    "mvn deploy -DaltDeploymentRepository=local::http://localhost:8081/repository/x",
    "oras cp ghcr.io/x:1 localhost:5000/x:1", "crane mutate -t localhost:5000/a acme/a",
    "docker buildx build --push -t localhost:5000/a --cache-to type=registry,ref=localhost:5000/c .",
]  # fmt: skip
AWAY = [
    "docker push acme/api:dev", "docker push registry.acme.com:5000/api", "docker push localhost.acme.com/api",
    "docker buildx build --push -t localhost:5000/a -t acme/a .", "podman push a docker://acme/a",
    "docker buildx build --platform linux/amd64 -t acme/a --push .", "crane push img.tar acme/alpine",
    "skopeo copy docker://localhost:5000/a docker://acme/a", "oras push ghcr.io/x:1 a.txt", "docker push $IMAGE",
    "helm push api-1.0.tgz oci://ghcr.io/charts", "KO_DOCKER_REPO=ghcr.io/a ko publish ./cmd/a", "npm publish",
    "npm publish --registry https://registry.npmjs.org", "npm publish --registry http://localhost.acme.com",
    "twine upload --repository-url https://upload.pypi.org/legacy/ dist/*", "uv publish", "gem push x.gem",
    "dotnet nuget push x.nupkg --source https://api.nuget.org/v3/index.json", "mvn deploy", "docker compose push",
    "dotnet nuget push x.nupkg -s /mnt/feed", "dotnet nuget push x.nupkg -s ../feed",
    "oras cp localhost:5000/x:1 ghcr.io/x:1", "crane mutate -t acme/a localhost:5000/a",
    "crane append -t acme/a -f l.tar -b localhost:5000/a", "regctl image mod --create acme/a localhost:5000/a",
    "docker buildx build --push -t localhost:5000/a -o type=registry,name=acme/a .",
    "docker buildx build --push -t localhost:5000/a --cache-to type=registry,ref=acme/c .",
    "docker buildx build -t localhost:5000/a -o type=image,name=acme/a,push=true .",
    "docker buildx bake --push -t localhost:5000/a --set '*.tags=acme/a'",
    "npm publish --registry http://localhost:4873 --@acme:registry=https://registry.npmjs.org",
    "npm publish --registry http://localhost:4873 --userconfig /tmp/npmrc",
]  # fmt: skip
ROWS = [*CLONES, *BROKERS, *CLUSTERS, *(("ls", text, "", ALLOW, f"here: {text}") for text in HERE),
        *(("ls", text, "", ASK, f"elsewhere: {text}") for text in AWAY)]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "then", "context", "response"), [row[:4] for row in ROWS],
    ids=[f"{n}: {row[4]}" for n, row in enumerate(ROWS)],
)  # fmt: skip
def test_servers_of_this_machine(first: str, then: str, context: str, response: Response) -> None:
    files = FILES | ({"~/.kube/config": CONTEXTS.format(context)} if context else {})
    assert said_of_last((first, then), files) is response


def test_a_scope_that_has_another_registry_goes_there() -> None:
    text = "YARN_NPM_PUBLISH_REGISTRY=http://localhost:4873 yarn npm publish"
    assert said_of_last(("ls", text), {".yarnrc.yml": "nodeLinker: pnp\n"}) is ALLOW
    assert said_of_last(("ls", text), {".yarnrc.yml": "npmScopes:\n  acme:\n"}) is ASK


def test_a_package_that_names_another_registry_goes_there() -> None:
    files = {"package.json": '{"publishConfig": {"registry": "https://npm.acme.com"}}'}
    assert said_of_last(("ls", "npm publish --registry http://localhost:4873"), files) is ASK


@pytest.mark.parametrize("text", ["git -C ../w checkout -- a", "cd ../w && git reset --hard", "git -C ../w clean -fd"])
def test_a_work_tree_is_as_old_as_what_is_in_it(text: str) -> None:
    files = {f"{HOME}/w/.git": f"gitdir: {PROJECT}/.git/worktrees/w\n", f"{HOME}/w/a": ""}
    assert said_of_last((text,), files, new=(f"{HOME}/w", f"{HOME}/w/a")) is ALLOW
    old = {f"{HOME}/docs/.git/HEAD": "", f"{HOME}/docs/a": ""}
    assert said_of_last((text,), old, links={f"{HOME}/w": f"{HOME}/docs"}, new=(f"{HOME}/w",)) is ASK
    assert said_of_last((text,), files, new=(f"{HOME}/w/.git",)) is ASK  # made by hand in a folder of the person's
