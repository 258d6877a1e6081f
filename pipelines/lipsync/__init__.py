"""Mouths that follow speech: the protocol every lip engine keeps, and the registry of lip engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pipelines.errors import Message
from pipelines.progress import Report
from pipelines.registry import EngineContext, EngineInfo, Registry
from pipelines.types import FaceTrack, Frame, Phone, VideoInfo

__all__ = ["LIP_ENGINES", "EngineContext", "LipDrive", "LipEngine", "LipReport", "LipRun"]


@dataclass(frozen=True, slots=True)
class LipDrive:
    """What drives the mouth.

    Attributes:
        order: source frame number for every output frame (identity for a dub; looped, ping-pong… otherwise).
        phones: all phones of the sound track on the output's clock, in order of time.
        keep: ranges (start, end) in seconds of the output in which the source frames pass untouched (lines kept in
            the original sound, ranges outside the part to be dubbed).
        sound: the sound itself, for engines that listen instead of reading phones.
        offset: seconds by which the picture is moved against the sound (positive: mouth later).
        head_motion, blinking: whether the head of a single picture moves a little, and its lids shut now and then.
    """

    order: tuple[int, ...]
    phones: tuple[Phone, ...]
    sound: Path
    keep: tuple[tuple[float, float], ...] = ()
    offset: float = 0.0
    head_motion: bool = False
    blinking: bool = False


@dataclass(frozen=True, slots=True)
class LipReport:
    """What was done: output frame ranges [first, last) synthesised, passed through, and why."""

    synthesised: tuple[tuple[int, int], ...]
    passed: tuple[tuple[int, int], ...]
    notes: tuple[Message, ...] = ()
    measures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LipRun:
    """A prepared run: the report is known before any frame is drawn.

    Attributes:
        total: output frames.
        draw: the frames [first, last), one by one, in output order and in constant memory; any stretch can be drawn,
            and a frame looks the same whichever stretch it is drawn in.
        signature: a hash of all that decides how the frames [first, last) look, besides the source file and the
            engine's name: stretches with equal signatures look the same.
    """

    report: LipReport
    total: int
    draw: Callable[[int, int], Iterator[Frame]]
    signature: Callable[[int, int], str]

    @property
    def frames(self) -> Iterator[Frame]:
        """All frames, from the first."""
        return self.draw(0, self.total)


class LipEngine(Protocol):
    """An engine that makes a face say something else; built with an ``EngineContext``."""

    def sync(self, video: VideoInfo, track: FaceTrack, drive: LipDrive, report: Report) -> LipRun:
        """Prepare (first pass) and return the run that draws the frames (second pass).

        A changed phone changes frames within a few seconds of it at most. Frames have the source's size; outside the
        face region, and in frames without a face, they equal the source.

        Raises:
            NoFace: the track has no frame with a face.
        """
        ...


LIP_ENGINES: Registry[LipEngine] = Registry(Message("lip sync", "口型"))
LIP_ENGINES.add(
    EngineInfo(
        name="ownmouth",
        label=Message("Own mouth: the speaker's own mouths from the clip", "原口型:取自视频中本人的嘴部画面"),
        licence="Apache-2.0 (part of Dubwright; face landmarks: MediaPipe, Apache-2.0)",
        packages=("cv2", "mediapipe"),
        features=frozenset({"any-size", "needs-phones"}),
    ),
    "pipelines.lipsync.ownmouth:OwnMouth",
)


def _add_wav2lip(name: str, label: Message) -> None:
    """Register one of the two sets of weights; both are items of the manifest."""
    info = EngineInfo(
        name=name,
        label=label,
        licence="Apache-2.0 (code, part of Dubwright); weights: trained on LRS2, research and personal use only",
        consequence=Message(
            "Not for commercial use: no videos that are sold or advertise something.",
            "不可用于商业用途:不得用于销售或广告视频。",
        ),
        packages=("cv2", "mediapipe", "torch", "librosa"),
        weights=(name,),
        runs_on="device",
        features=frozenset({"any-size"}),
    )
    LIP_ENGINES.add(info, "pipelines.lipsync.wav2lip.engine:Wav2Lip", item=name)


_add_wav2lip("wav2lip", Message("Wav2Lip: a network draws the mouth", "Wav2Lip:由神经网络绘制嘴部"))
# Trained with a discriminator: sharper, but its mouth moves in silence far more often.
_add_wav2lip(
    "wav2lip-gan", Message("Wav2Lip + GAN: sharper, less calm", "Wav2Lip + GAN:更清晰,但静音时不够稳定")
)
