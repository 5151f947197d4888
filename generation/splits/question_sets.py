"""Derived splits: a choice of a sealed split's questions, by a recipe, with a name and an index of their own.

They own no scene, image or answer. Their index has, for each question, its position in the parent; everything else in
it is taken from the parent's index, so filters, counts and charts work as for any split.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.urls import resolve, reverse

from generation import extensions
from generation.engine.canonical import Fingerprint
from generation.engine.errors import BadScene
from generation.engine.spec import RESERVED_SPLITS
from generation.models import Dataset, Job, Split, Turn
from generation.queue import leases
from generation.splits import sealing
from generation.splits.recipes import BadRecipe, Chooser, Positions, Recipe, in_words, plain_filter, read_recipe
from generation.storage import files
from generation.storage.index import FOLDER, FORMAT, MANIFEST, POSITIONS, NotIndexed, SplitIndex
from generation.storage.items import load_chosen

NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,39}")  # as splits are called in specs
MOST = 200  # derived splits of one dataset
AT_ONCE = 5000  # questions of which a derived split is made while somebody waits


class ChosenQuestions(NamedTuple):
    """What a recipe gives: the recipe in its plain form, and positions in the parent."""

    recipe: Recipe
    positions: Positions


def choose(parent: Split, recipe: Recipe) -> ChosenQuestions:
    """Return which questions of a sealed split a recipe takes; raise `BadRecipe` where it can't be followed."""
    check_parent(parent)
    index = SplitIndex.open(parent)
    chooser = Chooser(parent, index)
    positions = chooser.choose(recipe)
    plain = plain_filter(chooser.read_filter(recipe.filter))
    return ChosenQuestions(recipe.model_copy(update={"filter": plain}), positions)


def check_parent(parent: Split) -> None:
    """Raise `BadRecipe` for a split that nothing can be derived from."""
    if parent.is_derived:
        raise BadRecipe(
            f"Expected a split with questions of its own, got {parent}, which is derived. Derive from "
            f"{parent.source}: one recipe takes a filter, shares and a sample together.",
            where="parent",
        )
    if not parent.is_complete or parent.dataset.state != Dataset.State.COMPLETE:
        state = parent.state if not parent.is_complete else f"of a dataset that is {parent.dataset.state}"
        raise BadRecipe(f"Expected a complete split of a complete dataset, got {parent}, {state}.", where="parent")


def check_name(name: str, *, dataset: Dataset) -> None:
    """Raise `BadRecipe` for what can't be the name of another split."""
    if not NAME.fullmatch(name):
        raise BadRecipe(
            f"Expected a letter, then letters, digits, - and _, 40 characters at most, got {name[:60]!r}.", where="name"
        )
    if name in RESERVED_SPLITS:
        raise BadRecipe(f"Expected another name than {', '.join(sorted(RESERVED_SPLITS))}, got {name!r}.", where="name")
    if dataset.splits.filter(name=name).exists():
        raise _taken(name)
    if resolve(reverse("split", args=[dataset.slug, name])).view_name != "split":
        raise BadRecipe(f"Expected another name, got {name!r}: its address is that of another page.", where="name")


def create(parent: Split, *, name: str, recipe: Recipe) -> Job:
    """Return the job that makes a new derived split; nothing is stored where `BadRecipe` is raised."""
    check_name(name, dataset=parent.dataset)
    choice = choose(parent, recipe)
    scenes = SplitIndex.open(parent).scenes[choice.positions]
    try:
        with transaction.atomic():
            dataset = Dataset.objects.select_for_update().get(pk=parent.dataset_id)
            fresh = Split.objects.get(pk=parent.pk)  # its answers may have been opened meanwhile
            fresh.dataset = dataset
            check_parent(fresh)
            split = Split.objects.create(
                dataset=dataset,
                name=name,
                ordinal=_next_ordinal(dataset),
                kind=Split.Kind.DERIVED,
                withheld=fresh.withheld,
                opened=fresh.opened,
                reference_id=fresh.reference_id,
                parent=fresh,
                recipe=choice.recipe.to_json(),
                scenes=len(np.unique(scenes)),
                questions=len(choice.positions),
            )
            job = Job.objects.create(kind=Job.Kind.DERIVE, dataset=dataset, split=split)
            Turn.objects.offer(dataset.pk)
            return job
    except IntegrityError as error:
        raise _taken(name) from error


def _taken(name: str) -> BadRecipe:
    return BadRecipe(f"Expected a new name, got {name!r}, which is a split of this dataset.", where="name")


