"""Waiting for a slow computation without going deaf: progress and Stop are looked at several times a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
LOOK_EVERY = 0.3  # seconds


def attentive(items: Iterator[T], look: Callable[[], None]) -> Iterator[T]:
    """Pass ``items`` through, each made in a thread, calling ``look`` while it is awaited.

    When ``look`` raises (``Stopped``) the exception comes out at once; the step in progress is left to end by itself
    and nothing after it is begun.
    """
    end = object()
    thread = ThreadPoolExecutor(1, thread_name_prefix="attentive")
    try:
        while True:
            item = _awaited(thread.submit(next, items, end), look)
            if item is end:
                return
            yield item  # type: ignore[misc]  # it is not the end mark, so it is a T
    finally:
        thread.shutdown(wait=False, cancel_futures=True)


def attended(call: Callable[[], T], look: Callable[[], None]) -> T:
    """The result of one slow call, made in a thread; ``look`` as in ``attentive``."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="attentive")
    try:
        return _awaited(thread.submit(call), look)
    finally:
        thread.shutdown(wait=False, cancel_futures=True)


def _awaited(coming: Future[T], look: Callable[[], None]) -> T:
    while not wait([coming], timeout=LOOK_EVERY).done:
        look()
    return coming.result()
