#!/bin/sh
# side_environment.sh NAME: makes .venv-NAME, with the Python of .venv, and installs requirements-NAME.txt into it, only
# when something changed since the last time. An environment of its own: what its packages need and what we need are not
# the same versions.
set -eu

cd "$(dirname "$0")/.."
name=$1
environment=.venv-$name
lock=requirements-$name.txt
stamp=$environment/.installed

# What the environment is made of: this folder (scripts carry its path), the Python and the lock.
ingredients() {
    pwd
    .venv/bin/python --version
    cat "$lock"
}

if [ ! -x "$environment/bin/python" ] || ! ingredients | cmp -s - "$stamp"; then
    printf 'Making %s (about a minute) ...\n' "$environment"
    .venv/bin/python -m venv --clear "$environment"
    # Before: a lock that changes meanwhile is not what is installed.
    ingredients >"$stamp.new"
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$environment/bin/python" -m pip install -qq --require-hashes --requirement "$lock"
    mv "$stamp.new" "$stamp"
fi
