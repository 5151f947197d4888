"""JSON schemas of responses; a field that does not exist or that the user may not see is absent."""

from datetime import datetime
from typing import Any, Generic, TypeVar

from ninja import Schema
from pydantic import Field

T = TypeVar("T")


class FaultOut(Schema):
    """An error: a code for programs, a message for people, and details."""

    code: str
    message: str
    details: dict[str, Any]


class ErrorBody(Schema):
    """The body of every refusal."""

    error: FaultOut


class PageOut(Schema, Generic[T]):
    """A page of a list. `next` and `previous` are URLs on this site, null at the ends."""

    count: int
    page: int
    pages: int
    next: str | None
    previous: str | None
    results: list[T]


class Account(Schema):
    """The account of the request."""

    username: str
    name: str
    is_researcher: bool
    is_staff: bool


class SplitOut(Schema):
    """A part of a dataset with a role."""

    name: str
    kind: str = Field(description="generated, imported or derived")
    state: str = Field(description="waiting, making, complete or failed")
    withheld: bool = Field(description="Whether its answers are withheld from others than its owner.")
    opened: datetime | None = Field(default=None, description="When its withheld answers were opened.")
    parent: str | None = Field(default=None, description="Of a derived split: the one that has its questions.")
    reference: str | None = Field(default=None, description="The train split that it is measured against.")
    scenes: int
    questions: int
    fingerprint: str = Field(description="Its content hash; empty until it is complete.")
    url: str = Field(description="Where to ask for more of it.")
    page: str = Field(description="Its page for people.")


class FacetOut(Schema):
    """A property by which questions can be filtered and counted."""

    name: str
    label: str
    kind: str = Field(description="category, integer or flags")
    values: list[str]
    reveals: bool = Field(description="Whether it tells more than the question's words.")


class SplitInFull(SplitOut):
    """A split with its possible answers and its facets."""

    answers: list[str] = Field(description="Every answer that there is: the whole vocabulary.")
    synonyms: dict[str, str] = Field(description="Other words for answers and their parts, which replies may have.")
    facets: list[FacetOut]
    questions_url: str
    scenes_url: str
    questions_file: str = Field(description="All questions: a gzipped line of JSON each.")
    twin_of: str | None = Field(default=None, description="Of a fresh twin: the split whose spec it was drawn from.")
    fresh_twins: list[str] = Field(default=[], description="The complete fresh twins of this split that you may see.")
    images_file: str | None = Field(default=None, description="All pictures: a tar file.")
    steps_file: str | None = Field(
        default=None, description="The steps of all programs with their results: a gzipped line of JSON each."
    )


class DatasetOut(Schema):
    """A dataset with its splits in order."""

    slug: str
    title: str
    description: str
    authors: list[str]
    licence: str
    version: str
    citation: str
    world: str
    state: str = Field(description="making, complete, failed or cancelled")
    visibility: str = Field(description="private, link or public")
    created: datetime
    completed: datetime | None
    fingerprint: str = Field(description="Its content hash; empty until it is complete.")
    engine_version: str
    release: str
    with_images: bool
    splits: list[SplitOut]
    url: str
    page: str


class QuestionOut(Schema):
    """A question. `question_id` is its position in the split, as on pages and in prediction files."""

    question_id: int
    dataset: str
    split: str
    question: str
    kind: str
    family: int | None = None
    scope: int | None = None
    scene: int = Field(description="The position of its scene in the split that has it.")
    image: str | None = Field(default=None, description="Where its picture is.")
    story: list[str] | None = Field(
        default=None, description="The lines of its scene that it sees, in a world of stories."
    )
    answer: str | None = None
    answer_kind: str | None = None
    spelling: str | None = Field(default=None, description="The answer as it was published, where that differs.")
    program: list[dict[str, Any]] | None = None
    source_id: str | None = Field(default=None, description="Of an import: what its authors call it.")
    facets: dict[str, str | int | list[str] | None]
    url: str
    page: str


class QuestionInFull(QuestionOut):
    """A question with a prompt for models."""

    prompt: str | None = None
    choices: list[str] = Field(default=[], description="The answers that its type admits.")
    parent_question_id: int | None = Field(default=None, description="Of a derived split: its number in the parent.")


class SceneOut(Schema):
    """A scene that questions are about."""

    scene: int
    dataset: str
    split: str
    questions: list[int]
    width: int | None = None
    height: int | None = None
    image: str | None = None
    story: list[str] | None = Field(default=None, description="Its lines, in a world of stories.")
    ids_image: str | None = Field(default=None, description="0 none, else an object's number plus one.")
    data: dict[str, Any] | None = Field(default=None, description="The scene, as exports have it.")
    view: dict[str, Any] | None = Field(default=None, description="Camera and lights.")
    url: str


class StudyOut(Schema):
    """A study: people answer a sample of a split's questions, each question several times."""

    code: str
    title: str
    state: str = Field(description="draft, open or closed")
    split: str = Field(description="As dataset/split.")
    owner: str
    wanted: int
    per_question: int
    answers_in: int
    answers_wanted: int
    created: datetime
    opened: datetime | None
    closed: datetime | None
    url: str
    page: str


class ShareOut(Schema):
    """A share of `n` with a 95 % interval; only `n` if it is too small."""

    n: int
    right: int | None = None
    share: float | None = None
    low: float | None = None
    high: float | None = None


class StudyFigures(Schema):
    """Accuracy of people."""

    people: int
    answers: int
    refusals: int
    ties: int
    majority: ShareOut = Field(description="Of questions: what most people say. A tie is wrong.")
    single: ShareOut = Field(description="Of single answers.")
    alpha: float | None = Field(description="Krippendorff's.")


class StudyInFull(StudyOut):
    """A study with its figures, if anybody answered."""

    figures: StudyFigures | None = None
    baseline: str | None = Field(default=None, description="The page of its published human baseline.")
