"""The report on an environment: its numbers equal slow counts, and the command refuses bad input with one line."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.environment import __main__ as program
from generation.engine.environment import create_dataset
from generation.engine.environment.report import (
    TURN,
    ItemRecord,
    entropy,
    read_records,
    report_on,
    summarise,
    text_of,
)

ONESHAPE = "shapeworld-oneshape"
RECORDS = st.builds(
    ItemRecord,
    content=st.sampled_from("abc"),
    program=st.sampled_from(["", "p", "q"]),
    question=st.sampled_from(["how many red", "how many blue", "is it red"]),
    kind=st.sampled_from(["count", "exist"]),
    answer=st.sampled_from(["1", "2", "yes"]),
    choices=st.integers(1, 4),
)


@given(st.lists(RECORDS, min_size=1, max_size=120))
@settings(max_examples=60, deadline=None)
def test_counts_equal_slow_counts(records: list[ItemRecord]) -> None:
    found = summarise(records)
    seen: list[str] = []
    repeated = 0
    for one in records:
        repeated += one.content in seen
        seen.append(one.content)
    assert (found.items, found.duplicates) == (len(records), repeated)
    assert found.questions == len({one.question for one in records})
    assert found.programs == len({one.program for one in records if one.program})
    assert found.chance == pytest.approx(sum(1 / one.choices for one in records) / len(records))
    shares = [count / len(records) for count in Counter(one.answer for one in records).values()]
    assert found.entropy == pytest.approx(-sum(share * math.log2(share) for share in shares))
    majority, by_type, _ = found.guesses
    learned = [one for at, one in enumerate(records) if at // TURN % 2 == 0]
    asked = [one for at, one in enumerate(records) if at // TURN % 2 == 1]
    best = sorted(learned, key=lambda one: (-sum(one.answer == other.answer for other in learned), one.answer))
    assert majority.share.right == sum(one.answer == best[0].answer for one in asked)
    assert majority.share.n == by_type.share.n == len(asked)
    modes = {}
    for kind in ("count", "exist"):
        own = [one.answer for one in learned if one.kind == kind]
        modes[kind] = min(own, key=lambda said: (-own.count(said), said)) if own else best[0].answer
    assert by_type.share.right == sum(modes[one.kind] == one.answer for one in asked)


def test_questions_that_tell_their_answers_are_guessed_by_their_words() -> None:
    records = [
        ItemRecord(str(at), "", f"Is it {color}?", "exist", "yes" if color == "red" else "no", 2)
        for at in range(8 * TURN)
        for color in (("red", "blue")[at % 2],)
    ]
    majority, by_type, by_question = summarise(records).guesses
    assert by_question.share.value == 1.0
    assert majority.share.value == by_type.share.value == 0.5


@pytest.mark.parametrize(("counts", "bits"), [([4], 0.0), ([2, 2], 1.0), ([1, 1, 1, 1, 0], 2.0), ([], 0.0)])
def test_the_entropy_is_in_bits(counts: list[int], bits: float) -> None:
    assert entropy(counts) == pytest.approx(bits)


def test_two_processes_report_the_same_and_progress_reaches_the_end() -> None:
    dataset, ticks = create_dataset(ONESHAPE, seed=2), list[int]()
    one = report_on(dataset, items=600, processes=1)
    two = report_on(dataset, items=600, processes=2, tick=ticks.append)
    assert one == two == summarise(read_records(create_dataset(ONESHAPE, seed=2), range(600)))
    assert sum(ticks) == 600 and len(ticks) == 3


def test_the_report_on_a_small_dataset_is_about_all_of_its_items() -> None:
    assert report_on(create_dataset(ONESHAPE, size=30), items=100).items == 30


def test_the_text_says_too_few_instead_of_a_share() -> None:
    text = text_of([report_on(create_dataset(ONESHAPE), items=60, level="easy")])
    assert text.startswith("easy: 60 items\n")
    assert "too few (n = 10)" in text and "entropy" in text


# The command


def test_the_command_reports_each_level(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [ONESHAPE, "--items", "60", "--processes", "1", "--level", "all", "--level", "objects=4,captions=easy"]
    assert program.main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["world"], told["split"], told["seed"]) == ("shapeworld", "train", 0)
    assert [one["level"] for one in told["levels"]] == ["easy", "medium", "hard", "objects=4,captions=easy"]
    for one in told["levels"]:
        assert one["items"] == 60
        assert {name: guess["n"] for name, guess in one["guesses"].items()} == dict.fromkeys(
            ("majority", "type", "question"), 10
        )
    assert program.main([*arguments[:5], "--level", "easy", "--level", "medium"]) == 0
    assert capsys.readouterr().out.count("60 items") == 2


def test_the_command_reads_a_file_with_a_spec(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({"base": ONESHAPE, "title": "Mine"}))
    assert (
        program.main([str(path), "--items", "10", "--processes", "1", "--split", "test", "--seed", "5", "--json"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert (told["title"], told["split"], told["seed"]) == ("Mine", "test", 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "Expected a JSON file or a preset"),
        (["nothing.json"], "No such file"),
        ([ONESHAPE, "--level", "hardest"], "Expected one of easy, medium, hard, got 'hardest'"),
        ([ONESHAPE, "--level", "shapes=3"], "Expected one of objects, captions, got 'shapes'"),
        ([ONESHAPE, "--split", "trian"], "split: Expected one of train, validation, test"),
        ([ONESHAPE, "--seed", "-1"], "seed: Expected"),
        ([ONESHAPE, "--level", "captions=medium", "--processes", "1"], "Expected a microworld that admits"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and message in err


@pytest.mark.parametrize("arguments", [[], [ONESHAPE, "--items", "0"], [ONESHAPE, "--processes", "x"]])
def test_wrong_options_end_the_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(arguments)
    assert ended.value.code == 2
