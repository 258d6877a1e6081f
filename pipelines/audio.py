"""Sound as samples: resampling, loudness, fades, and the sound track of a dub laid out over hours in constant memory."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyloudnorm
import soundfile
import soxr

from pipelines.errors import MediaError, Message
from pipelines.limiter import limit, limit_blocks, true_peak_db
from pipelines.media import write_sound
from pipelines.progress import NullReport, Report
from pipelines.types import Audio, Samples

__all__ = [
    "Ducking",
    "fade",
    "limit",
    "loudness",
    "match_channels",
    "mix_blocks",
    "mix_lines",
    "normalise",
    "resample",
    "silence",
    "trim_edges",
    "true_peak_db",
]

SPEECH_LUFS = -16.0
PEAK_DB = -1.0
DUCK_STEP = 32  # samples between points of the ducking curve
GATE_SECONDS = 0.4  # gating block of BS.1770
MAX_GAIN_DB = 40.0  # a recording this quiet is noise
MAX_LIMITING_DB = 24.0
MIX_BLOCK_SECONDS = 5.0


def resample(samples: Samples, sr: int, to: int) -> Samples:
    """Samples (n,) or (n, channels) at another rate, by soxr in its high quality; the count is ``round(n * to / sr)``."""
    if sr == to or not len(samples):
        return np.asarray(samples, np.float32)
    out: Samples = soxr.resample(np.asarray(samples, np.float32), sr, to, quality="HQ")
    return _exactly(out, round(len(samples) * to / sr))


def _exactly(samples: Samples, count: int) -> Samples:
    if len(samples) >= count:
        return samples[:count]
    return np.concatenate([samples, np.zeros((count - len(samples), *samples.shape[1:]), np.float32)])


def silence(seconds: float, sr: int, channels: int = 1) -> Samples:
    """Silence of ``round(seconds * sr)`` samples."""
    count = max(round(seconds * sr), 0)
    return np.zeros(count if channels == 1 else (count, channels), np.float32)


def match_channels(samples: Samples, channels: int) -> Samples:
    """(n,) for one channel, (n, channels) for more: mono is copied to all, many are mixed down by their mean."""
    count = 1 if samples.ndim == 1 else samples.shape[1]
    if count == channels:
        return samples if channels > 1 or samples.ndim == 1 else samples[:, 0]
    mono = samples if samples.ndim == 1 else samples.mean(axis=1, dtype=np.float32)
    return mono if channels == 1 else np.repeat(mono[:, None], channels, axis=1)


def loudness(samples: Samples, sr: int) -> float:
    """Integrated loudness in LUFS (ITU-R BS.1770-4, gated); −inf for silence.

    Sound shorter than the gating block of 0.4 s is measured as one block.
    """
    seconds = len(samples) / sr
    if seconds < 0.01 or not np.any(samples):
        return -np.inf
    block = min(GATE_SECONDS, seconds * 0.999)
    with np.errstate(divide="ignore"):
        meter = pyloudnorm.Meter(sr, block_size=block)
        return float(meter.integrated_loudness(np.asarray(samples, np.float64)))


def normalise(audio: Audio, lufs: float = SPEECH_LUFS, peak_db: float = PEAK_DB) -> Audio:
    """Bring sound to a loudness, with its true peak at most ``peak_db`` dBTP.

    Peaks that stand in the way are held by a look-ahead limiter, and the loudness they cost is made up for. Silence,
    and recordings more than 40 dB too quiet, are not raised to the full: that would only be noise. Nor are peaks
    pressed down by more than 24 dB: a few clicks in silence stay below the asked loudness.
    """
    measured = loudness(audio.samples, audio.sr)
    if not np.isfinite(measured):
        return audio
    gain = min(lufs - measured, MAX_GAIN_DB)
    goal = measured + gain
    most = peak_db - true_peak_db(audio.samples, audio.sr) + MAX_LIMITING_DB
    samples = audio.samples
    for _ in range(8):
        gain = min(gain, most)
        samples = limit(
            np.asarray(audio.samples * np.float32(10 ** (gain / 20)), np.float32), audio.sr, peak_db
        )
        short = goal - loudness(samples, audio.sr)
        if abs(short) < 0.05 or (gain >= most and short > 0):
            break
        gain += short
    return Audio(samples, audio.sr)


def fade(samples: Samples, sr: int, start: float = 0.0, end: float = 0.0) -> Samples:
    """Raised-cosine fades of ``start`` seconds at the beginning and ``end`` seconds at the end."""
    faded = np.array(samples, np.float32)
    for seconds, view in ((start, faded), (end, faded[::-1])):
        count = min(round(seconds * sr), len(faded))
        if count:
            rise = (0.5 - 0.5 * np.cos(np.pi * (np.arange(count) + 0.5) / count)).astype(np.float32)
            view[:count] *= rise if faded.ndim == 1 else rise[:, None]
    return faded


def trim_edges(
    samples: Samples, sr: int, *, below_db: float = -45.0, keep: float = 0.02
) -> tuple[Samples, float]:
    """Cut silence off both ends; returns the sound and how many seconds were cut off its beginning.

    Args:
        below_db: what counts as silence: 10 ms frames this far below the loudest. keep: seconds left at each end.
    """
    frame = max(round(0.01 * sr), 1)
    mono = samples if samples.ndim == 1 else samples.mean(axis=1)
    frames = mono[: len(mono) // frame * frame].reshape(-1, frame)
    level = np.sqrt(np.mean(frames.astype(np.float64) ** 2, axis=1)) if len(frames) else np.zeros(0)
    if not len(level) or level.max() <= 0:
        return samples[:0], 0.0
    loud = np.flatnonzero(level >= level.max() * 10 ** (below_db / 20))
    first = max(int(loud[0]) * frame - round(keep * sr), 0)
    last = min((int(loud[-1]) + 1) * frame + round(keep * sr), len(samples))
    return samples[first:last], first / sr


@dataclass(frozen=True, slots=True)
class Ducking:
    """How the background makes room for speech: how far down (dB), and how fast it goes and comes back (seconds)."""

    db: float = -12.0
    attack: float = 0.2
    release: float = 0.5


@dataclass(frozen=True, slots=True)
class _Line:
    """One spoken line on the mix's own sample clock."""

    start: int
    length: int
    path: Path


