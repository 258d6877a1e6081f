"""How long a dub will take on this machine: first from figures measured elsewhere, then from its own past jobs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipelines.files import read_json, write_json
from pipelines.settings import Settings
from pipelines.types import VideoInfo

# Seconds of work per unit on two cores of a server CPU, as bench/dub.py measured them: per second of video for the sound
# stages, per "frame weight" (one for the frame, 1.1 more for each megapixel) for the picture stages. A machine's own
# jobs replace them.
FIRST_GUESS = {"listen": 0.2, "translate": 0.05, "speak": 1.75, "lips": 0.03, "video": 0.001}
# Seconds that a stage takes however short the video is: engines are loaded, the voice is learnt, the dub is read back.
FIXED = {"listen": 5.0, "speak": 22.0, "lips": 4.0}
PICTURE_STAGES = frozenset({"lips", "video"})
# A stage skipped because its work was there already says nothing about speed.
SHORTEST_LESSON = 0.5


@dataclass(frozen=True, slots=True)
class Work:
    """The size of a job: seconds of sound and weighted frames."""

    seconds: float
    frames: float

    @classmethod
    def of(cls, info: VideoInfo) -> Work:
        """The work in a video."""
        megapixels = info.width * info.height / 1e6
        return cls(info.duration, info.frames * (1 + 1.1 * megapixels))

    def units(self, stage: str) -> float:
        """How many units of ``stage`` there are."""
        return self.frames if stage in PICTURE_STAGES else self.seconds


def _file(settings: Settings) -> Path:
    return settings.cache / "speed.json"


def rates(settings: Settings) -> dict[str, float]:
    """Seconds per unit and stage on this machine; a damaged file counts as none."""
    try:
        measured = read_json(_file(settings))
        return {**FIRST_GUESS, **{str(stage): float(rate) for stage, rate in measured.items()}}
    except (OSError, ValueError, AttributeError, TypeError):
        return dict(FIRST_GUESS)


def remember(settings: Settings, stage: str, work: Work, seconds: float) -> None:
    """Learn from a finished stage: half the old figure, half the new."""
    units = work.units(stage)
    if seconds < SHORTEST_LESSON or units <= 0 or stage not in FIRST_GUESS:
        return
    known = rates(settings)
    # a short video says little about the rate: most of its time is the fixed part
    measured = max(seconds - FIXED.get(stage, 0.0), 0.2 * seconds) / units
    guessed = known[stage] == FIRST_GUESS[stage]
    known[stage] = measured if guessed else (known[stage] + measured) / 2
    write_json(_file(settings), known)


def stage_seconds(settings: Settings, info: VideoInfo, lips: bool = True) -> dict[str, float]:
    """Seconds that each stage of a dub of ``info`` will take on this machine."""
    work, known = Work.of(info), rates(settings)
    return {
        stage: FIXED.get(stage, 0.0) + known[stage] * work.units(stage)
        for stage in FIRST_GUESS
        if lips or stage != "lips"
    }


def estimate(settings: Settings, info: VideoInfo, lips: bool = True) -> float:
    """Seconds a dub of ``info`` will take on this machine, all stages together."""
    return sum(stage_seconds(settings, info, lips).values())
