"""The images that the nodes have. Nothing is pulled unless a person names images of a registry."""

import os

PRODUCT = os.environ.get("QUEUEBOX_E2E_IMAGE", "queuebox.local/queuebox:test")
NEXT = os.environ.get("QUEUEBOX_E2E_NEXT_IMAGE", "queuebox.local/queuebox:next")
"""What the upgrade goes to; the same image under another tag shows the way of it."""
BESIDE = os.environ.get("QUEUEBOX_E2E_BESIDE_IMAGE", "queuebox.local/beside:test")
"""PostgreSQL and the receiver, from `e2e/images`."""


def replaced(**by_name: str) -> list[dict[str, str]]:
    """The `images` of a kustomization: other images in the place of those that the manifests name."""
    entries = []
    for name, image in by_name.items():
        repository, _, tag = image.rpartition(":")
        entries.append({"name": name, "newName": repository, "newTag": tag})
    return entries
