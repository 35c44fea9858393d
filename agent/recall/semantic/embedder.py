"""Texts to vectors: word pieces, the int8 model, and what a long text is cut into.

The model is loaded on first use, once, and runs one text at a time: in a batch its int8 scales would be those of all
texts, and a text's vector would depend on its neighbours. The same text has the same vector on every call.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from agent.recall.semantic.model import MODEL, TOKENIZER, SemanticModel

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vector = npt.NDArray[np.float32]

# Of a longer text the start stands for it. A piece of English is four to five characters.
MOST_CHUNKS: Final = 8
_CHARACTERS_A_PIECE: Final = 8


class _Loaded(NamedTuple):
    session: Any
    tokenizer: Tokenizer
    first: int
    last: int


class Embedder:
    """The vectors of texts by one ``model``. Threads may share it: both libraries allow calls side by side."""

    def __init__(self, model: SemanticModel) -> None:
        self.model = model
        self._loaded: _Loaded | None = None
        self._lock = threading.Lock()

    def vectors(self, text: str) -> Vector:
        """The vectors of ``text``, each of length 1: float32 [chunks, dimensions], at most 8 chunks.

        A text of more pieces than the model sees at once is cut into chunks of equal size.
        """
        loaded = self._load()
        room = self.model.pieces - 2
        # Not all of a text of a megabyte is cut into pieces for the sake of its start.
        start = text[: MOST_CHUNKS * room * _CHARACTERS_A_PIECE]
        pieces = loaded.tokenizer.encode(start, add_special_tokens=False).ids
        return np.stack([_vector(loaded, chunk) for chunk in _chunks(pieces, room)])

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _load(self.model)
        return self._loaded


def _chunks(pieces: Sequence[int], room: int) -> list[Sequence[int]]:
    """``pieces`` in as few chunks as hold them, of about one size: a last one of three words would stand for little."""
    held = pieces[: MOST_CHUNKS * room]
    count = max(1, -(-len(held) // room))
    ends = [len(held) * (place + 1) // count for place in range(count)]
    return [held[start:end] for start, end in zip([0, *islice(ends, count - 1)], ends, strict=True)]


def _vector(loaded: _Loaded, chunk: Sequence[int]) -> Vector:
    ids = np.array([[loaded.first, *chunk, loaded.last]], np.int64)
    vector: Vector = loaded.session.run(None, {"input_ids": ids})[0]
    return vector


def _load(model: SemanticModel) -> _Loaded:
    # Late: half a second and 60 MB that only who embeds has to pay.
    import onnxruntime  # type: ignore[import-untyped]  # it has no types
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Errors alone: a warning of the runtime would be a line in nobody's format.
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model.folder / MODEL), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(model.folder / TOKENIZER))
    first, last = tokenizer.encode("").ids
    return _Loaded(session, tokenizer, first, last)
