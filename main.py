"""Function targets, as the function host loads them: no logic here.

The settings are checked while the host loads this file, so that a bad one stops the start and names its variable.
"""

import os

import flask

from agent.bootstrap import capture_function

_capture = capture_function(os.environ, flask.current_app)


def handler(request: flask.Request) -> flask.Response:
    """Capture a posted conversation (CONTRACT 7)."""
    return _capture(request)
