"""One HTTP exchange over a bare socket: bytes out as given, status, headers and body back."""

import socket


def exchange(port: int, request: bytes, *, shut: bool = False) -> tuple[int, dict[str, str], bytes]:
    """Send ``request`` to the loopback ``port`` and read to the end; ``shut`` closes our sending side first."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        if shut:
            connection.shutdown(socket.SHUT_WR)
        connection.settimeout(20)
        answer = bytearray()
        while piece := connection.recv(65536):
            answer += piece
            head, found, body = bytes(answer).partition(b"\r\n\r\n")
            length = _length(head) if found else None
            if length is not None and len(body) >= length:
                break
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(status_line.split(" ")[1]), headers, body


def _length(head: bytes) -> int | None:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return None
