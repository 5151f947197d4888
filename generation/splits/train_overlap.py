"""Overlap with the train split: which questions of a split have all their keys in the reference.

This is a second pass over the indexes, after both splits are sealed in any order. Its result is a second part of the
split's index, in a folder inside the index that is named by its own content. Therefore deleting an index deletes both
parts, and files that readers have open never change. Running it again gives the same result.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import Facet, Needs
from generation.models import Split
from generation.queue.leases import Lease, NoLease
from generation.splits.sealing import NO_LEASE, Draft, facet_entry, save
from generation.storage import files
from generation.storage.question_hashes import seen_codes
from generation.storage.split_index import FORMAT, MANIFEST, SplitIndex


def train_facets(split: Split) -> tuple[Facet, ...]:
    """Return the facets of a split that need its train split; none if it has no train split."""
    if split.reference_id is None:
        return ()
    facets = split.dataset.get_world().facets(split.read_spec())
    return tuple(facet for facet in facets if facet.needs == Needs.TRAIN)


def compare(split: Split, lease: Lease | NoLease = NO_LEASE) -> str:
    """Compute and store the overlap of a split with its reference, both sealed; return the digest.

    The digest is empty if one of the splits was sealed by an earlier release without keys. Raises `LeaseLost` if
    another process has taken over.
    """
    with Draft(split, lease) as draft:
        entries: list[dict[str, Any]] = []
        for facet, codes in _compared(split):
            lease.check()
            entries.append(facet_entry(facet, file=f"seen_{len(entries):02d}.npy"))
            save(draft.folder / entries[-1]["file"], codes)
        if not entries:
            return ""
        manifest = {"format": FORMAT, "split": split.pk, "facets": entries}
        files.write_synced(draft.folder / MANIFEST, json.dumps(manifest, ensure_ascii=False).encode())
        digest = draft.digest()
        lease.confirm()
        draft.publish(f"{split.index_digest}/{digest}")
    return digest


def _compared(split: Split) -> Iterator[tuple[Facet, NDArray[np.uint8]]]:
    """Yield each facet whose keys both indexes have, with the codes of the questions."""
    facets = train_facets(split)
    if split.reference is None or not facets:
        return
    mine, theirs = SplitIndex.open(split).keys, SplitIndex.open(split.reference).keys
    for facet in facets:
        if facet.name in mine and facet.name in theirs:
            yield facet, seen_codes(mine[facet.name], theirs[facet.name])
