"""Recognises the form of a prediction file by its content, and reads its predictions.

`PredictionRows` says what was taken: the format, the column of ids, and batches of rows. `bad` is called for each row
that can't be read, and `UnreadableFile` is raised if the file can't be read at all.
"""

from generation.engine.predictions.decompression import TextReader, UnreadableFile
from generation.engine.predictions.forms.json_files import json_list, json_object
from generation.engine.predictions.forms.plain_lines import plain_lines
from generation.engine.predictions.forms.records import predictions_in
from generation.engine.predictions.forms.rows import Bad, FileRecords, PredictionRows
from generation.engine.predictions.forms.tables import table, table_head


def rows_of(text: TextReader, bad: Bad, *, n: int, has_boxes: bool) -> PredictionRows:
    """Return the rows of a file for `n` questions; its beginning shows the form.

    `has_boxes` says whether boxes are read. Raises `UnreadableFile` if the file is empty, or is a table with boxes.
    """
    records = _records(text, bad)
    return plain_lines(text, n) if records is None else predictions_in(records, bad, has_boxes=has_boxes)


def _records(text: TextReader, bad: Bad) -> FileRecords | None:
    """Return the records of a file; None if it has plain lines."""
    head = text.head.decode("utf-8-sig", errors="ignore").lstrip()
    if not head:
        raise UnreadableFile("expected predictions, got an empty file")
    if head[0] == "[":
        return json_list(text)
    if head[0] == "{":
        return json_object(text, head, bad)
    found = table_head(head.partition("\n")[0].rstrip("\r"))
    return None if found is None else table(text, found, bad)
