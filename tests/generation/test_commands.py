"""The command line: the output, errors and exit statuses that other programs rely on."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from generation import __version__
from generation.engine.errors import BadSpec
from generation.making import dataset_jobs
from generation.management import console
from generation.management.commands.generate import Command as Generate
from generation.models import Dataset
from generation.specs.loading import change, load
from generation.specs.reproduction import recipe
from tests.generation.conftest import MANAGE, Child, child_environment, spec_of
from tests.proof import size

Begin = Callable[..., Dataset]


def test_generate_names_the_families_that_a_vocabulary_leaves_out() -> None:
    said = StringIO()
    shapes = {"sphere": None, "cylinder": None}
    for vocabulary in ({"shapes": shapes}, {}):
        data = change({"base": "clevr-mini", "vocabulary": vocabulary})
        Generate(stderr=said).say_what_is_left_out(data, {})
    lines = said.getvalue().splitlines()
    assert len(lines) == 13 and lines[0].startswith("Left out of train, val, test: Family 12, such as “Do the ")
    assert all(line.endswith(("always yes.", "always cube.")) for line in lines)


def run(*command: str, environment: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a management command on this test's database in a new process; return the finished process."""
    return subprocess.run(
        [sys.executable, MANAGE, *command],
        env=child_environment(**(environment or {})), capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def refusal(*command: str) -> str:
    """Return the one-line message with which a command refuses bad input."""
    with pytest.raises(CommandError) as caught:
        call_command(*command)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[Any], str]:
    """Give a function that writes a spec file and returns its path."""

    def write(content: Any) -> str:
        path = tmp_path / "My rows.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
class TestGenerate:
    def test_it_makes_a_dataset_and_prints_its_fingerprint(self, made: Dataset) -> None:
        done = run("generate", "fake-mini", "--name", "again", "--secret", f"test={'0f' * 16}", "--workers", "2")
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{made.fingerprint}\n"
        assert "45/45 scenes, 45/45 images" in done.stderr
        assert Dataset.objects.get(slug="again").visibility == "public"

    @pytest.mark.full
    @pytest.mark.parametrize("workers", ["1", "4"])
    def test_any_number_of_processes_makes_the_same_dataset(self, made: Dataset, workers: str) -> None:
        secret = f"test={'0f' * 16}"
        done = run("generate", "fake-mini", "--secret", secret, "--workers", workers, "--no-images")
        assert done.stdout.strip() == made.fingerprint

    def test_errors_are_one_line_on_standard_error_and_exit_status_2(self, made: Dataset) -> None:
        commands = [
            ["generate", "fake-mini", "--name", made.slug],
            ["generate"],
            ["generate", "fake-mini", "--scenes", "train"],
            ["generate", "fake-mini", "--workers", "65"],
            ["generate", "x" * 300],
            ["generate", "no-such-preset"],
            ["delete", "nothing"],
        ]
        for command in commands[: size(len(commands))]:
            done = run(*command)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr

    @pytest.mark.full
    def test_an_interrupted_command_can_be_resumed(self, made: Dataset, child: Child) -> None:
        command = [MANAGE, "generate", "fake-mini", "--name", "again", "--secret", f"test={'0f' * 16}"]
        process = child(*command, stderr=subprocess.PIPE, start_new_session=True)
        end = time.monotonic() + 60
        while not Dataset.objects.filter(slug="again", jobs__state="running").exists():
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        again = Dataset.objects.get(slug="again")
        if again.state == "making":
            assert process.returncode == 130
            assert "--resume" in errors.decode()
            assert not again.jobs.filter(state="running").exists()
        done = run(*command[1:], "--resume")
        assert done.stdout.strip() == made.fingerprint

    def test_ctrl_c_is_one_message_and_exit_status_130(self, monkeypatch: pytest.MonkeyPatch, made: Dataset) -> None:
        ended: list[str] = []

        class Interrupted:
            def __init__(self, dataset: Dataset, *, size: int) -> None: ...

            def watch(self, *, show: Any) -> None:
                signal.raise_signal(signal.SIGINT)

            def stop(self) -> None:
                ended.append("stop")

        command = Generate()
        command.from_command_line = True
        monkeypatch.setattr(console, "Pool", Interrupted)
        monkeypatch.setattr(console, "drop_connection", lambda: ended.append("drop"))
        bar = console.Bar(made, lambda _: (0.0, ""), total=1.0, disable=True)
        with pytest.raises(CommandError, match=r"^Stopped") as stopped:
            command.watch(bar, size=1, kept="made")
        assert stopped.value.returncode == 130
        assert ended == ["drop", "stop"]

    @pytest.mark.full
    def test_dying_processes_are_replaced_until_the_command_gives_up(self, db: None) -> None:
        done = run("generate", "fake-mini", "--workers", "1", environment={"FAKE_WORLD_DIES_AT": "items:2"})
        assert done.returncode == 1
        assert Dataset.objects.get().state == "making"  # a dead process does not make the dataset fail
        assert "Expected background processes that stay alive, got one after the other that stopped." in done.stderr
        assert done.stderr.strip().endswith("To continue, run the same command with all its options and --resume.")

    def test_an_error_of_the_engine_is_reported(self, file: Callable[[Any], str]) -> None:
        done = run("generate", file(spec_of(impossible_scene=3)), "--name", "rows", "--workers", "1")
        assert done.returncode == 1
        assert done.stderr.strip().endswith("scene 3: Expected a row within 3 tries, got none.")


