"""Generate speech whose phone times are known, with the default voice engine's graph.

    python -m training.phones.synthesise FOLDER --minutes 60 [--seed N]

Every clip is one sentence of ``texts/`` (a quarter of them with the words shuffled, so that words do not come in fixed
company), said by a stock voice or a blend of two at a random pace and pitch. A file of ``FOLDER`` holds a few clips;
more runs with other seeds add to them. Phone times are the graph's own durations, as ``voice.kokoro.times`` reads them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.audio import resample
from pipelines.phones.features import SR
from pipelines.settings import Settings
from pipelines.types import Phone
from pipelines.voice.kokoro import durations, times
from pipelines.voice.kokoro.graph import SR as KOKORO_SR
from pipelines.voice.kokoro.graph import Curves, Graph
from pipelines.voice.kokoro.line import Line, lines
from pipelines.voice.kokoro.packs import Packs, load, native_language

TEXTS = Path(__file__).parent / "texts"
SHARE = {"en": 0.26, "zh": 0.24, "es": 0.16, "fr": 0.08, "it": 0.06, "pt": 0.06, "hi": 0.06, "ja": 0.08}
SHUFFLED = 0.25
UNSPACED = ("zh", "ja")
NATIVE, BLENDED = 0.6, 0.5  # of the clips: said by a native voice; by a blend with any other
PACE, PITCH = (0.75, 1.25), (0.8, 1.25)
CLIPS_A_FILE = 20
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Clip:
    """Sound at 16 kHz and the phones in it; silence is what no phone covers."""

    samples: npt.NDArray[np.int16]
    phones: tuple[Phone, ...]
    language: str


def texts() -> dict[str, list[str]]:
    """The sentences of every language."""
    return {code: (TEXTS / f"{code}.txt").read_text("utf-8").split("\n")[:-1] for code in SHARE}


def sentence(written: list[str], language: str, rng: np.random.Generator) -> str:
    """One of the sentences, now and then with its words in disorder."""
    text = written[rng.integers(len(written))]
    if language in UNSPACED or rng.random() > SHUFFLED:
        return text
    words = text.split()
    return " ".join(words[place] for place in rng.permutation(len(words)))


def style(packs: Packs, language: str, rng: np.random.Generator) -> Floats:
    """A stock voice or a blend of two, float32 (510, 256)."""
    native = [name for name in packs.names if native_language(name) == language]
    names = native if rng.random() < NATIVE else list(packs.names)
    chosen = packs.style(names[rng.integers(len(names))])
    if rng.random() < BLENDED:
        other = packs.style(packs.names[rng.integers(len(packs.names))])
        part = rng.uniform(0, 0.6)
        chosen = ((1 - part) * chosen + part * other).astype(np.float32)
    return chosen


def said(graph: Graph, line: Line, voice: Floats, language: str, rng: np.random.Generator) -> Clip:
    """One line spoken at a random pace and pitch."""
    plan = graph.plan(line.symbols, voice[min(len(line.symbols), len(voice)) - 1])
    total = float(durations.natural(plan.lengths).sum())
    frames = durations.fit(plan.lengths, line.symbols, round(total * (rng.uniform(*PACE) - 1)))
    curves = graph.curves(plan, frames)
    phones = times.phones(line.symbols, frames, curves.energy)
    moved = Curves((curves.pitch * rng.uniform(*PITCH)).astype(np.float32), curves.energy)
    samples = resample(graph.sound(plan, frames, moved), KOKORO_SR, SR)
    return Clip((np.clip(samples, -1, 1) * 32767).astype(np.int16), phones, language)


def clips(settings: Settings, seed: int) -> Iterator[Clip]:
    """Clips without end."""
    rng = np.random.default_rng(seed)
    graph = Graph(settings.weights / "kokoro", settings.cache, threads=1)
    packs, written = load(settings.weights / "kokoro" / "voices"), texts()
    codes, shares = list(SHARE), np.array(list(SHARE.values()))
    while True:
        language = codes[rng.choice(len(codes), p=shares / shares.sum())]
        voice = style(packs, language, rng)
        for line in lines(sentence(written[language], language, rng), language):
            yield said(graph, line, voice, language, rng)


def save(path: Path, made: list[Clip]) -> None:
    """Write clips as arrays; symbols are joined by blanks."""
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    for number, clip in enumerate(made):
        arrays[f"{number}.samples"] = clip.samples
        arrays[f"{number}.times"] = np.array([(p.start, p.end) for p in clip.phones], np.float32)
        arrays[f"{number}.symbols"] = np.array(" ".join(p.symbol for p in clip.phones))
        arrays[f"{number}.language"] = np.array(clip.language)
    part = path.with_suffix(".part.npz")
    np.savez(part, **arrays)
    part.rename(path)


def read(path: Path) -> list[Clip]:
    """The clips of one file."""
    found = []
    with np.load(path) as arrays:
        for number in range(len(arrays.files) // 4):
            symbols = str(arrays[f"{number}.symbols"]).split(" ")
            spans = arrays[f"{number}.times"].tolist()
            phones = tuple(Phone(a, b, symbol) for (a, b), symbol in zip(spans, symbols, strict=True))
            found.append(Clip(arrays[f"{number}.samples"], phones, str(arrays[f"{number}.language"])))
    return found


def main() -> None:
    """Fill a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=60.0, help="of speech")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    made: list[Clip] = []
    seconds, number, began = 0.0, 0, time.monotonic()
    for clip in clips(Settings.load(), asked.seed):
        made.append(clip)
        seconds += len(clip.samples) / SR
        if len(made) == CLIPS_A_FILE:
            save(asked.folder / f"{asked.seed:03}-{number:04}.npz", made)
            made, number = [], number + 1
            print(f"{seconds / 60:.1f} min of speech after {(time.monotonic() - began) / 60:.1f} min")
        if seconds >= asked.minutes * 60:
            break
    if made:
        save(asked.folder / f"{asked.seed:03}-{number:04}.npz", made)


if __name__ == "__main__":
    main()
