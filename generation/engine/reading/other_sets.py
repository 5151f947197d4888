"""Well-known sets of questions, scenes and captions: which one a JSON file belongs to, by its first record."""

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
        How the names of its files start, if its records are those of another set too.
    """

    label: str
    place: str
    fields: tuple[str, ...]
    formats: tuple[str, ...] = ()
    start: str = ""


SETS = (
    PublishedSet("questions of GQA", VALUES, ("imageId", "question")),
    PublishedSet("scene graphs of GQA", VALUES, ("width", "height", "objects")),
    PublishedSet("annotations of OK-VQA", "annotations", ("question_id", "answers", "confidence")),
    PublishedSet("annotations of VQA", "annotations", ("question_id", "image_id", "answers"), ("howmany-qa",)),
    PublishedSet("questions of VQA", "questions", ("question_id", "image_id"), ("howmany-qa",)),
    PublishedSet("questions of A-OKVQA", LIST, ("image_id", "question", "choices")),
    PublishedSet("captions of COCO", "annotations", ("image_id", "caption")),
    PublishedSet("captions of COCO", "images", ("file_name", "coco_url"), start="captions"),
    PublishedSet("captions of COCO", "licenses", ("url", "id", "name"), start="captions"),
    PublishedSet("key points of COCO", "annotations", ("image_id", "keypoints")),
    PublishedSet("key points of COCO", "images", ("file_name", "coco_url"), start="person_keypoints"),
    PublishedSet("key points of COCO", "licenses", ("url", "id", "name"), start="person_keypoints"),
    PublishedSet("panoptic segments of COCO", "annotations", ("segments_info",)),
    PublishedSet("panoptic segments of COCO", "images", ("file_name", "coco_url"), start="panoptic"),
    PublishedSet("panoptic segments of COCO", "licenses", ("url", "id", "name"), start="panoptic"),
    PublishedSet("a list of pictures of COCO", "images", ("file_name", "coco_url"), start="image_info"),
    PublishedSet("a list of pictures of COCO", "licenses", ("url", "id", "name"), start="image_info"),
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
    PublishedSet("questions of Super-CLEVR", "questions", ("image_filename",), start="superCLEVR"),
    PublishedSet("scenes of Super-CLEVR", "scenes", ("image_filename",), start="superCLEVR"),
    PublishedSet("scenes of CLEVRER", OBJECT, ("scene_index", "video_filename")),
    PublishedSet("questions of CLEVRER", LIST, ("scene_index", "questions")),
    PublishedSet("questions of CLEVRER", LIST, ("video_filename", "questions")),
    PublishedSet("referring expressions of CLEVR-Ref+", "refexps", ("refexp",)),
    PublishedSet("dialogues of CLEVR-Dialog", LIST, ("image_index", "dialogs")),
    PublishedSet("questions of CLEVR-Math", "questions", ("template", "question", "image")),
    PublishedSet("questions of VizWiz", LIST, ("image", "question", "answerable")),
    PublishedSet("questions of TextVQA", "data", ("question", "flickr_original_url")),
    PublishedSet("questions of DocVQA", "data", ("question", "docId")),
    PublishedSet("questions of ST-VQA", "data", ("question", "file_path")),
    PublishedSet("questions of ScienceQA", VALUES, ("question", "choices", "hint")),
    PublishedSet("questions of ChartQA", LIST, ("imgname", "query", "label")),
    PublishedSet("questions of FigureQA or PlotQA", "qa_pairs", ("question_string", "image_index")),
    PublishedSet("questions of VCR", OBJECT, ("question", "answer_choices", "rationale_choices")),
    PublishedSet("questions of POPE", OBJECT, ("question_id", "image", "text", "label")),
    PublishedSet("examples of NLVR2", OBJECT, ("sentence", "identifier")),
    PublishedSet("examples of SNLI-VE", OBJECT, ("gold_label", "Flickr30K_ID")),
    PublishedSet("examples of VSR", OBJECT, ("image_link", "relation", "caption")),
    PublishedSet("conversations in the form of LLaVA", LIST, ("conversations",)),
    PublishedSet("conversations in the form of LLaVA", OBJECT, ("conversations",)),
    PublishedSet("text by paragraphs, as SQuAD has it", "data", ("paragraphs",)),
    PublishedSet(PREDICTIONS, LIST, ("question_id", "answer")),
    PublishedSet(PREDICTIONS, OBJECT, ("question_id", "answer")),
)


def known_sets(text: JsonText, *, file: str) -> list[PublishedSet]:
    """Return the sets to which a file may belong, the likeliest first.

    Only the beginning of the file is parsed, up to the first record of its first list. ValueError is raised if it is
    not JSON.
    """
    records = list(_records(text))
    found = [
        one
        for one in SETS
        if file.startswith(one.start)
        and any(place == one.place and all(field in record for field in one.fields) for place, record in records)
    ]
    return [one for one in found if one.start] or found


def _records(text: JsonText) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects at the beginning of a file that may be records, with their places."""
    if text.begins_list():
        first = text.first()
        if isinstance(first, Mapping):
            yield LIST, first
        return
    fields: dict[str, Any] = {}
    for name in islice(text.names(), MOST_NAMES):
        fields[name] = None
        if text.begins_list():
            first = text.first()
            if isinstance(first, Mapping):
                yield name, first
            break
        value = text.value()
        if isinstance(value, Mapping):
            yield VALUES, value
    yield OBJECT, fields
