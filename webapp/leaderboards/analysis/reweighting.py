"""Accuracy as it would be if all values of some facets were equally frequent."""

from generation.engine.scoring.figures import Figure, is_too_few
from generation.engine.scoring.reweighting import inverse_frequencies, reweighted_accuracy
from generation.engine.scoring.score import right_of
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import NotIndexed, SplitIndex, counts_of_all
from webapp.leaderboards.models import Submission
from webapp.leaderboards.stored_predictions import codes_for


def reweighted_figure(submission: Submission, split: Split) -> Figure | None:
    """Return the reweighted accuracy of a scored submission on its split or on a question set derived from it.

    None if the world names no facets for it, or if the split has no complete reference with these facets. The caller
    must check first that the visitor may see exact figures.
    """
    by, reference = split.dataset.get_world().reweighting, split.reference
    if by is None or reference is None or not reference.is_complete:
        return None
    try:
        index, train = SplitIndex.open(split), SplitIndex.open(reference)
    except NotIndexed:
        return None
    if not set(by.facets) <= set(index.facets) & set(train.facets):
        return None
    counts = counts_of_all(reference.index_digest, reference.seen_digest)
    weights = inverse_frequencies(
        [index.facets[name].codes for name in by.facets],
        [counts[name] for name in by.facets],
        are_different=by.are_different,
    )
    found = reweighted_accuracy(right_of(codes_for(submission, split), truth_of(index)), weights)
    if found is None or is_too_few(int(found.effective)):
        return Figure(0 if found is None else int(found.effective), 1)
    return Figure(found.n, 1, found.share, found.interval.low, found.interval.high)
