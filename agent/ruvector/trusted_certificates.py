"""Whom a connection to a store trusts: the authorities of ``certifi``, or those that the environment names instead."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping


def trusting_context(environ: Mapping[str, str] = os.environ) -> ssl.SSLContext:
    """A context that checks certificate and name (docs/operate/encryption.md).

    ``SSL_CERT_FILE``, or else ``SSL_CERT_DIR``, stands in place of what ``certifi`` brings; an empty one counts as
    unset. Raises OSError for what cannot be read.
    """
    file, folder = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    if file:
        return ssl.create_default_context(cafile=file)
    if folder:
        return ssl.create_default_context(capath=folder)
    # Late: who brings his own authorities needs it not.
    import certifi

    return ssl.create_default_context(cafile=certifi.where())
