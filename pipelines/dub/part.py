"""Only a part of a video is dubbed: the rest stays as it is, or is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pipelines import media
from pipelines.artifacts import options_key, run_stage
from pipelines.dub.run import DubRun
from pipelines.errors import Message, OptionError
from pipelines.progress import OneStage
from pipelines.types import Samples

PART, PICTURE, SOUND = "part.mp4", "part-picture.mp4", "part.wav"
SHORTEST = 1.0  # seconds that are worth a dub
CRF = 12  # the part is encoded once more in the end: nothing shall be seen of this time
FADE = 0.02  # seconds in which the original sound comes and goes at the part's edges


def check(run: DubRun) -> None:
    """Refuse a part that is none.

    Raises:
        OptionError: it begins after it ends or after the video's end, or is shorter than a second.
    """
    start, end = run.span
    if end - start < min(SHORTEST, run.duration):
        raise OptionError(
            Message("There is nothing to dub between these times", "这段时间内没有可配音的内容"),
            Message(
                f"Choose a part of at least a second within the {run.duration:.1f} s of the video.",
                f"请在视频的 {run.duration:.1f} 秒之内选择至少一秒的片段。",
            ),
            f"{run.options.start or 0:.2f}–{run.options.end or run.duration:.2f} s",
        )


def taken(run: DubRun) -> DubRun:
    """The run on which the steps work: of a part that is cut out, ``part.mp4`` in the job's folder with a clock of its own.

    Raises:
        OptionError: see ``check``.
    """
    check(run)
    if run.whole or run.options.rest == "keep":
        return run
    start, end = run.span
    fps = run.info.fps
    first = round(start * fps)
    count = max(round(end * fps) - first, 2)
    begins, ends = float(first / fps), float((first + count) / fps)
    key = options_key(source=run.source_hash, stream=run.options.stream, first=first, count=count)

    def make() -> None:
        settings = run.context.settings
        frames = media.read_frames(run.info, settings, start=first, count=count)
        size = run.info.width, run.info.height
        with media.FrameWriter(
            run.folder / PICTURE, *size, fps, settings, crf=CRF, color=run.info.color
        ) as film:
            for frame in frames:
                film.write(frame)
                run.report.step("listen", 0, None, "s")
        sound = media.read_sound(
            run.options.input,
            settings,
            sr=48_000,
            channels=2,
            stream=run.options.stream,
            start=begins,
            end=ends,
        )
        media.write_sound(run.folder / SOUND, sound, 48_000, channels=2)
        media.mux(
            run.folder / PICTURE, run.folder / SOUND, run.folder / PART, settings,
            metadata={}, report=OneStage(run.report, "listen"),
        )  # fmt: skip
        for name in (PICTURE, SOUND):
            (run.folder / name).unlink()

    run_stage(run.folder, "part", key, [PART], make)
    part = run.folder / PART
    options = replace(run.options, input=part, stream=None, start=None, end=None)
    return replace(run, options=options, info=media.probe(part), begins=begins, title=run.name)


def outside(run: DubRun) -> tuple[tuple[float, float], ...]:
    """What of the run's clock stays as it is, in seconds (start, end)."""
    start, end = run.span
    return tuple((first, last) for first, last in ((0.0, start), (end, run.duration)) if last - first > 1e-3)


def only_outside(blocks: Iterator[Samples], run: DubRun, sr: int) -> Iterator[Samples]:
    """Sound at ``sr`` from time 0, silent within the part; it comes and goes in a fiftieth of a second."""
    start, end = run.span
    at = 0
    for block in blocks:
        times = (at + np.arange(len(block))) / sr
        at += len(block)
        before, after = (start - times) / FADE if start > 0 else None, (times - end) / FADE
        gain = after if before is None else np.maximum(before, after)
        gain = np.clip(gain, 0.0, 1.0).astype(np.float32)
        yield block * (gain[:, None] if block.ndim == 2 else gain)
