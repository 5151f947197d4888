"""Derived splits: a selection of a sealed split's questions by a recipe, with a name and an index.

They have no scenes, pictures or answers of their own. Their index contains each question's position in the parent; the
rest is copied from the parent's index, so that filters, counts and charts work as for any split.
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

from generation import extension_points
from generation.engine.content_hash import Fingerprint
from generation.engine.errors import BadScene
from generation.engine.spec import RESERVED_SPLITS
from generation.models import Dataset, Job, Split, Turn
from generation.queue import leases
from generation.splits import sealing
from generation.splits.split_recipes import BadRecipe, Chooser, Positions, Recipe, in_words, plain_filter, read_recipe
from generation.storage import files
from generation.storage.canonical_lines import canonical_lines
from generation.storage.split_index import FOLDER, FORMAT, MANIFEST, POSITIONS, NotIndexed, SplitIndex

NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,39}")  # the form of split names in specs
MOST = 200  # derived splits per dataset
AT_ONCE = 5000  # largest derived split that is made during a request


class ChosenQuestions(NamedTuple):
    recipe: Recipe  # in canonical form
    positions: Positions  # in the parent


def choose(parent: Split, recipe: Recipe) -> ChosenQuestions:
    """Return the questions of a sealed split that a recipe selects; raise `BadRecipe` if it cannot be applied."""
    check_parent(parent)
    index = SplitIndex.open(parent)
    chooser = Chooser(parent, index)
    positions = chooser.choose(recipe)
    plain = plain_filter(chooser.read_filter(recipe.filter))
    return ChosenQuestions(recipe.model_copy(update={"filter": plain}), positions)


def check_parent(parent: Split) -> None:
    """Raise `BadRecipe` if nothing can be derived from this split."""
    if parent.is_derived:
        raise BadRecipe(
            f"Expected a split that is not a question set, got {parent}. Make the question set from {parent.source}: "
            "one question set can have a filter, shares and a sample together.",
            where="parent",
        )
    if not parent.is_complete or parent.dataset.state != Dataset.State.COMPLETE:
        state = (
            f"whose state is {parent.state}"
            if not parent.is_complete
            else f"of a dataset whose state is {parent.dataset.state}"
        )
        raise BadRecipe(f"Expected a complete split of a complete dataset, got {parent}, {state}.", where="parent")


def check_name(name: str, *, dataset: Dataset) -> None:
    """Raise `BadRecipe` if this cannot be the name of a new split."""
    if not NAME.fullmatch(name):
        raise BadRecipe(
            f"Expected a letter, then letters, digits, - and _, at most 40 characters, got {name[:60]!r}.", where="name"
        )
    if name in RESERVED_SPLITS:
        raise BadRecipe(f"Expected another name than {', '.join(sorted(RESERVED_SPLITS))}, got {name!r}.", where="name")
    if dataset.splits.filter(name=name).exists():
        raise _taken(name)
    if resolve(reverse("split", args=[dataset.slug, name])).view_name != "split":
        raise BadRecipe(f"Expected another name, got {name!r}: another page has its address.", where="name")


def create(parent: Split, *, name: str, recipe: Recipe, reference: Split | None = None) -> Job:
    """Create a derived split and return the job that makes it. If `BadRecipe` is raised, nothing is stored.

    By default, the reference of the new split is that of its parent.
    """
    check_name(name, dataset=parent.dataset)
    choice = choose(parent, recipe)
    scenes = SplitIndex.open(parent).scenes[choice.positions]
    try:
        with transaction.atomic():
            dataset = Dataset.objects.select_for_update().get(pk=parent.dataset_id)
            fresh = Split.objects.get(pk=parent.pk)  # its answers may have been opened since
            fresh.dataset = dataset
            check_parent(fresh)
            split = Split.objects.create(
                dataset=dataset,
                name=name,
                ordinal=_next_ordinal(dataset),
                kind=Split.Kind.DERIVED,
                withheld=fresh.withheld,
                opened=fresh.opened,
                reference_id=fresh.reference_id if reference is None else reference.pk,
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
        raise BadRecipe(f"Expected at most {MOST} question sets in a dataset, got one more. Delete one.", where="name")
    return int(dataset.splits.aggregate(last=Max("ordinal"))["last"]) + 1


def make(split: Split, lease: leases.Lease | leases.NoLease = sealing.NO_LEASE) -> sealing.SealedSplit:
    """Build and store the index of a derived split; return its fingerprint and the digest of the index.

    Raises `LeaseLost` if another process has taken over, and `BadScene` if a row is missing.
    """
    index = SplitIndex.open(split.source)
    positions = choose(split.source, read_recipe(split.recipe)).positions
    fingerprint = _fingerprint(split, index, positions, check=lease.check)
    with sealing.Draft(split, lease) as draft:
        write_index(draft.folder, split, index=index, positions=positions)
        digest = draft.digest()
        with transaction.atomic():  # saved before publishing, so that deleting the split also finds the index
            lease.confirm()
            Split.objects.filter(pk=split.pk).update(index_digest=digest)
        draft.publish(digest)
    return sealing.SealedSplit(fingerprint, digest)


def _fingerprint(split: Split, index: SplitIndex, positions: Positions, *, check: Callable[[], None]) -> str:
    """Return the content hash of these questions: for each of their scenes, the scene and then its questions."""
    fingerprint, questions = Fingerprint(), 0
    for count, lines in canonical_lines(split.source, positions, scenes=index.scenes[positions]):
        check()
        fingerprint.add_lines(lines)
        questions += count
    if questions != len(positions):
        raise BadScene(f"Expected {len(positions)} questions, got {questions}.", where=str(split))
    return fingerprint.hexdigest()


def write_index(folder: Path, split: Split, *, index: SplitIndex, positions: Positions) -> None:
    """Write the index of some of another split's questions into an empty folder, with a manifest."""
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
    if index.boxes is not None:
        sealing.save_boxes(folder, index.boxes.at(positions))
    manifest = {
        "format": FORMAT,
        "split": split.pk,  # so that no two splits share an index, and each can be deleted alone
        "derived": True,
        "n": len(positions),
        "facets": entries,
        "answers": list(index.answer_values),
        "words": words.vocabulary,
        "sources": sources is not None,
        **({} if index.boxes is None else {"boxes": True}),
    }
    files.write_synced(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False).encode())


