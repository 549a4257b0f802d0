#!/bin/sh
# Pins every dependency with its hashes. No index address is written, so the files install from any index.
set -eu
cd "$(dirname "$0")/.."
compile() { .venv/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 "$@"; }
compile pyproject.toml --extra agent --output-file requirements/agent.txt
compile pyproject.toml --extra demo --output-file requirements/demo.txt
compile pyproject.toml --extra all --group dev --output-file requirements/dev.txt
