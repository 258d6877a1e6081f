"""Labelled clips, and stretches of them as they might be recorded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pipelines.lipsync.articulation import LEAD, targets
from pipelines.phones.classes import SILENCE, classes
from pipelines.phones.features import BANDS, SR, log_mel
from pipelines.phones.network import SAMPLES
from training.phones.augment import PACES, coloured_noise, recorded, respeeded
from training.phones.net import CURVES
from training.phones.synthesise import Clip

Floats = npt.NDArray[np.float32]

CROP = 200  # output frames
GRID = 100  # labels a second
EDGE = 1.0  # seconds of silence that a crop may begin before a clip, or end after it
NOISE = 0.04  # of the crops have nobody in them
MASKED, MASK = 0.4, 8  # how often, and at most how many, mel bands are blanked


@dataclass(frozen=True, slots=True)
class Example:
    """A clip with its labels ``GRID`` times a second."""

    samples: Floats
    labels: npt.NDArray[np.int64]  # (n,)
    mouth: Floats  # (3, n)


def example(clip: Clip) -> Example:
    """Label a clip: the classes of a phone share its time, what no phone covers is silence."""
    samples = clip.samples.astype(np.float32) / 32767
    count = len(samples) * GRID // SR + 1
    labels = np.full(count, SILENCE, np.int64)
    for phone in clip.phones:
        parts = classes(phone.symbol)
        edges = np.linspace(phone.start, phone.end, len(parts) + 1) * GRID
        for part, first, last in zip(parts, edges[:-1], edges[1:], strict=True):
            labels[round(first) : round(last)] = part
    aims = targets(clip.phones, count, Fraction(GRID), LEAD)
    return Example(samples, labels, np.stack([aims.opening, aims.width, aims.shut.astype(np.float32)]))


def crop(examples: list[Example], rng: np.random.Generator) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """Features (BANDS, 2 × CROP), classes (CROP,) and curves (3, CROP) of a stretch as it might be recorded."""
    length = CROP * SAMPLES
    if rng.random() < NOISE:
        noise = coloured_noise(length, rng) * 10 ** rng.uniform(-4, -1)
        nothing = np.zeros((len(CURVES), CROP), np.float32)
        nothing[2] = 1
        return log_mel(noise.astype(np.float32)), np.full(CROP, SILENCE), nothing
    chosen = examples[rng.integers(len(examples))]
    factor = PACES[rng.integers(len(PACES))]
    needed = round(length / factor)
    first = round(rng.uniform(-EDGE * SR, max(len(chosen.samples) - needed + EDGE * SR, 0)))
    sound = np.zeros(needed, np.float32)
    piece = chosen.samples[max(first, 0) : max(first + needed, 0)]
    sound[max(-first, 0) :][: len(piece)] = piece
    others = [examples[rng.integers(len(examples))].samples for _ in range(3)]
    mel = log_mel(recorded(respeeded(sound, factor)[:length], others, rng))
    if rng.random() < MASKED:
        low = rng.integers(BANDS - MASK)
        mel[low : low + rng.integers(1, MASK + 1)] = mel.mean()
    place = np.round((first + (np.arange(CROP) + 0.5) * SAMPLES / factor) * GRID / SR - 0.5).astype(int)
    inside = (place >= 0) & (place < len(chosen.labels))
    at = np.clip(place, 0, len(chosen.labels) - 1)
    labels = np.where(inside, chosen.labels[at], SILENCE)
    return (
        mel,
        labels,
        np.where(inside, chosen.mouth[:, at], np.array([[0.0], [0.0], [1.0]])).astype(np.float32),
    )
