"""Waiting for a slow computation without going deaf: progress and Stop are looked at several times a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
LOOK_EVERY = 0.3  # seconds


def attentive(items: Iterator[T], look: Callable[[], None]) -> Iterator[T]:
    """Pass ``items`` through, each made in a thread, calling ``look`` while it is awaited.

    When ``look`` raises (``Stopped``) the exception comes out at once; the step in progress is left to end by itself
    (one stretch of 30 s of sound at most) and nothing after it is begun.
    """
    end = object()
    with_thread = ThreadPoolExecutor(1, thread_name_prefix="listen")
    try:
        while True:
            coming = with_thread.submit(next, items, end)
            while not wait([coming], timeout=LOOK_EVERY).done:
                look()
            item = coming.result()
            if item is end:
                return
            yield item  # type: ignore[misc]  # it is not the end mark, so it is a T
    finally:
        with_thread.shutdown(wait=False, cancel_futures=True)
