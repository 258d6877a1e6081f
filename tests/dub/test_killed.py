"""A real dub, killed in the middle of speaking and of the lips, stopped, and resumed: nothing finished is made again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines import media
from pipelines.registry import EngineContext
from tests.dub.conftest import TRANSLATIONS, Typed
from tests.patience import patience

pytestmark = pytest.mark.slow
LIMIT = 600.0  # seconds to wait for something on a busy machine


def wait_for(true: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """Look often; a command that ends first has gone wrong."""
    until = time.monotonic() + LIMIT
    while not true():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def made(folder: Path) -> dict[str, int]:
    """Finished stages of a job, with the times of what they made."""
    found = {}
    for stamp in folder.rglob("*.stage.json"):
        for name in json.loads(stamp.read_text(encoding="utf-8"))["outputs"]:
            found[str((stamp.parent / name).relative_to(folder))] = (stamp.parent / name).stat().st_mtime_ns
    return found


def kept(before: dict[str, int], folder: Path) -> bool:
    after = made(folder)
    return all(after.get(name) == time for name, time in before.items())


def test_killed_and_stopped_it_goes_on_where_it_was(
    data: Path, dub_context: EngineContext, typed: Typed, tmp_path: Path
) -> None:
    clip, out = data / "video/talk_512_8s.mp4", tmp_path / "dubbed.mp4"
    words = (
        "dub",
        str(clip),
        "--to",
        "es",
        "--translation",
        str(TRANSLATIONS / "talk_512.es.srt"),
        "-o",
        str(out),
    )
    earlier = set(dub_context.settings.jobs.glob("*/"))
    running = typed.start(*words)
    wait_for(
        lambda: bool(set(dub_context.settings.jobs.glob("*/job.json")) - {p / "job.json" for p in earlier}),
        running,
    )
    (folder,) = set(dub_context.settings.jobs.glob("*/")) - earlier

    def kill() -> None:
        worker = json.loads((folder / "job.json").read_text(encoding="utf-8"))["worker"]
        os.kill(int(worker["pid"]), signal.SIGKILL)
        _, said = running.communicate()
        assert running.returncode not in (0, None) and "Traceback" not in said, said

    wait_for((folder / "lines" / "0001.stage.json").exists, running)  # one line is spoken, the other is not
    kill()
    spoken = made(folder)
    assert {"transcript.json", "translated.json", "lines/0001.wav"} <= set(spoken)
    assert not (folder / "dub.wav").exists()

    running = typed.start(*words)
    wait_for((folder / "pieces" / "0000000.stage.json").exists, running)
    kill()
    drawn = made(folder)
    assert kept(spoken, folder) and "dub.wav" in drawn and "pieces/0000000.mp4" in drawn
    assert not (folder / "picture.mp4").exists()

    left = set((folder / "pieces").glob(".*.part"))
    running = typed.start(*words)
    wait_for(
        lambda: bool(set((folder / "pieces").glob(".*.part")) - left), running
    )  # the next piece is being drawn
    asked = time.monotonic()
    running.send_signal(signal.SIGINT)  # Stop
    running.communicate()
    stopped = time.monotonic() - asked
    assert running.returncode == 130 and kept(drawn, folder) and not list(folder.rglob("*.part"))
    assert stopped <= 2.0 * patience(), stopped

    drawn = made(folder)
    running = typed.start(*words)
    _, said = running.communicate()
    assert running.returncode == 0 and "going on with an earlier job" in said, said
    assert kept(drawn, folder)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    pieces = sum("pieces/" in name for name in drawn)
    assert report["lips"]["measures"]["drawn_now"] == 200 - 50 * pieces and pieces >= 1
    assert media.probe(out).frames == 200
