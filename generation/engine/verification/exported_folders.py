"""Verifying an exported folder: the content of its files is computed again, as for rows of the database.

Every file is compared with the folder's list of SHA-256. For formats that can be read, scenes, questions, pictures and
content hashes are checked. The folder `horsesense/` states what the release leaves out. A folder without it, such as
the release itself, allows fewer checks.
"""

import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from generation.engine import formats
from generation.engine.content_hash import dataset_fingerprint
from generation.engine.errors import BadExport, BadRecord, EngineError
from generation.engine.items import Chunk
from generation.engine.reading.bounded_json import Guarded, loads
from generation.engine.reading.dataset_reader import FoundFiles, Reader, ReadItem, find_reader
from generation.engine.reading.json_stream import JsonText, records
from generation.engine.reading.sidecar_reader import BESIDE
from generation.engine.spec import BaseSpec
from generation.engine.verification.checks import spread
from generation.engine.verification.duplicates import RepeatCounter
from generation.engine.verification.folder_batches import FolderBatch, FolderSplit, PartProof, facet_rows, prove_part
from generation.engine.verification.process_pool import Crew
from generation.engine.verification.train_overlap import TrainOverlap
from generation.engine.verification.verdict import Finding, Verdict, outdated_checks
from generation.engine.worlds import READERS, get_world

ITEMS = 250  # items in a batch, for splits without a plan
Tick = Callable[[int], None]


class Scope(NamedTuple):
    """What is verified, and how."""

    folder: Path
    format: str
    splits: Sequence[str] = ()
    rerender: int = 0
    workers: int = 1


def verify(scope: Scope, *, tick: Tick = lambda _: None) -> Verdict:
    """Return the verdict on a folder. `tick` is called with numbers of questions.

    Raises
    ------
    BadExport, BadRecord
        If the folder or format does not exist, or if nothing in it can be read.
    """
    folder, verdict = scope.folder, Verdict()
    known = {format_.name: format_ for format_ in formats.every()}
    if scope.format not in known:
        raise BadExport(f"Expected one of {', '.join(known)}, got {scope.format!r}.", where="--format")
    if not folder.is_dir():
        raise BadExport("Expected a folder, got none.", where=str(folder))
    prove_sums(folder, folder / known[scope.format].sums, verdict)
    if scope.format in READERS:
        try:
            _Folder(scope, verdict, tick=tick).prove()
        except BadRecord as error:
            if verdict.holds and not verdict.proved:  # nothing shows that the folder is an export
                raise
            verdict.find(Finding("", "files", "files that can be read", str(error)))
    else:
        verdict.leave("", f"what is in files of the format {scope.format}, which is not read again")
    return verdict


