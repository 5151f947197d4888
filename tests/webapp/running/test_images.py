"""Every image that is not built here is pinned by its digest, and has the same digest in every file."""

import re
import subprocess

from tests.webapp.commands import ROOT

IMAGE = re.compile(r"^\s*(?:image:|FROM)\s+(?:&\w+\s+)?(?P<image>\S+)", re.MULTILINE)
PINNED = re.compile(r"(?P<name>(?:[a-z0-9.-]+/)*[a-z0-9-]+)(?::(?P<tag>[\w.-]+))?@(?P<digest>sha256:[0-9a-f]{64})")
BUILT_HERE = {"horsesense"}  # of docker-compose.yml, from the Dockerfile


def images() -> list[tuple[str, str]]:
    """Return each file of the repository that names an image, with the image."""
    names = ["Dockerfile", *tracked("*.yml", "*.yaml")]
    return [(name, found["image"]) for name in names for found in IMAGE.finditer((ROOT / name).read_text())]


def tracked(*patterns: str) -> list[str]:
    command = ["git", "ls-files", *patterns]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def test_every_image_is_pinned_by_its_digest() -> None:
    found = images()
    assert {name for name, _ in found} >= {"Dockerfile", "docker-compose.yml", ".github/workflows/ci.yml"}
    for name, image in found:
        assert image in BUILT_HERE or image.startswith("*") or PINNED.fullmatch(image), f"{name}: {image}"


def test_an_image_has_the_same_tag_and_digest_in_every_file() -> None:
    pinned: dict[str, set[str]] = {}
    for _, image in images():
        if parts := PINNED.fullmatch(image):
            pinned.setdefault(parts["name"], set()).add(image)
    assert {"postgres", "redis", "caddy", "python"} <= set(pinned)
    assert {name: found for name, found in pinned.items() if len(found) > 1} == {}


def test_the_image_and_the_documented_command_name_a_version_of_postgresql_that_reads_existing_volumes() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    [(tag, _)] = {(found["tag"], found["digest"]) for _, image in images() if (found := PINNED.fullmatch(image))
                  and found["name"] == "postgres"}  # fmt: skip
    assert f"docker buildx imagetools inspect postgres:{tag}\n" in text
    assert tag.startswith("17.")
