"""A BERT of 16 dimensions with random weights and a vocabulary of a few words: made by the recipe of the real one.

``python -m tests.recall.semantic.tiny`` in .venv-semantic writes ``data/`` again. Its word vectors survive two layers
of noise, so that texts with the same words are near to each other, and that is all it knows.
"""

from __future__ import annotations

import json
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

TINY = Path(__file__).parent / "data"
TEXT = (
    "where is my parcel the a in it has been sent to bern zurich lost paid bill invoice order cat dog sat on mat rain "
    "sun today yesterday who what painted painting lake boat hello thanks yes no and of for red blue green one two "
    "three ##s ##ed ##ing . ? ! , : 7"
)
WORDS = TEXT.split()
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 16,
    "intermediate_size": 32,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 32,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
}
VOCABULARY = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}


def weights() -> dict[str, np.ndarray[Any, Any]]:
    """The same on every run and machine: numpy keeps this generator's stream as it is."""
    random = np.random.RandomState(7)
    size, wide = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), size),
        "embeddings.position_embeddings.weight": (CONFIG["max_position_embeddings"], size),
        "embeddings.token_type_embeddings.weight": (2, size),
        "embeddings.LayerNorm.weight": (size,),
        "embeddings.LayerNorm.bias": (size,),
    }
    for layer in range(CONFIG["num_hidden_layers"]):
        for name, out, into in (
            *((f"attention.self.{part}", size, size) for part in ("query", "key", "value")),
            ("attention.output.dense", size, size),
            ("intermediate.dense", wide, size),
            ("output.dense", size, wide),
        ):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (out, into)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (out,)
        for name in ("attention.output", "output"):
            shapes[f"encoder.layer.{layer}.{name}.LayerNorm.weight"] = (size,)
            shapes[f"encoder.layer.{layer}.{name}.LayerNorm.bias"] = (size,)
    found = {name: (random.standard_normal(shape) * 0.1).astype(np.float32) for name, shape in shapes.items()}
    for name in found:
        if name.endswith("LayerNorm.weight"):
            found[name] += 1
    found["embeddings.word_embeddings.weight"] *= 10
    return found


def write_source(folder: Path) -> Path:
    """The files that the weights of an encoder are published as."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    # As the real one is published: what it is cut and filled to is for its makers' tests.
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model.safetensors").write_bytes(safetensors(weights()))
    return folder


def safetensors(tensors: dict[str, np.ndarray[Any, Any]]) -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, tensor in tensors.items():
        offsets = [len(data), len(data) + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
    import make_embedding_model

    with tempfile.TemporaryDirectory() as scratch:
        target = Path(sys.argv[1]) if len(sys.argv) > 1 else TINY
        print(make_embedding_model.make(write_source(Path(scratch)), target))
