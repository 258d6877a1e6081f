"""Step 1: what is said in the video, and when."""

from __future__ import annotations

from pipelines.artifacts import options_key, run_stage
from pipelines.asr import RECOGNIZERS, RecognitionOptions, sentences
from pipelines.dub.run import DubRun
from pipelines.errors import Message, NoSpeech
from pipelines.progress import OneStage
from pipelines.records import load_transcript, save_transcript
from pipelines.types import Transcript

TRANSCRIPT = "transcript.json"


def listen(run: DubRun) -> Transcript:
    """Transcribe the video's speech into sentence-like lines with word times.

    Raises:
        NoSpeech: nobody speaks. NoSoundTrack: the video has no sound.
    """
    asked = run.options
    key = options_key(
        source=run.source_hash, engine=asked.asr_engine, language=asked.source_language, stream=asked.stream
    )

    def make() -> None:
        recognizer = RECOGNIZERS.get(asked.asr_engine, run.context)
        wanted = RecognitionOptions(language=asked.source_language, stream=asked.stream)
        heard = recognizer.recognize(asked.input, wanted, OneStage(run.report, "listen"))
        found = tuple(sentences.lines(heard.segments, heard.language))
        save_transcript(run.folder / TRANSCRIPT, Transcript(heard.language, found))

    run_stage(run.folder, "listen", key, [TRANSCRIPT], make)
    transcript = load_transcript(run.folder / TRANSCRIPT)
    if not transcript.segments:
        raise NoSpeech(
            Message("Nobody speaks in this video", "视频中没有人说话"),
            Message("Choose another sound track or another video.", "请选择其他音轨或其他视频。"),
            asked.input.name,
        )
    return transcript