@pytest.mark.full
@pytest.mark.slow
def test_a_new_database_gets_its_tables_automatically(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    done = subprocess.run(
        [sys.executable, MANAGE, "datasets", "--json"],
        env={**kept, "VAR_DIR": str(tmp_path)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, [], "")


# Pages, compilation, and programs that this site does not have.
UNUSED = ("webapp.urls", "ninja", "numba", "llvmlite", "redis", "psycopg", "vl_convert")


@pytest.mark.slow
def test_a_command_does_not_load_what_it_does_not_use(migrated_environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", MANAGE, "datasets"],
        env=migrated_environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert loaded >= {"generation.models", "generation.management.console"}
    assert loaded.isdisjoint(UNUSED)


@pytest.mark.django_db
class TestGenerateRefuses:
    def test_an_existing_name_with_a_hint_at_resume(self, made: Dataset) -> None:
        assert "--resume" in refusal("generate", "fake-mini", "--name", "rows")

    def test_to_resume_another_spec(self, begin: Begin) -> None:
        begin()
        words = refusal("generate", "fake-mini", "--name", "rows", "--seed", "9", "--resume")
        assert words.startswith("rows: Expected the spec that the dataset was begun with")

    def test_to_resume_with_a_wrong_secret(self, made: Dataset) -> None:
        again = ["generate", "fake-mini", "--name", "rows", "--resume", "--secret"]
        assert refusal(*again, "train=zz").startswith("--secret train: Expected 32 hexadecimal digits")
        assert "another one" in refusal(*again, f"test={'0e' * 16}")
        assert "it was begun without" in refusal(*again, f"train={'0e' * 16}")
        out = StringIO()
        call_command(*again, f"test={'0F' * 16}", stdout=out)
        assert out.getvalue().strip() == made.fingerprint

    @pytest.mark.parametrize(("begun", "options"), [(True, ["--no-images"]), (False, [])])
    def test_to_resume_with_images_if_there_are_none_or_the_reverse(
        self, begin: Begin, begun: bool, options: list[str]
    ) -> None:
        begin(images=begun)
        words = refusal("generate", "fake-mini", "--name", "rows", "--resume", *options)
        assert words.startswith(f"rows: Expected {'images' if begun else 'no images'}")

    def test_not_the_resume_command_that_the_page_of_a_dataset_shows(self, begin: Begin) -> None:
        dataset = begin(images=False)
        said = recipe(dataset, splits=[], has_files=False, sees_secrets=False).resume
        assert said == "python manage.py generate rows.json --name rows --no-images --resume"

    def test_to_resume_under_another_engine_version(self, begin: Begin) -> None:
        begin()
        Dataset.objects.update(engine_version="0")
        words = refusal("generate", "fake-mini", "--name", "rows", "--resume")
        assert f"begun by release {__version__} (engine 0)" in words and "Continue it with engine 0" in words

    def test_a_file_that_is_not_json(self, file: Callable[[Any], str]) -> None:
        assert (
            "Expected JSON, got something else (Expecting property name enclosed in double quotes) (line 1, byte 2)"
            in refusal("generate", file("{oops"))
        )

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("[" * 100_000 + "]" * 100_000, "Expected at most 64 lists and objects inside one another, got more"),
            ('{"a":' * 100 + "1" + "}" * 100, "Expected at most 64 lists and objects inside one another, got more"),
            (
                '{"seed": ' + "1" * 5000 + "}",
                "Expected numbers of at most 100 characters, got a longer one",
            ),
        ],
    )
    def test_json_that_is_too_deep_or_has_too_long_numbers(
        self, file: Callable[[Any], str], content: str, words: str
    ) -> None:
        assert words in refusal("generate", file(content))

    def test_a_name_that_is_too_long_for_a_file(self) -> None:
        assert "Expected a preset's name or a JSON file, got 'xxx" in refusal("generate", "x" * 300)
        assert "Expected a JSON file, got none" in refusal("generate", "x" * 300 + ".json")

    def test_an_empty_name(self) -> None:
        assert refusal("generate", "fake-mini", "--name", "").startswith("slug: Expected at most 60 small letters")

    @pytest.mark.parametrize("option", [["--scenes", "train=3"], ["--secret", f"train={'00' * 16}"]])
    def test_an_option_that_names_a_split_twice(self, option: list[str]) -> None:
        other = [option[0], option[1][:-1] + "9"]
        assert (
            refusal("generate", "fake-mini", *option, *other)
            == f"{option[0]}: Expected each split once, got train again."
        )

    def test_more_than_64_processes(self) -> None:
        with pytest.raises(CommandError, match="expected a number of processes, 1 to 64, got '65'"):
            call_command("generate", "fake-mini", "--workers", "65")

    def test_json_that_is_not_an_object(self, file: Callable[[Any], str]) -> None:
        assert "Expected a JSON object, got list" in refusal("generate", file([]))

    def test_a_missing_file(self) -> None:
        assert "nowhere.json: Expected a JSON file" in refusal("generate", "nowhere.json")

    def test_a_spec_without_a_world(self, file: Callable[[Any], str]) -> None:
        assert refusal("generate", file({"splits": {}})).startswith("world: Expected the name of a world")

    def test_a_bad_spec_with_the_message_of_the_exception(self, file: Callable[[Any], str]) -> None:
        data = spec_of(colours=["orange"])
        with pytest.raises(BadSpec) as caught:
            change(data)
        assert refusal("generate", file(data)) == str(caught.value)

    def test_a_spec_whose_splits_are_all_left_out(self) -> None:
        zeros = [part for name in ("train", "val", "test") for part in ("--scenes", f"{name}=0")]
        assert refusal("generate", "fake-mini", *zeros).startswith("splits:")

    def test_an_unknown_split(self) -> None:
        assert "Expected one of train, val, test, got 'exam'" in refusal("generate", "fake-mini", "--scenes", "exam=3")

    @pytest.mark.parametrize("wrong", ["train", "train=", "=3", "train=many", "train=-1"])
    def test_scenes_that_are_not_a_split_and_a_number(self, wrong: str) -> None:
        with pytest.raises(CommandError, match="--scenes"):
            call_command("generate", "fake-mini", "--scenes", wrong)

    def test_bad_options_without_making_a_dataset(self) -> None:
        for wrong in (["--name", "New!"], ["--secret", "test=00"], ["--scenes", "exam=3"], ["--seed", "-1"]):
            refusal("generate", "fake-mini", *wrong)
        assert not Dataset.objects.exists()


def test_the_scenes_option_changes_only_its_split() -> None:
    source = load("fake-mini")
    data = change(source.data, seed=7, scenes={"train": 5, "val": 0})
    assert (data["seed"], list(data["splits"])) == (7, ["train", "test"])
    assert (data["splits"]["train"]["scenes"], data["splits"]["test"]["scenes"]) == (5, 7)


def test_a_split_that_is_left_out_is_no_longer_a_reference() -> None:
    data = spec_of(splits={"a": {"scenes": 1}, "b": {"scenes": 1, "reference": "a"}})
    assert change(data, scenes={"a": 0})["splits"]["b"]["reference"] is None


def test_a_spec_may_start_from_a_preset_without_naming_its_world(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("hello")
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"base": "fake-mini", "seed": 3, "note": "note.txt"}))
    source = load(str(path))
    assert (source.name, list(source.files.values())) == ("mine", [b"hello"])
    assert change(source.data, files=source.files)["seed"] == 3


