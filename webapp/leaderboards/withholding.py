"""What boards tell of a split to whom: everything, or of withheld answers large slices by what the words say anyway.

Who may see the result of each question sees everything. Others see, of a split whose answers are withheld, accuracies
by single facets that reveal nothing, in the bins that the index has, and ready-made views of such facets: no two facets
crossed, no ranges of their own, no words, no single question; to a tenth of a point, and of no fewer than `LEAST`
questions.
"""

from typing import NamedTuple

from generation.engine.worlds.boards import BoardView
from generation.index import IndexedFacet, SplitIndex
from generation.models import Split
from webapp.access import Visitor, What, may_see, may_see_facet
from webapp.leaderboards.figures import SMALLEST, TENTH

LEAST = SMALLEST  # questions of which a share is told
TOLD = (What.PER_QUESTION_RESULT, What.ANSWER, What.FACET, What.HUMAN_ANSWERS)  # to whom figures are exact
PLACES = TENTH


class Terms(NamedTuple):
    """On which terms somebody reads a board; `is_open` to those who may see the result of each question."""

    is_open: bool

    def share(self, value: float) -> float:
        """Return a share as it may be told."""
        return value if self.is_open else round(value, PLACES)


def terms_for(user: Visitor, split: Split) -> Terms:
    """Return on which terms a visitor reads the board of a split."""
    return Terms(all(may_see(user, split, what) for what in TOLD))


def facets_for(user: Visitor, split: Split, index: SplitIndex) -> list[IndexedFacet]:
    """Return the facets by which a visitor may break scores down."""
    told = may_see(user, split, What.ANSWER)
    facets = index.facets.values()
    return [facet for facet in facets if may_see_facet(user, split, facet) and (told or not facet.reveals)]


def views_for(user: Visitor, split: Split, index: SplitIndex) -> list[BoardView]:
    """Return the ready-made views that a visitor may see: those of such facets alone."""
    allowed = {facet.name for facet in facets_for(user, split, index)}
    return [view for view in split.dataset.get_world().board_views if view.facets <= allowed]
