"""Facets of imported questions, which follow from their texts and pictures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from generation.engine.items import Facet, FacetKind, Item
from generation.engine.worlds.counting.picture_scene import PictureScene

SOURCES: Mapping[str, str] = {"coco": "COCO", "visual_genome": "Visual Genome"}
OTHER = "other"
FIRST_WORDS = ("how many", "how much", "what number", "what is", "what", "count", OTHER)
HOW_MANY = re.compile(r"\s*how many\s+", re.IGNORECASE)
WORD = re.compile(r"[a-z]+")
TWO_WORDS = re.compile(r"[^a-z]*([a-z]+)(?:[^a-z]+([a-z]+))?")
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
    found = [{"source": source, "first_words": first_words(question.text)} for question in item.questions]
    if classes:
        forms = class_forms(tuple(classes))
        for values, question in zip(found, item.questions, strict=True):
            values["class"] = class_in(question.text, forms)
    return found


def first_words(text: str) -> str:
    """Return the entry of `FIRST_WORDS` with which a question begins, or `OTHER`."""
    found = TWO_WORDS.match(text.lower())
    if found is None:
        return OTHER
    both = f"{found[1]} {found[2]}"
    return both if both in FIRST_WORDS else found[1] if found[1] in FIRST_WORDS else OTHER


class ClassForms(NamedTuple):
    """Each class by its singular and its plural, and the largest number of words of a form."""

    by_form: Mapping[str, str]
    most_words: int


@lru_cache(maxsize=16)
def class_forms(classes: tuple[str, ...]) -> ClassForms:
    """Return the forms of these classes."""
    plain = {name: " ".join(WORD.findall(name.lower())) for name in classes}
    forms = {plural(words): name for name, words in plain.items()} | {words: name for name, words in plain.items()}
    return ClassForms(forms, max((len(form.split()) for form in forms), default=0))


def class_in(text: str, forms: ClassForms) -> str | None:
    """Return the class that follows `how many` in a question, singular or plural, or None.

    The longest class is returned: `How many fire hydrants are there?` is about fire hydrants.
    """
    found = HOW_MANY.match(text)
    if found is None:
        return None
    words = WORD.findall(text[found.end() :].lower())
    for length in range(min(len(words), forms.most_words), 0, -1):
        name = forms.by_form.get(" ".join(words[:length]))
        if name is not None:
            return name
    return None


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