def drop_late_index(digest: str) -> None:
    # The index was stored after its split had been deleted. An index in use is kept.
    if not Split.objects.filter(index_digest=digest).exists():
        files.drop_folder(f"{FOLDER}/{digest}")


def remove(split: Split) -> None:
    """Delete a derived split in any state; raise `Referred` if something still needs it.

    Its files are deleted before its row, so after a crash the split can be deleted again. Raises `BadRecipe` for other
    kinds of splits.
    """
    if not split.is_derived:
        raise BadRecipe(f"Expected a question set, got {split}, which is deleted only with its dataset.", where="split")
    with transaction.atomic():
        Split.objects.select_for_update().filter(pk=split.pk).update(state=Split.State.FAILED)
        extension_points.check_split_unreferred(split)
        extension_points.release(Split.objects.filter(pk=split.pk))
        split.jobs.all().delete()
    sealing.drop_drafts(split)
    split.refresh_from_db(fields=["index_digest"])
    if split.index_digest:
        files.drop_folder(f"{FOLDER}/{split.index_digest}")
    split.delete()


def describe_shift(split: Split) -> str:
    """Return the true share of the questions that a rule of parity has thinned out; empty without such a rule."""
    recipe = read_recipe(split.recipe)
    if recipe.parity is None:
        return ""
    index, own = SplitIndex.open(split.source), SplitIndex.open(split)
    before = Chooser(split.source, index).choose(recipe.model_copy(update={"parity": None}))
    rare = "even" if recipe.parity.kept == "odd" else "odd"
    others = [
        code for code, text in enumerate(index.answer_values) if text.isdecimal() and int(text) % 2 == (rare == "odd")
    ]
    kept, of = (int(np.isin(codes, others).sum()) for codes in (own.answers, index.answers[before]))
    share = f" ({100 * kept / of:.0f} %)" if of else ""
    return f"{kept:,} of {of:,} questions with {rare} answers are kept{share}"


def describe_recipe(split: Split) -> str:
    """Return a description of the questions of a derived split."""
    recipe = read_recipe(split.recipe)
    try:
        index = SplitIndex.open(split.source)
    except (NotIndexed, OSError):  # without the index, the description names values as addresses do
        index = None
    return in_words(recipe, n=split.questions, parent=split.source, index=index)
