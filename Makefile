# The project's doors. Each makes the environment first, so that a fresh clone needs Python 3.11+, git and make only.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SOURCES := $(wildcard sentinel_guard/launcher/*.[ch] sentinel_guard/broker/*.[ch])

.PHONY: demo test unit rewritten compiled lint format test-agents test-agents-headless test-engine agents bench bench-earlier bench-peers bench-agents screens corpus sessions incidents loops faults matrix leaks oracles metamorphic mutated transparency fuzz mutants clean

demo: $(READY)
	@$(BIN)/sentinel-guard demo

test: $(READY)
	@$(MAKE) --no-print-directory -j 2 lint rewritten
	@$(MAKE) --no-print-directory unit

unit: compiled
	@sh tests/support/run_suite.sh $(BIN)/python $(VENV)/failed

# pytest writes each test's asserts anew and keeps them: once, beside the lint, else each of the suite's workers does, all at the same time.
# What cannot be collected, the suite says.
rewritten: compiled
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --collect-only -q -n 0 --ignore tests/real_agents >/dev/null 2>&1 || :

# As an installation does: else each start of a program reads the sources anew.
compiled: $(READY)
	@$(BIN)/python -m compileall -q sentinel_guard

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# The real coding agents, at pinned versions, against a scripted model; needs npm, and tmux for those on a full screen. What
# a run finds goes into docs/agents.md.
AGENTS := $(VENV)/agents
AGENT_TESTS := SENTINEL_TEST_KERNEL=auto SENTINEL_TEST_RECORD=1 SENTINEL_TEST_CLIENTS=$(abspath $(AGENTS)) $(BIN)/python -m pytest --dist worksteal
# As run_suite.sh does: what failed is run once more with nothing beside it.
FAILED_AGENTS := $(VENV)/failed-agents
HEADLESS := $(AGENT_TESTS) -o cache_dir=$(FAILED_AGENTS) tests/real_agents/test_headless.py
test-agents: agents
	@command -v tmux >/dev/null || { echo "tmux is not on PATH: the agents on a full screen cannot be tested." >&2; exit 1; }
	@$(AGENT_TESTS) -n 2 tests/real_agents

test-agents-headless: agents
	@rm -rf $(FAILED_AGENTS); $(HEADLESS) -n 2 || { [ $$? = 1 ] && $(HEADLESS) --last-failed --last-failed-no-failures none --maxfail 1; }

# The real engine of containers: podman, whose service speaks docker's API.
test-engine: $(READY)
	@command -v podman >/dev/null || { echo "podman is not on PATH: the engine cannot be tested." >&2; exit 1; }
	@SENTINEL_TEST_ENGINE=1 $(BIN)/python -m pytest -n 0 tests/host/containers

agents: $(READY)
	@$(BIN)/python -m tests.support.agents.real_agents $(AGENTS)

bench: compiled
	@$(BIN)/python -m bench.run

# What an agent waits for its guard before a command, ours and others', in one run; fetches them once, from PyPI and npm.
bench-peers: compiled
	@$(BIN)/python -m bench.latency.peers

# What a call costs beside an earlier state, in turns: THEN=FOLDER, a worktree of an earlier commit with its .venv. Minutes.
bench-earlier: compiled
	@$(BIN)/python -m bench.earlier_state $(THEN)

# What a session costs in each real agent; needs npm, and a machine that does nothing else. Minutes.
bench-agents: agents compiled
	@SENTINEL_TEST_KERNEL=auto SENTINEL_TEST_CLIENTS=$(abspath $(AGENTS)) $(BIN)/python -m bench.agent_overhead
	@$(BIN)/python -m tests.support.generated_documents overhead "overhead parts"

# The screens of docs/terminal.md; needs tmux, vim and npm. A minute or two.
screens: agents compiled
	@SENTINEL_TEST_KERNEL=auto SENTINEL_TEST_CLIENTS=$(abspath $(AGENTS)) $(BIN)/python -m tests.support.agents.terminal_screens

# The lists are not part of the project: SENTINEL_CORPUS names their folder.
corpus: $(READY)
	@$(BIN)/python bench/verdict_accuracy.py

# Whole honest sessions, run in a cage (bubblewrap): each command that is disturbed. SESSIONS=FOLDER for others. Minutes.
sessions: compiled
	@$(BIN)/python -m bench.honest_sessions $(or $(SESSIONS),bench/sessions)

# Published incidents of coding agents, in the same cage: what is lost in spite of the guard. INCIDENTS=FILE for others. Minutes.
incidents: compiled
	@$(BIN)/python -m bench.published_incidents $(INCIDENTS)

loops: $(READY)
	@$(BIN)/python -m bench.loop_detection

# What runs free and what is lost while the guard is harmed (killed, stopped, its state deleted ...). FAULTS="kill stop" for some.
faults: $(READY)
	@$(BIN)/python -m bench.guard_faults $(FAULTS)

# What comes of what programs do while they run, way by way, without the kernel layer and with it. Minutes. MATRIX="git" for some.
matrix: $(READY)
	@$(BIN)/python -m bench.runtime_matrix $(MATRIX)

# The search for secrets beside detect-secrets and kingfisher; fetches both, and packages to search, once. Minutes.
leaks: $(READY)
	@$(BIN)/python -m bench.secret_scan_accuracy

# The parser and the evaluation of words against bash and shfmt, at full size; minutes.
oracles: $(READY)
	@$(BIN)/python -m bench.analysis.parser_oracles
	@$(BIN)/python -m bench.analysis.execution_oracle

# Every meaning in every way, as a table; then every rewriting of a command with every dangerous command, proved by bash in a cage
# of stubs; minutes. Prints what is softer.
metamorphic: $(READY)
	@$(BIN)/python -m bench.analysis.meanings
	@$(BIN)/python -m bench.analysis.rewritings

# The time of 100,000 verdicts on mutated commands, the same in each run; counts those over 50 ms. Minutes. SEED=7 for others.
mutated: compiled
	@$(BIN)/python -m bench.analysis.mutated_verdicts

fuzz: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	@$(BIN)/python -m bench.analysis.fuzz_atheris -max_total_time=300

# Random paths through the broker's resolution, beside the kernel's own, under sanitizers; a minute or so. SEEDS="1 2 3" for more.
fuzz-broker: $(READY)
	@for seed in $(or $(SEEDS),1); do SENTINEL_FUZZ=400000 $(BIN)/python -m pytest -q tests/broker/test_fuzz_resolve.py || exit 1; done

# Thousands of shell texts, bare and guarded, in a cage (bubblewrap): what differs. Minutes. SHELL_WORDS="zsh -c", EVERY=10 for a tenth.
transparency: compiled
	@$(BIN)/python -m bench.transparency

# Small changes of the code that no test notices: a sample over all targets; minutes. SEED=7 for another, SAMPLE=110 for a larger one.
# MUTANTS="guard checks" for each change of these, "all" for hours.
mutants: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mutants]'
	@MUTANTS="$(MUTANTS)" SAMPLE="$(SAMPLE)" SEED="$(SEED)" $(BIN)/python -m bench.mutation_testing

clean:
	rm -rf $(VENV) sentinel_guard/launcher/sentinel-launcher sentinel_guard/broker/sentinel-broker

$(READY): pyproject.toml hatch_build.py $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sentinel-guard needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
