"""The answers of a split's reference: the one door through which figures read them.

Some figures of a split depend on the answers of its reference, the split that methods learn from: which answer was the
most frequent there, or how rare a value was there. The reference may be withheld or private while the split is open.
So these figures take a `Reference`, which only this module makes, and are not defined without one.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.access import Visitor, may_see_exact_figures
from generation.models import Split
from generation.splits.split_recipes import ParityRule, read_recipe
from generation.storage.split_index import SplitIndex, counts_of_all, open_digest


class Reference(NamedTuple):
    """A complete reference whose answers may be read. As a key of a cache it tells references with other answers apart.

    Attributes
    ----------
    index_digest, seen_digest : str
        The digests of its index, and of the index's second part.
    recipe : str
        The recipe of a question set; empty for other splits.
    """

    index_digest: str
    seen_digest: str
    recipe: str

    def open(self) -> SplitIndex:
        return open_digest(self.index_digest, self.seen_digest)

    def counts(self) -> Mapping[str, NDArray[np.int64]]:
        return counts_of_all(self.index_digest, self.seen_digest)

    @property
    def parity(self) -> ParityRule | None:
        return read_recipe(self.recipe).parity if self.recipe else None


def reference_for(user: Visitor, split: Split) -> Reference | None:
    """Return the reference of a split; None if it has none, or if this visitor may not see the reference's answers."""
    found = split_to_learn(split)
    if found is None:
        return None
    if found.dataset_id == split.dataset_id:
        found.dataset = split.dataset  # saves a query
    return _read(found) if may_see_exact_figures(user, found) else None


def reference_for_site(split: Split) -> Reference | None:
    # For work of the site's operators, such as findings.
    found = split_to_learn(split)
    return None if found is None else _read(found)


def split_to_learn(split: Split) -> Split | None:
    """Return the complete reference from which the site's own baselines and its report on shortcuts learn, or None.

    What they learn repeats answers of the reference. So `webapp.leaderboards.models.submissions.fitted_on_hidden` hides
    the baselines, and `generation.reports.shortcuts_page` the figures of the report, from visitors who may not see it.
    """
    found = split.reference
    return found if found is not None and found.is_complete else None


def _read(reference: Split) -> Reference:
    return Reference(reference.index_digest, reference.seen_digest, reference.recipe)
