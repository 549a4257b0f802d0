"""The section `http` (spec pages 23 and 24)."""

from queuebox_api.config.block import Block
from queuebox_api.config.fields import Count, Flag


class HttpConfig(Block):
    """What holds for every HTTP destination."""

    max_error_body_bytes: Count = 2048
    """How much of the body of a failed response is kept, in bytes. Secrets are masked before it is stored or logged."""
    block_private_addresses: Flag = False
    """Refuse a `baseUrl` or a `tokenUrl` whose host is a loopback, link-local or private address."""
