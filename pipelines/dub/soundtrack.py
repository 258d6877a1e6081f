"""The dub's sound: the lines on the time line, the original under them where it is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pipelines import audio, media
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.dub.part import only_outside
from pipelines.dub.run import DubRun
from pipelines.progress import OneStage
from pipelines.types import DubPlan, Samples

SOUND = "dub.wav"
VOICE, ORIGINAL = "voice.wav", "original.wav"  # stems
RATE = 48_000
CHANNELS = 2


def total_frames(run: DubRun, plan: DubPlan) -> int:
    """Frames of the dub: the video's own, or more when its lines cannot be spoken within it."""
    last = max((line.speak_end for line in plan.lines if line.state == "spoken"), default=0.0)
    needed = -int(-(last * run.info.fps) // 1)
    return max(run.info.frames, needed)


def mix(run: DubRun, plan: DubPlan) -> Path:
    """Write ``dub.wav``: 48 kHz stereo, exactly as long as the picture; the time line is mixed in blocks."""
    frames = total_frames(run, plan)
    duration = float(frames / run.info.fps)
    pieces = [(line.speak_start, line_file(run, line.index)) for line in plan.lines if line.state == "spoken"]
    kept = [line for line in plan.lines if line.keep]
    key = options_key(
        pieces=[(start, fingerprint(path)) for start, path in pieces],
        kept=[(line.start, line.end) for line in kept],
        background=run.options.keep_background,
        part=None if run.whole else run.span,
        source=run.source_hash,
        stream=run.options.stream,
        duration=duration,
    )

    def make() -> None:
        original = [(line.start, keep_original(run, line.index, line.start, line.end)) for line in kept]
        audio.mix_lines(
            sorted([*pieces, *original]),
            duration,
            RATE,
            CHANNELS,
            run.folder / SOUND,
            background=under(run),
            report=OneStage(run.report, "speak"),
        )

    run_stage(run.folder, "mix", key, [SOUND], make)
    return run.folder / SOUND


def write_stems(run: DubRun, plan: DubPlan) -> dict[str, str]:
    """Write the dubbed voice alone and the original sound, each as long as the picture; returns their names by role."""
    duration = float(total_frames(run, plan) / run.info.fps)
    pieces = [(line.speak_start, line_file(run, line.index)) for line in plan.lines if line.state == "spoken"]
    report = OneStage(run.report, "video")
    voice = options_key(pieces=[(start, fingerprint(path)) for start, path in pieces], duration=duration)
    original = options_key(source=run.source_hash, stream=run.options.stream, duration=duration)

    def mix_voice() -> None:
        audio.mix_lines(pieces, duration, RATE, CHANNELS, run.folder / VOICE, report=report)

    def copy_original() -> None:
        audio.mix_lines(
            [], duration, RATE, CHANNELS, run.folder / ORIGINAL, background=background(run), report=report
        )

    run_stage(run.folder, "stem-voice", voice, [VOICE], mix_voice)
    run_stage(run.folder, "stem-original", original, [ORIGINAL], copy_original)
    return {"voice": VOICE, "original": ORIGINAL}


def line_file(run: DubRun, index: int) -> Path:
    """Where the sound of a spoken line is."""
    return run.folder / "lines" / f"{index + 1:04d}.wav"


def keep_original(run: DubRun, index: int, start: float, end: float) -> Path:
    """The original sound of a line that is kept, as a file of its own."""
    path = run.folder / "lines" / f"{index + 1:04d}-original.wav"
    blocks = media.read_sound(
        run.options.input,
        run.context.settings,
        sr=RATE,
        channels=CHANNELS,
        stream=run.options.stream,
        start=start,
        end=end,
    )
    media.write_sound(path, blocks, RATE, channels=CHANNELS)
    return path


def under(run: DubRun) -> Iterator[Samples] | None:
    """What sounds under the lines: the original where it is kept, nothing, or the original outside of the dubbed part."""
    if run.options.keep_background:
        return background(run)
    return None if run.whole else only_outside(background(run), run, RATE)


def background(run: DubRun) -> Iterator[Samples]:
    """The original sound, block by block."""
    return media.read_sound(
        run.options.input,
        run.context.settings,
        sr=RATE,
        channels=CHANNELS,
        stream=run.options.stream,
    )
