"""How CLEVR's vocabulary is said."""

from generation.engine.families import RELATION
from generation.engine.wording import Forms, Lexicon
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
