"""Who of the people in a picture says what is heard: whose mouth moves while it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pipelines.types import FaceTrack

Motion = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

BROW, CHIN, UPPER, LOWER = 10, 152, 13, 14  # MediaPipe's points: top of the face, chin, the lips' inner edges
LEAST = 0.4  # seconds in which a mouth must be seen
OWN = 0.5  # of how much a mouth moves in its own speech: what it does while somebody else speaks stays below
OTHERS = 0.45  # of how much the liveliest mouth moves in the same speech
BEATEN = 1.3  # times: of two mouths that are seen together the one that moves so much more speaks


def mouth_motion(track: FaceTrack, fps: float) -> Motion:
    """How fast the lips part and meet: float32 (T,), face heights a second; not a number where the face is not seen."""
    found = np.asarray(track.found)
    points = np.asarray(track.landmarks[:, [BROW, CHIN, UPPER, LOWER]], np.float32)
    height = np.linalg.norm(points[:, 0] - points[:, 1], axis=1)
    opening = np.linalg.norm(points[:, 2] - points[:, 3], axis=1) / np.maximum(height, 1.0)
    motion = np.full(len(found), np.nan, np.float32)
    both = found[1:] & found[:-1]
    motion[1:][both] = np.abs(np.diff(opening))[both] * np.float32(fps)
    return motion


def who_speaks(motions: Sequence[Motion], speech: Mapping[str, Mask], fps: float) -> list[frozenset[str]]:
    """For each person the speakers whose words they are seen saying; nobody says what is said off screen.

    Args:
        motions: of each person's mouth, all (T,), the main person first. speech: by speaker, the frames (T,) of their words.
    """
    least = max(round(LEAST * fps), 2)
    names = list(speech)
    score = np.array(
        [[_mean(motion, speech[name], least) for name in names] for motion in motions], np.float64
    )
    if not score.size:
        return [frozenset() for _ in motions]
    lively = np.nan_to_num(score, nan=-1.0)
    own, loudest = lively.max(axis=1), lively.max(axis=0)
    return [
        frozenset(
            name
            for column, name in enumerate(names)
            if score[person, column] >= max(OWN * own[person], OTHERS * loudest[column])
            and not any(
                _beaten(person, other, motions, speech[name], least)
                for other in range(len(motions))
                if other != person
            )
        )
        for person in range(len(motions))
    ]


def liveliest(tracks: Sequence[FaceTrack], fps: float) -> int:
    """The person (index) whose mouth moves as in speech, for a clip of which nobody knows what is said in it.

    Of two who are seen together it is the one who moves clearly more; where nobody does, and among people who are never
    seen together, the main one.
    """
    motions = [mouth_motion(track, fps) for track in tracks]
    said = who_speaks(motions, {"": np.ones(len(motions[0]), np.bool_)}, fps)
    return next((number for number, names in enumerate(said) if names), 0)


def _mean(motion: Motion, when: Mask, least: int) -> float:
    seen = motion[when & np.isfinite(motion)]
    return float(seen.mean()) if len(seen) >= least else np.nan


def _beaten(person: int, other: int, motions: Sequence[Motion], when: Mask, least: int) -> bool:
    """Whether another who is seen at the same time is the one who speaks; where neither moves more it is the main one."""
    together = when & np.isfinite(motions[person]) & np.isfinite(motions[other])
    if together.sum() < least:
        return False
    mine, theirs = float(motions[person][together].mean()), float(motions[other][together].mean())
    return theirs > BEATEN * mine or (other < person and mine <= BEATEN * theirs)
