"""Captures that a queue or an event broker brings by HTTP POST: Pub/Sub push, Eventarc, CloudEvents 1.0."""
