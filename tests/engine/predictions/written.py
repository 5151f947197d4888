"""Every format of prediction files: a writer, and a slow and obvious reader."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Ids = Sequence[int | str]


class Format(NamedTuple):
    """A writer that takes ids and answers, and a reader that returns pairs of id and answer as texts."""

    write: Callable[[Ids, Sequence[Any]], str]
    read: Callable[[str], list[tuple[str, str]]]
    typed: bool = True  # whether the writer keeps numbers and truth values apart from texts


def records(names: tuple[str, str], **more: Any) -> Callable[[Ids, Sequence[Any]], list[dict[str, Any]]]:
    def made(ids: Ids, said: Sequence[Any]) -> list[dict[str, Any]]:
        return [{names[0]: one, **more, names[1]: answer} for one, answer in zip(ids, said, strict=True)]

    return made


def listed(names: tuple[str, str], **style: Any) -> Format:
    made = records(names, type="x")
    return Format(lambda ids, said: json.dumps(made(ids, said), **style), lambda text: pairs(json.loads(text), *names))


def lined(names: tuple[str, str], **more: Any) -> Format:
    made = records(names, **more)
    return Format(
        lambda ids, said: "".join(json.dumps(row) + "\n" for row in made(ids, said)),
        lambda text: pairs([json.loads(line) for line in text.split("\n") if line], *names),
    )


def table(names: tuple[str, str], **dialect: Any) -> Format:
    def write(ids: Ids, said: Sequence[Any]) -> str:
        file = io.StringIO()
        writer = csv.writer(file, **dialect)
        writer.writerow((names[0], "note", names[1]))
        writer.writerows((one, "-", answer) for one, answer in zip(ids, said, strict=True))
        return file.getvalue()

    def read(text: str) -> list[tuple[str, str]]:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=dialect.get("delimiter", ","))
        return [(row[names[0]], row[names[1]]) for row in reader]

    return Format(write, read, typed=False)


def pairs(rows: list[dict[str, Any]], name: str, said: str) -> list[tuple[str, str]]:
    return [(str(row[name]), as_text(row[said])) for row in rows]


def as_text(value: Any) -> str:
    if isinstance(value, list):
        return as_text(value[0])
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def samples(as_list: bool) -> Format:
    inner = lined(("doc_id", "filtered_resps"), doc={"question_id": 7, "answer": "red"}, target="red", resps=[["x"]])
    return Format(lambda ids, said: inner.write(ids, [[one] if as_list else one for one in said]), inner.read)


FORMATS = {
    "json": listed(("question_id", "answer")),
    "json indented": listed(("questionId", "prediction"), indent=2),
    "json-object": Format(
        lambda ids, said: json.dumps(dict(zip(map(str, ids), said, strict=True))),
        lambda text: [(name, as_text(value)) for name, value in json.loads(text).items()],
    ),
    "jsonl": lined(("question_index", "answer")),
    "jsonl with targets": lined(("question_id", "prediction"), target="red", image_index=3),
    "csv": table(("question_id", "answer"), lineterminator="\n"),
    "csv crlf": table(("question_index", "prediction"), delimiter=";", quoting=csv.QUOTE_ALL),
    "csv tab": table(("question_id", "answer"), delimiter="\t"),
    "lmms-eval": samples(as_list=False),
    "lmms-eval list": samples(as_list=True),
    "vlmevalkit-tsv": table(("index", "prediction"), delimiter="\t", quoting=csv.QUOTE_ALL),
    "vlmevalkit-json": listed(("index", "prediction"), indent=4, ensure_ascii=False),
}


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mine/answers.txt", content)
        archive.writestr("__MACOSX/mine/._answers.txt", b"\0\5\x16\7")
        archive.writestr("mine/.DS_Store", b"\0")
    return file.getvalue()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gzip": gzip.compress, "zip": zipped}
