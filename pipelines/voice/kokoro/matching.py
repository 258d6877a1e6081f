"""From a reference recording to a voice: the blend of stock voices, pitch and spectrum that sounds most like it.

This is voice matching, not cloning: the result is a mixture of the stock voices with the speaker's pitch and colour.
Candidates are first ranked without making a sound, on stored renditions of every stock voice with their spectrum brought
to the reference's; the best blends are then spoken, equalised and compared by the d-vector encoder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.errors import Message
from pipelines.progress import Report
from pipelines.types import Audio, VoiceProfile
from pipelines.voice import dvector, pitch, reference
from pipelines.voice.kokoro import spectrum
from pipelines.voice.kokoro.graph import SR, Graph
from pipelines.voice.kokoro.line import Line, lines
from pipelines.voice.kokoro.packs import Packs
from pipelines.voice.kokoro.speech import Tuning, draft, median_pitch, speak
from pipelines.voice.library import load_profile, save_profile

Floats = npt.NDArray[np.float32]

METHOD = 1  # raised when the method changes, so that cached matches are made anew
PHRASE = "Bright morning air moved over the old stone bridge."
PITCH_REACH = 0.45  # octaves a voice's pitch may be moved; farther, it sounds processed
MIDDLE = 120  # frames of a stored rendition that are compared: two windows of the encoder
LOOKED_AT = (
    16  # stock voices compared with their spectrum brought to the reference's (the encoder is not cheap)
)
# What a user sees while a voice is learnt: the recording is searched for speech, measured, and three blends are tried.
STAGE, LOOKING_STEPS, STEPS = "voice", 2, 5


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be matched: d-vector, spectrum in dB per band, bandwidth, most gain allowed, pitch."""

    vector: Floats
    envelope: Floats
    bandwidth: float
    limit: float
    pitch: pitch.Pitch | None


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate as it was spoken."""

    weights: Floats
    tuning: Tuning
    gain: Floats
    similarity: float


@dataclass(frozen=True, slots=True)
class Stored:
    """The stock voices' renditions of ``PHRASE``, made by bench/voice_table.py.

    bands: uint8 (voices, frames, 40), log mel energies, 0 = −8, 255 = +4; frames: (voices,); envelopes: dB per band
    (voices, 48); pitches: median Hz (voices,); vectors: d-vectors as they are, float32 (voices, 256).
    """

    names: tuple[str, ...]
    bands: npt.NDArray[np.uint8]
    frames: npt.NDArray[np.int32]
    envelopes: Floats
    pitches: Floats
    vectors: Floats

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


def _target(heard: reference.Reference) -> Target:
    # Noise colours the spectrum too: the noisier the reference, the less of its colour is copied.
    limit = float(np.interp(heard.snr, (8, 25), (4, 12)))
    return Target(
        dvector.embed(heard.audio),
        spectrum.envelope(heard.speech),
        heard.bandwidth,
        limit,
        pitch.measure(heard.audio),
    )


def _to_mel(gain: Floats) -> Floats:
    """Gain in dB per band of ``spectrum`` → log10 gain per mel band of the encoder."""
    import librosa

    centres = librosa.mel_frequencies(dvector.BANDS + 2, fmin=0, fmax=dvector.SR / 2)[1:-1]
    return np.asarray(np.interp(centres, spectrum.centres(), gain) / 10, np.float32)


def rank(target: Target, packs: Packs) -> tuple[list[int], Floats]:
    """Stock voices from most to least alike, and the d-vectors (voices, 256) they have with the reference's spectrum.

    Voices whose pitch would have to be moved too far come later; only the likelier ones are looked at with care.
    """
    table = stored()
    known = [index for index, name in enumerate(packs.names) if name in table.names]
    places = {index: table.names.index(packs.names[index]) for index in known}
    reach = {index: _out_of_reach(target, table.pitches[places[index]]) for index in known}
    rough = {index: float(table.vectors[places[index]] @ target.vector) - reach[index] for index in known}
    vectors = np.zeros((len(packs.names), 256), np.float32)
    scores: dict[int, float] = {}
    for index in sorted(known, key=lambda index: -rough[index])[:LOOKED_AT]:
        place = places[index]
        gain = spectrum.correction(table.envelopes[place], target.envelope, target.bandwidth, target.limit)
        vectors[index] = dvector.embed_features(table.features(place) + _to_mel(gain))
        scores[index] = float(vectors[index] @ target.vector) - reach[index]
    return sorted(scores, key=lambda index: -scores[index]), vectors


def _out_of_reach(target: Target, median: float) -> float:
    """What a voice loses for a pitch that has to be moved by more than half the reach."""
    if target.pitch is None:
        return 0.0
    return 0.5 * max(0.0, abs(float(np.log2(target.pitch.median / median))) - PITCH_REACH / 2)


def blends(order: Sequence[int], vectors: Floats, target: Target) -> list[Floats]:
    """Weights (voices,) worth trying: the nearest, a soft mixture of three, and non-negative fits to the d-vector."""
    from scipy.optimize import nnls

    count = len(vectors)
    found = [np.eye(count, dtype=np.float32)[order[0]]]
    near = np.array(order[:3])
    likeness = vectors[near] @ target.vector
    soft = np.zeros(count, np.float32)
    soft[near] = np.exp(20 * (likeness - likeness.max()))
    found.append(soft / soft.sum())
    chosen = np.array(order[:6])
    fitted, _ = nnls(np.vstack([vectors[chosen].T, 3 * np.ones(len(chosen))]), np.append(target.vector, 3.0))
    mixed = np.zeros(count, np.float32)
    mixed[chosen] = fitted
    if mixed.sum() > 0:
        found.append(mixed / mixed.sum())
    return found


def _tuning(graph: Graph, line: Line, style: Floats, target: Target) -> Tuning:
    """Pitch and liveliness that bring a voice to the reference's median and spread."""
    plain = draft(graph, line, style, Tuning())
    median = median_pitch(plain.curves)
    if median is None or target.pitch is None:
        return Tuning()
    factor = float(np.clip(target.pitch.median / median, 0.5, 2.0))
    voiced = plain.curves.pitch[plain.curves.pitch > 30]
    low, high = np.percentile(12 * np.log2(voiced / median), (16, 84))
    lively = float(np.clip(target.pitch.spread / max((high - low) / 2, 0.5), 0.8, 1.2))
    return Tuning(factor, lively)


