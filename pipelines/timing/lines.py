"""What a line asks of the time line, and where it is put."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FitLimits:
    """How far a line may be bent; factors are asked length divided by natural length (speed = 1 / factor).

    Attributes:
        fill: largest factor; longer lines only fill the original's time, and slower speech soon sounds drugged.
        preferred: smallest factor before a pause is borrowed.
        gap: silence in seconds left between two lines of one speaker.
        shift: seconds a start may move either way before everything else is tried.
    """

    fill: float = 1.15
    preferred: float = 0.8
    gap: float = 0.08
    shift: float = 0.2


@dataclass(frozen=True, slots=True)
class Held:
    """Where a line stands already and should stay: it was spoken before, and its words are the same."""

    start: float
    seconds: float


@dataclass(frozen=True, slots=True)
class LineWish:
    """One line to place: the original's times and the lengths in seconds the voice can give it.

    Attributes:
        speaker: lines of one speaker never overlap; two speakers' lines only as far as their originals do.
        on_screen: the mouth is seen, so the line should begin when it opens; else the line may float a little.
        held: its place from an earlier plan, left only where nothing else helps.
    """

    start: float
    end: float
    natural: float
    shortest: float
    longest: float
    text: str = ""
    speaker: str | None = None
    on_screen: bool = True
    held: Held | None = None


@dataclass(frozen=True, slots=True)
class LineFit:
    """Where a line is spoken and how fast.

    ``factor`` is ``seconds / natural`` (speed = 1 / factor); ``needed_speed`` is the speed at which the line would
    have fitted its own time, when that is beyond what the voice can do, else None; ``shorten_by`` is then about how
    many words (characters in Chinese, Japanese and Korean) are too many.
    """

    start: float
    seconds: float
    factor: float
    needed_speed: float | None = None
    shorten_by: int = 0

    @property
    def end(self) -> float:
        """When the line has been spoken."""
        return self.start + self.seconds


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines in order of their start that share a stretch of the time line: nothing is spoken before ``begin``, and the
    last should have been spoken ``until`` then (seconds)."""

    wishes: tuple[LineWish, ...]
    until: float
    begin: float = 0.0


DEFAULT_LIMITS = FitLimits()
