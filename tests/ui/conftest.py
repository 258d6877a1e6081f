"""The page's services with quick flows, run by the real executor and the real worker process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest

from pipelines.backend.policy import Policy
from pipelines.backend.probe import Probe
from pipelines.jobs.spec import JobView
from pipelines.settings import Settings
from tests.ui.flows import FLOWS
from ui.machine import Machine
from ui.services import Services, make_services

PATIENCE = 60.0


def open_services(settings: Settings) -> Services:
    """Services whose jobs are the quick flows."""
    return make_services(settings, Machine(Probe(), Policy(threads=2)), flows=FLOWS)


@pytest.fixture
def services(settings: Settings) -> Iterator[Services]:
    """Services in a folder of their own."""
    services = open_services(settings)
    yield services
    services.close()


def asking(language: str = "en-US,en;q=0.9") -> gr.Request:
    """What a handler sees of a browser with this language."""
    return gr.Request(headers={"accept-language": language})


def ended(services: Services, job_id: str) -> JobView:
    """Wait for the end of a job."""
    end = time.monotonic() + PATIENCE
    while (view := services.executor.view(job_id)) is None or not view.ended:
        assert time.monotonic() < end, f"the job does not end: {view}"
        time.sleep(0.05)
    return view


def dub_values(**changed: Any) -> dict[str, Any]:
    """What the Dub tab's components hold at first."""
    values: dict[str, Any] = {
        "file": None, "path": "", "target": "es", "source_language": "", "stream": "", "translation": None, "translator": "",
        "address": "", "model": "", "key": "", "voice": "", "reference": None,
        "speakers": "", "start": "", "end": "", "rest": "keep",
        "keep_background": False,
        "lips": True,
        "asr_engine": "whisper", "voice_engine": "kokoro", "lip_engine": "ownmouth",
    }  # fmt: skip
    return {**values, **changed}
