"""The launcher of a process whose wall clock is off: what is shifted, what is not, and that it may jump."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import REPOSITORY

LAUNCHER = REPOSITORY / "tests" / "chaos" / "shifted_clock.py"
PROGRAM = """
import sys, time, uuid
from datetime import UTC, date, datetime
from pathlib import Path
file, real = Path(sys.argv[1]), float(sys.argv[2])

def asked():
    return (time.time(), time.time_ns() / 1e9, time.clock_gettime(time.CLOCK_REALTIME), datetime.now().timestamp(),
            datetime.now(UTC).timestamp(), datetime.utcnow().replace(tzinfo=UTC).timestamp())

def hours(): return {round((instant - real) / 3600) for instant in asked()}

steps, began = [hours()], time.monotonic()
for offset in ("-7200", "86400"):
    file.write_text(offset)
    time.sleep(0.05)
    steps.append(hours())
assert steps == [{1}, {-2}, {24}], steps
assert time.monotonic() - began < 60
assert date.today() == datetime.fromtimestamp(real + 86400).date() or datetime.now().hour == 0
made = datetime(2026, 3, 2, tzinfo=UTC)
assert isinstance(made, datetime) and isinstance(datetime.now(), datetime) and isinstance(made, date)
assert type(made).__module__ == "datetime" and made.isoformat() == "2026-03-02T00:00:00+00:00"
print(__name__)
"""


def test_a_process_has_a_wall_clock_that_jumps_and_a_monotonic_one_that_does_not(tmp_path: Path) -> None:
    import time

    (tmp_path / "program.py").write_text(PROGRAM)
    offset = tmp_path / "offset"
    offset.write_text("3600")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(LAUNCHER), str(offset), "program", str(offset), str(time.time())],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "__main__\n"), done.stderr
