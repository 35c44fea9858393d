"""Vectors as they are kept: a byte a dimension and a scale, a quarter of float32. Cosines move by less than 0.001."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agent.recall.semantic.embedder import Vector

_LARGEST: Final = 127
_SMALLEST: Final = 1e-20


def row_type(dimensions: int) -> np.dtype[Any]:
    """How a vector of so many ``dimensions`` lies in memory and in files."""
    return np.dtype([("scale", "<f4"), ("steps", "i1", (dimensions,))])


def packed(vectors: Vector) -> bytes:
    """``vectors`` [n, dimensions] as bytes, a row each."""
    rows = np.empty(len(vectors), row_type(vectors.shape[1]))
    # A vector of zeros has no scale; any will do.
    rows["scale"] = np.maximum(np.abs(vectors).max(axis=1), _SMALLEST) / _LARGEST
    rows["steps"] = np.rint(vectors / rows["scale"][:, None])
    return rows.tobytes()


def cosines(rows: bytes, query: Vector) -> npt.NDArray[np.float32]:
    """The cosine of each packed vector with ``query`` [dimensions]."""
    held = np.frombuffer(rows, row_type(len(query)))
    product: npt.NDArray[np.float32] = (held["steps"].astype(np.float32) @ query) * held["scale"]
    return product
