#!/bin/sh
# Pins every dependency with its hashes. No index address is written, so the files install from any index.
set -eu
cd "$(dirname "$0")/.."
compile() { .venv/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 "$@"; }
compile pyproject.toml --extra agent --output-file requirements/agent.txt
compile pyproject.toml --extra operator --output-file requirements/operator.txt
# What builds the wheel in the image.
echo 'hatchling>=1.27' | compile - --output-file requirements/build.txt
compile pyproject.toml --extra demo --output-file requirements/demo.txt
# What stands beside the product in the end-to-end tests.
printf 'aiohttp>=3.14,<4\nembedded-postgres>=18\n' | compile - --output-file e2e/images/requirements.txt
compile pyproject.toml --extra all --group dev --output-file requirements/dev.txt
