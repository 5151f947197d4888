"""The version of styles and scripts. It is part of their URLs, so that browsers may cache them permanently."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def version_of(places: Iterable[Path]) -> str:
    """Return 16 hexadecimal digits that change whenever one of the files, or a file in one of the folders, changes."""
    found = hashlib.sha256()
    for place in places:
        for path in sorted(place.rglob("*") if place.is_dir() else [place]):
            if path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                found.update(f"{path.relative_to(place.parent).as_posix()} {content}\n".encode())
    return found.hexdigest()[:16]
