"""The format `vlmevalkit`: a TSV file with the columns that the kit expects of a custom dataset."""

import base64
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd
import pytest

from generation.engine.errors import BadExport
from generation.engine.formats import check_options
from generation.engine.formats.vlmevalkit import CHOICES, FORMAT, OPEN
from generation.engine.items import AnswerForm, AnswerKind, Question
from generation.engine.spec import BaseSpec
from tests.engine.formats.sample import WORLD, Dataset, Marbles, marbles, picture


def write(dataset: Dataset, folder: Path, *, form: str = CHOICES) -> Path:
    folder.mkdir(parents=True)
    FORMAT.write(dataset, folder, options={"form": form}, tick=lambda _: None)
    return folder


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file as the kit reads them. A short image cell is the index of a row with the image."""
    data = pd.read_csv(path, sep="\t", dtype=str)
    images = dict(zip(data["index"], data["image"], strict=True))
    for index, image in images.items():
        if len(image) <= 64:
            assert len(images[image]) > 64
            images[index] = images[image]
    data["image"] = [base64.b64decode(images[index]) for index in data["index"]]
    return data.where(data.notna(), None).to_dict("records")


def test_a_question_has_its_picture_and_its_choices_by_letter(tmp_path: Path) -> None:
    folder = write(marbles(), tmp_path / "kit")
    rows = read(folder / "marbles_train.tsv")
    assert [row["index"] for row in rows] == [str(number) for number in range(14)]
    [split, _] = marbles().splits
    for row, question in zip(rows, (q for item in split.items() for q in item.item.questions), strict=True):
        number = int(row["index"]) // 2
        assert row["image"] == picture(number)
        assert row["image_path"] == f"train_{number:06d}.png"
        assert row["question"] == question.text
        choices = [row[letter] for letter in ascii_uppercase if row.get(letter) is not None]
        assert choices == list(WORLD.answer_form(split.spec, question).choices)
        assert question.answer is not None
        assert row[row["answer"]] == question.answer.text
        assert (row["category"], row["split"]) == ("count", "train")
        assert row["color"] in question.text


def test_a_picture_is_stored_once_in_a_file(tmp_path: Path) -> None:
    text = (write(marbles(), tmp_path / "kit") / "marbles_train.tsv").read_text()
    assert text.count(base64.b64encode(picture(3)).decode()) == 1


def test_the_open_form_has_words_as_answers_and_the_full_prompt_as_question(tmp_path: Path) -> None:
    folder = write(marbles(), tmp_path / "kit", form=OPEN)
    rows = read(folder / "marbles_val_openended.tsv")
    assert not set(ascii_uppercase) & set(rows[0])
    assert rows[0]["question"] == "How many marbles are black?\nAnswer with a number in digits."
    [_, split] = marbles().splits
    answers = [q.answer.text for item in split.items() for q in item.item.questions if q.answer]
    assert [row["answer"] for row in rows] == answers


@pytest.mark.parametrize("form", [CHOICES, OPEN])
def test_a_withheld_split_has_no_column_that_reveals_answers(tmp_path: Path, form: str) -> None:
    folder = write(marbles(hides=frozenset({"val"})), tmp_path / "kit", form=form)
    [path] = folder.glob("marbles_val*.tsv")
    rows = read(path)
    assert len(rows) == 6
    assert not {"answer", "has", "program", "scene"} & set(rows[0])


def test_the_readme_says_where_to_put_the_files(tmp_path: Path) -> None:
    text = (write(marbles(), tmp_path / "kit") / "README.md").read_text()
    assert "--data marbles_train" in text
    assert "LMUData" in text


class Undecided(Marbles):
    """Marbles with more choices than letters, or with choices that lack the right answer."""

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.choices = choices

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        return AnswerForm(AnswerKind.WORD, self.choices, {})


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            tuple(str(number) for number in range(27)),
            "marbles/train: Expected at most 26 choices a question, .* got 27",
        ),
        (("many", "few"), "train, question 0: Expected an answer among many, few, got '7'"),
    ],
)
def test_questions_that_letters_cannot_answer_are_refused_with_a_hint_at_the_open_form(
    tmp_path: Path, choices: tuple[str, ...], message: str
) -> None:
    given = marbles()
    dataset = Dataset(given.splits, spec_json=given.spec_json, world=Undecided(choices))
    with pytest.raises(BadExport, match=f"{message}.*use --form open"):
        write(dataset, tmp_path / "refused")
    write(dataset, tmp_path / "open", form=OPEN)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(BadExport, match="form: Expected one of choices, open, got 'essay'"):
        check_options(FORMAT, {"form": "essay"})


def test_an_export_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadExport, match="Expected the pictures of every split"):
        write(marbles(images=False), tmp_path / "none")


def test_the_same_dataset_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (write(marbles(), tmp_path / name) for name in "ab")
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes()
