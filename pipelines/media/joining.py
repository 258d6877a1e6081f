"""Encoded pieces of one film put end to end without touching a picture: packets are copied, their times counted on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
from av.container import InputContainer, OutputContainer
from av.video.stream import VideoStream

from pipelines.errors import MediaError, Message
from pipelines.files import part_file
from pipelines.progress import Report

HELD_BACK = 2  # frames x264 and hardware encoders hold back at most for B-frames at our settings
WHAT = Message("The pieces of the video could not be joined", "无法拼接视频片段")


def join_pieces(
    pieces: Sequence[tuple[Path, int]], out: Path, fps: Fraction, report: Report, stage: str
) -> None:
    """Write the pieces, in order, as one mp4 that starts to play while it loads.

    The pieces come from ``FrameWriter`` with the same size, rate and encoder: each begins with a key frame, so that
    nothing is decoded and every picture stays what it was, bit for bit.

    Args:
        pieces: files and their numbers of frames. fps: frames a second.

    Raises:
        MediaError: a piece is damaged or unlike the others. DiskFull: no room. Stopped: the user asked.
    """
    with part_file(out) as part:
        try:
            with av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"}) as target:
                _copy_all(pieces, target, fps, report, stage)
        except av.error.FFmpegError as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk, not the film
            raise MediaError(WHAT, where=f"{out.name}: {error}") from error


def _copy_all(
    pieces: Sequence[tuple[Path, int]], target: OutputContainer, fps: Fraction, report: Report, stage: str
) -> None:
    stream: VideoStream | None = None
    header: bytes | None = None
    done, total = 0, sum(frames for _, frames in pieces)
    for path, frames in pieces:
        report.step(stage, total, total, "frames")  # all are made: the bar stays where it is
        with av.open(str(path)) as source:
            template = source.streams.video[0]
            if stream is None:
                stream, header = target.add_stream_from_template(template), template.codec_context.extradata
            elif template.codec_context.extradata != header:
                raise MediaError(WHAT, where=f"{path.name}: made with another encoder")
            copied = _copy(source, stream, target, done, fps)
        if copied != frames:
            raise MediaError(WHAT, where=f"{path.name}: {copied} frames instead of {frames}")
        done += frames


def _copy(
    source: InputContainer, stream: VideoStream, target: OutputContainer, first: int, fps: Fraction
) -> int:
    """Copy one piece as frames ``first`` … of the film; returns how many there are.

    Frames are shown in the order of ``pts`` and decoded in the order they stand in, each one frame's time after the
    last; decoding is ahead by as many frames as may be held back for sorting. (A piece's own decoding times do not
    fit together: a very short one is not ahead as far.)
    """
    count = 0
    for packet in source.demux(source.streams.video[0]):
        if packet.pts is None:  # the empty packet at the end
            continue
        tick = 1 / (fps * packet.time_base)  # one frame in the piece's own units
        packet.pts += round(first * tick)
        packet.dts = round((first + count - HELD_BACK) * tick)
        packet.stream = stream
        target.mux_one(packet)
        count += 1
    return count
