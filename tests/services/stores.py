"""PostgreSQL stores for tests."""

from queuebox_agent.store.postgres.connect import Pool


def open_pool(url: str, size: int = 2) -> Pool:
    """A pool to be entered, of connections like those of the product."""
    return Pool(url, open=False, kwargs={"autocommit": True}, min_size=1, max_size=size, timeout=10)
