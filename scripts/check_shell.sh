#!/bin/sh
# Every shell script parses, and shellcheck has no complaint; hadolint has none of the Dockerfile, and the YAML of the
# deployment and of the workflows fits its schemas. The tools are those of .venv (requirements-dev.txt).
set -eu

cd "$(dirname "$0")/.."
bin=${BIN:-.venv/bin}
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
# shellcheck disable=SC2086  # one word a script: none of our paths holds a blank
"$bin/shellcheck" $scripts
printf 'shell scripts: %s\n' "$(printf '%s\n' "$scripts" | wc -l | tr -d ' ')"

[ -f deploy/Dockerfile ] || exit 0
"$bin/hadolint" deploy/Dockerfile
"$bin/check-jsonschema" --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
"$bin/check-jsonschema" --quiet --builtin-schema vendor.cloudbuild deploy/cloudbuild.yaml
"$bin/check-jsonschema" --quiet --schemafile deploy/schemas/cloud-run-service.schema.json deploy/service.yaml
printf 'Dockerfile, workflows, builds and services: sound\n'
