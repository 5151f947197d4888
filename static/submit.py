#!/usr/bin/env python3
"""Submit predictions to a Horsesense site. This one file needs Python 3.9 or later and nothing else.

    export HORSESENSE_SITE=https://horsesense.example.org HORSESENSE_TOKEN=hs_...
    python submit.py questions clevr/val                 downloads the questions
    python submit.py check answers.jsonl --split clevr/val --method "My model"
    python submit.py send answers.jsonl --split clevr/val --method "My model" --run 1

`send` uploads the file, waits for the score, and prints it with the weakest slices. Requests that fail are sent again.
No file is counted twice: the same call returns the first submission. The exit status is 0 if the submission was
scored, 2 if it was refused, and 1 if the site did not answer.
"""

from __future__ import annotations

import argparse
import email.utils
import hashlib
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

API = "/api/v1/"
TRIES = 8  # attempts of each request
LONGEST_PAUSE = 60.0  # seconds; if the site asks for a longer pause, the request is not sent again
POLL = (1.0, 5.0)  # seconds between two requests for the state of a submission: the first pause, and the longest
PIECE = 1 << 16
LARGEST = 100_000_000  # bytes of an upload
TIMEOUT = 120.0
PASSING = (429, 500, 502, 503, 504)
DONE, ENDED = "done", ("done", "failed", "cancelled")


class Refused(Exception):
    """The site refused a request. The text is its message."""


class Unreachable(Exception):
    """The site did not answer in any attempt."""


class SameSite(urllib.request.HTTPRedirectHandler):
    # The token must be sent to the named site alone, and a redirected upload would lose its body.
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        raise Refused(
            f"Expected the site's own address, got an address that redirects to {newurl}. Use that as --site."
        )


