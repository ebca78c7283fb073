# The chores, each named once. `make help` lists them.
PY := .venv/bin/python
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench soak docs up down clean lock

help: ## List the chores
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: ## Debian packages (as root) and the virtual environment
	@infra/setup.sh

demo: setup ## All set-up, then one whole session on a real repository
	@$(PY) -m examples.demo

test: ## All set-up, then every test, with the seconds of each stage
	@infra/setup.sh --tests
	@$(PY) infra/stages.py test

check: setup ## Format, lint, types, import rules, unit tests: a minute
	@$(PY) infra/stages.py check

bench: setup ## Ratios on real code
	@$(PY) infra/stages.py bench

soak: setup ## What is too long for CI
	@$(PY) infra/stages.py soak

docs: setup ## The documentation as a static site, in build/site
	@.venv/bin/zensical build --strict --clean

up: setup ## Start the servers of the server profile: Neo4j, Weaviate and Temporal
	@$(PY) infra/servers.py up
	@.venv/bin/smp temporal start

down: setup ## Stop the servers that `make up` and `make demo` started; data stays
	@$(PY) -m examples.demo --down
	@.venv/bin/smp temporal stop
	@$(PY) infra/servers.py down

lock: setup ## Resolve pyproject.toml anew into requirements.lock
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra dev --extra server --output-file requirements.lock pyproject.toml

clean: ## Remove what was built inside the checkout
	rm -rf .venv build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache .coverage
