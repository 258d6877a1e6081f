"""Where the time of a dub goes: wall and CPU seconds by stage, peak memory, real-time factor; flat memory in length.

    python -m bench.dub CLIP.mp4 --to zh --translation CLIP.zh.srt [--repeat-to 300]

Runs the whole flow in processes of its own: once on the clip, once on the clip repeated to ``--repeat-to`` seconds (its
translation repeated likewise), and compares their peak memory in the same run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from pipelines import media, subtitles
from pipelines.files import write_json
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Segment

LIMIT_MB = 300


def repeated(clip: Path, seconds: float, folder: Path, settings: Settings) -> tuple[Path, int]:
    """The clip joined to itself without re-encoding until it is about ``seconds`` long."""
    times = max(1, round(seconds / media.probe(clip).duration))
    joined, listing = folder / "repeated.mp4", folder / "list.txt"
    listing.write_text(f"file '{clip.resolve()}'\n" * times, encoding="utf-8")
    command = [str(media.ffmpeg_path(settings)), "-v", "error", "-f", "concat", "-safe", "0", "-i"]
    subprocess.run([*command, str(listing), "-c", "copy", str(joined)], check=True)
    return joined, times


def repeated_subtitles(path: Path, times: int, period: float, folder: Path) -> Path:
    """The translation once per repetition."""
    cues = subtitles.read(path)
    shifted = [
        Segment(cue.start + n * period, cue.end + n * period, cue.text) for n in range(times) for cue in cues
    ]
    out = folder / "repeated.srt"
    subtitles.write(out, shifted, "srt")
    return out


class Stages(NullReport):
    """Wall and CPU seconds of each stage, ours and those of the programs it started."""

    def __init__(self) -> None:
        self.record: dict[str, float] = {}
        self._stage = ""
        self._since = (time.monotonic(), cpu_seconds())

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """A stage begins with its first step."""
        if stage != self._stage:
            self.close(stage)

    def close(self, following: str = "") -> None:
        """Add up the stage that was going on."""
        wall, cpu = time.monotonic(), cpu_seconds()
        if self._stage:
            for name, spent in (("wall", wall - self._since[0]), ("cpu", cpu - self._since[1])):
                key = f"{self._stage} {name}"
                self.record[key] = self.record.get(key, 0.0) + spent
        self._stage, self._since = following, (wall, cpu)


def cpu_seconds() -> float:
    """User and system time of this process, the children that ended and those that still run."""
    process = psutil.Process()
    spent = process.cpu_times()
    total: float = spent.user + spent.system + spent.children_user + spent.children_system
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            total += sum(child.cpu_times()[:2])
    return total


def resident(process: psutil.Process) -> tuple[float, float]:
    """Resident megabytes of a process, and of all it started, now."""
    sizes = [0.0]
    with contextlib.suppress(psutil.Error):
        for one in (process, *process.children(recursive=True)):
            sizes.append(one.memory_info().rss / 2**20)
    return sizes[1] if len(sizes) > 1 else 0.0, sum(sizes[2:])


def measure(clip: Path, target: str, translation: Path | None) -> dict[str, float]:
    """One dub in a child process, its memory and that of its ffmpegs looked at five times a second."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.json"
        arguments = [str(clip), target, str(translation or ""), scratch, str(out)]
        started = time.monotonic()
        dub = subprocess.Popen([sys.executable, "-m", "bench.dub", "--child", *arguments])
        own = others = 0.0
        while dub.poll() is None:
            now = resident(psutil.Process(dub.pid))
            own, others = max(own, now[0]), max(others, now[1])
            time.sleep(0.2)
        if dub.returncode:
            raise SystemExit(f"the dub of {clip} failed")
        record: dict[str, float] = json.loads(out.read_text())
        record |= {"wall": time.monotonic() - started, "peak MB": own, "peak MB of ffmpeg": others}
        table({clip.stem[:13]: record})  # at once: the long run that follows may be given up
        return record


def child(clip: str, target: str, translation: str, scratch: str, out: str) -> None:
    """Run the flow here and write down what it used."""
    from pipelines.backend.policy import Policy
    from pipelines.dub import run
    from pipelines.registry import EngineContext

    settings = Settings.load({"DUBWRIGHT_HOME": scratch, "DUBWRIGHT_WEIGHTS": str(Settings.load().weights)})
    folder = Path(scratch) / "job"
    folder.mkdir()
    options = {"input": clip, "target_language": target, "translation": translation or None}
    stages = Stages()
    run(folder, options, EngineContext(settings, Policy(threads=settings.threads)), stages)
    stages.close()
    record = {**stages.record, "cpu": cpu_seconds(), "seconds": float(media.probe(Path(clip)).duration)}
    write_json(Path(out), record)


def table(rows: dict[str, dict[str, float]]) -> None:
    """Print the runs side by side."""
    names = list(dict.fromkeys(key for row in rows.values() for key in row))
    print(f"{'':24}" + "".join(f"{title:>16}" for title in rows))
    for name in names:
        print(f"{name:24}" + "".join(f"{row.get(name, float('nan')):16.1f}" for row in rows.values()))
    factors = "".join(f"{row['wall'] / row['seconds']:16.2f}" for row in rows.values())
    print(f"{'real-time factor':24}{factors}")


def main() -> int:
    """Command line."""
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description="Where the time and the memory of a dub go")
    parser.add_argument("clip", type=Path)
    parser.add_argument("--to", default="es")
    parser.add_argument("--translation", type=Path)
    parser.add_argument("--repeat-to", type=float, default=0.0)
    asked = parser.parse_args()
    rows = {asked.clip.stem[:13]: measure(asked.clip, asked.to, asked.translation)}
    if asked.repeat_to:
        with tempfile.TemporaryDirectory() as scratch:
            settings = Settings.load()
            period = media.probe(asked.clip).duration
            long, times = repeated(asked.clip, asked.repeat_to, Path(scratch), settings)
            longer = asked.translation
            if longer is not None:
                longer = repeated_subtitles(longer, times, period, Path(scratch))
            rows[f"repeated x{times}"] = measure(long, asked.to, longer)
    table(rows)
    if len(rows) < 2:
        return 0
    short, long_row = rows.values()
    growth = long_row["peak MB"] - short["peak MB"]
    print(f"peak memory grows by {growth:.0f} MB ({growth / LIMIT_MB:.2f} of the limit of {LIMIT_MB} MB)")
    return 0 if growth <= LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
