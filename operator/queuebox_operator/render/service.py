"""The Service: the data port for senders, the management port for metrics."""

from typing import Any

from queuebox_operator.facts import Resource
from queuebox_operator.record import Record
from queuebox_operator.render.names import manifest, selector
from queuebox_operator.render.pod import ports


def service(box: Resource, record: Record) -> dict[str, Any]:
    """The Service of a box."""
    offered = [{"name": name, "port": port, "targetPort": name, "protocol": "TCP"} for name, port in ports(record)]
    return manifest("v1", "Service", box, spec={"selector": selector(box), "ports": offered})
