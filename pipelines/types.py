"""The vocabulary: what the stages hand to each other, with shapes and units stated once, here.

Times are seconds (float) on the clock of the file they belong to; frame rates are ``Fraction``; picture sizes are
``(width, height)`` as displayed; frames are ``uint8 (H, W, 3)`` in BGR order; sound is ``float32`` in [-1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]  # (H, W, 3) BGR
Samples = npt.NDArray[np.float32]  # (n,) or (n, channels), [-1, 1]


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound in memory: short pieces only (a line, a reference); long sound tracks are streamed from files."""

    samples: Samples
    sr: int

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.sr


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word; ``prob`` in [0, 1] is the recogniser's own confidence."""

    start: float
    end: float
    text: str
    prob: float = 1.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of speech with its text, as a recogniser or a subtitle file gives it.

    ``text`` is what was heard, and what the words' times belong to; ``normalised`` is the same with numbers and dates
    as they are written, or empty where nobody asked for that.
    """

    start: float
    end: float
    text: str
    words: tuple[Word, ...] = ()
    speaker: str | None = None
    normalised: str = ""

    @property
    def shown(self) -> str:
        """The text as people read it: normalised where there is such a text."""
        return self.normalised or self.text


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said; ``language`` is an ISO 639-1 code such as ``en`` or ``zh``."""

    language: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Phone:
    """One phoneme in IPA (Kokoro's symbol set); stress and length marks are joined to the phone they belong to."""

    start: float
    end: float
    symbol: str


@dataclass(frozen=True, slots=True)
class Speech:
    """Synthesised speech with the times of its phones and words, counted from the start of ``audio``."""

    audio: Audio
    phones: tuple[Phone, ...]
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class VoiceProfile:
    """A voice as one engine needs it: named arrays and plain JSON facts, never pickled objects."""

    engine: str
    name: str
    arrays: dict[str, npt.NDArray[np.float32]]
    facts: dict[str, str | float | int | bool | list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """One sound stream of a file; ``stream`` is the container's absolute stream index (ffmpeg ``0:stream``)."""

    stream: int
    codec: str
    sr: int
    channels: int
    language: str | None
    title: str | None
    default: bool
    start: float
    duration: float | None


ColorSpace = Literal["bt709", "smpte170m", "bt470bg"]


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """A probed video or still picture. ``width``/``height`` are as displayed, after rotation and pixel aspect.

    The clock of a file starts where its earliest stream starts: times of words, sound and frames all count from
    there. ``fps`` is the constant rate that the frame reader delivers (for variable-rate sources, ``vfr``, a standard
    rate near their usual frame distance); frame ``n`` of ``frames`` is what is on the screen at ``n / fps``.

    Attributes:
        duration: ``frames / fps``. rotation: degrees clockwise that were applied to show it upright.
        start: time of the first picture; before it the reader holds that picture.
        phase: seconds by which the source's frame times lie off the grid ``n / fps``.
        color: YUV matrix of the delivered frames' colours, for the writer (HDR and wide gamut are brought to bt709).
        container: the demuxer's name. interlaced: fields that the reader joins into whole frames.
    """

    path: Path
    duration: float
    fps: Fraction
    width: int
    height: int
    frames: int
    rotation: int
    vfr: bool
    audio: tuple[AudioTrack, ...]
    codec: str
    pixel_format: str
    hdr: bool
    alpha: bool
    still: bool
    start: float = 0.0
    phase: float = 0.0
    color: ColorSpace = "bt709"
    container: str = ""
    interlaced: bool = False


@dataclass(frozen=True, slots=True)
class FaceTrack:
    """One person's face through a clip of T frames; the arrays are memory-mapped from the face cache.

    boxes: float32 (T, 4) as x0, y0, x1, y1 in pixels; landmarks: float32 (T, 478, 2) in pixels, mediapipe order;
    found: bool (T,), false where no face was seen (boxes and landmarks are interpolated or stale there).
    """

    boxes: npt.NDArray[np.float32]
    landmarks: npt.NDArray[np.float32]
    found: npt.NDArray[np.bool_]


LineState = Literal["new", "translated", "spoken", "kept"]
OWN_VOICE = "@own"  # as a line's ``voice``: that of its speaker, whatever voice the dub was asked for


@dataclass(frozen=True, slots=True)
class DubLine:
    """One line of a dub: where the original stands, what it says, what the dub says and how it was fitted.

    ``speak_start``/``speak_end`` are the planned times of the dubbed speech; ``factor`` is asked length divided by
    natural length (the page shows speed = 1 / factor); ``keep`` leaves the original sound there. A line that is too
    long for its time says at what ``needed_speed`` it would have fitted (1.0: it fits) and by about how many words,
    characters in Chinese and Japanese, it would have to be shorter (``shorten_by``). A ``locked`` line is not edited and
    keeps its place; ``slowest`` and ``fastest`` are speeds (1.0: natural) beyond which the voice may not go in it.
    ``speaker`` is who says it, None where one person speaks all of it; ``voice`` names a kept or stock voice for this line
    alone, ``OWN_VOICE``, or is None: as the whole dub.
    """

    index: int
    start: float
    end: float
    source: str
    text: str = ""
    speaker: str | None = None
    speak_start: float = 0.0
    speak_end: float = 0.0
    factor: float = 1.0
    keep: bool = False
    state: LineState = "new"
    needed_speed: float = 1.0
    shorten_by: int = 0
    locked: bool = False
    slowest: float | None = None
    fastest: float | None = None
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class DubPlan:
    """All lines of a dub in order of time."""

    source_language: str
    target_language: str
    duration: float
    lines: tuple[DubLine, ...]
