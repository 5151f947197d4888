"""Well-known sets of questions, scenes and captions: which one a JSON file or a picture belongs to.

A file is known by the fields of its first record, a picture by its name.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from generation.engine.reading.json_stream import JsonText

MOST_NAMES = 30  # names of an object that are looked at
LIST = "a list"
VALUES = "values"  # of an object whose names are ids
OBJECT = "an object"  # a line of JSON lines, or a file with one record
PREDICTIONS = "predictions of a model"


class PublishedSet(NamedTuple):
    """A set whose files are known by the fields of their records.

    Attributes
    ----------
    label : str
        What a file of it is, for people.
    place : str
        Where its records are: `LIST`, `VALUES`, `OBJECT`, or the name of a list in an object.
    fields : tuple of str
        Fields that every record has.
    formats : tuple of str
        The names of the readers that read it.
    start : str
        How the names of its files start, in small letters, if its records are those of another set too.
    lacks : tuple of str
        Fields that no record has.
    """

    label: str
    place: str
    fields: tuple[str, ...]
    formats: tuple[str, ...] = ()
    start: str = ""
    lacks: tuple[str, ...] = ()

    def has(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record may be one of this set."""
        return all(name in record for name in self.fields) and not any(name in record for name in self.lacks)


# sets in the form of COCO's instances, whose first record may be the same; each has a usual name
BY_NAME = (
    ("captions of COCO", "captions"),
    ("key points of COCO", "person_keypoints"),
    ("stuff of COCO", "stuff_"),
    ("panoptic segments of COCO", "panoptic"),
    ("a list of pictures of COCO", "image_info"),
    ("boxes of LVIS", "lvis"),
    ("referring expressions of RefCOCO", "refcoco"),
)
COCO = (
    ("images", ("id",)),
    ("licenses", ("url", "id", "name")),
    ("categories", ("id", "name")),
    ("annotations", ("image_id", "category_id")),
)
WITH_ANSWERS = ("answer", "answers", "question_id", "image_id", "id", "choices", "conversations")
SETS = (
    PublishedSet("questions of GQA", VALUES, ("imageId", "question")),
    PublishedSet("scene graphs of GQA", VALUES, ("width", "height", "objects")),
    PublishedSet("annotations of TDIUC", "annotations", ("question_id", "answers", "ans_source")),
    PublishedSet("questions of VQA-CP", LIST, ("question_id", "image_id", "coco_split", "question")),
    PublishedSet("annotations of VQA-CP", LIST, ("question_id", "image_id", "coco_split")),
    PublishedSet("questions of VQA in the form of BLIP", LIST, ("question_id", "question", "image", "dataset")),
    PublishedSet("annotations of OK-VQA", "annotations", ("question_id", "answers", "confidence")),
    PublishedSet("annotations of VQA", "annotations", ("question_id", "image_id", "answers"), ("howmany-qa",)),
    PublishedSet("questions of VQA", "questions", ("question_id", "image_id"), ("howmany-qa",)),
    PublishedSet("questions of A-OKVQA", LIST, ("image_id", "question", "choices")),
    PublishedSet("captions of COCO", "annotations", ("image_id", "caption")),
    PublishedSet("key points of COCO", "annotations", ("image_id", "keypoints")),
    PublishedSet("panoptic segments of COCO", "annotations", ("segments_info",)),
    *(PublishedSet(label, place, fields, start=start) for label, start in BY_NAME for place, fields in COCO),
    PublishedSet("boxes of LVIS", "images", ("neg_category_ids",)),
    PublishedSet("instances of COCO", "annotations", ("image_id", "category_id"), ("coco-instances",)),
    PublishedSet("instances of COCO", "images", ("file_name", "width", "height", "id"), ("coco-instances",)),
    PublishedSet("instances of COCO", "categories", ("supercategory", "id", "name"), ("coco-instances",)),
    PublishedSet("instances of COCO", "licenses", ("url", "id", "name"), ("coco-instances",)),
    PublishedSet("questions of COCO-Grounding", LIST, ("question", "image", "gt_bboxes"), ("coco-grounding",)),
    PublishedSet("questions of TallyQA", LIST, ("image", "question", "answer", "data_source"), ("tallyqa",)),
    PublishedSet("questions of Visual7W", "images", ("qa_pairs", "image_id")),
    PublishedSet("questions of Visual Genome", LIST, ("qas",), ("howmany-qa",)),
    PublishedSet("regions of Visual Genome", LIST, ("regions",)),
    PublishedSet("relationships of Visual Genome", LIST, ("image_id", "relationships")),
    PublishedSet("objects of Visual Genome", LIST, ("image_id", "objects")),
    PublishedSet("attributes of Visual Genome", LIST, ("image_id", "attributes")),
    PublishedSet("facts about pictures of Visual Genome", LIST, ("image_id", "coco_id", "flickr_id")),
    PublishedSet("questions of Super-CLEVR", "questions", ("image_filename",), start="superclevr"),
    PublishedSet("scenes of Super-CLEVR", "scenes", ("image_filename",), start="superclevr"),
    PublishedSet("questions of CLEVR-Humans", "questions", ("question",), start="clevr-humans"),
    PublishedSet("questions of CLEVR-Humans", "questions", ("question",), start="clevr_humans"),
    PublishedSet("explanations of CLEVR-X", "questions", ("factual_explanation",)),
    PublishedSet("scenes of CLEVR-Hans", "scenes", ("class_id", "objects")),
    PublishedSet("scenes of CLEVRER", OBJECT, ("scene_index", "video_filename")),
    PublishedSet("questions of CLEVRER", LIST, ("scene_index", "questions")),
    PublishedSet("questions of CLEVRER", LIST, ("video_filename", "questions")),
    PublishedSet("referring expressions of CLEVR-Ref+", "refexps", ("refexp",)),
    PublishedSet("scenes of CLEVR-Ref+", "scenes", ("objects",), start="clevr_ref"),
    PublishedSet("dialogues of CLEVR-Dialog", LIST, ("image_index", "dialogs")),
    PublishedSet("questions of CLEVR-Math", "questions", ("template", "question", "image")),
    PublishedSet("questions of CLEVR", "questions", ("image_index", "question"), ("clevr",)),
    PublishedSet("scenes of CLEVR", "scenes", ("objects", "relationships"), ("clevr",)),
    PublishedSet("problems of ACRE", LIST, ("light_state", "objects")),
    PublishedSet("scenes of ACRE", OBJECT, ("light_state", "objects")),
    PublishedSet("single scenes of CLEVR's generator", OBJECT, ("image_filename", "objects")),
    PublishedSet("questions of VizWiz", LIST, ("image", "question", "answerable")),
    PublishedSet("questions in the form of VizWiz's test split", LIST, ("image", "question"), lacks=WITH_ANSWERS),
    PublishedSet("questions of TextVQA", "data", ("question", "flickr_original_url")),
    PublishedSet("questions of DocVQA", "data", ("question", "docId")),
    PublishedSet("questions of ST-VQA", "data", ("question", "file_path")),
    PublishedSet("questions of ScienceQA", VALUES, ("question", "choices", "hint")),
    PublishedSet("questions of MathVista", VALUES, ("pid", "question", "question_type")),
    PublishedSet("questions of MathVista", LIST, ("pid", "question", "question_type")),
    PublishedSet("questions of MMMU", LIST, ("question", "options", "topic_difficulty")),
    PublishedSet("captions of Winoground", LIST, ("caption_0", "caption_1")),
    PublishedSet("referring expressions of RefCOCO", LIST, ("ref_id", "sentences")),
    PublishedSet("questions of ChartQA", LIST, ("imgname", "query", "label")),
    PublishedSet("questions of FigureQA or PlotQA", "qa_pairs", ("question_string", "image_index")),
    PublishedSet("questions of VCR", OBJECT, ("question", "answer_choices", "rationale_choices")),
    PublishedSet("questions of POPE", OBJECT, ("question_id", "image", "text", "label")),
    PublishedSet("examples of NLVR2", OBJECT, ("sentence", "identifier")),
    PublishedSet("examples of SNLI-VE", OBJECT, ("gold_label", "Flickr30K_ID")),
    PublishedSet("examples of SNLI-VE", OBJECT, ("gold_label", "Flikr30kID")),
    PublishedSet("examples of VSR", OBJECT, ("image_link", "relation", "caption")),
    PublishedSet("conversations in the form of LLaVA", LIST, ("conversations",)),
    PublishedSet("text by paragraphs, as SQuAD has it", "data", ("paragraphs",)),
    PublishedSet(PREDICTIONS, LIST, ("question_id", "answer"), lacks=("image", "image_id")),
)
PICTURES = (
    ("CLEVR", r"clevr_(?!hans_|ref)[a-z][a-z0-9-]*(?:_[a-z0-9-]+)*_[0-9]{1,9}"),
    ("CLEVR-Hans", r"clevr_hans_.*"),
    ("Super-CLEVR", r"superclevr_.*"),
    ("ACRE", r"acre_.*"),
    ("COCO", r"coco_(?:train|val|test)[0-9]{4}_[0-9]{12}|[0-9]{12}"),
    ("VizWiz", r"vizwiz_.*"),
    ("NLVR2", r"(?:train|dev|test[0-9]?)-[0-9]+-[0-9]+-img[01]"),
    ("GQA or Visual Genome", r"[1-9][0-9]{0,6}|n[0-9]{6}"),
)
PICTURE_NAMES = tuple((label, re.compile(name)) for label, name in PICTURES)


