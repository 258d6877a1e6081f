"""Which output frames get a new mouth, how strongly, and what it should do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.errors import Message, NoFace
from pipelines.faces.smoothing import runs
from pipelines.lipsync import LipDrive
from pipelines.lipsync.articulation import Targets, targets
from pipelines.lipsync.geometry import F32
from pipelines.lipsync.mouths import LONGEST_TURN, FaceMotion
from pipelines.lipsync.selection import Wanted
from pipelines.types import FaceTrack, VideoInfo

RAMP_SECONDS = 0.13  # 3 to 5 frames
SHORTEST = 3  # frames; a shorter appearance of a face is passed
ODD = 12.0  # robust standard deviations: something else than the mouth is in the picture
NO_FACE = Message("No face", "没有人脸")
ASIDE = Message("The head is turned too far aside", "头部侧转过大")
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """strength: (n,) 0 untouched … 1 fully new; targets in articulation units; wanted in the speaker's units."""

    strength: F32
    targets: Targets
    wanted: Wanted
    passed: tuple[Range, ...]
    synthesised: tuple[Range, ...]
    notes: tuple[Message, ...]


def require_face(video: VideoInfo, track: FaceTrack) -> None:
    """What every lip engine asks first.

    Raises:
        NoFace: there is not one frame with a face.
    """
    if not bool(np.any(track.found)):
        raise NoFace(
            Message("No face was found in this picture or video", "在该图片或视频中未找到人脸"),
            Message("Choose another clip, or a closer view.", "请换一段视频,或选择更近的镜头。"),
            video.path.name,
        )


def make_plan(
    video: VideoInfo, track: FaceTrack, motion: FaceMotion, frame_odd: F32, drive: LipDrive
) -> Plan:
    """See ``Plan``; needs nothing but numbers."""
    base = np.clip(np.asarray(drive.order, np.intp), 0, len(motion.usable) - 1)
    fps = float(video.fps)
    hidden = _persistent(frame_odd > ODD)
    kept = kept_frames(drive.keep, len(base), fps)
    drawn = motion.usable[base] & ~hidden[base] & ~kept
    drawn = without_short(drawn)
    aims = targets(drive.phones, len(base), video.fps, drive.offset)
    strength = strength_curve(drawn, fps)
    opening = motion.span.opening(aims.opening)
    width = motion.span.width(aims.width, opening)
    # In a ramp the new mouth begins as the one that is there, so that no shut lips are laid over teeth.
    wanted = Wanted(
        base,
        motion.opening[base] + strength * (opening - motion.opening[base]),
        motion.width[base] + strength * (width - motion.width[base]),
        drawn,
    )
    notes = _notes(track, motion, hidden, base, kept, fps)
    return Plan(strength, aims, wanted, tuple(runs(~drawn)), tuple(runs(drawn)), notes)


def kept_frames(keep: tuple[tuple[float, float], ...], frames: int, fps: float) -> npt.NDArray[np.bool_]:
    """(n,) bool: frames whose time on screen lies in one of the ranges (seconds)."""
    kept = np.zeros(frames, np.bool_)
    for start, end in keep:
        kept[max(int(np.floor(start * fps)), 0) : max(int(np.ceil(end * fps)), 0)] = True
    return kept


def strength_curve(drawn: npt.NDArray[np.bool_], fps: float) -> F32:
    """Ramps of 3 to 5 frames inside every drawn stretch, except at the ends of the film."""
    ramp = int(np.clip(round(RAMP_SECONDS * fps), 3, 5))
    strength = drawn.astype(np.float32)
    for first, last in runs(drawn):
        for step in range(min(ramp, last - first)):
            value = np.float32((step + 1) / (ramp + 1))
            if first > 0:
                strength[first + step] = min(strength[first + step], value)
            if last < len(drawn):
                strength[last - 1 - step] = min(strength[last - 1 - step], value)
    return strength


def _persistent(hidden: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Only what stays hidden for two frames or more counts; a frame on each side is added."""
    kept = np.zeros_like(hidden)
    for first, last in runs(hidden):
        if last - first >= 2:
            kept[max(first - 1, 0) : last + 1] = True
    return kept


def without_short(drawn: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Without the stretches of fewer than SHORTEST frames."""
    if len(drawn) <= SHORTEST:
        return drawn
    kept = drawn.copy()
    for first, last in runs(drawn):
        if last - first < SHORTEST:
            kept[first:last] = False
    return kept


def _notes(
    track: FaceTrack,
    motion: FaceMotion,
    hidden: npt.NDArray[np.bool_],
    base: npt.NDArray[np.intp],
    kept: npt.NDArray[np.bool_],
    fps: float,
) -> tuple[Message, ...]:
    asked = ~kept
    found = np.asarray(track.found)[base]
    aside = found & (np.abs(motion.turn[base]) >= LONGEST_TURN)
    return passed_notes(
        (
            (asked & ~found, NO_FACE),
            (asked & aside, ASIDE),
            (asked & found & ~aside & hidden[base], Message("Something covers the mouth", "嘴部被遮挡")),
        ),
        fps,
    )


def passed_notes(cases: Sequence[tuple[npt.NDArray[np.bool_], Message]], fps: float) -> tuple[Message, ...]:
    """For every reason the times, in seconds, of the frames (n,) that are left as they were because of it."""
    notes = []
    for where, why in cases:
        ranges = [(a, b) for a, b in runs(where) if b - a >= 2]
        if ranges:
            listed = ", ".join(f"{a / fps:.1f}-{b / fps:.1f} s" for a, b in ranges[:8]) + (
                " …" if len(ranges) > 8 else ""
            )
            notes.append(
                Message(
                    f"{why.en} at {listed}: the picture is left as it was there",
                    f"{why.zh}({listed}):该处画面保持原样",
                )
            )
    return tuple(notes)
