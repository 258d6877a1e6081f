"""The flow ``speak``: a text in the voice of a recording, of a saved voice or of a stock voice."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipelines import glossary
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.backend.outputs import check_sound
from pipelines.errors import InputError, Message, OptionError
from pipelines.files import read_json, write_json
from pipelines.languages import language_name
from pipelines.progress import Report
from pipelines.records import save_speech_times
from pipelines.registry import EngineContext
from pipelines.sample import learn
from pipelines.text.detection import find_language
from pipelines.text.marks import written
from pipelines.voice import VOICES, SpeakOptions, VoiceEngine, choice
from pipelines.voice.library import load_profile, save_profile

SOUND, FACTS, TIMES = "speech.wav", "speech.json", "phones.json"


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Make ``speech.wav`` in the job's folder.

    Options: text; reference (a sound or video file; reference_start and reference_end, seconds of it) or voice (a saved
    or a stock voice) or neither; engine; language (none: found from the text); seconds (exact length) or speed; emotion;
    seed.

    Returns:
        ``audio`` (file name), ``seconds``, ``similarity`` to the reference (None without one), ``words`` with their
        times, ``voice``, ``language`` in which it was spoken.

    Raises:
        NoSpeech, MediaError: the reference cannot be used. InputError: nothing to say. OptionError: impossible wishes.
    """
    engine_name = options.get("engine") or "kokoro"
    _check(engine_name, options, report)
    engine = VOICES.get(engine_name, context)
    language = options.get("language") or _found_language(written(str(options["text"])), engine, report)
    options = {**options, "text": glossary.marked(str(options["text"]), glossary.load(context.settings))}
    reference = Path(options["reference"]) if options.get("reference") else None
    origin = (
        fingerprint(reference)
        if reference and reference.is_file()
        else str(reference or options.get("voice"))
    )
    part = (float(options.get("reference_start") or 0.0), options.get("reference_end") or None)
    voice_key = options_key(
        engine=engine_name, origin=origin, part=part, language="" if origin != "None" else language
    )

    def choose() -> None:
        if reference is not None:
            voice = learn(engine, reference, context.settings, report, start=part[0], end=part[1])
        else:
            voice = choice.find(engine, options.get("voice"), language, context.settings)
        save_profile(folder, "voice", voice)

    run_stage(folder, "reference", voice_key, ["voice/voice.json"], choose)
    asked = {name: options.get(name) for name in ("text", "seconds", "speed", "emotion", "seed")}
    spoken_key = options_key(voice=voice_key, language=language, **asked)

    def say() -> None:
        _say(folder, engine, options, language, report)

    run_stage(folder, "speak", spoken_key, [SOUND, FACTS, TIMES], say)
    return {"audio": SOUND, **read_json(folder / FACTS)}


def _check(engine: str, options: dict[str, Any], report: Report) -> None:
    if not str(options.get("text") or "").strip():
        raise InputError(
            Message("There is no text to speak", "没有要朗读的文字"),
            Message("Write something.", "请输入文字。"),
        )
    if options.get("reference") and options.get("voice"):
        raise OptionError(
            Message("Both a reference and a voice were given", "同时指定了参考音频和声音"),
            Message("Give one of the two.", "请只指定其中一个。"),
        )
    features = VOICES.info(engine).features
    if options.get("emotion") and "emotion" not in features:
        report.note(
            Message(
                f"The engine {engine} speaks without set emotions: the wish {options['emotion']!r} was left out",
                f"引擎 {engine} 不支持情绪设置,已忽略 {options['emotion']!r}",
            ),
            "warning",
        )
    if options.get("seed") and "takes" not in features:
        report.note(
            Message(
                f"The engine {engine} says a text the same way every time: the seed {options['seed']} has no effect",
                f"引擎 {engine} 每次的读法都相同:种子 {options['seed']} 不起作用",
            ),
            "warning",
        )


def _found_language(text: str, engine: VoiceEngine, report: Report) -> str:
    """The language of the text, told to the user, who may know better."""
    found = find_language(text, engine.languages())
    name = language_name(found.code)
    if found.sure:
        report.note(Message(f"The text was taken for {name.en}", f"文字被识别为{name.zh}"))
    else:
        report.note(
            Message(
                f"The text was taken for {name.en}, but it is too short to be sure: choose the language if that is wrong",
                f"文字被识别为{name.zh},但内容太短、无法确定:如有误请自行选择语言",
            ),
            "warning",
        )
    return found.code


def _say(folder: Path, engine: VoiceEngine, options: dict[str, Any], language: str, report: Report) -> None:
    from pipelines.media import save_audio
    from pipelines.voice.dvector import embed

    voice = load_profile(folder, "voice")
    if voice is None:
        raise InputError(Message("The voice in the job's folder is damaged", "任务文件夹中的声音数据已损坏"))
    seconds = options.get("seconds")
    wishes = SpeakOptions(
        seconds=float(seconds) if seconds else None,
        speed=float(options.get("speed") or 1.0),
        seed=int(options.get("seed") or 0),
    )
    speech = engine.speak(str(options["text"]), language, voice, wishes, report)
    check_sound(speech.audio, str(options["text"]))
    save_audio(folder / SOUND, speech.audio)
    save_speech_times(folder / TIMES, speech.phones, speech.words)
    wanted = voice.arrays.get("vector")
    alike = None if wanted is None else round(float(embed(speech.audio) @ wanted), 3)
    facts = {
        "seconds": speech.audio.duration,
        "similarity": alike,
        "voice": voice.name,
        "language": language,
        "words": [asdict(word) for word in speech.words],
    }
    write_json(folder / FACTS, facts)
