"""Frequencies of entities in Visual Genome: `python -m generation.engine.worlds.simtown.visual_genome --help`.

It reads the file `relationships.json` of Visual Genome, cleans its words in six steps as the paper describes them, and
writes a frequency file: the most frequent entities of Visual Genome give their shares to SimTown's entities, in the
order of SimTown's ranks. The paper names the steps, but not its word lists and thresholds: these are ours.

References
----------
Bingham et al. 2017, Characterizing how Visual Question Answering models scale with the world, sections 6.1 and 6.3.
Krishna et al. 2016, Visual Genome.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from generation.engine.errors import BadRecord, EngineError
from generation.engine.worlds.simtown.spec import FEWEST, NAMES, SimTownSpec

PIECE = 1 << 20  # characters that are read at a time
LEAST_PREDICATE = 100  # relationships that a predicate must have
MISSPELT = 50  # a word that is so many times rarer than one at a distance of one letter is a misspelling of it
FORMS_OF_BE = frozenset({"be", "is", "are", "am", "was", "were", "been", "being"})
DETERMINERS = frozenset(
    {"a", "an", "the", "this", "that", "these", "those", "some", "any", "each", "every", "his", "her", "its", "their"}
)
NOUN_PAIRS = """
men man, women woman, children child, people person, feet foot, teeth tooth, geese goose, mice mouse, leaves leaf,
shelves shelf, knives knife, wolves wolf, scarves scarf, loaves loaf, halves half, wives wife, hooves hoof, calves calf,
shoes shoe, toes toe, canoes canoe, cookies cookie, movies movie, hoodies hoodie, brownies brownie, buses bus, bus bus,
gas gas, lens lens, canvas canvas, series series, grass grass, glasses glasses, pants pants, jeans jeans, shorts shorts
"""
VERB_PAIRS = """
has have, had have, having have, does do, did do, done do, held hold, wore wear, worn wear, sat sit, stood stand,
hung hang, laid lay, lying lie, lied lie, ate eat, eaten eat, rode ride, ridden ride, drove drive, driven drive,
made make, took take, taken take, used use, using use, going go, tied tie, tying tie, skied ski, adding add,
added add, threw throw, thrown throw, flew fly, flown fly, caught catch, built build, grew grow, grown grow, drew draw,
drawn draw, during during, bring bring, string string, spring spring, building building, ceiling ceiling
"""
IRREGULAR_NOUNS: Mapping[str, str] = dict(pair.split() for pair in NOUN_PAIRS.split(","))
IRREGULAR_VERBS: Mapping[str, str] = dict(pair.split() for pair in VERB_PAIRS.split(","))
DOUBLED = ("bb", "dd", "gg", "mm", "nn", "pp", "rr", "tt")
# Stems that lose an e before -ing and -ed: rid(e), plac(e), mov(e), chas(e), handl(e), edg(e), glu(e), locat(e)
SILENT_E = re.compile(
    r"^[^aeiou]*[aeiouy][^aeiouwxy]$|[cvzu]$|[^s]s$|[bdfgkptz]l$|dg$|[aeiou].*[^aeiou]at$",
)
# What follows the noun of an entity: prepositions, and forms of verbs that describe it
AFTER_NOUN = """
of in on with at for by from near to behind under over above below beside between inside against and
sitting standing walking running riding holding wearing playing skiing surfing eating smiling flying hanging looking
swinging jumping skateboarding snowboarding grazing sleeping laying lying talking driving watching waiting leaning
"""
ENDS_OF_NOUN = frozenset(AFTER_NOUN.split())


class Relationship(NamedTuple):
    """A relationship in cleaned words."""

    subject: str
    predicate: str
    other: str


class Frequencies(NamedTuple):
    """How often each entity is a subject and an object, and how many relationships each predicate has."""

    subjects: Counter[str]
    objects: Counter[str]
    predicates: Counter[str]


def read_images(file: TextIO, *, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the images of a JSON list one after another, without reading all of it into memory; raise `BadRecord`."""
    decoder, buffer, number = json.JSONDecoder(), file.read(PIECE).lstrip(), 0
    if not buffer.startswith("["):
        raise BadRecord("Expected a list of images with relationships.", where=name)
    buffer = buffer[1:]
    while True:
        buffer = buffer.lstrip(", \n\r\t")
        if buffer.startswith("]"):
            return
        try:
            image, end = decoder.raw_decode(buffer)
        except ValueError as error:
            more = file.read(PIECE)
            if not more:
                raise BadRecord("Expected JSON up to the end of the list.", where=f"{name}, [{number}]") from error
            buffer += more
            continue
        except RecursionError as error:
            where = f"{name}, [{number}]"
            raise BadRecord("Expected an image, got lists or objects nested too deep.", where=where) from error
        if not isinstance(image, dict):
            raise BadRecord("Expected an image, which is an object.", where=f"{name}, [{number}]")
        yield image
        buffer, number = buffer[end:], number + 1