def test_a_spec_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(spec_of(seed=3)), encoding="utf-8-sig")
    assert load(str(path)).data["seed"] == 3


def test_a_spec_may_have_64_levels(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"world": "fake-rows", "deep": json.loads("[" * 63 + "]" * 63)}))
    assert load(str(path)).name == "rows"


def test_a_downloaded_spec_finds_its_files_by_digest(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"hello").hexdigest()
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / digest).write_bytes(b"hello")
    (tmp_path / "files" / ("0" * 64)).write_bytes(b"not asked for")
    (tmp_path / "spec.json").write_text(json.dumps(spec_of(note=digest)))
    assert load(str(tmp_path / "spec.json")).files == {digest: b"hello"}
    (tmp_path / "files" / digest).write_bytes(b"changed")
    with pytest.raises(BadSpec, match="Expected a file with its name as SHA-256"):
        load(str(tmp_path / "spec.json"))


@pytest.mark.django_db
class TestOtherCommands:
    def test_datasets_as_json(self, made: Dataset) -> None:
        out = StringIO()
        call_command("datasets", "--json", stdout=out)
        assert json.loads(out.getvalue()) == [
            {
                "slug": "rows",
                "world": "fake-rows",
                "state": "complete",
                "splits": ["train", "val", "test"],
                "scenes": 45,
                "questions": 135,
                "fingerprint": made.fingerprint,
            }
        ]

    def test_datasets_as_a_table(self, made: Dataset) -> None:
        out = StringIO()
        call_command("datasets", stdout=out)
        head, row = out.getvalue().splitlines()
        assert head.split() == ["slug", "world", "state", "splits", "scenes", "questions", "fingerprint"]
        assert row.split() == ["rows", "fake-rows", "complete", "train,val,test", "45", "135", made.fingerprint]

    def test_no_datasets(self) -> None:
        out = StringIO()
        call_command("datasets", "--json", stdout=out)
        assert json.loads(out.getvalue()) == []

    def test_delete_removes_a_dataset_and_keeps_the_others(self, made: Dataset, begin: Begin) -> None:
        other = begin("other")
        dataset_jobs.work(dataset=other)
        call_command("delete", "rows")
        assert [dataset.slug for dataset in Dataset.objects.all()] == ["other"]
        for split in other.splits.all():  # it was made from the same spec, but it keeps its own index
            dataset_jobs.sealing.seal(split)
            from generation.storage.split_index import SplitIndex, open_digest

            open_digest.cache_clear()
            assert SplitIndex.open(split).n == split.questions

    def test_delete_removes_an_unfinished_dataset(self, begin: Begin) -> None:
        begin()
        dataset_jobs.RUNNER.run(dataset_jobs.claim())  # type: ignore[arg-type]
        call_command("delete", "rows")
        assert not Dataset.objects.exists()

    def test_cancel_stops_making_a_dataset(self, begin: Begin) -> None:
        dataset = begin()
        call_command("cancel", "rows")
        dataset.refresh_from_db()
        assert dataset.state == "cancelled" and dataset_jobs.claim() is None

    def test_cancel_refuses_a_complete_dataset(self, made: Dataset) -> None:
        assert "got one that is complete" in refusal("cancel", "rows")

    def test_work_runs_the_waiting_jobs(self, begin: Begin) -> None:
        dataset = begin()
        call_command("work")
        dataset.refresh_from_db()
        assert dataset.state == "complete"

    @pytest.mark.parametrize("command", ["delete", "cancel"])
    def test_an_unknown_dataset_is_refused_with_the_names_of_existing_ones(self, made: Dataset, command: str) -> None:
        assert refusal(command, "nothing") == "Expected a dataset (rows), got 'nothing'."
