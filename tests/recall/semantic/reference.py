"""A BERT sentence encoder in numpy, written from its description and not from the graph: what vectors have to be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def sentence_vector(weights: Mapping[str, Array], config: Mapping[str, Any], ids: Sequence[int]) -> Array:
    """The mean of the last layer over all pieces, of length 1."""
    size, heads, epsilon = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]

    def dense(name: str, values: Array) -> Array:
        return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normalised(name: str, values: Array) -> Array:
        centred = values - values.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
        return scaled * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]

    hidden = (
        weights["embeddings.word_embeddings.weight"][list(ids)]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = normalised("embeddings", hidden)
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query, key, value = (dense(f"{name}.attention.self.{part}", hidden) for part in ("query", "key", "value"))
        seen = []
        for head in range(heads):
            part = slice(head * size // heads, (head + 1) * size // heads)
            looks = np.exp(query[:, part] @ key[:, part].T / math.sqrt(size // heads))
            seen.append(looks / looks.sum(axis=1, keepdims=True) @ value[:, part])
        attended = dense(f"{name}.attention.output.dense", np.concatenate(seen, axis=1))
        hidden = normalised(f"{name}.attention.output", attended + hidden)
        wide = dense(f"{name}.intermediate.dense", hidden)
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        hidden = normalised(f"{name}.output", dense(f"{name}.output.dense", wide) + hidden)
    mean = hidden.mean(axis=0)
    return mean / np.linalg.norm(mean)
