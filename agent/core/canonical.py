"""The RFC 8785 (JCS) form of a JSON value and its SHA-256 (CONTRACT 5).

Two writers, held together by property tests: ``orjson`` with sorted keys where its bytes are those of RFC 8785,
and a plain walk for the rest, which leaves the numbers of section 3.2.2.3 to ``rfc8785``.
Integers beyond 2^53-1, which RFC 8785 leaves open, keep all their digits. Unicode is never normalised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson
import rfc8785

# hashlib gives the interpreter lock away for more than 2 047 bytes. For a few microseconds of work the way back costs
# more than the work, with other threads waiting; long data are worth it.
_PIECE = 2047
_LONGEST_IN_PIECES = 64 * 1024
LARGEST_FAST_INTEGER = 2**64 - 1
SMALLEST_FAST_INTEGER = -(2**63)
_FOUR_BYTES = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")

Members = Callable[[dict[str, Any]], Iterable[tuple[str, Any]]]
Convert = Callable[[Any], float]


def canonical(value: Any, *, plain: bool | None = None) -> bytes:
    """Return the RFC 8785 bytes of ``value``, a tree of dict, list, str, int, float, bool and None.

    ``plain`` says that ``is_plain(value)`` is known already; None looks it up.

    Raises ValueError for a float that is not finite and for a lone surrogate, TypeError for what is not JSON.
    """
    if is_plain(value) if plain is None else plain:
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except TypeError:
            # orjson refuses nesting beyond 254 and lone surrogates; the walk decides which of them it is.
            pass
    return bytes(canonical_walk(value))


def canonical_walk(value: Any, *, convert: Convert | None = None) -> bytearray:
    """The same without a look at ``is_plain``, in the buffer that it was written to: right for any value, and slow.

    ``convert`` makes a float of a number that the caller's parser keeps in a type of its own.
    """
    out = bytearray()
    _write(value, out, members=_sorted_members, number=_float if convert is None else lambda n: _float(convert(n)))
    return out


def is_plain(value: Any) -> bool:
    """Whether orjson's sorted output of ``value`` is byte for byte that of RFC 8785.

    It is, unless a float occurs (RFC 8785 3.2.2.3), a key has a character beyond the Basic Multilingual Plane
    (3.2.3 sorts by UTF-16 code units, orjson by UTF-8 bytes) or an integer does not fit 64 bits.
    """
    pending = [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is dict:
            for key in item:
                if not key.isascii() and max(key) > "\uffff":
                    return False
            pending.extend(item.values())
        elif kind is list:
            pending.extend(item)
        elif kind is float or (kind is int and not SMALLEST_FAST_INTEGER <= item <= LARGEST_FAST_INTEGER):
            return False
    return True


def sha256_hex(data: bytes) -> str:
    """Lower-case hex SHA-256 of ``data``."""
    if len(data) > _LONGEST_IN_PIECES:
        return hashlib.sha256(data).hexdigest()
    digest = hashlib.sha256()
    for start in range(0, len(data), _PIECE):
        digest.update(data[start : start + _PIECE])
    return digest.hexdigest()


def inputs_hash(value: Any, *, plain: bool | None = None) -> str:
    """The ``inputs_hash`` of a payload (CONTRACT 5): SHA-256 of its RFC 8785 form."""
    return sha256_hex(canonical(value, plain=plain))


def stored_inputs_hash(value: Any, *, exact_numbers: bool = False) -> str | None:
    """The hash of ``inputs`` as they stand in a log, whatever they are; None for what no JSON text can have held.

    ``exact_numbers``: the parser keeps numbers with a fraction or an exponent in a type of its own, which orjson
    refuses and ``float()`` converts. Then most inputs need no walk.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        if (exact_numbers and _is_basic(text)) or is_plain(value):
            return sha256_hex(text)
    except TypeError:
        # Such a number, an integer beyond 64 bits, deep nesting, a lone surrogate: the walk decides which of them.
        pass
    try:
        return sha256_hex(bytes(canonical_walk(value, convert=float)))
    except (ValueError, TypeError, RecursionError):
        return None


def _is_basic(text: bytes) -> bool:
    """Whether UTF-8 ``text`` has no character beyond the Basic Multilingual Plane, so no key that has one."""
    # RFC 3629 section 3: those, and no others, start with a byte of F0 to F4.
    return text.isascii() or not any(byte in text for byte in _FOUR_BYTES)


def encode(value: Any, *, default: Callable[[Any], orjson.Fragment] | None = None) -> bytes:
    """JSON bytes of ``value`` in its own key order, UTF-8, no white space; integers of any size keep every digit.

    ``default`` gives the text of a number that the caller's parser keeps in a type of its own.
    """
    try:
        return orjson.dumps(value, default=default)
    except TypeError:
        # An integer beyond 64 bits, or nesting beyond 254.
        out = bytearray()
        _write(value, out, members=dict.items, number=lambda number: orjson.dumps(number, default=default))
        return bytes(out)


def _sorted_members(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    # The keys alone are sorted: a list of pairs is half as large again as what it is made from.
    return ((key, value[key]) for key in sorted(value, key=_utf16_order))


def _utf16_order(key: str) -> bytes:
    # A lone surrogate passes here: writing the key refuses it, without repeating it.
    return key.encode("utf-16-be", "surrogatepass")


def _write(value: Any, out: bytearray, *, members: Members, number: Callable[[Any], bytes]) -> None:
    """Append the JSON text of ``value``; one buffer for all, since a piece of its own costs more than it holds.

    ``number`` writes a float, and refuses with TypeError what is not JSON.
    """
    if isinstance(value, str):
        out += _string(value)
    elif value is None or isinstance(value, bool):
        out += orjson.dumps(value)
    elif isinstance(value, int):
        out += str(value).encode("ascii")
    elif isinstance(value, dict):
        out += b"{"
        for place, (key, member) in enumerate(members(value)):
            out += b"," if place else b""
            out += _string(key)
            out += b":"
            _write(member, out, members=members, number=number)
        out += b"}"
    elif isinstance(value, list):
        out += b"["
        for place, member in enumerate(value):
            out += b"," if place else b""
            _write(member, out, members=members, number=number)
        out += b"]"
    else:
        out += number(value)


def _string(text: str) -> bytes:
    try:
        return orjson.dumps(text)
    except TypeError:
        raise ValueError("a lone surrogate has no UTF-8 form") from None


def _float(number: object) -> bytes:
    if not isinstance(number, float):
        raise TypeError(f"{type(number).__name__} is not a JSON value")
    try:
        return rfc8785.dumps(number)
    except rfc8785.FloatDomainError:
        raise ValueError("a number that is not finite is not JSON (RFC 8785 3.2.2.3)") from None
