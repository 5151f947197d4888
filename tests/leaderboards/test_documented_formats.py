"""The example of each format on the page about predictions is uploaded unchanged and scored."""

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.leaderboards import sent
from tests.webapp.test_predictions_docs import FORMATS, examples
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Method, Submission

ANSWERS = ["yes", "red", "cube", "3"]


def test_every_example_is_uploaded_and_scored(as_member: Client, method: Method) -> None:
    split = small.made("tiny", with_images=False, splits={"val": {"scenes": 1}}).splits.get()
    assert split.questions == len(ANSWERS)
    for example in examples():
        file = SimpleUploadedFile(str(example.file), example.body.encode())
        sending = {"method": method.pk, "file": file, "run": example.file}
        assert as_member.post("/submissions/new/?to=tiny/val", sending).status_code == 302
    scoring.RUNNER.take_turn()
    rows = Submission.objects.filter(method=method).order_by("pk")
    assert {row.run: (row.state, row.format, row.outside) for row in rows} == {
        name: ("done", form, 0) for name, form in FORMATS.items()
    }
    right = sum(one == other for one, other in zip(ANSWERS, sent.truth_of(split), strict=True))
    assert {row.scores.get(split=split).right for row in rows} == {right}
    assert set(ANSWERS) <= set(SplitIndex.open(split).answer_values)
