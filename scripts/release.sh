#!/usr/bin/env bash
# release.sh [--tag vVERSION] [--into FOLDER]: makes FOLDER (dist/) anew, with what a release consists of: wheel, sdist,
# the bill of materials of what the function runs with (CycloneDX), the licences of that, and SHA256SUMS. The same commit
# makes the same bytes. Refuses a tag that is not the version, a tree that is not the tag's, and a package under a licence
# that would oblige us.
set -euo pipefail

cd "$(dirname "$0")/.."
tools=.venv-release/bin
folder=dist tag=''

fail() {
    printf 'release.sh: %s\n' "$@" >&2
    exit 2
}

while (($#)); do
    (($# > 1)) || fail "$1 needs a value"
    case $1 in
        --tag) tag=$2 ;;
        --into) folder=$2 ;;
        *) fail "there is no option $1" ;;
    esac
    shift 2
done
version=$(sed -n 's/^__version__.*= "\(.*\)"$/\1/p' agent/__init__.py)
[[ $version ]] || fail "agent/__init__.py has no __version__"
[[ ! $tag || $tag == "v$version" ]] || fail "the tag is $tag, the version $version"
[[ ! $tag || -z $(git status --porcelain) ]] || fail "the tree has changes that are in no commit"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH PIP_DISABLE_PIP_VERSION_CHECK=1

[[ -x .venv/bin/python ]] || sh scripts/environment.sh
sh scripts/side_environment.sh release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$folder"
mkdir -p "$folder" "$work/source"

# What belongs to the project, and not what else lies here: setuptools would take a stale build/lib into the wheel.
git ls-files -z --cached --others --exclude-standard | while IFS= read -rd '' name; do
    if [[ -f $name ]]; then printf '%s\0' "$name"; fi
done | tar --create --null --files-from=- | tar --extract --directory="$work/source"
scripts/build_packages.sh "$work/source" "$folder" || fail "the packages were not built"

# What the function runs with: requirements.txt alone, in an environment that holds nothing else, pip included. Only its
# metadata is read, so nothing is compiled. For a tag it is made anew, and the bill is held against its schema (10 s).
runtime=.venv-runtime
ingredients() {
    pwd
    "$tools/python" --version
    cat requirements.txt
}
validate=--no-validate
if [[ $tag ]]; then
    rm -f "$runtime/.installed"
    validate=--validate
fi
if ! ingredients | cmp -s - "$runtime/.installed"; then
    "$tools/python" -m venv --clear --without-pip "$runtime"
    ingredients >"$work/ingredients"
    "$tools/python" -m pip --python "$runtime/bin/python" install -qq --require-hashes --no-deps --no-compile \
        --requirement requirements.txt
    mv "$work/ingredients" "$runtime/.installed"
fi
"$tools/cyclonedx-py" environment --pyproject pyproject.toml --mc-type application --output-reproducible "$validate" \
    --spec-version 1.6 --output-format JSON --output-file "$folder/sbom.cdx.json" "$runtime/bin/python"
for format in json markdown; do
    "$tools/pip-licenses" --python="$runtime/bin/python" --with-system --with-urls --order=name \
        --format="$format" --output-file="$work/licences.$format" >/dev/null
done
"$tools/python" - "$work/licences.json" "$folder/sbom.cdx.json" "$version" <<'PYTHON'
import json
import re
import sys
from pathlib import Path

licences, bill, version = sys.argv[1:]
# Strong copyleft would oblige whoever passes the function on, and so may a package that says nothing.
strong = re.compile(r"UNKNOWN|AGPL|Affero|(?<!L)GPL|(?<!Lesser )General Public", re.IGNORECASE)
packages = json.loads(Path(licences).read_text())
refused = [f"{package['Name']}: {package['License']}" for package in packages if strong.search(package["License"])]
if refused:
    sys.exit("release.sh: a licence that we cannot take: " + ", ".join(refused))
# pyproject.toml leaves the version to the code, so the bill lacks it.
document = json.loads(Path(bill).read_text())
document["metadata"]["component"]["version"] = version
Path(bill).write_text(json.dumps(document, indent=2) + "\n")
PYTHON
cp "$work/licences.markdown" "$folder/licences.md"

(cd "$folder" && sha256sum -- *) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$folder/SHA256SUMS"
printf '%s has the release %s:\n' "$folder" "$version"
cat "$folder/SHA256SUMS"
