"""Datasets with their content, and the jobs that make them."""

from generation.models.datasets import Dataset, DatasetQuerySet, SpecFile, Split, SplitQuerySet
from generation.models.exports import Export, ExportQuerySet
from generation.models.imports import Import, ImportedSplit
from generation.models.items import Chunk, Question, QuestionQuerySet, Scene, SceneQuerySet
from generation.models.jobs import (
    AbstractJob,
    AbstractJobQuerySet,
    Heartbeat,
    Job,
    JobEvent,
    JobQuerySet,
    Turn,
    from_now,
)
from generation.models.lookups import find_one
from generation.models.quotas import Limit, PreviewTurn, Quota, Upload
from generation.models.reports import AblationReport, BlindReport
from generation.models.twins import FreshTwin, FreshTwinQuerySet

__all__ = [
    "AblationReport",
    "AbstractJob",
    "AbstractJobQuerySet",
    "BlindReport",
    "Chunk",
    "Dataset",
    "DatasetQuerySet",
    "Export",
    "ExportQuerySet",
    "FreshTwin",
    "FreshTwinQuerySet",
    "Heartbeat",
    "Import",
    "ImportedSplit",
    "Job",
    "JobEvent",
    "JobQuerySet",
    "Limit",
    "PreviewTurn",
    "Question",
    "QuestionQuerySet",
    "Quota",
    "Scene",
    "SceneQuerySet",
    "SpecFile",
    "Split",
    "SplitQuerySet",
    "Turn",
    "Upload",
    "find_one",
    "from_now",
]