def attempt(graph: Graph, packs: Packs, weights: Floats, line: Line, target: Target) -> Trial:
    """Speak a phrase in a blend, bring its spectrum to the reference's and compare."""
    style = np.tensordot(weights, packs.styles, 1).astype(np.float32)
    tuning = _tuning(graph, line, style, target)
    samples = speak(graph, draft(graph, line, style, tuning), None).samples
    gain = spectrum.correction(spectrum.envelope(samples), target.envelope, target.bandwidth, target.limit)
    equal = spectrum.filtered(samples, spectrum.taps(gain))
    return Trial(weights, tuning, gain, float(dvector.embed(Audio(equal, SR)) @ target.vector))


def match(graph: Graph, packs: Packs, target: Target, report: Report) -> Trial:
    """The best of the blends worth trying, each spoken once."""
    order, vectors = rank(target, packs)
    line = lines(PHRASE, "en")[0]
    candidates = blends(order, vectors, target)
    trials: list[Trial] = []
    for done, weights in enumerate(candidates, start=LOOKING_STEPS):
        report.step(STAGE, done, STEPS, "steps")
        trials.append(attempt(graph, packs, weights, line, target))
    report.step(STAGE, STEPS, STEPS, "steps")
    return max(trials, key=lambda trial: trial.similarity)


def _key(audio: Audio, packs: Packs) -> str:
    digest = hashlib.sha256(f"{METHOD} {audio.sr} {','.join(packs.names)}".encode())
    digest.update(np.ascontiguousarray(audio.samples).tobytes())
    return digest.hexdigest()[:32]


def enroll(graph: Graph, packs: Packs, folder: Path, audio: Audio, name: str, report: Report) -> VoiceProfile:
    """Make (or fetch from ``folder``, where matches lie by the content of the recording) a voice like ``audio``'s.

    Raises:
        NoSpeech: less than 3 s of speech.
    """
    key = _key(audio, packs)
    kept = load_profile(folder, key)
    if kept is not None:
        report.step(STAGE, STEPS, STEPS, "steps")
        return VoiceProfile(kept.engine, name, kept.arrays, kept.facts)
    report.step(STAGE, 0, STEPS, "steps")
    heard = reference.prepare(audio)
    _remarks(heard, report)
    report.step(STAGE, 1, STEPS, "steps")
    target = _target(heard)
    profile = _profile(name, packs, heard, match(graph, packs, target, report), target)
    save_profile(folder, key, profile)
    return profile


def _profile(
    name: str, packs: Packs, heard: reference.Reference, best: Trial, target: Target
) -> VoiceProfile:
    used = sorted(np.flatnonzero(best.weights > 0.01), key=lambda index: -best.weights[index])
    return VoiceProfile(
        "kokoro",
        name,
        {
            "style": np.tensordot(best.weights, packs.styles, 1).astype(np.float32),
            "filter": spectrum.taps(best.gain),
            "vector": target.vector,
        },
        {
            "packs": [f"{packs.names[index]} {best.weights[index]:.2f}" for index in used],
            "pitch": best.tuning.pitch,
            "liveliness": best.tuning.liveliness,
            "formant": best.tuning.formant,
            "similarity": best.similarity,
            "reference_seconds": heard.seconds,
            "reference_snr": heard.snr,
            "reference_bandwidth": heard.bandwidth,
        },
    )


def _remarks(heard: reference.Reference, report: Report) -> None:
    """Tell the user what is wrong with the recording."""
    if heard.snr < 15:
        report.note(
            Message(
                f"The voice sample is noisy ({heard.snr:.0f} dB above the noise): a quieter one would be matched better",
                f"参考音频噪声较大(信噪比 {heard.snr:.0f} dB):更安静的录音效果更好",
            ),
            "warning",
        )
    if heard.clipped > 0.001:
        report.note(
            Message("The voice sample is clipped (recorded too loud)", "参考音频有削波(录音音量过大)"),
            "warning",
        )
    if heard.bandwidth < 5000:
        report.note(
            Message(
                "The voice sample sounds like a telephone: what lies above is taken from the stock voice",
                "参考音频频带较窄(类似电话):高频部分取自内置声音",
            )
        )
