"""Fingerprints of the datasets that a world makes. Each world has a module `fingerprints` with its small datasets."""

import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from generation.engine import ENGINE_VERSION
from generation.engine.content_hash import Fingerprint, dataset_fingerprint
from generation.engine.items import Item
from generation.engine.worlds import get_maker, get_world


def of_datasets(world: str, datasets: Mapping[str, Mapping[str, Any]], *, backwards: bool = False) -> dict[str, Any]:
    """Return what `fingerprints.json` of a world should contain: the fingerprints of these specs, by name."""
    made = {name: of_dataset(world, data, backwards=backwards) for name, data in datasets.items()}
    return {"engine_version": ENGINE_VERSION, "datasets": made}


def of_dataset(world: str, data: Mapping[str, Any], *, backwards: bool = False) -> dict[str, str]:
    """Return the fingerprint of each split of a spec, and that of the dataset under an empty name.

    With `backwards`, chunks and splits are made in reverse order.
    """
    spec, maker, step = get_world(world).read_spec(data), get_maker(world), -1 if backwards else 1
    made: dict[str, list[Item]] = {}
    for split in list(spec.splits)[::step]:
        chunks = {chunk.number: list(maker.make(spec, split, chunk)) for chunk in maker.plan(spec, split)[::step]}
        made[split] = [item for number in sorted(chunks) for item in chunks[number]]
    return of_items(made)


def of_splits(world: str, data: Mapping[str, Any], splits: Collection[str]) -> dict[str, str]:
    """Return the fingerprints of only these splits of a spec."""
    spec, maker = get_world(world).read_spec(data), get_maker(world)
    made = {
        split: [item for chunk in maker.plan(spec, split) for item in maker.make(spec, split, chunk)]
        for split in splits
    }
    return {split: found for split, found in of_items(made).items() if split}


def of_items(made: Mapping[str, list[Item]]) -> dict[str, str]:
    """Return the fingerprint of each split, and that of the dataset under an empty name."""
    found = {}
    for split in sorted(made):
        fingerprint = Fingerprint()
        for item in made[split]:
            scene = item.scene.to_json() if item.scene else None
            fingerprint.add(scene, [question.to_json() for question in item.questions])
        found[split] = fingerprint.hexdigest()
    return found | {"": dataset_fingerprint(found)}


def print_or_write(made: Mapping[str, Any], held: Path) -> None:
    """Write the fingerprints to a file, or print them if the command has the option `--print`."""
    text = json.dumps(made, indent=2) + "\n"
    if "--print" in sys.argv:
        sys.stdout.write(text)
    else:
        held.write_text(text)
