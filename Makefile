# Two commands set everything up: `make demo` and `make test`. Both need Python 3.11+ and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
# The scorer `large` is installed from this repository, where its weights are in it.
LARGE := $(if $(wildcard weights/safepassage_large/model/scorer.json),--editable ./weights)

.PHONY: demo up test test-long coverage lint types imports check reference lock clean
.DELETE_ON_ERROR:

demo: $(VENV)/run.stamp          ## the whole flow on an embedded broker, with bundled documents
	@$(BIN)/safepassage demo

up: $(VENV)/run.stamp            ## the same stack, left running, with the review console
	@$(BIN)/safepassage up

test: $(VENV)/dev.stamp          ## the default test run
	@$(BIN)/python -m pytest -n 3 --dist loadfile

test-long: $(VENV)/dev.stamp     ## the tests that take minutes to hours
	@$(BIN)/python -m pytest -m long --timeout 7200

coverage: $(VENV)/dev.stamp     ## which lines the default tests reach: reported, not chased
	@$(BIN)/python -m pytest -n 3 --dist loadfile --cov --cov-report term --cov-report html:var/coverage

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	@$(BIN)/mypy

imports: $(VENV)/dev.stamp
	@$(BIN)/lint-imports --no-cache

audit: $(VENV)/dev.stamp         ## known vulnerabilities of the pinned packages (asks pypi.org)
	@$(BIN)/python deploy/audit.py

check: lint types imports        ## everything but the tests

reference: $(VENV)/run.stamp     ## rewrite docs/reference.md from the code
	@$(BIN)/python docs/reference.py

lock: $(VENV)/dev.stamp          ## rewrite the lock files from this environment
	@$(PIP) install -r requirements-bench.lock && $(BIN)/python deploy/lock.py

$(VENV)/run.stamp: requirements.lock pyproject.toml weights/pyproject.toml $(wildcard weights/*/model/scorer.json)
	@test -x $(BIN)/python || (echo "creating $(VENV)" && $(PYTHON) -m venv $(VENV))
	@echo "installing the pinned packages (some minutes the first time)"
	@$(PIP) install -r requirements.lock && $(PIP) install --no-deps --editable . $(LARGE)
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-ocr.lock requirements-dev.lock
	@$(PIP) install -r requirements-ocr.lock -r requirements-dev.lock
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
