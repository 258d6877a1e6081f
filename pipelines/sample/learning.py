"""A voice from a recording: the speech of one person in it, whatever else it holds."""

from __future__ import annotations

from pathlib import Path

from pipelines.errors import Message
from pipelines.media import load_sound
from pipelines.progress import Report
from pipelines.sample.speakers import hear, only_main
from pipelines.settings import Settings
from pipelines.types import Audio, VoiceProfile
from pipelines.voice import VoiceEngine
from pipelines.voice.choice import LONGEST_REFERENCE, REFERENCE_RATE


def load_sample(recording: Path, settings: Settings, start: float = 0.0, end: float | None = None) -> Audio:
    """The part of a recording that is looked at: mono at 48 kHz, five minutes at most.

    Raises:
        MediaError, NoSoundTrack: it cannot be read.
    """
    last = start + LONGEST_REFERENCE
    return load_sound(
        recording, settings, sr=REFERENCE_RATE, start=start, end=last if end is None else min(end, last)
    )


def learn(
    engine: VoiceEngine,
    recording: Path,
    settings: Settings,
    report: Report,
    *,
    start: float = 0.0,
    end: float | None = None,
) -> VoiceProfile:
    """A voice like that of the person who speaks most in a sound or video file, named after the file.

    Args:
        start, end: seconds of the file to look at; at most five minutes.

    Raises:
        NoSpeech: less than 3 s of speech. MediaError: the file cannot be read.
    """
    report.step("voice", 0, None, "steps")
    sample = load_sample(recording, settings, start, end)
    heard = hear(sample)
    if len(heard.speakers) > 1:
        report.note(
            Message(
                f"{len(heard.speakers)} people speak in the voice sample; the one who speaks most was taken",
                f"参考音频中有 {len(heard.speakers)} 人说话,已选取说得最多的一位",
            ),
            "warning",
        )
    return engine.enroll(only_main(sample, heard), recording.stem, report)
