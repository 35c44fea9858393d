"""What no capture can do without on this host: read the body, parse it, hash it, answer."""

from __future__ import annotations

import hashlib

import flask
import jiter


def handler(request: flask.Request) -> flask.Response:
    body = request.get_data(cache=False)
    jiter.from_json(body, catch_duplicate_keys=True, allow_inf_nan=False)
    digest = hashlib.sha256(body).hexdigest()
    return flask.Response(b'{"sha256":"%s"}' % digest.encode(), mimetype="application/json")
