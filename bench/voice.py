"""How well the voice speaks: length, intelligibility, likeness, pitch, level and speed, as tables.

    python -m bench.voice                                  read-back of 20 lines a language at three factors
    python -m bench.voice --references FOLDER              the same in voices matched to the recordings there, and likeness
    python -m bench.voice --lines 5 --factors 1 --languages en

Read back by Whisper base, numbers spelled out and scripts folded on both sides. Likeness is measured by Resemblyzer's
encoder where it is installed (``pip install --no-deps resemblyzer``, needs torch): it takes no part in the matching.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.voice_lines import LINES
from pipelines import audio as sound
from pipelines import weights
from pipelines.asr.scoring import Score, score
from pipelines.backend.policy import Policy
from pipelines.errors import NoSpeech
from pipelines.media import load_sound
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.text import normalise
from pipelines.types import Audio, VoiceProfile
from pipelines.voice import SpeakOptions, dvector, pitch, reference
from pipelines.voice.kokoro import Kokoro

REPORT = NullReport()
Encoder = Callable[[Audio], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Row:
    """Means of one group of spoken lines."""

    errors: float
    worst_length_ms: float
    loudness: tuple[float, float]
    peak: float
    speed: float


def folded(text: str, language: str) -> str:
    """Numbers spelled out, and the pronouns that sound alike in Chinese written alike: no ear can tell them apart."""
    said = normalise(text, language)
    return said.translate(str.maketrans("她它", "他他")) if language == "zh" else said


def listener(settings: Settings) -> Callable[[Audio, str], str]:
    """Whisper base as a function of sound and language."""
    from faster_whisper import WhisperModel

    model = WhisperModel(str(weights.locate(settings, "whisper-base")), device="cpu", compute_type="int8")

    def hear(audio: Audio, language: str) -> str:
        samples = np.pad(sound.resample(audio.samples, audio.sr, 16000), 4000)
        segments, _ = model.transcribe(
            samples, language=language, beam_size=5, condition_on_previous_text=False
        )
        return " ".join(segment.text.strip() for segment in segments)

    return hear


def edges(audio: Audio) -> float:
    """Seconds from the first to the last 5 ms that are within 45 dB of the loudest."""
    hop = audio.sr // 200
    power = (audio.samples[: len(audio.samples) // hop * hop].reshape(-1, hop).astype(np.float64) ** 2).mean(
        1
    )
    loud = np.flatnonzero(power > power.max() * 10**-4.5)
    return float((loud[-1] + 1 - loud[0]) * hop / audio.sr)


def read_back(
    engine: Kokoro,
    voice: VoiceProfile | None,
    language: str,
    factor: float,
    lines: Sequence[str],
    hear: Callable[[Audio, str], str],
    verbose: bool,
) -> Row:
    """Speak the lines at a factor of their natural length and hear them again."""
    sum_up = Score(0, 0)
    off, levels, peaks, spent, made = [], [], [], 0.0, 0.0
    for text in lines:
        profile = voice or engine.stock(language=language)
        begin = time.perf_counter()
        seconds = engine.length(text, language, profile).natural * factor
        audio = engine.speak(text, language, profile, SpeakOptions(seconds=seconds), REPORT).audio
        spent += time.perf_counter() - begin
        made += audio.duration
        off.append(abs(edges(audio) - seconds) * 1000)
        levels.append(sound.loudness(audio.samples, audio.sr))
        peaks.append(sound.true_peak_db(audio.samples, audio.sr))
        heard = hear(audio, language)
        mistakes = score(folded(text, language), folded(heard, language), language)
        sum_up += mistakes
        if verbose and mistakes.errors:
            print(f"      {mistakes.errors}  {text}  →  {heard}", flush=True)
    return Row(sum_up.rate, max(off), (min(levels), max(levels)), max(peaks), spent / made)


def judge() -> tuple[str, Encoder]:
    """The encoder that took no part in the matching, or the one that did, said plainly."""
    try:
        from bench.resemblyzer_encoder import embed
    except ImportError:
        return "d-vector (THE ONE THAT WAS OPTIMISED: resemblyzer is not installed)", dvector.embed
    return "Resemblyzer (took no part in the matching)", embed


def likeness(engine: Kokoro, files: Sequence[Path], settings: Settings, text: str) -> dict[str, VoiceProfile]:
    """A table of matched voices; returns them by name."""
    name, encoder = judge()
    stock = [
        engine.speak(text, "en", engine.stock(pack), SpeakOptions(), REPORT).audio
        for pack in engine.packs.names
    ]
    table = np.stack([encoder(audio) for audio in stock])
    found: dict[str, VoiceProfile] = {}
    people: dict[str, npt.NDArray[np.float32]] = {}
    for file in files:
        audio = load_sound(file, settings, sr=48000, end=300)
        begin = time.perf_counter()
        try:
            found[file.stem] = engine.enroll(audio, file.stem, REPORT)
        except NoSpeech:
            print(f"  {file.stem}: too little speech")
            continue
        took = time.perf_counter() - begin
        people[file.stem] = encoder(reference.prepare(audio).audio)
        print(f"  {file.stem}: enrolled in {took:.1f} s", flush=True)
    print(f"\nlikeness by {name}")
    print(
        f"{'reference':24s} {'matched':>8s} {'nearest stock':>14s} {'stranger':>9s} {'pitch st':>9s}  blend"
    )
    rows = []
    for stem, voice in found.items():
        spoken = engine.speak(text, "en", voice, SpeakOptions(), REPORT).audio
        vector = encoder(spoken)
        own, near = float(vector @ people[stem]), float((table @ people[stem]).max())
        others = [float(vector @ people[other]) for other in people if other != stem]
        stranger = float(np.mean(others)) if others else float("nan")
        sample = next(file for file in files if file.stem == stem)
        apart = _apart(spoken, reference.prepare(load_sound(sample, settings, sr=48000, end=300)).audio)
        rows.append((own, near, stranger, apart))
        print(f"{stem:24s} {own:8.3f} {near:14.3f} {stranger:9.3f} {apart:+9.2f}  {voice.facts['packs']}")
    mean = np.nanmean(np.array(rows), axis=0)
    print(f"{'mean':24s} {mean[0]:8.3f} {mean[1]:14.3f} {mean[2]:9.3f}")
    return found


def _apart(one: Audio, other: Audio) -> float:
    """Semitones between the medians of two voices."""
    first, second = pitch.measure(one), pitch.measure(other)
    return float(12 * np.log2(first.median / second.median)) if first and second else float("nan")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--references", type=Path, help="a recording, or a folder of them")
    parser.add_argument("--languages", default="en,es,zh")
    parser.add_argument("--factors", default="0.8,1,1.25")
    parser.add_argument("--lines", type=int, default=20)
    parser.add_argument("--verbose", action="store_true", help="print what was misheard")
    options = parser.parse_args()
    settings = Settings.load()
    engine = Kokoro(EngineContext(settings, Policy(threads=settings.threads)))
    voices: dict[str, VoiceProfile | None] = {"stock": None}
    if options.references:
        folder: Path = options.references
        files = (
            [folder]
            if folder.is_file()
            else sorted(p for p in folder.iterdir() if p.suffix in (".wav", ".flac", ".mp4"))
        )
        voices = dict(likeness(engine, files, settings, LINES["en"][2]))
    if options.lines <= 0:
        return
    hear = listener(settings)
    head = (
        ("voice", 24),
        ("language", 9),
        ("factor", 7),
        ("errors", 7),
        ("length off", 11),
        ("LUFS", 16),
        ("peak", 6),
    )
    print("\n" + " ".join(f"{title:{width}s}" for title, width in head) + "  RTF")
    for name, voice in voices.items():
        for language in options.languages.split(","):
            for factor in map(float, options.factors.split(",")):
                row = read_back(
                    engine, voice, language, factor, LINES[language][: options.lines], hear, options.verbose
                )
                print(
                    f"{name:24s} {language:9s} {factor:6.2f} {row.errors:7.1%} {row.worst_length_ms:8.0f} ms "
                    f"{row.loudness[0]:7.2f}…{row.loudness[1]:.2f} {row.peak:6.2f} {row.speed:5.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