def prove_sums(folder: Path, sums: Path, verdict: Verdict) -> None:
    """Check that every file has its published SHA-256, and that there are no other files."""
    if not sums.is_file():
        verdict.leave("", f"SHA-256 of files: there is no {sums.relative_to(folder)}")
        return
    listed: dict[str, str] = {}
    for line in sums.read_text(encoding="utf-8", errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    for name, digest in listed.items():
        came = _sha256(folder, name)
        if came == digest:
            verdict.prove("", "files", unit="files")
        else:
            verdict.find(Finding("", "files", f"{name} of SHA-256 {digest}", came or "no such file"))
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and path != sums and name not in listed:
            verdict.find(Finding("", "files", "files that are listed alone", name))


def _sha256(folder: Path, name: str) -> str:
    """Return the SHA-256 of a file of the folder; empty if there is no such file."""
    path = folder / name
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Folder:
    """Verifies a folder whose format can be read."""

    def __init__(self, scope: Scope, verdict: Verdict, *, tick: Tick) -> None:
        self.scope, self.verdict, self.tick = scope, verdict, tick
        self.reader: Reader = find_reader(scope.format)
        self.found: FoundFiles = self.reader.find([scope.folder])
        self.world = get_world(self.reader.world)
        self.about = _about(scope.folder)
        verdict.engine_version = str(self.about.get("engine_version", ""))
        verdict.outdated = outdated_checks(self.world.checks_since, verdict.engine_version)
        self.stated = {one["name"]: one for one in self.about.get("splits", ())}
        self.hashes: dict[str, str] = {}
        self.overlap = TrainOverlap()
        self.said: dict[str, dict[str, list[int]]] = {}  # by split and facet
        self.repeats = RepeatCounter(self.world)

    def prove(self) -> None:
        try:
            spec = self._spec()
        except EngineError as error:
            self.verdict.find(Finding("", "files", "a spec that can be read", str(error)))
            return
        splits = self._splits(spec)
        prove = functools.partial(prove_part, {split.name: split for split in splits})
        with Crew(prove, size=self.scope.workers) as crew:
            for split in splits:
                self._prove_split(split, crew)
        for split in splits:
            if (reference := split.stated.get("reference")) is not None:
                self.overlap.prove(split.name, reference, self.said.get(split.name, {}), self.verdict)
        self.repeats.note({split.name: self._reference(split.name) for split in splits}, self.verdict)
        self._prove_whole()

    def _spec(self) -> BaseSpec:
        for name, content in self.found.contents.items():
            digest = hashlib.sha256(content).hexdigest()
            self.verdict.same("", "files", name, digest, unit="files of the spec", what="SHA-256 ")
        if self.found.spec:
            return self.world.read_stored_spec(self.found.spec, files=self.found.contents)
        self.verdict.leave("", "content hashes, spec and facets: there is no horsesense/ beside the release")
        return self.world.read_stored_spec(self.reader.spec(self.found))

    def _splits(self, spec: BaseSpec) -> list[FolderSplit]:
        """Return the splits to verify, with everything that worker processes need."""
        there = {split.name: split for split in self.found.splits}
        for name in self.scope.splits:
            if name not in there:
                raise BadExport(f"Expected a split ({', '.join(there)}), got {name!r}.", where="--split")
        for name in sorted(self.stated.keys() - there.keys()):
            self.verdict.find(Finding(name, "rows", "files of this split", "none"))
        splits = []
        for name, files in there.items():
            stated = self.stated.get(name, {})
            parent = stated.get("parent")
            source = parent or name
            is_ours = self.reader.ours in files.files and not stated.get("imported")
            is_made = name in spec.splits and parent is None and is_ours
            own = spec.for_split(source) if source in spec.splits else spec
            names = [facet for facet in stated.get("facets", ()) if isinstance(facet, str)]
            if not self.scope.splits or name in self.scope.splits:
                splits.append(FolderSplit(name, files, spec, own, is_made, stated, names, self.world.name))
        return splits

    def _prove_split(self, split: FolderSplit, crew: Crew[FolderBatch, PartProof]) -> None:
        hashed, scenes, questions, whole = hashlib.sha256(), 0, 0, True
        try:
            for part, proved in crew.prove_all(self._parts(split)):
                self.verdict.find_all(proved.findings)
                self.verdict.take(split.name, proved.proof)
                hashed.update(proved.hashed)
                self._add_keys(split.name, proved)
                self.repeats.add(split.name, proved.repeats, items=len(part.reads))
                whole &= proved.is_whole
                scenes, questions = scenes + len(part.reads), questions + part.questions
                self.tick(part.questions)
            self._prove_release(split)
        except EngineError as error:
            self.verdict.find(Finding(split.name, "rows", "records that can be read", str(error)))
            return
        if split.stated:
            self._prove_stated(split, (scenes, questions))
            self._prove_hash(split, hashed.hexdigest(), is_whole=whole)

    def _add_keys(self, split: str, proved: PartProof) -> None:
        said = self.said.setdefault(split, {})
        for keys, told in zip(proved.keys, proved.said, strict=True):
            for facet, hashes in keys.items():
                self.overlap.add(split, facet, hashes, [len(hashes)])
            for facet, code in told.items():
                said.setdefault(facet, []).append(code)

    def _reference(self, name: str) -> str | None:
        """Return the split to which a split is compared: the stated one, or `train` if nothing is stated; or None."""
        if name in self.stated:
            return self.stated[name].get("reference")
        return "train" if name != "train" else None

    def _parts(self, split: FolderSplit) -> Iterator[FolderBatch]:
        """Yield the split's items in batches, with the stated values of their facets."""
        reads = self.reader.read(split.files, spec=split.own, opened=_open)
        rows = facet_rows(self.scope.folder / BESIDE / "facets", split.name)
        again = self._again(split)
        first = asked = 0
        for size in self._sizes(split):
            taken: list[ReadItem] = []
            for read in reads:
                taken.append(read)
                if len(taken) == size:
                    break
            if not taken:
                break
            count = sum(len(read.item.questions) for read in taken)
            told = [row for row, _ in zip(rows, range(count), strict=False)] if rows is not None else None
            yield FolderBatch(
                split.name, tuple(taken), first, asked, told, frozenset(again & {*range(first, first + size)})
            )
            first, asked = first + len(taken), asked + count

    def _sizes(self, split: FolderSplit) -> Iterator[int]:
        """Yield the number of items of each batch; after the plan's last batch, always `ITEMS`."""
        if split.is_made:
            plan: list[Chunk] = self.world.maker.plan(split.spec, split.name) if self.world.maker else []
            yield from (chunk.items for chunk in plan)
        while True:
            yield ITEMS

    def _again(self, split: FolderSplit) -> set[int]:
        """Return the items of a split whose pictures are drawn again, evenly spread over the stated splits."""
        before = 0
        for one in self.stated.values():
            if one["name"] == split.name:
                break
            before += int(one.get("scenes", 0))
        total = sum(int(one.get("scenes", 0)) for one in self.stated.values())
        return {number - before for number in spread(total, self.scope.rerender) if number >= before}

    def _prove_release(self, split: FolderSplit) -> None:
        """Check that the questions in the release's own file match those in the file with the answers."""
        path = Path(split.files.files.get("questions", ""))
        bare = self.scope.folder / str(self.about.get("folder", "")) / "questions" / path.name
        if not split.stated or bare == path or not bare.is_file() or not path.is_file():
            return
        wrong = count = 0
        with bare.open("rb") as one, path.open("rb") as two:
            theirs = records(JsonText(Guarded(one)), "questions", where=bare.name)
            for mine in records(JsonText(Guarded(two)), "questions", where=path.name):
                other = next(theirs, None) or {}
                came = {key: other.get(key) for key in other}
                if came != {key: mine.get(key) for key in other} or "question" not in other:
                    finding = Finding(split.name, "texts", f"{mine.get('question')!r} in the release's file, too",
                                      repr(other.get("question")), None, count)  # fmt: skip
                    self.verdict.find(finding)
                    wrong += 1
                count += 1
        self.verdict.prove(split.name, "texts", count - wrong, unit="questions of the release's file")

    def _prove_stated(self, split: FolderSplit, came: tuple[int, int]) -> None:
        stated = split.stated
        expected = stated.get("scenes"), stated.get("questions")
        self.verdict.same(split.name, "rows", expected, came, unit="figures", what="scenes and questions ")
        if split.is_made:
            planned = split.spec.splits[split.name].scenes
            self.verdict.same(split.name, "rows", planned, came[0], unit="figures", what="scenes ")
        if stated.get("secret"):
            digest = hashlib.sha256(bytes.fromhex(str(stated["secret"]))).hexdigest()
            what = "SHA-256 of the secret "
            self.verdict.same(split.name, "hashes", digest, stated.get("secret_sha256"), unit="secrets", what=what)

    def _prove_hash(self, split: FolderSplit, came: str, *, is_whole: bool) -> None:
        if not is_whole and split.is_made and not split.stated.get("withheld"):
            expected = "all scenes, programs and answers of a split that withholds none"
            self.verdict.find(Finding(split.name, "hashes", expected, "some of them"))
        elif not is_whole:
            self.verdict.leave(split.name, "the content hash of a split whose answers, programs or scenes aren't there")
        else:
            stated = split.stated.get("fingerprint")
            self.verdict.same(split.name, "hashes", came, stated, unit="content hashes", what="content hash ")
            self.hashes[split.name] = came

    def _prove_whole(self) -> None:
        """Check the dataset's content hash. For splits whose hash was not computed, the stated hash is used."""
        own = {name: one for name, one in self.stated.items() if one.get("parent") is None}
        if not own or own.keys() != {*self.found.spec.get("splits", {})}:
            if self.stated:
                self.verdict.leave("", "the dataset's content hash, for which all splits are needed")
            return
        hashes = {name: self.hashes.get(name, str(one.get("fingerprint"))) for name, one in own.items()}
        what = "the dataset's content hash "
        whole, came = dataset_fingerprint(hashes), self.about.get("fingerprint")
        self.verdict.same("", "hashes", whole, came, unit="content hashes", what=what)


def _open(name: str) -> BinaryIO:
    return Path(name).open("rb")


def _about(folder: Path) -> Mapping[str, Any]:
    """Return the facts about a dataset in the folder `horsesense/`; empty without that folder."""
    path = folder / BESIDE / "dataset.json"
    if not path.is_file():
        return {}
    try:
        data = loads(path.read_bytes())
        assert isinstance(data, dict)
        assert all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in data.get("splits", ()))
    except (ValueError, AssertionError) as error:
        raise BadExport(
            f"Expected what an export says of itself, got something else ({error}).", where=str(path)
        ) from error
    return data
