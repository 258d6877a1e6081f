"""A matched voice in one language: whose sounds and rhythm it borrows there, its pitch, and its colour.

A blend that comes nearest to a speaker is made of voices that mostly never spoke the language asked for; read back, one
in six Mandarin characters of such a voice was wrong when pressed to 0.8 of its length. So in a language that is foreign to
the blend, rhythm and melody are a native voice's, and the sounds are half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.types import Audio, VoiceProfile
from pipelines.voice import pitch
from pipelines.voice.kokoro import timbre
from pipelines.voice.kokoro.graph import SR, Graph
from pipelines.voice.kokoro.line import lines
from pipelines.voice.kokoro.packs import WIDTH, Packs, native_language
from pipelines.voice.kokoro.renditions import stored
from pipelines.voice.kokoro.speech import VOICED, Draft, Tuning, draft, speak
from pipelines.voice.library import load_profile, save_profile

Floats = npt.NDArray[np.float32]

NATIVE_SOUNDS = 0.5  # share of a native voice in the sounds of a language that is foreign to the blend
AT_HOME = 0.5  # share of native voices from which a blend speaks the language by itself
SOUNDS = WIDTH // 2  # the first half of a style row sounds the voice, the second plans rhythm and melody
PITCH_RANGE = (0.5, 2.0)  # factors on a voice's pitch
NEAR_PITCH = 0.25  # octaves; a pitch that is moved farther costs more than likeness gains
STRENGTH = 1.0  # of the recolouring: the reference's whole variety of spectra
# Three everyday sentences a language, spoken once to find pitch and colour.
SENTENCES = {
    "en": (
        "Bright morning air moved over the old stone bridge.",
        "Can you tell me when the next train leaves?",
        "We stayed at home because it rained the whole day.",
    ),
    "es": (
        "El aire fresco de la mañana pasaba sobre el viejo puente de piedra.",
        "¿Puedes decirme cuándo sale el próximo tren?",
        "Nos quedamos en casa porque llovió todo el día.",
    ),
    "fr": (
        "L'air frais du matin passait sur le vieux pont de pierre.",
        "Peux-tu me dire quand part le prochain train ?",
        "Nous sommes restés à la maison, car il a plu toute la journée.",
    ),
    "hi": (
        "सुबह की ठंडी हवा पुराने पत्थर के पुल पर बह रही थी।",
        "क्या आप बता सकते हैं कि अगली ट्रेन कब जाएगी?",
        "हम घर पर रहे क्योंकि पूरे दिन बारिश हुई।",
    ),
    "it": (
        "L'aria fresca del mattino passava sopra il vecchio ponte di pietra.",
        "Puoi dirmi quando parte il prossimo treno?",
        "Siamo rimasti a casa perché ha piovuto tutto il giorno.",
    ),
    "ja": (
        "朝の涼しい風が、古い石の橋を渡っていった。",
        "次の電車はいつ出るか教えてくれますか。",
        "一日中雨が降ったので、家にいました。",
    ),
    "pt": (
        "O ar fresco da manhã passava sobre a velha ponte de pedra.",
        "Você pode me dizer quando sai o próximo trem?",
        "Ficamos em casa porque choveu o dia todo.",
    ),
    "zh": (
        "清晨的凉风吹过古老的石桥。",
        "你能告诉我下一班火车什么时候开吗？",
        "因为下了一整天的雨，我们就待在家里。",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Speaker:
    """What is to be matched of a person: colour, pitch, and how far the recording lets the colour be copied.

    bandwidth: Hz; limit: dB that the long-term gain may reach.
    """

    colour: timbre.Colour
    pitch: pitch.Pitch | None
    bandwidth: float
    limit: float


@dataclass(frozen=True, slots=True)
class Accent:
    """How a voice speaks one language: style rows float32 (510, 256), tuning, and what is done to its colour."""

    style: Floats
    tuning: Tuning
    change: timbre.Recolouring | None


def is_matched(voice: VoiceProfile) -> bool:
    """Whether a voice holds all that is needed to give it an accent (stock voices do not)."""
    return {"shares", "mean", "centre", "spread"} <= voice.arrays.keys()


def speaker_of(voice: VoiceProfile) -> Speaker:
    """The person a matched voice was learnt from."""
    arrays, median = voice.arrays, _number(voice, "own_pitch")
    own = None if median is None else pitch.Pitch(median, _number(voice, "own_pitch_spread") or 1.0)
    colour = timbre.Colour(*(arrays[name].astype(np.float64) for name in ("mean", "centre", "spread")))
    bandwidth, limit = _number(voice, "reference_bandwidth"), _number(voice, "colour_limit")
    return Speaker(colour, own, bandwidth or SR / 2, limit or 0.0)


def _number(voice: VoiceProfile, key: str) -> float | None:
    value = voice.facts.get(key)
    return float(value) if isinstance(value, int | float) else None


def _names(voice: VoiceProfile) -> list[str]:
    """Names of the stock voices a matched voice is mixed from, in the order of its shares."""
    listed = voice.facts["packs"]
    return [entry.split()[0] for entry in listed] if isinstance(listed, list) else []


def at_home(voice: VoiceProfile, language: str) -> bool:
    """Whether native voices of the language make up enough of a blend for it to speak the language by itself."""
    shares = zip(_names(voice), voice.arrays["shares"], strict=True)
    return sum(float(share) for name, share in shares if native_language(name) == language) >= AT_HOME


def fittest_native(voice: VoiceProfile, language: str, packs: Packs) -> str | None:
    """The native stock voice of a language that is most like the speaker and near their pitch; None: there is none."""
    table, own = stored(), speaker_of(voice).pitch
    best: tuple[float, str | None] = (-np.inf, None)
    for name in packs.names:
        place = table.place(name)
        if native_language(name) != language or place is None:
            continue
        away = abs(float(np.log2(table.pitches[place] / own.median))) if own else 0.0
        likeness = float(table.vectors[place] @ voice.arrays["vector"])
        best = max(best, (likeness - 2 * max(0.0, away - NEAR_PITCH), name), key=lambda one: one[0])
    return best[1]


def style_in(voice: VoiceProfile, language: str, packs: Packs) -> Floats:
    """Style rows, float32 (510, 256), of a matched voice in a language, with what it borrows from a native voice."""
    blend: Floats = voice.arrays["style"]
    name = None if at_home(voice, language) else fittest_native(voice, language, packs)
    if name is None:
        return blend
    native = packs.style(name)
    sounds = (1 - NATIVE_SOUNDS) * blend[:, :SOUNDS] + NATIVE_SOUNDS * native[:, :SOUNDS]
    return np.asarray(np.concatenate([sounds, native[:, SOUNDS:]], axis=1), np.float32)


def accent(graph: Graph, packs: Packs, voice: VoiceProfile, language: str) -> Accent:
    """How a matched voice speaks a language: sentences are spoken in it and compared with the speaker."""
    speaker, style = speaker_of(voice), style_in(voice, language, packs)
    planned = plan(graph, style, language)
    tuning = tuning_to(planned, speaker.pitch)
    said = spoken(graph, planned, tuning)
    return Accent(style, heard_right(tuning, said, speaker.pitch), change_to(speaker, said))


def plan(graph: Graph, style: Floats, language: str) -> list[Draft]:
    """The language's sentences in a style, as they are without any tuning."""
    texts = SENTENCES.get(language, SENTENCES["en"])
    return [draft(graph, lines(text, language)[0], style, Tuning()) for text in texts]


