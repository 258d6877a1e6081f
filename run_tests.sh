#!/usr/bin/env bash
# Make .venv as start_app.sh does, add the test tools, then check format, lint, types and run every test.
# Arguments go to pytest: `bash run_tests.sh tests/setup -k manifest`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. launcher/find_python.sh
find_python || offer_python || exit 3
"$PYTHON" -m launcher --setup-only --tests
.venv/bin/ruff format --check .
.venv/bin/ruff check .
.venv/bin/mypy
exec .venv/bin/python -m pytest "$@"
