"""The images of the site: those of others are pinned by their digest, ours can have PyTorch."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.commands import ROOT
from tests.webapp.compose import FILE, SECRETS, read_files

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


# PyTorch in our image

INSTALL = re.compile(r"torch==(\S+)")


def build_of(**settings: str) -> Any:
    return read_files(FILE, settings={**SECRETS, **settings})["services"]["worker"]["build"]


def test_compose_builds_the_image_without_pytorch_unless_it_is_wanted() -> None:
    assert build_of()["args"] == {"TORCH": "no", "TORCH_INDEX": ""}
    assert build_of(TORCH="yes", TORCH_INDEX="https://index.example.org")["args"] == {
        "TORCH": "yes", "TORCH_INDEX": "https://index.example.org",
    }  # fmt: skip
    text = (ROOT / "Dockerfile").read_text()
    assert set(build_of()["args"]) == set(re.findall(r"^ARG (\w+)=", text, re.MULTILINE))


def test_the_image_and_make_torch_install_the_same_version() -> None:
    found = {name: INSTALL.findall((ROOT / name).read_text()) for name in ("Dockerfile", "Makefile")}
    assert all(len(versions) == 1 for versions in found.values())
    assert found["Dockerfile"] == found["Makefile"]


@pytest.mark.parametrize(
    ("wanted", "index", "commands"),
    [
        ("no", "", []),
        ("yes", "", ["pip install torch==VERSION", "pip check", "python -c import torch"]),
        (
            "yes",
            "https://index.example.org",
            ["pip install --index-url https://index.example.org torch==VERSION", "pip check", "python -c import torch"],
        ),
    ],
)
def test_the_dockerfile_installs_pytorch_only_if_it_is_wanted(
    tmp_path: Path, wanted: str, index: str, commands: list[str]
) -> None:
    done = run_step(tmp_path, TORCH=wanted, TORCH_INDEX=index)
    assert (done.returncode, done.stderr) == (0, "")
    [version] = INSTALL.findall((ROOT / "Dockerfile").read_text())
    assert done.stdout.splitlines() == [command.replace("VERSION", version) for command in commands]


def test_the_dockerfile_refuses_another_value(tmp_path: Path) -> None:
    done = run_step(tmp_path, TORCH="true", TORCH_INDEX="")
    assert (done.returncode, done.stderr) == (2, "TORCH: expected yes or no, got: true\n")


def run_step(folder: Path, **arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the Dockerfile's command about PyTorch with programs that only print their arguments."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", "")
    [step] = [line.removeprefix("RUN ") for line in text.splitlines() if line.startswith("RUN ") and "torch==" in line]
    for name in ("pip", "python"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (folder / name).chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    return subprocess.run(["sh", "-c", step], env={**path, **arguments}, capture_output=True, text=True, check=False)
