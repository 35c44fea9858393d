#!/bin/sh
# Every shell script parses; where shellcheck is installed, it has no complaint either.
set -eu

cd "$(dirname "$0")/.."
# Folders that may hold one; git keeps no empty folder, so one of them may be absent.
folders=
for folder in .ci scripts deploy examples benchmarks; do
    [ ! -d "$folder" ] || folders="$folders $folder"
done
# shellcheck disable=SC2086  # a list of words on purpose
scripts=$(find $folders -type f -exec sh -c 'head -n 1 "$1" | grep -q "^#!.*sh$"' _ {} \; -print | sort)
for script in $scripts; do
    bash -n "$script"
done
if command -v shellcheck >/dev/null 2>&1; then
    # shellcheck disable=SC2086  # one word a script: none of our paths holds a blank
    shellcheck $scripts
fi
printf 'shell scripts: %s\n' "$(printf '%s\n' "$scripts" | wc -l | tr -d ' ')"
