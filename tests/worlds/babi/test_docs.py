"""The documentation of bAbI names every task, preset and parameter, and the correct sizes of small spaces."""

from generation.engine.worlds.babi.facets import spaces
from generation.engine.worlds.babi.spec import PRESETS, read_spec
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.tasks import BY_NUMBER
from webapp import documentation

TEXT = documentation.source("babi")


def test_every_task_preset_and_parameter_is_named() -> None:
    for task in BY_NUMBER.values():
        assert f"| {task.number} | {task.label} |" in TEXT
    for name in tuple(PRESETS):
        assert f"| `{name}` |" in TEXT
    for name, field in StoryParameters.model_fields.items():
        default = str(field.default).lower() if isinstance(field.default, bool) else field.default
        assert f"| `{name}` | {default} |" in TEXT.replace("`false`", "false").replace("`english`", "english"), name


def test_the_documented_sizes_of_spaces_are_correct() -> None:
    found = spaces(read_spec(PRESETS["babi"]))
    assert len(found) == 4
    for name, space in found.items():
        number = next(task.number for task in BY_NUMBER.values() if task.name == name)
        assert f"| {number} | {space['seen_story']:,} | {space['seen_question']:,} |" in TEXT
    wide = spaces(read_spec({"base": "babi", "told": {"places": 14}}))
    assert f"{wide[BY_NUMBER[4].name]['seen_story']:,} stories" in TEXT
