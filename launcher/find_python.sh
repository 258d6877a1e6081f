# Sourced by start_app.sh and run_tests.sh: find_python sets PYTHON to a Python 3.11 or 3.12 that really runs (pyenv puts
# names on PATH that do not), and returns 1 when there is none.

python_fits() {
  "$1" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' >/dev/null 2>&1
}

find_python() {
  local candidate
  for candidate in "${DUBWRIGHT_PYTHON:-}" python3.11 python3.12 python3 python \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[12]*/bin/python \
    "${XDG_DATA_HOME:-$HOME/.local/share}"/uv/python/cpython-3.1[12]*/bin/python \
    /usr/bin/python3.1[12] /usr/local/bin/python3.1[12] /opt/python*/bin/python3.1[12] \
    /opt/homebrew/bin/python3.1[12] /Library/Frameworks/Python.framework/Versions/3.1[12]/bin/python3 \
    "$HOME"/{miniconda3,anaconda3,miniforge3,mambaforge}/bin/python \
    "$HOME"/{miniconda3,anaconda3,miniforge3,mambaforge}/envs/*/bin/python \
    .venv/bin/python; do
    if [ -n "$candidate" ] && python_fits "$candidate"; then
      PYTHON=$candidate
      return 0
    fi
  done
  return 1
}

found_pythons() {
  local name
  for name in python3 python python3.10 python3.13 python3.14; do
    "$name" -c 'import sys; print(sys.executable, sys.version.split()[0])' 2>/dev/null
  done | sort -u
}

# Get Python 3.12 through uv: asks first (or takes --yes in $1 as the answer); without a terminal it only says how.
offer_python() {
  local uv=uv answer=n
  echo "Dubwright needs Python 3.11 or 3.12, and none was found. / Dubwright 需要 Python 3.11 或 3.12,本机没有找到。" >&2
  found_pythons | sed 's/^/  found, but not suitable \/ 已找到但不适用: /' >&2
  command -v "$uv" >/dev/null 2>&1 && "$uv" --version >/dev/null 2>&1 || uv=""
  if [ "${1:-}" = --yes ]; then
    answer=y
  elif [ -t 0 ]; then
    printf 'Get Python 3.12 with uv (about 30 MB, for this user only)? / 用 uv 安装 Python 3.12(约 30 MB,仅当前用户)? [y/N] ' >&2
    read -r answer
  fi
  if [ "$answer" = y ] || [ "$answer" = Y ]; then
    if [ -z "$uv" ] && python3 -m venv .uv-tool >/dev/null 2>&1 && .uv-tool/bin/pip install -q uv; then uv=.uv-tool/bin/uv; fi
    if [ -n "$uv" ] && "$uv" python install 3.12 && PYTHON=$("$uv" python find 3.12) && python_fits "$PYTHON"; then return 0; fi
    echo "That did not work here. / 此方法在本机不可用。" >&2
  fi
  cat >&2 <<'TEXT'
Install one of them, then run this command again / 请安装其中之一,然后重新运行:
  any Linux or macOS:  curl -LsSf https://astral.sh/uv/install.sh | sh && uv python install 3.12
  Ubuntu 22.04, 24.04: sudo apt install python3.12 python3.12-venv   (22.04: python3.11 python3.11-venv)
  Debian 12:           sudo apt install python3.11 python3.11-venv
  Fedora:              sudo dnf install python3.12
  conda:               conda create -n dubwright python=3.12
  macOS:               brew install python@3.12
A Python in an unusual place: DUBWRIGHT_PYTHON=/path/to/python bash start_app.sh
TEXT
  return 1
}
