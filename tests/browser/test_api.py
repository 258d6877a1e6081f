"""Another program at a running page: it sends off a job, watches it and stops it, through gradio_client alone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from tests.browser.conftest import Site
from tests.ui.flows import clip

PATIENCE = 120.0


def until(client: Client, job: str, *states: str) -> dict[str, Any]:
    """Look at the job until it is in one of the states."""
    end = time.monotonic() + PATIENCE
    while (seen := client.predict(job, api_name="/look"))["state"] not in states:
        assert time.monotonic() < end, seen
        time.sleep(0.2)
    return dict(seen)


def test_a_job_is_sent_off_watched_and_stopped(site: Site, tmp_path: Path) -> None:
    client = Client(site.url, verbose=False)
    named = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    offered = {
        "/dub",
        "/dub_again",
        "/dub_export",
        "/dub_preview",
        "/speak",
        "/speak_again",
        "/keep_voice",
        "/transcribe",
        "/sync",
        "/fetch_weights",
        "/look",
        "/stop",
        "/resume",
    }
    assert set(named) == offered
    job = client.predict(file=handle_file(str(clip(tmp_path / "slow api.mp4"))), target="fr", api_name="/dub")
    seen = until(client, job, "running")
    assert (seen["kind"], seen["title"]) == ("dub", "slow api.mp4 → French")
    while not (stages := client.predict(job, api_name="/look")["stages"]):
        time.sleep(0.1)
    assert set(stages[0]) == {"name", "done", "total", "unit", "seconds"}
    client.predict(job, api_name="/stop")
    stopped = until(client, job, "stopped")
    assert json.loads(json.dumps(stopped)) == stopped and stopped["files"] == []

    job = client.predict(path=str(clip(tmp_path / "talk api.mp4")), target="es", api_name="/dub")
    done = until(client, job, "done", "failed")
    assert done["state"] == "done", done["error"]
    names = sorted(Path(path).name for path in done["files"])
    assert names == ["talk api-en.srt", "talk api-es-report.json", "talk api-es.mp4", "talk api-es.srt"]
    assert all(Path(path).is_file() for path in done["files"])


def test_what_does_not_exist_is_said(site: Site) -> None:
    with pytest.raises(AppError, match="There is no such job"):
        Client(site.url, verbose=False).predict("nothing", api_name="/look")
