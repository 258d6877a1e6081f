"""A file's sound as every recogniser takes it, 16 kHz mono in blocks, and the first pass that finds the speech in it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipelines.asr import RecognitionOptions
from pipelines.asr.vad import RATE, SpeechMap, StreamingVad, speech_map
from pipelines.media import read_sound
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import Samples

SEARCH_STAGE = "search"


def sound_blocks(
    path: Path,
    options: RecognitionOptions,
    settings: Settings,
    start: float = 0.0,
    end: float | None = None,
) -> Iterator[Samples]:
    """Blocks of 16 kHz mono sound of the asked track, channel and range.

    ``start`` and ``end`` are seconds inside the asked range.
    """
    last = options.end if end is None else options.start + end
    return read_sound(
        path,
        settings,
        sr=RATE,
        stream=options.stream,
        channel=options.channel,
        start=options.start + start,
        end=last,
    )


def find_speech(path: Path, options: RecognitionOptions, settings: Settings, report: Report) -> SpeechMap:
    """Listen through the file once and keep only where there is speech; times count from ``options.start``.

    Raises:
        NoSoundTrack, MediaError: from reading the file.
    """
    network, found, samples = StreamingVad(), [], 0
    total = container_seconds(path, options)
    report.step(SEARCH_STAGE, 0, total, "s")
    for block in sound_blocks(path, options, settings):
        found.append(network.feed(block))
        samples += len(block)
        seconds = samples / RATE
        report.step(SEARCH_STAGE, min(seconds, total) if total else seconds, total, "s")
    found.append(network.finish())
    speech = speech_map(np.concatenate(found), samples / RATE, options.vad)
    return dataclasses.replace(speech, levels=np.concatenate([*network.levels, np.zeros(0, np.float32)]))


def container_seconds(path: Path, options: RecognitionOptions) -> float | None:
    """Length of the asked range by the container's header, for progress only; None when it does not say."""
    import av

    with contextlib.suppress(av.FFmpegError, OSError), av.open(str(path)) as container:
        if container.duration:
            length = container.duration / av.time_base
            return max(0.0, min(length, options.end or length) - options.start)
    return None