def relationships(images: Iterator[Mapping[str, Any]], *, name: str) -> Iterator[Relationship]:
    """Yield each relationship of some images with cleaned words; raise `BadRecord`."""
    for number, image in enumerate(images):
        for record in image.get("relationships", ()):
            try:
                yield Relationship(
                    clean_entity(name_of(record["subject"])),
                    clean_predicate(record["predicate"]),
                    clean_entity(name_of(record["object"])),
                )
            except (KeyError, TypeError, IndexError, AttributeError) as error:
                raise BadRecord(
                    f"Expected a predicate, and a subject and an object with a name, got something else ({error!r}).",
                    where=f"{name}, [{number}].relationships",
                ) from error


def name_of(record: Mapping[str, Any]) -> str:
    """Return the name of an object; releases of Visual Genome have `name` or a list `names`."""
    name = record["name"] if "name" in record else record["names"][0]
    return str(name)


def clean_predicate(text: str) -> str:
    """Return a predicate without forms of "to be", without determiners, and with its verb in its base form."""
    return " ".join(verb_lemma(word) for word in words_of(text))


def clean_entity(text: str) -> str:
    """Return the noun of an entity in its base form: the last word before a preposition, such as of, or a verb."""
    words = words_of(text)
    ends = [number for number, word in enumerate(words) if number and word in ENDS_OF_NOUN]
    noun = words[: min(ends, default=len(words))]
    return noun_lemma(noun[-1]) if noun else ""


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, without punctuation, forms of "to be" and determiners."""
    words = (word.strip(".,;:!?\"'").removesuffix("'s") for word in text.lower().split())
    return [word for word in words if word and word not in FORMS_OF_BE | DETERMINERS]


def noun_lemma(word: str) -> str:
    """Return the singular of an English noun, by rules."""
    if word in IRREGULAR_NOUNS:
        return IRREGULAR_NOUNS[word]
    return _without_s(word)


def verb_lemma(word: str) -> str:
    """Return the infinitive of an English verb, by rules; prepositions stay as they are."""
    if word in IRREGULAR_VERBS:
        return IRREGULAR_VERBS[word]
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ing") and len(word) > 5:
        return _stem(word[:-3])
    if word.endswith("ed") and not word.endswith("eed") and len(word) > 4:
        return _stem(word[:-2])
    return _without_s(word)


def _stem(stem: str) -> str:
    """Return the infinitive of a verb from what is left without -ing or -ed: sitt, rid, park."""
    if stem.endswith(DOUBLED):
        return stem[:-1]
    return stem + "e" if SILENT_E.search(stem) else stem


def _without_s(word: str) -> str:
    """Return a word without the ending -s of plurals, and of verbs after he, she and it."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zzes", "oes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def count(found: Iterator[Relationship]) -> Frequencies:
    """Return the frequencies of relationships with correct spelling, without rare predicates."""
    kept = correct(Counter(found))
    predicates: Counter[str] = Counter()
    for triple, n in kept.items():
        predicates[triple.predicate] += n
    result = Frequencies(Counter(), Counter(), Counter())
    for triple, n in kept.items():
        if predicates[triple.predicate] >= LEAST_PREDICATE and all(triple):
            result.subjects[triple.subject] += n
            result.objects[triple.other] += n
            result.predicates[triple.predicate] += n
    return result