def spoken(graph: Graph, planned: Sequence[Draft], tuning: Tuning) -> Floats:
    """Planned lines spoken one after the other with a tuning, float32 at 24 kHz."""
    return np.concatenate([speak(graph, replace(one, tuning=tuning), None).samples for one in planned])


def change_to(speaker: Speaker, said: Floats) -> timbre.Recolouring:
    """What brings the colour of a voice, heard in ``said``, to a speaker's."""
    own = timbre.colour(said)
    return timbre.recolouring(own, speaker.colour, speaker.bandwidth, speaker.limit, STRENGTH)


def heard_right(tuning: Tuning, said: Floats, wanted: pitch.Pitch | None) -> Tuning:
    """The tuning with its pitch set half way right by what was heard.

    The graph's curve counts the creak at the end of a phrase, the ear (and the measure of the reference) does not: the two
    medians lie up to three semitones apart, in each voice otherwise. Both are measured on a few seconds, hence half way.
    """
    heard = pitch.measure(Audio(said, SR))
    if heard is None or wanted is None:
        return tuning
    factor = tuning.pitch * np.sqrt(wanted.median / heard.median)
    return replace(tuning, pitch=float(np.clip(factor, *PITCH_RANGE)))


def _voiced(planned: Sequence[Draft]) -> Floats:
    curves = np.concatenate([one.curves.pitch for one in planned])
    return np.asarray(curves[curves > VOICED], np.float32)


def tuning_to(planned: Sequence[Draft], wanted: pitch.Pitch | None) -> Tuning:
    """Pitch and liveliness that bring planned lines to a speaker's median and spread."""
    voiced = _voiced(planned)
    if wanted is None or not len(voiced):
        return Tuning()
    median = float(np.median(voiced))
    low, high = np.percentile(12 * np.log2(voiced / median), (16, 84))
    lively = float(np.clip(wanted.spread / max((high - low) / 2, 0.5), 0.8, 1.2))
    return Tuning(float(np.clip(wanted.median / median, *PITCH_RANGE)), lively)


def save_accent(folder: Path, key: str, found: Accent) -> None:
    """Keep an accent below ``folder``: it takes several seconds to find."""
    change = found.change
    arrays = {"style": found.style}
    facts: dict[str, str | float | int | bool | list[str]] = {
        "pitch": found.tuning.pitch,
        "liveliness": found.tuning.liveliness,
    }
    if change is not None:
        arrays |= {"gain": change.gain, "centre": change.centre, "matrix": change.matrix}
        facts["reach"] = change.reach
    save_profile(folder, key, VoiceProfile("kokoro", key, arrays, facts))


def load_accent(folder: Path, key: str) -> Accent | None:
    """A kept accent; None when it is not there or damaged."""
    kept = load_profile(folder, key)
    if kept is None or "style" not in kept.arrays:
        return None
    tuning = Tuning(_number(kept, "pitch") or 1.0, _number(kept, "liveliness") or 1.0)
    reach = _number(kept, "reach")
    if reach is None:
        return Accent(kept.arrays["style"], tuning, None)
    change = timbre.Recolouring(kept.arrays["gain"], kept.arrays["centre"], kept.arrays["matrix"], reach)
    return Accent(kept.arrays["style"], tuning, change)
