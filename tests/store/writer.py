"""A process of its own that appends captures and says which were acknowledged: ``python -m tests.store.writer``.

Arguments: the database, a name, how many captures (0: until it is killed). Prints the execution_ref of each
acknowledged capture, one a line, after its acknowledgement and before it goes on.
"""

import itertools
import sys

from store.engines.sqlite import SqliteStore
from tests.store.surface import SESSION, Surface, envelope, payload, ref_of, turn


def main(path: str, name: str, count: int) -> None:
    surface = Surface(SqliteStore(path))
    for number in range(count) if count else itertools.count():
        ref = ref_of(f"{name}:{number}")
        turns = [turn(place, f"{name} {number}", turn_id=ref_of(f"{ref}:{place}")) for place in (1, 2, 3)]
        answer = surface.post(envelope(payload(*turns, session=SESSION), execution_ref=ref))
        assert answer.status_code == 201, answer.text
        sys.stdout.write(f"{ref}\n")
        sys.stdout.flush()
    surface.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
