# Needs only make and Python 3.11 or later. Each target makes its own environment the first time, and
# again when pyproject.toml or constraints.txt changes.
#
#   make train ARGS="--help"    PYTHON=python3.12 make test    make test VENV=/tmp/another-venv
#   make test-fast CONSTRAINTS=constraints-oldest.txt VENV=/tmp/oldest    # the oldest versions allowed

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
CONSTRAINTS ?= constraints.txt
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip --disable-pip-version-check --quiet

.PHONY: help setup train play test test-fast test-slow lint format bench docs figures constraints oldest

help:
	@echo "make setup | train | play | test | test-fast | test-slow | lint | format | bench | docs | figures |"
	@echo "     constraints | oldest"

setup: $(VENV)/.train

# Ctrl-C ends a run in good order, with code 130, which is no error of make's.
train: $(VENV)/.train
	@echo "$(PY) experiments/train.py --game gomoku $(ARGS)"
	@trap : INT TERM; $(PY) experiments/train.py --game gomoku $(ARGS) || [ $$? -eq 130 ]

# A game in the browser; make play ARGS="--game go --size 19"
play: $(VENV)/.train
	@trap : INT TERM; $(VENV)/bin/saz web $(ARGS)

test: $(VENV)/.develop
	$(PY) -m pytest -n 2 $(ARGS)

test-fast: $(VENV)/.develop
	$(PY) -m pytest -n 2 -m "not slow" $(ARGS)

test-slow: $(VENV)/.develop
	$(PY) -m pytest -n 2 -m slow $(ARGS)

lint: $(VENV)/.develop
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m codespell_lib
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

# The site in docs/_build/html: warnings are errors, links are checked, and nothing is fetched.
docs: $(VENV)/.docs
	$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(PY) docs/check_links.py docs/_build/html

# The pictures of README and site, from our own code and the files of results; that of the web page needs Chromium.
figures: $(VENV)/.develop
	$(PY) docs/figures.py
	$(PY) docs/screenshot.py

# The newest versions that pyproject.toml allows, from a fresh environment; run the tests before you keep
# them. wandb is left out: the client of a hosted service has to move with it.
constraints:
	@set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	$(PYTHON) -m venv $$scratch/venv; \
	$$scratch/venv/bin/python -m pip install --quiet ".[notebooks,tensorboard,safetensors,test,dev,docs]"; \
	{ echo "# Every version that the tests are known to pass with; written by \`make constraints\`."; \
	  $$scratch/venv/bin/python -m pip freeze --exclude saz_jax | grep '=='; } > $$scratch/constraints.txt; \
	cp $$scratch/constraints.txt constraints.txt

# The oldest versions that pyproject.toml allows for what it names; uv knows how to find them.
oldest:
	@set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	$(PYTHON) -m venv $$scratch/venv; \
	$$scratch/venv/bin/python -m pip install --quiet uv; \
	{ echo "# The oldest versions that pyproject.toml allows, and whatever goes with them; written by \`make oldest\`."; \
	  $$scratch/venv/bin/uv pip compile --quiet --no-header --no-annotate --resolution lowest-direct \
	    --python-version 3.11 --extra notebooks --extra tensorboard --extra safetensors --extra test --extra dev \
	    --extra docs pyproject.toml; } > $$scratch/constraints.txt; \
	cp $$scratch/constraints.txt constraints-oldest.txt

$(PY):
	@$(PYTHON) -c 'import sys; v = "%d.%d" % sys.version_info[:2]; sys.version_info >= (3, 11) or \
	  sys.exit("Python 3.11 or later is needed, $(PYTHON) is " + v + "; name another: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.train: pyproject.toml $(CONSTRAINTS) | $(PY)
	$(PIP) install -c $(CONSTRAINTS) -e ".[cli,plots,sgf,web]"
	@touch $@

$(VENV)/.develop: pyproject.toml $(CONSTRAINTS) | $(PY)
	$(PIP) install -c $(CONSTRAINTS) -e ".[test,dev]"
	@touch $@ $(VENV)/.train

$(VENV)/.docs: pyproject.toml $(CONSTRAINTS) | $(PY)
	$(PIP) install -c $(CONSTRAINTS) -e ".[docs]"
	@touch $@
