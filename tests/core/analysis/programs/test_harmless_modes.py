"""Modes in which nothing happens: each row is a command that loses or changes something, and the word with which it
only looks or tries. Every command here is only ever parsed.
"""

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository

WORLD = repository({".env": "K=1\n"})
HARMS = {Kind.DEPLOY, Kind.PUBLISH, Kind.DATABASE, Kind.PRIVILEGE, Kind.DELETE, Kind.GIT_REWRITE, Kind.SIGNAL}
TRIED = [
    ("rsync --delete src/ prod:/srv/", "-an"),
    ("rsync -a --delete src/ prod:/srv/app", "--dry-run"),
    ("rclone purge remote:x", "--dry-run"),
    ("rclone delete remote:x", "-n"),
    ("aws ec2 run-instances --image-id ami-1", "--dry-run"),
    ("aws s3 rm s3://b --recursive", "--dryrun"),
    ("kubectl delete pod x", "--dry-run=server"),
    ("kubectl drain node-1", "--dry-run=client"),
    ("kubectl rollout undo deploy/x", "--dry-run=client"),
    ("helm uninstall x", "--dry-run"),
    ("helm upgrade --install x ./c", "--dry-run=server"),
    ("helm rollback x 1", "--dry-run"),
    ("pulumi destroy", "--preview-only"),
    ("cdk deploy", "--no-execute"),
    ("sam deploy", "--no-execute-changeset"),
    ("ansible-playbook x.yml", "--check"),
    ("puppet apply site.pp", "--noop"),
    ("docker compose down -v", "--dry-run"),
    ("npm publish", "--dry-run"),
    ("yarn npm publish", "--dry-run"),
    ("pnpm publish", "--dry-run"),
    ("cargo publish", "--dry-run"),
    ("poetry publish", "--dry-run"),
    ("uv publish", "--dry-run"),
    ("gradle publish", "--dry-run"),
    ("./gradlew publish", "-m"),
    ("goreleaser release --clean", "--snapshot"),
    ("semantic-release", "--dry-run"),
    ("release-it", "--dry-run"),
    ("np", "--preview"),
    ("npx semantic-release", "--dry-run"),
    ("git push -f", "--dry-run"),
    ("git push --delete origin x", "-n"),
    ("git rm x", "-n"),
    ("git filter-repo", "--dry-run"),
    ("git reflog expire --all", "--dry-run"),
    ("git prune", "-n"),
    ("hg purge", "--print"),
    ("rake db:drop", "-n"),
    ("invoke deploy", "--dry"),
    ("turbo run deploy", "--dry"),
    ("turbo run deploy", "--dry-run=json"),
    ("alembic downgrade base", "--sql"),
    ("php artisan migrate:fresh", "--pretend"),
    ("atlas schema apply", "--dry-run"),
    ("atlas migrate apply", "--dry-run"),
    ("skeema push", "--dry-run"),
    ("dbt run --full-refresh --target prod", "--empty"),
    ("restic forget --keep-last 1", "--dry-run"),
    ("restic prune", "--dry-run"),
    ("borg prune repo", "-n"),
    ("borg delete repo", "--dry-run"),
    ("zfs destroy tank/x", "-nv"),
    ("lvremove vg/x", "--test"),
    ("lvremove vg/x", "-t"),
    ("shutdown", "-c"),
    ("systemctl reboot", "--dry-run"),
    ("systemctl poweroff", "--dry-run"),
    ("ufw enable", "--dry-run"),
    ("iptables INPUT -j DROP", "-C"),
    ("nft -f rules.nft", "-c"),
    ("visudo", "-c"),
    ("passwd", "-S"),
    ("firebase deploy", "--dry-run"),
    ("wrangler deploy", "--dry-run"),
    ("fly deploy", "--build-only"),
    ("argocd app sync x", "--dry-run"),
    ("eksctl create cluster -f x", "--dry-run"),
    ("drush sql:drop", "--simulate"),
    ("dotnet ef database drop", "--dry-run"),
    ("supabase db push", "--dry-run"),
    ("rake db:drop", "-n"),
]
HELPED = [
    "gcloud sql instances delete prod",
    "gcloud builds submit",
    "az group delete",
    "terraform destroy",
    "terraform apply",
    "pulumi up",
    "sls deploy",
    "vault kv delete",
    "consul kv delete",
    "docker buildx build --push",
    "twine upload",
    "gem push",
    "dotnet nuget push",
    "lerna publish",
    "changeset publish",
    "mage deploy",
    "nx run app:deploy",
    "python manage.py flush",
    "rails db:drop",
    "npx prisma migrate reset",
    "npx sequelize db:drop",
    "npx typeorm schema:drop",
    "dropdb",
    "kopia snapshot delete",
    "velero backup delete",
    "certbot delete",
    "useradd",
    "userdel",
    "firebase deploy",
    "vercel deploy",
    "netlify deploy",
    "heroku apps:destroy",
    "gh release delete",
    "gh repo delete",
    "glab repo delete",
    "stripe customers delete",
    "adb uninstall",
    "skaffold delete",
    "argocd app delete x",
    "flux delete kustomization x",
    "kn service delete",
    "eksctl delete cluster",
    "doctl compute droplet delete",
    "hcloud server delete",
    "linode-cli linodes delete",
    "scw instance server delete",
    "openstack server delete",
    "ibmcloud is instance-delete",
    "oci compute instance terminate",
    "aliyun ecs DeleteInstance",
    "wp db reset",
    "drush sql-drop",
    "mix ecto.drop",
    "dotnet ef database drop",
    "supabase db reset",
    "turso db destroy",
    "neonctl branches delete",
    "nats stream purge",
]


def harms(command: str) -> bool:
    return any(
        effect.kind in HARMS or (effect.kind is Kind.WRITE and effect.how & {"mkfs", "raw"})
        for effect in effects_of(command, WORLD)
    )


@pytest.mark.parametrize(("command", "mode"), TRIED)
def test_a_mode_takes_the_harm_away(command: str, mode: str) -> None:
    assert harms(command)
    assert not harms(f"{command} {mode}")


@pytest.mark.parametrize("command", HELPED)
def test_help_does_nothing(command: str) -> None:
    assert harms(command)
    assert not harms(f"{command} --help")
