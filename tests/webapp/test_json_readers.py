"""All JSON that users send is read by `bounded_json`; the few other readers are listed here, each with its reason."""

import ast
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from generation.engine.environment.__main__ import main as report_on_items
from generation.engine.errors import BadSpec, BadTraining
from generation.engine.worlds.simtown.frequency_files import read_shares
from tests.webapp.commands import ROOT
from webapp.leaderboards.training.orders import config_of

PARSERS = {"load", "loads", "raw_decode", "JSONDecoder"}

OURS = "the site wrote it: a column of its database, a file in VAR_DIR, or a file of the source tree"
CHILD = "a message between the site and a child process that it started"
ASKING = "static/ask.py is built from it: responses of a site that its user names, and of a model, with limits of size"
PREDICTIONS = "lines of predictions and replies; `once` refuses names that occur twice, in a child process with limits"
REASONS = {
    "annotations/answering/exclusion_rules.py": OURS,
    "annotations/markdown.py": CHILD,
    "annotations/results/baseline_page.py": OURS,
    "generation/asking/model_server/interfaces.py": ASKING,
    "generation/asking/questions.py": ASKING,
    "generation/asking/reply_log.py": "lines that the script wrote on the machine of its user",
    "generation/asking/results.py": "lines that the script wrote on the machine of its user",
    "generation/asking/site.py": ASKING,
    "generation/browsing/stories.py": OURS,
    "generation/charts/drawing.py": CHILD,
    "generation/charts/drawing_process.py": CHILD,
    "generation/engine/formats/lmms_eval_task.py": OURS,
    "generation/engine/learners/examples.py": OURS,
    "generation/engine/learners/model_files.py": OURS,
    "generation/engine/learners/memory_process.py": CHILD,
    "generation/engine/learners/training_process.py": CHILD,
    "generation/engine/predictions/packed_predictions.py": OURS,
    "generation/engine/predictions/packed_replies.py": OURS,
    "generation/engine/predictions/forms/json_files.py": PREDICTIONS,
    "generation/engine/predictions/reply_records.py": PREDICTIONS,
    "generation/engine/program.py": OURS,
    "generation/engine/reading/bounded_json.py": "it is the reader",
    "generation/engine/reading/json_stream.py": "it is the reader of large files, in pieces that `Guarded` checks",
    "generation/engine/replies/marked_answers.py": "a text of a model, from which it takes one value of a short object",
    "generation/engine/replies/steps.py": "a text of a model, from which it takes one array; it refuses the same",
    "generation/engine/render/blender.py": CHILD,
    "generation/engine/render/blender_script.py": CHILD,
    "generation/engine/spec.py": OURS,
    "generation/engine/worlds/simtown/visual_genome.py": "a published file of 1 GB, read by its owner's command",
    "generation/exchange/prediction_files.py": CHILD,
    "generation/exchange/reply_files.py": CHILD,
    "generation/making/ingestion.py": OURS,
    "generation/models/datasets.py": OURS,
    "generation/models/exports.py": OURS,
    "generation/models/imports.py": OURS,
    "generation/models/items.py": OURS,
    "generation/models/reports.py": OURS,
    "generation/specs/preview_process.py": CHILD,
    "generation/specs/previews.py": CHILD,
    "generation/storage/items.py": OURS,
    "generation/storage/split_index.py": OURS,
    "webapp/backups/archive_reader.py": "an archive that its operator restores, whose digests are checked",
    "webapp/leaderboards/analysis/costs.py": OURS,
    "webapp/leaderboards/findings/definitions.py": OURS,
    "webapp/leaderboards/findings/records.py": OURS,
    "webapp/leaderboards/models/disclosures.py": OURS,
    "webapp/leaderboards/models/submissions.py": OURS,
    "webapp/leaderboards/models/trainings.py": OURS,
    "webapp/leaderboards/training/process.py": CHILD,
    "webapp/leaderboards/training/results.py": CHILD,
    "webapp/leaderboards/training/training_jobs.py": OURS,
    "webapp/running/cache_serializer.py": OURS,
    "webapp/running/shared_cache.py": OURS,
}


def is_parser(node: ast.AST) -> bool:
    """Return whether a node is a name of the module `json` that parses, or the body of a request."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "json" and any(alias.name in PARSERS for alias in node.names)
    if not isinstance(node, ast.Attribute):
        return False
    of_json = isinstance(node.value, ast.Name) and node.value.id == "json" and node.attr in PARSERS
    return of_json or node.attr == "raw_decode" or (node.attr == "body" and getattr(node.value, "id", "") == "request")


def test_no_other_module_parses_json() -> None:
    modules = [path for room in ("annotations", "generation", "webapp") for path in (ROOT / room).rglob("*.py")]
    found = {
        str(path.relative_to(ROOT))
        for path in modules
        if "json" in (text := path.read_text()) or "request.body" in text
        if any(is_parser(node) for node in ast.walk(ast.parse(text)))
    }
    assert len(modules) > 300
    assert found == set(REASONS)


HOSTILE = {
    "brackets": "[" * 10_000,
    "objects": '{"a":' * 10_000,
    "twice": '{"epochs": 1, "epochs": 2}',
    "NaN": '{"epochs": NaN}',
    "Infinity": '{"epochs": -Infinity}',
    "digits": f'{{"epochs": {"9" * 5000}}}',
    "surrogate": '{"epochs": "\\ud800"}',
    "cut off": '{"epochs": 1',
    "two values": "{} {}",
    "Latin-1": b'{"epochs": "\xe9"}',
    "UTF-16": "{}".encode("utf-16"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_every_door_refuses_hostile_json_with_a_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = HOSTILE[name]
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(BadTraining, match=r"^settings: Expected settings as JSON, got another text\. Expected"):
        config_of(text, where="settings")
    with pytest.raises(BadSpec, match=r"Expected a readable JSON file, got 'shares\.json'"):
        read_shares(content, name="shares.json", where="questions.shares")
    file = tmp_path / "spec.json"
    file.write_bytes(content)
    assert report_on_items([str(file)]) != 0
    assert "Expected a readable JSON file" in capsys.readouterr().err
    with pytest.raises(CommandError, match=r"spec\.json"):
        call_command("generate", str(file))


def test_a_byte_order_mark_is_accepted() -> None:
    assert config_of(b'\xef\xbb\xbf{"epochs": 1}', where="settings") == {"epochs": 1}
