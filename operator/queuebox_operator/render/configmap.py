"""The ConfigMaps: one for each hash with what the agents read, and one with the last good entries it is made of."""

from typing import Any, Final

import yaml

from queuebox_operator.facts import Resource
from queuebox_operator.record import ENTRIES, Record
from queuebox_operator.render.names import config_ref, manifest

CONFIG_FILE: Final = "queuebox.yml"
_NOTE: Final = "# Written by the operator; an edit is undone. The custom resources of this box say what stands here.\n"
_LINE: Final = 1 << 30
"""No line is broken: what is measured is the size as JSON, and the file must not be much larger."""
_GROWS: Final = frozenset("'\n")
"""Twice as long in the quotes that YAML would choose."""
_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]  # whether there is the C library is only known now
    pass


def _text(dumper: Any, text: str) -> Any:  # noqa: ANN401  as pyyaml has it
    style = None if _GROWS.isdisjoint(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def configuration(box: Resource, record: Record) -> dict[str, Any]:
    """What agents of this hash read. It never changes: a pod that restarts finds what its mounts were made for."""
    text = yaml.dump(record.config(), Dumper=_Dumper, allow_unicode=True, width=_LINE)
    name = config_ref(box, record.hash()).name
    return manifest("v1", "ConfigMap", box, name, immutable=True, data={CONFIG_FILE: _NOTE + text})


def last_good(box: Resource, record: Record) -> dict[str, Any]:
    """What the next reconcile starts from."""
    return manifest("v1", "ConfigMap", box, data={ENTRIES: record.dump()})
