"""What one request says about itself: JSON logs, a span for each of its steps, and metrics over all of them.

All tell ids, counts and names, never content (CONTRACT 8). Nothing in here raises into a request, and nothing of
OpenTelemetry is imported before somebody asks for it.
"""

from agent.observability.logs import configure_logging, describe_exception, log_event, log_refused_start
from agent.observability.telemetry import Telemetry

__all__ = ["Telemetry", "configure_logging", "describe_exception", "log_event", "log_refused_start"]
