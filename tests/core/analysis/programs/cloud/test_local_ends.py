"""Ends that are not this machine's though something of them is: states, aliases, registries, inventories, machines."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.evaluation import made_names
from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ASK, ALLOW = Response.ASK, Response.ALLOW
NULL = 'resource "null_resource" "x" {}\n'
BUCKET = 'resource "aws_s3_bucket" "b" {}\n'
TRIAL = 'provider "aws" {\n  access_key = "test"\n  endpoints { s3 = "http://localhost:4566" }\n}\n'
SECOND = 'resource "aws_s3_bucket" "b" { provider = aws.real }\n'
STATE = '{{"version": 4, "resources": [{{"mode": "managed", "type": "{}", "name": "x", "instances": []}}]}}'
ALONE = {  # folder -> its files: none of them is of this machine alone
    "state": {"main.tf": NULL, "terraform.tfstate": STATE.format("aws_db_instance")},
    "torn": {"main.tf": NULL, "terraform.tfstate": "{"},
    "spaces": {"main.tf": NULL, "terraform.tfstate.d/prod/terraform.tfstate": "{}"},
    "selected": {"main.tf": NULL, ".terraform/environment": "prod"},
    "remote": {"main.tf": NULL, ".terraform/terraform.tfstate": '{"backend": {"type": "s3"}}'},
    "bare": {"main.tf": NULL + "terraform {\n  backend s3 {}\n}\n"},
    "path": {"main.tf": NULL + 'terraform {\n  backend "local" { path = "/srv/prod.tfstate" }\n}\n'},
    "host": {"main.tf": 'provider "docker" {\n  host = var.h\n}\nresource "docker_container" "x" {}\n'},
    "context": {"main.tf": 'provider "docker" {\n  context = "prod"\n}\nresource "docker_container" "x" {}\n'},
    "volume": {"main.tf": 'resource "docker_volume" "shopdata" {}\n'},
    "indented": {"main.tf": f'{TRIAL} provider "aws" {{\n  alias = "real"\n}}\n{SECOND}'},
    "line": {"main.tf": f'{TRIAL}provider "aws" {{ alias = "real" }}\n{SECOND}'},
    "unquoted": {"main.tf": f"{TRIAL}provider aws {{\n  alias = real\n}}\n{SECOND}"},
    "module": {"main.tf": f'{TRIAL}module "m" {{\n source = "./m"\n}}\n',
               "m/main.tf": f'provider "aws" {{ region = "eu-west-1" }}\n{BUCKET}'},
    "word": {"main.tf": f"{NULL}resource aws_s3_bucket b {{}}\n"},
    "hash": {"main.tf": 'provider "aws" {\n  # access_key = "test"\n  # s3 = "http://localhost:4566"\n}\n' + BUCKET},
    "slashes": {"main.tf": 'provider "aws" {\n  // access_key = "test"\n  // s3 = "http://[::1]:4566"\n}\n' + BUCKET},
    "aliased": {"main.tf": TRIAL.replace("{\n", '{\n  alias = "x"\n', 1) + BUCKET},
    "bashrc": {"main.tf": 'resource "local_file" "x" {\n  filename = "/home/ann/.bashrc"\n}\n'},
    "above": {"main.tf": 'resource "local_file" "x" {\n  filename = "${path.module}/../../x"\n}\n'},
    "import": {"main.tf": NULL + "import {\n  to = aws_s3_bucket.b\n}\n"},
    "removed": {"main.tf": NULL + "removed {\n  from = aws_s3_bucket.b\n}\n"},
    "tofu": {"main.tf": NULL, "more.tofu": BUCKET},
    "braces": {"main.tf": 'resource "local_file" "x" {\n  content = "${a.b}"\n  filename = "/home/ann/x"\n}\n'},
    "archive": {"main.tf": 'data "archive_file" "x" {\n  output_path = "/home/ann/x.zip"\n}\n' + NULL},
    "templates": {"main.tf": 'resource "template_dir" "x" {\n  destination_dir = "/home/ann/x"\n}\n'},
    "config": {"main.tf": 'resource "kind_cluster" "x" {\n  kubeconfig_path = "/home/ann/.kube/config"\n}\n'},
    "command": {"main.tf": 'data "local_command" "x" {\n  command = "rm"\n}\n'},
    "secret": {"main.tf": NULL + 'output "x" {\n  value = file(pathexpand("~/.aws/credentials"))\n}\n'},
    "action": {"main.tf": NULL + 'action "aws_lambda_invoke" "x" {\n}\n'},
    "publisher": {"main.tf": 'terraform {\n  required_providers {\n    null = { source = "x/null" }\n  }\n}\n' + NULL},
    "heredoc": {"main.tf": f"locals {{ a = <<E\n/*\nE\n}}\n{BUCKET}locals {{ b = <<E\n*/\nE\n}}\n{NULL}"},
    "mounted": {"main.tf": 'resource "docker_container" "x" {\n  volumes {\n    host_path = "/home/ann"\n  }\n}\n'},
    "shared": {"main.tf": 'resource "docker_container" "x" {\n  volumes {\n    volume_name = "shop"\n  }\n}\n'},
    "rights": {"main.tf": 'resource "docker_container" "x" {\n  privileged = true\n}\n'},
    "kubeconfig": {"main.tf": 'provider "kubernetes" {\n  config_path = "~/k"\n  config_context = "kind-x"\n}\n'
                   'resource "kubernetes_secret" "x" {}\n'},
    "contexts": {"main.tf": 'provider "helm" {\n  config_context = "kind-x"\n  config_context = "kind-y"\n}\n'
                 'provider "kubernetes" {}\nresource "kubernetes_secret" "x" {}\n'},
}  # fmt: skip
HERE = {
    "plain": {"main.tf": NULL, "terraform.tfstate": STATE.format("null_resource")},
    "trial": {"main.tf": TRIAL + BUCKET, "terraform.tfstate": STATE.format("aws_s3_bucket")},
    "oneline": {"main.tf": TRIAL.replace("\n  ", " ").replace("\n}", " }") + BUCKET.replace('"', "")},
    "local": {"main.tf": NULL, ".terraform/terraform.tfstate": '{"backend": {"type": "local", "config": {}}}'},
    "written": {"main.tf": 'resource "local_file" "x" {\n  filename = "${path.module}/out.txt"\n}\n'},
    "engine": {"main.tf": 'provider "docker" {}\nresource "docker_container" "x" {}\n'},
    "publishers": {
        "main.tf": 'terraform {\n  required_providers {\n    null = { source = "hashicorp/null" }\n'
        '    docker = { source = "kreuzwerker/docker" }\n  }\n}\n' + NULL
    },
    "zip": {"main.tf": 'data "archive_file" "x" {\n  source_dir = "src"\n  output_path = "${path.module}/x.zip"\n}\n'},
    "read": {"main.tf": NULL + 'output "x" {\n  value = file("${path.module}/a.txt")\n}\n'},
    "value": {"main.tf": 'resource "local_file" "x" {\n  content = "${random_id.r.hex}"\n  filename = "out.txt"\n}\n'},
    "ports": {"main.tf": 'resource "docker_container" "x" {\n  ports {\n    internal = 80\n  }\n}\n'},
    "cluster": {
        "main.tf": 'provider "kubernetes" {\n  config_path = "~/.kube/config"\n  config_context = "kind-x"\n}\n'
        'resource "kubernetes_secret" "x" {}\n'
    },
    "remarks": {"main.tf": NULL + '# backend "s3" {}\n/* provider "aws" {} */\n'},
}
FILES = {f"{top}/{name}": text for top, files in (ALONE | HERE).items() for name, text in files.items()} | {
    "package.json": '{"name": "@acme/x"}',
    "scoped/package.json": '{"name": "@acme/x"}',
    "scoped/.npmrc": "@acme:registry=https://npm.acme.com\n",
    "p.sh": "mc alias set dev https://s3.acme.com a b\n",
    "inv/hosts.ini": "[web]\n127.0.0.1 ansible_port=2222\n",
    "inv/site.yml": "- hosts: all\n",
    "inv/remark.ini": "[web]\n127.0.0.1 ansible_port=2222\nprod.acme.io  # ansible_port=2222 docker\n",
    "inv/named.ini": "[web]\ndockerhost.acme.io ansible_port=2222 x=docker\n",
    "inv/c.ini": "[web]\nweb1 ansible_connection=community.docker.docker\n",
    "vars/hosts.ini": "[web]\n127.0.0.1 ansible_port=2222\n",
    "vars/group_vars/web.yml": "ansible_host: prod.acme.io\n",
    "led/hosts.ini": "[web]\n127.0.0.1 ansible_port=2222\n",
    "led/site.yml": "- hosts: all\n  tasks:\n  - shell: rm -rf /srv\n    delegate_to: prod.acme.io\n",
    "empty/main.tf": NULL + 'terraform {\n  backend "local" {}\n}\n',
    "/srv/live/main.tf": BUCKET,
    "real/main.tf": BUCKET,
    "real2/main.tf": f'{BUCKET}resource "cloudflare_zone" "x" {{}}\n',
}
ALIAS, AWAY = "mc alias set dev http://localhost:9000 a b", "mc alias set dev https://s3.acme.com a b"
DROP = "mc rb --force dev/x"
VAULT = "VAULT_ADDR=http://127.0.0.1:8200"
DESTROY = "destroy -auto-approve"
APPLY = f"terraform init && terraform apply -auto-approve && terraform {DESTROY}"
IN_COPY = f"/tmp/t && cd /tmp/t && {APPLY}"
ROWS = [
    *(("ls", f"terraform -chdir={name} destroy -auto-approve", ASK, name) for name in ALONE),
    *(("ls", f"terraform -chdir={name} destroy -auto-approve", ALLOW, name) for name in HERE),
    *(("ls", f"cd plain && {text}", ASK, "another state") for text in (
        "terraform workspace select prod && terraform destroy -auto-approve",
        "terraform destroy -auto-approve -state=/srv/prod/terraform.tfstate",
        "TF_CLI_ARGS_destroy=-state=/srv/x terraform destroy -auto-approve",
        "TF_WORKSPACE=prod terraform destroy -auto-approve", "terraform state rm aws_db_instance.shop",
        "terraform state push -force old.tfstate", "ssh prod terraform destroy -auto-approve")),
    ("ls", "cd engine && DOCKER_HOST=ssh://prod terraform destroy -auto-approve", ASK, "another engine"),
    ("ls", "terraform -chdir=plain state mv -dry-run random_id.x random_id.y", ALLOW, "nothing is lost"),
    # What counts before an address of this machine
    *(("ls", text, ALLOW, "an end of this machine") for text in (
        "AWS_ENDPOINT_URL=http://localhost:4566 aws s3 rb s3://x --force", f"{VAULT} vault kv delete secret/x",
        "argocd --server localhost:8080 app delete x")),
    *(("ls", text, ASK, "told another one") for text in (
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true AWS_ENDPOINT_URL=http://localhost:4566 aws s3 rb s3://x --force",
        f"VAULT_AGENT_ADDR=https://vault.acme.com {VAULT} vault kv delete secret/x",
        "argocd --server localhost:8080 --core app delete x",
        "argocd --server localhost:8080 --port-forward app delete x")),
    (ALIAS, "mc rm -r --force dev/x plain/main.tf", ASK, "an alias counts before a file of that name"),
    (ALIAS, "mc rm -r --force dev/x ./plain", ALLOW, "a file as such"),
    (ALIAS, "mc mirror --overwrite plain dev/x", ALLOW, "a folder that is sent there"),
    ("ls", "ansible-playbook -c docker -i inv/c.ini inv/site.yml", ASK, "an inventory counts before a connection"),
    ("ls", "ansible-playbook -c docker -i c.ini inv/site.yml", ALLOW, "one that says none"),
    ("ls", "ansible-playbook -i inv/hosts.ini --ssh-common-args='-J prod' inv/site.yml", ASK, "by way of another"),
    ("ls", "ANSIBLE_SSH_ARGS='-J prod' ansible-playbook -i inv/hosts.ini inv/site.yml", ASK, "the same"),
    ("vagrant up", "vagrant ssh -c 'psql -c \"DROP TABLE x\"'", ALLOW, "in a machine of the session's"),
    ("vagrant up", "vagrant ssh -c 'psql -h db.acme.io -c \"DROP TABLE x\"'", ASK, "and from there to another"),
    ("vagrant up", "vagrant ssh -c 'rm -rf /vagrant/src'", ASK, "the folder that it shares"),
    ("ls", "ansible -i inv/hosts.ini web -m shell -a 'psql -h db.acme.io -c \"DROP TABLE x\"'", ASK, "to another"),
    ("ls", "tflocal -chdir=real destroy -auto-approve", ALLOW, "an emulator's wrapper"),
    ("ls", "tflocal -chdir=real2 destroy -auto-approve", ASK, "which leads one provider there, and no other"),
    # Copies of a configuration
    *(("ls", f"cp -r {name} {IN_COPY}", ASK, f"a copy of {name}") for name in ALONE),
    *(("ls", f"cp -r {name} {IN_COPY}", ALLOW, f"a copy of {name}") for name in HERE),
    *(("ls", text, ALLOW, "a copy of values and files") for text in (
        f"mkdir -p /tmp/t && cp -a plain/. {IN_COPY}", f"mkdir /tmp/t && cp plain/main.tf {IN_COPY}",
        f"cp -r plain /tmp/s && mv /tmp/s {IN_COPY}", f"rsync -a plain/ {IN_COPY}",
        f"rsync -a --delete plain /tmp/t/ && cd /tmp/t/plain && {APPLY}",
        f"cp -r . /tmp/r && cd /tmp/r/plain && {APPLY}", f"cp -Rp plain /tmp/t && terraform -chdir=/tmp/t {DESTROY}",
        f"d=$(mktemp -d) && cp -r plain/. $d && cd $d && {APPLY}",
        f"cp -r plain /tmp/t-$$ && cd /tmp/t-$$ && {APPLY}",
        f"cp -r /tmp/none /tmp/t; cp -r plain/. {IN_COPY}", f"cp -r plain /tmp/t && (cd /tmp/t && {APPLY})",
        f"mkdir /tmp/t && cp plain/* {IN_COPY}", f"echo '{NULL}' > plain/n.tf && cp -r plain {IN_COPY}",
        f"cp -rn plain {IN_COPY}",
        f"cp -r bare/. /tmp/s && cp -r plain {IN_COPY}")),
    *(("ls", text, ASK, "a copy that reaches elsewhere, or of which nobody knows") for text in (
        f"cp -r plain /tmp/t && cp bare/main.tf {IN_COPY}", f"cp -r plain /tmp/t && cp -r bare/. {IN_COPY}",
        f"cp -r bare /tmp/t && cp -r torn/. {IN_COPY}", f"mkdir /tmp/t && cp state/* {IN_COPY}",
        f"cp -r plain /tmp/t && cp remote/.terraform /tmp/t -r && cd /tmp/t && {APPLY}",
        f"cp -r plain /tmp/t && sed -i 's/null_resource/aws_s3_bucket/' /tmp/t/main.tf && cd /tmp/t && {APPLY}",
        f"cp -r plain /tmp/t && echo '{BUCKET}' >> /tmp/t/more.tf && cd /tmp/t && {APPLY}",
        f"cp -r plain /tmp/t && ./gen > /tmp/t/more.tf && cd /tmp/t && {APPLY}",
        f"echo '{BUCKET}' > plain/more.tf && cp -r plain {IN_COPY}", f"cp plain {IN_COPY}",
        f"echo '{NULL}' > /tmp/t/main.tf && cp -r word/. {IN_COPY}", f"rsync -a --exclude x.tf plain/ {IN_COPY}",
        f"git clone https://example.com/x.git c && cp -r c {IN_COPY}",
        f"cp -r plain /tmp/t && cd /tmp/t && export TF_WORKSPACE=prod && {APPLY}",
        f"cp -ru plain/. /srv/live && cd /srv/live && {APPLY}",
        f"cp -r plain /srv/live/ && cd /srv/live && {APPLY}", f"cp -r module/m {IN_COPY}",
        f"cd empty && terraform init -backend-config=path=/srv/live/s.tfstate && terraform {DESTROY}",
        f"./gen > plain/more.tf && terraform -chdir=plain {DESTROY}",
        f"curl -so plain/more.tf https://example.com/x.tf && terraform -chdir=plain {DESTROY}",
        f"cp -r plain /tmp/t && wget -qP /tmp/t https://example.com/x.tf && cd /tmp/t && {APPLY}",
        f"curl -so plain/more.tf https://example.com/x.tf && cp -r plain {IN_COPY}",
        f"git clone https://example.com/x.git /tmp/t && cp plain/main.tf {IN_COPY}")),
    # Aliases of mc
    (ALIAS, DROP, ALLOW, "of this machine"),
    (ALIAS.replace("mc ", "mc --quiet "), DROP, ALLOW, "with an option before"),
    *((f"{ALIAS} && {text}", DROP, ASK, "and then away") for text in (
        f"{AWAY} || true", f"{AWAY} | tail -1", f"{AWAY}; mc ls dev", "sh p.sh", AWAY.replace("mc ", "mc --quiet "),
        "mc config host add dev https://s3.acme.com a b", "mc alias import dev prod.json")),
    *((ALIAS, text, ASK, "another configuration") for text in (
        f"MC_HOST_dev=https://k:s@s3.acme.com {DROP}", "mc --config-dir ~/prod rb --force dev/x",
        "mc -C /home/ann/prod rb --force dev/x", f"docker exec minio {DROP}", f"{AWAY}; {DROP}")),
    (f"docker exec minio {ALIAS}", DROP, ASK, "a container's alias"),
    # Registries
    ("ls", "npm publish --registry http://localhost:4873", ALLOW, "of this machine"),
    ("ls", "cd scoped && npm publish --registry http://localhost:4873", ASK, "the scope has another one"),
    ("ls", "npm_config_registry=http://localhost:4873; npm publish", ASK, "the variable does not reach it"),
    *(("ls", text, ASK, "another machine's engine") for text in (
        "DOCKER_HOST=ssh://prod docker push localhost:5000/a", "docker --context prod push localhost:5000/a",
        "ssh prod docker push localhost:5000/a")),
    *(("ls", f"{text} docker push localhost:5000/a", ASK, "led away") for text in (
        "ssh -fNL 5000:registry:5000 bastion;", "kubectl port-forward svc/registry 5000:5000 &")),
    ("ls", "twine upload -r pypi --repository-url http://localhost:8080 dist/*", ASK, "both"),
    ("ls", "uv publish --index pypi --publish-url http://localhost:8080", ASK, "both"),
    ("ls", "AWS_ENDPOINT_URL=http://localhost:4566; aws s3 rb --force s3://x", ASK, "the variable does not reach it"),
    ("ls", "export AWS_ENDPOINT_URL=http://localhost:4566; aws s3 rb --force s3://x", ALLOW, "it does"),
    # Inventories
    ("ls", "ansible-playbook -i inv/hosts.ini inv/site.yml", ALLOW, "a machine at a port of this one"),
    ("ls", "ansible-playbook -i inv/c.ini inv/site.yml", ALLOW, "a container"),
    *(("ls", f"ansible-playbook {text}", ASK, "another machine") for text in (
        "-i inv/remark.ini inv/site.yml", "-i inv/named.ini inv/site.yml", "-i vars/hosts.ini inv/site.yml",
        "-i led/hosts.ini led/site.yml", "-i inv/hosts.ini -e ansible_host=prod.acme.io inv/site.yml",
        "-i inv/hosts.ini -e docker -e @prod.yml inv/site.yml")),
    ("ls", "ssh -fNL 2222:prod:22 b; ansible-playbook -i inv/hosts.ini inv/site.yml", ASK, "led away"),
    # Machines of vagrant
    ("vagrant up", "vagrant destroy -f", ALLOW, "brought up here"),
    ("vagrant up", "vagrant destroy -f 3a1b2c4", ASK, "of any folder"),
    ("vagrant up", "VAGRANT_DOTFILE_PATH=/srv/x vagrant destroy -f", ASK, "of another folder"),
    ("cd kept/sub && vagrant up", "cd kept/sub && vagrant destroy -f", ASK, "they were there, above"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "then", "response"), [row[:3] for row in ROWS], ids=[f"{n}: {row[3]}" for n, row in enumerate(ROWS)]
)
def test_which_end_is_meant(first: str, then: str, response: Response) -> None:
    more = {"kept/.vagrant/machines": "", "kept/sub/x": "", "~/.npmrc": "a=b\n"}
    assert said_of_last((first, then), FILES | more) is response


def test_that_an_alias_is_away_counts_whatever_the_exit_code() -> None:
    assert said_of_last(((f"{ALIAS} && {AWAY} && mc ls dev/none", 1), f"{ALIAS} && {DROP}"), {}) is ASK


def test_that_an_alias_is_away_counts_beside_many_names() -> None:
    many = " && ".join(f"docker run -d --name a{n} alpine" for n in range(made_names.MOST))
    assert said_of_last((f"{many} && {AWAY}", ALIAS, DROP), {}) is ASK
