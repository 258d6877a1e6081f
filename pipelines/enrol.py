"""The flow ``enrol``: a voice is learnt from a sample, says a sentence as its preview, and is kept in the library."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.artifacts import fingerprint
from pipelines.errors import Message, OptionError
from pipelines.media import save_audio
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.sample import learn
from pipelines.types import VoiceProfile
from pipelines.voice import VOICES, SpeakOptions
from pipelines.voice.library import PREVIEW, save_voice

SENTENCES = {
    "en": "This is how I sound. Every word you write, I can say.",
    "zh": "我的声音听起来就是这样。您写下的每个字，我都能说出来。",
    "es": "Así suena mi voz. Puedo decir cada palabra que escribas.",
    "fr": "Voici comment je parle. Je peux dire chaque mot que vous écrivez.",
    "it": "Questa è la mia voce. Posso dire ogni parola che scrivi.",
    "pt": "É assim que eu falo. Posso dizer cada palavra que você escrever.",
    "ja": "私の声はこんな感じです。書かれた言葉を何でも読み上げます。",
    "hi": "मेरी आवाज़ ऐसी है। आप जो भी लिखें, मैं बोल सकता हूँ।",
}


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Learn a voice and keep it.

    Options: reference (a sound or video file; reference_start and reference_end, seconds of it), name, language (of the
    preview), tags (list), consent (must be true), engine.

    Returns:
        ``voice`` (its name in the library), ``audio`` (the preview), ``similarity`` to the sample.

    Raises:
        NoSpeech, MediaError: the sample cannot be used. OptionError: consent was not given.
    """
    if options.get("consent") is not True:
        raise OptionError(
            Message("You have not said that you may use this voice", "尚未确认您有权使用此声音"),
            Message("A voice is kept only with that.", "确认后才能保存声音。"),
        )
    engine = VOICES.get(str(options.get("engine") or "kokoro"), context)
    reference = Path(str(options["reference"]))
    start, end = float(options.get("reference_start") or 0.0), options.get("reference_end")
    learnt = learn(engine, reference, context.settings, report, start=start, end=end)
    language = str(options.get("language") or "en")
    profile = _with_provenance(learnt, options, language, reference)
    speech = engine.speak(SENTENCES.get(language, SENTENCES["en"]), language, profile, SpeakOptions(), report)
    save_audio(folder / PREVIEW, speech.audio)
    place = save_voice(context.settings.outputs / "voices", profile)
    save_audio(place / PREVIEW, speech.audio)
    return {"voice": place.name, "audio": PREVIEW, "similarity": profile.facts.get("similarity")}


def _with_provenance(
    learnt: VoiceProfile, options: dict[str, Any], language: str, reference: Path
) -> VoiceProfile:
    """The voice under its name, with where it comes from and that it may be used."""
    facts = {
        **learnt.facts,
        "language": language,
        "tags": [str(tag) for tag in options.get("tags") or ()],
        "consent": True,
        "created": time.strftime("%Y-%m-%d"),
        "source": reference.name,
        "source_sha256": fingerprint(reference),
    }
    return replace(learnt, name=str(options.get("name") or "").strip() or reference.stem, facts=facts)
