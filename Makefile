# Everything runs in .venv, which is made on first use and made again when it was moved or lost its interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.made-for
WORKERS ?= auto

.DEFAULT_GOAL := help
FUZZ_SECONDS ?= 20

.PHONY: help setup demo test lint format bench fuzz clean check-stamp

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/' | expand -t 12

# The stamp holds the checkout's path: scripts of an environment that was moved point to where it was.
check-stamp:
	@if [ -f $(STAMP) ] && { [ "$$(cat $(STAMP))" != "$(CURDIR)" ] || ! $(BIN)/python -c '' 2>/dev/null; }; then rm -f $(STAMP); fi

setup: check-stamp ## Make .venv with everything that development needs
	@$(MAKE) --no-print-directory $(STAMP)

$(STAMP): pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Python 3.10 or later is needed; set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv is missing; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --editable '.[a2a,fast]' --group dev
	@echo "$(CURDIR)" > $(STAMP)

demo: setup ## Build an example suite and validate it
	rm -rf examples/newsroom/dist
	cd examples/newsroom && ../../$(BIN)/python -m hatchling build -t agentsuite
	$(BIN)/agentsuite inspect examples/newsroom/dist/newsroom-0.1.0.agentsuite
	$(BIN)/agentsuite validate examples/newsroom/dist/newsroom-0.1.0.agentsuite

test: setup ## Run all tests
	$(BIN)/python -m pytest -n $(WORKERS)

lint: setup ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## Rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## Measure packing against tar, gzip and pigz, and converting against a loop over json and jsonschema
	$(BIN)/python benchmarks/pack.py
	$(BIN)/python benchmarks/convert.py

fuzz: setup ## Fuzz the readers of untrusted bytes for FUZZ_SECONDS each
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --group fuzz
	for reader in json yaml tar layer content; do \
	  $(BIN)/python fuzz/readers.py $$reader -max_total_time=$(FUZZ_SECONDS) -max_len=16384 -timeout=20 -rss_limit_mb=1024 -verbosity=0 || exit 1; \
	done

clean: ## Remove everything that was built
	rm -rf $(VENV) dist examples/*/dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
