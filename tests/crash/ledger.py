"""What writers sent and what they were told: the side of the clients, against which a store is read back."""

import threading
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Ledger:
    """Bodies by their execution_ref, and the position that was acknowledged for a reference. Used by many threads.

    ``unanswered`` are the captures that got no answer, or a 503, at first; ``late`` those of them that had been
    written all the same. ``contradicted`` are references that were acknowledged with two positions.
    """

    sent: dict[str, dict[str, Any]] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)
    contradicted: list[str] = field(default_factory=list)
    answers: int = 0
    unanswered: int = 0
    late: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def will_send(self, body: dict[str, Any]) -> None:
        with self._changed:
            self.sent[body["runId"]] = body

    def was_not_answered(self) -> None:
        with self._changed:
            self.unanswered += 1

    def was_answered(self, receipt: dict[str, Any], *, again: bool) -> None:
        """``receipt`` is the store's; ``again`` says that the capture had been sent before without an answer."""
        with self._changed:
            first = self.acknowledged.setdefault(receipt["executionRef"], receipt["position"])
            if first != receipt["position"]:
                self.contradicted.append(receipt["executionRef"])
            self.late += again and receipt["status"] == "duplicate"
            self.answers += 1
            self._changed.notify_all()

    def wait_for_answers(self, count: int, timeout_s: float = 120) -> None:
        """Return when there are ``count`` more."""
        with self._changed:
            wanted = self.answers + count
            assert self._changed.wait_for(lambda: self.answers >= wanted, timeout_s), "the store took no more captures"
