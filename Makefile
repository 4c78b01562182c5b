# Needs Python 3.11 or newer, pip and make; everything else comes from PyPI at the versions in uv.lock.
#
#   make run            run the warp-specialised GEMM of examples/
#   make test           run the core tests
#   make check          check style, layers and types
#   make test-evidence  run the tests on recorded answers, the documentation, browsers, notebooks and fuzzing
#   make test-gpu       run the tests that need a GPU
#   make vscode         build the VS Code extension and test it in VS Code (needs Node 20 or newer and npm)
#   make docs           build the documentation into build/site
#   make playground     build the files of the playground, which `make docs` also does
#   make bench          measure import time
#   make format         let ruff rewrite what it can
#   make clean          remove what the targets above made
#
# Every target sets up what it needs.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := run

UV_VERSION := 0.13.8
UV := .tools/bin/uv
BIN := .venv/bin

# Machines behind a proxy with a certificate of its own keep it in the system's store.
export UV_SYSTEM_CERTS := 1
export UV_NO_PROGRESS := 1
export UV_PYTHON_DOWNLOADS := never

# The first python that is new enough and has pip; PYTHON=... on the command line overrides the search.
ifndef PYTHON
PROBE := import sys, importlib.util as u; sys.exit(sys.version_info < (3, 11) or u.find_spec("pip") is None)
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON := $(shell for p in $(CANDIDATES); do \
    "$$p" -c '$(PROBE)' 2>/dev/null && exec "$$p" -c 'import sys; print(sys.executable)'; done)
endif

NPM := npm --no-audit --no-fund --no-update-notifier --loglevel=error
INSTALL := $(NPM) ci --ignore-scripts

# The playground needs Node.js and npm. Without them, the site says that its files are missing. npm also installs the
# browser of the tests, which otherwise use the one on PATH.
ifneq ($(shell command -v npm),)
PLAYGROUND := playground
CHROMIUM := build/chromium/chromium
endif

.PHONY: run test check lint types test-evidence test-gpu vscode docs playground bench format lock clean
.DELETE_ON_ERROR:

run: .venv/run.stamp
	$(BIN)/warploom run examples/gemm_warp_specialised.toml

# tests/tiers.py assigns the tests to the tiers.
test: .venv/dev.stamp
	$(BIN)/pytest -n 2 -m "not evidence and not gpu"

test-evidence: .venv/dev.stamp docs $(CHROMIUM)
	$(BIN)/pytest -n 2 -m evidence

test-gpu: .venv/dev.stamp
	$(BIN)/pytest -m "gpu or gpu_too"

check: lint types

lint: .venv/dev.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache

types: .venv/dev.stamp
	$(BIN)/pyright --warnings

# The result is editors/vscode/dist/warploom.vsix. The test runs it in a VS Code of its own, on Linux with x86-64.
VSCODE := editors/vscode
VSCODE_TEST := $(VSCODE)/test/editor

vscode: .venv/dev.stamp $(VSCODE)/node_modules/stamp $(VSCODE_TEST)/node_modules/stamp
	cd $(VSCODE) && npm run --silent check && npm run --silent test && npm run --silent package
	cd $(VSCODE_TEST) && npm run --silent check && npm run --silent test

$(VSCODE)/node_modules/stamp: $(VSCODE)/package-lock.json
	cd $(VSCODE) && $(INSTALL)
	@touch $@

# The package of code-server comes without the packages of the VS Code in it.
$(VSCODE_TEST)/node_modules/stamp: $(VSCODE_TEST)/package-lock.json
	cd $(VSCODE_TEST) && $(INSTALL)
	cd $(VSCODE_TEST)/node_modules/code-server/lib/vscode && $(NPM) install --ignore-scripts --omit=dev
	cd $(VSCODE_TEST)/node_modules/code-server/lib/vscode/extensions && $(NPM) install --ignore-scripts --omit=dev
	@touch $@

docs: .venv/dev.stamp $(PLAYGROUND)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

playground: .venv/dev.stamp tools/playground/node_modules/.package-lock.json
	$(BIN)/python tools/playground/build.py

tools/playground/node_modules/.package-lock.json: tools/playground/package-lock.json
	$(INSTALL) --prefix tools/playground
	@touch $@

build/chromium/chromium: tools/playground/node_modules/.package-lock.json
	node tools/playground/chromium.mjs build/chromium

bench: .venv/dev.stamp
	$(BIN)/python bench/import_time.py

format: .venv/dev.stamp
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(UV)
	$(UV) lock --python "$(PYTHON)"

$(UV):
	@if [ -z "$(PYTHON)" ]; then \
	    echo "warploom: no Python 3.11 or newer with pip on PATH; install one, or say make PYTHON=/path/to/python3" >&2; \
	    exit 1; \
	fi
	"$(PYTHON)" -m pip install --quiet --root-user-action ignore --disable-pip-version-check --target .tools --upgrade uv==$(UV_VERSION)

# What the package needs to run, and no more; packages that a test setup added stay.
.venv/run.stamp: pyproject.toml uv.lock | $(UV)
	$(UV) sync --quiet --frozen --no-dev --inexact --python "$(PYTHON)"
	@touch $@

.venv/dev.stamp: pyproject.toml uv.lock | $(UV)
	$(UV) sync --quiet --frozen --group docs --group frameworks --python "$(PYTHON)"
	@touch $@ .venv/run.stamp

clean:
	rm -rf .venv .tools build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf tools/playground/node_modules $(VSCODE)/dist $(VSCODE)/node_modules $(VSCODE_TEST)/node_modules
	find src lab tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} +
