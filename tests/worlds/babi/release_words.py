"""Files in the format and words of the release, for tests. The stories are generated, and their words are replaced."""

import random
from collections.abc import Callable
from pathlib import Path

from generation.engine.worlds.babi.formats import file_names
from generation.engine.worlds.babi.formats.story_files import RawQuestion, write_story
from generation.engine.worlds.babi.languages import language_of
from generation.engine.worlds.babi.lexicon import meaning
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests.worlds.babi.told import answer_questions, stories

WENT = ("went to the", "went back to the", "journeyed to the", "moved to the", "travelled to the")
THEN = ("Then", "Afterwards", "After that", "Following that")
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")
COMPASS = ("north", "south", "east", "west")
SIDES = ("above", "below", "to the left of", "to the right of")
PLURALS = {"mouse": "mice", "wolf": "wolves", "sheep": "sheep", "cat": "cats"}
SAYS: dict[str, list[str]] = {
    "go": [f"{{person}} {went} {{place}}." for went in WENT],
    "go together": [f"{{person}} and {{person2}} {went} {{place}}." for went in WENT],
    **{
        f"go {who}": [f"{then} {who} {went} {{place}}." for then in THEN for went in WENT]
        for who in ("he", "she", "they")
    },
    **{
        f"go {time}": [
            text
            for went in WENT
            for text in (f"{time.capitalize()} {{person}} {went} {{place}}.", f"{{person}} {went} {{place}} {time}.")
        ]
        for time in TIMES
    },
    "get": [
        f"{{person}} {got} the {{thing}}{there}."
        for got in ("got", "took", "grabbed", "picked up")
        for there in ("", " there")
    ],
    "drop": [
        f"{{person}} {left} the {{thing}}{there}."
        for left in ("dropped", "discarded", "left", "put down")
        for there in ("", " there")
    ],
    "give": [f"{{person}} {gave} the {{thing}} to {{person2}}." for gave in ("gave", "handed", "passed")],
    "in": ["{person} is in the {place}."],
    "not in": ["{person} is no longer in the {place}.", "{person} is not in the {place}."],
    "either": ["{person} is either in the {place} or the {place2}."],
    **{f"lies {way}": [f"The {{place}} is {way} of the {{place2}}."] for way in COMPASS},
    **{f"stands {side}": [f"The {{shape}} is {side} the {{shape2}}."] for side in SIDES},
    "fits": ["The {size} fits inside the {size2}."],
    "bigger": ["The {size} is bigger than the {size2}."],
    "is a": ["{name} is a {species}."],
    "afraid": ["{kind} are afraid of {kind2}."],
    "coloured": ["{name} is {colour}."],
    "feels": ["{person} is {state}."],
    "where is?": ["Where is {person}?"],
    "where is the thing?": ["Where is the {thing}?"],
    "where was the thing?": ["Where was the {thing} before the {place}?"],
    "where was?": ["Where was {person} before the {place}?"],
    **{f"what lies {way}?": [f"What is {way} of the {{place}}?"] for way in COMPASS},
    **{f"of what it lies {way}?": [f"What is the {{place}} {way} of?"] for way in COMPASS},
    "what was given?": ["What did {person} give to {person2}?"],
    "who gave to?": ["Who gave the {thing} to {person}?"],
    "who gave?": ["Who gave the {thing}?"],
    "who received?": ["Who received the {thing}?"],
    "to whom?": ["Who did {person} give the {thing} to?"],
    "is in?": ["Is {person} in the {place}?"],
    "how many?": ["How many objects is {person} carrying?"],
    "which?": ["What is {person} carrying?"],
    "afraid of?": ["What is {small} afraid of?"],
    "colour?": ["What color is {name}?"],
    "fits?": ["Does the {size} fit in the {size2}?"],
    "bigger?": ["Is the {size} bigger than the {size2}?"],
    **{f"stands {side}?": [f"Is the {{shape}} {side} the {{shape2}}?"] for side in SIDES},
    "path?": ["How do you go from the {place} to the {place2}?"],
    "will go?": ["Where will {smallperson} go?"],
    "why go?": ["Why did {smallperson} go to the {place}?"],
    "why get?": ["Why did {smallperson} get the {thing}?"],
}


def say(english: str, chance: random.Random) -> str:
    """Return a generated sentence in the words of the release."""
    meant = meaning(english)
    assert meant is not None, english
    roles = dict(meant.roles)
    if meant.kind == "afraid":
        roles = {"kind": PLURALS[roles["kind"]].capitalize(), "kind2": PLURALS[roles["kind2"]]}
    roles["small"], roles["smallperson"] = roles.get("name", "").lower(), roles.get("person", "").lower()
    return chance.choice(SAYS[meant.kind]).format(**roles)


def write_release(
    folder: Path, *, language: str = "en", count: int = 40, tasks: tuple[int, ...] = tuple(BY_NUMBER)
) -> Path:
    """Write training files of the tasks, with the same `count` stories of each in English, shuffled or in Hindi."""
    place = folder / language
    place.mkdir(parents=True)
    said: dict[str, Callable[[str], str]] = {"en": lambda text: text, "shuffled": language_of("shuffled").text}
    for task in tasks:
        chance, text = random.Random(task), ""
        for told in stories(task, count, faithful=True):
            story = Story(task, told.lines)
            asked = list(answer_questions(task, told))
            if language == "hn":
                hindi = language_of("hindi")
                lines = [line.text for line in hindi.story(story).lines]
                spoken = [(hindi.text(one.text), hindi.answer(one.answer)) for one in asked]
            else:
                own = said[language]
                lines = [own(say(line.text, chance)) for line in story.lines]
                spoken = [(own(say(one.text, chance)), own(one.answer)) for one in asked]
            raw = [
                RawQuestion(question, answer, one.supports, len(one.lines), "")
                for one, (question, answer) in zip(asked, spoken, strict=True)
            ]
            text += write_story(task, lines, raw)
        (place / file_names.file_name(task, "train", has_validation=False)).write_text(text)
    return place
