"""A chat service that remembers: what was said comes from the recall function, and goes to the capture function.

``POST /`` takes ``{"message", "session_id"?, "turn_id"?}``. With a session the model is given the conversation so far;
without one it is given the message alone, and nothing is kept. Who sends a message again, because its answer was lost,
sends its ``turn_id`` again. The model is an echo that quotes what it was given.

Starts both functions on ./memory-graph.db, or uses those at ``CAPTURE_URL`` and ``RECALL_URL``. ``PORT`` is 8090.
"""

from __future__ import annotations

import json
import os
import signal
import uuid
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from urllib.request import Request, urlopen

from function_host import FunctionHost
from port import HOST, next_free

MAIN: Final = Path(__file__).resolve().parents[1] / "main.py"
TARGETS: Final = {"CAPTURE_URL": "handler", "RECALL_URL": "recall"}
EXAMPLE: Final = '{"session_id": "chat-7", "message": "Where is parcel 4471?"}'


class Memory(NamedTuple):
    """The two functions, by their addresses. What they cannot do is raised as OSError."""

    capture_url: str
    recall_url: str

    def conversation(self, session_id: str, message: str, turn_id: str) -> list[dict[str, Any]]:
        """What the model is to be given: what was said before, and ``message`` behind it, once."""
        url = f"{self.recall_url}/api/conversation/{quote(session_id, safe='')}/hydrate"
        messages: list[dict[str, Any]] = post(url, {"user_message": message, "turn_id": turn_id})["messages"]
        return messages

    def keep(self, session_id: str, *turns: dict[str, Any]) -> None:
        """Capture what was said now. A turn that the session has already keeps its place."""
        body = {"session_id": session_id, "conversation_id": session_id, "turns": turns}
        post(self.capture_url, {**body, "capture_options": {"derive_ids": True}})


def reply(memory: Memory, message: str, session_id: str = "", turn_id: str = "") -> dict[str, Any]:
    """Answer one message."""
    if not session_id:
        return {"answer": model([{"role": "user", "content": message}])}
    turn_id = turn_id or str(uuid.uuid4())
    question = turn(turn_id, "user", message)
    answer = model(memory.conversation(session_id, message, turn_id))
    memory.keep(session_id, question, turn(f"{turn_id}:answer", "assistant", answer))
    return {"answer": answer, "session_id": session_id, "turn_id": turn_id}


def turn(turn_id: str, role: str, content: str) -> dict[str, Any]:
    """Make a turn that is said now."""
    return {"turn_id": turn_id, "role": role, "content": content, "timestamp": datetime.now(UTC).isoformat()}


def model(messages: list[dict[str, Any]]) -> str:
    """Stand in for a model: say how many messages were given, and quote the user's."""
    said = " ".join(f'"{message["content"]}"' for message in messages if message["role"] == "user")
    return f"I was given {len(messages)} of our messages. You said: {said}"


def post(url: str, document: dict[str, Any]) -> Any:
    """Post ``document`` and return the JSON of the answer. Raises HTTPError for a status that is no success."""
    with urlopen(Request(url, json.dumps(document).encode()), timeout=30) as answer:  # noqa: S310 - the operator's URLs
        return json.load(answer)


class Chat(BaseHTTPRequestHandler):
    """Answers each POST with one reply."""

    memory: Memory

    def do_POST(self) -> None:
        try:
            status, answer = 200, reply(self.memory, **json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        except (TypeError, ValueError):
            status, answer = 400, {"error": 'a message is {"message", "session_id"?, "turn_id"?}'}
        except OSError as error:
            status, answer = getattr(error, "code", 502), {"error": "the memory refused, or did not answer"}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


def main() -> None:
    """Serve until Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    at = {variable: os.environ.get(variable, "").rstrip("/") for variable in TARGETS}
    server = ThreadingHTTPServer((HOST, int(os.environ.get("PORT", "8090"))), Chat)
    with suppress(KeyboardInterrupt), ExitStack() as running, server:
        for variable in [name for name, url in at.items() if not url]:
            environ = {"RUVECTOR_SERVICE_URL": "embedded:./memory-graph.db", **os.environ}
            host = FunctionHost(MAIN, next_free(server.server_port), environ, target=TARGETS[variable])
            running.enter_context(host).wait_until_healthy()
            at[variable] = host.url
        Chat.memory = Memory(at["CAPTURE_URL"], at["RECALL_URL"])
        print(f"Try: curl http://{HOST}:{server.server_port} -d '{EXAMPLE}'", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
