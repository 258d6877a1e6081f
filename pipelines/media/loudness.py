"""How loud a whole sound file is, measured by ffmpeg's ``ebur128`` in one pass and constant memory."""

from __future__ import annotations

import math
from pathlib import Path

import ffmpeg

from pipelines.errors import Message
from pipelines.media.ffmpeg import child, command, failure, target
from pipelines.progress import Report
from pipelines.settings import Settings

KEY = "lavfi.r128.I"
SILENCE = -69.9  # LUFS: nothing passed the absolute gate of −70


def file_loudness(path: Path, settings: Settings, report: Report, stage: str) -> float:
    """Integrated loudness in LUFS (ITU-R BS.1770-4, gated); −inf for silence.

    Raises:
        MediaError: ffmpeg cannot read the file. Stopped: the user asked.
    """
    sound = ffmpeg.input(target(path))["a:0"].filter("ebur128", metadata=1)
    sound = sound.filter("ametadata", mode="print", key=KEY, file="pipe:1")
    output = sound.output("-", format="null")
    found = -math.inf
    with child(command(settings, output), reads=True) as running:
        for line in running.stdout:
            name, _, value = line.decode("ascii", "replace").strip().partition("=")
            if name == KEY:
                found = float(value)
                report.step(stage, 0, None, "s")
        if running.finish() != 0:
            what = Message("The loudness could not be measured", "无法测量响度")
            raise failure(running, what, str(path))
    return found if found > SILENCE else -math.inf
