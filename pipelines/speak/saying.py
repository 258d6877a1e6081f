"""Every piece of a text said on its own, so that one that is changed is said again and no other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines import glossary
from pipelines.artifacts import options_key, run_stage
from pipelines.backend.outputs import check_sound
from pipelines.errors import InputError, Message
from pipelines.media import save_audio
from pipelines.progress import NoteLevel, Report
from pipelines.records import load_speech_times, save_speech_times
from pipelines.speak.joining import Times
from pipelines.speak.pieces import GAP, Piece, shares
from pipelines.text.marks import written
from pipelines.types import Audio, Segment, VoiceProfile, Word
from pipelines.voice import SpeakOptions, VoiceEngine

FOLDER = "pieces"
HEARD = 60.0  # seconds of the result that are compared with the sample


@dataclass(frozen=True, slots=True)
class Spoken:
    """Spoken pieces: their files in the job's folder, the silence after each in seconds, phones and words of each."""

    pieces: tuple[Piece, ...]
    files: tuple[str, ...]
    gaps: tuple[float, ...]
    times: tuple[Times, ...]

    def segments(self, starts: Sequence[float]) -> tuple[Segment, ...]:
        """The pieces as lines of a transcript that begin at ``starts``."""
        found = []
        for piece, (_, words), at in zip(self.pieces, self.times, starts, strict=True):
            moved = tuple(Word(word.start + at, word.end + at, word.text) for word in words)
            if moved:
                found.append(Segment(moved[0].start, moved[-1].end, written(piece.text), moved))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Counted:
    """What is done of one piece, told as that much of all."""

    report: Report
    number: int
    total: int

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """Report; an engine counts its own parts of the piece."""
        share = done / total if total else 0.0
        self.report.step("speak", self.number + min(share, 1.0), self.total, "parts")

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        """Pass the note on."""
        self.report.note(message, level)


@dataclass(frozen=True, slots=True)
class Saying:
    """Who says it, in which language and by which glossary; sounds go to ``pieces/`` in the job's folder."""

    folder: Path
    engine: VoiceEngine
    voice: VoiceProfile
    voice_key: str
    language: str
    glossary: glossary.Glossary

    def all(self, pieces: tuple[Piece, ...], options: dict[str, Any], report: Report) -> Spoken:
        """Say what is not said yet.

        Raises:
            OptionError: an impossible length. InputError: nothing in a piece can be spoken.
        """
        lengths: Sequence[float | None] = [None] * len(pieces)
        gaps = [*(GAP if piece.pause is None else piece.pause for piece in pieces[:-1]), 0.0]
        if options.get("seconds"):
            lengths, gaps = self._lengths(pieces, float(options["seconds"]))
        (self.folder / FOLDER).mkdir(exist_ok=True)
        files, times = [], []
        for number, (piece, seconds) in enumerate(zip(pieces, lengths, strict=True)):
            told = _Counted(report, number, len(pieces))
            name = self._say(number, piece, seconds, options, told)
            files.append(f"{FOLDER}/{name}.wav")
            times.append(load_speech_times(self.folder / FOLDER / f"{name}.json"))
        return Spoken(pieces, tuple(files), tuple(gaps), tuple(times))

    def _lengths(self, pieces: tuple[Piece, ...], seconds: float) -> tuple[list[float], list[float]]:
        if len(pieces) == 1:  # the engine knows best, and says so
            return [seconds], [0.0]
        found = [self.engine.length(self._marked(piece), self.language, self.voice) for piece in pieces]
        return shares(pieces, found, seconds)

    def _marked(self, piece: Piece) -> str:
        return glossary.marked(piece.text, self.glossary)

    def _say(
        self, number: int, piece: Piece, seconds: float | None, options: dict[str, Any], report: Report
    ) -> str:
        name, text = f"{number + 1:04d}", self._marked(piece)
        wishes = SpeakOptions(
            seconds=seconds,
            speed=float(options.get("speed") or 1.0) * piece.speed,
            seed=int(options.get("seed") or 0),
        )
        key = options_key(
            text=text,
            voice=self.voice_key,
            language=self.language,
            emotion=options.get("emotion"),
            **asdict(wishes),
        )

        def make() -> None:
            report.step("speak", 0, 1, "parts")
            speech = self.engine.speak(text, self.language, self.voice, wishes, report)
            check_sound(speech.audio, text, piece.text[:60])
            save_audio(self.folder / FOLDER / f"{name}.wav", speech.audio)
            save_speech_times(self.folder / FOLDER / f"{name}.json", speech.phones, speech.words)
            report.step("speak", 1, 1, "parts")

        run_stage(self.folder / FOLDER, name, key, [f"{name}.wav", f"{name}.json"], make)
        return name


def nothing_to_say(text: str) -> InputError:
    """The error for a text of signs alone."""
    return InputError(
        Message("There is nothing to say in this text", "这段文字没有可以朗读的内容"),
        Message("Write at least one word or number.", "请至少写一个词或数字。"),
        text[:40],
    )


def facts(
    joined: Path, said: Saying, spoken: Spoken, starts: Sequence[float], words: Sequence[Word]
) -> dict[str, Any]:
    """What is told of the finished sound."""
    import soundfile

    from pipelines.voice.dvector import embed

    wanted = said.voice.arrays.get("vector")
    samples, sr = soundfile.read(
        joined, dtype="float32", frames=round(HEARD * soundfile.info(joined).samplerate)
    )
    alike = None if wanted is None else round(float(embed(Audio(samples, sr)) @ wanted), 3)
    return {
        "seconds": soundfile.info(joined).duration,
        "similarity": alike,
        "voice": said.voice.name,
        "language": said.language,
        "words": [asdict(word) for word in words],
        "pieces": [
            {"text": piece.text, "speed": piece.speed, "pause": piece.pause, "start": start}
            for piece, start in zip(spoken.pieces, starts, strict=True)
        ],
    }


def provenance(options: dict[str, Any], said: Saying, form: str, lufs: float | None) -> dict[str, Any]:
    """How the sound came about, for the file beside it."""
    kept = ("speed", "seconds", "seed", "emotion")
    return {
        "ai_generated": True,
        "made_by": "Dubwright",
        "made": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "engine": said.voice.engine,
        "voice": {"name": said.voice.name, **said.voice.facts},
        "language": said.language,
        "text": options["text"],
        "settings": {**{name: options.get(name) for name in kept}, "format": form, "loudness": lufs},
    }


def tags(said: Saying) -> dict[str, str]:
    """Tags of the file: that a machine speaks, which engine and whose voice."""
    return {
        "title": said.voice.name,
        "artist": f"{said.voice.engine} ({said.voice.name})",
        "comment": f"AI-generated speech. Dubwright, engine {said.voice.engine}, voice {said.voice.name}",
    }