class Upload:
    """The body of a request with fields and files. It is read piece by piece, and can be read again."""

    def __init__(self, fields: dict[str, str], path: Path, replies: Path | None = None) -> None:
        self.boundary = uuid.uuid4().hex
        lines = []
        for name, value in fields.items():
            lines.append(f'--{self.boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n')
        self.files = [("".join(lines).encode() + self._head("file", path), path)]
        if replies is not None:
            self.files.append((b"\r\n" + self._head("replies", replies), replies))
        self.tail = f"\r\n--{self.boundary}--\r\n".encode()
        self.size = sum(len(head) + size_of(path) for head, path in self.files) + len(self.tail)

    def _head(self, field: str, path: Path) -> bytes:
        name = path.name.encode("ascii", "replace").decode().replace('"', "'")
        return (
            f'--{self.boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode()

    def pieces(self) -> Iterator[bytes]:
        for head, path in self.files:
            yield head
            with path.open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece
        yield self.tail


def size_of(path: Path) -> int:
    size = path.stat().st_size
    if size > LARGEST:
        raise Refused(f"Expected at most {LARGEST // 10**6} MB in {path.name}, got {size:,} bytes: pack it with gzip.")
    return size


class Site:
    """A site, and the requests to it with the token of an account."""

    def __init__(self, address: str, token: str) -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise Refused(f"Expected the site's address, such as https://example.org, got {address!r}.")
        self.address = f"{parts.scheme}://{parts.netloc}"
        self.headers = {"Accept": "application/json", "User-Agent": "horsesense-submit"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.opener = urllib.request.build_opener(SameSite)

    def ask(self, path: str, *, upload: Upload | None = None, headers: dict[str, str] | None = None) -> Any:
        return self._again(path, upload, headers or {}, json.load)

    def download(self, path: str, target: Path) -> int:
        """Download an address to a file, and return its size. A failed download leaves no file with this name."""
        draft = target.with_name(f"{target.name}.part")

        def write(answer: http.client.HTTPResponse) -> int:
            with draft.open("wb") as file:
                size = copied(answer, file)
            wanted = answer.headers.get("Content-Length")
            if wanted is not None and int(wanted) != size:
                raise http.client.IncompleteRead(b"", int(wanted) - size)
            return size

        size: int = self._again(path, None, {}, write)
        draft.replace(target)
        return size

    def _again(self, path: str, upload: Upload | None, headers: dict[str, str], read: Any) -> Any:
        """Return what `read` reads from the response. A failed request is sent again, after growing pauses."""
        trouble = ""
        for number in range(TRIES):
            request = urllib.request.Request(self._absolute(path), headers={**self.headers, **headers})  # noqa: S310 - http alone
            if upload is not None:
                request.data = upload.pieces()
                request.add_header("Content-Type", f"multipart/form-data; boundary={upload.boundary}")
                request.add_header("Content-Length", str(upload.size))
            pause = min(LONGEST_PAUSE, 0.5 * 2**number)
            try:
                with self.opener.open(request, timeout=TIMEOUT) as answer:
                    return read(answer)
            except urllib.error.HTTPError as error:
                said = message_of(error)
                pause = seconds_asked(error.headers, pause)
                if error.code not in PASSING or pause > LONGEST_PAUSE:
                    raise Refused(said) from error
                trouble = said
            except (OSError, http.client.HTTPException, ValueError) as error:
                trouble = str(getattr(error, "reason", error)) or type(error).__name__
            if number + 1 < TRIES:
                say(f"No answer yet ({trouble}); again in {pause:g} s.")
                time.sleep(pause)
        raise Unreachable(f"Expected an answer from {self.address}, got none in {TRIES} tries: {trouble}")

    def _absolute(self, path: str) -> str:
        found = urllib.parse.urljoin(self.address, path)
        if urllib.parse.urlsplit(found)[:2] != urllib.parse.urlsplit(self.address)[:2]:
            raise Refused(f"Expected an address of {self.address}, got {found}.")
        return found


def message_of(error: urllib.error.HTTPError) -> str:
    """Return the message and the status of a refusal."""
    try:
        said = json.loads(error.read())["error"]["message"]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        said = error.reason
    return f"{said} ({error.code})"


def seconds_asked(headers: Any, otherwise: float) -> float:
    """Return the seconds in the header Retry-After, which has a number or a date; without a valid one, `otherwise`."""
    said = (headers.get("Retry-After") or "").strip()
    if said.isascii() and said.isdigit():
        return float(said)
    until = email.utils.parsedate_tz(said)
    told = email.utils.parsedate_tz(headers.get("Date") or "")  # the clocks of both machines may differ
    try:
        since = time.time() if told is None else email.utils.mktime_tz(told)
        return otherwise if until is None else max(0.0, email.utils.mktime_tz(until) - since)
    except (ValueError, OverflowError):
        return otherwise


def copied(source: http.client.HTTPResponse, target: BinaryIO) -> int:
    """Copy a response to a file, and return its size."""
    size = 0
    while piece := source.read(PIECE):
        size += target.write(piece)
    return size


def say(text: str) -> None:
    # Standard output has results only.
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def split_path(split: str) -> str:
    """Return the address of a split in the API."""
    slug, slash, name = split.partition("/")
    if not slash or not slug or not name:
        raise Refused(f"Expected DATASET/SPLIT, got {split!r}.")
    quoted = [urllib.parse.quote(part, safe="") for part in (slug, name)]
    return f"{API}datasets/{quoted[0]}/splits/{quoted[1]}/"


def questions(site: Site, options: argparse.Namespace) -> int:
    """Download the questions of a split."""
    path = split_path(options.split)
    target = Path(options.output or f"{options.split.replace('/', '-')}.jsonl.gz")
    size = site.download(f"{path}questions.jsonl.gz", target)
    sys.stdout.write(f"{target}: {size:,} bytes\n")
    return 0


def fields_of(options: argparse.Namespace) -> dict[str, str]:
    names = (
        "split",
        "suite",
        "method",
        "run",
        "trained_on",
        "train_size",
        "examples_seen",
        "column",
        "fingerprint",
        "note",
    )
    return {name: str(value) for name in names if (value := getattr(options, name)) is not None}


def replies_of(options: argparse.Namespace) -> Path | None:
    return Path(options.replies) if options.replies else None


def key_of(fields: dict[str, str], paths: list[Path], *, is_new: bool) -> str:
    """Return the key of an upload, by which the site knows a repeated one: the same for equal fields and files."""
    found = hashlib.sha256(json.dumps(sorted(fields.items())).encode())
    for path in paths:
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                found.update(piece)
    if is_new:
        found.update(uuid.uuid4().bytes)
    return found.hexdigest()


def check(site: Site, options: argparse.Namespace) -> int:
    """Let the site check a file. The site keeps nothing of it."""
    upload = Upload({**fields_of(options), "dry_run": "1"}, Path(options.file), replies_of(options))
    answer = site.ask(f"{API}submissions/", upload=upload)
    sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    return 0


def send(site: Site, options: argparse.Namespace) -> int:
    """Upload a file, wait for its score, and print it."""
    fields, path, replies = fields_of(options), Path(options.file), replies_of(options)
    paths = [path] if replies is None else [path, replies]
    headers = {"Idempotency-Key": key_of(fields, paths, is_new=options.again)}
    answer = site.ask(f"{API}submissions/", upload=Upload(fields, path, replies), headers=headers)
    found = answer.get("submissions") or [answer]
    for one in found:
        say(f"Submission {one['id']}: {urllib.parse.urljoin(site.address, one.get('page', one['url']))}")
    if options.no_wait:
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
        return 0
    ended = [waited_for(site, one["url"], seconds=options.wait) for one in found]
    if options.json:
        sys.stdout.write(json.dumps(ended if len(ended) > 1 else ended[0], indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(line for one in ended for line in report(site, one, by=options.by)) + "\n")
    return 0 if all(one["state"] == DONE for one in ended) else 2


def waited_for(site: Site, path: str, *, seconds: float) -> dict[str, Any]:
    """Wait until a submission has ended, and return it. Its states are printed."""
    deadline, pause, before = time.monotonic() + seconds, POLL[0], ""
    while True:
        found: dict[str, Any] = site.ask(path)
        if found["state"] != before:
            before = found["state"]
            say(f"{time.strftime('%H:%M:%S')}  {before}")
        if before in ENDED:
            return found
        if time.monotonic() > deadline:
            raise Unreachable(f"Expected a score within {seconds:g} s, got none yet: it is {before}. Ask later: {path}")
        time.sleep(pause)
        pause = min(1.5 * pause, POLL[1])


def report(site: Site, found: dict[str, Any], *, by: list[str]) -> Iterator[str]:
    """Yield lines with the scores of a submission, its groups, and the slices of named facets or the weakest ones."""
    if found["state"] != DONE:
        yield f"Submission {found['id']} {found['state']}: {found.get('message', '')}"
        return
    for score in found.get("scores") or ():
        yield f"{score['split']}: n = {score['n']:,}"
        if score.get("disclosure"):
            yield from published(score)
            continue
        read = {"n": score["n"], "accuracy": score["accuracy_read"]}
        yield f"  accuracy       {share(score)}"
        yield f"  accuracy_read  {share(read)}, {score['unreadable']:,} unreadable"
        yield from used(score)
        yield from large(score["columns"])
    if found.get("slices_url"):
        yield from sliced(site.ask(found["slices_url"]), by=by)


def used(score: dict[str, Any]) -> Iterator[str]:
    """Yield lines with coverage, tokens, cost and latency: none if all is answered and nothing else is known."""
    found = score.get("usage") or {}
    figures = {
        "tokens per question": found.get("tokens_per_question"),
        "dollars for 1,000 questions": found.get("dollars_per_1000_questions"),
        "median seconds": found.get("median_seconds"),
    }
    if found and (found["answered"] < found["asked"] or any(value is not None for value in figures.values())):
        yield f"  answered       {found['answered']:,.0f} of {found['asked']:,}; the others count as wrong"
        yield f"  among answered {share(score['among_answered'])}"
    for name, value in figures.items():
        if value is not None:
            yield f"  {name}: {value:,.6g}"


def sliced(found: dict[str, Any], *, by: list[str]) -> Iterator[str]:
    """Yield lines with the slices of the named facets, or with the weakest slices of all."""
    facets = found["facets"]
    for name in by:
        if name not in facets:
            raise Refused(f"Expected one of the facets {', '.join(facets)}, got {name!r}.")
        yield name
        yield from table(facets[name])
    if not by and found.get("weakest"):
        yield "weakest slices"
        yield from table({one["label"]: one for one in found["weakest"]})
    if not by:
        yield f"all slices of a facet: --by FACET, one of {', '.join(facets)}"


def large(cells: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each value with enough questions, and one line for all others."""
    told = {name: cell for name, cell in cells.items() if cell.get("accuracy") is not None}
    yield from table(told)
    few = sum(1 for name, cell in cells.items() if cell["n"] and name not in told)
    if few:
        yield f"  {few} with too few questions to tell"


def published(score: dict[str, Any]) -> Iterator[str]:
    """Yield lines with the published figures of a score on withheld answers."""
    found = score["disclosure"]
    if found["figure"] is None:
        yield "  accuracy       shown when the answers are opened"
        return
    kept = "" if found["is_new"] else f", which this score does not beat by {100 * found['step']:.1f} points"
    yield f"  accuracy       {100 * found['figure']:.1f} % is the method's published figure{kept}"
    for name, value in found["parts"].items():
        yield f"  {name}  {100 * value:.1f} %"


def table(cells: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each value that occurs."""
    width = max(map(len, cells), default=0)
    for name, cell in cells.items():
        if cell["n"]:
            yield f"  {name:<{width}}  {share(cell)}"


def share(figure: dict[str, Any]) -> str:
    """Return an accuracy in per cent with its interval, if the site gives one, and the number of questions."""
    told: list[Any] = [figure.get(name) for name in ("accuracy", "low", "high")]
    if told[0] is None:
        return f"too few to tell (n = {figure['n']:,})"
    interval = "" if None in told else f"{100 * told[1]:.1f} to {100 * told[2]:.1f}, "
    return f"{100 * told[0]:5.1f} %  ({interval}n = {figure['n']:,})"


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="submit.py", description="Submit predictions to a Horsesense site.")
    site = os.environ.get("HORSESENSE_SITE", "http://127.0.0.1:8000")
    found.add_argument("--site", default=site, help="the site's address; default: HORSESENSE_SITE, or %(default)s")
    commands = found.add_subparsers(dest="command", required=True, metavar="questions|check|send")
    ask = commands.add_parser("questions", help="download the questions of a split")
    ask.add_argument("split", metavar="DATASET/SPLIT")
    ask.add_argument("--output", metavar="FILE", help="default: DATASET-SPLIT.jsonl.gz")
    for name, about in (("check", "check a file; the site keeps nothing"), ("send", "submit a file")):
        one = commands.add_parser(name, help=about)
        one.add_argument("file", metavar="FILE", help="predictions, in any format of /docs/predictions/")
        one.add_argument("--replies", metavar="FILE", help="the model's replies, JSON lines as ask.py writes them")
        target = one.add_mutually_exclusive_group(required=True)
        target.add_argument("--split", metavar="DATASET/SPLIT")
        target.add_argument("--suite", metavar="SUITE", help="a zip with a file for each of its splits")
        one.add_argument("--method", required=True, metavar="NAME", help="the name or number of the method")
        one.add_argument("--run", metavar="NAME", help="the seed or name of this run, if the method has several")
        one.add_argument("--trained-on", metavar="DATASET/SPLIT")
        one.add_argument("--train-size", type=int, metavar="N", help="number of different training examples")
        one.add_argument(
            "--examples-seen", type=int, metavar="N", help="number of training examples seen, with repetitions"
        )
        one.add_argument("--column", metavar="NAME", help="the column of answers, if several may have them")
        one.add_argument("--fingerprint", metavar="HASH", help="refuse the file if the split has another content hash")
        one.add_argument("--note", metavar="TEXT")
    one.add_argument("--again", action="store_true", help="make a new submission, even of the same file")
    one.add_argument("--no-wait", action="store_true", help="do not wait for the score")
    one.add_argument("--wait", type=float, default=3600.0, metavar="SECONDS", help="default: %(default)g")
    one.add_argument(
        "--by", action="append", default=[], metavar="FACET", help="all slices of this facet; may be repeated"
    )
    one.add_argument("--json", action="store_true", help="print the submission as JSON")
    return found


def main(arguments: list[str]) -> int:
    """Return the exit status of a call."""
    options = parser().parse_args(arguments)
    command = {"questions": questions, "check": check, "send": send}[options.command]
    try:
        return command(Site(options.site, os.environ.get("HORSESENSE_TOKEN", "")), options)
    except Refused as refusal:
        say(str(refusal))
        return 2
    except FileNotFoundError as error:
        say(f"Expected a file, got none: {error.filename}")
        return 2
    except Unreachable as error:
        say(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
