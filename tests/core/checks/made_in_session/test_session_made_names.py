"""Containers, ports and databases that a call made, proved by its success, are the session's own (ADR 0022)."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

RUN = "docker run -d --name tmp -p 54329:5432 postgres:17"
TOPIC = "kafka-topics.sh --bootstrap-server localhost:9092"
ROWS = [
    (RUN, 0, "docker rm -f -v tmp", Response.ALLOW, "with its anonymous volumes"),
    (RUN, 0, "docker rm -f -v tmp other", Response.ASK, "and somebody's"),
    (RUN, 125, "docker rm -f -v tmp", Response.ASK, "the name was taken"),
    (f"{RUN} || true", 0, "docker rm -f -v tmp", Response.ASK, "it may have failed"),
    (f"{RUN}; docker ps", 0, "docker rm -f -v tmp", Response.ASK, "another command's exit code"),
    (f"{RUN} | tail -1", 0, "docker rm -f -v tmp", Response.ASK, "the same of a pipeline"),
    (f"{RUN} &", 0, "docker rm -f -v tmp", Response.ASK, "nobody waits for it"),
    (f"docker pull postgres:17 && {RUN}", 0, "docker rm -f -v tmp", Response.ALLOW, "all had to succeed"),
    (RUN, 0, "psql -h localhost -p 54329 -c 'DROP TABLE x'", Response.ALLOW, "a server in the session's container"),
    (RUN, 0, "psql -h localhost -p 5432 -c 'DROP TABLE x'", Response.ASK, "another server"),
    ("docker run -d --name tmp -v pg:/data -p 54329:5432 postgres", 0, "psql -h localhost -p 54329 -c 'DROP TABLE x'",
     Response.ASK, "a volume that may have been there"),
    ("redis-server --port 6399 --daemonize yes", 0, "redis-cli -p 6399 flushall", Response.ASK,
     "a server may fail in the background, unseen"),
    ("createdb shop", 0, "dropdb shop", Response.ALLOW, "a database"),
    ("createdb shop", 1, "dropdb shop", Response.ASK, "it was there"),
    ("psql -c 'CREATE DATABASE shop'", 0, "dropdb shop", Response.ALLOW, "by a statement"),
    ("ls", 0, "dropdb shop", Response.ASK, "nobody made it"),
    ("createdb -p 5499 shop", 0, "dropdb shop", Response.ASK, "one of that name on another server"),
    ("createdb shop", 0, "dropdb -h db.acme.io shop", Response.ASK, "on another machine"),
    ("createdb shop", 0, "PGHOST=db.acme.io dropdb shop", Response.ASK, "the same, by a variable"),
    ("createdb -h localhost shop", 0, "dropdb shop", Response.ALLOW, "this machine, by its name"),
    ("docker exec pg createdb shop", 0, "dropdb shop", Response.ASK, "one in a container"),
    ("psql postgres://me@localhost:5499/postgres -c 'CREATE DATABASE shop'", 0, "psql -c 'DROP DATABASE shop'",
     Response.ASK, "the server of an address"),
    ("createuser app", 0, "dropuser app", Response.ALLOW, "a role"),
    ("createuser shop", 0, "dropdb shop", Response.ASK, "a role is no database"),
    (f"{TOPIC} --create --topic demo", 0, f"{TOPIC} --delete --topic demo", Response.ALLOW, "a topic"),
    (f"{TOPIC} --create --topic demo", 1, f"{TOPIC} --delete --topic demo", Response.ASK, "it was there"),
    (f"{TOPIC} --create --if-not-exists --topic demo", 0, f"{TOPIC} --delete --topic demo", Response.ASK,
     "it may have been there"),
    (f"{TOPIC} --create --topic demo", 0, f"{TOPIC} --delete --topic 'demo.*'", Response.ASK, "a pattern takes others"),
    (f"docker compose exec -T kafka {TOPIC} --create --topic demo", 0, f"{TOPIC} --delete --topic demo", Response.ASK,
     "one in a container"),
    ("kafka-topics.sh --bootstrap-server prod:9092 --create --topic demo", 0, f"{TOPIC} --delete --topic demo",
     Response.ASK, "on another server"),
    ("ls", 0, "C=$(docker run -d postgres:17) && docker exec $C psql -c 'DROP TABLE x'", Response.ALLOW,
     "a container by the identifier that this text got"),
    ("ls", 0, 'C=$(docker run -d postgres:17); docker exec "$C" psql -c "DROP TABLE x"; docker rm -fv ${C}',
     Response.ALLOW, "and taken away"),
    ("ls", 0, "C=$(docker run -d -v pg:/data postgres:17); docker exec $C psql -c 'DROP TABLE x'", Response.ASK,
     "with a volume"),
    ("ls", 0, "C=$(docker run -d postgres || docker ps -q); docker exec $C psql -c 'DROP TABLE x'", Response.ASK,
     "or another one"),
    ("ls", 0, "C=$(docker run -d postgres); read C; docker exec $C psql -c 'DROP TABLE x'", Response.ASK,
     "a value that came later"),
]  # fmt: skip


URL = "DATABASE_URL=postgres://me:x@localhost:54329/app"
COMPOSE = """services:
  db:
    image: postgres
    ports:
      - "5433:5432"
  kept:
    image: postgres
    ports: ["5434:5432"]
    volumes:
      - pgdata:/var/lib/postgresql/data
