# Two commands set everything up: `make demo` and `make test`. Both need Python 3.11+ and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
# Every file that is installed has a hash in the lock, but torch's: its build depends on the hardware.
# On Linux the package index has the one with CUDA: 4.6 GB on disk. Nothing needs it: before the first
# `make demo`, `make demo TORCH=torch-2.13.0+cpu-….whl` (a file, or its address) takes the one for CPUs.
TORCH ?= torch
LOCKED := $(PIP) install --require-hashes --no-deps
# The scorer `large` is installed from this repository, where its weights are in it.
LARGE := $(if $(wildcard weights/safepassage_large/model/scorer.json),--editable ./weights)

# Three processes, a file in each. Reordered, the files of one long test would come last, alone.
AT_ONCE := -n 3 --dist loadfile --no-loadscope-reorder

.PHONY: demo up test test-kafka test-long simulate coverage lint types imports audit check reference docs lock clean
.DELETE_ON_ERROR:

demo: $(VENV)/run.stamp          ## the whole flow on an embedded broker, with bundled documents
	@$(BIN)/safepassage demo

up: $(VENV)/run.stamp            ## the same stack, left running, with the review console
	@$(BIN)/safepassage up

test: $(VENV)/dev.stamp          ## the default test run
	@$(BIN)/python -m pytest $(AT_ONCE)

test-long: $(VENV)/dev.stamp     ## the tests that take minutes to hours
	@$(BIN)/python -m pytest -m long --timeout 7200

KAFKA_VERSION ?= 4.4.0
KAFKA_TESTS ?= tests/kafka_server tests/streams tests/integration tests/faults
test-kafka: $(VENV)/dev.stamp    ## the stream's tests on Apache Kafka, where Java 17 and Maven are: KAFKA_VERSION=3.9.2 for another
	@$(BIN)/python -m tests.kafka_server --version $(KAFKA_VERSION) -- \
	  $(BIN)/python -m pytest $(AT_ONCE) -m "not long" $(KAFKA_TESTS)

SEED ?= 0
MINUTES ?= 1
simulate: $(VENV)/dev.stamp      ## the promises in seeded orders of events, and the scale model: MINUTES=60 for an hour of each
	@$(BIN)/python -m tests.simulation --seed $(SEED) --minutes $(MINUTES)
	@$(BIN)/python benchmarks/scale_model.py --minutes $(MINUTES)

coverage: $(VENV)/dev.stamp     ## which lines the default tests reach: reported, not chased
	@$(BIN)/python -m pytest $(AT_ONCE) --cov --cov-report term --cov-report html:var/coverage

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	@$(BIN)/mypy

imports: $(VENV)/dev.stamp
	@$(BIN)/lint-imports --no-cache

audit: $(VENV)/dev.stamp         ## known vulnerabilities of the pinned packages (asks the package index)
	@$(BIN)/python tools/audit.py

check: lint types imports docs   ## everything but the tests

reference: $(VENV)/run.stamp     ## rewrite what README and docs/ take from code and figures
	@$(BIN)/python -m tools.reference

docs: $(VENV)/dev.stamp          ## the documentation site, into build/site; broken links fail
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lock: $(VENV)/dev.stamp          ## rewrite the lock files from this environment
	@$(LOCKED) -r requirements-bench.lock && $(BIN)/python tools/lock.py

$(VENV)/run.stamp: requirements.lock constraints.txt pyproject.toml weights/pyproject.toml $(wildcard weights/*/model/scorer.json)
	@test -x $(BIN)/python || (echo "creating $(VENV)" && $(PYTHON) -m venv $(VENV))
	@echo "installing the pinned packages (some minutes the first time)"
	@$(LOCKED) -r requirements.lock && $(PIP) install -c constraints.txt $(TORCH)
	@$(PIP) install --no-deps --editable . $(LARGE)
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-ocr.lock requirements-dev.lock
	@$(LOCKED) -r requirements-ocr.lock -r requirements-dev.lock
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
