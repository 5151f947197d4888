"""Files of models: weights as safetensors, and JSON beside them. Nothing is read by pickle."""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from generation.engine.errors import BadTraining

ABOUT = ".json"


def write_model(path: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write arrays and JSON to two files of the same name, each completely or not at all.

    The weights are written last, so a model is complete if the file of the weights exists.

    Parameters
    ----------
    path : Path
        The file of the weights, which ends in `.safetensors`. The JSON file has the ending `.json`.
    arrays : mapping of str to ndarray
    about : mapping
        Values that JSON can hold.
    """
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path.with_suffix(ABOUT), json.dumps(about, indent=1, sort_keys=True).encode())
    write_whole(path, save(whole))


def read_model(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the JSON that `write_model` wrote; raise `BadTraining` if a file is missing or damaged."""
    beside = path.with_suffix(ABOUT)
    try:
        about = json.loads(beside.read_bytes())
    except (OSError, ValueError) as error:
        raise BadTraining(f"Expected the JSON of a model, got: {error}", where=beside.name) from error
    try:
        arrays = load(path.read_bytes())
    except (OSError, SafetensorError, ValueError) as error:
        raise BadTraining(f"Expected the weights of a model, got: {error}", where=path.name) from error
    if not isinstance(about, dict):
        raise BadTraining("Expected an object in the JSON of a model, got something else.", where=beside.name)
    return arrays, about


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is complete whenever it exists, even after a crash.

    The temporary file has the name of a draft, so that housekeeping deletes it if this process is killed.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
