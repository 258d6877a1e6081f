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

    The engines and the hash of the source are looked up when a step first needs them, and once.
    """

    folder: Path
    options: DubOptions
    info: VideoInfo
    context: EngineContext
    report: Report

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
