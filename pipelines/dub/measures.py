"""What can be measured of a finished dub: its loudness, and how the voices that speak it compare with the speakers'."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from pipelines import audio, media
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.dub.casting import Cast
from pipelines.dub.run import DubRun
from pipelines.dub.soundtrack import line_file
from pipelines.files import read_json, write_json
from pipelines.progress import OneStage, Report
from pipelines.types import Audio, DubLine, DubPlan, VoiceProfile
from pipelines.voice import pitch
from pipelines.voice.dvector import embed

MEASURES = "sound.json"
COMPARED = 12.0  # seconds of speech that are enough to know a voice
BLOCK_SECONDS, OVERLAP = 30.0, 1024  # samples two blocks share: a true peak may lie between them


def measure(
    run: DubRun, plan: DubPlan, cast: Cast, own: Callable[[DubLine], Audio], sound: Path
) -> dict[str, Any]:
    """``voices``, ``voice`` (the first of them) and ``loudness`` for the report.

    ``voices``: one for each speaker and voice, the one that speaks longest first: speaker, lines (their indices), engine,
    name, kind (``stock`` or ``matched``), stock packs it is mixed from, similarity of the speaker's vector with the dub's
    (None for a stock voice), pitch and own_pitch in Hz (None where there is hardly any voice).
    ``loudness``: lufs and true_peak_db of the whole dub (None for silence).

    Args:
        own: some seconds of the voice that a line was to sound like. sound: the mixed dub.
    """
    groups = cast.groups([line for line in plan.lines if line.state == "spoken"])
    key = options_key(
        sound=fingerprint(sound),
        groups=[
            [speaker, voice.name, [[line.index, fingerprint(line_file(run, line.index))] for line in lines]]
            for speaker, voice, lines in groups
        ],
    )

    def make() -> None:
        voices = []
        for speaker, voice, lines in groups:
            said = first_seconds([line_file(run, line.index) for line in lines], COMPARED)
            record = voice_record(voice, own(lines[0]), said)
            voices.append({"speaker": speaker, "lines": [line.index for line in lines], **record})
        showing = OneStage(run.report, "speak")
        lufs = media.file_loudness(sound, run.context.settings, showing, "speak")
        loudness = {"lufs": finite(lufs), "true_peak_db": finite(true_peak(sound, showing))}
        first = voices[0] if voices else {}
        write_json(run.folder / MEASURES, {"voices": voices, "voice": first, "loudness": loudness})

    run_stage(run.folder, "measures", key, [MEASURES], make)
    record: dict[str, Any] = read_json(run.folder / MEASURES)
    return record


def voice_record(voice: VoiceProfile, own: Audio, said: Audio | None) -> dict[str, Any]:
    """The voice that speaks and how near it came; see ``measure``."""
    wanted = voice.arrays.get("vector")
    alike = None if wanted is None or said is None else round(float(embed(said) @ wanted), 3)
    return {
        "engine": voice.engine,
        "name": voice.name,
        "kind": "stock" if voice.facts.get("stock") else "matched",
        "packs": voice.facts.get("packs", []),
        "similarity": alike,
        "pitch": hertz(said),
        "own_pitch": hertz(own),
    }


def first_seconds(files: Sequence[Path], seconds: float) -> Audio | None:
    """The first lines one after the other, about ``seconds`` long; None when nothing is spoken."""
    pieces: list[Audio] = []
    for path in files:
        samples, rate = soundfile.read(path, dtype="float32")
        pieces.append(Audio(np.asarray(samples, np.float32), rate))
        if sum(piece.duration for piece in pieces) >= seconds:
            break
    if not pieces:
        return None
    return Audio(np.concatenate([piece.samples for piece in pieces]), pieces[0].sr)


def hertz(sound: Audio | None) -> float | None:
    """Median fundamental frequency."""
    found = None if sound is None or not len(sound.samples) else pitch.measure(sound)
    return None if found is None else round(found.median, 1)


def true_peak(path: Path, report: Report) -> float:
    """True peak of a sound file in dBTP; −inf for silence."""
    highest = -math.inf
    rate = soundfile.info(path).samplerate
    for block in soundfile.blocks(path, int(BLOCK_SECONDS * rate), OVERLAP, dtype="float32"):
        report.step("speak", 0, None, "s")
        highest = max(highest, audio.true_peak_db(block, rate))
    return highest


def finite(value: float) -> float | None:
    """One decimal, or None for what JSON cannot hold."""
    return round(value, 1) if math.isfinite(value) else None
