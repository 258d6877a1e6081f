"""Wav2Lip behind the protocol of lip engines: what it draws is laid into the picture at full size, and only there.

For every frame (above the policy's frame rate for several together) the network gets the face, its lower half black
beside the whole, and 0.2 s of the sound from the frame's time on. Where nobody speaks it hears silence, whatever else
is to be heard, so music and noise move no mouth. See ``framing``, ``compositing`` and ``synthesis``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from pipelines import weights
from pipelines.errors import Message
from pipelines.lipsync import EngineContext, LipDrive, LipReport, LipRun
from pipelines.lipsync.articulation import targets
from pipelines.lipsync.plan import require_face
from pipelines.lipsync.wav2lip.drawing import Film
from pipelines.lipsync.wav2lip.mel import PER_SECOND, RATE, Sound, mel_of_blocks
from pipelines.lipsync.wav2lip.schedule import make_schedule
from pipelines.lipsync.wav2lip.synthesis import Synthesis
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import FaceTrack, Samples, VideoInfo

TERMS = Message(
    "The mouths were drawn by Wav2Lip: its weights are for research and personal use, not for commercial use",
    "嘴部由 Wav2Lip 绘制:其模型仅供研究和个人使用,不可用于商业用途",
)
VERSION = 1  # raise when a frame looks different for the same schedule


class Wav2Lip:
    """See the module; implements ``pipelines.lipsync.LipEngine``. Obeys every field of the policy."""

    def __init__(self, context: EngineContext, item: str) -> None:
        """Load the network of a manifest item, which holds one file.

        Raises:
            WeightsMissing: it is not there, or is another file.
        """
        self._settings, self._policy = context.settings, context.policy
        folder = weights.locate(context.settings, item)
        entry = weights.find_item(context.settings, item)
        (file,) = entry.files
        self._synthesis = Synthesis(folder / file.path, context.policy)
        self._looks = (
            f"{VERSION} {weights.file_hash(context.settings, entry, file)} {context.policy.precision}"
        )

    def sync(self, video: VideoInfo, track: FaceTrack, drive: LipDrive, report: Report) -> LipRun:
        """Prepare and return the run; its temporary files go when it is no longer used."""
        require_face(video, track)
        scratch = tempfile.TemporaryDirectory(prefix="wav2lip-", ignore_cleanup_errors=True)
        sound = _sound(drive, Path(scratch.name), self._settings, report)
        schedule = make_schedule(video, track, drive, self._policy.fps_cap)
        for note in (*schedule.notes, TERMS):
            report.note(note, "hint")
        cap = self._policy.short_side_cap
        film = Film(
            video, track, drive, schedule, sound, self._synthesis, self._settings, scratch,
            scale=min(cap / min(video.width, video.height), 1.0) if cap else 1.0,
            looks=self._looks,
        )  # fmt: skip
        return LipRun(
            LipReport(schedule.synthesised, schedule.passed, schedule.notes, film.measures()),
            len(drive.order),
            film.draw,
            film.signature,
        )


def _sound(drive: LipDrive, folder: Path, settings: Settings, report: Report) -> Sound:
    """The mel of the sound track, and where in it nobody speaks."""
    from pipelines.media import read_sound

    def blocks() -> Iterator[Samples]:
        for block in read_sound(drive.sound, settings, sr=RATE, block_seconds=10.0):
            report.step("lips", 0, None, "frames")
            yield block

    mel = mel_of_blocks(blocks(), folder)
    silent = targets(drive.phones, len(mel), Fraction(PER_SECOND)).silent
    return Sound(mel, silent)
