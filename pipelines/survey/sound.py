"""How much is spoken, in which language, how clean, and whether music plays: from stretches spread over the sound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.asr import RECOGNIZERS, RecognitionOptions
from pipelines.asr.hearing import find_speech
from pipelines.errors import PipelineError
from pipelines.media import load_sound
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.survey.music import RATE, standing_tones

WHOLE = 90.0  # seconds of sound that are heard as a whole
STRETCHES, STRETCH = 5, 15.0  # of a longer one
LANGUAGE_SECONDS = 30.0
LEAST_SPEECH = 1.0  # seconds from which on a language can be told
SURE = 0.5  # probability from which on the language is said
QUIETEST = 0.1  # seconds of sound whose level is one value

Ranges = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Heard:
    """What the sampled sound holds.

    Attributes:
        looked: seconds that were heard. speech: share of them with speech. begins: second at which the first speech
            that was heard begins, None without any.
        language: ISO 639-1 code, None when it cannot be told. music: share of the time with standing tones.
        noise: level between the words under that of the words, in dB; None without pauses.
    """

    looked: float
    speech: float
    begins: float | None
    language: str | None
    music: float
    noise: float | None


def ranges_of(duration: float) -> Ranges:
    """The stretches of a sound that are heard, in seconds."""
    if duration <= WHOLE:
        return [(0.0, duration)]
    starts = np.linspace(0.0, duration - STRETCH, STRETCHES)
    return [(float(start), float(start) + STRETCH) for start in starts]


def hear(path: Path, duration: float, stream: int | None, context: EngineContext, report: Report) -> Heard:
    """Listen to stretches of a sound track.

    Raises:
        NoSoundTrack, MediaError: it cannot be heard.
    """
    spoken: dict[tuple[float, float], Ranges] = {}
    tones, loud, quiet = [], [], []
    for start, end in ranges_of(duration):
        asked = RecognitionOptions(stream=stream, start=start, end=end)
        spans = find_speech(path, asked, context.settings, report).spans
        spoken[start, end] = [(start + first, start + last) for first, last in spans]
        samples = load_sound(path, context.settings, sr=RATE, stream=stream, start=start, end=end).samples
        tones.append(standing_tones(samples))
        levels, inside = _levels(samples, list(spans))
        loud.append(levels[inside])
        quiet.append(levels[~inside])
    seconds = {span: sum(b - a for a, b in found) for span, found in spoken.items()}
    looked = sum(end - start for start, end in spoken)
    fullest = max(seconds, key=lambda span: seconds[span])
    return Heard(
        looked=looked,
        speech=round(min(sum(seconds.values()) / looked, 1.0), 3) if looked else 0.0,
        begins=next((found[0][0] for found in spoken.values() if found), None),
        language=_language(path, stream, spoken[fullest], context, report)
        if seconds[fullest] >= LEAST_SPEECH
        else None,
        music=round(float(np.mean(tones)), 3),
        noise=_under(np.concatenate(loud), np.concatenate(quiet)),
    )


def _language(
    path: Path, stream: int | None, spans: Ranges, context: EngineContext, report: Report
) -> str | None:
    """The language that is spoken in the first half minute of a stretch's speech; nothing of it is written down."""
    end = min(spans[-1][1], spans[0][0] + LANGUAGE_SECONDS)
    asked = RecognitionOptions(stream=stream, start=spans[0][0], end=end)
    try:
        heard = RECOGNIZERS.get(RECOGNIZERS.infos()[0].name, context).recognize(path, asked, report)
    except PipelineError:  # no weights yet: the dub itself will say so
        return None
    return heard.language if heard.language_probability >= SURE else None


def _levels(
    samples: npt.NDArray[np.float32], spans: Ranges
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Power of every tenth of a second, and whether it lies within speech."""
    block = int(RATE * QUIETEST)
    count = len(samples) // block
    power = (samples[: count * block].reshape(count, block) ** 2).mean(axis=1)
    middles = (np.arange(count) + 0.5) * QUIETEST
    inside = np.zeros(count, np.bool_)
    for start, end in spans:
        inside |= (middles >= start - QUIETEST) & (middles <= end + QUIETEST)
    return power, inside


def _under(loud: npt.NDArray[np.float32], quiet: npt.NDArray[np.float32]) -> float | None:
    if len(loud) < 5 or len(quiet) < 5:
        return None
    return round(float(10 * np.log10((loud.mean() + 1e-12) / (quiet.mean() + 1e-12))), 1)
