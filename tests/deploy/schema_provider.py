"""A provider of Terraform that has a schema and nothing else: what `terraform validate` and mocked plans ask of one.

It speaks the plugin protocol (version 6.0 of tfplugin6.proto) over gRPC, unencrypted on loopback, for a Terraform that
is told to attach to it (TF_REATTACH_PROVIDERS). Messages are written by hand: there are five kinds, and four are empty.
Run as a program it prints that variable's value and serves until its standard input ends.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from concurrent import futures
from pathlib import Path
from typing import Any, Final

import grpc

SCHEMA: Final = Path(__file__).parent / "google_provider.json"
_TYPES: Final = {
    "string": b'"string"',
    "number": b'"number"',
    "bool": b'"bool"',
    "list(string)": b'["list","string"]',
    "map(string)": b'["map","string"]',
    "list(number)": b'["list","number"]',
}
_LIST: Final = 2  # NestedBlock.NestingMode


def field(number: int, value: bytes | str | int) -> bytes:
    """One field of a message, as protocol buffers write it. Numbers below 128 only."""
    if isinstance(value, int):
        return bytes([number << 3, value]) if value else b""
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def block(schema: Mapping[str, Any], *, is_resource: bool = False) -> bytes:
    """A Schema.Block. What is not required may be left out and is then computed, as most of this provider's are."""
    required = set(schema.get("required", ()))
    attributes = {
        name: field(2, _TYPES[type_]) + (field(4, 1) if name in required else field(5, 1) + field(6, 1))
        for name, type_ in schema.get("arguments", {}).items()
    }
    exported = {*schema.get("exported", ()), *(["id"] if is_resource else [])} - set(attributes)
    attributes |= {name: field(2, _TYPES["string"]) + field(6, 1) for name in exported}
    nested = [
        field(1, name)
        + field(2, block(inner))
        + field(3, _LIST)
        + field(4, int(name in required))
        + field(5, int(not inner["many"]))
        for name, inner in schema.get("blocks", {}).items()
        if name != "timeouts"
    ]
    return b"".join(
        [*(field(2, field(1, name) + rest) for name, rest in attributes.items()), *(field(3, each) for each in nested)]
    )


def provider_schema(schemas: Mapping[str, Any]) -> bytes:
    """GetProviderSchema.Response for all types of the file, and a provider that takes a project and a region."""

    def entry(number: int, name: str, schema: Mapping[str, Any]) -> bytes:
        return field(number, field(1, name) + field(2, field(2, block(schema, is_resource=True))))

    provider = block({"arguments": {"project": "string", "region": "string"}})
    return b"".join(
        [
            field(1, field(2, provider)),
            *(entry(2, name, schema) for name, schema in schemas["resource"].items()),
            *(entry(3, name, schema) for name, schema in schemas["data"].items()),
        ]
    )


class _Answers(grpc.GenericRpcHandler):
    """The schema to who asks for it, an empty message to who wants something validated, and no answer else."""

    def __init__(self, schema: bytes) -> None:
        self._schema = schema

    def service(self, handler_call_details: Any) -> Any:
        method = handler_call_details.method.rpartition("/")[2]
        if method == "GetProviderSchema":
            return _unary(lambda: self._schema)
        return _unary(bytes) if method.startswith(("Validate", "Stop")) else None


def _unary(answer: Callable[[], bytes]) -> Any:
    return grpc.unary_unary_rpc_method_handler(lambda _request, _context: answer())


def main() -> None:
    """Serve the schema until the standard input ends."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((_Answers(provider_schema(json.loads(SCHEMA.read_text()))),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    address = {"Network": "tcp", "String": f"127.0.0.1:{port}"}
    attached = {"Protocol": "grpc", "ProtocolVersion": 6, "Pid": os.getpid(), "Test": True, "Addr": address}
    print(json.dumps({"hashicorp/google": attached}), flush=True)
    sys.stdin.read()
    server.stop(grace=1)


if __name__ == "__main__":
    main()
