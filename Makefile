# Horsesense: `make run` starts everything on this machine, `make test` runs the tests.
# Needs Python 3.11, 3.12 or 3.13 with venv. PYTHON=... names one; PORT=... and HOST=... go to the server.
# COVERAGE= leaves the counting of branches out. Tests run in a random order, SEED=... repeats one.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
BLENDER := .venv-blender
TORCH := .venv-torch
COVERAGE := yes
PYTEST := $(BIN)/python -m pytest -n $(or $(JOBS),3) --dist worksteal $(if $(SEED),--randomly-seed=$(SEED))

# Hundreds of tests start processes of their own. Each would compile the same modules if the environment forbade Python to keep them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-quick prove lint release
.DEFAULT_GOAL := help

help:
	@echo "make run [PORT=8000] [HOST=127.0.0.1]   set up and run the site on this machine"
	@echo "make test                               the whole test suite, proofs at 1/20 of their size, and its coverage"
	@echo "make test-quick                         the tests that are not slow, proofs at 1/100 of their size"
	@echo "make prove                              the whole test suite, proofs at full size"
	@echo "make lint                               ruff, mypy, import-linter, Django's checks"
	@echo "make static/ask.py                      build the script that asks models, from generation/asking"
	@echo "make env                                write .env with random passwords, which docker-compose.yml needs"
	@echo "make release                            check, build and tag a release; the tag is not pushed"
	@echo "make .venv                              the Python environment alone"
	@echo "make blender                            Blender, the optional renderer, in $(BLENDER) (1 GB)"
	@echo "make torch                              PyTorch, in $(TORCH), and the tests of networks and of what they are fed (1 GB)"

run: $(VENV)/.run
	@$(BIN)/python manage.py quickstart $(if $(PORT),--port $(PORT)) $(if $(HOST),--host $(HOST))

test: $(VENV)/.dev warm
	@PROOF=$(or $(PROOF),1/20) $(PYTEST) $(if $(COVERAGE),--cov --cov-report=) $(ARGS); status=$$?; \
	  $(if $(COVERAGE),echo "Coverage of lines and branches: $$($(BIN)/coverage report --format=total) %";) exit $$status

test-quick: $(VENV)/.dev warm
	PROOF=$(or $(PROOF),1/100) $(PYTEST) -m "not slow" $(ARGS)

prove: $(VENV)/.dev warm
	PROOF=1 $(PYTEST) $(ARGS)

# Compiling takes one to two minutes once. Without this, every test process would do it beside the others.
.PHONY: warm
warm: $(VENV)/.run
	@NUMBA_CACHE_DIR=var/numba $(BIN)/python manage.py warm

# The setuptools of the lock file is older than the one that pyproject.toml needs, so building has an environment of its own.
BUILDER := .venv-release

release: $(VENV)/.dev $(BUILDER)/.run
	$(BIN)/python -m tests.release --builder $(BUILDER)/bin/python $(ARGS)

$(BUILDER)/.run: | $(BIN)/python
	$(BIN)/python -m venv $(BUILDER)
	$(BUILDER)/bin/python -m pip install --disable-pip-version-check --quiet setuptools==80.9.0
	@touch $@

# Each process of pytest reads all tests, and compiles those that no process before it has compiled and kept. An error in a
# test is not shown here, because the test run shows it.
.PHONY: bytecode
bytecode: $(VENV)/.dev
	@$(BIN)/python -m pytest --collect-only -q >/dev/null 2>&1 || true

# Users download the script as one file, so it is in the repository. A test says when it has to be built again.
.PHONY: static/ask.py
static/ask.py: $(BIN)/python
	$(BIN)/python -m generation.asking.single_file

# Each linter is a target, so that `make --keep-going lint` runs all of them, whichever fails.
LINTERS := lint-code lint-format lint-types lint-imports lint-migrations lint-deployment
.PHONY: $(LINTERS)
lint: $(LINTERS)
$(LINTERS): $(VENV)/.dev

lint-code:
	$(BIN)/ruff check
lint-format:
	$(BIN)/ruff format --check
lint-types:
	$(BIN)/mypy
lint-imports:
	$(BIN)/lint-imports
lint-migrations:
	$(BIN)/python manage.py makemigrations --check --dry-run
