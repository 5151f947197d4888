"""What a file is by its first bytes, if it is not one of the forms that are read: the message names it."""

import re

UTF_8 = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
UTF_32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
PARQUET = b"PAR1"
PICKLE = (
    "a pickle: pickles are never opened, because they can run programs. Write JSON with Python instead: import json, "
    'pathlib; pathlib.Path("predictions.json").write_text(json.dumps([{"question_id": 0, "answer": 3}]))'
)
AS_TABLE = "save the table as CSV or as an Excel workbook (.xlsx)"
NUMPY = "a file of NumPy: write JSON lines or a table instead"
REPACK = "pack it with gzip or zip"
MARKS = (
    *((mark, "UTF-32 text: save it as UTF-8") for mark in UTF_32),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"#!", "a script"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"RIFF", "a picture or a recording"),
    (b"II*\0", "a picture"),
    (b"MM\0*", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"%!PS", "a PostScript document"),
    (b"{\\rtf", "an RTF document: save it as text"),
    (PARQUET, "a Parquet file"),
    (b"ARROW1", "an Arrow file: write Parquet, JSON lines or a table instead"),
    (b"ORC", "an ORC file: write Parquet, JSON lines or a table instead"),
    (b"Obj\x01", "an Avro file: write Parquet, JSON lines or a table instead"),
    (b"\x93NUMPY", NUMPY),
    (b"\x89HDF", "an HDF5 file: write JSON lines or a table instead"),
    (b"MATLAB", "a file of MATLAB: write JSON lines or a table instead"),
    (b"SQLite format 3", "a database of SQLite: write JSON lines or a table instead"),
    (b"\xd0\xcf\x11\xe0", f"an old Office document: {AS_TABLE}"),
    *((bytes([0x80, protocol]), PICKLE) for protocol in range(2, 6)),
    *((mark, PICKLE) for mark in (b"(lp0\n", b"(dp0\n", b"(lp1\n", b"(dp1\n", b"]q\0", b"}q\0")),
    (b"BZh", f"bzip2: {REPACK}"),
    (b"\xfd7zXZ", f"xz: {REPACK}"),
    (b"\x28\xb5\x2f\xfd", f"zstd: {REPACK}"),
    (b"\x04\x22\x4d\x18", f"lz4: {REPACK}"),
    (b"7z\xbc\xaf", f"a 7z archive: {REPACK}"),
    (b"Rar!", f"a RAR archive: {REPACK}"),
    (b"PK\x03\x04", "an archive within an archive: pack it once"),
    (b"\x1f\x8b", "an archive within an archive: pack it once"),
)
TEXTS = (
    (rb"version https://git-lfs\.github\.com/", "a pointer file of Git LFS, not the file itself: run git lfs pull"),
    (rb"[./]*\.?git/annex/objects/|/annex/objects/", "a pointer of git-annex, not the file itself: run git annex get"),
    (rb"outs:\s+- ", "a pointer file of DVC, not the file itself: run dvc pull"),
    (
        rb"(?i)<!doctype html|<html",
        "an HTML page, perhaps with an error or a form to sign in: download the file again, and look into it",
    ),
    (rb"<", "HTML or XML"),
    (
        rb"[45]\d\d:? [A-Z][A-Za-z ]{3,40}\.?\s*\Z",
        "a server's message of an error: check the address, and download it again",
    ),
    (rb"```|~~~", "a fenced block of Markdown: keep only the text between the fences"),
    (rb"\|.*\n\s*\|?[ \t:|-]+\n", f"a table of Markdown: {AS_TABLE}"),
    (rb"\+[-=+]+\+\r?\n", f"a drawn table: {AS_TABLE}"),
)
AS_TEXT = [(re.compile(mark), what) for mark, what in TEXTS]


def describe_other(head: bytes) -> tuple[str, int | None] | None:
    """Return what a file with these first bytes is instead of predictions, and its line if it is text; else None."""
    for mark, other in MARKS:
        if head.startswith(mark):
            return other, None
    if head[257:262] == b"ustar":
        return "a tar archive: pack the one file with gzip or zip", None
    start = head.removeprefix(UTF_8)
    text = start.lstrip()
    for pattern, other in AS_TEXT:
        if pattern.match(text):
            return other, 1 + start[: len(start) - len(text)].count(b"\n")
    return None
