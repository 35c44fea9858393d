"""The function itself, under the server's own worker of threads: what ours costs or saves is told against it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import flask

# The compiled copy of the function lies beside this folder.
sys.path.append(str(Path(__file__).resolve().parents[1] / "function"))

from gunicorn import config

from agent.bootstrap import target_function

_function = target_function(os.environ, flask.current_app)
# After the function has set its own as the default.
config.WorkerClass.default = "gunicorn.workers.gthread.ThreadWorker"


def handler(request: flask.Request) -> flask.Response:
    return _function(request)
