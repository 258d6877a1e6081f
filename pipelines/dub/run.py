"""What the steps of one dub share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipelines import glossary
from pipelines.artifacts import fingerprint
from pipelines.dub.options import DubOptions
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.types import VideoInfo
from pipelines.voice import VOICES, VoiceEngine


@dataclass(frozen=True)
class DubRun:
    """One run of the flow: what was asked, of which video, where the work goes, and whom to tell.

    Attributes:
        begins: second of the user's video at which the run's clock begins (a part was cut out of it).
        title: the name of the user's video, where the input is a part of it.

    The engines and the hash of the source are looked up when a step first needs them, and once.
    """

    folder: Path
    options: DubOptions
    info: VideoInfo
    context: EngineContext
    report: Report
    begins: float = 0.0
    title: str = ""

    @property
    def name(self) -> str:
        """The file name of the user's video."""
        return self.title or self.options.input.name

    @property
    def span(self) -> tuple[float, float]:
        """The seconds (start, end) that are dubbed; the whole unless a part was asked for."""
        start, end = self.options.start, self.options.end
        return min(max(start or 0.0, 0.0), self.duration), self.duration if end is None else min(
            end, self.duration
        )

    @property
    def whole(self) -> bool:
        """Whether all of the video is dubbed."""
        return self.span == (0.0, self.duration)

    @cached_property
    def source_hash(self) -> str:
        """SHA-256 of the video file: every step's key begins with it."""
        return fingerprint(self.options.input)

    @cached_property
    def _glossary(self) -> glossary.Glossary:
        return glossary.load(self.context.settings)

    def spoken(self, text: str) -> str:
        """A line with the words of the user's glossary marked by how they are said."""
        return glossary.marked(text, self._glossary)

    @cached_property
    def voice_engine(self) -> VoiceEngine:
        """The engine that speaks."""
        return VOICES.get(self.options.voice_engine, self.context)

    @property
    def duration(self) -> float:
        """Length of the picture in seconds: the dub's sound is made to end with its last frame."""
        return float(self.info.frames / self.info.fps)
