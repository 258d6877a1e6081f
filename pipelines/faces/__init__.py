"""Faces in a clip: found in every frame, followed through time, remembered by the clip's content."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.errors import Message, OptionError
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import FaceTrack, VideoInfo

__all__ = ["MOST_PEOPLE", "analyse", "forget", "person"]

MOST_PEOPLE = 8


def person(tracks: Sequence[FaceTrack], number: int) -> FaceTrack:
    """The person of a number, 1 for the main one.

    Raises:
        OptionError: there are fewer.
    """
    if not 1 <= number <= len(tracks):
        raise OptionError(
            Message(
                f"There is no person {number} in this picture: {len(tracks)} found",
                f"画面中没有第 {number} 个人:共找到 {len(tracks)} 人",
            ),
            Message("Choose another one.", "请选择其他人。"),
        )
    return tracks[number - 1]


def forget(info: VideoInfo, settings: Settings) -> bool:
    """Remove what is kept of a clip's faces; returns whether there was anything."""
    from pipelines.faces import cache

    return cache.forget(info, settings)


def analyse(info: VideoInfo, settings: Settings, report: Report) -> tuple[FaceTrack, ...]:
    """All people of a clip, main face (longest × largest) first; empty when nobody is to be seen.

    The tracks are memory-mapped from ``settings.cache/faces``, where they are kept by the file's content: a second
    call does not look at the picture again. Frames in which a face was missed for at most 0.13 s within a shot are
    interpolated and count as found; longer absences are not.

    Raises:
        MediaError: the file cannot be read. Stopped: the user asked to stop; nothing is left behind.
    """
    from pipelines.faces.analysis import analyse as run

    return run(info, settings, report)
