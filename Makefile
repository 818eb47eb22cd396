# Needs only make and Python 3.11 or later. Each target makes its own environment the first time, and
# again when pyproject.toml or constraints.txt changes.
#
#   make train ARGS="--help"    PYTHON=python3.12 make test    make test VENV=/tmp/another-venv

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip --disable-pip-version-check --quiet

.PHONY: help setup train test test-fast lint format bench constraints

help:
	@echo "make setup | train | test | test-fast | lint | format | bench | constraints"

setup: $(VENV)/.train

# Ctrl-C ends a run in good order, with code 130, which is no error of make's.
train: $(VENV)/.train
	@echo "$(PY) experiments/train.py --game gomoku $(ARGS)"
	@trap : INT TERM; $(PY) experiments/train.py --game gomoku $(ARGS) || [ $$? -eq 130 ]

test: $(VENV)/.develop
	$(PY) -m pytest -n 2 $(ARGS)

test-fast: $(VENV)/.develop
	$(PY) -m pytest -n 2 -m "not slow" $(ARGS)

lint: $(VENV)/.develop
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pyright --pythonpath $(PY) --warnings

format: $(VENV)/.develop
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# One script per subject; each one prints its figures and writes them to runs/bench.
bench: $(VENV)/.develop
	@mkdir -p runs/bench
	@set -e; for script in benchmarks/[a-z]*.py; do \
	  echo "$(PY) $$script $(ARGS)"; \
	  $(PY) $$script --json runs/bench/$$(basename $$script .py).json $(ARGS); \
	done

# The newest versions that pyproject.toml allows, from a fresh environment; run the tests before you keep
# them. wandb is left out: the client of a hosted service has to move with it.
constraints:
	@set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	$(PYTHON) -m venv $$scratch/venv; \
	$$scratch/venv/bin/python -m pip install --quiet ".[notebooks,tensorboard,test,dev]"; \
	{ echo "# Every version that the tests are known to pass with; written by \`make constraints\`."; \
	  $$scratch/venv/bin/python -m pip freeze --exclude saz_jax | grep '=='; } > $$scratch/constraints.txt; \
	cp $$scratch/constraints.txt constraints.txt

$(PY):
	@$(PYTHON) -c 'import sys; v = "%d.%d" % sys.version_info[:2]; sys.version_info >= (3, 11) or \
	  sys.exit("Python 3.11 or later is needed, $(PYTHON) is " + v + "; name another: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.train: pyproject.toml constraints.txt | $(PY)
	$(PIP) install -c constraints.txt -e ".[cli,plots]"
	@touch $@

$(VENV)/.develop: pyproject.toml constraints.txt | $(PY)
	$(PIP) install -c constraints.txt -e ".[test,dev]"
	@touch $@ $(VENV)/.train
