"""The Croissant file of an export: a machine-readable description of its Parquet files, with responsible-AI fields.

References
----------
Croissant format specification 1.1 and Croissant RAI specification 1.0, MLCommons.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from generation.engine.formats import ExportDataset
from generation.engine.formats.huggingface.card_licence import address
from generation.engine.formats.huggingface.card_statistics import FacetCounter
from generation.engine.formats.huggingface.croissant_rai import rai
from generation.engine.items import Media

CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
PARQUET = "application/x-parquet"
UNNAMED = "unknown"  # the author, if a dataset names none

# In the form and order of the specification. `prov` is W3C's vocabulary for the origin of data.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "prov": "http://www.w3.org/ns/prov#",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
KEYWORDS = {
    Media.IMAGE: "visual question answering",
    Media.STORY: "reading comprehension",
    Media.NONE: "question answering",
}
DATA_TYPES = {"string": "sc:Text", "int32": "sc:Integer"}


def croissant(
    dataset: ExportDataset,
    folder: Path,
    *,
    features: Mapping[str, Mapping[str, Any]],
    about: Mapping[str, str],
    tallies: Mapping[str, FacetCounter],
) -> dict[str, Any]:
    """Return the Croissant file of an export whose Parquet files are already written.

    Parameters
    ----------
    dataset : ExportDataset
    folder : Path
        The folder of the export. A configuration's files are in its subfolder of the same name.
    features : mapping of str to mapping
        The features of each configuration.
    about : mapping of str to str
        The description of each column.
    tallies : mapping of str to FacetCounter
        The counted answers of each split.
    """
    authors = dataset.authors or (UNNAMED,)
    said: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": re.sub(r"[^\w .-]", " ", dataset.title) or dataset.slug,
        "alternateName": dataset.slug,
        "conformsTo": CONFORMS_TO,
        "description": dataset.description
        or f"{dataset.title}: diagnostic questions of the world {dataset.world.label}.",
        "license": address(dataset.licence) or "unstated",
        "url": dataset.url or None,
        "version": version_of(dataset.version),
        "datePublished": dataset.completed.isoformat(),
        "inLanguage": "en",
        "keywords": [KEYWORDS[dataset.world.media], "diagnostic", "synthetic", dataset.world.label],
        "creator": [{"@type": "sc:Person", "name": name} for name in authors],
        "citeAs": dataset.citation or f"{', '.join(authors)}: {dataset.title}, {dataset.completed:%Y}.",
        **rai(dataset, tallies),
        "distribution": [*_files(folder, features), *(_file_set(name) for name in features)],
        "recordSet": [_record_set(name, columns, about) for name, columns in features.items()],
    }
    return {key: value for key, value in said.items() if value is not None}


def version_of(stated: str) -> str:
    """Return a version in Croissant's form MAJOR.MINOR.PATCH, with zeros for missing parts; 1.0.0 if none is stated."""
    numbers = re.findall(r"\d+", stated)[:3]
    return ".".join([*numbers, "0", "0"][:3]) if numbers else "1.0.0"


def _files(folder: Path, configurations: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a description of every Parquet file, with its digest."""
    found = []
    for path in sorted(path for name in configurations for path in (folder / name).rglob("*.parquet")):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        name = path.relative_to(folder).as_posix()
        found.append(
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "contentSize": f"{path.stat().st_size} B",
                "encodingFormat": PARQUET,
                "sha256": digest,
            }
        )
    return found


def _file_set(configuration: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"files-of-{configuration}",
        "name": f"files-of-{configuration}",
        "description": f"The Parquet files of the configuration {configuration}.",
        "encodingFormat": PARQUET,
        "includes": f"{configuration}/*/*.parquet",
    }


def _record_set(configuration: str, features: Mapping[str, Any], about: Mapping[str, str]) -> dict[str, Any]:
    """Return the record set of a configuration: its columns without lists of records, which readers cannot read."""
    key = "question_id" if "question_id" in features else "image_index"
    return {
        "@type": "cr:RecordSet",
        "@id": configuration,
        "name": configuration,
        "description": f"The rows of the configuration {configuration}.",
        "key": [{"@id": f"{configuration}/split"}, {"@id": f"{configuration}/{key}"}],
        "field": [
            _field(configuration, name, feature, about.get(name, ""))
            for name, feature in features.items()
            if not isinstance(feature, Sequence)
        ],
    }


def _field(configuration: str, name: str, feature: Mapping[str, Any], about: str) -> dict[str, Any]:
    source: dict[str, Any] = {"fileSet": {"@id": f"files-of-{configuration}"}, "extract": {"column": name}}
    field: dict[str, Any] = {"@type": "cr:Field", "@id": f"{configuration}/{name}", "name": name}
    if about:
        field["description"] = about
    kind = feature["_type"]
    if kind == "Image":
        source["transform"] = {"jsonPath": "bytes"}
        field["dataType"] = "sc:ImageObject"
    elif kind == "Sequence":
        field |= {"dataType": DATA_TYPES[feature["feature"]["dtype"]], "isArray": True, "arrayShape": "-1"}
    else:
        field["dataType"] = DATA_TYPES[feature["dtype"]]
    return {**field, "source": source}
