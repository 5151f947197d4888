"""Makes a release: checks that everything agrees, builds the engine, proves the wheel, and tags the commit.

`make release` runs `python -m tests.release --builder PYTHON`, in which PYTHON has the setuptools that builds. The tag
is the last step and is not pushed. `--check` stops after the checks.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r'^__version__ = "(\d+\.\d+\.\d+)"$', re.MULTILINE)
SECTION = re.compile(r"^## (\d+\.\d+\.\d+)(?: \((.*)\))?$", re.MULTILINE)
CITED = re.compile(r"^(version|date-released): *\"?([^\"\n]*)\"?$", re.MULTILINE)
TAG = re.compile(r"\bv(\d+\.\d+\.\d+)\b")
RELEASED = "webapp/backups/released_migrations.py"
PACKAGES = {"annotations", "generation", "webapp"}
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
PROOF = """
import sys
import generation.engine
from generation.engine import ENGINE_VERSION, stream
from generation.engine.release import __version__
spec = {"base": "clevr-mini", "images": {"width": 64, "height": 64, "samples": 1}, "scene": {"min_pixels": 0}}
batch = next(stream(spec, "val", 2))
assert batch.images.shape == (2, 64, 64, 3) and "django" not in sys.modules
print(generation.engine.__file__, __version__, ENGINE_VERSION)
"""


class Built(NamedTuple):
    wheel: Path
    sdist: Path


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command and return its output; the errors of a failed command are printed."""
    ended = subprocess.run(
        [*map(str, command)], cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        raise SystemExit(f"Expected `{' '.join(map(str, command[:4]))}` to succeed, got:\n{ended.stdout}{ended.stderr}")
    return ended.stdout.strip()


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


# Checks


def version_of(root: Path) -> str:
    [version] = VERSION.findall((root / "generation/engine/release.py").read_text(encoding="utf-8"))
    return str(version)


def sections_of(root: Path) -> list[tuple[str, str]]:
    """Return the versions in the changelog and their dates, the newest first."""
    return SECTION.findall((root / "CHANGELOG.md").read_text(encoding="utf-8"))


def tags_of(root: Path) -> list[str]:
    """Return the versions that are tagged."""
    names = run("git", "tag", "--list", "v*", cwd=root).split()
    return [name[1:] for name in names if re.fullmatch(r"v\d+\.\d+\.\d+", name)]


def complaints(root: Path) -> Iterator[str]:
    """Yield everything that keeps the present commit from being a release."""
    if changed := run("git", "status", "--porcelain", cwd=root):
        yield f"Expected no uncommitted changes, got {len(changed.splitlines())}: {changed.splitlines()[0].strip()}."
    version, tags = version_of(root), tags_of(root)
    last = max(tags, key=number, default="")
    if version in tags:
        yield f"Expected a version without a tag, got {version}: the tag v{version} exists."
    elif last and number(version) < number(last):
        yield f"Expected a version above {last}, the last tag, got {version} in generation/engine/release.py."
    yield from files_that_disagree(root)


def files_that_disagree(root: Path) -> Iterator[str]:
    """Yield what CHANGELOG.md, CITATION.cff and the documentation say differently from the version of the program."""
    version, sections = version_of(root), sections_of(root)
    day = dict(sections).get(version, "")
    if not sections or sections[0][0] != version:
        found = sections[0][0] if sections else "none"
        yield f"Expected CHANGELOG.md to begin with a section {version}, got {found}."
    elif not _is_day(day):
        yield f"Expected the section `## {version} (YYYY-MM-DD)` in CHANGELOG.md, got {day or 'no date'}."
    cited = dict(CITED.findall(_read(root / "CITATION.cff")))
    for name, expected in (("version", version), ("date-released", day)):
        if cited.get(name) != expected:
            yield f"Expected {name}: {expected} in CITATION.cff, got {cited.get(name, 'none')}."
    listed, last = _listed_migrations(root).get(version), last_migrations(root)
    if listed != last:
        yield f'Expected "{version}": {json.dumps(last)} in {RELEASED}, got {json.dumps(listed) if listed else "none"}.'
    known = {*tags_of(root), version}
    for path in (root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "webapp/docs").glob("*.md"))):
        for named in sorted({*TAG.findall(_read(path))} - known):
            yield f"Expected tags that exist in {path.relative_to(root)}, got v{named}."


