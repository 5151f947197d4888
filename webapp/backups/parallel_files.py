"""Reads or writes many small files in parallel, because a bucket answers sixteen parallel requests as fast as one."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from django.conf import settings

T = TypeVar("T")


def in_order(jobs: Iterable[Callable[[], T]]) -> Iterator[T]:
    """Yield the results of the jobs in the order of the jobs, while threads already run later jobs.

    `jobs` is iterated in the caller's thread. After the first error no further job is started, and the jobs that have
    not started yet are cancelled.
    """
    threads: int = settings.S3_CONNECTIONS
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="backup") as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(job))
                if len(waiting) == 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for left in waiting:
                left.cancel()
