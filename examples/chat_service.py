"""A chat service that remembers: what was said comes from the recall function, and goes to the capture function.

``POST /`` takes ``{"message", "session_id"?, "turn_id"?}``. With a session the model is given the conversation so far,
without one the message alone, and nothing is kept. A message that is sent again, since its answer was lost, has its
``turn_id`` again. The model is an echo that quotes what it was given. It starts both functions on ./memory-graph.db,
or uses those at ``CAPTURE_URL`` and ``RECALL_URL``. ``PORT`` is 8090.
"""

from __future__ import annotations

import os
import signal
import sys
import uuid
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import httpx
from caller_key import CAPTURE, RECALL, bearer
from flask import Flask, request
from function_host import FunctionHost
from port import HOST, next_free, why_not
from werkzeug.exceptions import HTTPException
from werkzeug.serving import make_server

MAIN: Final = Path(__file__).resolve().parents[1] / "main.py"
TARGETS: Final = {"CAPTURE_URL": "handler", "RECALL_URL": "recall"}
STORE: Final = {"RUVECTOR_SERVICE_URL": "embedded:./memory-graph.db"}
NAMES: Final = dict.fromkeys(("message", "session_id", "turn_id")).keys()


class Memory(NamedTuple):
    """The two functions, by their addresses. What they cannot do is raised as httpx.HTTPError."""

    capture_url: str
    recall_url: str

    def conversation(self, session_id: str, message: str, turn_id: str) -> list[dict[str, Any]]:
        """What the model is to be given: what was said before, and ``message`` behind it, once."""
        # Two dots are a session's name like any other, and no way up.
        url = f"{self.recall_url}/api/conversation/{quote(session_id, safe='').replace('.', '%2E')}/hydrate"
        answer = httpx.post(url, json={"user_message": message, "turn_id": turn_id}, headers=bearer(RECALL), timeout=30)
        return list(answer.raise_for_status().json()["messages"])

    def keep(self, session_id: str, *turns: dict[str, Any]) -> None:
        """Capture what was said now. A turn that the session has already keeps its place."""
        body: dict[str, Any] = {"session_id": session_id, "conversation_id": session_id, "turns": turns}
        body["capture_options"] = {"derive_ids": True}
        httpx.post(self.capture_url, json=body, headers=bearer(CAPTURE), timeout=30).raise_for_status()


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


def chat(memory: Memory) -> Flask:
    """Make the service: one answer to each POST, in JSON whatever comes."""
    app = Flask(__name__)

    @app.post("/", provide_automatic_options=False)
    def answer() -> tuple[dict[str, Any], int]:
        said = request.get_json(force=True, silent=True)
        if not isinstance(said, dict) or not {"message"} <= said.keys() <= NAMES or {*map(type, said.values())} - {str}:
            return {"error": f"a message is {{{', '.join(NAMES)}}}, each a string, the message alone enough"}, 400
        try:
            return reply(memory, **said), 200
        except httpx.HTTPError as error:
            status = error.response.status_code if isinstance(error, httpx.HTTPStatusError) else 502
            return {"error": "the memory refused, or did not answer"}, status

    @app.errorhandler(HTTPException)
    def refused(error: HTTPException) -> tuple[dict[str, Any], int, dict[str, str]]:
        return {"error": f"{error.name}: this answers POST /"}, error.code or 500, {"Allow": "POST"}

    return app


def main() -> None:
    """Serve until Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    port = int(os.environ.get("PORT", "8090"))
    if reason := why_not(port):
        sys.exit(f"Port {port} cannot be used ({reason}). Choose another one: PORT={next_free(port)}")
    print("Starting the chat service, and the functions that it is not given the address of ...", flush=True)
    with suppress(KeyboardInterrupt), ExitStack() as running:
        at = {variable: os.environ.get(variable, "").rstrip("/") for variable in TARGETS}
        for each in [variable for variable, url in at.items() if not url]:
            host = FunctionHost(MAIN, next_free(port), {**STORE, **os.environ}, target=TARGETS[each])
            running.enter_context(host).wait_until_healthy()
            at[each] = host.url
        server = make_server(HOST, port, chat(Memory(at["CAPTURE_URL"], at["RECALL_URL"])), threaded=True)
        print(f"""Try: curl http://{HOST}:{port} -d '{{"session_id": "chat-7", "message": "Hello"}}'""", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
