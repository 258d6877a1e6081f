"""The output as it is drawn: frames wait until their batch of mouths is full, and leave in order."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from pipelines.lipsync import LipDrive
from pipelines.lipsync.frames import ordered_frames
from pipelines.lipsync.geometry import F32
from pipelines.lipsync.warp import Picture
from pipelines.lipsync.wav2lip.compositing import lay_in
from pipelines.lipsync.wav2lip.framing import face_mask, face_picture
from pipelines.lipsync.wav2lip.mel import Sound, first_column
from pipelines.lipsync.wav2lip.network import COLUMNS
from pipelines.lipsync.wav2lip.schedule import Schedule
from pipelines.lipsync.wav2lip.synthesis import Synthesis
from pipelines.settings import Settings
from pipelines.types import FaceTrack, Frame, VideoInfo

HELD_BYTES = 600_000_000  # of frames that wait for their mouths


@dataclass(frozen=True, slots=True)
class Film:
    """Everything that decides how the output looks.

    Attributes:
        scale: faces are taken from the picture at this share of its size. looks: of network and number format.
    """

    video: VideoInfo
    track: FaceTrack
    drive: LipDrive
    schedule: Schedule
    sound: Sound
    synthesis: Synthesis
    settings: Settings
    scratch: tempfile.TemporaryDirectory[str]  # lives as long as the sound
    scale: float
    looks: str

    def draw(self, first: int, last: int) -> Iterator[Frame]:
        """See ``LipRun``. A stretch that begins inside a group of frames with one mouth starts with that group."""
        start = self._start(first)
        waiting = _Batch()
        frames = ordered_frames(self.video, self.drive.order[start:last], self.settings)
        for index, frame in enumerate(frames, start=start):
            for done, picture in self._take(waiting, index, frame):
                if done >= first:
                    yield picture
        for done, picture in self._finish(waiting):
            if done >= first:
                yield picture

    def _start(self, first: int) -> int:
        drawing = self.schedule.drawing[first : first + 1]
        return int(drawing[0]) if len(drawing) and drawing[0] >= 0 else first

    def _take(self, waiting: _Batch, index: int, frame: Frame) -> Iterator[tuple[int, Frame]]:
        """Add a frame; yields those that are finished."""
        drawing = int(self.schedule.drawing[index])
        if drawing < 0:
            yield from self._finish(waiting)
            yield index, frame
            return
        if drawing != waiting.latest and waiting.full(self.synthesis.batch):
            yield from self._finish(waiting)
        face = face_picture(frame, self.schedule.boxes[index], self.scale)
        if drawing != waiting.latest:
            waiting.begin(drawing, self.heard(drawing), face)
        waiting.frames.append((index, frame, face, len(waiting.faces) - 1))

    def heard(self, drawing: int) -> F32:
        """(80, 16): the sound of a drawing."""
        offset = Fraction(self.drive.offset).limit_denominator(10_000)
        start = first_column(self.schedule.moment(drawing), self.video.fps, offset)
        return self.sound.window(start, COLUMNS)

    def _finish(self, waiting: _Batch) -> Iterator[tuple[int, Frame]]:
        """Draw what waits and empty the batch."""
        if not waiting.frames:
            return
        drawn = self.synthesis.draw(waiting.sounds, waiting.faces)
        frames = waiting.frames
        waiting.clear()
        for index, frame, face, row in frames:
            schedule = self.schedule
            landmarks = np.asarray(self.track.landmarks[int(schedule.base[index])])
            mask = face_mask(landmarks, schedule.boxes[index]) * schedule.strength[index]
            yield index, lay_in(frame, schedule.boxes[index], drawn[row], face, mask)

    def signature(self, first: int, last: int) -> str:
        """Over source frames, boxes, sound windows and the network."""
        schedule, here = self.schedule, slice(first, last)
        found = hashlib.sha256(f"wav2lip {self.looks} {self.scale} {schedule.served}".encode())
        for values in (schedule.base, schedule.boxes, schedule.strength):
            found.update(np.ascontiguousarray(values[here]).tobytes())
        drawings = schedule.drawing[here]
        found.update((drawings - np.arange(first, first + len(drawings))).tobytes())
        for drawing in dict.fromkeys(drawings[drawings >= 0].tolist()):
            found.update(self.heard(drawing).tobytes())
            found.update(schedule.base[drawing].tobytes() + schedule.boxes[drawing].tobytes())
        return found.hexdigest()

    def measures(self) -> dict[str, float]:
        """Numbers for the report."""
        schedule = self.schedule
        total, drawn = len(schedule.drawing), int(np.count_nonzero(schedule.drawing >= 0))
        mouths = len(np.unique(schedule.drawing[schedule.drawing >= 0]))
        return {
            "frames": float(total), "synthesised": float(drawn), "passed": float(total - drawn),
            "mouths": float(mouths),
        }  # fmt: skip


@dataclass(slots=True)
class _Batch:
    """Mouths to be drawn and the frames that wait for them: (output frame, picture, face, row of its mouth)."""

    sounds: list[F32] = field(default_factory=list)
    faces: list[Picture] = field(default_factory=list)
    frames: list[tuple[int, Frame, Picture, int]] = field(default_factory=list)
    latest: int = -1

    def begin(self, drawing: int, sound: F32, face: Picture) -> None:
        self.sounds.append(sound)
        self.faces.append(face)
        self.latest = drawing

    def full(self, most: int) -> bool:
        """Enough for one call of the network, or as many frames as memory should hold."""
        held = sum(frame.nbytes for _, frame, _, _ in self.frames[:1]) * len(self.frames)
        return len(self.faces) >= most or held >= HELD_BYTES

    def clear(self) -> None:
        self.sounds, self.faces, self.frames, self.latest = [], [], [], -1
