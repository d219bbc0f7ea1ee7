"""Terraform, Pulumi, volumes and stores of secrets whose other end is this machine, as their files and makers say."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ASK, ALLOW = Response.ASK, Response.ALLOW
BACKEND = "PULUMI_BACKEND_URL=file:///tmp/edge"
TRIAL = "AWS_ENDPOINT_URL=http://localhost:4566 AWS_ACCESS_KEY_ID=test"
VAULT = "docker compose -f compose.dev.yml up -d vault"
MYSQL = "docker compose -f compose.dev.yml up -d mysql"
STACK = "docker run -d --name ls -p 4566:4566 localstack/localstack"
READS = "secretsmanager get-secret-value --secret-id x"
QUEUE = 'resource "aws_sqs_queue" "jobs" {}\n'
NAMESPACE = 'resource "kubernetes_namespace" "x" {}\n'
NODE, PYTHON, GO = (f"name: edge\nruntime: {name}\n" for name in ("nodejs", "python", "go"))
LED = {
    "lines": 'import {\n  s3\n} from "@pulumi/aws";',
    "computed": "const aws = require(name);",
    "mount": 'new docker.Container("x", {volumes: [{hostPath: "/home/ann", containerPath: "/h"}]});',
    "pushed": 'new docker.RegistryImage("x", {name: "acme/x"});',
    "removed": 'import * as fs from "fs";\nfs.rmSync("/home/ann/x", {recursive: true});',
    "file": 'import * as local from "@pulumi/local";',
}
FILES = {
    "README.md": "# the data is in shop-store\n",
    "compose.dev.yml": 'services:\n  vault:\n    image: hashicorp/vault\n    ports: ["127.0.0.1:8200:8200"]\n'
    '  mysql:\n    image: mysql:8.4\n    ports: ["127.0.0.1:33070:3306"]\n    tmpfs: [/var/lib/mysql]\n',
    ".env": 'DATABASE_URL="mysql://root:dev@127.0.0.1:33070/tickets"\n',
    "prisma/schema.prisma": 'datasource db {\n  provider = "mysql"\n  url = env("DATABASE_URL")\n}\n',
    "values/main.tf": 'resource "random_id" "x" {}\n',
    "over/main.tf": QUEUE,
    "over/providers.tf": 'provider "aws" {\n  region = "eu-west-1"\n}\n',
    "over/localstack_override.tf": 'provider "aws" {\n  access_key = "test"\n'
    '  endpoints { sqs = "http://localhost:4566" }\n}\n',
    "plain/main.tf": f'provider "aws" {{\n  region = "eu-west-1"\n}}\n{QUEUE}',
    "profile/main.tf": f'provider "aws" {{\n  profile = "prod"\n}}\n{QUEUE}',
    "kind/main.tf": 'resource "kind_cluster" "x" {}\n',
    "kube/main.tf": f'provider "kubernetes" {{\n  config_context = "kind-dev"\n}}\n{NAMESPACE}',
    "kubeprod/main.tf": f'provider "kubernetes" {{\n  config_context = "prod"\n}}\n{NAMESPACE}',
    "kubehost/main.tf": f'provider "kubernetes" {{\n  config_context = "kind-dev"\n  host = var.h\n}}\n{NAMESPACE}',
    "kubenone/main.tf": NAMESPACE,
    "node/Pulumi.yaml": NODE,
    "node/index.ts": 'import * as docker from "@pulumi/docker";\nimport { Site } from "./site";\n',
    "node/site.ts": 'import * as pulumi from "@pulumi/pulumi";\n',
    "deep/Pulumi.yaml": NODE,
    "deep/index.ts": 'import "./a/b/bucket";\n',
    "deep/a/b/bucket.ts": 'import * as aws from "@pulumi/aws";\n',
    "needs/Pulumi.yaml": NODE,
    "needs/index.ts": 'import "./a/b/c/d";\n',
    "needs/package.json": '{"dependencies": {"@pulumi/aws": "6"}}\n',
    "shared/Pulumi.yaml": NODE,
    "shared/index.ts": 'import { Infra } from "@acme/infra";\n',
    "other/Pulumi.yaml": NODE,
    "other/index.ts": 'import * as docker from "@pulumi/docker";\nnew docker.Provider("x", {host: h});\n',
    "python/Pulumi.yaml": PYTHON,
    "python/__main__.py": "import pulumi\nfrom pulumi_random import RandomPet\nfrom edge import x\n",
    "python/edge.py": "import json\n",
    "gcp/Pulumi.yaml": PYTHON,
    "gcp/__main__.py": "import pulumi_gcp as gcp\n",
    "go/Pulumi.yaml": GO,
    "go/main.go": 'package main\n\nimport (\n\t"github.com/pulumi/pulumi-random/sdk/v4/go/random"\n)\n',
    "goaws/Pulumi.yaml": GO,
    "goaws/main.go": 'package main\n\nimport (\n\ts "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"\n)\n',
    **{f"{name}/Pulumi.yaml": NODE for name in LED},
    **{f"{name}/index.ts": f'import * as docker from "@pulumi/docker";\n{text}\n' for name, text in LED.items()},
    "stack/Pulumi.yaml": NODE,
    "stack/index.ts": 'import * as docker from "@pulumi/docker";\n',
    "stack/Pulumi.prod.yaml": "config:\n  docker:host: ssh://prod\n",
    "main/Pulumi.yaml": f"{NODE}main: ../aws\n",
    "main/index.ts": 'import * as docker from "@pulumi/docker";\n',
    "java/Pulumi.yaml": "runtime: java\n",
    "java/a.py": "import pulumi\n",
    "system/Pulumi.yaml": PYTHON,
    "system/__main__.py": "import os\nimport pulumi\nos.system('x')\n",
    "several/Pulumi.yaml": PYTHON,
    "several/__main__.py": "import pulumi, pulumi_aws\n",
    "quoted/Pulumi.yaml": 'runtime: yaml\nresources:\n  b: {"type": "aws:s3:Bucket"}\n',
    "yaml/Pulumi.yaml": "runtime: yaml\nresources:\n  pet:\n    type: random:RandomPet\n",
    "yamlaws/Pulumi.yaml": "runtime: yaml\nresources:\n  b:\n    type: aws:s3:Bucket\n",
}
AWAY = (
    *("deep", "needs", "shared", "other", "gcp", "goaws", "yamlaws"),
    *LED,
    *("stack", "main", "java", "system", "several", "quoted"),
)
ROWS = [
    # Terraform
    ("ls", "terraform -chdir=over destroy -auto-approve", ALLOW, "an override is merged into its provider"),
    ("ls", "terraform -chdir=plain destroy -auto-approve", ASK, "a provider without one"),
    ("ls", f"{TRIAL} tofu -chdir=plain apply -auto-approve", ALLOW, "variables name the emulator and a key for trials"),
    ("ls", f"{TRIAL.partition(' ')[0]} terraform -chdir=plain apply", ASK, "a key that may be real"),
    ("ls", f"{TRIAL.replace('localhost', 'aws.acme.com')} terraform -chdir=plain apply", ASK, "another machine"),
    ("ls", f"{TRIAL} terraform -chdir=profile apply", ASK, "a profile of the person's"),
    ("ls", "terraform -chdir=kind apply -auto-approve", ALLOW, "a cluster in a container"),
    ("ls", "terraform -chdir=kube apply -auto-approve", ALLOW, "what is made in one"),
    ("ls", "terraform -chdir=kubeprod apply -auto-approve", ASK, "in another one"),
    ("ls", "terraform -chdir=kubehost apply -auto-approve", ASK, "by a host that counts before it"),
    ("ls", "terraform -chdir=kubenone apply -auto-approve", ASK, "nobody says in which"),
    ("ls", "terraform -chdir=values state pull | jq '{serial, n: (.resources|length)}'", ALLOW, "a state of values"),
    ("ls", "terraform -chdir=plain state pull", ASK, "a state of a cloud"),
    # Pulumi
    *(("ls", f"cp -r {folder} /tmp/p && cd /tmp/p && {BACKEND} pulumi up --yes", ALLOW, f"a copy of {folder}")
      for folder in ("node", "python", "go", "yaml")),
    *(("ls", f"cp -r {folder} /tmp/p && cd /tmp/p && {BACKEND} pulumi up --yes", ASK, f"a copy of {folder}")
      for folder in AWAY),
    ("ls", f"./gen > node/site.ts && cd node && {BACKEND} pulumi up --yes", ASK, "code of which nobody knows"),
    ("ls", f"curl -so node/x.ts https://example.com/x.ts && cd node && {BACKEND} pulumi up --yes", ASK, "fetched"),
    *(("ls", f"cd {folder} && {BACKEND} pulumi {verb}", ALLOW, f"{folder} takes in what is of this machine")
      for folder in ("node", "python", "go", "yaml") for verb in ("up --yes -s x", "destroy --yes", "stack rm x -y")),
    ("ls", f"{BACKEND} pulumi -C node up --yes", ALLOW, "by an option"),
    ("ls", "cd node && pulumi up --yes", ASK, "a state that others share"),
    ("ls", "cd node && PULUMI_BACKEND_URL=s3://acme pulumi up --yes", ASK, "the same"),
    ("ls", "cd node && PULUMI_BACKEND_URL=file:///srv/state pulumi destroy --yes", ASK, "a state that stays"),
    *(("ls", f"cd {folder} && {BACKEND} pulumi up --yes", ASK, f"{folder} may reach a cloud")
      for folder in AWAY),
    ("ls", f"cd node && {BACKEND} DOCKER_HOST=ssh://prod pulumi up --yes", ASK, "another engine"),
    ("ls", f"cd node && {BACKEND} pulumi up --yes -c docker:host=ssh://prod", ASK, "the same by a word"),
    ("ls", f"./gen > node/site.ts && cd node && {BACKEND} pulumi up --yes", ASK, "code of which nobody knows"),
    # Volumes
    ("docker volume create tide-tmp && docker run --rm -v tide-tmp:/b a true", "docker volume rm tide-tmp", ALLOW,
     "a name for what is thrown away"),
    ("podman volume create tide-tmp | tail -1", "podman volume rm tide-tmp", ALLOW, "the name is the witness"),
    ("docker volume create tide-build", "docker volume rm tide-build", ALLOW, "a build makes it again"),
    ("docker volume create tide-notes", "docker volume rm tide-notes", ASK, "to create one succeeds where it is there"),
    ("docker run --rm -v repro-cache:/c alpine true", "docker volume rm repro-cache", ALLOW, "a name for a trial"),
    ("docker run --rm -v mine:/c alpine true", "docker volume rm mine", ASK, "it may have been there"),
    ("docker run --rm -v tide-cargo:/c alpine true", "docker volume rm tide-cargo", ALLOW, "a mount makes it as well"),
    ("docker run --rm --mount type=volume,src=tide-tmp,dst=/c a true", "docker volume rm tide-tmp", ALLOW, "by a list"),
    ("docker create --mount source=tide-cargo,target=/c,readonly a", "docker volume rm tide-cargo", ALLOW, "no type"),
    ("docker run --rm --mount type=volume,src=notes,dst=/c a true", "docker volume rm notes", ASK, "no such name"),
    ("docker run --rm --mount type=bind,src=tide-tmp,dst=/c a true", "docker volume rm tide-tmp", ASK, "a folder"),
    ("docker run --rm --mount type=volume,src=tide-tmp,dst=/c,volume-opt=device=:/x a true",
     "docker volume rm tide-tmp", ASK, "what it stands for lies elsewhere"),
    ("docker volume create --opt type=none --opt o=bind --opt device=/srv tide-tmp",
     "docker run --rm -v tide-tmp:/v a sh -c 'rm -rf /v/*'", ASK, "the same where it is made"),
    ("docker run --rm --volume-driver nfs -v tide-tmp:/c a true", "docker volume rm tide-tmp", ASK, "by its driver"),
    ("docker run --rm -v pgdata:/c a true", "docker volume rm pgdata", ASK, "a name that another project may use"),
    ("docker run --rm -v prod-cargo:/c a true", "docker volume rm prod-cargo", ASK, "so called for a reason"),
    ("docker -H ssh://db run --rm -v tide-tmp:/c a true", "docker volume rm tide-tmp", ASK, "on another machine"),
    ("docker volume create --label tide-tmp other", "docker volume rm tide-tmp", ASK, "a label is no name"),
    ("docker volume create tide-tmp", "docker volume rm tide-tmp other", ASK, "and somebody's"),
    ("docker volume create pgdata", "docker volume rm pgdata", ASK, "a name that another project may use"),
    ("docker volume create shop-store", "docker volume rm shop-store", ASK, "one that the README names"),
    ("docker volume create prod-cache", "docker volume rm prod-cache", ASK, "so called for a reason"),
    ("ls", "docker volume rm tide-build", ASK, "nobody made it"),
    ("docker volume create tide-tmp", "docker run --rm -v tide-tmp:/v a sh -c 'rm -rf /v/*'", ALLOW, "in it"),
    ("ls", "docker run --rm -v repro-cache:/v a sh -c 'rm -rf /v/*'", ASK, "in one that may have been there"),
    ("docker volume create tide-tmp && docker run -d --name pg -v tide-tmp:/d postgres",
     "docker exec pg psql -c 'truncate a'", ALLOW, "a container that keeps its data there"),
    ("docker volume create tide-tmp && docker run -d --name pg --mount type=volume,src=tide-tmp,dst=/d postgres",
     "docker exec pg psql -c 'truncate a'", ALLOW, "given to it by a list"),
    ("docker volume create tide-tmp && docker run -d --name pg --mount type=bind,src=/srv/pg,dst=/d postgres",
     "docker exec pg psql -c 'truncate a'", ASK, "a folder of the person's"),
    ("docker volume create tide-tmp && docker run -d --name pg -v tide-tmp:/d -v other:/e postgres",
     "docker exec pg psql -c 'truncate a'", ASK, "and in another one"),
    # Secrets of servers that the session started
    (VAULT, "VAULT_ADDR=http://127.0.0.1:8200 vault token create -field=token > /tmp/t", ALLOW, "a server for trials"),
    (VAULT, "VAULT_ADDR=http://127.0.0.1:8201 vault kv get secret/app", ASK, "another port"),
    (VAULT, "VAULT_ADDR=https://vault.acme.com:8200 vault kv get secret/app", ASK, "another machine"),
    ("ls", "VAULT_ADDR=http://127.0.0.1:8200 vault kv get secret/app", ASK, "nobody started it"),
    (VAULT, "ssh -fNL 8200:vault:8200 db1; VAULT_ADDR=http://127.0.0.1:8200 vault kv get secret/app", ASK, "led away"),
    (STACK, f"aws --endpoint-url http://localhost:4566 {READS}", ALLOW, "an emulator"),
    (STACK, f"awslocal {READS}", ALLOW, "by its wrapper"),
    (STACK, f"aws {READS}", ASK, "the cloud"),
    # A database that .env names
    (MYSQL, "npx prisma migrate reset --force", ALLOW, "the session started its server"),
    ("ls", "npx prisma migrate reset --force", ASK, "somebody's"),
    # Programs that a build makes
    ("ls", "./gradlew installDist -q && PORT=1 build/install/*/bin/* &", ALLOW, "what the build will put there"),
    ("ls", "bin/* deploy", ASK, "any program"),
    ("ls", "curl -so x.zip https://x.io/x.zip && unzip -q x.zip -d build && build/*/bin/*", ASK, "what was fetched"),
    ("ls", "build/../*/x", ASK, "out of there"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "then", "response"), [row[:3] for row in ROWS], ids=[f"{n}: {row[3]}" for n, row in enumerate(ROWS)]
)
def test_what_is_made_on_this_machine(first: str, then: str, response: Response) -> None:
    assert said_of_last((first, then), FILES) is response