lint-deployment:
	PUBLIC_URL=https://horsesense.example.org $(BIN)/python manage.py check --deploy --fail-level WARNING

# The secrets of docker-compose.yml. A file that is there is left alone: its passwords are those of the stored data.
SECRETS := POSTGRES_PASSWORD REDIS_PASSWORD SECRET_KEY

.PHONY: env
env:
	@if [ -e .env ]; then \
	  for name in $(SECRETS); do grep -q "^$$name=." .env || absent="$$absent $$name"; done; \
	  echo "Expected no file .env, found one, which was not changed." \
	    "$${absent:+It has no$$absent. If this site has stored data, see /docs/operating/#from-the-default-passwords.}" >&2; \
	  exit 2; \
	fi; \
	umask 077; draft=".env.$$$$"; trap 'rm -f "$$draft"' EXIT; \
	for name in $(SECRETS); do echo "$$name=$$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"; done >"$$draft" && \
	ln "$$draft" .env && \
	echo "Wrote .env with new, random values of: $(SECRETS). Only you can read it." \
	  "They belong to the data that the site will store: keep a copy of the file."

.PHONY: .venv
.venv: $(VENV)/.run

# The stamps say which lock is installed; with the same lock there is nothing to do. Python compiles a module when a process
# first imports it: to compile all modules now would take longer than the rest of the installation.
$(VENV)/.run: requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-compile --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-compile --require-hashes -r requirements-dev.txt
	@touch $@

# Blender (GPL) has an environment of its own, and only ever runs as a child process. It takes Python 3.11 alone.
.PHONY: blender
blender: $(BLENDER)/.run

$(BLENDER)/.run: requirements-blender.txt | $(BLENDER)/bin/python
	$(BLENDER)/bin/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements-blender.txt
	@$(BLENDER)/bin/python -c 'import bpy' >/dev/null || { \
	  echo "Expected Blender to load, but a library of this machine is missing (see above). Debian has them:" \
	    "apt install libgl1 libsm6 libxfixes3 libxi6 libxkbcommon0 libxrender1" >&2; exit 2; }
	@touch $@

# PyTorch is a dependency of nothing here, and large: what is written for it is tested in an environment of its own.
.PHONY: torch
torch: $(TORCH)/.run $(VENV)/.dev
	PROOF=1 $(BIN)/python -m pytest tests/engine/test_torch_stream.py tests/engine/learners/test_networks.py \
	  tests/engine/learners/test_estimate_memory.py \
	  tests/engine/learners/test_training_process.py tests/leaderboards/training/test_network_trainings.py \
	  tests/test_installed.py $(ARGS)

$(TORCH)/.run: requirements.txt | $(BIN)/python
	$(BIN)/python -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements.txt
	$(TORCH)/bin/python -m pip install --disable-pip-version-check --quiet torch==2.13.0
	@touch $@

GOOD_FOR_BLENDER := import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))
CANDIDATES_FOR_BLENDER := $(if $(PYTHON),$(PYTHON),python3.11 python3 python $(BIN)/python)

$(BLENDER)/bin/python:
	@for python in $(CANDIDATES_FOR_BLENDER); do \
	  if $$python -c '$(GOOD_FOR_BLENDER)' >/dev/null 2>&1; then \
	    echo "Making $(BLENDER) with $$($$python --version) ..."; \
	    exec $$python -m venv $(BLENDER); \
	  fi; \
	done; \
	echo "Expected Python 3.11 with venv, found none among: $(CANDIDATES_FOR_BLENDER)." \
	  "Install it (Debian 12: apt install python3.11-venv) or name it: make PYTHON=/path/to/python3.11 blender" >&2; \
	exit 2

GOOD := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3.12 python3.13 python3.11 python3 python)

$(BIN)/python:
	@for python in $(CANDIDATES); do \
	  if $$python -c '$(GOOD)' >/dev/null 2>&1; then \
	    echo "Making $(VENV) with $$($$python --version) ..."; \
	    exec $$python -m venv $(VENV); \
	  fi; \
	done; \
	echo "Expected Python 3.11, 3.12 or 3.13 with venv, found none among: $(CANDIDATES)." \
	  "Install one (Debian: apt install python3 python3-venv) or name it: make PYTHON=/path/to/python3.12 run" >&2; \
	exit 2
