"""Archives that are damaged, forged or from another release are refused with one line, and nothing is changed."""

import gzip
import io
import json
import random
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from generation.engine import ENGINE_VERSION
from generation.engine.errors import EngineError
from generation.models import Dataset
from tests import proof
from tests.webapp.backups.conftest import all_files, everything, lose_everything, restore_archive
from webapp.backups import rows, schema, writing
from webapp.backups.archive import BadArchive, Writer
from webapp.backups.archive_reader import ArchiveReader
from webapp.backups.restoring import check_archive, proofs, restore
from webapp.models import User

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
Members = list[tuple[tarfile.TarInfo, bytes]]
USERS = "tables/webapp.User/000000.jsonl.gz"


def members_of(path: Path) -> Members:
    with tarfile.open(path) as tar:
        return [(info, tar.extractfile(info).read()) for info in tar.getmembers()]  # type: ignore[union-attr]


def rewrite(path: Path, change: Callable[[Members], Members]) -> Path:
    """Write an archive again with other members and matching digests, and return its path."""
    found = change([(info, content) for info, content in members_of(path) if info.name != "contents.json"])
    rows = json.loads({info.name: content for info, content in members_of(path)}["contents.json"])["rows"]
    with path.open("wb") as file:
        writer = Writer(file)
        for info, content in found:
            if not info.isreg():
                writer.tar.addfile(info)
            elif info.name.startswith("files/"):
                writer.add_file(info.name.removeprefix("files/"), io.BytesIO(content), size=len(content))
            else:
                writer.add(info.name, content)
        writer.finish(rows=rows)
    return path


def with_json(name: str, **changes: Any) -> Callable[[Members], Members]:
    """Return a function that changes keys in one JSON member."""
    return with_content(name, lambda content: json.dumps(json.loads(content) | changes).encode())


def with_content(name: str, change: Callable[[bytes], bytes]) -> Callable[[Members], Members]:
    def changed(members: Members) -> Members:
        assert name in [info.name for info, _ in members]
        return [(info, change(content) if info.name == name else content) for info, content in members]

    return changed


def with_rows(name: str, change: Callable[[list[Any]], list[Any]]) -> Callable[[Members], Members]:
    """Return a function that changes the rows in one part of a table."""

    def changed(content: bytes) -> bytes:
        rows = change([json.loads(line) for line in gzip.decompress(content).splitlines()])
        return gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows))

    return with_content(name, changed)


def with_member(name: str, *, kind: bytes = tarfile.REGTYPE, link: str = "") -> Callable[[Members], Members]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return lambda members: [*members, (info, b"")]


def test_an_archive_that_is_written_again_without_changes_is_restored(archive: Path) -> None:
    assert restore_archive(rewrite(archive, lambda members: members)).contents.rows["webapp.User"] == 2


