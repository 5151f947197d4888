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
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from generation.engine.errors import BadRecord, EngineError
from generation.engine.worlds.simtown.spec import SimTownSpec

PIECE = 1 << 20  # characters that are read at a time
LEAST_PREDICATE = 100  # relationships that a predicate must have
MISSPELT = 50  # a word that is so many times rarer than one at a distance of one letter is a misspelling of it
FORMS_OF_BE = frozenset({"be", "is", "are", "am", "was", "were", "been", "being"})
DETERMINERS = frozenset(
    {"a", "an", "the", "this", "that", "these", "those", "some", "any", "each", "every", "his", "her", "its", "their"}
)
PAIRS = """
men man, women woman, children child, people person, feet foot, teeth tooth, geese goose, mice mouse, leaves leaf,
shelves shelf, knives knife, wolves wolf, buses bus, bus bus, grass grass, glasses glasses, pants pants, jeans jeans,
shorts shorts, has have, had have, having have, held hold, wore wear, worn wear, sat sit, stood stand, hung hang,
laid lay, lying lie, ate eat, eaten eat, rode ride, ridden ride, riding ride, driving drive, skating skate,
making make, taking take, using use, facing face
"""
IRREGULAR: Mapping[str, str] = dict(pair.split() for pair in PAIRS.split(","))
DOUBLED = ("bb", "dd", "gg", "mm", "nn", "pp", "rr", "tt")


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
    words = [lemma(word) for word in text.lower().split() if word not in FORMS_OF_BE | DETERMINERS]
    return " ".join(words)


def clean_entity(text: str) -> str:
    """Return the noun of an entity: its last word in its base form, without determiners and adjectives before it."""
    words = [word for word in text.lower().split() if word not in FORMS_OF_BE | DETERMINERS]
    return lemma(words[-1]) if words else ""


def lemma(word: str) -> str:
    """Return the base form of an English word: the singular of a noun, the infinitive of a verb, by rules."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        return stem[:-1] if stem.endswith(DOUBLED) else stem
    return word


def count(found: Iterator[Relationship]) -> Frequencies:
    """Return the frequencies of relationships with correct spelling, without rare predicates."""
    triples = Counter(found)
    predicates: Counter[str] = Counter()
    entities: Counter[str] = Counter()
    for triple, n in triples.items():
        predicates[triple.predicate] += n
        entities[triple.subject] += n
        entities[triple.other] += n
    spelt, said = spelling(entities), spelling(predicates)
    kept: Counter[Relationship] = Counter()
    for triple, n in triples.items():
        subject, other = spelt.get(triple.subject, triple.subject), spelt.get(triple.other, triple.other)
        kept[Relationship(subject, said.get(triple.predicate, triple.predicate), other)] += n
    predicates = Counter()
    for triple, n in kept.items():
        predicates[triple.predicate] += n
    result = Frequencies(Counter(), Counter(), Counter())
    for triple, n in kept.items():
        if predicates[triple.predicate] >= LEAST_PREDICATE and all(triple):
            result.subjects[triple.subject] += n
            result.objects[triple.other] += n
            result.predicates[triple.predicate] += n
    return result


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
        If there are fewer words.
    """
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
    except (EngineError, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    json.dump(rows, sys.stdout, indent=2)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
