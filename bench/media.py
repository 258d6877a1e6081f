"""How fast media goes through: probe, read, write, read and write; beside a plain ffmpeg pipe in the same run.

    python -m bench.media [VIDEO] [--frames N]

Without a file a 1080x1920 clip at 30 frames a second is made. The peer is two ffmpeg processes joined by a pipe, with
ffmpeg's own (faster, one level darker) conversion to BGR and the same encoder settings: what a script would do.
Ratios above 1 mean Dubwright is faster than the peer of that row.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.media import FrameWriter, ffmpeg_path, probe, read_frames
from pipelines.settings import Settings
from pipelines.types import VideoInfo


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall and CPU seconds of one measured step (children included)."""

    wall: float
    cpu: float


def measured(step: Callable[[], object]) -> Cost:
    """Run ``step`` once and say what it cost."""
    before, start = _cpu(), time.perf_counter()
    step()
    return Cost(time.perf_counter() - start, _cpu() - before)


def _cpu() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def sample(folder: Path, ffmpeg: Path, frames: int) -> Path:
    """A 1080x1920 H.264 clip with movement and grain."""
    path = folder / "sample.mp4"
    picture = f"testsrc2=s=1080x1920:r=30:d={frames / 30},noise=alls=6:allf=t"
    encoder = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p"]
    subprocess.run([ffmpeg, "-loglevel", "error", "-f", "lavfi", "-i", picture, *encoder, path], check=True)
    return path


def peer_read(ffmpeg: Path, info: VideoInfo, frames: int) -> None:
    """Decode to raw BGR and read it from the pipe."""
    arguments = ["-i", info.path, "-frames:v", str(frames), "-f", "rawvideo", "-pix_fmt", "bgr24", "-"]
    size = info.width * info.height * 3
    with subprocess.Popen([ffmpeg, "-loglevel", "error", *arguments], stdout=subprocess.PIPE) as child:
        while child.stdout is not None and child.stdout.read(size):
            pass


def peer_write(ffmpeg: Path, info: VideoInfo, frames: int, out: Path) -> None:
    """Encode the same grey-noise frames from a raw pipe."""
    raw = [
        "-f",
        "rawvideo",
        "-pix_fmt",
        "bgr24",
        "-s",
        f"{info.width}x{info.height}",
        "-r",
        str(info.fps),
        "-i",
        "-",
    ]
    encoder = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "17", "-pix_fmt", "yuv420p", "-y", out]
    with subprocess.Popen([ffmpeg, "-loglevel", "error", *raw, *encoder], stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        for frame in made_up(info, frames):
            child.stdin.write(frame.data)


def peer_both(ffmpeg: Path, info: VideoInfo, frames: int, out: Path) -> None:
    """Decode, pipe, encode: two processes, the frames passing through this one."""
    reading = ["-i", info.path, "-frames:v", str(frames), "-f", "rawvideo", "-pix_fmt", "bgr24", "-"]
    raw = [
        "-f",
        "rawvideo",
        "-pix_fmt",
        "bgr24",
        "-s",
        f"{info.width}x{info.height}",
        "-r",
        str(info.fps),
        "-i",
        "-",
    ]
    encoder = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "17", "-pix_fmt", "yuv420p", "-y", out]
    size = info.width * info.height * 3
    with (
        subprocess.Popen([ffmpeg, "-loglevel", "error", *reading], stdout=subprocess.PIPE) as source,
        subprocess.Popen([ffmpeg, "-loglevel", "error", *raw, *encoder], stdin=subprocess.PIPE) as sink,
    ):
        assert source.stdout is not None and sink.stdin is not None
        while data := source.stdout.read(size):
            sink.stdin.write(data)


def made_up(info: VideoInfo, frames: int) -> list[np.ndarray]:
    """A few noisy pictures, repeated."""
    noise = np.random.default_rng(0)
    few = [noise.integers(100, 140, (info.height, info.width, 3), np.uint8) for _ in range(4)]
    return [few[number % 4] for number in range(frames)]


def write(info: VideoInfo, settings: Settings, frames: int, out: Path) -> None:
    """Write made-up frames."""
    with FrameWriter(out, info.width, info.height, info.fps, settings) as writer:
        for frame in made_up(info, frames):
            writer.write(frame)


def both(info: VideoInfo, settings: Settings, frames: int, out: Path) -> None:
    """Read and write, as a dub does."""
    with FrameWriter(out, info.width, info.height, info.fps, settings, color=info.color) as writer:
        for frame in read_frames(info, settings, count=frames):
            writer.write(frame)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("video", nargs="?", type=Path)
    parser.add_argument("--frames", type=int, default=150)
    options = parser.parse_args()
    settings = Settings.load()
    ffmpeg = ffmpeg_path(settings)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = options.video or sample(folder, ffmpeg, options.frames)
        probing = measured(lambda: probe(path))
        info = probe(path)
        frames, out = min(options.frames, info.frames), folder / "out.mp4"
        print(f"{info.codec} {info.width}x{info.height} at {info.fps}, {frames} frames of {info.frames}")
        print(
            f"probe: {probing.wall:.2f} s wall, {probing.cpu:.2f} s CPU ({info.frames / probing.wall:.0f} frames/s)"
        )
        print(f"{'':16}{'ours fps':>10}{'peer fps':>10}{'ratio':>8}{'ours CPU ms':>13}{'peer CPU ms':>13}")
        rows: tuple[tuple[str, Callable[[], object], Callable[[], object]], ...] = (
            ("read", lambda: sum(1 for _ in read_frames(info, settings, count=frames)),
             lambda: peer_read(ffmpeg, info, frames)),
            ("write", lambda: write(info, settings, frames, out), lambda: peer_write(ffmpeg, info, frames, out)),
            ("read and write", lambda: both(info, settings, frames, out),
             lambda: peer_both(ffmpeg, info, frames, out)),
        )  # fmt: skip
        for label, ours, peer in rows:
            us, them = measured(ours), measured(peer)
            print(
                f"{label:16}{frames / us.wall:10.1f}{frames / them.wall:10.1f}{them.wall / us.wall:8.2f}"
                f"{us.cpu / frames * 1e3:13.1f}{them.cpu / frames * 1e3:13.1f}"
            )


if __name__ == "__main__":
    main()
