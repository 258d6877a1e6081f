"""Whisper on real recordings: what is said, when, in which language; and nothing where nobody speaks."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.asr import Recognition, RecognitionOptions
from pipelines.asr.listener import prompt_for
from pipelines.asr.scoring import Score, score
from pipelines.asr.whisper import Whisper
from pipelines.errors import NoSoundTrack, OptionError, Stopped
from pipelines.progress import NullReport
from pipelines.types import Segment
from tests.listen.conftest import RATE, ffmpeg, samples_of

Hear = Callable[..., tuple[Recognition, list[Segment]]]

ENGLISH = {
    "en_jfk.flac": "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.",
    "en_lj_0001.flac": "Printing, in the only sense with which we are at present concerned, differs from most if not from all"
    " the arts and crafts represented in the Exhibition",
    "en_lj_0003.flac": "For although the Chinese took impressions from wood blocks engraved in relief for centuries before the"
    " woodcutters of the Netherlands, by a similar process",
    "en_lj_0007.flac": 'the earliest book printed with movable types, the Gutenberg, or "forty-two line Bible" of about 1455,',
}
MANDARIN = {
    "zh_asr_example.wav": "欢迎大家来体验达摩院推出的语音识别模型",
    "zh_hotword.wav": "大学生利用漏洞免费吃肯德基获刑",
}


def text_of(segments: list[Segment], language: str = "en") -> str:
    return ("" if language == "zh" else " ").join(segment.text for segment in segments)


def plain_text(whisper: Whisper, path: Path, language: str) -> str:
    """What faster-whisper itself makes of the whole file with the same settings."""
    segments, _ = whisper._model.transcribe(
        samples_of(path),
        language=language,
        beam_size=5,
        condition_on_previous_text=False,
        word_timestamps=True,
        hotwords=prompt_for(language, ()) or None,
    )
    return " ".join(segment.text for segment in segments)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "recordings", "most"), [("en", ENGLISH, 6), ("zh", MANDARIN, 4)], ids=["English", "Mandarin"]
)
def test_few_errors_and_no_more_than_plain_faster_whisper(
    hear: Hear, whisper: Whisper, data: Path, language: str, recordings: dict[str, str], most: int
) -> None:
    ours, plain = Score(0, 0), Score(0, 0)
    for name, said in recordings.items():
        recognition, segments = hear(data / "speech" / name)
        assert recognition.language == language
        ours += score(said, text_of(segments, language), language)
        plain += score(said, plain_text(whisper, data / "speech" / name, language), language)
    assert ours.errors <= most, f"{ours.errors} of {ours.total}"
    assert ours.errors <= plain.errors


def test_mandarin_is_simplified_with_full_width_marks(hear: Hear, data: Path) -> None:
    _, segments = hear(data / "speech" / "zh_asr_example.wav", language="zh")
    text = text_of(segments, "zh")
    assert "欢迎大家来体验" in text
    assert not set(text) & set("歡體驗達語識別,.?! ")
    assert text.endswith("\u3002")


def test_a_hotword_is_heard(hear: Hear, data: Path) -> None:
    _, without = hear(data / "speech" / "zh_hotword.wav", language="zh")
    _, with_it = hear(data / "speech" / "zh_hotword.wav", language="zh", hotwords=("获刑",))
    assert "获刑" not in text_of(without, "zh")
    assert text_of(with_it, "zh").count("获刑") == 1


def test_words_carry_their_times(hear: Hear, data: Path) -> None:
    recognition, segments = hear(data / "speech" / "en_jfk.flac", language="en")
    words = [word for segment in segments for word in segment.words]
    country = [word for word in words if word.text.strip(".,").lower() == "country"]
    # The two places are audible in the recording and seen in its envelope: "your country can" and the end.
    assert len(country) == 2
    assert country[0].start == pytest.approx(6.1, abs=0.35)
    assert country[1].end == pytest.approx(10.4, abs=0.25)
    assert words[0].start == pytest.approx(0.3, abs=0.25)
    assert recognition.duration == pytest.approx(11.0, abs=0.01)
    assert all(a.end <= b.start + 1e-6 for a, b in itertools.pairwise(words))
    assert all(word.text == word.text.strip() and 0 <= word.prob <= 1 for word in words)


def test_russian_is_recognised_from_a_video(hear: Hear, data: Path) -> None:
    recognition, segments = hear(data / "video" / "talk_outdoor_10s.mp4")
    assert recognition.language == "ru"
    assert recognition.language_probability > 0.8
    assert "Всем привет" in text_of(segments)
    assert all(0 <= s.start < s.end <= recognition.duration for s in segments)


def test_times_survive_long_silences(hear: Hear, data: Path, wav: Callable[..., Path]) -> None:
    jfk = samples_of(data / "speech" / "en_jfk.flac")
    reference = samples_of(data / "speech" / "en_voice_ref.wav")
    silence = np.zeros(20 * RATE, np.float32)
    path = wav(np.concatenate([silence, reference, silence, jfk, silence]), "with silence.wav")
    _, segments = hear(path, language="en")
    nature = next(s for s in segments if "nature" in s.text.lower())
    fellow = next(s for s in segments if "fellow" in s.text.lower())
    assert nature.start == pytest.approx(20.4, abs=0.3)
    assert fellow.start == pytest.approx(20 + len(reference) / RATE + 20 + 0.3, abs=0.4)
    assert segments[-1].end < 57


def _chord(seconds: float) -> np.ndarray[Any, Any]:
    t = np.arange(int(seconds * RATE)) / RATE
    tone = sum(np.sin(2 * np.pi * f * t) for f in (261.6, 329.6, 392.0)) / 4
    return (tone * (0.6 + 0.4 * np.sign(np.sin(2 * np.pi * 2 * t)))).astype(np.float32)


SILENT_SOUNDS = {
    "silence": lambda: np.zeros(30 * RATE, np.float32),
    "short silence": lambda: np.zeros(5 * RATE, np.float32),
    "chord": lambda: _chord(30),
    "beep": lambda: 0.3 * np.sin(2 * np.pi * 1000 * np.arange(10 * RATE) / RATE).astype(np.float32),
    "weak noise": lambda: np.random.default_rng(1).normal(0, 0.003, 30 * RATE).astype(np.float32),
    "loud noise": lambda: np.random.default_rng(2).normal(0, 0.2, 20 * RATE).clip(-1, 1).astype(np.float32),
    "clicks": lambda: (np.arange(10 * RATE) % 8000 < 20).astype(np.float32) * 0.8,
    "hundred samples": lambda: np.full(100, 0.1, np.float32),
}


@pytest.mark.parametrize("name", list(SILENT_SOUNDS))
def test_nothing_is_made_up_where_nobody_speaks(hear: Hear, wav: Callable[..., Path], name: str) -> None:
    path = wav(SILENT_SOUNDS[name]())
    recognition, segments = hear(path, hotwords=("Dubwright",))
    assert segments == []
    assert recognition.speech_seconds == 0


def test_quiet_speech_is_heard(hear: Hear, data: Path, wav: Callable[..., Path]) -> None:
    quiet = samples_of(data / "speech" / "en_jfk.flac") * 0.02
    _, segments = hear(wav(quiet), language="en")
    assert "ask not what your country" in text_of(segments)


def test_a_range_keeps_the_files_clock(hear: Hear, data: Path) -> None:
    recognition, segments = hear(data / "speech" / "en_jfk.flac", language="en", start=7.6, end=11.0)
    assert "what you can do" in text_of(segments)
    assert "fellow" not in text_of(segments)
    assert recognition.duration == pytest.approx(3.4, abs=0.02)
    assert segments[0].start >= 7.6 and segments[-1].end <= 11.0
    assert segments[-1].words[-1].end == pytest.approx(10.4, abs=0.25)


def test_one_channel_of_a_call(hear: Hear, data: Path) -> None:
    path = data / "speech" / "en_stereo_two_speakers.wav"
    left, right = (text_of(hear(path, language="en", channel=number)[1]) for number in (0, 1))
    assert left and right and score(left, right, "en").rate > 0.5


def test_a_chosen_track(hear: Hear, data: Path, tmp_path: Path) -> None:
    speech, path = data / "speech", tmp_path / "两 tracks.mkv"
    ffmpeg(
        "-i", speech / "zh_asr_example.wav", "-i", speech / "en_voice_ref.wav", "-map", "0", "-map", "1", "-c:a", "flac", path
    )  # fmt: skip
    recognition, segments = hear(path, stream=1)
    assert recognition.language == "en"
    assert "nature" in text_of(segments).lower()


def test_a_video_without_sound_says_so(hear: Hear, data: Path) -> None:
    with pytest.raises(NoSoundTrack):
        hear(data / "video" / "face_512_silent_3s.mp4")


def test_a_language_whisper_does_not_know(hear: Hear, data: Path) -> None:
    with pytest.raises(OptionError, match="Irish"):
        hear(data / "speech" / "en_jfk.flac", language="ga")


def test_stop_comes_at_once(whisper: Whisper, data: Path) -> None:
    """Asked to stop in the middle of decoding, the exception is out long before the window is finished."""

    class StopSoon(NullReport):
        asked = 0.0
        calls = 0

        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            self.calls += stage == "listen"
            if self.calls > 2:
                self.asked = self.asked or time.monotonic()
                raise Stopped()

    report = StopSoon()
    recognition = whisper.recognize(
        data / "video" / "talk_room_20s.mp4", RecognitionOptions(language="en"), report
    )
    with pytest.raises(Stopped):
        list(recognition.segments)
    assert time.monotonic() - report.asked < 1.0
    for (
        thread
    ) in threading.enumerate():  # the step in progress ends by itself: wait so that the next test is alone
        if thread.name.startswith("attentive"):
            thread.join(120)
            assert not thread.is_alive()


def test_progress_is_seconds_of_sound(whisper: Whisper, data: Path) -> None:
    seen: list[tuple[str, float, float | None, str]] = []

    class Watch(NullReport):
        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            seen.append((stage, done, total, unit))

    recognition = whisper.recognize(
        data / "speech" / "en_voice_ref.wav", RecognitionOptions(language="en"), Watch()
    )
    list(recognition.segments)
    listened = [(done, total) for stage, done, total, unit in seen if stage == "listen" and unit == "s"]
    assert [done for done, _ in listened] == sorted(done for done, _ in listened)
    assert listened[-1] == (recognition.duration, recognition.duration)


@pytest.mark.slow
def test_a_sound_cut_off_in_the_middle_has_no_words_after_its_end(
    data: Path, hear: Hear, tmp_path: Path
) -> None:
    """The header of the cut mp3 still promises eleven seconds; Whisper's own last time lies past the end of what is there."""
    whole, path = tmp_path / "whole.mp3", tmp_path / "cut.mp3"
    ffmpeg("-i", str(data / "speech" / "en_jfk.flac"), "-c:a", "libmp3lame", "-b:a", "64k", str(whole))
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size * 565 // 1000])
    length = len(samples_of(path)) / RATE
    assert 5.8 < length < 6.5
    _, segments = hear(path, language="en")
    words = [word for segment in segments for word in segment.words]
    assert words and max(word.end for word in words) <= length + 0.001
    assert max(segment.end for segment in segments) <= length + 0.001
    assert "fellow americans" in text_of(segments).lower()
