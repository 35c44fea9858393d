#!/bin/sh
# Makes .venv-vendors, with the Python of .venv, and installs the vendors' lock into it, only when something changed
# since the last time. An environment of its own: what vendors' packages need and what we need are not the same versions.
set -eu

cd "$(dirname "$0")/.."
stamp=.venv-vendors/.installed

# What the environment is made of: this folder (scripts carry its path), the Python and the lock.
ingredients() {
    pwd
    .venv/bin/python --version
    cat requirements-vendors.txt
}

if [ ! -x .venv-vendors/bin/python ] || ! ingredients | cmp -s - "$stamp"; then
    printf 'Making .venv-vendors (about a minute) ...\n'
    .venv/bin/python -m venv --clear .venv-vendors
    PIP_DISABLE_PIP_VERSION_CHECK=1 .venv-vendors/bin/python -m pip install -qq --requirement requirements-vendors.txt
    ingredients >"$stamp"
fi
