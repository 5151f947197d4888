"""The reader finds the answers of the programs from the sentences only, and also reads the sentences of the release."""

from collections import Counter
from typing import Any

import pytest

from generation.engine.items import AnswerKind
from generation.engine.program import outputs
from generation.engine.seeding import Stream
from generation.engine.worlds.babi.functions import ANSWERS, function_table, text_of
from generation.engine.worlds.babi.reading import sentences
from generation.engine.worlds.babi.reading.reader import StoryReader
from generation.engine.worlds.babi.step_results import Prefix
from generation.engine.worlds.babi.task_interface import ToldStory
from tests import proof
from tests.worlds.babi.told import chance, tell

QUESTIONS = 20_000  # of each task with each kind of parameters
GATE = 120
TASKS = range(1, 21)
HARD = {"people": 9, "places": 10, "things": 6, "distance": 3, "animals": 6, "shapes": 6, "sizes": 8, "steps": 3}
WAYS: dict[str, dict[str, Any]] = {"default": {}, "faithful": {"faithful": True}, "hard": HARD}
TABLE = function_table()


def count_disagreements(told: ToldStory) -> Counter[str]:
    """Return in how many lines, answers and supporting facts of a story the reader and the generator differ."""
    reader = StoryReader([line.text for line in told.lines])
    found = Counter[str]()
    for line, events, antecedent in zip(told.lines, reader.events, reader.antecedents, strict=True):
        found["lines"] += (line.events, line.antecedent) != (events, antecedent)
    for scope, text, program in told.asks:
        given = outputs(program, Prefix(told.lines, scope), table=TABLE)[-1]
        kind = ANSWERS[TABLE.functions[program[-1].function].output]
        expected = ",".join(given.value) if kind == AnswerKind.SET and given.value else text_of(kind, given.value)
        asked = sentences.question(text)
        assert asked is not None, text
        readings = [reader.answer(asked, scope), *(reader.others(asked, scope) if "last" not in text else [])]
        found["answers"] += (expected, given.lines) not in readings
    return +found


def check_agreement(task: int, way: str, count: int, random: Stream) -> None:
    done = 0
    while done < count:
        told = tell(task, random, **WAYS[way])
        assert not count_disagreements(told), "\n".join(
            [*(line.text for line in told.lines), *(ask.text for ask in told.asks)]
        )
        done += len(told.asks)


@pytest.mark.parametrize("task", TASKS)
def test_the_reader_agrees_with_the_programs(task: int) -> None:
    for number, way in enumerate(WAYS):
        check_agreement(task, way, GATE if way != "hard" else GATE // 4, chance(100 + number))


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("task", TASKS)
def test_the_reader_agrees_with_the_programs_on_20_000_questions(task: int, way: str) -> None:
    count = proof.size(QUESTIONS if way != "hard" else QUESTIONS // 10, name=f"questions read, {way}")
    check_agreement(task, way, count, chance(task))


READ = {  # stories in the words of the release: lines, a question, the answer, the supporting facts
    "1": (("Sandra went back to the office.", "Sandra moved to the garden."), "Where is Sandra? ", "garden", (1,)),
    "2": (
        ("John went to the park.", "John grabbed the milk there.", "John left the milk.", "John went to the school."),
        "Where is the milk? ",
        "park",
        (2, 0),
    ),
    "3": (
        (
            "Mary took the apple.",
            "Mary moved to the kitchen.",
            "Mary journeyed to the office.",
            "Mary put down the apple there.",
        ),
        "Where was the apple before the office? ",
        "kitchen",
        (3, 2, 1),
    ),
    "4": (
        ("The garden is west of the office.", "The hallway is west of the garden."),
        "What is the garden west of?",
        "office",
        (0,),
    ),
    "4 other": (
        ("The garden is west of the office.", "The hallway is west of the garden."),
        "What is west of the garden?",
        "hallway",
        (1,),
    ),
    "5": (
        ("Jeff passed the milk to Bill.", "Bill handed the milk to Mary."),
        "Who did Bill give the milk to? ",
        "Mary",
        (1,),
    ),
    "7": (("Mary got the milk.", "Mary discarded the milk."), "How many objects is Mary carrying? ", "none", (0, 1)),
    "8": (("Mary got the milk.", "Mary picked up the apple there."), "What is Mary carrying? ", "milk,apple", (0, 1)),
    "9": (("Mary is no longer in the office.",), "Is Mary in the office? ", "no", (0,)),
    "10": (("Bill is either in the park or the school.",), "Is Bill in the school? ", "maybe", (0,)),
    "11": (("Mary went to the park.", "Following that she moved to the office."), "Where is Mary? ", "office", (0, 1)),
    "13": (("Mary and John went to the park.", "Then they moved to the office."), "Where is John? ", "office", (0, 1)),
    "14": (
        ("Julie went to the park this evening.", "Yesterday Julie moved to the office."),
        "Where was Julie before the park? ",
        "office",
        (0, 1),
    ),
    "15": (("Mice are afraid of wolves.", "Winona is a mouse."), "What is winona afraid of?", "wolf", (1, 0)),
    "16": (
        ("Greg is a lion.", "Lily is a lion.", "Lily is gray.", "Brian is a lion.", "Brian is white."),
        "What color is Greg?",
        "white",
        (0, 3, 4),
    ),
    "17": (
        ("The red square is above the triangle.", "The red sphere is to the left of the red square."),
        "Is the red sphere above the triangle?",
        "yes",
        (1, 0),
    ),
    "18": (
        ("The box of chocolates fits inside the box.", "The chest is bigger than the box."),
        "Does the box of chocolates fit in the chest?",
        "yes",
        (0, 1),
    ),
    "19": (
        ("The garden is west of the office.", "The kitchen is south of the garden."),
        "How do you go from the office to the kitchen?",
        "w,s",
        (0, 1),
    ),
    "20": (("Yann is tired.", "Yann went back to the bedroom."), "Why did yann go to the bedroom?", "tired", (0,)),
}


@pytest.mark.parametrize("case", READ)
def test_the_sentences_of_the_release_are_read(case: str) -> None:
    lines, text, answer, facts = READ[case]
    reader, asked = StoryReader(lines), sentences.question(text)
    assert asked is not None and not reader.unread
    assert reader.answer(asked) == (answer, facts)


def test_a_question_without_the_necessary_lines_is_not_answered() -> None:
    reader = StoryReader(["Mary got the milk.", "John is not in the office."])
    for text in ("Where is the milk now?", "Where is Mary now?", "Is John in the garden now?", "Where is John now?"):
        asked = sentences.question(text)
        assert asked is not None and reader.answer(asked) is None


def test_unreadable_lines_are_listed_and_cause_no_error() -> None:
    texts = [
        "Then she went to the office.",
        "Colourless ideas sleep.",
        "",
        "Mary went to the office.",
        "Then they left.",
    ]
    assert StoryReader(texts).unread == [0, 1, 2, 4]
    assert sentences.question("What now?") is None
