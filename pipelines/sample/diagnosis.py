"""What a sample of a voice is like, in numbers, and what they mean for the voice learnt from it, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipelines.errors import Message
from pipelines.progress import NoteLevel
from pipelines.sample.reverberation import decay_seconds
from pipelines.sample.speakers import hear, only_main
from pipelines.types import Audio
from pipelines.voice.dvector import SR, to_mono
from pipelines.voice.reference import BEST, NEEDED, Reference, prepare, too_little

NOISY, VERY_NOISY = 15.0, 8.0  # dB of speech over noise
NARROW = 5000.0  # Hz: a telephone ends at 3400
CLIPPED = 0.001  # share of samples at full scale
ECHOING, REVERBERANT = 0.42, 0.55  # seconds in which the level falls by 60 dB
FULL = 0.985  # of full scale: what counts as clipped
ENOUGH = 6.0  # seconds of speech
EMPTY = 0.6  # share of silence that is worth a word

Remark = tuple[NoteLevel, Message]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A sample looked over.

    Attributes:
        seconds: of sound that were looked at; speech: of speech in them; used: of the speech that is learnt from.
        silence: share of the sound without speech. snr: dB of speech over noise, at most 60.
        bandwidth: Hz up to which there is signal. clipped: share of samples at full scale.
        decay: seconds in which the level falls by 60 dB, None where that could not be told.
        speakers: seconds of speech of each person, most first. sr, channels: of the file.
    """

    seconds: float
    speech: float
    used: float
    silence: float
    snr: float
    bandwidth: float
    clipped: float
    decay: float | None
    speakers: tuple[float, ...]
    sr: int
    channels: int

    def numbers(self) -> str:
        """All measures in one line, for a terminal."""
        room = "" if self.decay is None else f", dies away in {self.decay:.2f} s"
        return (
            f"{self.speech:.1f} s of speech ({self.used:.1f} s used), {self.snr:.0f} dB over the noise, "
            f"up to {self.bandwidth / 1000:.1f} kHz, {100 * self.clipped:.1f} % clipped{room}, "
            f"{100 * self.silence:.0f} % silence, speakers: {len(self.speakers)}"
        )

    def remarks(self) -> tuple[Remark, ...]:
        """What is good or bad about it and what to do, worst first; one hint that all is well when nothing is."""
        found = sorted(self._troubles(), key=lambda remark: remark[0] != "warning")
        if not found:
            well = Message(
                "A good sample: clean, one person, enough speech.", "样本良好：干净、单人、语音时长足够。"
            )
            found = [("hint", well)]
        return tuple(found)

    def _troubles(self) -> Iterator[Remark]:
        if len(self.speakers) > 1:
            yield (
                "warning",
                Message(
                    f"{len(self.speakers)} people speak here. Only the one who speaks most ({self.speakers[0]:.1f} s) is learnt.",
                    f"样本中有 {len(self.speakers)} 人说话，只学习说得最多的一位（{self.speakers[0]:.1f} 秒）。",
                ),
            )
        if self.snr < NOISY:
            much, how = ("a lot of", "很大") if self.snr < VERY_NOISY else ("some", "较大")
            yield (
                "warning",
                Message(
                    f"There is {much} noise ({self.snr:.0f} dB below the voice; 25 or more is good). Record in a quieter place.",
                    f"噪声{how}（信噪比 {self.snr:.0f} dB，25 以上为好）。请在更安静的地方录制。",
                ),
            )
        if self.clipped > CLIPPED:
            yield (
                "warning",
                Message(
                    f"It was recorded too loud: {100 * self.clipped:.1f} % of it is clipped. Move away from the microphone.",
                    f"录音音量过大，{100 * self.clipped:.1f}% 已削波。请离麦克风远一些。",
                ),
            )
        if self.decay is not None and self.decay >= ECHOING:
            level: NoteLevel = "warning" if self.decay >= REVERBERANT else "hint"
            yield (
                level,
                Message(
                    f"The room is heard (sound dies away in about {self.decay:.1f} s). Come closer to the microphone.",
                    f"能听到房间回声（衰减约 {self.decay:.1f} 秒）。请离麦克风近一些。",
                ),
            )
        if self.bandwidth < NARROW:
            yield (
                "hint",
                Message(
                    f"It sounds like a telephone (nothing above {self.bandwidth / 1000:.1f} kHz); highs are the stock voice's.",
                    f"频带较窄、像电话（{self.bandwidth / 1000:.1f} kHz 以上没有内容），高频部分取自内置声音。",
                ),
            )
        if self.speech < ENOUGH:
            yield (
                "hint",
                Message(
                    f"{self.speech:.1f} s of speech are enough, 6 to 15 s are better.",
                    f"{self.speech:.1f} 秒语音已够用，6 到 15 秒更好。",
                ),
            )
        if self.silence > EMPTY:
            yield (
                "hint",
                Message(
                    f"{100 * self.silence:.0f} % of it is silence, which is left out.",
                    f"{100 * self.silence:.0f}% 为静音，已略去。",
                ),
            )


def diagnose(audio: Audio, channels: int, sr: int) -> tuple[Diagnosis, Reference]:
    """Look a sample over; returns also the speech that a voice is learnt from.

    Args:
        audio: the sample, mono, at the rate voices are learnt at. channels, sr: of the file it was read from.

    Raises:
        NoSpeech: the one who speaks most does so for less than 3 s.
    """
    if audio.duration < NEEDED:
        raise too_little(audio.duration)
    heard = hear(audio)
    own = only_main(audio, heard)
    used = prepare(own)
    return (
        Diagnosis(
            seconds=audio.duration,
            speech=heard.speech,
            used=min(used.seconds, BEST),
            silence=1 - heard.speech / audio.duration,
            snr=used.snr,
            bandwidth=min(used.bandwidth, sr / 2),
            clipped=float((np.abs(own.samples) > FULL).mean()),
            decay=decay_seconds(to_mono(own, SR)),
            speakers=heard.speakers,
            sr=sr,
            channels=channels,
        ),
        used,
    )
