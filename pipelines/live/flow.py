"""The flow of live hearing: ``sound.pcm`` (16 kHz mono, 16 bit) grows in the folder, ``heard.json`` follows it.

Options: ``engine``, ``language`` (None: detected on the first utterance), ``hotwords`` (list). The file ``ended`` says that
no more sound comes. ``heard.json``: ``{"ready", "ended", "partial", "finals": [{"start", "end", "text"}]}``, seconds.

One decoding is under way at a time: after each, all sound that came meanwhile is taken in, what is over is heard for good,
and only when nothing of that is left, what is being said now is heard for the time being.
"""

from __future__ import annotations

import time
import wave
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.asr import RECOGNIZERS, EngineContext, RecognitionOptions, Recognizer, VadOptions
from pipelines.asr.vad import FRAME, RATE, StreamingVad
from pipelines.jobs.folder import replace_state
from pipelines.live.endpoint import Endpoint
from pipelines.progress import NullReport, Report
from pipelines.subtitles import one_line
from pipelines.types import Samples

SOUND, ENDED, HEARD = "sound.pcm", "ended", "heard.json"
LOOK = 0.05  # seconds between looks for new sound
FIRST, AGAIN = 0.9, 1.2  # seconds of speech before the first partial text, and of new speech before the next
BEFORE, AFTER = 0.6, 0.4  # seconds of sound kept around an utterance: first and last syllables are soft
CERTAIN = 0.6  # probability of a detected language that is kept from then on
# That somebody speaks was found out here already: a cold gate before the recogniser would cost the first words.
OPEN = VadOptions(threshold=0.2, min_speech=0.05)
STAGE = "hear"


@dataclass(slots=True)
class _Session:
    folder: Path
    recognizer: Recognizer
    options: RecognitionOptions
    report: Report
    vad: StreamingVad = field(default_factory=StreamingVad)
    endpoint: Endpoint = field(default_factory=Endpoint)
    taken: int = 0  # samples
    finals: list[dict[str, Any]] = field(default_factory=list)
    partial: str = ""
    heard_to: int = 0  # frame up to which the partial text goes

    def write(self, *, ended: bool = False) -> None:
        """Say what was heard so far."""
        told = {"ready": True, "ended": ended, "partial": self.partial, "finals": self.finals}
        replace_state(self.folder / HEARD, told)

    def take(self) -> list[tuple[int, int]]:
        """Take new sound in; returns the utterances that are over, in frames."""
        path = self.folder / SOUND
        have = path.stat().st_size // 2 if path.is_file() else 0
        if have <= self.taken:
            return []
        samples = _sound(path, self.taken, have)
        self.taken = have
        return self.endpoint.feed(self.vad.feed(samples).tolist())

    def hear(self, first: int, last: int, *, quick: bool = False) -> str:
        """The words between two frames."""
        begin = max(0, first * FRAME - int(BEFORE * RATE))
        samples = _sound(self.folder / SOUND, begin, min(self.taken, last * FRAME + int(AFTER * RATE)))
        path = self.folder / "utterance.wav"
        write_wave(path, samples)
        found = self.recognizer.recognize(path, replace(self.options, quick=quick), NullReport())
        words = one_line("\n".join(segment.shown for segment in found.segments))
        if words and self.options.language is None and found.language_probability >= CERTAIN:
            self.options = replace(self.options, language=found.language)
        return words

    def conclude(self, first: int, last: int) -> None:
        """Hear an utterance that is over for good."""
        words = self.hear(first, last)
        self.partial, self.heard_to = "", 0
        if words:
            seconds = FRAME / RATE
            self.finals.append(
                {"start": round(first * seconds, 2), "end": round(last * seconds, 2), "text": words}
            )
        self.write()

    def guess(self) -> None:
        """Hear what is being said, when there is enough new of it."""
        begun, now = self.endpoint.begun, self.endpoint.frames
        if begun is None:
            return
        new = now - max(begun, self.heard_to)
        if new * FRAME / RATE < (AGAIN if self.heard_to > begun else FIRST):
            return
        self.partial, self.heard_to = self.hear(begun, now, quick=True), now
        self.write()


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Hear until the sound ends; see the module's first lines.

    Raises:
        EngineMissing, WeightsMissing: of the engine. Stopped: the user asked.
    """
    engine = options.get("engine") or RECOGNIZERS.infos()[0].name
    asked = RecognitionOptions(
        language=options.get("language"), hotwords=tuple(options.get("hotwords") or ()), vad=OPEN
    )
    session = _Session(folder, RECOGNIZERS.get(engine, context), asked, report)
    session.write()
    while True:
        report.step(STAGE, session.taken / RATE, unit="s")
        last = (folder / ENDED).exists()
        over = session.take()
        if last:
            over += session.endpoint.feed(session.vad.finish().tolist())
            over += session.endpoint.finish()
        for first, end in over:
            session.conclude(first, end)
        if last:
            session.write(ended=True)
            return {"finals": session.finals, "seconds": session.taken / RATE}
        if not over:
            session.guess()
            time.sleep(LOOK)


def _sound(path: Path, first: int, last: int) -> Samples:
    """Samples [first, last) of the sound so far."""
    with path.open("rb") as file:
        file.seek(2 * first)
        data = file.read(2 * (last - first))
    return np.frombuffer(data[: len(data) // 2 * 2], np.int16).astype(np.float32) / 32768.0


def write_wave(path: Path, samples: Samples) -> None:
    """16 kHz mono as a WAV file."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes((np.clip(samples, -1.0, 1.0) * 32767).astype(np.int16).tobytes())
