"""Folders of this machine in containers and virtual machines besides docker's. Texts are only parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository

WORLD = repository({"src/a.c": ""})

OPEN = [
    ("apptainer exec --bind /:/mnt x.sif ls", False, "an image that runs as the user"),
    ("singularity shell -B /home x.sif", False, "the same, by its older name"),
    ("lxc config device add dev h disk source=/ path=/h", True, "a device of a container, as root"),
    ("incus config device add dev h disk source=/etc path=/h", True, "a folder of the system"),
    ("buildah run -v /:/host c sh", False, "a volume"),
    ("ctr run --mount type=bind,src=/,dst=/host,options=rbind:rw docker.io/library/alpine:3 x sh", True, "containerd"),
    ("limactl start --mount /:w default", False, "a virtual machine"),
    ("multipass mount / vm:/host", False, "an operand"),
    ("minikube mount /:/host", False, "a cluster of this machine"),
    ("wasmtime run --dir / x.wasm", False, "a module with all files"),
]
SHUT = [
    ("apptainer exec --bind /srv/data:/data x.sif ls", "a folder of data"),
    ("lxc config device add dev s disk source=/home/ann/repo path=/s", "the repository"),
    ("multipass mount . vm:/src", "the current folder"),
    ("wasmtime run --dir . x.wasm", "the current folder"),
    ("lxc list", "no mount"),
]


@pytest.mark.parametrize(("command", "sure", "reason"), OPEN)
def test_the_machine_lies_open(command, sure, reason):
    found = [
        e.sure
        for e in effects_of(command, world=WORLD)
        if e.kind is Kind.PRIVILEGE and e.target == "container host mount"
    ]
    assert found == [sure], reason


@pytest.mark.parametrize(("command", "reason"), SHUT)
def test_what_is_shared_is_no_danger(command, reason):
    assert not any(e.kind is Kind.PRIVILEGE for e in effects_of(command, world=WORLD)), reason


def test_the_command_of_an_image_of_the_same_user_is_this_machines():
    assert any(e.kind is Kind.DELETE for e in effects_of("apptainer exec x.sif rm -rf src", world=WORLD))
