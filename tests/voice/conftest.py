"""One engine for all voice tests: cutting and loading the graph once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.backend.policy import Policy
from pipelines.media import load_sound
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import Audio
from pipelines.voice.kokoro import Kokoro


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> EngineContext:
    """Real weights, everything else in a new folder that the voice tests share."""
    home = tmp_path_factory.mktemp("voice")
    folders = {name: home / name for name in ("outputs", "jobs", "cache", "logs")}
    return EngineContext(replace(Settings.load(), **folders), Policy(threads=2))


@pytest.fixture(scope="session")
def engine(context: EngineContext) -> Kokoro:
    """The real engine."""
    return Kokoro(context)


@pytest.fixture(scope="session")
def man(data: Path, context: EngineContext) -> Audio:
    """11 s of a man talking, as the flow loads a reference."""
    return load_sound(data / "speech" / "en_jfk.flac", context.settings, sr=48000)


@pytest.fixture(scope="session")
def woman(data: Path, context: EngineContext) -> Audio:
    """9.6 s of a woman reading."""
    return load_sound(data / "speech" / "en_lj_0001.flac", context.settings, sr=22050)


def heard(audio: Audio, below_db: float = 45.0) -> tuple[float, float]:
    """Start and end in seconds of what is louder than so much below the loudest 5 ms."""
    hop = audio.sr // 200
    count = len(audio.samples) // hop
    power: npt.NDArray[np.float64] = (
        audio.samples[: count * hop].reshape(count, hop).astype(np.float64) ** 2
    ).mean(axis=1)
    loud = np.flatnonzero(power > power.max() * 10 ** (-below_db / 10))
    return loud[0] * hop / audio.sr, (loud[-1] + 1) * hop / audio.sr
