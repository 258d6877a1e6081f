"""The stock voices as they sound: one rendition of each, as features, so that they can be compared without being spoken."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

MIDDLE = 120  # frames of a stored rendition that are compared: two windows of the encoder


@dataclass(frozen=True, slots=True)
class Stored:
    """The stock voices' renditions of ``accent.SENTENCES["en"][0]``, made by bench/voice_table.py.

    bands: uint8 (voices, frames, 40), log mel energies, 0 = −8, 255 = +4; frames: (voices,); envelopes: dB per band
    (voices, 48); pitches: median Hz (voices,); vectors: d-vectors as they are, float32 (voices, 256).
    """

    names: tuple[str, ...]
    bands: npt.NDArray[np.uint8]
    frames: npt.NDArray[np.int32]
    envelopes: Floats
    pitches: Floats
    vectors: Floats

    def place(self, name: str) -> int | None:
        """Where a voice stands in the table; None for one that is not in it."""
        return self.names.index(name) if name in self.names else None

    def features(self, index: int) -> Floats:
        """Log10 mel bands of the middle 1.2 s of one voice's rendition, float32 (120, 40)."""
        start = max(0, (self.frames[index] - MIDDLE) // 2)
        return self.bands[index, start : start + MIDDLE].astype(np.float32) * (12 / 255) - 8


@cache
def stored() -> Stored:
    """The table that comes with the program."""
    path = resources.files("pipelines.voice.kokoro") / "packs.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as table:
        return Stored(
            tuple(str(name) for name in table["names"]),
            table["bands"], table["frames"], table["envelopes"], table["pitches"],
            table["vectors"].astype(np.float32),
        )  # fmt: skip
