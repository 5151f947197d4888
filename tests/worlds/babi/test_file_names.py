"""The names of the files and folders of the release."""

import pytest

from generation.engine.worlds.babi.formats import file_names

SPLITS = ("train", "val", "test", "hard_2", "valid2")


@pytest.mark.parametrize("has_validation", [True, False])
def test_a_file_name_contains_task_and_split(has_validation: bool) -> None:
    for task in range(1, 21):
        for split in SPLITS:
            name = file_names.file_name(task, split, has_validation=has_validation)
            assert file_names.parse_file_name(name) == (task, split), name


@pytest.mark.parametrize("name", ["qa7_lists-sets_train.txt", "qa21_train.txt", "qa1_.txt", "qa1_train.json", "readme"])
def test_other_file_names_are_not_recognised(name: str) -> None:
    assert file_names.parse_file_name(name) is None


def test_a_folder_is_named_after_language_validation_and_size() -> None:
    names = {
        file_names.folder_name(language, has_validation=validation, questions=questions)
        for language in file_names.LANGUAGES
        for validation, questions in ((False, 1_000), (False, 10_000), (True, 900), (True, 9_000))
    }
    assert {"en", "hn", "shuffled", "en-10k", "hn-10k", "shuffled-10k", "en-valid", "en-valid-10k"} <= names
    assert {file_names.language_of(name) for name in names} == set(file_names.LANGUAGES)
