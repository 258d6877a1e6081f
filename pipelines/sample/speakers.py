"""Whose speech is in a sample, and the speech of the one who speaks most, so that a voice is learnt from one person."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from pipelines.diarise.clustering import groups
from pipelines.diarise.turns import Turn, turns_from
from pipelines.diarise.vectors import vectors, windows_of
from pipelines.progress import NullReport
from pipelines.types import Audio
from pipelines.voice.dvector import SR, to_mono
from pipelines.voice.reference import stretches

AROUND = 0.3  # seconds kept before and after a turn: the pauses tell how noisy the recording is


@dataclass(frozen=True, slots=True)
class Heard:
    """Stretches of speech in a sound, in seconds, and whose they are (speakers numbered from 0)."""

    spans: tuple[tuple[float, float], ...]
    turns: tuple[Turn, ...]

    @property
    def speech(self) -> float:
        """Seconds of speech."""
        return sum(end - start for start, end in self.spans)

    @property
    def speakers(self) -> tuple[float, ...]:
        """Seconds of speech of each speaker, the one who speaks most first."""
        numbers = {turn.speaker for turn in self.turns}
        return tuple(sorted((self._seconds(number) for number in numbers), reverse=True))

    @property
    def main(self) -> int:
        """The number of the one who speaks most."""
        return max({turn.speaker for turn in self.turns}, key=self._seconds, default=0)

    def _seconds(self, speaker: int) -> float:
        return sum(turn.end - turn.start for turn in self.turns if turn.speaker == speaker)


def hear(audio: Audio) -> Heard:
    """Find the speech in a sound and who speaks when."""
    thin = to_mono(audio, SR)
    spans = tuple(stretches(thin))
    windows = windows_of(spans)
    if not windows:
        return Heard(spans, ())
    labels = groups(vectors([thin], spans, windows, len(thin) / SR, NullReport()))
    return Heard(spans, turns_from(spans, windows, labels))


def only_main(audio: Audio, heard: Heard) -> Audio:
    """The turns of the one who speaks most, with the pauses around them, one after the other; all of it for one speaker."""
    if len(heard.speakers) < 2:
        return audio
    pieces = [
        audio.samples[round(start * audio.sr) : round(end * audio.sr)]
        for start, end in _own_ranges(heard, audio.duration)
    ]
    return Audio(np.concatenate(pieces), audio.sr)


def _own_ranges(heard: Heard, duration: float) -> list[tuple[float, float]]:
    """The main speaker's turns, each with the silence around it as far as nobody else speaks there."""
    ordered = [Turn(0, 0, -1), *heard.turns, Turn(duration, duration, -1)]
    found: list[tuple[float, float]] = []
    for before, turn, after in zip(ordered, itertools.islice(ordered, 1, None), ordered[2:], strict=False):
        if turn.speaker != heard.main:
            continue
        start = max(before.end, turn.start - AROUND)
        end = min(after.start, turn.end + AROUND)
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
