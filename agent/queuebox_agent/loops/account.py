import logging

from queuebox_agent.domain.message import OutboxRow
from queuebox_agent.domain.outcome import Dead, Delivered, Outcome, Released, Retry
from queuebox_agent.telemetry.metrics import DeliveryResult, DeliveryStatus, Metrics

log = logging.getLogger(__name__)


class Account:
    """Says in logs and counters how deliveries ended (spec pages 21 and 29, edge-cases 2.13)."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def settled(self, row: OutboxRow, outcome: Outcome, destination: str | None, *, won: bool) -> None:
        """An outcome was written, or its claim was lost before: then nothing else is counted."""
        if not won:
            self._metrics.claims_lost("outbox").inc()
            level = logging.ERROR if isinstance(outcome, Delivered) else logging.WARNING
            log.log(level, "the claim was lost before its outcome was written", extra=_fields(row, destination))
            return
        match outcome:
            case Delivered():
                self._count(destination, "sent", "success")
            case Retry(reason=reason):
                self._count(destination, "failed", "failure")
                log.info("delivery failed, to be tried again", extra=_fields(row, destination) | {"reason": reason})
            case Dead(reason=reason):
                self._count(destination, "dead", "failure")
                log.warning("message is dead", extra=_fields(row, destination) | {"reason": reason})
            case Released():
                pass

    def cancelled(self, row: OutboxRow) -> None:
        """A publish was cancelled because its claim was lost: no failed delivery, and maybe a duplicate."""
        self._metrics.claims_lost("outbox").inc()
        log.warning("the claim was lost during the publish", extra=_fields(row))

    def broken(self, row: OutboxRow, error: Exception) -> None:
        """A publisher raised what it does not declare."""
        self._metrics.process_errors.inc()
        log.error("a publisher failed in a way that it does not declare", extra=_fields(row), exc_info=error)

    def _count(self, destination: str | None, status: DeliveryStatus, result: DeliveryResult) -> None:
        self._metrics.outbox_messages(status).inc()
        if destination is not None:
            self._metrics.destination_messages(destination, result).inc()


def _fields(row: OutboxRow, destination: str | None = None) -> dict[str, object]:
    return {"messageId": str(row.claim.id), "topic": row.topic, "destination": destination, "attempt": row.attempt}
