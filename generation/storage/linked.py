"""Pictures that stay where somebody else keeps them: below one folder of this machine, never written, never deleted."""

from pathlib import Path, PurePath

from generation.models import Dataset, Scene
from generation.storage import files

TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def path_of(scene: Scene, dataset: Dataset) -> Path:
    """Return where a scene's linked picture lies; raise `FileNotFoundError` for a path that leads elsewhere."""
    home, name = Path(dataset.images_folder), PurePath(scene.linked)
    if not scene.linked or not dataset.images_folder or name.is_absolute() or ".." in name.parts:
        raise FileNotFoundError(f"Expected a picture below {home}, got {scene.linked!r}.")
    return home / name


def picture_bytes(scene: Scene, dataset: Dataset) -> bytes:
    """Return a scene's picture as it is stored, or as it is linked; raise `FileNotFoundError` where it is lost."""
    return path_of(scene, dataset).read_bytes() if scene.linked else files.get(scene.image)


def type_of(name: str) -> str:
    """Return what a picture's file is, by its name."""
    return TYPES.get(PurePath(name).suffix.lower(), "image/png")
