"""An answer that costs something, kept for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Call it for the answer of ``ask``, which is asked again after ``seconds``. Any thread may; they wait for one."""

    def __init__(self, ask: Callable[[], T], seconds: float) -> None:
        self._ask, self._seconds = ask, seconds
        self._guard = threading.Lock()
        self._answer: T | None = None
        self._until = float("-inf")

    def __call__(self) -> T:
        with self._guard:
            if self._answer is None or time.monotonic() >= self._until:
                self._answer = self._ask()
                self._until = time.monotonic() + self._seconds
            return self._answer
