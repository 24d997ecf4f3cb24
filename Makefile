# Needs python3 (3.11 or newer, with venv) and make; everything else goes into .venv at the versions of constraints.txt.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: help run check test test-long test-grid mutate bench audit audit-matrix docs pictures clean
.DEFAULT_GOAL := help

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.has-run ## Run the study rigid-body, spun about its middle axis: figures, report, motion and data in out/rigid-body
	@$(BIN)/naiad run rigid-body -p Omega0=0.01,1,0.01 -p t1=100 --live --out out/rigid-body
	@echo "Open out/rigid-body/report.html in a browser, and live.html and motion.html beside it; then try: $(BIN)/naiad list"

# What differs from the last commit: packages of src/naiad and folders of tests.
PART ?= $(wildcard $(shell git diff --name-only HEAD | sed -n -E 's,^(src/naiad|tests)/([a-z]+)/.*,tests/\2,p' | sort -u))

check: $(VENV)/.has-test ## Check style, types and layers, and run the tests of what changed (or PART=tests/groups)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ty check --python $(VENV) --no-progress
	$(BIN)/lint-imports
	@if [ -n "$(PART)" ]; then $(BIN)/pytest -n 2 -m "not long" -p no:benchmark $(PART); fi

test: $(VENV)/.has-test ## Check style, types and layers, and run the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ty check --python $(VENV) --no-progress
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 -m "not long" -p no:benchmark

test-long: $(VENV)/.has-test ## Run the tests that take longer, and those of properties with other draws
	$(BIN)/pytest -n 2 -m "(long or hypothesis) and not grid" --hypothesis-profile=anew -p no:benchmark

test-grid: $(VENV)/.has-test ## Run the pairs of method and problem that test-long leaves out
	$(BIN)/pytest -n 2 -m grid -p no:benchmark

mutate: $(VENV)/.has-test ## For 30 minutes, change single places of packages (PART=control) and see whether their tests notice
	$(BIN)/python -m tests.mutate $(if $(filter command line,$(origin PART)),$(notdir $(PART)))

bench: $(VENV)/.has-bench ## Measure speed
	$(BIN)/pytest benchmarks --benchmark-only --benchmark-columns=min,median,stddev,rounds
	$(BIN)/python -m benchmarks.compiler
	$(BIN)/python -m benchmarks.ensembles
	$(BIN)/python -m benchmarks.control
	$(BIN)/python -m benchmarks.spatial
	$(BIN)/python -m benchmarks.wasm

audit: $(VENV)/.has-run ## Measure every method and write docs/audit.md
	$(BIN)/python -m benchmarks.audit docs/audit.md

audit-matrix: $(VENV)/.has-test ## Run every method on systems with every feature, and write the table of docs/audit.md
	$(BIN)/python -m benchmarks.audit_matrix docs/audit.md

docs: $(VENV)/.has-docs ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

pictures: $(VENV)/.has-run ## Draw the pictures of the pages again, with the studies (takes minutes)
	$(BIN)/python docs/images/make_studies.py
	$(BIN)/python docs/images/make_pages.py

clean: ## Remove .venv and all that was made
	rm -rf $(VENV) site .docs-cache out build dist .pytest_cache .hypothesis .ruff_cache .import_linter_cache .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One file per set of packages says that it is installed; a change of the requirements installs again.
$(VENV)/.has-run: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing naiad into $(VENV) ..."
	@$(INSTALL) .
	@touch $@

$(VENV)/.has-%: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing naiad and what 'make $*' needs into $(VENV) ..."
	@$(INSTALL) '.[$*]'
	@touch $@ $(VENV)/.has-run

$(BIN)/python:
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "naiad needs Python 3.11 or newer; found: $$(python3 --version 2>/dev/null || echo none)." \
	         "Install one, or say where it is: make PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$($$found --version) ..."; \
	$$found -m venv $(VENV) || { rm -rf $(VENV); \
	    echo "$$found cannot make virtual environments; install its venv package (Debian, Ubuntu: python3-venv)" >&2; exit 1; }
