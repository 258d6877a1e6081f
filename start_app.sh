#!/usr/bin/env bash
# Set Dubwright up (first time) and start it; the page opens at http://127.0.0.1:7860. `bash start_app.sh --help` lists
# the flags; those it does not know go on to app.py.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}" 2>/dev/null || echo "${BASH_SOURCE[0]}")")"
. launcher/find_python.sh
consent=
for argument in "$@"; do
  if [ "$argument" = --yes ]; then consent=--yes; fi
done
find_python || offer_python $consent || exit 3
exec "$PYTHON" -m launcher "$@"
