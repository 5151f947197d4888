"""Ranges of files: answers to a Range header, compared with a slow implementation of RFC 9110."""

import pytest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from webapp.api.errors import Problem
from webapp.api.files.ranges import read_range, send

CONTENT = bytes(range(100))
ETAG = '"one"'
NONSENSE = ("bytes=", "bytes=-", "lines=1-2", "bytes=1-2,5-6", "bytes=a-b", "bytes=٣-٤")
numbers = st.one_of(st.just(""), st.integers(0, 130).map(str))


def request_file(header: str | None, method: str = "GET", **headers: str):
    """Request a file of a hundred bytes with a Range header, and return the answer."""
    if header is not None:
        headers["Range"] = header
    request = RequestFactory().generic(method, "/", headers=headers)

    def read(start: int, stop: int):
        for at in range(start, stop, 7):
            yield CONTENT[at : min(at + 7, stop)]

    return send(request, read, size=len(CONTENT), etag=ETAG, kind="application/octet-stream", name="file")


@given(numbers, numbers)
def test_a_range_has_exactly_the_requested_bytes(first: str, last: str) -> None:
    header = f"bytes={first}-{last}"
    if (not first and not last) or (first and last and int(last) < int(first)):
        assert read_range(header, 100) is None
        return
    if first:
        meant = [at for at in range(100) if int(first) <= at <= int(last or 99)]
    else:
        meant = [at for at in range(100) if 100 - at <= int(last)]
    if not meant:
        with pytest.raises(Problem) as refused:
            read_range(header, 100)
        assert (refused.value.status, refused.value.headers) == (416, {"Content-Range": "bytes */100"})
        return
    answer = request_file(header)
    assert answer.status_code == 206
    assert answer.getvalue() == bytes(meant)
    assert answer["Content-Range"] == f"bytes {meant[0]}-{meant[-1]}/100"
    assert answer["Content-Length"] == str(len(meant))


@pytest.mark.parametrize(
    "header", [None, "bytes=", "bytes=-", "lines=1-2", "bytes=1-2,5-6", "bytes=a-b", "bytes=٣-٤", ""]
)
def test_an_invalid_range_gets_the_whole_file(header: str | None) -> None:
    answer = request_file(header)
    assert answer.status_code == 200
    assert answer.getvalue() == CONTENT
    assert (answer["Content-Length"], answer["Accept-Ranges"], answer["ETag"]) == ("100", "bytes", ETAG)


def test_a_client_that_has_the_file_gets_304() -> None:
    answer = request_file(None, **{"If-None-Match": ETAG})
    assert (answer.status_code, answer["ETag"]) == (304, ETAG)


def test_a_range_of_another_version_gets_the_whole_file() -> None:
    assert request_file("bytes=0-9", **{"If-Range": '"other"'}).status_code == 200
    assert request_file("bytes=0-9", **{"If-Range": ETAG}).status_code == 206
    with pytest.raises(Problem) as refused:
        request_file("bytes=0-9", **{"If-Match": '"other"'})
    assert refused.value.status == 412


def test_head_reads_nothing() -> None:
    answer = request_file("bytes=10-19", "HEAD")
    assert (answer.status_code, answer["Content-Length"], answer.content) == (206, "10", b"")


def test_an_empty_file_has_no_ranges() -> None:
    with pytest.raises(Problem):
        read_range("bytes=0-", 0)
    with pytest.raises(Problem):
        read_range("bytes=-5", 0)