def last_migrations(root: Path) -> dict[str, str]:
    """Return the last migration of each app."""
    names = sorted(root.glob("**/migrations/[0-9]*.py"))
    return {path.parent.parent.name: path.stem for path in names if path.relative_to(root).parts[0] in PACKAGES}


def _listed_migrations(root: Path) -> dict[str, dict[str, str]]:
    listed: dict[str, dict[str, str]] = runpy.run_path(str(root / RELEASED))["RELEASED"]
    return listed


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text) is not None
    except ValueError:
        return False


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# Building


def build(root: Path, home: Path, *, builder: Path) -> Built:
    """Build the source archive from the commit alone, and the wheel from that archive, with the time of the commit."""
    source, out = home / "source", home / "out"
    source.mkdir(parents=True)
    out.mkdir()
    epoch = run("git", "log", "-1", "--format=%ct", cwd=root)
    with (home / "commit.tar").open("wb") as packed:
        subprocess.run(["git", "archive", "--format=tar", "HEAD"], cwd=root, stdout=packed, check=True)
    run("tar", "--extract", "--file", home / "commit.tar", cwd=source)
    name = run(builder, "-c", BUILD, "build_sdist", out, cwd=source, SOURCE_DATE_EPOCH=epoch).splitlines()[-1]
    sdist = out / name
    _make_reproducible(sdist, int(epoch))
    run("tar", "--extract", "--file", sdist, cwd=home)
    unpacked = home / name.removesuffix(".tar.gz")
    wheel = run(builder, "-c", BUILD, "build_wheel", out, cwd=unpacked, SOURCE_DATE_EPOCH=epoch).splitlines()[-1]
    return Built(out / wheel, sdist)


def _make_reproducible(path: Path, epoch: int) -> None:
    """Write a source archive again, with its members in order and without the time and the user of the build."""
    buffer = io.BytesIO()
    with tarfile.open(path) as old, tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            content = old.extractfile(member) if member.isreg() else None
            member.mtime, member.uid, member.gid, member.uname, member.gname, member.pax_headers = (
                epoch,
                0,
                0,
                "",
                "",
                {},
            )
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(member, content)
    path.write_bytes(gzip.compress(buffer.getvalue(), mtime=epoch))


def prove(wheel: Path, home: Path) -> str:
    """Install the wheel into an empty environment, generate a batch of data there, and return what it printed.

    The packages that the engine needs are those of this Python, in the versions of the lock file.
    """
    python = home / "new/bin/python"
    run(sys.executable, "-m", "venv", "--without-pip", home / "new", cwd=home)
    options = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel, cwd=home)
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site, packages = (Path(run(one, "-c", purelib, cwd=home)) for one in (python, sys.executable))
    (site / "locked.pth").write_text(f"{packages}\n")
    said = run(python, "-c", PROOF, cwd=home)
    where, version, engine = said.rsplit(" ", 2)
    if not Path(where).is_relative_to(home / "new") or version != wheel.name.split("-")[1]:
        raise SystemExit(f"Expected the engine of {wheel.name} in the new environment, got {said}.")
    return f"release {version} (engine {engine})"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Check, build, prove and tag a release.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    parser.add_argument("--builder", type=Path, default=Path(sys.executable), help="a Python with setuptools")
    parser.add_argument("--check", action="store_true", help="only check")
    options = parser.parse_args(arguments)
    root: Path = options.root.resolve()
    if found := [*complaints(root)]:
        raise SystemExit("\n".join(found))
    version = version_of(root)
    sys.stdout.write(f"Version {version}, changelog, citation, documentation and tags agree.\n")
    if options.check:
        return
    with tempfile.TemporaryDirectory(prefix="horsesense-release-") as folder:
        first, second = (build(root, Path(folder, name), builder=options.builder) for name in ("first", "second"))
        for one, other in zip(first, second, strict=True):
            if sha256(one) != sha256(other):
                raise SystemExit(f"Expected the same bytes from two builds, got two versions of {one.name}.")
        proof = prove(first.wheel, Path(folder))
        (root / "dist").mkdir(exist_ok=True)
        for path in first:
            sys.stdout.write(f"{sha256(path)}  {shutil.copy(path, root / 'dist')}\n")
    sys.stdout.write(f"The wheel makes data in an empty environment: {proof}.\n")
    run("git", "tag", "--annotate", f"v{version}", "--message", f"Horsesense {version}", cwd=root)
    sys.stdout.write(f"Tagged v{version}. To publish it: git push origin v{version}\n")


if __name__ == "__main__":
    main()
