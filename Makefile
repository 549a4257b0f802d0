# Every target makes what it needs; on a fresh machine only Python 3.11 or newer has to be there.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
FIGURES ?=
IMAGE  ?= queuebox/queuebox:$(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
BUILD_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test e2e check bench generate format lock image kind-up clean

help: ## This list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP) ## See it: an embedded PostgreSQL, an agent, a receiver that fails, and what happens, live (20 s)
	@$(BIN)/queuebox demo

test: $(STAMP) ## Every test, on real services that it starts itself
	@$(BIN)/pytest tests e2e -m "not cluster"

e2e: $(STAMP) ## The installed system on the cluster of KUBECONFIG, or on a kind cluster of its own
	@PYTEST=$(BIN)/pytest e2e/run

check: $(STAMP) ## Format, lint, types, imports, generated docs and unit tests: under a minute, before each commit
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/generate_crds.py --check
	@$(BIN)/python scripts/generate_reference.py --check
	@$(BIN)/python scripts/generate_install.py --check
	@$(BIN)/pytest tests/unit tests/architecture -q

bench: $(STAMP) ## The figures, as a table and as bench.json; FIGURES=claim,http runs a part
	@$(BIN)/python tests/bench/__main__.py $(FIGURES)

generate: $(STAMP) ## Write what is generated again: CRDs, tables of docs/reference, manifests/install.yaml; needs kubectl
	@$(BIN)/python scripts/generate_crds.py
	@$(BIN)/python scripts/generate_reference.py
	@$(BIN)/python scripts/generate_install.py

format: $(STAMP) ## Format the code and mend what the linter can
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

lock: $(STAMP) ## Compile requirements/*.txt again from pyproject.toml
	@sh requirements/compile.sh

image: ## Build the image of agent and operator
	@docker build $(BUILD_FLAGS) --tag $(IMAGE) .

kind-up: image ## A kind cluster with the image, the operator and the sample; needs kind and kubectl
	@IMAGE="$(IMAGE)" sh scripts/kind-up.sh

clean: ## Remove what the targets made
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist bench.json

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("QueueBox needs Python 3.11 or newer: make PYTHON=...") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
