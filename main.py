"""Function targets, as the function host loads them: no logic here.

The settings of the target are checked while the host loads this file, so that a bad one stops the start and names its
variable.
"""

import os

import flask

from agent.bootstrap import target_function

_function = target_function(os.environ, flask.current_app)


def handler(request: flask.Request) -> flask.Response:
    """Capture a posted conversation (CONTRACT 7)."""
    return _function(request)


def capture_event(request: flask.Request) -> flask.Response:
    """Capture a conversation that a queue or a broker of events brings."""
    return _function(request)


def store(request: flask.Request) -> flask.Response:
    """Keep decision events and answer for them (CONTRACT 10)."""
    return _function(request)


def recall(request: flask.Request) -> flask.Response:
    """Answer for conversations: history, state and sessions."""
    return _function(request)