def _next_ordinal(dataset: Dataset) -> int:
    if dataset.splits.filter(kind=Split.Kind.DERIVED).count() >= MOST:
        raise BadRecipe(f"Expected at most {MOST} derived splits in a dataset, got one more. Delete one.", where="name")
    return int(dataset.splits.aggregate(last=Max("ordinal"))["last"]) + 1


def make(split: Split, lease: leases.Lease | leases.NoLease = sealing.NO_LEASE) -> sealing.Sealed:
    """Return the fingerprint of a derived split and the digest of its index, now stored.

    Raises `LeaseLost` where somebody else has the work by now, `BadScene` where a row is missing.
    """
    index = SplitIndex.open(split.source)
    positions = choose(split.source, read_recipe(split.recipe)).positions
    fingerprint = _fingerprint(split, index, positions, check=lease.check)
    with sealing.Draft(split, lease) as draft:
        write_index(draft.folder, split, index=index, positions=positions)
        digest = draft.digest()
        with transaction.atomic():  # noted before it is stored: whoever deletes the split knows of it
            lease.confirm()
            Split.objects.filter(pk=split.pk).update(index_digest=digest)
        draft.publish(digest)
    return sealing.Sealed(fingerprint, digest)


def _fingerprint(split: Split, index: SplitIndex, positions: Positions, *, check: Callable[[], None]) -> str:
    """Return the content hash of some questions: of each scene that they are about, then of these of its questions."""
    fingerprint, questions = Fingerprint(), 0
    for stored in load_chosen(split.source, positions, scenes=index.scenes[positions]):
        check()
        fingerprint.add(stored.scene.scene_json, (question.to_json() for question in stored.item.questions))
        questions += len(stored.questions)
    if questions != len(positions):
        raise BadScene(f"Expected {len(positions)} questions, got {questions}.", where=str(split))
    return fingerprint.hexdigest()


def write_index(folder: Path, split: Split, *, index: SplitIndex, positions: Positions) -> None:
    """Write the index of some of another's questions into an empty folder; the manifest says what is in it."""
    entries = []
    for number, facet in enumerate(index.facets.values()):
        entries.append(sealing.facet_entry(facet, file=f"facet_{number:02d}.npy"))
        sealing.save(folder / entries[-1]["file"], facet.codes[positions])
    sealing.save(folder / POSITIONS, positions.astype(np.int32))
    sealing.save(folder / "answers.npy", index.answers[positions])
    sealing.save(folder / "scenes.npy", index.scenes[positions])
    words = index.words_of(positions)
    sealing.save(folder / "word_starts.npy", words.starts)
    sealing.save(folder / "word_postings.npy", words.postings)
    sources = index.sources_of(positions)
    if sources is not None:
        sealing.save(folder / "sources.npy", sources)
    manifest = {
        "format": FORMAT,
        "split": split.pk,  # two splits never share an index: one can be deleted without the other
        "derived": True,
        "n": len(positions),
        "facets": entries,
        "answers": list(index.answer_values),
        "words": words.vocabulary,
        "sources": sources is not None,
    }
    files.write_synced(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False).encode())


def drop_late_index(digest: str) -> None:
    """Delete an index that was stored for a split which was deleted meanwhile; leave one that is in use alone."""
    if not Split.objects.filter(index_digest=digest).exists():
        files.drop_folder(f"{FOLDER}/{digest}")


def remove(split: Split) -> None:
    """Delete a derived split, whatever its state; raise `Referred` where something needs it.

    Its files go before its row: a crash leaves a split that can be deleted again. Raises `BadRecipe` for a split of
    another kind.
    """
    if not split.is_derived:
        raise BadRecipe(f"Expected a derived split, got {split}: it goes with its dataset alone.", where="split")
    with transaction.atomic():
        Split.objects.select_for_update().filter(pk=split.pk).update(state=Split.State.FAILED)
        extensions.check_split_unreferred(split)
        extensions.release(Split.objects.filter(pk=split.pk))
        split.jobs.all().delete()
    sealing.drop_drafts(split)
    split.refresh_from_db(fields=["index_digest"])
    if split.index_digest:
        files.drop_folder(f"{FOLDER}/{split.index_digest}")
    split.delete()


def described(split: Split) -> str:
    """Return which questions a derived split has, in words."""
    recipe = read_recipe(split.recipe)
    try:
        index = SplitIndex.open(split.source)
    except (NotIndexed, OSError):  # the page shows what is left
        index = None
    return in_words(recipe, n=split.questions, parent=split.source, index=index)
