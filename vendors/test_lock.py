"""requirements-vendors.txt is what its ``.in`` file asks for, by the metadata of what is installed here."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]


def test_the_vendors_lock_fits_its_in_file() -> None:
    check = runpy.run_path(str(PROJECT / "scripts/check_locks.py"))
    pins = check["read_lock"](PROJECT / "requirements-vendors.txt")
    wanted = check["needed"](check["read_requirements"](PROJECT / "requirements-vendors.in"))
    assert check["unmet"](wanted, pins) == []
    if sys.version_info[:2] != check["LOCKED_WITH"]:
        pytest.skip("the locks are compiled with another Python, which may need more")
    assert pins.keys() - {check["canonicalize_name"](requirement.name) for requirement in wanted} == set()