HEADERS: dict[str, tuple[Callable[[Members], Members], str]] = {
    "a later format": (
        with_json("header.json", format=3),
        "of format 1 or 2, got format 3, written by release",
    ),
    "files elsewhere, but some here": (with_json("header.json", format=2), "members in their order"),
    "no format": (lambda members: members[1:], "its first member to be header.json"),
    "unknown keys": (with_json("header.json", more=1), "header.json to say who wrote it"),
    "a later release": (
        with_json("header.json", release="9.9", migrations={"generation": ["0001_initial", "9999_later"]}),
        f"got one of release 9.9 (engine {ENGINE_VERSION}) with generation.9999_later. Use that release.",
    ),
    "another app": (with_json("header.json", migrations={"studies": ["0001_initial"]}), "with studies.0001_initial"),
    "other columns": (with_json("header.json", tables={"webapp.User": ["id"]}), "Expected the tables of release"),
    "no migrations": (with_json("header.json", migrations={}), "Expected the tables of release"),
    "header no JSON": (with_content("header.json", lambda _: b"{" * 100_000), "header.json as JSON"),
    "secrets no JSON": (with_content("secrets.json", lambda _: b"[]"), "a secret key, got none"),
}
NAMES = {
    "up and out": with_member("files/zz/../../../evil"),
    "hidden": with_member("files/zz/.ssh"),
    "absolute": with_member("files/zz//evil"),
    "backslash": with_member("files/zz\\..\\evil"),
    "line end": with_member("files/zz\nevil"),
    "elsewhere": with_member("evil"),
    "a folder": with_member("files/zz", kind=tarfile.DIRTYPE),
    "a link": with_member("files/zz", kind=tarfile.SYMTYPE, link="/etc/passwd"),
    "a hard link": with_member("files/zz", kind=tarfile.LNKTYPE, link="header.json"),
    "a device": with_member("files/zz", kind=tarfile.CHRTYPE),
    "twice": lambda members: [*members, members[-1]],
    "backwards": lambda members: [*members[:2], *reversed(members[2:])],
    "a part left out": lambda members: [member for member in members if member[0].name != USERS],
    "an unknown table": lambda members: [*members[:2], *with_member("tables/x.Y/000000.jsonl.gz")([]), *members[2:]],
    "the fourth part": lambda members: [
        *members[:2],
        *with_member("tables/account.EmailAddress/000003.jsonl.gz")([]),
        *members[2:],
    ],
}
ROWS: dict[str, Callable[[Members], Members]] = {
    "a row less": with_rows(USERS, lambda rows: rows[1:]),
    "a row less that nobody refers to": with_rows("tables/webapp.User_groups/000000.jsonl.gz", lambda rows: rows[1:]),
    "a value less": with_rows(USERS, lambda rows: [row[:-1] for row in rows]),
    "no list": with_rows(USERS, lambda rows: [{}]),
    "the same key twice": with_rows(USERS, lambda rows: rows * 2),
    "words for a number": with_rows(USERS, lambda rows: [["one", *rows[0][1:]]]),
    "a list for a number": with_rows(USERS, lambda rows: [[[1], *rows[0][1:]]]),
    "null for a name": with_rows(USERS, lambda rows: [[None if value == "grace" else value for value in rows[0]]]),
    "a huge number": with_rows(USERS, lambda rows: [[10**30, *rows[0][1:]]]),
    "a user that nobody is": with_rows(USERS, lambda rows: [[77, *rows[0][1:]]]),
    "no gzip": with_content(USERS, lambda content: b"rows"),
    "half a gzip": with_content(USERS, lambda content: content[: len(content) // 2]),
    "no JSON": with_content(USERS, lambda content: gzip.compress(b"{'a'}\n")),
    "deep JSON": with_content(USERS, lambda content: gzip.compress(b"[" * 200_000)),
}


@pytest.fixture
def before(archive: Path, own_folder: Path) -> Any:
    """Return the rows before the restore, which must be the same afterwards."""
    (own_folder / "secret_key").write_text("k" * 40)
    return everything()


def check_nothing_changed(before: Any, folder: Path) -> None:
    assert everything() == before
    assert all_files() == {}
    assert (folder / "secret_key").read_text() == "k" * 40
    assert not list(folder.parent.rglob("*evil*"))
    media = folder / "media"
    assert not media.exists() or list(media.rglob("*")) == []


@pytest.mark.parametrize("case", HEADERS)
def test_a_header_that_does_not_fit_is_refused(archive: Path, before: Any, own_folder: Path, case: str) -> None:
    change, words = HEADERS[case]
    with pytest.raises(BadArchive) as caught:
        restore_archive(rewrite(archive, change))
    assert words in str(caught.value) and "\n" not in str(caught.value)
    check_nothing_changed(before, own_folder)


def test_names_out_of_the_folder_out_of_order_and_links_are_refused(
    archive: Path, before: Any, own_folder: Path
) -> None:
    good = archive.read_bytes()
    for case, change in NAMES.items():
        archive.write_bytes(good)
        rewrite(archive, change)
        with pytest.raises(BadArchive) as caught:
            pytest.fail(f"{case}: {check_archive(archive).contents}")
        assert "\n" not in str(caught.value), case
    check_nothing_changed(before, own_folder)


def test_invalid_rows_are_refused_and_earlier_rows_are_rolled_back(
    archive: Path, before: Any, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "bring_to", lambda *_, **__: None)  # the tables exist already
    good = archive.read_bytes()
    for case, change in ROWS.items():
        archive.write_bytes(good)
        rewrite(archive, change)
        with pytest.raises(EngineError) as caught:
            restore_archive(archive)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 500, case
        check_nothing_changed(before, own_folder)
    archive.write_bytes(good)
    restore_archive(archive)
    assert User.objects.filter(username="grace").count() == 1


def test_a_truncated_archive_is_refused(archive: Path, before: Any, own_folder: Path) -> None:
    good = archive.read_bytes()
    end = good.index(b"contents.json")
    for share in [0, 100, 511, 512, 513, 2000, end - 1024, end, end + 600, *range(3000, end, end // 10)]:
        archive.write_bytes(good[:share])
        with pytest.raises(BadArchive):
            check_archive(archive)
    check_nothing_changed(before, own_folder)


def test_content_after_the_end_is_refused(archive: Path, before: Any, own_folder: Path) -> None:
    good = archive.read_bytes()
    unended = good.rstrip(b"\0")
    unended += bytes(-len(unended) % 512)
    behind = {
        "one byte": good + b"x",
        "zeros": good + bytes(10240),
        "the same archive": good + good,
        "something in place of the last zeros": good[:-10] + b"something.",
        "a second last member": unended + good[good.index(b"contents.json") :],
        "another member": unended + good[: 512 * 4] + bytes(1024),
    }
    for case, content in behind.items():
        archive.write_bytes(content)
        with pytest.raises(BadArchive, match=r"with zeros alone after contents\.json") as caught:
            pytest.fail(f"{case}: {check_archive(archive).contents}")
        assert "\n" not in str(caught.value), case
    check_nothing_changed(before, own_folder)


def are_same_members(read: list[tuple[str, bytes]], kept: list[tuple[str, bytes]]) -> bool:
    """Return whether members are the same. The last one is JSON with digests of the others; its blanks may differ."""
    (name, last), (kept_name, kept_last) = read[-1], kept[-1]
    return (read[:-1], name, json.loads(last)) == (kept[:-1], kept_name, json.loads(kept_last))


def test_every_changed_bit_of_the_table_of_contents_is_detected(archive: Path) -> None:
    good, contents = archive.read_bytes(), members_of(archive)[-1][1]
    begin, undetected = good.index(contents), set()
    for place in range(0, len(contents), 1 if proof.SHARE == 1 else 97):
        for bit in range(8):
            text = bytearray(contents)
            text[place] ^= 1 << bit
            with archive.open("r+b") as file:
                file.seek(begin + place)
                file.write(bytes([text[place]]))
            with suppress(EngineError):
                ArchiveReader(archive).verify()
                if json.loads(bytes(text)) != json.loads(contents):
                    undetected.add((place, bit))
        archive.write_bytes(good)
    assert undetected == set()


def test_a_flipped_bit_is_detected_if_it_changes_the_content(archive: Path, before: Any, own_folder: Path) -> None:
    good = archive.read_bytes()
    kept = [(info.name, content) for info, content in members_of(archive)]
    draw, found, cases = random.Random(7), 0, proof.size(2000)
    for _ in range(cases):
        place, bit = draw.randrange(len(good)), 1 << draw.randrange(8)
        with archive.open("r+b") as file:
            file.seek(place)
            file.write(bytes([good[place] ^ bit]))
        try:
            ArchiveReader(archive).verify()
            read = [(info.name, content) for info, content in members_of(archive)]
            assert are_same_members(read, kept)  # the changed bit has no meaning
        except EngineError:
            found += 1
        with archive.open("r+b") as file:
            file.seek(place)
            file.write(good[place : place + 1])
    assert found > cases // 4
    check_nothing_changed(before, own_folder)


def test_files_that_are_not_archives_are_refused(tmp_path: Path, archive: Path) -> None:
    for content in (b"", b"PK\x03\x04" * 300, b"\0" * 10240, gzip.compress(archive.read_bytes())):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(BadArchive):
            ArchiveReader(tmp_path / "other")
    with pytest.raises(BadArchive, match="got no file"):
        ArchiveReader(tmp_path / "none.tar")


def test_an_archive_that_changes_after_it_was_checked_is_refused(archive: Path, before: Any, own_folder: Path) -> None:
    checked = check_archive(archive)
    rewrite(archive, with_rows(USERS, lambda rows: [[*row[:4], "mallory", *row[5:]] for row in rows]))
    with pytest.raises(EngineError):
        restore(checked)
    check_nothing_changed(before, own_folder)


def test_splits_whose_rows_were_changed_before_the_backup_are_detected(rich: Dataset, tmp_path: Path) -> None:
    question = rich.splits.get(name="val").question_set.get(position=5)
    type(question).objects.filter(pk=question.pk).update(text="What?")
    assert {str(split): holds for split, holds in proofs()} == {
        "rows/train": True,
        "rows/val": False,
        "rows/test": True,
        "rows/few": True,
    }
    question.delete()
    assert not {str(split): holds for split, holds in proofs()}["rows/val"]


def test_large_tables_are_written_and_restored_in_parts(
    rich: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "PART_BYTES", 2000)
    monkeypatch.setattr(rows, "READ", 7)
    kept = everything()
    writing.write_backup(tmp_path / "own.tar")
    names = [info.name for info, _ in members_of(tmp_path / "own.tar")]
    assert sum("tables/generation.Question/" in name for name in names) > 10
    lose_everything()
    restore_archive(tmp_path / "own.tar")
    assert everything()["generation.Question"] == kept["generation.Question"]
