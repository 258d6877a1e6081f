"""A real flow, a real ffmpeg: stopped, killed and resumed in the middle of an encode."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from pipelines import media
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.spec import JobSpec
from pipelines.jobs.store import JobStore
from pipelines.settings import Settings
from tests.jobs.conftest import ended, wait_for
from tests.patience import patience


@pytest.fixture
def film(tmp_path: Path, settings: Settings) -> Path:
    """Four minutes that take long to encode and no time to make: a still picture as MPEG-4 part 2."""
    path = tmp_path / "film 片.avi"
    source = [
        "-f",
        "lavfi",
        "-i",
        "color=c=gray:size=320x180:rate=10:duration=240",
        "-c:v",
        "mpeg4",
        "-g",
        "250",
    ]
    subprocess.run([str(media.ffmpeg_path(settings)), "-v", "error", *source, str(path)], check=True)
    return path


def ffmpegs(folder: Path) -> list[psutil.Process]:
    """The encoders below the worker of a job."""
    worker = json.loads((folder / "job.json").read_text())["worker"]
    children = psutil.Process(int(worker["pid"])).children(recursive=True) if worker else []
    return [child for child in children if "ffmpeg" in child.name()]


def test_an_encode_is_stopped_killed_and_made_whole(store: JobStore, settings: Settings, film: Path) -> None:
    executor = LocalExecutor(store, settings)
    job_id = executor.submit(JobSpec("proxy", {"path": str(film)}, film.name))
    folder = store.folder(job_id).path

    def encoding() -> bool:
        view = executor.view(job_id)
        return bool(view and view.stages and view.stages[-1].done > 0 and ffmpegs(folder))

    for way in ("stop", "kill"):
        wait_for(encoding, "the encode")
        running, pressed = ffmpegs(folder), time.monotonic()
        if way == "stop":
            executor.stop(job_id)
        else:
            os.kill(int(json.loads((folder / "job.json").read_text())["worker"]["pid"]), signal.SIGKILL)
        view = ended(executor, job_id)
        psutil.wait_procs(running, timeout=5)
        assert not any(process.is_running() for process in running)
        if way == "stop":
            assert time.monotonic() - pressed <= 2.0 * patience()
        assert view.state == ("stopped" if way == "stop" else "failed")
        assert not list(
            (settings.cache / "proxies").glob("*.mp4")
        )  # nothing half made has the name of a result
        executor.resume(job_id)
    view = ended(executor, job_id)
    assert view.state == "done" and view.stages[-1].done == pytest.approx(240)
    made = media.probe(Path(view.result["proxy"]))
    assert (made.frames, made.codec) == (2400, "h264")
    executor.close()