volumes:
  pgdata:
"""
TESTS = "services:\n  db:\n    image: postgres\n    volumes:\n      - t:/var/lib/postgresql/data\nvolumes:\n  t:\n"
FILES = {
    "compose.yaml": COMPOSE,
    "compose.test.yaml": TESTS,
    "compose.ci.yaml": TESTS.replace("t:", "pgdata:"),
    "compose.e2e.yaml": TESTS.replace("  t:\n", "  t:\n    external: true\n"),
    ".env": "# here\nDATABASE_URL=postgres://me:x@localhost:54329/app\n",
    "api/appsettings.Development.json": '{"ConnectionStrings": {"Db": "Server=localhost,54329;Database=x"}}',
    "other/appsettings.Development.json": '{"ConnectionStrings": {"Db": "Server=db.acme.io;Database=x"}}',
    "late/.env": "DATABASE_URL=postgres://me:x@localhost:54329/app\n",
    "late/.env.local": "DATABASE_URL=postgres://db.acme.io/app\n",
    "README.md": "Start it by `docker compose -p shopdev up`.\n",
    "app/settings.py": 'DB = os.environ["APP_DB"]\nDATABASES = {"default": env.db("DATABASE_URL")}\n',
    "config/runtime.exs": 'url: System.get_env("DATABASE_URL")\n',
    "prisma/schema.prisma": 'url = env("DATABASE_URL")\n',
}
LEFT = "from shop.models import Note; Note.objects.all().delete()"
BESIDE_FILES = [
    # A server that the session started, by the variables that name it.
    (RUN, f"{URL} cargo sqlx database reset -y", Response.ALLOW, "a tool that reads the variable itself"),
    (RUN, f"export {URL} && sqlx database drop -y", Response.ALLOW, "a variable that is exported"),
    (RUN, f"{URL}; sqlx database drop -y", Response.ASK, "one that is not: the tool may have another"),
    (RUN, f"export {URL}; unset DATABASE_URL; {URL}; sqlx database drop -y", Response.ASK, "no longer exported"),
    (RUN, f"export {URL}; export -n DATABASE_URL; sqlx database drop -y", Response.ASK, "the same"),
    (RUN, f"if x; then export {URL}; fi; sqlx database drop -y", Response.ASK, "perhaps"),
    (RUN, f"{URL} npx prisma migrate reset --force", Response.ALLOW, "the schema takes it"),
    (RUN, f"{URL} mix ecto.reset", Response.ALLOW, "the settings take it"),
    (RUN, f"{URL} python manage.py flush --noinput", Response.ALLOW, "code of settings that takes it"),
    (RUN, f"{URL.replace('DATABASE_URL', 'OTHER_DB')} python manage.py flush", Response.ASK, "nobody asks for it"),
    (RUN, f"{URL} alembic downgrade base", Response.ALLOW, "settings beside it take it"),
    (RUN, f"{URL.replace('localhost', 'db.acme.io')} sqlx database drop", Response.ASK, "another machine"),
    (RUN, f"{URL.replace('54329', '5432')} sqlx database drop", Response.ASK, "another server"),
    (RUN, f"{URL} PGHOST=db.acme.io bin/rails db:drop", Response.ASK, "a second variable says another"),
    (RUN, f"{URL} sqlx database drop -D postgres://db.acme.io/app", Response.ASK, "a word counts before it"),
    (RUN, f"{URL} docker compose run web sqlx database drop", Response.ASK, "it does not come into the container"),
    (RUN, f"{URL} sudo sqlx database drop", Response.ASK, "sudo takes it away"),
    (RUN, "goose postgres postgres://me@localhost:54329/app reset", Response.ALLOW, "by an address"),
    (RUN, "flyway -url=jdbc:postgresql://localhost:54329/app clean", Response.ALLOW, "Java's"),
    (RUN, "goose postgres postgres://me@localhost:54329/production reset", Response.ASK, "so called for a reason"),
    (RUN, "PGPORT=54329 PGHOST=localhost psql -c 'DROP TABLE x'", Response.ALLOW, "the client's own variables"),
    (RUN, "PGPORT=54329 psql -h db.acme.io -c 'DROP TABLE x'", Response.ASK, "a word counts before them"),
    (RUN, "PGPORT=54329 PGHOST=db.acme.io psql -c 'DROP TABLE x'", Response.ASK, "another machine"),
    ("ls", f"{URL} sqlx database drop", Response.ASK, "nobody started it"),
    (RUN, "cargo sqlx database reset -y", Response.ALLOW, "by the file that the tool loads"),
    (RUN, "DATABASE_URL=postgres://db.acme.io/app sqlx database reset -y", Response.ASK, "a variable counts before it"),
    (RUN, "cd app && sqlx database reset -y", Response.ASK, "another folder"),
    ("ls", "sqlx database reset -y", Response.ASK, "nobody started that server"),
    (RUN, "alembic downgrade base", Response.ASK, "a tool that does not load it"),
    (RUN, "sqlcmd -S localhost,54329 -Q 'DROP TABLE x'", Response.ALLOW, "a port behind a comma"),
    (RUN, "dotnet ef database drop -f -p api", Response.ALLOW, "by its settings for development"),
    (RUN, "ConnectionStrings__Db='Server=localhost,54329;Database=x' dotnet ef database drop -f", Response.ALLOW,
     "by a variable that counts before them"),
    (RUN, "ConnectionStrings__Db='Server=db.acme.io;Database=x' dotnet ef database drop -f -p api", Response.ASK, "x"),
    (RUN, "ASPNETCORE_ENVIRONMENT=Staging dotnet ef database drop -f -p api", Response.ASK, "other settings"),
    (RUN, "dotnet ef database drop -f -p other", Response.ASK, "settings that lead elsewhere"),
    (RUN, "php bin/console doctrine:database:drop --force", Response.ALLOW, "Symfony's own file"),
    (RUN, "cd late && php bin/console doctrine:database:drop --force", Response.ASK, "a later file"),
    # A file among temporary ones.
    ("ls", f'APP_DB=/tmp/n.sqlite3 python manage.py shell -c "{LEFT}"', Response.ALLOW, "settings take the file"),
    ("ls", "APP_DB=/tmp/n.sqlite3 python manage.py flush --noinput", Response.ALLOW, "the same by a task"),
    ("ls", f'APP_DB=/srv/n.sqlite3 python manage.py shell -c "{LEFT}"', Response.ASK, "one that stays"),
    ("ls", f'OTHER_DB=/tmp/n.sqlite3 python manage.py shell -c "{LEFT}"', Response.ASK, "nobody asks for it"),
    ("ls", f'python manage.py shell -c "{LEFT}"', Response.ASK, "the project's own"),
    ("ls", "APP_DB=/tmp/n.sqlite3 python -c 'import boto3, app; boto3.resource(\"s3\").Bucket(\"a\").delete()'",
     Response.ASK, "a bucket is no database"),
    # Names that end in what is new.
    ("ls", "docker run -d --name pg-$$ postgres; docker exec pg-$$ psql -c 'DROP TABLE x'; docker rm -fv pg-$$",
     Response.ALLOW, "the shell's number"),
    ("ls", 'n="pg-$RANDOM"; docker run -d --name "$n" postgres; docker rm -fv "$n"', Response.ALLOW, "in a variable"),
    ("ls", "docker run -d --name pg-$RANDOM postgres; docker rm -fv pg-$RANDOM", Response.ASK, "two other names"),
    ("ls", 'n="pg-$RANDOM"; docker run -d --name "$n" postgres; n="$1"; docker rm -fv "$n"', Response.ASK, "another"),
    ("ls", 'docker run -d --name "$1" postgres; docker rm -fv "$2"', Response.ASK, "names that nobody knows"),
    # Projects of compose.
    ("docker compose -p try7 up -d --wait", "docker compose -p try7 down -v", Response.ALLOW, "the session's name"),
    ("COMPOSE_PROJECT_NAME=try7 docker compose up -d", "COMPOSE_PROJECT_NAME=try7 docker compose down --volumes",
     Response.ALLOW, "the same by a variable"),
    ("ls", "export COMPOSE_PROJECT_NAME=try7; docker compose up -d; docker compose down -v", Response.ALLOW,
     "one text"),
    ("ls", "docker compose -p try7 down -v", Response.ASK, "nobody started it"),
    ("docker compose -p try7 up -d", "docker compose -p other down -v", Response.ASK, "another one"),
    ("docker compose -p try7 up -d", "docker compose down -v", Response.ASK, "the folder's"),
    ("docker compose up -d", "docker compose down -v", Response.ASK, "the folder's, which others start, too"),
    ("docker compose -p project up -d", "docker compose -p project down -v", Response.ASK, "the folder's by its name"),
    ("docker compose -p shopdev up -d", "docker compose -p shopdev down -v", Response.ASK, "one that the README names"),
    ("docker compose -p shop-prod up -d", "docker compose -p shop-prod down -v", Response.ASK, "what others use"),
    ("docker compose -p try7 -f compose.e2e.yaml up -d", "docker compose -p try7 -f compose.e2e.yaml down -v",
     Response.ASK, "a volume that is not the project's"),
    ("ls", "docker compose -p shop-e2e down -v", Response.ALLOW, "a project of tests, as its name says"),
    ("ls", "docker compose -f compose.test.yaml down -v", Response.ALLOW, "volumes of the tests' file alone"),
    ("ls", "docker compose -f compose.ci.yaml down -v", Response.ASK, "a volume that the usual file has, too"),
    ("ls", "docker compose -f compose.yaml -f compose.test.yaml down -v", Response.ASK, "the usual file is among them"),
    ("ls", "docker compose -f compose.missing.yaml down -v", Response.ASK, "a file that nobody can read"),
    ("docker compose up -d db", "psql -h localhost -p 5433 -c 'DROP TABLE x'", Response.ALLOW,
     "a service that keeps nothing"),
    ("docker compose up -d", "psql -h localhost -p 5434 -c 'DROP TABLE x'", Response.ASK, "one with a volume"),
    ("docker compose up -d kept", "psql -h localhost -p 5433 -c 'DROP TABLE x'", Response.ASK, "another was started"),
]  # fmt: skip

KIND = "kind create cluster --name try"
CONFIG = "apiVersion: v1\ncurrent-context: {}\n"
LOCAL_AWS = """provider "aws" {
  access_key = "test"
  secret_key = "test"
  endpoints { s3 = "http://localhost:4566" }
}
resource "aws_s3_bucket" "b" {}
"""
ENDS = {
    "/tmp/there.kubeconfig": "server: https://prod.acme.com\n",
    "local/main.tf": 'module "m" {\n  source = "../values"\n}\n',
    "values/main.tf": 'resource "null_resource" "x" {}\nresource "local_file" "y" {}\n',
    "trial/main.tf": LOCAL_AWS,
    "real/main.tf": 'provider "aws" {}\nresource "aws_s3_bucket" "b" {}\n',
    "mixed/main.tf": LOCAL_AWS.replace("http://localhost:4566", "https://s3.amazonaws.com"),
    "keys/main.tf": LOCAL_AWS.replace('access_key = "test"', "access_key = var.key"),
    "fetched/main.tf": 'module "m" {\n  source = "terraform-aws-modules/vpc/aws"\n}\nresource "null_resource" "x" {}\n',
    "shared/main.tf": 'terraform {\n  backend "s3" {}\n}\nresource "null_resource" "x" {}\n',
    "runs/main.tf": 'resource "null_resource" "x" {\n  provisioner "local-exec" {}\n}\n',
    "json/main.tf": 'resource "null_resource" "x" {}\n',
    "json/more.tf.json": "{}",
    "hosts.ini": "[web]\n127.0.0.1 ansible_port=2222 ansible_user=vagrant\n[web:vars]\nx=y\n",
    "servers.ini": "[web]\n127.0.0.1 ansible_port=2222\nweb1.acme.com ansible_port=2222\n",
    "self.ini": "localhost ansible_connection=local\n",
    "hosts.yml": "all:\n  hosts:\n    web1.acme.com:\n",
    "site.yml": "- hosts: all\n",
}
LOCAL_ENDS = [
    # Clusters: by a kubeconfig that kind wrote, or by the person's own.
    (f"{KIND} --kubeconfig /tmp/k", "KUBECONFIG=/tmp/k helm install x ./chart", "", Response.ALLOW, "kind made it"),
    (f"{KIND} --kubeconfig=/tmp/k", "kubectl --kubeconfig /tmp/k delete ns x", "", Response.ALLOW, "by the option"),
    (f"{KIND} --kubeconfig /tmp/there.kubeconfig", "KUBECONFIG=/tmp/there.kubeconfig helm uninstall x", "",
     Response.ASK, "a file that was there, and leads elsewhere"),
    (KIND, "KUBECONFIG=/tmp/k helm install x ./chart", "", Response.ASK, "another file"),
    (KIND, "kubectl apply -f k8s", "kind-try", Response.ALLOW, "the current context is of a container"),
    ("ls", "kubectl delete ns x", "minikube", Response.ALLOW, "the same"),
    ("ls", "kubectl delete ns x", "prod", Response.ASK, "another cluster"),
    ("ls", "kubectl delete ns x", "", Response.ASK, "nobody knows which"),
    ("ls", "kubectl config use-context prod && kubectl delete ns x", "kind-try", Response.ASK, "the text chooses"),
    ("ls", "kubectx prod; helm uninstall x", "kind-try", Response.ASK, "another way to choose"),
    ("ls", "aws eks update-kubeconfig --name prod && kubectl delete ns x", "kind-try", Response.ASK, "a third"),
    ("ls", "KUBECONFIG=~/.kube/prod kubectl delete ns x", "kind-try", Response.ASK, "another file"),
    ("ls", "kubectl --context prod delete ns x", "kind-try", Response.ASK, "another context"),
    ("ls", "kubectl --server https://prod.acme.com delete ns x", "kind-try", Response.ASK, "another server"),
    ("ls", "kubectl exec db-0 -- psql -c 'DROP TABLE x'", "kind-try", Response.ALLOW, "in a pod of it"),
    # Terraform: what the files say.
    ("ls", "terraform -chdir=local apply -auto-approve", "", Response.ALLOW, "values and files, in a module, too"),
    ("ls", "cd trial && terraform destroy -auto-approve", "", Response.ALLOW, "an emulator, by a trial key"),
    ("terraform -chdir=trial plan -out=/tmp/new.tfplan | tail", "terraform -chdir=trial apply /tmp/new.tfplan", "",
     Response.ALLOW, "a plan that the session made"),
    ("terraform -chdir=real plan -out=/tmp/new.tfplan", "terraform -chdir=trial apply /tmp/new.tfplan", "",
     Response.ASK, "that of another folder, whose settings it holds"),
    ("tofu -chdir=trial plan -out=/tmp/new.tfplan",
     "cp hosts.ini /tmp/new.tfplan && tofu -chdir=trial apply /tmp/new.tfplan", "",
     Response.ASK, "another one in its place"),
    ("ls", "terraform -chdir=trial apply /tmp/new.tfplan", "", Response.ASK, "nobody knows what it holds"),
    ("ls", "terraform -chdir=trial apply /tmp/there.kubeconfig", "", Response.ASK, "one that was there"),
    ("ls", "cd real && terraform apply -auto-approve", "", Response.ASK, "a cloud"),
    ("ls", "cd mixed && terraform destroy -auto-approve", "", Response.ASK, "an address of the cloud"),
    ("ls", "cd keys && terraform destroy -auto-approve", "", Response.ASK, "a key that may be real"),
    ("ls", "cd fetched && terraform apply -auto-approve", "", Response.ASK, "a module from elsewhere"),
    ("ls", "cd shared && terraform apply -auto-approve", "", Response.ASK, "a state that others share"),
    ("ls", "cd runs && terraform apply -auto-approve", "", Response.ASK, "a command"),
    ("ls", "cd json && terraform apply -auto-approve", "", Response.ASK, "files that are not read"),
    ("ls", "terraform apply -auto-approve", "", Response.ASK, "no files at all"),
    # Aliases, machines, hosts.
    ("mc alias set dev http://localhost:9000 a b", "mc rm -r --force dev/x/", "", Response.ALLOW, "an alias of here"),
    ("mc alias set dev http://localhost:9000 a b", "mc rb --force dev/x", "", Response.ALLOW, "its bucket"),
    ("mc alias set dev https://s3.acme.com a b", "mc rm -r --force dev/x/", "", Response.ASK, "elsewhere"),
    ("mc alias set dev http://localhost:9000 a b", "mc alias set dev https://s3.acme.com a b; mc rb --force dev/x", "",
     Response.ASK, "no longer"),
    ("mc alias set dev http://localhost:9000 a b", "mc mirror --remove dev/x prod/x", "", Response.ASK, "to another"),
    ("ls", "mc rb --force dev/x", "", Response.ASK, "nobody knows where"),
    ("vagrant up", "vagrant destroy -f", "", Response.ALLOW, "machines that the session brought up"),
    ("vagrant up", "vagrant ssh -c 'sudo rm -rf /var/cache/x'", "", Response.ALLOW, "within them"),
    ("ls", "vagrant destroy -f", "", Response.ASK, "somebody's"),
    ("vagrant up || true", "vagrant destroy -f", "", Response.ASK, "they may not have come up"),
    ("ls", "ansible-playbook -i hosts.ini site.yml", "", Response.ALLOW, "a machine at a port of this one"),
    ("ls", "ansible -i hosts.ini web -m service -a name=nginx", "", Response.ALLOW, "one module"),
    ("ls", "ansible-playbook -i servers.ini site.yml", "", Response.ASK, "a server among them"),
    ("ls", "ansible-playbook -i self.ini site.yml", "", Response.ASK, "this machine itself"),
    ("ls", "ansible-playbook -i hosts.yml site.yml", "", Response.ASK, "a form that is not read"),
    ("ls", "ansible-playbook -i hosts.ini -i servers.ini site.yml", "", Response.ASK, "both"),
    # Clusters of PostgreSQL.
    ("initdb -D /tmp/pg && pg_ctl -D /tmp/pg -o '-p 5599' start", "psql -h localhost -p 5599 -c 'DROP TABLE x'", "",
     Response.ALLOW, "initdb takes no folder that holds anything"),
    ("pg_ctl -D /tmp/pg -o '-p 5599' start", "psql -h localhost -p 5599 -c 'DROP TABLE x'", "", Response.ASK,
     "a cluster that was there"),
    ("ls", "AIRFLOW_HOME=/tmp/a airflow db reset -y", "", Response.ALLOW, "its own database lies there"),
    ("ls", "airflow db reset -y", "", Response.ASK, "the person's"),
    ("ls", "AIRFLOW_HOME=/tmp/a AIRFLOW__CORE__SQL_ALCHEMY_CONN=$X airflow db reset -y", "", Response.ASK, "away"),
    # What proves.
    ("export X=1; createdb shop", "dropdb shop", "", Response.ALLOW, "what stands before makes nothing"),
    ("createdb shop && until pg_isready; do sleep 1; done", "dropdb shop", "", Response.ALLOW, "a loop behind it"),
    ("createdb shop; ls", "dropdb shop", "", Response.ASK, "another command's exit code"),
    ("ls || createdb shop", "dropdb shop", "", Response.ASK, "perhaps"),
    ("bash -c 'createdb shop || true' && ls", "dropdb shop", "", Response.ASK, "a text within"),
    ("if x; then createdb shop; fi", "dropdb shop", "", Response.ASK, "a branch"),
]  # fmt: skip


HERE_RUN = "docker run -d --rm -p 127.0.0.1:54329:5432 postgres:17"
VOLUMES = """services:
  db:
    image: postgres
    ports: ["5499:5432"]
    volumes:
      - data:/var/lib/postgresql/data
  files:
    image: mysql
    ports: ["3399:3306"]
    volumes: ["./data:/var/lib/mysql"]
  blank:
    image: mysql
    volumes: ["./my data:/var/lib/mysql"]