def correct(triples: Counter[Relationship]) -> Counter[Relationship]:
    """Return relationships with correct spelling: of their entities, and of each word of their predicates."""
    entities: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for triple, n in triples.items():
        entities[triple.subject] += n
        entities[triple.other] += n
        for word in triple.predicate.split():
            words[word] += n
    nouns, others = spelling(entities), spelling(words)
    found: Counter[Relationship] = Counter()
    for triple, n in triples.items():
        subject, other = nouns.get(triple.subject, triple.subject), nouns.get(triple.other, triple.other)
        predicate = " ".join(others.get(word, word) for word in triple.predicate.split())
        found[Relationship(subject, predicate, other)] += n
    return found


def spelling(words: Counter[str]) -> dict[str, str]:
    """Return the correct word for each misspelt one: a far more frequent one at a distance of one letter."""
    found = {}
    for word, n in words.items():
        if len(word) < 5 or not word.isalpha():
            continue
        better = [other for other in _neighbours(word) if words[other] >= MISSPELT * n]
        if better:
            found[word] = max(better, key=lambda other: (words[other], other))
    return found


def _neighbours(word: str) -> set[str]:
    """Return the words at a distance of one letter: left out, added, replaced, or swapped with the next one."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    parts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {a + b[1:] for a, b in parts if b}
    found |= {a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1}
    found |= {a + letter + b[1:] for a, b in parts if b for letter in letters}
    found |= {a + letter + b for a, b in parts for letter in letters}
    return found - {word}


def frequency_file(found: Frequencies, *, entities: int) -> list[dict[str, Any]]:
    """Return the rows of a frequency file: SimTown's entities by rank, with the shares of Visual Genome's words.

    Parameters
    ----------
    found : Frequencies
    entities : int
        How many: the words with the most subjects and objects together.

    Raises
    ------
    BadRecord
        If there are fewer words, or if SimTown has no specs with so many entities.
    """
    if not FEWEST <= entities <= len(NAMES):
        raise BadRecord(f"Expected {FEWEST} to {len(NAMES)} entities, got {entities}.")
    ranked = SimTownSpec.model_validate({"splits": {"train": {"scenes": 1}}, "entities": entities}).ranked
    both = found.subjects + found.objects
    words = sorted(both, key=lambda word: (-both[word], word))[:entities]
    if len(words) < entities:
        raise BadRecord(f"Expected at least {entities} different entities, got {len(words)}.")
    subjects, objects = (sum(counts[word] for word in words) for counts in (found.subjects, found.objects))
    return [
        {
            "name": name,
            "word": word,
            "subject": found.subjects[word] / subjects,
            "object": found.objects[word] / objects,
        }
        for name, word in zip(ranked, words, strict=True)
    ]


def main(arguments: Sequence[str]) -> int:
    """Write a frequency file to standard output; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m generation.engine.worlds.simtown.visual_genome",
        description="Writes a frequency file for SimTown from relationships.json of Visual Genome.",
    )
    parser.add_argument("relationships", type=Path, help="the file relationships.json of Visual Genome")
    parser.add_argument("--entities", type=int, default=60, help="how many entities the dataset has (default: 60)")
    options = parser.parse_args(arguments)
    name = options.relationships.name
    try:
        with options.relationships.open(encoding="utf-8") as file:
            rows = frequency_file(
                count(relationships(read_images(file, name=name), name=name)), entities=options.entities
            )
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except (OSError, UnicodeError) as error:
        sys.stderr.write(f"Expected a readable text file, got {options.relationships} ({error}).\n")
        return 1
    json.dump(rows, sys.stdout, indent=2)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
