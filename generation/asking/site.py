"""The site: its API and downloads, and a split with its questions, pictures and submissions."""

from __future__ import annotations

import http.client
import json
import tarfile
import threading
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from generation.asking.console import KEPT_ERROR, Clock, Refused, Unreachable, printable, say
from generation.asking.digests import as_json, sha256
from generation.asking.exchanges import (
    LARGEST_ERROR,
    LONGEST_BACKOFF,
    LONGEST_PAUSE,
    PAUSE,
    PIECE,
    SITE_TIMEOUT,
    TimedHTTP,
    TimedHTTPS,
    parts_of_address,
    seconds_asked,
)
from generation.asking.proxies import proxy_for
from generation.asking.questions import AskedQuestion, lines_of, questions_in, with_steps

API = "/api/v1/"
TRIES = 8  # of one request to the site
POLL = (1.0, 5.0)  # seconds between two checks of a submission: at first, and at most
LARGEST_ANSWER = 64 << 20  # bytes of an answer of the site that is no download
UNSCORED = ("failed", "cancelled")  # states of a submission
ENDED = ("done", *UNSCORED)
ANSWERS = "answers.jsonl"
NO_ANSWERS = "Expected the right results of the steps of"


class UploadFile(NamedTuple):
    name: str
    content: bytes


class SameSite(urllib.request.HTTPRedirectHandler):
    # The token is for the site that was named.
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        raise Refused(f"Expected the site's own address, got one that leads to {printable(newurl)}: use this address.")


