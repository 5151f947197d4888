"""A small CLEVR dataset for tests, made in under a second."""

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generation.making import dataset_jobs
from generation.models import Dataset, Scene
from generation.storage import files
from tests.generation.complete_datasets import finish, stored_again
from webapp.models import User

SPEC: dict[str, Any] = {
    "world": "clevr",
    "title": "Some shapes",
    "splits": {
        "train": {"scenes": 4},
        "val": {"scenes": 2},
        "test": {"scenes": 2, "withheld": True},
    },
    "images": {"width": 120, "height": 80, "samples": 1},
    "scene": {"min_pixels": 0},
    "questions": {"per_scene": 4},
}
SECRET = "0f" * 16


def begun(slug: str = "shapes", *, visibility: str = "public", with_images: bool = True, **changes: Any) -> Dataset:
    """Begin a dataset and leave its jobs waiting; `changes` replace parameters at the top level of the spec."""
    owner, files = changes.pop("owner", None), changes.pop("files", {})
    spec = {**SPEC, **changes}
    secrets = {name: SECRET for name, split in spec["splits"].items() if split.get("withheld")}
    return dataset_jobs.start(
        spec, slug=slug, visibility=visibility, images=with_images, owner=owner, secrets=secrets, files=files
    )


def made(slug: str = "shapes", *, owner: User | None = None, **changes: Any) -> Dataset:
    """Return a complete dataset. A process makes it once for each spec and later stores it again."""
    if "files" in changes:
        return finish(begun(slug, owner=owner, **changes))
    key = json.dumps([slug, changes])
    dataset = stored_again(lambda: finish(begun(slug, **changes)), key=key)
    if owner is not None:
        dataset.owner = owner
        dataset.save(update_fields=["owner"])
    return dataset


def read_ids(scene: Scene) -> NDArray[np.uint16]:
    """Return a scene's object ids, shape `(height, width)`, 0 where no object is."""
    with Image.open(io.BytesIO(files.get(scene.ids_image))) as image:
        return np.asarray(image, np.uint16)
