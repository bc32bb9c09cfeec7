# Each target does all of its own set-up: Python 3.11 or newer and make are enough to begin with.
# Another Python than `python3`: make PYTHON=python3.12 TARGET

PYTHON ?= python3
DATA ?=
# Two workers: a chat, its kernel and a browser keep two cores busy.
WORKERS ?= 2

export PYTHON
export VENV ?= .venv
BIN := $(VENV)/bin
SETUP := scripts/setup.sh
PARALLEL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
PYTEST = $(BIN)/pytest $(PARALLEL)
# What `make test` leaves out: what takes long, and what has a target of its own.
SLOW := slow or browser
APART := places or torture or ipykernel6
# The tests that must cover core/. Only these are traced, because tracing doubles the time of Python code.
COVERING := $(addprefix tests/,core agents autogen_modules models/test_reasoning.py test_policy.py test_replay.py)
AT_MOST := $(if $(shell command -v timeout),timeout 900)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-smoke test-slow test-all test-newer test-matrix torture places lab lint docs bench bench-quick bench-peers bench-policy lock clean browser sandbox aimock

help: ## What there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.has-notebook ## The quickstart, run without key and network; DATA=path/to.csv takes your own table
	$(BIN)/python -m autogen_nb.cli demo --out build $(if $(DATA),--data "$(DATA)")

lab: $(VENV)/.has-lab ## JupyterLab on the example notebooks
	$(BIN)/jupyter lab --notebook-dir notebooks --ip 127.0.0.1 $(if $(filter 0,$(shell id -u)),--allow-root)

test: $(VENV)/.has-dev ## The quick tests, in less than four minutes; core/ must be covered to the last branch
	$(PYTEST) -m "not ($(SLOW) or $(APART))" --cov --cov-report= $(COVERING)
	$(BIN)/coverage report --show-missing --skip-covered --fail-under=100
	$(PYTEST) -m "not ($(SLOW) or $(APART))" $(addprefix --ignore=,$(COVERING))
	@echo 'left out, for `make test-all`: $(SLOW) or $(APART)'

test-smoke: $(VENV)/.has-dev browser sandbox ## One chat in a browser, and one run in each sandbox
	$(PYTEST) tests/browser/test_quickstart.py tests/kernels/test_bubblewrap.py
	$(AT_MOST) scripts/containers.sh $(PYTEST) tests/contract -k "docker and (print or survives or interrupt)"

test-slow: $(VENV)/.has-dev browser sandbox aimock ## The tests that take longer, those of the browser among them
	$(PYTEST) -m "($(SLOW)) and not ($(APART))"

test-all: test test-slow test-matrix torture places test-newer bench-quick ## Everything, before a release: other Pythons and the benchmarks, too

torture: $(VENV)/.has-dev ## Floods of output, bombs and a resume at every event, a quarter of an hour at most
	$(AT_MOST) $(PYTEST) -m torture tests/torture tests/agents/test_team_resuming.py
	$(AT_MOST) $(BIN)/pytest -m torture tests/kernels/test_checkpoints.py

places: $(VENV)/.has-dev ## The tests that run code in containers and on servers, an engine brought in if need be
	$(AT_MOST) scripts/containers.sh $(PYTEST) -m places

test-matrix: $(VENV)/.has-dev ## Tests of the notebook in older releases of ipykernel
	$(AT_MOST) $(BIN)/python -m tests.ipykernels build/ipykernels $(PARALLEL)

test-newer: ## The quick tests in the newest other Python that is here, in an environment of its own
	scripts/newer.sh $(MAKE) test

lint: $(VENV)/.has-dev ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: $(VENV)/.has-dev ## The site of docs/ and of the docstrings, in build/docs; warnings and broken links are errors
	$(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet docs build/docs

bench: $(VENV)/.has-dev ## Every benchmark in turn, each with its raw floor
	$(BIN)/python -m benchmarks

bench-quick: $(VENV)/.has-dev ## Whether each benchmark still works, with its smallest numbers
	$(BIN)/python -m benchmarks --quick

bench-policy: $(VENV)/.has-dev ## What is asked about on the corpus of labelled code, and what is missed
	$(BIN)/python -m benchmarks policy

bench-peers: $(VENV)/.has-dev ## Our executor beside AutoGen's own, in environments made once
	$(BIN)/python -m benchmarks._peers .venv-peers

lock: ## Writes requirements-dev.lock: the newest versions of everything, as tested from now on
	$(SETUP) lock

clean: ## Removes the environment and everything that was built
	rm -rf $(VENV) build dist

browser sandbox aimock:
	@$(SETUP) $@

$(VENV)/.made:
	$(SETUP) venv
	@touch $@

# A stamp is younger than what it was installed from; without that, it is made again.
$(VENV)/.has-%: pyproject.toml requirements-dev.lock | $(VENV)/.made
	$(SETUP) install $*
	@touch $@
