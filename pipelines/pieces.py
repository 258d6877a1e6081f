"""A film encoded in pieces of about two seconds, so that a change somewhere makes only the pieces it touches again.

Every piece is a stage of its own (``artifacts``): a file that begins with a key frame, and a stamp with the hash of all
that decides how its frames look. The pieces are joined without re-encoding, so a frame is encoded once and a piece that
is not made again stays what it was. A film cut off in the middle goes on with its first missing piece.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path

from pipelines import media
from pipelines.artifacts import finished, options_key, run_stage
from pipelines.errors import Message
from pipelines.media import Encoder
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import Frame, VideoInfo

FOLDER = "pieces"
SECONDS = 2  # the usual distance of key frames in streams: seeking is quick, the file hardly larger
SHORTEST = 0.5  # of a piece: a shorter rest belongs to the one before it
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Film:
    """What is to be made: ``frames`` frames of the size, rate and colours of ``info``.

    Attributes:
        draw: the frames [first, last), in order.
        signature: a hash of all that decides how the frames [first, last) look.
    """

    info: VideoInfo
    frames: int
    draw: Callable[[int, int], Iterator[Frame]]
    signature: Callable[[int, int], str]


def piece_ranges(frames: int, fps: Fraction) -> tuple[Range, ...]:
    """Cut ``frames`` into ranges [first, last) that lie on a fixed grid, so that a longer film has the same pieces."""
    step = max(round(SECONDS * fps), 1)
    starts = list(range(0, frames, step))
    if len(starts) > 1 and frames - starts[-1] < SHORTEST * step:
        starts.pop()
    return tuple(zip(starts, [*starts[1:], frames], strict=True))


def film_encoder(context: EngineContext, report: Report) -> Encoder:
    """x264, or the graphics card's encoder where that is wanted and a trial encode works.

    ``Settings.encoder`` decides; ``auto`` wants the card's on machines whose card passed its test computation.
    """
    settings, policy = context.settings, context.policy
    able = policy.family != "cpu" and not policy.safe_mode
    wanted = settings.encoder == "hardware" or (settings.encoder == "auto" and able)
    encoder = media.choose_encoder(settings, hardware=wanted)
    if wanted and encoder.hardware:
        report.note(
            Message(
                f"The video was encoded by the graphics card ({encoder.name})",
                f"视频由显卡编码({encoder.name})",
            )
        )
    elif settings.encoder == "hardware":
        report.note(
            Message(
                "No hardware encoder works on this machine: x264 encoded the video",
                "本机没有可用的硬件编码器:已使用 x264 编码",
            ),
            "warning",
        )
    return encoder


def make_film(
    film: Film, out: Path, settings: Settings, encoder: Encoder, report: Report, stage: str
) -> tuple[Range, ...]:
    """Write ``out`` (mp4, H.264, no sound) from its pieces, which stay in a folder beside it.

    Returns:
        The ranges of frames that were drawn for it; the others were there already.

    Raises:
        MediaError, DiskFull: ffmpeg. Stopped: the user asked; finished pieces stay.
    """
    folder = out.parent / FOLDER
    folder.mkdir(exist_ok=True)
    pieces = _pieces(film, settings, encoder)
    missing = [piece for piece in pieces if not finished(folder, piece.name, piece.key, [piece.file])]
    work = _Work(film, folder, settings, encoder, report, stage)
    work.done = film.frames - sum(len(piece) for piece in missing)
    for group in _groups(missing):
        work.encode(group)
    _clear(folder, pieces)
    parts = [(folder / piece.file, len(piece)) for piece in pieces]
    media.join_pieces(parts, out, film.info.fps, report, stage)
    return tuple((piece.first, piece.last) for piece in missing)


@dataclass(frozen=True, slots=True)
class _Piece:
    first: int
    last: int
    key: str

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def name(self) -> str:
        return f"{self.first:07d}"

    @property
    def file(self) -> str:
        return f"{self.name}.mp4"


def _pieces(film: Film, settings: Settings, encoder: Encoder) -> list[_Piece]:
    info = film.info
    made_by = options_key(
        encoder=encoder.arguments,
        ffmpeg=media.ffmpeg_version(settings),
        film=[info.width, info.height, str(info.fps), info.color],
    )
    return [
        _Piece(
            first, last, options_key(look=film.signature(first, last), frames=last - first, made_by=made_by)
        )
        for first, last in piece_ranges(film.frames, info.fps)
    ]


def _groups(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces that follow each other: their frames are read and drawn as one stream."""
    group: list[_Piece] = []
    for piece in pieces:
        if group and group[-1].last != piece.first:
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


@dataclass
class _Work:
    """The drawing and encoding of what is missing."""

    film: Film
    folder: Path
    settings: Settings
    encoder: Encoder
    report: Report
    stage: str
    done: int = 0

    def encode(self, group: Sequence[_Piece]) -> None:
        frames = self.film.draw(group[0].first, group[-1].last)
        try:
            for piece in group:
                self._encode_one(piece, frames)
        finally:
            if isinstance(frames, Generator):  # ends the reader's ffmpeg
                frames.close()

    def _encode_one(self, piece: _Piece, frames: Iterator[Frame]) -> None:
        info, total = self.film.info, self.film.frames

        def make() -> None:
            path = self.folder / piece.file
            self.report.step(self.stage, self.done, total, "frames")
            with media.FrameWriter(
                path, info.width, info.height, info.fps, self.settings, color=info.color, encoder=self.encoder
            ) as writer:
                for frame in islice(frames, len(piece)):
                    writer.write(frame)
                    self.done += 1
                    self.report.step(self.stage, self.done, total, "frames")

        run_stage(self.folder, piece.name, piece.key, [piece.file], make)


def _clear(folder: Path, pieces: Sequence[_Piece]) -> None:
    """Remove pieces of an earlier, longer film."""
    known = {piece.name for piece in pieces}
    for path in [*folder.glob("*.mp4"), *folder.glob("*.stage.json")]:
        if path.name.partition(".")[0] not in known:
            path.unlink()
