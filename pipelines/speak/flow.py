"""The flow ``speak``: a text in the voice of a recording, of a saved voice or of a stock voice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines import glossary, subtitles
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.cues import CueRules, cues
from pipelines.errors import InputError, Message, OptionError
from pipelines.files import read_json, write_json
from pipelines.languages import language_name
from pipelines.progress import OneStage, Report
from pipelines.records import save_speech_times
from pipelines.registry import EngineContext
from pipelines.sample import learn
from pipelines.sound_formats import asked_format, asked_loudness
from pipelines.speak.joining import encode, join, on_one_clock, picture, starts_of
from pipelines.speak.pieces import given, split
from pipelines.speak.saying import Saying, Spoken, facts, nothing_to_say, provenance, tags
from pipelines.text.detection import find_language
from pipelines.text.marks import written
from pipelines.types import VoiceProfile
from pipelines.voice import VOICES, VoiceEngine, choice
from pipelines.voice.library import load_profile, save_profile

FACTS, TIMES, JOINED = "speech.json", "phones.json", "joined.wav"
SUBTITLES, PROVENANCE, WAVE = "speech.srt", "provenance.json", "wave.json"


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Make ``speech.wav`` (or another format) in the job's folder.

    Options: text; pieces (the text as edited in the table: records of text, speed and pause, or None); reference (a sound
    or video file; reference_start and reference_end, seconds of it) or voice (a saved or a stock voice) or neither;
    engine; language (none: found from the text); seconds (exact length) or speed; emotion; seed; format (wav, flac, mp3,
    m4a or opus); loudness in LUFS (−16 when absent) or "off".

    Returns:
        ``audio`` (file name), ``seconds``, ``similarity`` to the reference (None without one), ``words`` with their
        times, ``pieces`` with theirs, ``voice``, ``language`` in which it was spoken, ``loudness``, ``files`` (subtitles
        and provenance), ``wave`` (facts for a picture).

    Raises:
        NoSpeech, MediaError: the reference cannot be used. InputError: nothing to say. OptionError: impossible wishes.
    """
    engine_name = options.get("engine") or "kokoro"
    _check(engine_name, options, report)
    engine = VOICES.get(engine_name, context)
    text = str(options["text"])
    language = options.get("language") or found_language(written(text), engine, report)
    voice_key = _choose_voice(folder, engine, engine_name, options, language, context, report)
    pieces = given(options["pieces"]) if options.get("pieces") else split(text)
    if not pieces:
        raise nothing_to_say(text)
    said = Saying(folder, engine, saved(folder), voice_key, language, glossary.load(context.settings))
    spoken = said.all(pieces, options, report)
    return _finished(folder, options, said, spoken, context, report)


def saved(folder: Path) -> VoiceProfile:
    """The voice in the job's folder.

    Raises:
        InputError: it is damaged.
    """
    voice = load_profile(folder, "voice")
    if voice is None:
        raise InputError(Message("The voice in the job's folder is damaged", "任务文件夹中的声音数据已损坏"))
    return voice


def _choose_voice(
    folder: Path, engine: VoiceEngine, name: str, options: dict[str, Any], language: str, context: EngineContext,
    report: Report,
) -> str:  # fmt: skip
    """Leave the voice in the folder; returns a hash of where it comes from."""
    reference = Path(options["reference"]) if options.get("reference") else None
    origin = (
        fingerprint(reference)
        if reference and reference.is_file()
        else str(reference or options.get("voice"))
    )
    part = (float(options.get("reference_start") or 0.0), options.get("reference_end") or None)
    key = options_key(engine=name, origin=origin, part=part, language="" if origin != "None" else language)

    def choose() -> None:
        if reference is not None:
            voice = learn(engine, reference, context.settings, report, start=part[0], end=part[1])
        else:
            voice = choice.find(engine, options.get("voice"), language, context.settings)
        save_profile(folder, "voice", voice)

    run_stage(folder, "reference", key, ["voice/voice.json"], choose)
    return key


def _check(engine: str, options: dict[str, Any], report: Report) -> None:
    asked_format(options)
    asked_loudness(options)
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


def found_language(text: str, engine: VoiceEngine, report: Report) -> str:
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


def _finished(
    folder: Path,
    options: dict[str, Any],
    said: Saying,
    spoken: Spoken,
    context: EngineContext,
    report: Report,
) -> dict[str, Any]:
    """Join the pieces, write the asked format with what belongs beside it; the facts are the flow's result."""
    form, lufs = asked_format(options), asked_loudness(options)
    files = [folder / name for name in spoken.files]
    key = options_key(
        pieces=[fingerprint(path) for path in files], gaps=spoken.gaps, format=form, lufs=lufs,
        texts=[piece.text for piece in spoken.pieces], version=1,
    )  # fmt: skip

    quiet = OneStage(report, "speak")  # can be stopped, and leaves the bar where it is

    def make() -> None:
        quiet.step("speak", len(files), len(files), "parts")
        join(files, spoken.gaps, folder / JOINED, lufs, form, context.settings, quiet)
        starts, _ = starts_of(files, spoken.gaps)
        phones, words = on_one_clock(spoken.times, starts)
        save_speech_times(folder / TIMES, phones, words)
        write_json(folder / FACTS, facts(folder / JOINED, said, spoken, starts, words))
        write_json(folder / PROVENANCE, provenance(options, said, form, lufs))
        segments = spoken.segments(starts)
        subtitles.write(folder / SUBTITLES, cues(segments, CueRules()), "srt")
        write_json(folder / WAVE, {
            "duration": starts_of(files, spoken.gaps)[1], "spans": [[one.start, one.end] for one in words],
            "peaks": picture(folder / JOINED),
        })  # fmt: skip
        encode(folder / JOINED, folder / f"speech.{form}", form, tags(said), context.settings, quiet)

    run_stage(folder, "join", key, [f"speech.{form}", FACTS, TIMES, SUBTITLES, PROVENANCE, WAVE], make)
    kept = {"srt": SUBTITLES, "json": PROVENANCE}
    return {"audio": f"speech.{form}", "files": kept, "wave": WAVE, **read_json(folder / FACTS)}
