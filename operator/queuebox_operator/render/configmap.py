"""The ConfigMap: what the agents read, and the last good entries that it is made of."""

from typing import Any, Final

import yaml

from queuebox_operator.facts import Resource
from queuebox_operator.record import ENTRIES, Record
from queuebox_operator.render.names import manifest

CONFIG_FILE: Final = "queuebox.yml"
_NOTE: Final = "# Written by the operator; an edit is undone. The custom resources of this box say what stands here.\n"
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def configmap(box: Resource, record: Record) -> dict[str, Any]:
    """The ConfigMap of a box."""
    text = yaml.dump(record.config(), Dumper=_Dumper, allow_unicode=True, width=120)
    return manifest("v1", "ConfigMap", box, data={CONFIG_FILE: _NOTE + text, ENTRIES: record.dump()})
