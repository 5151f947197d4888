"""How CLEVR's vocabulary is said, and all words there are."""

from collections.abc import Iterable

from generation.engine.language.families import RELATION, Family
from generation.engine.language.vocabulary import split_words
from generation.engine.language.wording import Forms, Lexicon, words_of, words_said
from generation.engine.worlds.clevr.vocabulary import Vocabulary

NOUN = "Shape"


def lexicon(vocabulary: Vocabulary) -> Lexicon:
    """Return how a vocabulary's values are said."""
    forms: dict[str, dict[str, Forms]] = {}
    for attribute, entries in (
        ("Size", vocabulary.sizes),
        ("Color", vocabulary.colors),
        ("Material", vocabulary.materials),
    ):
        forms[attribute] = {
            name: Forms((name, *entry.synonyms), (name, *entry.synonyms)) for name, entry in entries.items()
        }
    forms["Shape"] = {
        name: Forms((name, *shape.synonyms), (vocabulary.plural(name), *shape.synonyms.values()))
        for name, shape in vocabulary.shapes.items()
    }
    forms[RELATION] = {name: Forms(phrases, phrases) for name, phrases in vocabulary.relations.items()}
    return Lexicon(
        forms=forms,
        things=Forms(tuple(vocabulary.things), tuple(vocabulary.things.values())),
        noun=NOUN,
        vowels=frozenset(vocabulary.vowels),
        consonants=frozenset(vocabulary.consonants),
    )


def all_words(families: Iterable[Family], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return every word that questions of these families can have, as `split_words` gives them, sorted."""
    said = {word for family in families for wording in family.wordings for word in words_said(wording)}
    said.update(words_of(lexicon(vocabulary)), ("a", "an"))
    return tuple(sorted({word for text in said for word in split_words(text)}))
