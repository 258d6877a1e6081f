"""Lip sync: how fast, and how well the rendered mouth follows; beside decoding and encoding alone in the same run.

    python -m bench.lipsync CLIP... [--languages es zh]

For every clip: frames a second of reading and writing alone (the floor no engine can pass), of ``ownmouth`` from
nothing (landmarks, choice of mouths, drawing, x264) and with the faces known, peak memory; then, for every language, a
line spoken by the default voice is put into the face and landmarks are detected again on the encoded result. The
control is the same measure with the targets running backwards.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pipelines import faces, media
from pipelines.backend.policy import Policy
from pipelines.lipsync import LIP_ENGINES, EngineContext, LipDrive, LipReport, evaluation, geometry
from pipelines.lipsync.shape import SpeakerRange, speaker_range
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.sync.order import frame_order
from pipelines.types import FaceTrack, Phone, VideoInfo
from pipelines.voice import VOICES, SpeakOptions, StockVoices

LINES = {
    "en": "Five famous people from Boston bought a very big boat, maybe before November.",
    "es": "Buenos días, bienvenidos a mi programa. Hoy vamos a hablar de los problemas más importantes.",
    "zh": "大家好,欢迎来到我的节目。妈妈买了八个苹果,非常便宜。",
}
PAUSE = 0.6  # s of silence before and after the line
REPORT = NullReport()


@dataclass(frozen=True, slots=True)
class Line:
    """A spoken line: its phones, moved behind the first pause, and the length with both pauses."""

    phones: tuple[Phone, ...]
    seconds: float


def spoken(language: str, context: EngineContext) -> Line:
    """The language's line by a stock voice of the default engine."""
    engine = VOICES.get("kokoro", context)
    if not isinstance(engine, StockVoices):
        raise SystemExit("the default voice engine has no stock voices")
    speech = engine.speak(LINES[language], language, engine.stock(None, language), SpeakOptions(), REPORT)
    phones = tuple(replace(p, start=p.start + PAUSE, end=p.end + PAUSE) for p in speech.phones)
    return Line(phones, speech.audio.duration + 2 * PAUSE)


def copied(info: VideoInfo, out: Path, settings: Settings) -> float:
    """Frames a second of reading and writing alone."""
    start = time.perf_counter()
    with media.FrameWriter(out, info.width, info.height, info.fps, settings, color=info.color) as writer:
        for frame in media.read_frames(info, settings):
            writer.write(frame)
    return info.frames / (time.perf_counter() - start)


def synced(
    info: VideoInfo, line: Line, out: Path, context: EngineContext
) -> tuple[float, FaceTrack, LipReport]:
    """Frames a second from the file to the encoded result; the face and the engine's report."""
    start = time.perf_counter()
    track = faces.analyse(info, context.settings, REPORT)[0]
    frames = round(line.seconds * info.fps)
    drive = LipDrive(frame_order("pingpong", info.frames, frames), line.phones, out)
    run = LIP_ENGINES.get("ownmouth", context).sync(info, track, drive, REPORT)
    with media.FrameWriter(
        out, info.width, info.height, info.fps, context.settings, color=info.color
    ) as writer:
        for frame in run.frames:
            writer.write(frame)
    return frames / (time.perf_counter() - start), track, run.report


def speed(clips: list[Path], context: EngineContext, folder: Path) -> None:
    """The first table: the same number of frames goes through every column."""
    print(f"{'clip':22} {'size':>10} {'frames':>6} {'copy':>6} {'cold':>6} {'known':>6}  frames/s")
    for clip in clips:
        info = media.probe(clip)
        line = Line((), info.frames / float(info.fps))
        place = replace(context, settings=replace(context.settings, cache=folder / f"cache-{clip.stem}"))
        floor = copied(info, folder / "copy.mp4", context.settings)
        cold = synced(info, line, folder / "cold.mp4", place)[0]
        known = synced(info, line, folder / "known.mp4", place)[0]
        size = f"{info.width}x{info.height}"
        print(f"{clip.stem:22} {size:>10} {info.frames:6} {floor:6.1f} {cold:6.1f} {known:6.1f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB\n")


def quality(clips: list[Path], lines: dict[str, Line], context: EngineContext, folder: Path) -> None:
    """The second table, from landmarks detected again on the encoded results."""
    print(f"{'clip':22} lang opening  width backwards lag closed silence flicker/source")
    for clip in clips:
        info = media.probe(clip)
        for language, line in lines.items():
            out = folder / f"{clip.stem}-{language}.mp4"
            _, track, report = synced(info, line, out, context)
            film = media.probe(out)
            again = faces.analyse(film, context.settings, REPORT)[0]
            sync = evaluation.compare(again, span_of(track), line.phones, film.fps, passed=report.passed)
            unrest = evaluation.flicker(film, again, context.settings, REPORT)
            unrest /= evaluation.flicker(info, track, context.settings, REPORT)
            print(
                f"{clip.stem:22} {language:4} {sync.opening_r:7.2f} {sync.width_r:6.2f} {sync.reversed_r:9.2f}"
                f" {sync.lag:3} {sync.closed:6.0%} {sync.silence_moving:7.1%} {unrest:8.2f}"
            )


def span_of(track: FaceTrack) -> SpeakerRange:
    """The speaker's range in the source clip."""
    points = np.asarray(track.landmarks)[np.asarray(track.found)]
    return speaker_range(geometry.opening(points), geometry.width(points))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clips", nargs="+", type=Path)
    parser.add_argument("--languages", nargs="*", default=["es", "zh"], choices=sorted(LINES))
    arguments = parser.parse_args()
    settings = Settings.load()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        context = EngineContext(replace(settings, cache=folder / "cache"), Policy())
        speed(arguments.clips, context, folder)
        voice = EngineContext(settings, Policy())
        lines = {language: spoken(language, voice) for language in arguments.languages}
        quality(arguments.clips, lines, context, folder)


if __name__ == "__main__":
    main()
