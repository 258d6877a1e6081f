"""Step 1: what is said in the video, when, and by whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.asr import RECOGNIZERS, RecognitionOptions, SpeechMap, sentences
from pipelines.diarise import find_turns, labelled
from pipelines.dub.run import DubRun
from pipelines.errors import Message, NoSpeech
from pipelines.files import read_json, write_json
from pipelines.progress import OneStage
from pipelines.records import load_transcript, save_transcript
from pipelines.speakers import speakers_of
from pipelines.types import Transcript

LISTENED, SPEECH = "listened.json", "speech.json"
TRANSCRIPT = "transcript.json"  # with who says what


def listen(run: DubRun) -> Transcript:
    """Transcribe the video's speech into sentence-like lines with word times and, where several speak, their speakers.

    Raises:
        NoSpeech: nobody speaks. NoSoundTrack: the video has no sound. OptionError: a number of speakers that cannot be.
    """
    heard = recognise(run)
    if not heard.segments:
        raise NoSpeech(
            Message("Nobody speaks in this video", "视频中没有人说话"),
            Message("Choose another sound track or another video.", "请选择其他音轨或其他视频。"),
            run.name,
        )
    return tell_apart(run, heard)


def recognise(run: DubRun) -> Transcript:
    """What is said; ``speech.json`` holds where there is speech."""
    asked = run.options
    key = options_key(
        source=run.source_hash,
        engine=asked.asr_engine,
        language=asked.source_language,
        stream=asked.stream,
        part=None if run.whole else run.span,
    )

    def make() -> None:
        recognizer = RECOGNIZERS.get(asked.asr_engine, run.context)
        wanted = recognition_options(run)
        heard = recognizer.recognize(asked.input, wanted, OneStage(run.report, "listen"))
        found = tuple(sentences.lines(heard.segments, heard.language))
        save_transcript(run.folder / LISTENED, Transcript(heard.language, found))
        write_json(run.folder / SPEECH, {"spans": heard.speech.spans, "duration": heard.speech.duration})

    run_stage(run.folder, "listen", key, [LISTENED, SPEECH], make)
    return load_transcript(run.folder / LISTENED)


def recognition_options(run: DubRun) -> RecognitionOptions:
    """What is listened to: the part that is dubbed."""
    asked = run.options
    if run.whole:
        return RecognitionOptions(language=asked.source_language, stream=asked.stream)
    start, end = run.span
    return RecognitionOptions(language=asked.source_language, stream=asked.stream, start=start, end=end)


def tell_apart(run: DubRun, heard: Transcript) -> Transcript:
    """The transcript with speakers S1, S2… and lines parted where another begins; none where one person speaks."""
    asked = run.options
    key = options_key(
        heard=fingerprint(run.folder / LISTENED),
        source=run.source_hash,
        stream=asked.stream,
        speakers=asked.speakers,
    )

    def make() -> None:
        segments = heard.segments
        if asked.speakers != 1:
            record = read_json(run.folder / SPEECH)
            spans = tuple((float(start), float(end)) for start, end in record["spans"])
            speech = SpeechMap(np.zeros(0, np.float32), spans, record["duration"])
            wanted = recognition_options(run)
            showing = OneStage(run.report, "listen")
            turns = find_turns(asked.input, wanted, speech, run.context.settings, showing, asked.speakers)
            segments = labelled(segments, turns, heard.language)
        if len(speakers_of(segments)) < 2:
            segments = tuple(replace(segment, speaker=None) for segment in heard.segments)
        save_transcript(run.folder / TRANSCRIPT, Transcript(heard.language, segments))

    run_stage(run.folder, "speakers", key, [TRANSCRIPT], make)
    return load_transcript(run.folder / TRANSCRIPT)
