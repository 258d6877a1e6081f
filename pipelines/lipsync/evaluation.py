"""How well a rendered mouth follows its speech, measured on the picture itself: landmarks are detected again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pipelines.lipsync import geometry
from pipelines.lipsync.articulation import LEAD, is_shut, targets
from pipelines.lipsync.geometry import F32
from pipelines.lipsync.mouths import mouth_view
from pipelines.lipsync.shape import SpeakerRange
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import FaceTrack, Phone, VideoInfo

TOUCHING = (
    0.035  # gap over eye distance below which lips count as closed: the detector's own reading of shut lips
)
MOVING = 0.02  # change of the gap per frame (at 25 fps) that counts as movement
VIEW = (60, 48)  # px
FURTHEST = 5  # frames of lag that are searched


@dataclass(frozen=True, slots=True)
class Sync:
    """The result.

    Attributes:
        opening_r, width_r: correlation of the detected mouth with its targets, frame by frame, without any shift.
        reversed_r: the same for the opening when the targets run backwards (what chance gives).
        lag: frames by which the detected opening is late at its best correlation (negative: early).
        closed: share of p, b, m with touching lips (nan when there are none); closures: how many there are.
        silence_moving: share of the frames well inside pauses in which the mouth moves or stands open (nan: no pauses).
        frames: frames that were compared.
    """

    opening_r: float
    width_r: float
    reversed_r: float
    lag: int
    closed: float
    closures: int
    silence_moving: float
    frames: int

    def record(self) -> dict[str, float]:
        """Plain numbers for a report; what could not be measured is left out."""
        values = {name: float(getattr(self, name)) for name in self.__slots__}
        return {name: round(value, 4) for name, value in values.items() if np.isfinite(value)}


def evaluate(
    rendered: VideoInfo,
    span: SpeakerRange,
    phones: Sequence[Phone],
    settings: Settings,
    report: Report,
    *,
    offset: float = 0.0,
    passed: Sequence[tuple[int, int]] = (),
) -> Sync:
    """Detect landmarks on a rendered video and compare them with the targets of its sound.

    Args:
        span: the speaker's range in the source clip.
        passed: frame ranges that were left as they were and do not count.
    """
    from pipelines import faces

    tracks = faces.analyse(rendered, settings, report)
    if not tracks:
        nothing = float("nan")
        return Sync(nothing, nothing, nothing, 0, nothing, 0, nothing, 0)
    return compare(tracks[0], span, phones, rendered.fps, offset=offset, passed=passed)


def compare(
    track: FaceTrack,
    span: SpeakerRange,
    phones: Sequence[Phone],
    fps: Fraction,
    *,
    offset: float = 0.0,
    passed: Sequence[tuple[int, int]] = (),
) -> Sync:
    """The same for landmarks that are there already."""
    count = len(track.found)
    points = np.asarray(track.landmarks)
    opening, width = geometry.opening(points), geometry.width(points)
    counted = np.asarray(track.found).copy()
    for first, last in passed:
        counted[first:last] = False
    aims = targets(phones, count, fps, offset)
    wanted = span.opening(aims.opening)
    wide = span.width(aims.width, wanted)
    closed, closures = _closures(opening, counted, phones, fps, offset)
    return Sync(
        opening_r=correlation(opening[counted], wanted[counted]),
        width_r=correlation(width[counted], wide[counted]),
        reversed_r=correlation(opening[counted], wanted[::-1][counted]),
        lag=best_lag(opening, wanted, counted),
        closed=closed,
        closures=closures,
        silence_moving=_silence(opening, counted & aims.silent, float(fps)),
        frames=int(counted.sum()),
    )


def flicker(
    video: VideoInfo, track: FaceTrack, settings: Settings, report: Report, *, counted: slice = slice(None)
) -> float:
    """Unrest of the mouth's region: mean absolute second difference over time of its picture, in grey levels.

    The picture is brought to a standard pose and size first, so that a moving head does not count; smooth movement
    of the lips counts little, jumps and flicker from frame to frame count fully. To be compared with the same figure
    of the source clip.
    """
    from pipelines.media import read_frames

    found = np.flatnonzero(track.found)
    reference = geometry.reference_shape(np.asarray(track.landmarks[found]))
    poses = geometry.fit_poses(np.asarray(track.landmarks), reference)
    last: deque[npt.NDArray[np.float32]] = deque(maxlen=3)
    total, count = 0.0, 0
    wanted = set(range(len(track.found))[counted]) & set(found.tolist())
    for index, frame in enumerate(read_frames(video, settings)):
        report.step("lips", index, video.frames, "frames")
        if index not in wanted:
            last.clear()
            continue
        last.append(mouth_view(frame, poses, index, VIEW).astype(np.float32))
        if len(last) == 3:
            total += float(np.abs(last[0] - 2 * last[1] + last[2]).mean())
            count += 1
    return total / count if count else float("nan")


def correlation(one: F32, other: F32) -> float:
    """Pearson's r, nan when either stands still."""
    if len(one) < 3 or float(np.std(one)) < 1e-6 or float(np.std(other)) < 1e-6:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


def best_lag(measured: F32, wanted: F32, counted: npt.NDArray[np.bool_]) -> int:
    """Frames by which ``measured`` follows ``wanted`` where they correlate best."""
    scores = []
    for lag in range(-FURTHEST, FURTHEST + 1):
        moved = np.roll(wanted, lag)
        inside = counted.copy()
        inside[: max(lag, 0)] = False
        inside[len(inside) + min(lag, 0) :] = False
        scores.append((correlation(measured[inside], moved[inside]), -abs(lag), lag))
    scores = [score for score in scores if np.isfinite(score[0])]
    return max(scores)[2] if scores else 0


def _closures(
    opening: F32, counted: npt.NDArray[np.bool_], phones: Sequence[Phone], fps: Fraction, offset: float
) -> tuple[float, int]:
    total = closed = 0
    for phone in phones:
        if not is_shut(phone):
            continue
        first = max(int((phone.start - LEAD + offset) * float(fps)), 0)
        last = min(int((phone.end - LEAD + offset) * float(fps)) + 1, len(opening))
        here = np.arange(first, max(last, first))
        here = here[counted[here]]
        if len(here):
            total += 1
            closed += int(opening[here].min() <= TOUCHING)
    return (closed / total if total else float("nan")), total


def _silence(opening: F32, silent: npt.NDArray[np.bool_], fps: float) -> float:
    frames = np.flatnonzero(silent[1:] & silent[:-1]) + 1
    if len(frames) == 0:
        return float("nan")
    # Below TOUCHING the lips are shut, and what changes from frame to frame is the detector's own reading.
    open_once = np.maximum(opening[frames], opening[frames - 1]) > TOUCHING
    moving = open_once & (np.abs(opening[frames] - opening[frames - 1]) > MOVING * 25 / fps)
    return float(np.mean(moving | (opening[frames] > 2 * TOUCHING)))
