"""Where somebody speaks: Silero's voice activity network over a stream of sound, in constant memory.

The network (MIT, https://github.com/snakers4/silero-vad) comes inside the faster-whisper package. It looks at 32 ms of
sound with 4 ms of context and carries an LSTM state, so a file of any length can be fed piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.asr.vad_options import VadOptions
from pipelines.types import Samples

RATE = 16_000
FRAME = 512  # samples the network judges at a time
CONTEXT = 64  # samples of the frame before
FRAME_SECONDS = FRAME / RATE

Span = tuple[float, float]


class StreamingVad:
    """Speech probability of every 32 ms frame of 16 kHz mono sound that is fed in pieces of any length.

    ``levels`` grows beside it: the loudest sample of every frame judged so far.
    """

    def __init__(self) -> None:
        from faster_whisper.vad import get_vad_model

        self._session: Any = get_vad_model().session
        self._hidden = np.zeros((1, 1, 128), np.float32)
        self._cell = np.zeros((1, 1, 128), np.float32)
        self._context = np.zeros(CONTEXT, np.float32)
        self._rest = np.zeros(0, np.float32)
        self.levels: list[npt.NDArray[np.float32]] = []

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
        self.levels.append(np.abs(frames).max(axis=1))
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
        spans: stretches of speech in seconds, in order, disjoint.
        levels: float32 (n,), loudest sample of every 32 ms frame in [0, 1], for a picture; empty when nobody asked.
    """

    probabilities: npt.NDArray[np.float32]
    spans: tuple[Span, ...]
    duration: float
    levels: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))

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


def speech_map(
    probabilities: npt.NDArray[np.float32], duration: float, options: VadOptions | None = None
) -> SpeechMap:
    """Stretches of speech from frame probabilities, told apart as ``options`` say (times in seconds)."""
    options = options or VadOptions()
    spans: list[Span] = []
    for start, end in _above(probabilities, options):
        a, b = start * FRAME_SECONDS, min(end * FRAME_SECONDS, duration)
        if spans and a - spans[-1][1] < options.min_silence:
            spans[-1] = (spans[-1][0], b)
        else:
            spans.append((a, b))
    kept = tuple(span for span in spans if span[1] - span[0] >= options.min_speech)
    return SpeechMap(probabilities, kept, duration)


def _above(probabilities: npt.NDArray[np.float32], options: VadOptions) -> Iterable[tuple[int, int]]:
    """Runs of frames [first, last) that begin above the threshold and stay above the lower one."""
    kept = probabilities >= options.off_threshold
    edges = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]]).astype(np.int8)))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        loud = np.flatnonzero(probabilities[first:last] >= options.threshold)
        if len(loud):
            yield int(first + loud[0]), int(last)
