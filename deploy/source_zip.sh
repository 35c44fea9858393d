#!/bin/sh
# source_zip.sh [FILE]: zips exactly the files that .gcloudignore leaves, as `gcloud functions deploy` would upload them.
# The same files make the same bytes on every machine, so that Terraform deploys again only when something changed.
# Needs git and python3. Prints the path of the file (default: build/source.zip).
set -eu

out=${1:-build/source.zip}
case $out in /*) ;; *) out=$(pwd)/$out ;; esac
cd "$(dirname "$0")/.."
mkdir -p "$(dirname "$out")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# git reads the syntax of .gcloudignore; in an empty repository every file is an untracked one, and only this list counts.
git init --quiet --bare "$scratch/empty.git"
git --git-dir="$scratch/empty.git" --work-tree=. -c core.bare=false -c core.excludesFile=/dev/null \
    ls-files -z --others --exclude-from=.gcloudignore >"$scratch/names"

python3 - "$scratch/names" "$scratch/source.zip" <<'PYTHON'
import sys
import zipfile
from pathlib import Path

names, out = map(Path, sys.argv[1:])
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name in sorted(filter(None, names.read_text().split("\0"))):
        entry = zipfile.ZipInfo(name)  # dated 1980-01-01, whatever the file's own date is
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o100644 << 16
        archive.writestr(entry, Path(name).read_bytes())
PYTHON
mv "$scratch/source.zip" "$out"
printf '%s\n' "$out"
