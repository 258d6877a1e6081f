"""Where the time of a dub goes: wall and CPU seconds by stage, peak memory, real-time factor; flat memory in length.

    python -m bench.dub CLIP.mp4 --to zh --translation CLIP.zh.srt [--repeat-to 300]

Runs the whole flow in processes of its own: once on the clip, once on the clip repeated to ``--repeat-to`` seconds (its
translation repeated likewise), and compares their peak memory in the same run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pipelines import media, subtitles
from pipelines.files import write_json
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


def measure(clip: Path, target: str, translation: Path | None) -> dict[str, float]:
    """One dub in a child process: wall, CPU, peak resident memory of the child and of what it started."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.json"
        arguments = [str(clip), target, str(translation or ""), scratch, str(out)]
        started = time.monotonic()
        subprocess.run([sys.executable, "-m", "bench.dub", "--child", *arguments], check=True)
        record: dict[str, float] = json.loads(out.read_text())
        record["wall"] = time.monotonic() - started
        return record


def child(clip: str, target: str, translation: str, scratch: str, out: str) -> None:
    """Run the flow here and write down what it used."""
    from pipelines.backend.policy import Policy
    from pipelines.dub import run
    from pipelines.progress import NullReport
    from pipelines.registry import EngineContext

    settings = Settings.load({"DUBWRIGHT_HOME": scratch, "DUBWRIGHT_WEIGHTS": str(Settings.load().weights)})
    folder = Path(scratch) / "job"
    folder.mkdir()
    options = {"input": clip, "target_language": target, "translation": translation or None}
    run(folder, options, EngineContext(settings, Policy(threads=settings.threads)), NullReport())
    report = json.loads((folder / "report.json").read_text())
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    record = {f"stage {name}": seconds for name, seconds in report["seconds"].items()}
    record["cpu"] = sum(use.ru_utime + use.ru_stime for use in (own, children))
    record["peak_mb"] = own.ru_maxrss / 1024
    record["peak_mb_of_ffmpeg"] = children.ru_maxrss / 1024
    record["seconds"] = float(media.probe(Path(clip)).duration)
    write_json(Path(out), record)


def table(rows: dict[str, dict[str, float]]) -> None:
    """Print the runs side by side."""
    names = sorted({key for row in rows.values() for key in row})
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
    growth = long_row["peak_mb"] - short["peak_mb"]
    print(f"peak memory grows by {growth:.0f} MB ({growth / LIMIT_MB:.2f} of the limit of {LIMIT_MB} MB)")
    return 0 if growth <= LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
