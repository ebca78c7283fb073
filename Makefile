# The chores, each named once. `make help` lists them.
PY := .venv/bin/python
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench soak up down clean lock

help: ## List the chores
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: setup ## Start what runs as a server: Temporal (Neo4j and Weaviate come with the server profile)
	@.venv/bin/smp temporal start

down: setup ## Stop the Temporal servers that `make up` and `make demo` started; data stays
	@$(PY) -m examples.demo --down
	@.venv/bin/smp temporal stop

lock: setup ## Resolve pyproject.toml anew into requirements.lock
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra dev --output-file requirements.lock pyproject.toml

clean: ## Remove what was built inside the checkout
	rm -rf .venv build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache .coverage
