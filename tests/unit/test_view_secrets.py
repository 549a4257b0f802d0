"""Which Secrets are a box's: those that its specs name, and those that its agents still read."""

from typing import Any

import pytest

from queuebox_operator.facts import Ref
from queuebox_operator.kube.view import View
from queuebox_operator.record import ENTRIES, Entry, Record

NAMESPACE = "shop"
BOX = Ref("QueueBox", NAMESPACE, "orders")
LABELS = {"queuebox.dev/box": BOX.name}


class Told:
    """A view, and the boxes that it told of since the last look."""

    def __init__(self) -> None:
        self.view = View()
        self.boxes: list[Ref] = []
        self.view.changed(self.boxes.append)
        self.version = 0

    def sees(self, kind: str, name: str, *, gone: bool = False, **content: Any) -> list[Ref]:
        self.version += 1
        meta = {
            "namespace": NAMESPACE, "name": name, "uid": f"uid-of-{name}", "resourceVersion": str(self.version),
            "creationTimestamp": "2026-01-01T00:00:00Z", "labels": LABELS,
        }  # fmt: skip
        self.boxes.clear()
        self.view.cache.saw(kind, {"metadata": meta, **content}, gone=gone)
        return self.boxes

    def records(self, *secrets: str) -> None:
        """The ConfigMap says that the agents read those."""
        entry = Entry(1, "2026-01-01T00:00:00Z", {}, tuple((secret, "password") for secret in secrets))
        self.sees("ConfigMap", "queuebox-orders", data={ENTRIES: Record(entry, {}).dump()})

    def names(self, secret: str) -> None:
        """The spec of the box does."""
        password = {"passwordSecretRef": {"name": secret, "key": "password"}}
        self.sees("QueueBox", BOX.name, spec={"database": {"url": "postgresql://db/shop", **password}})

    def secrets(self) -> dict[str, str]:
        return {name: secret.version for name, secret in self.view.secrets_of(BOX).items()}


@pytest.fixture
def told() -> Told:
    return Told()


def test_the_secret_of_a_last_good_entry_is_a_secret_of_the_box(told: Told) -> None:
    told.names("new")
    told.records("old")
    assert told.sees("Secret", "old") == [BOX]
    assert told.sees("Secret", "new") == [BOX]
    assert told.secrets() == {"old": "3", "new": "4"}


def test_its_rotation_is_told_once(told: Told) -> None:
    told.names("db")
    told.records("db")
    told.sees("Secret", "db")
    assert told.sees("Secret", "db") == [BOX]


def test_what_no_agent_reads_any_more_concerns_nobody(told: Told) -> None:
    told.names("new")
    told.records("old")
    told.records("new")
    assert told.sees("Secret", "old") == []
    assert told.secrets() == {}


def test_a_deleted_config_map_names_no_secret(told: Told) -> None:
    told.records("old")
    told.sees("ConfigMap", "queuebox-orders", gone=True)
    assert told.sees("Secret", "old") == []


@pytest.mark.parametrize("data", [None, {}, {ENTRIES: "{"}, {ENTRIES: '{"format": 1, "box": {"secrets": 3}}'}])
def test_a_config_map_that_somebody_else_wrote_names_none(told: Told, data: dict[str, str] | None) -> None:
    told.records("old")
    told.sees("ConfigMap", "queuebox-orders", data=data)
    assert told.sees("Secret", "old") == []


def test_the_secrets_of_another_box_are_its_own(told: Told) -> None:
    told.records("old")
    told.sees("Secret", "old")
    assert told.view.secrets_of(BOX._replace(name="other")) == {}
