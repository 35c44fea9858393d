"""The settings of the function that a queue pushes to: the capture's, without callers' keys."""

from __future__ import annotations

from collections.abc import Mapping

from agent.config import Settings
from agent.errors import ConfigurationError


def event_settings(environ: Mapping[str, str]) -> Settings:
    """Read the settings. Raises ConfigurationError for the first that does not hold, and for keys of callers.

    No queue can send one (Pub/Sub puts its own identity token into ``Authorization``): checked, they would refuse
    everything, and passed over, they would seem to guard what they do not.
    """
    settings = Settings.of_capture_function(environ)
    if settings.callers is not None and settings.callers.need_a_key:
        raise ConfigurationError(
            settings.callers.variable,
            "guards nothing here, since no queue can send a key: unset it, and let IAM or the network decide who may "
            "call this function",
        )
    return settings