volumes:
  data:
"""
UP = "docker compose -p try7 up -d --build"
ASKED_SERVERS = [
    # A port counts on this machine alone, for each client by its own words.
    (HERE_RUN, "psql -h localhost -p 54329 -c 'DROP TABLE x'", Response.ALLOW, "a port that was free, without a name"),
    (RUN, "psql -h db.acme.io -p 54329 -c 'DROP TABLE x'", Response.ASK, "the port of another machine"),
    (RUN, "psql -hdb.acme.io -p54329 -c 'DROP TABLE x'", Response.ASK, "the same in one word"),
    (RUN, "PGHOST=db.acme.io psql -p 54329 -c 'DROP TABLE x'", Response.ASK, "by a variable"),
    (RUN, "psql -c 'DROP TABLE x' 54329", Response.ASK, "a name is no port"),
    (RUN, "psql 'host=localhost port=54329 dbname=x' -c 'DROP TABLE x'", Response.ALLOW, "pairs"),
    (RUN, "psql 'host=db.acme.io port=54329' -c 'DROP TABLE x'", Response.ASK, "pairs of another machine"),
    (RUN, "psql postgres://a@localhost:54329/x?host=db.acme.io -c 'DROP TABLE x'", Response.ASK, "a host behind it"),
    (RUN, "psql postgres://a@localhost:54329,db.acme.io/x -c 'DROP TABLE x'", Response.ASK, "a second host"),
    (RUN, "psql -h localhost -p 54329 \"$DB\" -c 'DROP TABLE x'", Response.ASK, "a name that may be an address"),
    (RUN, "psql -p 54329 -c '\\c postgres://db.acme.io/x' -c 'DROP TABLE x'", Response.ASK, "it connects elsewhere"),
    (RUN, "psql -p 54329 -c '\\c shop' -c 'DROP TABLE x'", Response.ALLOW, "another database of that server"),
    (RUN, "ssh db1 \"psql -h localhost -p 54329 -c 'DROP TABLE x'\"", Response.ASK, "there"),
    (RUN, "PGPASSWORD=pw dropdb -h localhost -p 54329 -U postgres --if-exists shop", Response.ALLOW, "its databases"),
    (RUN, "dropdb -h db.acme.io -p 54329 shop", Response.ASK, "another machine's"),
    (RUN, "pg_restore --clean -h localhost -p 54329 -d x a.dump", Response.ALLOW, "what a copy takes the place of"),
    (RUN, "mysql -h 127.0.0.1 -P 54329 -uroot -pa -e 'DROP TABLE x'", Response.ALLOW, "MySQL"),
    (RUN, "mysql -h localhost -P 54329 -e 'DROP TABLE x'", Response.ASK, "its localhost is the socket"),
    (RUN, "mysql -h localhost --protocol=tcp -P 54329 -e 'DROP TABLE x'", Response.ALLOW, "but for this"),
    (RUN, "mysqladmin -h 127.0.0.1 -P 54329 drop shop", Response.ALLOW, "its administration"),
    (RUN, "mongosh --quiet 'mongodb://localhost:54329/a?directConnection=true' --eval 'db.dropDatabase()'",
     Response.ALLOW, "MongoDB"),
    (RUN, "mongosh --host db.acme.io --port 54329 --eval 'db.dropDatabase()'", Response.ASK, "elsewhere"),
    (RUN, "mongosh --port 54329 --eval 'connect(\"mongodb://db.acme.io/x\").dropDatabase()'", Response.ASK, "by code"),
    (RUN, "mongorestore --drop --uri mongodb://localhost:54329 dump", Response.ALLOW, "a copy"),
    (RUN, "redis-cli -h cache.acme.io -p 54329 flushall", Response.ASK, "Redis elsewhere"),
    (RUN, "cqlsh localhost 54329 -e 'DROP KEYSPACE x'", Response.ALLOW, "by two operands"),
    (RUN, "cqlsh db.acme.io 54329 -e 'DROP KEYSPACE x'", Response.ASK, "elsewhere"),
    (RUN, "sqlcmd -S localhost,54329 -U sa -Q 'DROP DATABASE x'", Response.ALLOW, "with a comma"),
    (RUN, "clickhouse-client --host db.acme.io --port 54329 -q 'DROP TABLE x'", Response.ASK, "ClickHouse elsewhere"),
    (RUN, "cypher-shell -a bolt://localhost:54329 'MATCH (n) DETACH DELETE n'", Response.ALLOW, "Neo4j"),
    (RUN, "etcdctl --endpoints=localhost:54329 del --prefix /", Response.ALLOW, "etcd"),
    (RUN, "etcdctl --endpoints=etcd.acme.io:54329 del --prefix /", Response.ASK, "etcd elsewhere"),
    # Compose under the session's own name: its volumes are the session's, folders of this machine are not.
    (f"{UP} 2>&1 | tail -3", "docker compose -p try7 exec -T db psql -c 'DROP TABLE x'", Response.ALLOW, "in it"),
    (f"{UP} 2>&1 | tail -3", "docker compose -p try7 down -v", Response.ALLOW, "its name is the witness, no exit code"),
    (f"{UP} 2>&1 | tail -3", "psql -h localhost -p 5499 -c 'DROP TABLE x'", Response.ASK, "the port may be another's"),
    (UP, "psql -h localhost -p 5499 -c 'DROP TABLE x'", Response.ALLOW, "a port that was free"),
    (UP, "docker compose -p try7 exec files mysql -e 'DROP TABLE x'", Response.ASK, "data in a folder"),
    (UP, "mysql -h 127.0.0.1 -P 3399 -e 'DROP TABLE x'", Response.ASK, "the same by its port"),
    (UP, "docker compose -p try7 exec blank mysql -e 'DROP TABLE x'", Response.ASK, "in one with a blank in its name"),
    (UP, "docker compose -p other exec db psql -c 'DROP TABLE x'", Response.ASK, "another project"),
    (UP.replace("try7", "project"), "docker compose -p project exec db psql -c 'DROP TABLE x'", Response.ASK,
     "the folder's"),
    ("docker compose up -d", "docker compose exec db psql -c 'DROP TABLE x'", Response.ASK, "the folder's by no name"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "then", "response"), [row[:3] for row in ASKED_SERVERS],
    ids=[f"{n}: {row[3]}" for n, row in enumerate(ASKED_SERVERS)],
)  # fmt: skip
def test_which_server_a_client_speaks_to(first: str, then: str, response: Response) -> None:
    assert said_of_last((first, then), {"compose.yaml": VOLUMES}) is response


@pytest.mark.parametrize(
    ("first", "then", "context", "response"), [row[:4] for row in LOCAL_ENDS],
    ids=[f"{n}: {row[4]}" for n, row in enumerate(LOCAL_ENDS)],
)  # fmt: skip
def test_other_ends_that_are_this_machine(first: str, then: str, context: str, response: Response) -> None:
    files = ENDS | ({"~/.kube/config": CONFIG.format(context)} if context else {})
    assert said_of_last((first, then), files, new=("/tmp/new.tfplan",)) is response


@pytest.mark.parametrize(
    ("first", "code", "then", "response"), [row[:4] for row in ROWS], ids=[f"{r[0]}: {r[4]}" for r in ROWS]
)
def test_what_the_session_made_by_name_is_its_own(first: str, code: int, then: str, response: Response) -> None:
    assert said_of_last(((first, code), then), {}) is response


@pytest.mark.parametrize(
    ("first", "then", "response"), [row[:3] for row in BESIDE_FILES],
    ids=[f"{n}: {row[3]}" for n, row in enumerate(BESIDE_FILES)],
)  # fmt: skip
def test_what_the_files_of_a_project_say_beside_it(first: str, then: str, response: Response) -> None:
    assert said_of_last((first, then), FILES) is response