def describe_picture(stem: str) -> str:
    """Return the set to which a picture may belong by its name without the extension; empty if it is not known."""
    return next((label for label, name in PICTURE_NAMES if name.fullmatch(stem.lower())), "")


def known_sets(text: JsonText, *, file: str) -> list[PublishedSet]:
    """Return the sets to which a file may belong, the likeliest first; the place is `OBJECT` for JSON lines of a list.

    Only the beginning of the file is parsed, up to the first record of its first list. ValueError is raised if it is
    not JSON.
    """
    records = list(_records(text))
    found = [
        one._replace(place=place)
        for one in SETS
        for place, record in records
        if file.lower().startswith(one.start)
        and (place == one.place or (place, one.place) == (OBJECT, LIST))
        and one.has(record)
    ]
    return [one for one in found if one.start] or found


def _records(text: JsonText) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects at the beginning of a file that may be records, with their places."""
    if text.begins_list():
        yield from _first(text, LIST)
        return
    fields: dict[str, Any] = {}
    for name in islice(text.names(), MOST_NAMES):
        fields[name] = None
        if text.begins_list():
            yield from _first(text, name)
            break
        value = text.value()
        if isinstance(value, Mapping):
            yield VALUES, value
    yield OBJECT, fields


def _first(text: JsonText, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the first record of the list that begins here; also of a list of lists."""
    first = text.first()
    if isinstance(first, list) and first:
        first = first[0]
    if isinstance(first, Mapping):
        yield place, first
