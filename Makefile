# Everything a user types; the same with plain pip and pytest stands in README.md.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup referee verify-all test test-all power mutants row-mutants attack lint pages site report-check bench peers clean

setup: .venv/.installed

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[test]"
	touch $@

# Status 1 says that something was refuted: a finding, not a failure of the run.
referee: setup
	$(BIN)/fedtheory verify --paper fedalign --paper li2020 --budget quick --out report || [ $$? -eq 1 ]

# Every registered claim. Interrupted, it goes on where it was; BUDGET=standard or thorough searches harder.
BUDGET ?= quick
verify-all: setup
	$(BIN)/fedtheory verify --all --budget $(BUDGET) --out report-$(BUDGET) || [ $$? -eq 1 ]

test: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow"

test-all: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

# Controls: false statements refuted, true ones spared, by kind and budget; then hard ones. About 20 minutes.
power: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.power
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.hard

# Documented faults of federated code, planted in our methods: killed/total, and the property that noticed each.
mutants: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m fedtheory.testing.mutants

# The papers' claims, changed in one place at a time: how many changes the rows of tests/bounds/papers notice, by kind.
row-mutants: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.bounds.row_mutants --out benchmarks/row_mutants.md

# Ten thousand random mutants of certificates, and the other kinds of benchmarks/attack.md: nothing wrong is accepted. About
# 10 minutes; REPORT=report-quick takes the certificates of a report.
attack: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.verify.attack.attack $(if $(REPORT),--report $(REPORT)) --out benchmarks/attack.md

# docs/algorithms.md and docs/papers/, which are not in git.
pages: setup
	$(BIN)/python -m verify.report.pages docs

# The site, in build/site: open build/site/index.html. RUN=report-quick shows the verdicts of a report.
site: setup
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[site]"
	OMP_NUM_THREADS=1 $(BIN)/python -m docs.site $(if $(RUN),--run $(RUN))

# Every kind of page of a report in headless Chromium; REPORT=report checks the pages of a report. Pictures of them are kept in
# build/report-check.
report-check: setup
	$(if $(REPORT),REPORT=$(REPORT)) $(BIN)/python -m pytest -rs tests/verify/report/test_report_in_chromium.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tests.project.words

# Every implementation of the reference workload and every target, on one thread: a few minutes. The table of docs/speed.md is written anew.
bench: setup
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[bench]"
	$(BIN)/python -m benchmarks --out benchmarks/results.json --page docs/speed.md

# Other implementations, in environments of their own under .peers/: docs/peers.md. The first time installs them.
peers: setup
	$(BIN)/python -m benchmarks.peers --setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.peers --conformance

clean:
	rm -rf .venv build *.egg-info .pytest_cache .hypothesis .ruff_cache
