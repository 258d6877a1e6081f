"""Make pipelines/voice/kokoro/packs.npz: one rendition of every stock voice, as features (a few minutes).

    python -m bench.voice_table

To be run again when the phrase, the features or the stock voices change.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipelines.audio import resample
from pipelines.backend.policy import Policy
from pipelines.files import part_file
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.voice import dvector
from pipelines.voice.kokoro import Kokoro, spectrum
from pipelines.voice.kokoro.accent import SENTENCES
from pipelines.voice.kokoro.graph import SR
from pipelines.voice.kokoro.line import lines
from pipelines.voice.kokoro.speech import Tuning, draft, median_pitch, speak

LEVEL = 0.1  # root mean square the renditions are brought to
PLACE = Path(__file__).parent.parent / "pipelines" / "voice" / "kokoro" / "packs.npz"


def main() -> None:
    """Speak the phrase in every voice and keep what matching needs."""
    settings = Settings.load()
    engine = Kokoro(EngineContext(settings, Policy(threads=settings.threads)))
    line = lines(SENTENCES["en"][0], "en")[0]
    bands, envelopes, pitches, vectors = [], [], [], []
    for name in engine.packs.names:
        planned = draft(engine._graph, line, engine.packs.style(name), Tuning())
        samples = speak(engine._graph, planned, None).samples
        samples = samples * np.float32(LEVEL / np.sqrt(np.mean(samples**2)))
        bands.append(dvector.features(resample(samples, SR, dvector.SR)))
        envelopes.append(spectrum.envelope(samples))
        pitches.append(median_pitch(planned.curves) or 0.0)
        vectors.append(dvector.embed_features(bands[-1]))
        print(f"{name}: {pitches[-1]:.0f} Hz", flush=True)
    frames = np.array([len(one) for one in bands], np.int32)
    packed = np.zeros((len(bands), int(frames.max()), dvector.BANDS), np.uint8)
    for index, one in enumerate(bands):
        packed[index, : len(one)] = np.clip(np.round((one + 8) * 255 / 12), 0, 255)
    with part_file(PLACE) as part, part.open("wb") as file:
        np.savez_compressed(
            file,
            names=np.array(engine.packs.names),
            bands=packed,
            frames=frames,
            envelopes=np.array(envelopes, np.float32),
            pitches=np.array(pitches, np.float32),
            vectors=np.array(vectors, np.float16),
        )


if __name__ == "__main__":
    main()
