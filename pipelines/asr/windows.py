"""Cutting a long sound into windows of speech: silence is left out, cuts lie in pauses, times are mapped back.

faster-whisper needs about 54 MB for every minute it is handed, so a long file must never be given to it whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from pipelines.asr.vad import FRAME_SECONDS, RATE, Span, SpeechMap
from pipelines.asr.vad_options import VadOptions
from pipelines.types import Samples

LONGEST_WINDOW = 300.0  # seconds of sound in a window: about 270 MB of features and buffers
JOIN = 2.0  # pauses up to this many seconds stay in the sound


@dataclass(frozen=True, slots=True)
class Window:
    """Pieces of the file, as sample ranges at 16 kHz in order, that are heard as one sound without what lies between."""

    pieces: tuple[tuple[int, int], ...]

    @property
    def start(self) -> float:
        """Where it begins, seconds on the file's clock."""
        return self.pieces[0][0] / RATE

    @property
    def end(self) -> float:
        """Where it ends, seconds on the file's clock."""
        return self.pieces[-1][1] / RATE

    def piece_at(self, time: float) -> int:
        """Number of the piece that holds ``time`` (seconds inside the window's own sound)."""
        passed = 0
        for number, (first, last) in enumerate(self.pieces):
            passed += last - first
            if time * RATE < passed:
                return number
        return len(self.pieces) - 1

    def place(self, start: float, end: float) -> tuple[float, float, int]:
        """Times inside the window's sound as times of the file, kept inside the piece that holds their middle."""
        number = self.piece_at((start + end) / 2)
        before = sum(last - first for first, last in self.pieces[:number]) / RATE
        first, last = (sample / RATE for sample in self.pieces[number])
        shift = first - before
        return min(max(start + shift, first), last), min(max(end + shift, first), last), number


def plan_windows(
    speech: SpeechMap, longest: float = LONGEST_WINDOW, options: VadOptions | None = None
) -> tuple[Window, ...]:
    """Windows over all speech and the air around it, each at most ``longest`` seconds of sound."""
    options = options or VadOptions()
    samples = round(speech.duration * RATE)
    windows: list[list[tuple[int, int]]] = []
    held = 0
    for start, end in (part for span in _padded(speech, options) for part in _split(span, speech, longest)):
        piece = (round(start * RATE), min(round(end * RATE), samples))
        if not windows or held + piece[1] - piece[0] > longest * RATE:
            windows.append([])
            held = 0
        windows[-1].append(piece)
        held += piece[1] - piece[0]
    return tuple(Window(tuple(pieces)) for pieces in windows)


def _padded(speech: SpeechMap, options: VadOptions) -> list[Span]:
    """Speech with some air around it; pauses up to JOIN are kept whole, neighbours never overlap."""
    joined: list[Span] = []
    longest_pause = max(JOIN, options.pad_before + options.pad_after)
    for start, end in speech.spans:
        if joined and start - joined[-1][1] < longest_pause:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [
        (max(0.0, a - options.pad_before), min(speech.duration, b + options.pad_after)) for a, b in joined
    ]


def _split(span: Span, speech: SpeechMap, longest: float) -> Iterator[Span]:
    """Cut a stretch that is too long at the quietest moment of the last fifth before the limit."""
    start, end = span
    while end - start > longest:
        cut = _quietest(speech, start + 0.8 * longest, start + longest)
        yield start, cut
        start = cut
    yield start, end


def _quietest(speech: SpeechMap, start: float, end: float) -> float:
    first, last = int(start / FRAME_SECONDS), int(end / FRAME_SECONDS)
    around = np.convolve(speech.probabilities[first:last], np.ones(15) / 15, mode="same")
    around[:7], around[-7:] = np.inf, np.inf  # the mean reaches over the edge there
    return (first + int(np.argmin(around))) * FRAME_SECONDS


def cut(blocks: Iterable[Samples], windows: tuple[Window, ...]) -> Iterator[tuple[Window, Samples]]:
    """The sound of every window from one pass over the file's blocks (16 kHz mono), holding one window at a time."""
    pending = iter(windows)
    window = next(pending, None)
    held: list[Samples] = []
    position = 0
    for block in blocks:
        while window is not None:
            held += _overlap(block, position, window)
            if position + len(block) < window.pieces[-1][1]:
                break
            yield window, _joined(held)
            held, window = [], next(pending, None)
        position += len(block)
        if window is None:
            return
    if window is not None and held:  # the file turned out shorter than on the first pass
        yield window, _joined(held)


def _joined(held: list[Samples]) -> Samples:
    return np.concatenate(held) if held else np.zeros(0, np.float32)


def _overlap(block: Samples, position: int, window: Window) -> list[Samples]:
    found = []
    for first, last in window.pieces:
        a, b = max(first - position, 0), min(last - position, len(block))
        if b > a:
            found.append(block[a:b].copy())
    return found
