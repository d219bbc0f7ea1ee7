"""Containers that are the machine: by an engine's own words, and by a compose file that the text wrote."""

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository, told

COMPOSE = "services:\n  a:\n    image: alpine\n"
ON_DISK = repository({"compose.yaml": COMPOSE + "    privileged: true\n"})
ROWS = [
    ("incus launch images:alpine esc -c security.privileged=true", True, "all rights, by a setting"),
    ("lxc config device add c r disk source=/ path=/mnt/r", True, "the machine's root as a disk"),
    ("lxc config device add c r disk source=/srv/x path=/mnt/r", False, "a folder of its own"),
    ("pack build a --volume /home/ann:/home/host:rw", True, "the home, for a builder"),
    ("singularity exec -B /:/host i.sif sh", True, "a bind"),
    ("singularity exec -B data:/data i.sif sh", False, "a folder of the project"),
    ("ctr run --mount type=bind,src=/etc,dst=/h i x sh", True, "a mount with its keys"),
    (f"printf '{COMPOSE}    privileged: true\n' > c.yml && docker compose -f c.yml run a", True, "a file of this text"),
    (f"printf '{COMPOSE}    volumes: [\"/:/h\"]\n' > c.yml && docker compose -f c.yml up -d", True, "a mount in it"),
    (
        f"printf '{COMPOSE}    volumes: [\"./a:/h\"]\n' > c.yml && docker compose -f c.yml up -d",
        False,
        "of the project",
    ),
    (f"printf '{COMPOSE}    pid: host\n' > c.yml && docker compose -f c.yml config", False, "only shown"),
    ("docker compose up -d", False, "a file that the project has"),
]


@pytest.mark.parametrize(("command", "opens"), [pytest.param(*row[:2], id=row[2]) for row in ROWS])
def test_a_container_that_is_the_machine(command, opens):
    assert bool(told(effects_of(command, ON_DISK), Kind.PRIVILEGE)) == opens
