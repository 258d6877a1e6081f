"""Spoken pieces put together with their silences, brought to a loudness, and written in the asked format, block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import ffmpeg
import numpy as np
import soundfile

from pipelines.audio import PEAK_DB, loudness, silence
from pipelines.errors import Message
from pipelines.files import part_file
from pipelines.limiter import limit_blocks
from pipelines.media import ffmpeg as program
from pipelines.media import file_loudness, write_sound
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.sound_formats import EXACT, LOSSY
from pipelines.types import Phone, Samples, Word

BLOCK = 5 * 24_000
SHORT = 3.0  # seconds: ffmpeg's meter needs more than a few blocks
LIFT = {"mp3": 0.45}  # dB: libmp3lame scales what it is given by 0.95
NEAR, PASSES, MOST_DB = 0.2, 5, 12.0
LOSSY_PEAK_DB = -2.0  # a codec may lift a peak by a decibel

Times = tuple[tuple[Phone, ...], tuple[Word, ...]]


def on_one_clock(times: Sequence[Times], starts: Sequence[float]) -> Times:
    """Phones and words of the pieces counted from the beginning of the whole."""
    phones = tuple(
        Phone(one.start + at, one.end + at, one.symbol)
        for (own, _), at in zip(times, starts, strict=True)
        for one in own
    )
    words = tuple(
        Word(one.start + at, one.end + at, one.text, one.prob)
        for (_, own), at in zip(times, starts, strict=True)
        for one in own
    )
    return phones, words


def starts_of(files: Sequence[Path], gaps: Sequence[float]) -> tuple[list[float], float]:
    """Where each piece begins, in seconds, and how long the whole is; counted in samples, as ``join`` writes them."""
    starts, clock = [], 0
    sr = soundfile.info(files[0]).samplerate
    for path, gap in zip(files, gaps, strict=True):
        starts.append(clock / sr)
        clock += soundfile.info(path).frames + round(gap * sr)
    return starts, clock / sr


def join(
    files: Sequence[Path], gaps: Sequence[float], out: Path, lufs: float | None, form: str, settings: Settings,
    report: Report,
) -> None:  # fmt: skip
    """Write the pieces as one WAV file, to be encoded as ``form``: at a loudness (LUFS), its true peak at most −1 dBTP.

    Without ``lufs`` it is left as loud as it is. What the limiter takes away is made up for in further passes; memory
    holds a few seconds.
    """
    sr = soundfile.info(files[0]).samplerate
    peak = LOSSY_PEAK_DB if form in LOSSY else PEAK_DB
    gain = 0.0
    for _ in range(PASSES):
        amplified = (np.float32(10 ** (gain / 20)) * block for block in _blocks(files, gaps, sr))
        write_sound(out, limit_blocks(amplified, sr, peak), sr)
        if lufs is None:
            return
        short = lufs + LIFT.get(form, 0.0) - _measured(out, settings, report)
        if not math.isfinite(short) or abs(short) < NEAR or abs(gain + short) > MOST_DB:
            return
        gain += short


def _blocks(files: Sequence[Path], gaps: Sequence[float], sr: int) -> Iterator[Samples]:
    for path, gap in zip(files, gaps, strict=True):
        yield from soundfile.blocks(path, BLOCK, dtype="float32")
        if round(gap * sr):
            yield silence(gap, sr)


def _measured(path: Path, settings: Settings, report: Report) -> float:
    if soundfile.info(path).duration < SHORT:
        samples, sr = soundfile.read(path, dtype="float32")
        return loudness(samples, sr)
    return file_loudness(path, settings, report, "encode")


def encode(
    source: Path, out: Path, form: str, tags: Mapping[str, str], settings: Settings, report: Report
) -> None:
    """Write a WAV file in a format, with tags that say what it is.

    Raises:
        MediaError: ffmpeg could not write it. DiskFull: no room.
    """
    marks = [part for name, value in tags.items() for part in ("-metadata", f"{name}={value}")]
    with part_file(out) as part:
        container = {"m4a": "mp4"}.get(form, form)
        sound = ffmpeg.input(program.target(source))["a:0"]
        options = {**EXACT, **LOSSY}[form]
        output = sound.output(program.target(part), format=container, **options)
        arguments = program.command(settings, output)
        what = Message("The sound could not be written", "无法写出音频")
        program.run(
            [*arguments[:-1], *marks, arguments[-1]], report, "encode",
            soundfile.info(source).duration, what, out.name,
        )  # fmt: skip


def picture(path: Path, points: int = 500) -> list[float]:
    """The loudest sample of each of so many equal parts, for a picture."""
    frames = soundfile.info(path).frames
    size = max(-(-frames // points), 1)
    return [
        round(float(np.abs(block).max(initial=0.0)), 3)
        for block in soundfile.blocks(path, size, dtype="float32")
    ]
