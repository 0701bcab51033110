# Every target makes what it needs: `make test` on a fresh clone is enough.
# ARGS is handed on: make test ARGS="tests/plan -x"

PYTHON ?= python3
BIN := $(CURDIR)/.venv/bin
# Spark's workers must run the same Python as its driver; tools/setup has noted which Java to use.
RUN = PYSPARK_PYTHON="$(BIN)/python" JAVA_HOME="$$(cat .venv/java_home)" $(BIN)

# PySpark 4.0 and 4.1 leave sockets open, of which Python warns.
OPEN_SOCKETS = -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-long test-engines test-connectors test-spark40 check docs docs-serve build golden fix clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv with the pinned dependencies, and find or install Java
	@PYTHON="$(PYTHON)" tools/setup

demo: setup ## run the demo on real flights: many windows, one pass
	@$(RUN)/muntin demo $(ARGS)

test: setup ## run the tests and the doctests (about six minutes on two cores)
	@$(RUN)/pytest -n 2 --dist worksteal $(ARGS)

test-slow: setup ## run the tests marked slow, which make test leaves out (about ten minutes)
	@$(RUN)/pytest -n 2 --dist worksteal -m "slow and not long and not connectors" $(ARGS)

test-long: setup ## run all tests, those marked slow or long too, with many more random examples
	@MUNTIN_HYPOTHESIS=long $(RUN)/pytest -m "not connectors" $(ARGS)

test-engines: setup ## run a selection of queries on Spark Connect and on a cluster of processes
	@$(RUN)/pytest -m long $(or $(ARGS),tests/engines/spark/test_engines.py)

test-connectors: setup ## run jobs on a real Kafka, Delta and Iceberg; Maven fetches the jars
	@if ! command -v mvn >/dev/null; then \
		echo "test-connectors: nothing is tested, Maven is not installed (apt-get install maven)"; \
	else \
		fetched=$$(tools/connectors/fetch) && export MUNTIN_CONNECTORS="$$fetched" && \
		$(RUN)/pytest -m connectors $(or $(ARGS),tests/connectors) && \
		PYTHONPATH="$$fetched/spark" $(RUN)/pytest -m connectors $(OPEN_SOCKETS) $(or $(ARGS),tests/connectors); \
	fi

test-spark40: setup ## test Spark and aggregates on the oldest Spark supported (Connect: ARGS="-m long tests/engines/spark/test_engines.py")
	@VENV=.venv-spark40 SPARK=4.0.5 tools/setup
	@PYSPARK_PYTHON="$(CURDIR)/.venv-spark40/bin/python" JAVA_HOME="$$(cat .venv/java_home)" \
		.venv-spark40/bin/pytest -n 2 --dist worksteal -m "not long and not connectors" $(OPEN_SOCKETS) $(or $(ARGS),tests/engines/spark tests/aggregates)

check: setup docs ## lint, formatting, strict types, import layers, documentation
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# The theme would announce its successor at every build.
docs docs-serve: export NO_MKDOCS_2_WARNING = 1

# Not --quiet: warnings would then not be counted, and --strict would pass.
docs: setup ## build the documentation into site/; a broken link is an error
	@$(BIN)/mkdocs build --strict

docs-serve: setup ## show the documentation on 127.0.0.1:8000, and renew it as you write
	@$(BIN)/mkdocs serve --livereload --dev-addr 127.0.0.1:8000 $(ARGS)

build: setup ## build wheel and sdist into dist/, and try each in an empty environment
	@tools/build

golden: setup ## write the golden plans of tests/plan/fixtures anew, after a change that is meant
	@MUNTIN_GOLDEN=write $(RUN)/pytest -q tests/plan/test_golden.py

fix: setup ## repair what the linter can repair, and format
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

clean: ## remove caches, build products and what Spark left behind; .venv stays
	@rm -rf build dist site src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache \
		.hypothesis spark-warehouse metastore_db derby.log artifacts
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
