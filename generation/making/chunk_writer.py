"""Storing the scenes and questions of one chunk as rows, in a few transactions."""

from collections.abc import Iterable, Sequence

from django.db import transaction

from generation.engine import worlds as engine
from generation.engine.content_hash import canonical
from generation.engine.errors import BadScene
from generation.engine.program import to_text
from generation.models import Chunk, Job, Question, Scene
from generation.queue import leases

ROWS = 5000  # largest number of rows that one transaction writes


class ChunkWriter:
    """Writes the items of a chunk as rows, in transactions of at most `ROWS` rows, each under the job's token.

    The last transaction also marks the chunk as made and creates the jobs that follow. Rows that a killed attempt left
    are deleted first.
    """

    def __init__(self, job: Job) -> None:
        assert job.chunk is not None and job.split is not None
        self.job, self.chunk, self.split = job, job.chunk, job.split
        self.scenes: list[Scene] = []
        self.questions: list[Question] = []
        self.scene_at, self.question_at = self.chunk.first_scene, self.chunk.first_question
        self.replaced = 0

    def write(self, items: Iterable[engine.Item], *, then: Sequence[Job] = ()) -> None:
        """Store all items, create the jobs `then`, and finish the job; raise `LeaseLost` or `BadScene`."""
        self._clear()
        for item in items:
            if len(self.scenes) + len(self.questions) + 1 + len(item.questions) > ROWS:
                with transaction.atomic():
                    leases.renew(self.job)
                    self._flush()
            self._add(item)
        self._check_complete()
        with transaction.atomic():
            leases.renew(self.job)
            self._flush()
            Chunk.objects.filter(pk=self.chunk.pk).update(made=True, replaced=self.replaced)
            Job.objects.bulk_create(then, ignore_conflicts=True)
            leases.finish(self.job)

    def _clear(self) -> None:
        while True:
            with transaction.atomic():
                leases.renew(self.job)
                left = list(self.chunk.scene_set.values_list("pk", flat=True)[:100])
                if not left:
                    return
                Question.objects.filter(scene__in=left).delete()
                Scene.objects.filter(pk__in=left).delete()

    def _add(self, item: engine.Item) -> None:
        scene = Scene(
            split=self.split,
            chunk=self.chunk,
            position=self.scene_at,
            data=None if item.scene is None else canonical(item.scene.to_json()),
            view=None if item.view is None else canonical(item.view.to_json()),
            source_number=item.number,
            source_image=item.image_name,
            replaced=item.replaced,
        )
        self.scenes.append(scene)
        for number, question in enumerate(item.questions):
            self.questions.append(question_row(question, scene=scene, position=self.question_at + number))
        self.scene_at += 1
        self.question_at += len(item.questions)
        self.replaced += item.replaced

    def _flush(self) -> None:
        Scene.objects.bulk_create(self.scenes)
        Question.objects.bulk_create(self.questions)
        self.scenes, self.questions = [], []

    def _check_complete(self) -> None:
        chunk = self.chunk
        made = self.scene_at - chunk.first_scene, self.question_at - chunk.first_question
        if made != (chunk.scenes, chunk.questions):
            raise BadScene(
                f"Expected {chunk.scenes} scenes with {chunk.questions} questions, got {made[0]} with {made[1]}.",
                where=str(chunk),
            )


def question_row(question: engine.Question, *, scene: Scene, position: int) -> Question:
    """Return a question of the engine as a row that is not stored yet."""
    answer = question.answer
    return Question(
        split=scene.split,
        scene=scene,
        position=position,
        text=question.text,
        program=None if question.program is None else to_text(question.program),
        answer=None if answer is None else answer.text,
        answer_kind="" if answer is None else answer.kind,
        spelling=None if answer is None else answer.spelling,
        kind=question.kind,
        family=question.family,
        scope=question.scope,
        source_id=question.source_id or "",
    )
