"""Hostile files: one for each risk, and the error message that it must cause."""

import gzip
import io
import json
import stat
import zipfile
from collections.abc import Callable
from typing import NamedTuple

from tests.engine.predictions.asked import jsonl, right
from tests.engine.predictions.written import zipped

N = 4
ROWS = [{"question_id": number, "answer": answer} for number, answer in enumerate(right(N))]
GOOD = jsonl(ROWS).encode()
DEEP = 1_000_000


class Hostile(NamedTuple):
    """A hostile file, and a part of the error message that it must cause."""

    content: Callable[[], bytes]
    says: str


def archive(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries:
            packed.writestr(name, content)
    return file.getvalue()


def link() -> bytes:
    info = zipfile.ZipInfo("answers.jsonl")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return archive((info, b"/etc/passwd"))


def stored() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("a.jsonl", GOOD)
    return file.getvalue()


def zeros(*, megabytes: int, lies: bool = False) -> bytes:
    """Return a small zip of many zeros. If `lies`, its entry states a size of only 100 bytes."""
    file = io.BytesIO()
    packed = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with packed, packed.open("a.txt", "w", force_zip64=True) as entry:
        for _ in range(megabytes):
            entry.write(bytes(1 << 20))
    content = file.getvalue()
    if lies:
        content = content.replace((megabytes << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    return content


def secret() -> bytes:
    """Return a zip whose entry is marked as protected by a password."""
    content = bytearray(archive(("a.jsonl", GOOD)))
    content[6] |= 1
    content[content.rindex(b"PK\1\2") + 8] |= 1
    return bytes(content)


def row(**more: object) -> bytes:
    return jsonl([*ROWS[:2], ROWS[2] | more, ROWS[3]]).encode()


def third(line: str) -> bytes:
    return GOOD.replace(json.dumps(ROWS[2]).encode(), line.encode())


NESTED = "got lists or objects nested too deep"
NO_JSON = "expected JSON, got something else"
NO_ANSWER = "expected an answer in words or a number, got"
NO_ID = "expected the id of a question, got"
STOPPED = "expected 4 answers, got more than 100,004: reading stopped"

PACKED: dict[str, Hostile] = {
    "cut gzip": Hostile(lambda: gzip.compress(GOOD)[:-9], "complete gzip file, got one that is cut off"),
    "cut zip": Hostile(lambda: zipped(GOOD)[:-30], "got a broken one (no end of a zip): pack it again"),
    "damaged gzip": Hostile(lambda: gzip.compress(GOOD)[:10] + b"\xff" * 80, "got a broken one"),
    "damaged zip": Hostile(lambda: stored().replace(b"cube", b"cubf"), "got a broken one (Bad CRC-32"),
    "zeros in a zip": Hostile(lambda: zeros(megabytes=64), "Line 1: expected text, got a NUL byte"),
    "zeros said to be few": Hostile(lambda: zeros(megabytes=64, lies=True), "got a broken one (Bad CRC-32"),
    "zeros in gzip": Hostile(lambda: gzip.compress(bytes(1 << 26), 1), "Line 1: expected text, got a NUL byte"),
    "spaces in gzip": Hostile(
        lambda: gzip.compress(b"[" + b" " * (1 << 26) + b"x", 1), "at most 8 MB of text, got more in"
    ),
    "a line in gzip": Hostile(lambda: gzip.compress(b"a" * (1 << 26), 1), "at most 1,048,576 characters in a line"),
    "names that lead out": Hostile(lambda: archive(("../../a.json", GOOD)), "got '../../a.json'"),
    "names from the root": Hostile(lambda: archive(("/etc/a.json", GOOD)), "got '/etc/a.json'"),
    "names of Windows": Hostile(lambda: archive(("up\\..\\a.json", GOOD)), "Expected plain names in the zip, got"),
    "a link in a zip": Hostile(link, "Expected files in the zip, got a link: 'answers.jsonl'"),
    "a password": Hostile(secret, "'a.jsonl', which has a password"),
    "two files": Hostile(lambda: archive(("a", GOOD), ("b", GOOD)), "Expected one file in the zip, got 2 (a, b)"),
    "no file": Hostile(lambda: archive((".DS_Store", b"x")), "Expected one file in the zip, got 0 (none)"),
    "many files": Hostile(lambda: archive(*((f"{n}", b"") for n in range(1001))), "at most 1,000 files in the zip"),
    "a workbook": Hostile(
        lambda: archive(("[Content_Types].xml", b""), ("a.xml", b"")), "save the table as CSV or as an Excel workbook"
    ),
    "a zip in a zip": Hostile(lambda: zipped(zipped(GOOD)), "Expected predictions, got an archive within an archive"),
    "gzip in gzip": Hostile(lambda: gzip.compress(gzip.compress(GOOD)), "got an archive within an archive"),
}
TEXTS: dict[str, Hostile] = {
    "empty": Hostile(lambda: b"", "Expected predictions, got an empty file"),
    "blank": Hostile(lambda: b" \n\t\r\n" * 10, "Expected predictions, got an empty file"),
    "UTF-32": Hostile(lambda: GOOD.decode().encode("utf-32"), "got UTF-32 text: save it as UTF-8"),
    "broken UTF-16": Hostile(lambda: b"\xff\xfe[\0\0\xd8[\0", "got a broken file of UTF-16: save the file as UTF-8"),
    "bare UTF-16": Hostile(
        lambda: GOOD.decode().encode("utf-16-le"), "Line 1: expected text, got UTF-16 text without its"
    ),
    "Latin-1": Hostile(lambda: GOOD.replace(b"cube", b"\xe9"), "Line 3: expected UTF-8 text, got the byte 0xe9"),
    "NUL": Hostile(lambda: GOOD.replace(b"cube", b"cu\0be"), "Line 3: expected text, got a NUL byte"),
    "HTML": Hostile(lambda: b"\n<!DOCTYPE html><html>404</html>", "Line 2: expected predictions, got an HTML page"),
    "a program": Hostile(lambda: b"\x7fELF\2\1\1" + bytes(100), "Expected predictions, got a program"),
    "a program for Windows": Hostile(lambda: b"MZ\x90\0\3" + bytes(100), "Expected predictions, got a program"),
    "a script": Hostile(lambda: b"#!/bin/sh\nrm -rf /\n", "Expected predictions, got a script"),
    "a pickle": Hostile(lambda: b"\x80\x04\x95\x10" + bytes(20), "Expected predictions, got a pickle"),
    "a picture": Hostile(lambda: b"\x89PNG\r\n\x1a\n" + bytes(20), "Expected predictions, got a picture"),
    "a tar archive": Hostile(lambda: b"a" * 257 + b"ustar" + bytes(300), "got a tar archive"),
    "noise": Hostile(lambda: bytes(range(254, 0, -1)) * 100, "Line 1: expected UTF-8 text, got the byte 0xfe"),
    "1,000,001 lines": Hostile(lambda: b"yes\n" * 1_000_001, STOPPED),
    "1,000,001 broken lines": Hostile(lambda: GOOD + b"{\n" * 1_000_001, "got more than 100,000 that can't: reading"),
    "1,000,001 records": Hostile(lambda: b"[" + b'{"index":0,"answer":0},' * 1_000_001 + b"0]", STOPPED),
}
JSON: dict[str, Hostile] = {
    "cut json": Hostile(lambda: json.dumps(ROWS).encode()[:-20], f"Record 4: {NO_JSON}"),
    "cut jsonl": Hostile(lambda: GOOD[:-10], f"Line 4: {NO_JSON}"),
    "deep json": Hostile(lambda: b"[" * DEEP, f"Record 1: expected JSON, {NESTED}"),
    "deep objects": Hostile(lambda: b'{"a":' * DEEP, f"Record 1: expected JSON, {NESTED}"),
    "deep jsonl": Hostile(lambda: third('{"question_id": ' + "[" * DEEP), f"Line 3: expected JSON, {NESTED}"),
    "deep and whole": Hostile(lambda: third("[" * 50_000 + "]" * 50_000), f"Line 3: expected JSON, {NESTED}"),
    "a long record": Hostile(lambda: b'[{"a": "' + b"a" * (1 << 23), "no end of it within 1,048,576 characters"),
    "half a character": Hostile(lambda: row(answer="\ud800"), f"Line 3: {NO_JSON}"),
    "half a character, listed": Hostile(lambda: b'[{"index": 0, "answer": "\\ud800"}]', f"Record 1: {NO_JSON}"),
    "a name twice": Hostile(lambda: third('{"a": 1, "a": 2}'), f"Line 3: {NO_JSON} (the name 'a' occurs twice"),
    "an id twice": Hostile(
        lambda: b'{"0": "no", "1": 1, "1": 2}', "Record 3: question 1 is answered again; the first answer is in"
    ),
    "NaN": Hostile(lambda: row(answer=float("nan")), f"Line 3: {NO_ANSWER} nan"),
    "NaN as id": Hostile(lambda: row(question_id=float("nan")), f"Line 3: {NO_ID} nan"),
    "infinity": Hostile(lambda: third('{"question_id": 2, "answer": 1e999}'), f"Line 3: {NO_ANSWER} inf"),
    "huge integer": Hostile(lambda: third(f'{{"a": {"9" * 100_000}}}'), f"Line 3: {NO_JSON} (Exceeds the limit"),
    "huge id": Hostile(lambda: row(question_id=10**4000), "Line 3: no question has the id 1000"),
    "large id": Hostile(lambda: row(question_id=2**63), "Line 3: no question has the id 9223372036854775808"),
    "negative id": Hostile(lambda: row(question_id=-1), "Line 3: no question has the id -1"),
    "truth as id": Hostile(lambda: row(question_id=True), f"Line 3: {NO_ID} True"),
    "broken id": Hostile(lambda: row(question_id=2.5), f"Line 3: {NO_ID} 2.5"),
    "null as id": Hostile(lambda: row(question_id=None), f"Line 3: {NO_ID} null"),
    "a list as answer": Hostile(lambda: row(answer=["red"]), f"Line 3: {NO_ANSWER} a list"),
    "a number as record": Hostile(lambda: third("3"), "Line 3: expected a record such as"),
    "only numbers": Hostile(lambda: b"[1, 2, 3]", "Record 1: expected a record such as"),
    "other names": Hostile(lambda: b'{"id": 0}\n' * 2, 'Line 1: expected "question_id" and "answer", got \'id\''),
    "names that change": Hostile(lambda: third('{"index": 2, "answer": 1}'), 'Line 3: expected "question_id" and'),
}
TABLES: dict[str, Hostile] = {
    "a formula as id": Hostile(lambda: b"index,answer\n=1+1,yes\n", "Line 2: no question has the id '=1+1'"),
    "other columns": Hostile(lambda: b"id,label\n0,yes\n", 'Line 1: expected "question_id" and "answer", got \'id\''),
    "a column twice": Hostile(lambda: b"index,answer,answer\n0,yes,no\n", "Line 1: expected every column once"),
    "a cell too many": Hostile(lambda: b"index,answer\n0,yes\n1,no,no\n", "Line 3: expected 2 columns, got 3"),
    "an open quote": Hostile(lambda: b'index,answer\n0,"yes\n1,no\n', "Line 2: expected a table, got a row that can't"),
}
FILES = PACKED | TEXTS | JSON | TABLES
