"""Chunks, scenes and questions: the content of a split."""

import json
from typing import Any

from django.db import models
from django.db.models import Q
from django.urls import reverse

from generation.engine.program import Program, from_text
from generation.models.datasets import Split


class Chunk(models.Model):
    """Scenes and questions of a split that are made together. Pages call it a batch."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    number = models.PositiveIntegerField()
    first_scene = models.PositiveIntegerField()
    scenes = models.PositiveIntegerField()
    first_question = models.PositiveIntegerField()
    questions = models.PositiveIntegerField()
    made = models.BooleanField(default=False)
    replaced = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("split", "number")
        constraints = (models.UniqueConstraint(fields=["split", "number"], name="chunk_once"),)

    def __str__(self) -> str:
        return f"{self.split} batch {self.number}"


class SceneQuerySet(models.QuerySet["Scene"]):
    def between(self, split: Split, first: int, count: int) -> "SceneQuerySet":
        return self.filter(split=split, position__gte=first, position__lt=first + count).order_by("position")


class Scene(models.Model):
    """A thing that questions are about: an image or a story."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="scene_set", db_index=False)
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="scene_set")
    position = models.PositiveIntegerField()
    data = models.TextField(  # noqa: DJ001
        null=True, blank=True, help_text="Canonical JSON; absent where there is no scene."
    )
    view = models.TextField(null=True, blank=True, help_text="JSON of camera and lights.")  # noqa: DJ001
    replaced = models.PositiveIntegerField(default=0)
    image = models.CharField(max_length=200, blank=True, help_text="File name in the storage.")
    ids_image = models.CharField(max_length=200, blank=True, help_text="File name of the object ids.")
    linked = models.CharField(
        max_length=300, blank=True, help_text="Somebody else's picture, by its path below the dataset's images_folder."
    )
    source_number = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Of somebody else's scene: its picture's number where it was published."
    )
    source_image = models.CharField(max_length=200, blank=True, help_text="And its picture's file name there.")
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)

    objects = SceneQuerySet.as_manager()

    class Meta:
        """Each position exists once."""

        ordering = ("split", "position")
        constraints = (
            models.UniqueConstraint(fields=["split", "position"], name="scene_position_once"),
            models.CheckConstraint(
                condition=Q(image="", linked="") | Q(width__gt=0, height__gt=0), name="scene_image_has_size"
            ),
            models.CheckConstraint(condition=Q(image="") | Q(linked=""), name="scene_image_is_one"),
        )

    def __str__(self) -> str:
        return f"{self.split} scene {self.position}"

    @property
    def has_picture(self) -> bool:
        return bool(self.image or self.linked)

    @property
    def scene_json(self) -> dict[str, Any] | None:
        return None if self.data is None else json.loads(self.data)

    @property
    def view_json(self) -> dict[str, Any] | None:
        return None if self.view is None else json.loads(self.view)  # camera and lights


class QuestionQuerySet(models.QuerySet["Question"]):
    """Reads of questions."""

    def for_browse(self, split: Split, positions: list[int]) -> list["Question"]:
        """Return the questions at these positions, in the given order, with the scene data that a list shows."""
        found = self.filter(split=split, position__in=positions).select_related("scene")
        found = found.defer("program", "scene__data", "scene__view")
        by_position = {question.position: question for question in found}
        return [by_position[position] for position in positions if position in by_position]


class Question(models.Model):
    """A question about a scene. Pages and files leave out fields that are None."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="question_set", db_index=False)
    scene = models.ForeignKey(Scene, on_delete=models.CASCADE, related_name="question_set")
    position = models.PositiveIntegerField()
    text = models.TextField()
    program = models.TextField(null=True, blank=True, help_text="Canonical JSON.")  # noqa: DJ001
    answer = models.TextField(null=True, blank=True)  # noqa: DJ001
    answer_kind = models.CharField(max_length=10, blank=True)
    spelling = models.TextField(null=True, blank=True, help_text="The published spelling, where it differs.")  # noqa: DJ001
    kind = models.CharField(max_length=40, blank=True)
    family = models.PositiveIntegerField(null=True, blank=True)
    scope = models.PositiveIntegerField(null=True, blank=True)
    source_id = models.CharField(max_length=100, blank=True)

    objects = QuestionQuerySet.as_manager()

    class Meta:
        ordering = ("split", "position")
        constraints = (models.UniqueConstraint(fields=["split", "position"], name="question_position_once"),)

    def __str__(self) -> str:
        return f"{self.split} question {self.position}"

    def get_absolute_url(self) -> str:
        return reverse("question", args=[self.split.dataset.slug, self.split.name, self.position])

    @property
    def program_json(self) -> list[dict[str, Any]] | None:
        return None if self.program is None else json.loads(self.program)

    @property
    def steps(self) -> Program | None:
        return None if self.program is None else from_text(self.program)
