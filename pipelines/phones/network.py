"""The network: log-mel → how likely each phone class is, fifty times a second; plain numpy, about 1 MB of weights.

One convolution halves the frame rate; ten residual ones with growing gaps see 0.7 s to both sides. It was trained on
generated speech alone (``training/phones``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.phones.features import HOP, SR, log_mel
from pipelines.types import Samples

Floats = npt.NDArray[np.float32]

WEIGHTS = Path(__file__).with_name("network.npz")
STEP = 2 * HOP / SR  # seconds of one output frame
DILATIONS = (1, 2, 4, 8, 1, 2, 4, 8, 1, 2)
SAMPLES = 2 * HOP
PIECE, MARGIN = 1500, 50  # output frames computed at once, and seen on each side of them


@dataclass(frozen=True, slots=True)
class Heard:
    """What the network makes of a sound, frame ``i`` centred on ``(i + 0.5) × STEP``.

    Attributes:
        scores: natural log of the likelihood of each class given the sound, float32 (n, classes).
    """

    scores: Floats

    @property
    def seconds(self) -> float:
        """Length of the sound."""
        return len(self.scores) * STEP


class Network:
    """Weights by name, as ``training.phones.train`` writes them."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        with np.load(weights) as stored:
            self._weights: dict[str, Floats] = {
                name: np.asarray(stored[name], np.float32) for name in stored.files
            }

    @property
    def log_prior(self) -> Floats:
        """Natural log of how often each class came in training, float32 (classes,)."""
        return self._weights["log_prior"]

    def hear(self, samples: Samples) -> Heard:
        """Listen to mono sound at 16 kHz, (m,), at most some minutes of it; n is ``ceil(m / SAMPLES)``."""
        count = -(-len(samples) // SAMPLES)
        if not count:
            return Heard(np.zeros((0, len(self.log_prior)), np.float32))
        mel = log_mel(np.pad(np.asarray(samples, np.float32), (0, count * SAMPLES - len(samples))))
        hidden = self._convolved("front", mel)[:, ::2]
        for number, gap in enumerate(DILATIONS):
            name = f"block{number}"
            active = (
                hidden * self._weights[f"{name}.scale"][:, None] + self._weights[f"{name}.shift"][:, None]
            )
            hidden = hidden + self._convolved(name, np.maximum(active, 0), gap)
        hidden = np.maximum(hidden, 0)
        return Heard(_log_softmax(self._convolved("phones", hidden)).T)

    def _convolved(self, name: str, signal: Floats, gap: int = 1) -> Floats:
        """(in, n) → (out, n), zeros around."""
        kernel, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]  # (out, in, taps)
        taps, count = kernel.shape[2], signal.shape[1]
        reach = taps // 2 * gap
        padded = np.pad(signal, ((0, 0), (reach, reach)))
        out = np.repeat(bias[:, None], count, axis=1)
        for tap in range(taps):
            out += kernel[:, :, tap] @ padded[:, tap * gap : tap * gap + count]
        return out


def _log_softmax(values: Floats) -> Floats:
    moved = values - values.max(axis=0)
    return np.asarray(moved - np.log(np.exp(moved).sum(axis=0)), np.float32)


@cache
def network() -> Network:
    """The network of this repository, loaded once."""
    return Network()


def hear(blocks: Iterable[Samples]) -> Heard:
    """Listen to a sound of any length in pieces of half a minute.

    Args:
        blocks: mono sound at 16 kHz. Some 10 kB a second of it are kept.
    """
    pieces: list[Floats] = []
    for before, piece, after in _pieces(blocks):
        found = network().hear(np.concatenate([before, piece, after]))
        first = len(before) // SAMPLES
        last = first + -(-len(piece) // SAMPLES)
        pieces.append(found.scores[first:last])
    if not pieces:
        return network().hear(np.zeros(0, np.float32))
    return Heard(np.concatenate(pieces))


def _pieces(blocks: Iterable[Samples]) -> Iterator[tuple[Samples, Samples, Samples]]:
    """The sound in pieces, each with what stands before and after it."""
    size, margin = PIECE * SAMPLES, MARGIN * SAMPLES
    held = np.zeros(0, np.float32)
    before = held
    for block in blocks:
        held = np.concatenate([held, np.asarray(block, np.float32)])
        while len(held) >= size + margin:
            yield before, held[:size], held[size : size + margin]
            before, held = held[size - margin : size], held[size:]
    if len(held):
        yield before, held, held[:0]
