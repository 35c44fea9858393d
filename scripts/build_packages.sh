#!/usr/bin/env bash
# build_packages.sh SOURCE FOLDER: wheel and sdist of the tree SOURCE, into FOLDER. The same files and the same
# SOURCE_DATE_EPOCH make the same bytes. SOURCE is written to (setuptools does), so it is a copy; needs .venv-release.
set -euo pipefail

source=$(realpath "$1")
folder=$(realpath "$2")
tools=$(realpath "$(dirname "$0")/../.venv-release/bin")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:?}

# Modes go into the archives: not those that this user's files happen to have.
umask 022
chmod -R u=rwX,go=rX "$source"

# Without isolation: the lock holds what builds, so nothing is fetched that is not pinned.
"$tools/python" -m build --no-isolation --outdir "$folder" "$source" >"$source/build.log" 2>&1 || {
    cat "$source/build.log" >&2
    exit 1
}
# setuptools keeps the files' own dates and owners in a sdist, and gzip the time of day.
"$tools/python" - "$folder"/*.tar.gz <<'PYTHON'
import gzip
import io
import os
import sys
import tarfile

path, epoch = sys.argv[1], int(os.environ["SOURCE_DATE_EPOCH"])
packed = io.BytesIO()
with tarfile.open(path) as old, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
    for member in sorted(old.getmembers(), key=lambda member: member.name):
        member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        member.pax_headers = {}
        new.addfile(member, old.extractfile(member) if member.isfile() else None)
with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=epoch) as zipped:
    zipped.write(packed.getvalue())
PYTHON