def mix_lines(
    lines: Sequence[tuple[float, Path]],
    duration: float,
    sr: int,
    channels: int,
    out: Path,
    *,
    background: Iterable[Samples] | None = None,
    duck_db: float = -12.0,
    report: Report | None = None,
) -> int:
    """Write the sound track of a dub: every line at its time, over the background, as a WAV file.

    Lines may overlap; what lies outside ``0 … duration`` is cut off. Memory holds a few seconds, whatever the length.

    Args:
        lines: start in seconds and a short sound file of any rate, mono or with ``channels`` channels; a mono line is
            as loud on all channels together as it is alone.
        duration, sr, channels: of the result, which has exactly ``round(duration * sr)`` samples.
        background: blocks at ``sr``, (n,) or (n, channels), from time 0; silence after its end. It is lowered by
            ``duck_db`` under the lines. None for silence.

    Returns:
        The number of samples.

    Raises:
        MediaError: a line's file cannot be read. DiskFull: no room. Stopped: the user asked.
    """
    mixed = mix_blocks(
        lines,
        duration,
        sr,
        channels,
        background=background,
        ducking=Ducking(duck_db),
        report=report,
    )
    with contextlib.closing(mixed):
        return write_sound(out, mixed, sr, channels, expected=round(duration * sr))


def mix_blocks(
    lines: Sequence[tuple[float, Path]],
    duration: float,
    sr: int,
    channels: int,
    *,
    background: Iterable[Samples] | None = None,
    ducking: Ducking | None = None,
    report: Report | None = None,
) -> Generator[Samples, None, None]:
    """The mix of ``mix_lines`` as blocks of a few seconds, its true peak at most −1 dBTP."""
    total = round(duration * sr)
    placed = sorted((_place(start, path, sr) for start, path in lines), key=lambda line: line.start)
    under = _Background(background, channels)
    try:
        raw = _sum(placed, total, sr, channels, under, ducking or Ducking(), report or NullReport())
        yield from limit_blocks(raw, sr, PEAK_DB)
    finally:
        under.close()


def _place(start: float, path: Path, sr: int) -> _Line:
    try:
        facts = soundfile.info(path)
    except (soundfile.LibsndfileError, OSError) as error:
        raise MediaError(
            Message("The sound of a line cannot be read", "无法读取某一行的声音"),
            Message("Voice that line again.", "请重新生成该行的声音。"),
            str(path),
        ) from error
    return _Line(round(start * sr), round(facts.frames * sr / facts.samplerate), path)


