"""The functions with a fault of ours in each, as a function host loads them: no event is built, no store is opened."""

import os
from typing import Any, NoReturn

import flask

from agent.bootstrap import target_function
from agent.capture import service
from agent.recall.source import Source


def _broken(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError


service.spent_tokens = _broken
Source.of = _broken
_function = target_function(os.environ, flask.current_app)


def handler(request: flask.Request) -> flask.Response:
    return _function(request)


def recall(request: flask.Request) -> flask.Response:
    return _function(request)
