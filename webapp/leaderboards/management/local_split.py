"""A split of this site for `manage.py ask`, read and scored in this process, without a server."""

import io
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from generation.asking.console import Refused, Unreachable, say
from generation.asking.questions import AskedQuestion, questions_in, with_steps
from generation.asking.site import ANSWERS, UNSCORED, submission_keys
from generation.engine.formats import ExportItem
from generation.engine.formats.jsonl import question_line, steps_line
from generation.exchange.exports import StoredDataset, Viewer
from generation.making.process_pool import stoppable
from generation.models import Scene, Split
from generation.storage.items import questions_at
from generation.storage.pictures import picture_bytes
from webapp.leaderboards import method_names, scoring, uploads
from webapp.leaderboards.disclosure.visibility import outcomes_of
from webapp.leaderboards.method_names import BadMethodName
from webapp.leaderboards.models import Method, Submission
from webapp.leaderboards.uploads import Order, UploadRefused
from webapp.models import User

BATCH = 900  # questions read per query


class LocalSplit:
    """A `QuestionSource` without a server.

    The command line may read everything, so answers and steps are read even if they are withheld.
    """

    def __init__(self, split: Split, options: Namespace, *, owner: Callable[[str], User]) -> None:
        """Open a split; `owner` returns the owner of the method with a name, and is called only to submit."""
        self.split, self.options, self.owner = split, options, owner
        if not split.is_complete:
            raise Refused(f"Expected a complete split, got {split}, whose state is {split.get_state_display()}.")
        self.fingerprint = split.fingerprint
        world, spec = split.dataset.get_world(), split.read_spec()
        self.answers = list(world.answers(spec))
        self.synonyms = dict(world.synonyms(spec))
        self.dataset = StoredDataset(split.dataset, splits=[split.name], viewer=Viewer(withheld=True))
        self.stored = self.dataset.stored[0]

    def questions(self, folder: Path) -> list[AskedQuestion]:
        lines = (question_line(self.dataset, self.stored, *place) for place in self._places())
        return questions_in(lines)

    def with_steps(self, questions: Sequence[AskedQuestion], folder: Path) -> list[AskedQuestion]:
        return with_steps(questions, (steps_line(self.stored, *place) for place in self._places()))

    def _places(self) -> Iterator[tuple[ExportItem, int]]:
        for entry in self.stored.items():
            for number in range(len(entry.item.questions)):
                yield entry, number

    def pictures(
        self, questions: Sequence[AskedQuestion], chosen: Sequence[AskedQuestion], folder: Path
    ) -> Callable[[AskedQuestion], bytes]:
        """Return a function that reads the picture of a question. It needs no database, because threads call it."""
        scenes: dict[int, Scene] = {}
        wanted = [question.number for question in chosen if question.picture is not None]
        for first in range(0, len(wanted), BATCH):
            for row in questions_at(self.split, wanted[first : first + BATCH]):
                scenes[row.position] = Scene(image=row.scene.image, linked=row.scene.linked)
        return lambda question: picture_bytes(scenes[question.number], self.split.dataset)

    def check(self, fields: Mapping[str, str], answers: bytes) -> None:
        """Raise `Refused` if the answers could not be submitted; no method is made."""
        owner = self.owner(fields["method"])
        try:
            found = method_names.find(owner, fields["method"])
            method = found or Method(owner=owner, name=method_names.read(fields["method"], owner=owner))
            uploads.check_upload(owner, self._order(fields, method), io.BytesIO(answers), ANSWERS)
        except (BadMethodName, UploadRefused) as refusal:
            raise Refused(str(refusal)) from refusal

    def submit(self, fields: Mapping[str, str], answers: bytes, replies: Path | None) -> dict[str, Any]:
        """Submit the answers, score them here, and return the submission as the API does."""
        owner = self.owner(fields["method"])
        try:
            method, is_new = method_names.find_or_create(owner, fields["method"], made=Method.Made.ELSEWHERE)
        except BadMethodName as error:
            raise Refused(str(error)) from error
        order = self._order(fields, method)
        try:
            for key in submission_keys(fields, answers):
                submission, is_repeat = self._receive(owner, order._replace(key=key), answers, replies)
                if not is_repeat or submission.state not in UNSCORED:
                    break
        except UploadRefused as refusal:
            if is_new:
                method.delete()
            raise Refused(str(refusal)) from refusal
        say(f"Submission {submission.pk}: {submission.get_absolute_url()}")
        with stoppable():
            if not scoring.score_now(submission):
                raise Unreachable(f"Expected a score within the hour, got none: {submission}.")
        return submission_json(owner, submission)

    def _receive(self, owner: User, order: Order, answers: bytes, replies: Path | None) -> tuple[Submission, bool]:
        with nullcontext() if replies is None else replies.open("rb") as also:
            found = uploads.receive(owner, order, io.BytesIO(answers), ANSWERS, replies=also)
        return found.submissions[0], found.is_repeat

    def _order(self, fields: Mapping[str, str], method: Method) -> Order:
        run, fingerprint, note = (fields.get(name, "") for name in ("run", "fingerprint", "note"))
        return Order(method, self.split, run=run, fingerprint=fingerprint, note=note)


def submission_json(owner: User, submission: Submission) -> dict[str, Any]:
    """Return what the script prints of a submission that has ended."""
    scores = []
    if submission.is_scored:
        scores = [{"split": str(one.split), **one.figure.to_json()} for one in outcomes_of(owner, submission)]
    return {"id": submission.pk, "state": submission.state, "message": submission.message, "scores": scores}
