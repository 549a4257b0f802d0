"""The Dockerfile takes what it needs and nothing else."""

import fnmatch
import re

from services.manifests import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COPIED = [
    source
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    for source in sources.split()
]


def allowed() -> list[str]:
    return [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]


def test_what_is_copied_is_in_the_build_context() -> None:
    for source in COPIED:
        assert (ROOT / source).exists()
        assert any(fnmatch.fnmatch(source, pattern) for pattern in allowed()), source


def test_nothing_else_is_in_the_build_context() -> None:
    assert all(any(fnmatch.fnmatch(source, pattern) for source in COPIED) for pattern in allowed())


def test_the_image_does_not_run_as_root() -> None:
    (user,) = re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)
    assert user == "10001:10001"


def test_every_package_comes_with_a_hash() -> None:
    installs = re.findall(
        r"pip(?: --python \S+)? install (.*?)(?: &&|\n\S|\Z)", DOCKERFILE.replace("\\\n", ""), re.DOTALL
    )
    assert installs
    assert all("--require-hashes" in it or "--no-deps dist/" in it for it in installs)
