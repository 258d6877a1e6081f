"""From a reference recording to a voice: the blend of stock voices, pitch and colour that sounds most like it.

This is voice matching, not cloning: the result is a mixture of the stock voices with the speaker's pitch and colour.
Candidates are first ranked without making a sound, on stored renditions of every stock voice with their spectrum brought
to the reference's; the best blends are then spoken, recoloured and compared by the d-vector encoder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.errors import Message
from pipelines.progress import Report
from pipelines.types import Audio, VoiceProfile
from pipelines.voice import dvector, pitch, reference
from pipelines.voice.kokoro import spectrum, timbre
from pipelines.voice.kokoro.accent import Speaker, change_to, plan, spoken, tuning_to
from pipelines.voice.kokoro.graph import SR, Graph
from pipelines.voice.kokoro.packs import Packs
from pipelines.voice.kokoro.renditions import stored
from pipelines.voice.library import load_profile, save_profile

Floats = npt.NDArray[np.float32]

METHOD = 2  # raised when the method changes, so that cached matches are made anew
PITCH_REACH = 0.45  # octaves a voice's pitch may be moved; farther, it sounds processed
LOOKED_AT = 16  # stock voices compared with the reference's spectrum on them (the encoder is not cheap)
# What a user sees while a voice is learnt: the recording is searched for speech, measured, and three blends are tried.
STAGE, LOOKING_STEPS, STEPS = "voice", 2, 5


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be matched: the speaker, their d-vector, and their long-term spectrum in dB per band."""

    speaker: Speaker
    vector: Floats
    envelope: Floats


@dataclass(frozen=True, slots=True)
class Trial:
    """A blend as it was spoken, and how like the reference it is."""

    weights: Floats
    similarity: float


def _target(heard: reference.Reference) -> Target:
    # Noise colours the spectrum too: the noisier the reference, the less of its colour is copied.
    limit = float(np.interp(heard.snr, (8, 25), (4, 12)))
    speaker = Speaker(timbre.colour(heard.speech), pitch.measure(heard.audio), heard.bandwidth, limit)
    return Target(speaker, dvector.embed(heard.audio), spectrum.envelope(heard.speech))


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
        gain = spectrum.correction(
            table.envelopes[place], target.envelope, target.speaker.bandwidth, target.speaker.limit
        )
        vectors[index] = dvector.embed_features(table.features(place) + _to_mel(gain))
        scores[index] = float(vectors[index] @ target.vector) - reach[index]
    return sorted(scores, key=lambda index: -scores[index]), vectors


def _out_of_reach(target: Target, median: float) -> float:
    """What a voice loses for a pitch that has to be moved by more than half the reach."""
    if target.speaker.pitch is None:
        return 0.0
    return 0.5 * max(0.0, abs(float(np.log2(target.speaker.pitch.median / median))) - PITCH_REACH / 2)


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


def attempt(graph: Graph, packs: Packs, weights: Floats, target: Target) -> Trial:
    """Speak a sentence in a blend, bring its pitch and colour to the reference's and compare."""
    style = np.tensordot(weights, packs.styles, 1).astype(np.float32)
    planned = plan(graph, style, "en")
    said = spoken(graph, planned[:1], tuning_to(planned, target.speaker.pitch))
    coloured = timbre.recoloured(said, change_to(target.speaker, said))
    return Trial(weights, float(dvector.embed(Audio(coloured, SR)) @ target.vector))


def match(graph: Graph, packs: Packs, target: Target, report: Report) -> Trial:
    """The best of the blends worth trying, each spoken once."""
    order, vectors = rank(target, packs)
    trials: list[Trial] = []
    for done, weights in enumerate(blends(order, vectors, target), start=LOOKING_STEPS):
        report.step(STAGE, done, STEPS, "steps")
        trials.append(attempt(graph, packs, weights, target))
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
    speaker = target.speaker
    own = (
        {}
        if speaker.pitch is None
        else {"own_pitch": speaker.pitch.median, "own_pitch_spread": speaker.pitch.spread}
    )
    return VoiceProfile(
        "kokoro",
        name,
        {
            "style": np.tensordot(best.weights, packs.styles, 1).astype(np.float32),
            "shares": best.weights[used].astype(np.float32),
            "vector": target.vector,
            "mean": speaker.colour.mean.astype(np.float32),
            "centre": speaker.colour.centre.astype(np.float32),
            "spread": speaker.colour.spread.astype(np.float32),
        },
        {
            "packs": [f"{packs.names[index]} {best.weights[index]:.2f}" for index in used],
            **own,
            "similarity": best.similarity,
            "colour_limit": speaker.limit,
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
