"""Questions as rows, by their positions in a split: a derived one's are rows of its parent, numbered as it counts them.

Such a row says its position in the derived split; it is to be shown, never saved.
"""

from collections.abc import Iterable, Iterator

from generation.models import Question, Split
from generation.storage.index import SplitIndex


def browsed(split: Split, positions: list[int]) -> list[Question]:
    """Return the questions at these positions, in the order given, with what a list shows of their scenes."""
    if not split.is_derived:
        return Question.objects.for_browse(split, positions)
    rows = Question.objects.for_browse(split.source, SplitIndex.open(split).in_source(positions))
    return list(_renumbered(split, rows))


def in_full(split: Split, positions: list[int]) -> list[Question]:
    """Return the questions at these positions, in the order given, with all that is stored of them but their scenes.

    Of a world of stories their scenes too.
    """
    at = SplitIndex.open(split).in_source(positions) if split.is_derived else positions
    found = Question.objects.filter(split=split.source, position__in=at).select_related("scene")
    found = found.defer("scene__view") if split.dataset.tells else found.defer("scene__data", "scene__view")
    by_position = {row.position: row for row in found}
    rows = [(place, by_position[source]) for place, source in zip(positions, at, strict=True) if source in by_position]
    for place, row in rows:
        row.position = place
    return [row for _, row in rows]


def question_at(split: Split, position: int) -> Question | None:
    """Return one question with its scene; None where there is none."""
    at = position_in_source(split, position)
    if at is None:
        return None
    found = Question.objects.filter(split=split.source, position=at).select_related("scene").first()
    if found is not None:
        found.position = position
    return found


def words_at(split: Split, position: int) -> Question | None:
    """Return one question's words, kind and answer with its picture, and nothing that takes longer to read."""
    at = position_in_source(split, position)
    if at is None:
        return None
    picture = (f"scene__{name}" for name in ("image", "linked", "width", "height"))
    found = Question.objects.filter(split_id=split.parent_id or split.pk, position=at).select_related("scene")
    return found.only("text", "kind", "answer", *picture).first()


def others_of(split: Split, asked: Question) -> list[Question]:
    """Return the other questions of a split about a question's scene: their texts, answers and positions."""
    others = Question.objects.filter(scene=asked.scene).exclude(pk=asked.pk).order_by("position")
    return list(_renumbered(split, others.only("position", "text", "answer")))


def position_in_source(split: Split, position: int) -> int | None:
    """Return where a split's question stands in the split that has it; None where there is none."""
    if not split.is_derived:
        return position
    if not split.is_complete or not 0 <= position < split.questions:
        return None
    return SplitIndex.open(split).in_source([position])[0]


def _renumbered(split: Split, rows: Iterable[Question]) -> Iterator[Question]:
    """Yield those rows that are questions of a split, with their positions in it."""
    if not split.is_derived:
        yield from rows
        return
    index = SplitIndex.open(split)
    for row in rows:
        place = index.place_of(row.position)
        if place is not None:
            row.position = place
            yield row
