"""The formats `trl` and `verl`: the columns that these libraries read, and rewards for exactly the right answers."""

import io
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from PIL import Image

from generation.engine import formats
from generation.engine.environment import answer_reward, compute_score
from generation.engine.errors import BadExport
from generation.engine.formats.reinforcement import TRL, VERL
from generation.engine.items import AnswerForm, Question
from generation.engine.worlds import get_world
from tests.engine.formats.sample import PER_ITEM, WORLD, Dataset, Marbles, marbles, picture

FORMATS = {"trl": TRL, "verl": VERL}


def write(dataset: Dataset, folder: Path, *, name: str) -> Path:
    folder.mkdir(parents=True)
    FORMATS[name].write(dataset, folder, options={}, tick=lambda _: None)
    return folder


def rows_of(folder: Path, split: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "data" / split).to_pylist()
    return found


def questions_of(dataset: Dataset, place: int) -> list[tuple[int, Question]]:
    return [(item.position, one) for item in dataset.splits[place].items() for one in item.item.questions]


@pytest.fixture(scope="module")
def trl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(marbles(), tmp_path_factory.mktemp("exports") / "trl", name="trl")


@pytest.fixture(scope="module")
def verl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(marbles(), tmp_path_factory.mktemp("exports") / "verl", name="verl")


def test_rows_of_trl_have_chat_messages_a_picture_and_the_solution(trl: Path) -> None:
    for place, split in enumerate(("train", "val")):
        rows, asked = rows_of(trl, split), questions_of(marbles(), place)
        assert len(rows) == len(asked)
        for number, (row, (position, question)) in enumerate(zip(rows, asked, strict=True)):
            assert question.answer is not None
            assert row["prompt"] == [{"role": "user", "content": WORLD.prompt(None, question)}]
            assert row["image"] == {"bytes": picture(position), "path": f"{split}_{position:06d}.png"}
            assert row["solution"] == question.answer.text
            assert (row["question_id"], row["image_index"]) == (number, position)
            assert row["facets"]["color"] in question.text


def test_columns_of_trl_have_their_order(trl: Path) -> None:
    names = pq.read_schema(next((trl / "data/train").iterdir())).names
    assert names == ["prompt", "image", "solution", "answer_form", "question_id", "image_index", "facets"]


def test_rows_of_verl_have_its_columns(verl: Path) -> None:
    rows = rows_of(verl, "train")
    assert list(rows[0]) == ["data_source", "prompt", "images", "ability", "reward_model", "extra_info"]
    for number, (row, (position, question)) in enumerate(zip(rows, questions_of(marbles(), 0), strict=True)):
        assert question.answer is not None
        assert row["data_source"] == "horsesense/marbles"
        assert row["prompt"] == [{"role": "user", "content": f"<image>{WORLD.prompt(None, question)}"}]
        assert [one["bytes"] for one in row["images"]] == [picture(position)]
        assert row["ability"] == "visual-question-answering"
        assert row["reward_model"] == {"style": "rule", "ground_truth": question.answer.text}
        info = row["extra_info"]
        assert (info["split"], info["index"], info["image_index"]) == ("train", number, position)
        assert (info["question"], info["answer"]) == (question.text, question.answer.text)


def test_the_right_answers_of_both_formats_earn_one_and_others_nothing(trl: Path, verl: Path) -> None:
    rows = rows_of(trl, "train")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    right = [[{"role": "assistant", "content": f"Answer: {row['solution']}"}] for row in rows]
    wrong = [f"1{row['solution']}" for row in rows]
    columns["prompts"] = columns.pop("prompt")
    assert answer_reward(completions=right, **columns) == [1.0] * len(rows)
    assert answer_reward(completions=wrong, **columns) == [0.0] * len(rows)
    for row in rows_of(verl, "val"):
        truth, info = row["reward_model"]["ground_truth"], row["extra_info"]
        assert compute_score(row["data_source"], truth, truth, info) == 1.0
        assert compute_score(row["data_source"], f"{truth} or 9", truth, info) == 0.0


def test_the_form_of_an_answer_is_exported_whole(trl: Path) -> None:
    row = rows_of(trl, "train")[0]
    _, question = questions_of(marbles(), 0)[0]
    form = WORLD.answer_form(marbles().splits[0].spec, question)
    assert AnswerForm.from_json(row["answer_form"]) == form._replace(instruction="")


@pytest.mark.parametrize("name", FORMATS)
def test_datasets_decodes_the_pictures(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(marbles(), tmp_path / "out", name=name)
    data = load_dataset(
        "parquet", data_files=str(folder / "data/train/*.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert len(data) == 7 * PER_ITEM
    image = data[0]["image"] if name == "trl" else data[0]["images"][0]
    assert image.tobytes() == Image.open(io.BytesIO(picture(0))).tobytes()


@pytest.mark.parametrize("name", FORMATS)
def test_a_withheld_split_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadExport, match="Expected splits with open answers, got val, whose answers are withheld"):
        write(marbles(hides=frozenset({"val"})), tmp_path / "out", name=name)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_without_pictures_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadExport, match="Expected the pictures of every split"):
        write(marbles(images=False), tmp_path / "out", name=name)


class Hostile(Marbles):
    """Marbles whose prompts contain a mark that verl replaces."""

    mark = ""

    def prompt(self, spec: Any, question: Question) -> str:
        return f"{self.mark} {question.text}"


@pytest.mark.parametrize("mark", ["<image>", "<video>"])
def test_verls_marks_in_a_prompt_are_refused(tmp_path: Path, mark: str) -> None:
    world = Hostile()
    world.mark = mark
    dataset = replace(marbles(), world=world)
    with pytest.raises(BadExport, match=f"train, question 0: Expected prompts without {mark}"):
        write(dataset, tmp_path / "verl", name="verl")
    [message] = rows_of(write(dataset, tmp_path / "trl", name="trl"), "train")[0]["prompt"]
    assert message["content"].startswith(mark)


@pytest.mark.parametrize("name", FORMATS)
def test_the_readme_says_how_to_train(tmp_path: Path, name: str) -> None:
    text = (write(marbles(), tmp_path / "out", name=name) / "README.md").read_text()
    assert "data/train/" in text
    assert {"trl": "answer_reward", "verl": "compute_score"}[name] in text


def test_the_readme_names_all_files_of_the_first_split_to_verl(tmp_path: Path) -> None:
    folder = write(marbles(), tmp_path / "out", name="verl")
    found = re.search(r"data\.train_files=\S.*(?= \\$)", (folder / "README.md").read_text(), re.MULTILINE)
    assert found is not None
    [only] = (folder / "data/train").iterdir()
    for names in ([only.name], ["00000-of-00002.parquet", "00001-of-00002.parquet"]):
        for name in names:
            (folder / "data/train" / name).write_bytes(b"")
        files = sorted(f"data/train/{path.name}" for path in (folder / "data/train").iterdir())
        said = subprocess.run(["sh", "-c", f"echo {found[0]}"], cwd=folder, capture_output=True, text=True, check=True)
        assert said.stdout == f"data.train_files=[{','.join(files)}]\n"


def test_both_are_formats_of_every_world() -> None:
    names: Mapping[str, Any] = {world: formats.names(get_world(world)) for world in ("babi", "clevr", "simtown")}
    assert all({"trl", "verl"} <= set(found) for found in names.values())
