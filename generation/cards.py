"""Cards of datasets, as the list and the front page show them."""

from typing import NamedTuple

from generation.engine.errors import BadSpec
from generation.models import Dataset
from generation.pictures import Picture, strips
from webapp.access import Visitor, may_list

PICTURES = 4
MOST = 200  # cards on one page


class Card(NamedTuple):
    """A dataset with what a list shows of it."""

    dataset: Dataset
    world: str
    pictures: list[Picture]


def cards_for(user: Visitor, *, most: int = MOST) -> list[Card]:
    """Return the newest datasets that lists show this visitor, in three queries."""
    found = [one for one in Dataset.objects.visible_to(user).for_list()[:most] if may_list(user, one)]
    strip = strips(found, user=user, pictures=PICTURES)
    return [Card(dataset, world_label(dataset), strip.get(dataset.pk, [])) for dataset in found]


def world_label(dataset: Dataset) -> str:
    """Return what people call its world; of one that this program does not have, the bare name."""
    try:
        return dataset.get_world().label
    except BadSpec:
        return dataset.world
