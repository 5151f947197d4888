"""Proving derived splits: the recipe must give their questions, and everything else must equal the parent."""

import hashlib

import numpy as np

from generation.engine.content_hash import canonical
from generation.engine.errors import EngineError
from generation.engine.verification.verdict import Finding, Verdict
from generation.models import Split
from generation.splits.question_sets import choose
from generation.splits.split_recipes import read_recipe
from generation.storage.items import load_chosen
from generation.storage.split_index import SplitIndex
from generation.verification.index_columns import BROKEN, open_fresh
from generation.verification.indexes import prove_digests


def prove_derived(split: Split, verdict: Verdict) -> None:
    """Prove a derived split with its recipe and with its parent's rows and index, which are proved separately."""
    name = split.name
    try:
        prove_digests(split, verdict)
        index, parent = open_fresh(split), open_fresh(split.source)
        if index is None or parent is None or index.positions is None:
            verdict.find(Finding(name, "recipe", "an index of its own and of its parent", "one that can't be read"))
            return
        positions = choose(split.source, read_recipe(split.recipe)).positions
        _prove_positions(split, index, np.asarray(positions), verdict)
        _prove_index(split, index, parent, verdict)
        hashed = _hash(split, index)
    except (EngineError, *BROKEN) as error:
        verdict.find(Finding(name, "recipe", "a recipe that can be followed again", str(error)))
        return
    verdict.same(name, "hashes", hashed, split.fingerprint, unit="content hashes", what="content hash ")


def _prove_positions(split: Split, index: SplitIndex, expected: np.ndarray, verdict: Verdict) -> None:
    assert index.positions is not None
    came = np.asarray(index.positions)
    verdict.same(split.name, "recipe", len(expected), len(came), unit="recipes", what="questions: ")
    size = min(len(expected), len(came))
    wrong = np.flatnonzero(expected[:size] != came[:size])
    for at in wrong.tolist():
        said = f"question {expected[at]} of {split.source.name}"
        verdict.find(Finding(split.name, "recipe", said, f"question {came[at]}", None, at))
    verdict.prove(split.name, "recipe", size - len(wrong), unit="questions")
    counts = len(np.unique(index.scenes)), len(came)
    verdict.same(
        split.name, "rows", counts, (split.scenes, split.questions), unit="figures", what="scenes and questions "
    )


def _prove_index(split: Split, index: SplitIndex, parent: SplitIndex, verdict: Verdict) -> None:
    """Prove that the columns and words of a derived split equal those of the same questions in its parent."""
    assert index.positions is not None
    positions = np.asarray(index.positions, np.int64)
    columns = {"answers": (parent.answers, index.answers), "scenes": (parent.scenes, index.scenes)}
    for name, facet in index.facets.items():
        if name in parent.facets:
            columns[name] = parent.facets[name].codes, facet.codes
    for name, (theirs, mine) in columns.items():
        wrong = np.flatnonzero(theirs[positions] != mine)
        for at in wrong.tolist():
            expected = f"{name} {theirs[positions[at]]}, as its parent has it"
            verdict.find(Finding(split.name, "facets", expected, str(mine[at]), None, at))
        verdict.prove(split.name, "facets", len(positions) - len(wrong), unit=f"values of {name}")
    words = parent.words_of(positions)
    known = {word: words.postings[words.starts[at] : words.starts[at + 1]] for at, word in enumerate(words.vocabulary)}
    for word in sorted({*known, *index.vocabulary}):
        here = index.containing(word)
        if word not in known or not np.array_equal(known[word], here):
            expected = f"{word!r} found in {len(known.get(word, ())):,} questions"
            verdict.find(Finding(split.name, "words", expected, f"{len(here):,} or others"))
        else:
            verdict.prove(split.name, "words", unit="words")


def _hash(split: Split, index: SplitIndex) -> str:
    """Return the content hash of a derived split's questions, computed from the rows."""
    assert index.positions is not None
    hashed = hashlib.sha256()
    for stored in load_chosen(split.source, np.asarray(index.positions), scenes=np.asarray(index.scenes)):
        lines = [stored.scene.scene_json, *(question.to_json() for question in stored.item.questions)]
        hashed.update("".join(f"{canonical(line)}\n" for line in lines).encode())
    return hashed.hexdigest()
