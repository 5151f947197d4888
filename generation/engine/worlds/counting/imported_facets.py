"""Facets of imported questions, which follow from their texts and pictures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from generation.engine.items import Facet, FacetKind, Item
from generation.engine.worlds.counting.picture_scene import PictureScene

SOURCES: Mapping[str, str] = {"coco": "COCO", "visual_genome": "Visual Genome"}
OTHER = "other"
FIRST_WORDS = ("how many", "how much", "what number", "what is", "what", "count", OTHER)
HOW_MANY = re.compile(r"\s*how many\s+(.*)", re.IGNORECASE | re.DOTALL)
WORD = re.compile(r"[a-z]+")
IRREGULAR: Mapping[str, str] = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "child": "children",
    "mouse": "mice",
    "knife": "knives",
    "sheep": "sheep",
    "skis": "skis",
    "scissors": "scissors",
    "broccoli": "broccoli",
}


def imported_facets() -> Iterator[Facet]:
    """Yield the facets that only imported questions have."""
    category = FacetKind.CATEGORY
    yield Facet("source", "source of the picture", category, tuple(SOURCES), True, labels=tuple(SOURCES.values()))
    yield Facet("first_words", "first words", category, FIRST_WORDS, reveals=False)


def imported_values(item: Item, classes: Sequence[str]) -> list[dict[str, str | None]]:
    """Return the values of `imported_facets` for each question of an item, and the class if questions are imported."""
    source = item.scene.source or None if isinstance(item.scene, PictureScene) else None
    known = tuple(classes)
    return [
        {"source": source, "first_words": first_words(question.text)}
        | ({"class": class_in(question.text, known)} if known else {})
        for question in item.questions
    ]


def first_words(text: str) -> str:
    """Return the entry of `FIRST_WORDS` with which a question begins, or `OTHER`."""
    plain = f"{' '.join(WORD.findall(text.lower()))} "
    return next((words for words in FIRST_WORDS if plain.startswith(f"{words} ")), OTHER)


def class_in(text: str, classes: tuple[str, ...]) -> str | None:
    """Return the class that follows `how many` in a question, singular or plural, or None.

    The longest class is returned: `How many fire hydrants are there?` is about fire hydrants.
    """
    found = HOW_MANY.match(text)
    if found is None:
        return None
    forms, words = _forms(classes), WORD.findall(found[1].lower())
    phrases = (" ".join(words[:length]) for length in range(min(len(words), _most_words(classes)), 0, -1))
    return next((forms[phrase] for phrase in phrases if phrase in forms), None)


@lru_cache(maxsize=16)
def _forms(classes: tuple[str, ...]) -> Mapping[str, str]:
    """Return each class by its singular and its plural."""
    plain = {name: " ".join(WORD.findall(name.lower())) for name in classes}
    return {plural(words): name for name, words in plain.items()} | {words: name for name, words in plain.items()}


@lru_cache(maxsize=16)
def _most_words(classes: tuple[str, ...]) -> int:
    return max((len(form.split()) for form in _forms(classes)), default=0)


def plural(noun: str) -> str:
    """Return the plural of an English noun or of the last word of a phrase."""
    before, space, last = noun.rpartition(" ")
    if last in IRREGULAR:
        last = IRREGULAR[last]
    elif last.endswith(("s", "x", "z", "ch", "sh")):
        last += "es"
    elif re.search(r"[^aeiou]y$", last):
        last = f"{last[:-1]}ies"
    else:
        last += "s"
    return f"{before}{space}{last}"
