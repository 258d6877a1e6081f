"""Make the example media: ``python -m examples.make`` (needs the default weights; a few minutes on two cores).

The voice is a stock voice of Kokoro (Apache-2.0), the face is drawn by ``examples.drawn_face``; nobody is shown or heard.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np

from examples.drawn_face import SIZE, Pose, draw
from pipelines import media
from pipelines.audio import normalise
from pipelines.backend.policy import Policy
from pipelines.lipsync.articulation import targets
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import Audio, Phone
from pipelines.voice import VOICES, SpeakOptions, StockVoices

FOLDER = Path(__file__).parent
FPS = Fraction(25)
VOICE = "af_heart"
SCRIPT = (
    "Good morning. Welcome to the show.",
    "My name is Anna and I have a small house with a big garden.",
    "Today I speak English. With this program I can also speak Spanish.",
)
SAMPLE = "Every voice has a story. Say yours once, slowly and clearly, and the whole world can hear it in its own language."
OTHER = "I can say this too, and my mouth will follow. It works with every voice, and with every sound file."
PAUSE = 0.55  # seconds before, between and after the sentences
BLINKS = (0.9, 3.6, 5.1, 8.2)


def say(text: str, context: EngineContext) -> tuple[Audio, tuple[Phone, ...]]:
    """A sentence in the stock voice with the times of its phones."""
    engine = VOICES.get("kokoro", context)
    assert isinstance(engine, StockVoices)
    speech = engine.speak(text, "en", engine.stock(VOICE), SpeakOptions(), NullReport())
    return normalise(speech.audio), speech.phones


def script(context: EngineContext) -> tuple[Audio, tuple[Phone, ...]]:
    """All sentences with pauses."""
    parts, phones, now, sr = [], list[Phone](), PAUSE, 24_000
    for sentence in SCRIPT:
        audio, said = say(sentence, context)
        sr = audio.sr
        parts += [np.zeros(round(PAUSE * sr), np.float32), audio.samples]
        phones += [Phone(p.start + now, p.end + now, p.symbol) for p in said]
        now += audio.duration + PAUSE
    return Audio(np.concatenate([*parts, np.zeros(round(PAUSE * sr), np.float32)]), sr), tuple(phones)


def poses(phones: tuple[Phone, ...], frames: int) -> list[Pose]:
    """Mouth from the phones, blinks, and a head that sways while it speaks."""
    mouth = targets(phones, frames, FPS)
    made = []
    for frame in range(frames):
        t = float(frame / FPS)
        lids = max(max(0.0, 1 - abs(t - at) / 0.12) for at in BLINKS)
        width = float(mouth.width[frame])
        made.append(
            Pose(
                jaw=float(np.clip(mouth.opening[frame], 0, 1)) * 0.85,
                wide=max(0.0, width),
                round=max(0.0, -width),
                lids=min(1.0, lids),
                brows=0.5 + 0.5 * math.sin(1.1 * t),
                x=2.2 * math.sin(0.9 * t) + 0.8 * math.sin(2.3 * t + 1),
                y=1.2 * math.sin(1.4 * t + 0.5),
                roll=1.1 * math.sin(0.7 * t + 2),
            )
        )
    return made


def make_talker(settings: Settings, context: EngineContext) -> None:
    """``talker.mp4``: the drawn woman says the script."""
    sound, phones = script(context)
    frames = math.ceil(sound.duration * FPS)
    grain = np.random.default_rng(7)
    picture, spoken = settings.cache / "talker.mp4", settings.cache / "talker.wav"
    media.save_audio(spoken, sound)
    with media.FrameWriter(picture, SIZE, SIZE, FPS, settings, crf=21, preset="slow") as writer:
        for pose in poses(phones, frames):
            noise = grain.normal(0, 1.2, (SIZE, SIZE, 1))
            writer.write(np.clip(draw(pose) + noise, 0, 255).astype(np.uint8))
    media.mux(
        picture,
        spoken,
        FOLDER / "talker.mp4",
        settings,
        metadata={"comment": "Drawn and synthesised by Dubwright"},
    )


def main() -> None:
    """Make everything."""
    settings = Settings.load()
    context = EngineContext(settings, Policy(threads=settings.threads))
    for name, text in (("sample", SAMPLE), ("other", OTHER)):
        media.save_audio(FOLDER / f"{name}.wav", say(text, context)[0])
    make_talker(settings, context)


if __name__ == "__main__":
    main()
