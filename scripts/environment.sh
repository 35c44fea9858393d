#!/bin/sh
# Makes .venv, and installs the development lock into it, only when something changed since the last time.
# Refuses a Python that is too old, and one without the venv module, and says what to do.
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
stamp=.venv/.installed

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# What the environment is made of: this folder (scripts carry its path), the project's metadata and the lock.
ingredients() {
    pwd
    cat pyproject.toml requirements-dev.txt
}

is_current() {
    [ -x .venv/bin/python ] && is_new_enough .venv/bin/python && ingredients | cmp -s - "$stamp"
}

require_python() {
    if ! is_new_enough "$python"; then
        for other in python3.13 python3.12 python3.11; do
            if is_new_enough "$other"; then
                fail "$python is missing or older than 3.11. There is a $other: say PYTHON=$other (make test PYTHON=$other)."
            fi
        done
        fail "Python 3.11 or newer is needed, and $python is missing or older." \
            "On Debian 12 or newer, or Ubuntu 24.04: apt-get install python3 python3-venv"
    fi
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        fail "$python has no venv module (Debian and Ubuntu pack it on its own)." \
            "Install it: apt-get install python3-venv (or python$version-venv)"
    fi
}

if ! is_current; then
    require_python
    printf 'Making .venv with %s (about a minute the first time) ...\n' "$("$python" --version)"
    # --clear: an environment that was moved, half made, or made by another Python is not worth mending.
    if [ ! -f "$stamp" ] || [ "$(head -n 1 "$stamp")" != "$(pwd)" ] || ! is_new_enough .venv/bin/python; then
        "$python" -m venv --clear .venv
    fi
    rm -f "$stamp"
    export PIP_DISABLE_PIP_VERSION_CHECK=1
    .venv/bin/python -m pip install -qq --require-hashes --requirement requirements-dev.txt
    # Without build isolation: the lock holds setuptools, so nothing is fetched that is not pinned.
    .venv/bin/python -m pip install -qq --no-deps --no-build-isolation --editable .
    # A missing .pyc multiplies the cold start. Some packages ship files that are no Python 3: those may fail.
    .venv/bin/python -m compileall -q -j 0 .venv/lib >/dev/null 2>&1 || true
    ingredients >"$stamp"
fi
.venv/bin/python -m compileall -q agent store schemas main.py
