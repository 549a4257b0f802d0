import logging

from queuebox_agent.errors import QueueBoxError


def tell(log: logging.Logger, event: str, error: Exception, **fields: object) -> None:
    """Log what work that goes on has met: the reason of an error that was foreseen, the whole trace of any other."""
    unforeseen = None if isinstance(error, QueueBoxError) else error
    log.warning(event, extra={"reason": str(error), **fields}, exc_info=unforeseen)
