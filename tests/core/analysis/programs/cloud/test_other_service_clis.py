"""Services that run elsewhere: the verbs that take something down, and those that ask. Only parsed."""

from __future__ import annotations

import pytest

from tests.support.command_tables import Group, brief, cases

DESTROYS = "deploy delete"
GROUPS: list[Group] = [
    (DESTROYS, "the verb is the second word", ("stripe customers delete c", "nats stream rm x -f", "rbd trash purge p",
     "ceph osd purge 1", "doppler projects delete x", "restic -r x prune")),
    (DESTROYS, "the verb is the third word", ("ceph osd pool delete x x", "samba-tool user delete x")),
    (DESTROYS, "the verb stands behind a colon", ("twilio phone-numbers:remove x", "occ user:delete x",
     "twilio api:core:messages:remove --sid x", "magento setup:uninstall")),
    (DESTROYS, "the verb is a part of a word", ("b2 delete-bucket x", "rabbitmqctl delete_user x",
     "pgbackrest stanza-delete --stanza=x")),
    (DESTROYS, "the verb is an option", ("hdfs dfs -rm -r /data", "hadoop fs -rmr /x", "timeshift --delete-all",
     "kafka-consumer-groups.sh --bootstrap-server x --delete --group y", "acme.sh --remove -d x",
     "rdiff-backup --remove-older-than 1D x")),
    (DESTROYS, "backups", ("borg delete repo", "borg prune --keep-last 1 repo", "restic forget --prune --keep-last 1",
     "snapper delete 1-10", "duplicity remove-all-but-n-full 1 file:///x", "wal-g delete everything FORCE")),
    (DESTROYS, "a word of its own", ("dvc gc -w -f", "certbot revoke --cert-path x", "drbdadm down all",
     "stripe subscriptions cancel s", "rabbitmqctl stop_app")),
    ("deploy", "others use what is changed", ("npx convex deploy", "atlas schema apply --auto-approve -u mysql://h/x",
     "shopify theme push --live")),
    ("", "asks", ("stripe customers list", "nats stream ls", "hdfs dfs -ls /", "ceph status", "restic snapshots",
     "borg list repo", "certbot certificates", "rabbitmqctl list_queues", "wp plugin list", "drush cr",
     "op item get delete", "kafka-consumer-groups.sh --bootstrap-server x --describe --group delete")),
    ("", "tries", ("restic forget --dry-run", "borg prune -n repo", "certbot delete --dry-run",
     "wp search-replace a b --dry-run")),
    (DESTROYS, "backups that somebody may need", ("restic -r /srv/backup forget --prune --keep-last 1",)),
    ("", "a repository for a trial", ("restic -r /tmp/trial forget --prune --keep-last 1",
     "RESTIC_REPOSITORY=/tmp/trial restic forget --prune --keep-last 1")),
    ("", "works here", ("dvc remove x.dvc", "dvc push", "wp cache flush", "shopify theme dev", "op run -- npm test",
     "swift build", "swift package reset")),
    ("", "the other end is this machine", (
     "kafka-consumer-groups.sh --bootstrap-server localhost:9092 --delete --group y",
     "atlas schema apply -u postgres://u:p@localhost:5432/x")),
    ("deploy delete", "a command over there keeps its own options", ("heroku run bash -c 'rm -rf /'",
     "knife ssh '*:*' 'rm -rf /'")),
]  # fmt: skip


@pytest.mark.parametrize(("command", "what"), cases(GROUPS))
def test_what_a_service_loses(command: str, what: str) -> None:
    assert brief(command) == what
