"""From windows that sound alike to turns: who speaks from when to when, without flicker."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.asr import RecognitionOptions, SpeechMap
from pipelines.asr.hearing import sound_blocks
from pipelines.asr.vad import Span
from pipelines.diarise.clustering import Labels, groups
from pipelines.diarise.vectors import vectors, windows_of
from pipelines.errors import Message, OptionError
from pipelines.progress import Report
from pipelines.settings import Settings

MOST_SPEAKERS = 20
GRID = 0.05  # seconds


@dataclass(frozen=True, slots=True)
class Turn:
    """One speaker's stretch, in seconds; speakers are numbered from 0 in the order in which they first speak."""

    start: float
    end: float
    speaker: int


def find_turns(
    path: Path,
    options: RecognitionOptions,
    speech: SpeechMap,
    settings: Settings,
    report: Report,
    count: int | None = None,
) -> tuple[Turn, ...]:
    """Who speaks when in the asked track, channel and range; times are on the file's clock, turns do not overlap.

    Args:
        speech: where there is speech, from ``options.start``. count: how many speakers, None to find out.

    Raises:
        OptionError: a number of speakers that cannot be. MediaError: the file cannot be read.
    """
    if count is not None and not 1 <= count <= MOST_SPEAKERS:
        raise OptionError(
            Message(f"There cannot be {count} speakers", f"说话人数不能为 {count}"),
            Message(f"Give 1 to {MOST_SPEAKERS}, or auto.", f"请填写 1 到 {MOST_SPEAKERS},或自动。"),
        )
    windows = windows_of(speech.spans)
    if not windows:
        return ()
    blocks = sound_blocks(path, options, settings)
    found = vectors(blocks, speech.spans, windows, speech.duration, report)
    turns = turns_from(speech.spans, windows, groups(found, count))
    shift = options.start
    return tuple(Turn(turn.start + shift, turn.end + shift, turn.speaker) for turn in turns)


def turns_from(spans: Sequence[Span], windows: Sequence[Span], labels: Labels) -> tuple[Turn, ...]:
    """Turns over stretches of speech: each moment belongs to the window whose middle is nearest."""
    middles = np.array([(start + end) / 2 for start, end in windows])
    turns: list[Turn] = []
    for start, end in spans:
        own = np.flatnonzero((middles >= start) & (middles <= end))
        if not len(own):  # too short for a window of its own: as the nearest one
            own = np.array([int(np.argmin(np.abs(middles - (start + end) / 2)))])
        edges = [start, *((middles[a] + middles[b]) / 2 for a, b in itertools.pairwise(own)), end]
        for number, (first, last) in enumerate(itertools.pairwise(edges)):
            speaker = int(labels[own[number]])
            if turns and turns[-1].speaker == speaker and first - turns[-1].end < GRID:
                turns[-1] = Turn(turns[-1].start, float(last), speaker)
            else:
                turns.append(Turn(float(first), float(last), speaker))
    return tuple(turns)
