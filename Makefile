# Every target sets itself up in .venv; nothing else needs to be installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEER := .venv-opendp
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
JOBS ?= auto
LONG ?= slow or hypothesis
SITE ?= build/versions

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-all coverage corpus mutants measure pictures lint docs site dist lock weigh bench compare clean

# Every core runs its own tests: more threads would only wait for each other. Many tests start interpreters,
# which need not compile the same files again and again. Tests take from a millisecond to a minute, so a worker
# that is done takes tests from another.
test test-slow test-all measure coverage mutants: export OMP_NUM_THREADS := 1
test test-slow test-all measure coverage mutants: export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: $(VENV)/.demo  ## walk a clinic's million visits from declaration to ledger
	$(BIN)/discreet demo

test: $(VENV)/.test  ## every test, the long ones in part
	$(PYTEST) -m "not slow"

test-slow: $(VENV)/.test  ## the long tests, and those of properties with more examples
	$(PYTEST) -m "$(LONG)" --hypothesis-profile=thorough

test-all: $(VENV)/.test  ## every test in full, for hours
	EFFORT=all $(PYTEST) --hypothesis-profile=thorough

measure: $(VENV)/.test  ## how long tests take, so that make test stays short; writes tests/durations.txt
	EFFORT=uncut $(PYTEST) -p tests.durations -m "not slow"

coverage: $(VENV)/.test  ## intervals of calculated answers over ten thousand releases each
	EFFORT=all $(PYTEST) -m slow -k "cover" tests/queries tests/curator tests/learning

corpus: $(VENV)/.test  ## how many of 400 queries, as people write them, are answered
	$(BIN)/python -m tests.corpus

mutants: $(VENV)/.test  ## faults planted one by one: which of them the nearest tests let pass
	$(BIN)/python -m tests.mutation $(MUTANTS)

pictures: $(VENV)/.test  ## the dashboard's pictures in docs/dashboard, taken anew by the tour in a browser
	SCREENSHOTS=docs/dashboard $(BIN)/python -m pytest tests/server/browser

lint: $(VENV)/.lint  ## style, types, layers, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

docs: $(VENV)/.docs  ## the documentation site, in build/site: reference, lectures and guides are run
	OMP_NUM_THREADS=1 NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@echo "build/site is ready: open build/site/index.html"

site: docs  ## the same as one of all versions, in SITE (build/versions), with a selector on every page
	$(BIN)/python -m book.versions build/site $(SITE)

# PYTHONS names more interpreters to try the packages on: make dist PYTHONS="python3.12 python3.13"
dist: $(VENV)/.dist  ## wheel and sdist, each installed by hashes and tried in an environment of its own; sbom.json
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	PYTHONPATH=src $(BIN)/python -m book.packages dist $(PYTHONS)

# The locks hold every file of a version, for all systems, so that they are the same wherever they are made.
# PyTorch is in none: which build is right depends on the machine.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --custom-compile-command "make lock" --constraint constraints.txt pyproject.toml
lock: $(VENV)/.dist  ## locks/: versions and hashes of all that the core, a server and all extras but PyTorch install
	mkdir -p locks
	$(LOCK) --output-file locks/core.txt
	$(LOCK) --extra serve --extra postgres --extra plot --output-file locks/serve.txt
	$(LOCK) --extra serve --extra postgres --extra plot --extra spark --extra polars --extra learn --output-file locks/all.txt

weigh: $(VENV)/.test  ## what each extra weighs on disk
	$(BIN)/python -m book.weights

bench: $(VENV)/.bench $(PEER)/.done  ## speed and accuracy against NumPy and the peers
	$(BIN)/python -m benchmarks.noise
	$(BIN)/python -m benchmarks.accounting
	$(BIN)/python -m benchmarks.stability
	$(BIN)/python -m benchmarks.workloads
	$(BIN)/python -m benchmarks.queries --peer $(PEER)/bin/python
	$(BIN)/python -m benchmarks.latency --peer $(PEER)/bin/python
	$(BIN)/python -m benchmarks.accuracy --peer $(PEER)/bin/python

compare: $(VENV)/.bench  ## the same small work by us and by each peer that installs; writes docs/comparison.md
	$(PIP) pandas
	$(BIN)/python -m benchmarks.comparison --folder .venv-peers

clean:  ## remove what the targets made
	rm -rf $(VENV) $(PEER) .venv-peers build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit("discreet needs Python 3.11 or newer: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing: install your system's python3-venv package"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) -e '.[tables]'
	@touch $@

$(VENV)/.demo: $(VENV)/.core
	$(PIP) -e '.[tables,plot]'
	@touch $@

# Before what depends on it, so that only the pinned build is ever considered.
$(VENV)/.torch: $(VENV)/.core
	$(PIP) torch==2.13.0
	@touch $@

$(VENV)/.test: $(VENV)/.torch
	$(PIP) -e '.[test]'
	@touch $@

$(VENV)/.lint: $(VENV)/.torch
	$(PIP) -e '.[lint,test]'
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(PIP) -e '.[test,docs]'
	@touch $@

$(VENV)/.dist: $(VENV)/.python
	$(PIP) build packaging uv
	@touch $@

$(VENV)/.bench: $(VENV)/.core
	$(PIP) -e '.[tables,bench]'
	@touch $@

# OpenDP runs on its own Polars.
$(PEER)/.done: $(VENV)/.python
	$(PYTHON) -m venv $(PEER)
	$(PEER)/bin/python -m pip install --quiet --disable-pip-version-check 'opendp[polars]==0.16.0'
	@touch $@
