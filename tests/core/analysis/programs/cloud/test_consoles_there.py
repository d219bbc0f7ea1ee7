"""Consoles on other machines: who types into one on production is asked about; and what shows a container's secrets."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import REPO, effects_of, repository

ROWS = [
    ("heroku run rails c --app prod", True, "a console of an application"),
    ("heroku run bash -a shop", True, "a platform that runs for others"),
    ("heroku run rails db:migrate -a prod-shop", True, "a migration where others use it"),
    ("heroku run rails db:migrate -a shop-staging", False, "a migration on a rehearsal"),
    ("heroku run rails c -a shop-staging", False, "a rehearsal by its name"),
    ("heroku run rake routes -a shop", False, "a command, not a console"),
    ("fly ssh console", True, "no command"),
    ("fly ssh console -C ls", False, "a command"),
    ("railway ssh", True, "no command"),
    ("railway ssh -- ls", False, "a command"),
    ("railway run bash", True, "a shell here, with what the platform holds"),
    ("railway shell", True, "the same"),
    ("railway run -e staging bash", False, "a rehearsal by its name"),
    ("railway run npm test", False, "a command, not a console"),
    ("kubectl exec -it web-prod-1 -- bash", True, "production by its name"),
    ("kubectl exec -it -n production db-0 -- psql", True, "a client in its namespace"),
    ("kubectl exec -it product-api-1 -- bash", False, "another word that begins so"),
    ("kubectl exec web-prod-1 -- ls", False, "a command"),
    ("az vm open-port --port 22 -g rg -n vm", True, "opens a port"),
]


@pytest.mark.parametrize(("command", "asked", "why"), ROWS, ids=[row[0] for row in ROWS])
def test_what_is_typed_there_is_asked_about(command, asked, why):
    assert any(e.kind is Kind.DEPLOY for e in effects_of(command, repository())) is asked, why


SHOWN = [
    ("docker run --env-file .env alpine env", True, "the environment of a file"),
    ("docker run --env-file .env alpine npm test", False, "a program that has it"),
    ("grep -r KEY . --include=.env", True, "a file that a search is narrowed to"),
    ("grep -r KEY --include=.env", True, "where it stands"),
    ("grep -r KEY . --include=*.py", False, "others"),
    ("rg -g '.env*' .", True, "a search that goes through folders unasked"),
    ("rg KEY --glob=.env .", True, "by the long name"),
    ("rg KEY -g '!.env' .", False, "one that leaves it out"),
    ("rg KEY -g '*.py' .", False, "others"),
]


@pytest.mark.parametrize(("command", "shown", "why"), SHOWN, ids=[row[0] for row in SHOWN])
def test_what_shows_a_secret_file_reads_it(command, shown, why):
    found = [e.target for e in effects_of(command, repository()) if e.kind is Kind.READ and "shown" in e.how]
    assert (f"{REPO}/.env" in found) is shown, why


CYPHER = [
    ("python3 -c \"session.run('MATCH (n) DETACH DELETE n')\"", True, "all nodes"),
    ("python3 -c \"session.run('MATCH (n:Test {id: 1}) DELETE n')\"", False, "named ones"),
    ("python3 -c \"session.run('MATCH (n) RETURN n')\"", False, "a query"),
    ("python3 -c \"job.run('delete')\"", False, "no statement"),
]


@pytest.mark.parametrize(("command", "lost", "why"), CYPHER, ids=[row[0] for row in CYPHER])
def test_cypher_in_a_program(command, lost, why):
    assert any(e.kind is Kind.DATABASE for e in effects_of(command, repository())) is lost, why
