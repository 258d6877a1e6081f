"""Where somebody speaks: Silero's voice activity network over a stream of sound, in constant memory.

The network (MIT, https://github.com/snakers4/silero-vad) comes inside the faster-whisper package. It looks at 32 ms of
sound with 4 ms of context and carries an LSTM state, so a file of any length can be fed piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.types import Samples

RATE = 16_000
FRAME = 512  # samples the network judges at a time
CONTEXT = 64  # samples of the frame before
FRAME_SECONDS = FRAME / RATE

ON, OFF = 0.5, 0.35  # a stretch of speech begins above ON and ends below OFF (Silero's own defaults)
SHORTEST_SPEECH = 0.2  # a spoken "yes" lasts longer, a click or a plucked string does not

Span = tuple[float, float]


class StreamingVad:
    """Speech probability of every 32 ms frame of 16 kHz mono sound that is fed in pieces of any length."""

    def __init__(self) -> None:
        from faster_whisper.vad import get_vad_model

        self._session: Any = get_vad_model().session
        self._hidden = np.zeros((1, 1, 128), np.float32)
        self._cell = np.zeros((1, 1, 128), np.float32)
        self._context = np.zeros(CONTEXT, np.float32)
        self._rest = np.zeros(0, np.float32)

    def feed(self, samples: Samples) -> npt.NDArray[np.float32]:
        """Probabilities of the frames that are complete now."""
        sound = np.concatenate([self._rest, samples])
        whole = len(sound) // FRAME * FRAME
        self._rest = sound[whole:].copy()
        return self._judge(sound[:whole])

    def finish(self) -> npt.NDArray[np.float32]:
        """Probability of the last, incomplete frame (filled up with zeros), if there is one."""
        if not len(self._rest):
            return np.zeros(0, np.float32)
        return self._judge(np.pad(self._rest, (0, FRAME - len(self._rest))))

    def _judge(self, sound: Samples) -> npt.NDArray[np.float32]:
        if not len(sound):
            return np.zeros(0, np.float32)
        frames = sound.reshape(-1, FRAME)
        contexts = np.concatenate([self._context[None], frames[:-1, -CONTEXT:]])
        self._context = frames[-1, -CONTEXT:].copy()
        probabilities, self._hidden, self._cell = self._session.run(
            None,
            {"input": np.concatenate([contexts, frames], axis=1), "h": self._hidden, "c": self._cell},
        )
        return np.asarray(probabilities, np.float32).reshape(-1)


@dataclass(frozen=True, slots=True)
class SpeechMap:
    """Where there is speech in a sound of ``duration`` seconds.

    Attributes:
        probabilities: float32 (n,), speech probability of every 32 ms frame.
        spans: stretches of speech in seconds, in order, disjoint; pauses of 0.3 s and more lie between them.
    """

    probabilities: npt.NDArray[np.float32]
    spans: tuple[Span, ...]
    duration: float

    @property
    def seconds(self) -> float:
        """Seconds of speech."""
        return sum(end - start for start, end in self.spans)

    def within(self, start: float, end: float) -> float:
        """Seconds of speech inside [start, end]."""
        return sum(max(0.0, min(end, b) - max(start, a)) for a, b in self.spans if b > start and a < end)

    def share(self, start: float, end: float) -> float:
        """Part of [start, end] that is speech, in [0, 1]."""
        return self.within(start, end) / (end - start) if end > start else 0.0


def speech_map(probabilities: npt.NDArray[np.float32], duration: float, pause: float = 0.3) -> SpeechMap:
    """Stretches of speech from frame probabilities; pauses shorter than ``pause`` seconds do not end a stretch."""
    spans: list[Span] = []
    for start, end in _above(probabilities):
        a, b = start * FRAME_SECONDS, min(end * FRAME_SECONDS, duration)
        if spans and a - spans[-1][1] < pause:
            spans[-1] = (spans[-1][0], b)
        else:
            spans.append((a, b))
    return SpeechMap(probabilities, tuple(s for s in spans if s[1] - s[0] >= SHORTEST_SPEECH), duration)


def _above(probabilities: npt.NDArray[np.float32]) -> Iterable[tuple[int, int]]:
    """Runs of frames [first, last) that begin above ON and stay above OFF."""
    kept = probabilities >= OFF
    edges = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]]).astype(np.int8)))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        loud = np.flatnonzero(probabilities[first:last] >= ON)
        if len(loud):
            yield int(first + loud[0]), int(last)
