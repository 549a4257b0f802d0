"""The section `routes` (spec pages 11 and 24)."""

from queuebox_api.config.block import Block
from queuebox_api.config.fields import KeyTemplate, Name, TopicPattern, Words
from queuebox_api.config.transform import Transform


class Route(Block):
    """Sends the topics that match a pattern to one destination. The first route that matches wins."""

    topic_pattern: TopicPattern
    """A glob on the whole topic: `*` is one segment without a dot, `**` is any text, all else is literal."""
    destination: Name
    """The name of a destination."""
    routing_key_template: KeyTemplate | None = None
    """The RabbitMQ routing key or the Kafka record key. It wins over the template of the destination."""
    routing_key_missing_field_default: Words = ""
    """What stands for a placeholder that finds no value."""
    transform: Transform | None = None
    """Runs before the transform of the destination."""
