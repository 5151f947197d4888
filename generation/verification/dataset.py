"""Verifying a dataset: everything stored is computed again from scenes and programs, batch by batch.

Other stored data are not trusted: no answer, facet, index, hash or picture. Several processes prove batches. The proof
of a whole split (its rows, content hash and index) combines the results of its batches.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db import connections

from generation.engine.content_hash import dataset_fingerprint
from generation.engine.errors import BadSpec, EngineError
from generation.engine.verification.checks import spread
from generation.engine.verification.duplicates import RepeatCounter
from generation.engine.verification.process_pool import Crew
from generation.engine.verification.train_overlap import NOT_VERIFIED, TrainOverlap
from generation.engine.verification.verdict import Finding, Verdict, outdated_checks
from generation.engine.worlds import get_maker
from generation.models import Chunk, Dataset, Split
from generation.verification.chunk_verifier import BatchTask, ChunkProof, prove_chunk
from generation.verification.derived_splits import prove_derived
from generation.verification.indexes import IndexProof, stated_overlap

Tick = Callable[[int], None]


class VerificationScope(NamedTuple):
    """What is verified: these splits, and `rerender` pictures, which are drawn again."""

    splits: Sequence[Split]
    rerender: int = 0

    @property
    def questions(self) -> int:
        return sum(split.questions for split in self.splits if not split.is_derived)


class SplitFacts(NamedTuple):
    """Data of all splits for the checks that compare splits."""

    overlap: TrainOverlap
    repeats: RepeatCounter
    names: set[str]

    def add(self, split: Split, proof: ChunkProof, *, scenes: int) -> None:
        self.names.add(split.name)
        for name, hashes in proof.keys.hashes.items():
            counts = np.diff(np.array(proof.keys.starts[name], np.int64))
            self.overlap.add(split.name, name, hashes, counts.tolist())
        self.repeats.add(split.name, proof.keys.hashes, items=scenes)


def scope_of(dataset: Dataset, *, names: Sequence[str] = (), rerender: int = 0) -> VerificationScope:
    """Return the splits with these names, or all complete splits; raise `BadSpec` if there is none to verify."""
    complete = [split for split in dataset.splits.for_browse() if split.is_complete]
    known = {split.name: split for split in complete}
    for name in names:
        if name not in known:
            raise BadSpec(
                f"Expected a complete split ({', '.join(known) or 'there is none'}), got {name!r}.", where="--split"
            )
    if not complete:
        raise BadSpec(f"Expected a dataset with a complete split, got one that is {dataset.state}.", where=dataset.slug)
    return VerificationScope([split for split in complete if not names or split.name in names], rerender)


def verify(dataset: Dataset, scope: VerificationScope, *, workers: int = 1, tick: Tick = lambda _: None) -> Verdict:
    """Verify a dataset, and return what is proved and what is wrong.

    Parameters
    ----------
    dataset : Dataset
    scope : VerificationScope
    workers : int
        Number of processes. With 1, this process does the work.
    tick : callable
        Called with the number of questions that were checked since the last call.
    """
    version = dataset.engine_version
    verdict = Verdict(outdated=outdated_checks(dataset.get_world().checks_since, version), engine_version=version)
    _prove_files(dataset, verdict)
    try:
        dataset.read_spec()
    except EngineError as error:
        verdict.find(Finding("", "files", "a spec that can be read", str(error)))
        return verdict
    found: dict[str, str] = {}
    gathered = SplitFacts(TrainOverlap(), RepeatCounter(dataset.get_world()), set())
    again = _chosen(scope)
    if workers > 1:
        connections.close_all()  # each forked process must open its own connections
    with Crew(prove_chunk, size=workers) as crew:
        for split in scope.splits:
            if split.is_derived:
                prove_derived(split, verdict)
            else:
                found[split.name] = _prove_split(
                    split, crew, verdict, gathered, again=again.get(split.pk, ()), tick=tick
                )
    _prove_overlap(scope.splits, gathered, verdict)
    gathered.repeats.note(
        {split.name: _name(split.own_reference) for split in scope.splits if not split.is_derived}, verdict
    )
    _prove_whole(dataset, found, verdict)
    return verdict


def _chosen(scope: VerificationScope) -> dict[int, list[int]]:
    """Return, by the id of each split, the scenes whose pictures are drawn again, evenly spread over all splits."""
    drawn = [split for split in scope.splits if not split.is_derived]
    chosen: dict[int, list[int]] = {}
    wanted = spread(sum(split.scenes for split in drawn), scope.rerender)
    first = 0
    for split in drawn:
        chosen[split.pk] = [number - first for number in wanted if first <= number < first + split.scenes]
        first += split.scenes
    return chosen


def _prove_files(dataset: Dataset, verdict: Verdict) -> None:
    for file in dataset.files.order_by("digest"):
        digest = hashlib.sha256(bytes(file.content)).hexdigest()
        verdict.same("", "files", file.digest, digest, unit="files of the spec", what="SHA-256 ")


def _prove_split(
    split: Split,
    crew: Crew[BatchTask, ChunkProof],
    verdict: Verdict,
    gathered: SplitFacts,
    *,
    again: Sequence[int],
    tick: Tick,
) -> str:
    """Prove everything that is stored about a split; return the content hash of its rows."""
    if split.kind == Split.Kind.GENERATED:
        _prove_plan(split, verdict)
    chunks = list(split.chunks.order_by("number"))
    index = IndexProof(split)
    hashed = hashlib.sha256()
    for (_, chunk, _), proof in crew.prove_all(_tasks(split, chunks, again)):
        verdict.find_all(proof.findings)
        verdict.take(split.name, proof.proof)
        hashed.update(proof.hashed)
        index.add(proof)
        gathered.add(split, proof, scenes=chunk.scenes)
        tick(chunk.questions)
    _prove_counts(split, verdict)
    verdict.same(
        split.name, "hashes", hashed.hexdigest(), split.fingerprint, unit="content hashes", what="content hash "
    )
    index.prove(verdict)
    return hashed.hexdigest()


def _prove_overlap(splits: Sequence[Split], gathered: SplitFacts, verdict: Verdict) -> None:
    """Prove the overlap with train splits that indexes state, after the keys of all splits are collected."""
    for split in splits:
        if not split.seen_digest or split.reference is None or split.is_derived:
            continue
        reference = split.own_reference
        if reference is not None and reference.name in gathered.names:
            gathered.overlap.prove(split.name, reference.name, stated_overlap(split, verdict), verdict)
        else:
            verdict.leave(split.name, NOT_VERIFIED)


def _tasks(split: Split, chunks: Sequence[Chunk], again: Sequence[int]) -> Iterator[BatchTask]:
    for chunk in chunks:
        last = chunk.first_scene + chunk.scenes
        yield BatchTask(split, chunk, tuple(scene for scene in again if chunk.first_scene <= scene < last))


def _prove_plan(split: Split, verdict: Verdict) -> None:
    """Prove that a split's batches, withholding, secret and reference are those of the spec."""
    spec, name = split.dataset.read_spec(), split.name
    if name not in spec.splits:
        verdict.find(Finding(name, "rows", f"a split of the spec ({', '.join(spec.splits)})", name))
        return
    planned = [tuple(chunk) for chunk in get_maker(split.dataset.world).plan(spec, name)]
    fields = ("number", "first_scene", "scenes", "first_question", "questions")
    stored = [tuple(row) for row in split.chunks.order_by("number").values_list(*fields)]
    for number, (expected, came) in enumerate(zip(planned, stored, strict=False)):
        verdict.same(name, "rows", expected, came, unit="batches", what=f"batch {number} (number, scenes, questions) ")
    verdict.same(name, "rows", len(planned), len(stored), unit="figures", what="batches: ")
    sums = sum(chunk[2] for chunk in planned), sum(chunk[4] for chunk in planned)
    verdict.same(name, "rows", sums, (split.scenes, split.questions), unit="figures", what="scenes and questions ")
    is_withheld = spec.splits[name].withheld and split.opened is None
    verdict.same(name, "rows", is_withheld, split.withheld, unit="figures", what="answers withheld: ")
    verdict.same(name, "rows", spec.reference_of(name), _name(split.own_reference), unit="figures", what="reference ")
    if split.secret:
        digest = hashlib.sha256(split.secret_bytes).hexdigest()
        verdict.same(name, "hashes", digest, split.secret_sha256, unit="secrets", what="SHA-256 of the secret ")


def _name(split: Split | None) -> str | None:
    return None if split is None else split.name


def _prove_counts(split: Split, verdict: Verdict) -> None:
    """Prove that there are no rows in addition to those of the batches."""
    for what, rows, expected in (
        ("scenes", split.scene_set, split.scenes),
        ("questions", split.question_set, split.questions),
    ):
        verdict.same(split.name, "rows", expected, rows.count(), unit="figures", what=f"rows of {what}: ")


def _prove_whole(dataset: Dataset, found: dict[str, str], verdict: Verdict) -> None:
    """Prove the dataset's content hash, and that it has all splits of its spec."""
    rows = list(dataset.splits.own())
    spec = dataset.read_spec()
    names = sorted(row.name for row in rows)
    verdict.same("", "rows", sorted(spec.splits), names, unit="figures", what="splits ")
    if {row.name for row in rows} <= set(found):
        whole = dataset_fingerprint(found)
        verdict.same(
            "", "hashes", whole, dataset.fingerprint, unit="content hashes", what="the dataset's content hash "
        )
    else:
        verdict.leave("", "the dataset's content hash, for which all splits are needed")