class Site:
    """A site, which is asked with the token of an account."""

    def __init__(self, address: str, token: str, clock: Clock) -> None:
        parts = parts_of_address(address)
        if parts is None:
            got = "one with a password" if "@" in address else repr(address)
            raise Refused(f"Expected the site's address, such as https://example.org, got {got}.")
        self.address, self.clock = f"{parts.scheme}://{parts.netloc}", clock
        self.headers = {"Accept": "application/json", "User-Agent": "horsesense-ask"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        proxy = proxy_for(self.address)
        self.shown = f"{self.address} through the proxy {proxy}" if proxy else self.address
        proxies = urllib.request.ProxyHandler({parts.scheme: proxy.url} if proxy else {})
        self.opener = urllib.request.build_opener(SameSite, TimedHTTP, TimedHTTPS, proxies)

    def ask(self, path: str) -> Any:
        return self._again(lambda: self._opened(path, {}), json_of)

    def download(self, path: str, target: Path) -> Path:
        """Download a file from an address, completely or not at all; an interrupted download continues."""
        draft, etag = target.with_name(f"{target.name}.part"), ""
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)

        def opened() -> Any:
            size = draft.stat().st_size if etag and draft.exists() else 0
            return self._opened(path, {"Range": f"bytes={size}-", "If-Range": etag} if size else {})

        def write(answer: Any) -> None:
            nonlocal etag
            etag = answer.headers.get("ETag", "")
            wanted, got = answer.headers.get("Content-Length"), 0
            with draft.open("ab" if answer.status == 206 else "wb") as file:
                while piece := answer.read(PIECE):
                    got += file.write(piece)
                    answer.deadline.renew()  # a large file takes long, but each piece must come in time
            if wanted is not None and int(wanted) != got:
                raise http.client.IncompleteRead(b"", int(wanted) - got)

        self._again(opened, write)
        draft.replace(target)
        return target

    def send(self, path: str, fields: Mapping[str, str], files: Mapping[str, UploadFile], *, key: str = "") -> Any:
        """Upload files and the fields of a form. Uploads with the same key count once."""
        boundary = uuid.uuid4().hex
        body = bytearray()
        for name, value in fields.items():
            body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, file in files.items():
            about = f'form-data; name="{name}"; filename="{file.name}"\r\nContent-Type: application/octet-stream'
            body += f"--{boundary}\r\nContent-Disposition: {about}\r\n\r\n".encode() + file.content + b"\r\n"
        body += f"--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        if key:
            headers["Idempotency-Key"] = key
        return self._again(lambda: self._opened(path, headers, bytes(body)), json_of)

    def _opened(self, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Any:
        address = urllib.parse.urljoin(self.address, path)
        if urllib.parse.urlsplit(address)[:2] != urllib.parse.urlsplit(self.address)[:2]:
            raise Refused(f"Expected an address of {self.address}, got {printable(address)}.")
        request = urllib.request.Request(address, body, {**self.headers, **headers})  # noqa: S310 - http alone
        return self.opener.open(request, timeout=SITE_TIMEOUT)

    def _again(self, opened: Callable[[], Any], read: Callable[[Any], Any]) -> Any:
        """Return what `read` returns for a response; repeat a failed request after pauses that grow."""
        trouble = ""
        for number in range(TRIES):
            pause = min(LONGEST_BACKOFF, PAUSE * 2**number)
            try:
                with opened() as answer:
                    return read(answer)
            except urllib.error.HTTPError as error:
                trouble = message_of(error)
                pause = seconds_asked(error.headers, self.clock.date()) or pause
                if not (error.code == 429 or error.code >= 500) or pause > LONGEST_PAUSE:
                    raise Refused(f"{self.shown} says: {trouble}", error.code) from error
            except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
                trouble = printable(getattr(error, "reason", error)) or type(error).__name__
            if number + 1 < TRIES:
                say(f"No answer from the site yet ({trouble}). The next try is in {pause:g} s.")
                self.clock.wait(pause)
        raise Unreachable(f"Expected an answer from {self.shown}, got none after {TRIES} tries: {trouble}")


def json_of(answer: Any) -> Any:
    """Return the JSON value in an answer of the site."""
    content = answer.read(LARGEST_ANSWER + 1)
    if len(content) > LARGEST_ANSWER:
        raise ValueError(f"expected at most {LARGEST_ANSWER:,} bytes, got more")
    if answer.length:  # a read with a limit does not notice
        raise http.client.IncompleteRead(content, answer.length)
    return json.loads(content)


def message_of(error: urllib.error.HTTPError) -> str:
    try:
        said = json.loads(error.read(LARGEST_ERROR))["error"]["message"]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        said = error.reason
    return f"{printable(said, KEPT_ERROR)} ({error.code})"


class SiteSplit:
    """A split of a site."""

    def __init__(self, site: Site, name: str) -> None:
        self.site, self.name, self.path = site, name, split_path(name)
        self.about = site.ask(self.path)
        if not isinstance(self.about, dict) or not {"answers", "fingerprint", "questions_file"} <= self.about.keys():
            raise Refused(f"Expected a split of a Horsesense site at {site.address}{self.path}, got something else.")
        self.fingerprint: str = self.about["fingerprint"]
        self.answers: list[str] = self.about["answers"]
        self.synonyms: dict[str, str] = self.about.get("synonyms") or {}  # older sites do not send them

    def questions(self, folder: Path) -> list[AskedQuestion]:
        path = self.site.download(self.about["questions_file"], folder / "questions.jsonl.gz")
        return questions_in(lines_of(path, "questions"))

    def with_steps(self, questions: Sequence[AskedQuestion], folder: Path) -> list[AskedQuestion]:
        """Return the questions with the steps of their programs; raise `Refused` if the site does not send them."""
        address = self.about.get("steps_file")
        if address is None and self.about.get("withheld"):
            raise Refused(f"{NO_ANSWERS} {self.name}, got none because the answers are withheld: use another --form.")
        if address is None:
            raise Refused(
                f"{NO_ANSWERS} {self.name}, got none because the site does not send them: use another --form."
            )
        return with_steps(questions, lines_of(self.site.download(address, folder / "steps.jsonl.gz"), "steps"))

    def pictures(
        self, questions: Sequence[AskedQuestion], chosen: Sequence[AskedQuestion], folder: Path
    ) -> Callable[[AskedQuestion], bytes]:
        """Return a function that reads a picture. All pictures are downloaded first, unless the questions need few."""
        wanted = {question.picture for question in chosen} - {None}
        every = {question.picture for question in questions} - {None}
        home = folder / f"pictures-{self.fingerprint[:12]}"
        if not wanted or 4 * len(wanted) < len(every):
            return SinglePictures(self.site, self.path, home).read
        archive = home / "images.tar"
        if not archive.exists():
            say(f"Downloading {len(every):,} pictures.")
            self.site.download(self.about["images_file"], archive)
        return PictureArchive(archive).read

    def check(self, fields: Mapping[str, str], answers: bytes) -> None:
        # Raises `Refused` if the answers could not be submitted.
        self.site.send(f"{API}submissions/", {**fields, "dry_run": "1"}, {"file": UploadFile(ANSWERS, answers)})

    def submit(self, fields: Mapping[str, str], answers: bytes, replies: Path | None) -> dict[str, Any]:
        """Submit the answers, and the replies if the site takes them; return the submission when it has ended."""
        for key in submission_keys(fields, answers):
            sent = self._sent(fields, answers, replies, key=key)
            address, pause = sent["url"], POLL[0]
            found = self.site.ask(address)
            if not sent.get("is_repeat") or found["state"] not in UNSCORED:
                break
        page = urllib.parse.urljoin(self.site.address, found.get("page", address))
        say(f"Submission {printable(found['id'])}: {printable(page)}")
        while found["state"] not in ENDED:
            self.site.clock.wait(pause)
            pause = min(1.5 * pause, POLL[1])
            found = self.site.ask(address)
        return dict(found)

    def _sent(self, fields: Mapping[str, str], answers: bytes, replies: Path | None, *, key: str) -> Any:
        path, files = f"{API}submissions/", {"file": UploadFile(ANSWERS, answers)}
        if replies is None:
            return self.site.send(path, fields, files, key=key)
        more = {"replies": UploadFile("replies.jsonl.gz", replies.read_bytes())}
        try:
            return self.site.send(path, fields, {**files, **more}, key=key)
        except Refused as refusal:
            said = str(refusal)
            if refusal.status == 413:
                raise Refused(f"{said} --no-replies submits the answers without the replies.") from refusal
            if refusal.status != 422 or "Expected the fields" not in said or "'replies'" not in said:
                raise
        say("The site does not take replies: the answers are submitted without them.")
        return self.site.send(path, fields, files, key=key)


def submission_keys(fields: Mapping[str, str], answers: bytes) -> Iterator[str]:
    """Yield the key of a submission, so that the same answers of the same run never count twice.

    Further keys follow, since an earlier submission that was refused is no reason to refuse these answers again.
    """
    key = sha256(as_json(sorted(fields.items())) + answers)
    yield key
    yield from (f"{key}-{number}" for number in range(2, TRIES + 1))


def split_path(split: str) -> str:
    slug, slash, name = split.partition("/")
    if not slash or not slug or not name:
        raise Refused(f"Expected DATASET/SPLIT, got {split!r}.")
    quoted = [urllib.parse.quote(part, safe="") for part in (slug, name)]
    return f"{API}datasets/{quoted[0]}/splits/{quoted[1]}/"


class PictureArchive:
    """The pictures of a downloaded archive."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with tarfile.open(path) as tar:
                self.places = {entry.name: (entry.offset_data, entry.size) for entry in tar}
        except tarfile.TarError as error:
            raise Refused(
                f"Expected the pictures in {path}, got no tar archive ({error}): delete this file."
            ) from error

    def read(self, question: AskedQuestion) -> bytes:
        name = question.picture or ""
        if name not in self.places:
            raise Refused(f"Expected the picture of question {question.number}, got none named {printable(name)}.")
        start, size = self.places[name]
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(size)


class SinglePictures:
    """Pictures that are downloaded one by one."""

    def __init__(self, site: Site, path: str, folder: Path) -> None:
        self.site, self.path, self.folder = site, path, folder
        self.lock = threading.Lock()

    def read(self, question: AskedQuestion) -> bytes:
        """Return the picture of a question; download it first if necessary."""
        with self.lock:
            target = self.folder / f"{question.number}.image"
            if not target.exists():
                address = self.site.ask(f"{self.path}questions/{question.number}/").get("image")
                if not address:
                    raise Refused(f"Expected the picture of question {question.number}, got none.")
                self.site.download(address, target)
            return target.read_bytes()