def _sum(
    lines: list[_Line],
    total: int,
    sr: int,
    channels: int,
    under: _Background,
    ducking: Ducking,
    report: Report,
) -> Iterator[Samples]:
    block = round(MIX_BLOCK_SECONDS * sr)
    waiting = list(reversed(lines))
    sounding: list[tuple[int, Samples]] = []
    spoken = _speech(lines, sr, ducking)
    report.step("mix", 0.0, total / sr, "s")
    for first in range(0, total, block):
        last = min(first + block, total)
        mixed = under.take(last - first)
        mixed *= _expand(_duck_gain(spoken, first, last, sr, ducking), channels)
        while waiting and waiting[-1].start < last:
            line = waiting.pop()
            sounding.append((line.start, _load(line, sr, channels)))
        for start, samples in sounding:
            begin, end = max(start, first), min(start + len(samples), last)
            if begin < end:
                mixed[begin - first : end - first] += samples[begin - start : end - start]
        sounding = [(start, samples) for start, samples in sounding if start + len(samples) > last]
        yield mixed
        report.step("mix", last / sr, total / sr, "s")


def _expand(gain: npt.NDArray[np.float32], channels: int) -> npt.NDArray[np.float32]:
    return gain if channels == 1 else gain[:, None]


def _load(line: _Line, sr: int, channels: int) -> Samples:
    samples, rate = soundfile.read(line.path, dtype="float32")
    placed = _exactly(resample(samples, rate, sr), line.length)
    if placed.ndim == 1 and channels > 1:  # the loudness of all channels is added up (ITU-R BS.1770)
        placed = placed / np.float32(np.sqrt(channels))
    return match_channels(placed, channels)


def _speech(lines: list[_Line], sr: int, ducking: Ducking) -> npt.NDArray[np.float64]:
    """Stretches of speech (k, 2) in seconds; pauses too short to come up and go down again are bridged."""
    merged: list[list[float]] = []
    for line in lines:
        start, end = line.start / sr, (line.start + line.length) / sr
        if merged and start - merged[-1][1] <= ducking.attack + ducking.release:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return np.asarray(merged, np.float64).reshape(-1, 2)


def _duck_gain(
    spoken: npt.NDArray[np.float64], first: int, last: int, sr: int, ducking: Ducking
) -> npt.NDArray[np.float32]:
    """The background's gain for samples ``first … last``: down before a line begins, up after it, by raised cosines."""
    points = np.append(np.arange(first, last, DUCK_STEP), last)
    time = points / sr
    lowered = np.zeros(len(points))
    near = (spoken[:, 1] >= time[0] - ducking.release) & (spoken[:, 0] <= time[-1] + ducking.attack)
    for start, end in spoken[near]:
        fall = np.clip((time - start) / ducking.attack + 1, 0, 1)
        rise = np.clip((end - time) / ducking.release + 1, 0, 1)
        lowered = np.maximum(lowered, np.minimum(fall, rise))
    depth = ducking.db * (0.5 - 0.5 * np.cos(np.pi * lowered))
    return np.asarray(np.interp(np.arange(first, last), points, 10 ** (depth / 20)), np.float32)


class _Background:
    """Blocks of any size re-cut to the sizes asked for; silence after the end, or without a source."""

    def __init__(self, blocks: Iterable[Samples] | None, channels: int) -> None:
        self._blocks = iter(blocks) if blocks is not None else iter(())
        self._channels = channels
        self._rest = silence(0, 1, channels)

    def take(self, count: int) -> Samples:
        """The next ``count`` samples, a fresh array."""
        parts, missing = [], count
        while missing:
            if not len(self._rest):
                block = next(self._blocks, None)
                if block is None:
                    break
                self._rest = match_channels(np.asarray(block, np.float32), self._channels)
            parts.append(self._rest[:missing])
            self._rest = self._rest[len(parts[-1]) :]
            missing -= len(parts[-1])
        return np.concatenate([*parts, silence(missing, 1, self._channels)])

    def close(self) -> None:
        """Let the source go (a reader's ffmpeg ends)."""
        if isinstance(self._blocks, Generator):
            self._blocks.close()
