"""Sound in and out: any track of any file as blocks of float samples on the file's clock; WAV files written whole."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import soundfile

from pipelines.errors import MediaError, Message, NoSoundTrack
from pipelines.files import part_file
from pipelines.media.ffmpeg import child, command, failure
from pipelines.media.probe import clock_input, sound_tracks
from pipelines.settings import Settings
from pipelines.types import Audio, AudioTrack, Samples

PRE_ROLL = 1.0  # seconds decoded before the wanted start: codecs need a run-up, mp3 seeks land early
# The resampler's clock begins so many seconds before the wanted start, earlier than any seek lands. It may pad what is
# missing there, but must not drop: told to drop a second, it drops up to 0.3 s more where rates do not divide.
CLOCK_AHEAD = 30.0
BYTES_PER_SAMPLE = 4
BYTES_PER_WAV_SAMPLE = 2
WAV_LIMIT = 2**32 - 2**16
LAYOUTS = {1: "mono", 2: "stereo"}


def choose_track(path: Path, stream: int | None) -> AudioTrack:
    """The sound track with that absolute stream index, or the default one (else the first).

    Raises:
        NoSoundTrack: the file has no sound. MediaError: it has no such track, or cannot be read.
    """
    tracks = sound_tracks(path)
    if not tracks:
        raise NoSoundTrack(
            Message("This file has no sound track", "该文件没有音轨"),
            Message(
                "Choose a file with sound, or give the sound as a file of its own.",
                "请选择带声音的文件,或单独提供音频。",
            ),
            str(path),
        )
    if stream is None:
        return next((track for track in tracks if track.default), tracks[0])
    for track in tracks:
        if track.stream == stream:
            return track
    listed = ", ".join(f"{track.stream} ({track.language or '?'})" for track in tracks)
    raise MediaError(
        Message(f"There is no sound track {stream}", f"没有音轨 {stream}"),
        Message(f"Choose one of: {listed}.", f"请从中选择:{listed}。"),
        str(path),
    )


def read_sound(
    path: Path,
    settings: Settings,
    *,
    sr: int,
    stream: int | None = None,
    channel: int | None = None,
    channels: int = 1,
    start: float = 0.0,
    end: float | None = None,
    block_seconds: float = 30.0,
) -> Iterator[Samples]:
    """Deliver a sound track in blocks, on the file's clock, resampled, in constant memory.

    Sample ``n`` belongs to the time ``start + n / sr`` of the file: a track that begins late is preceded by silence,
    holes are filled, so sound and frames of one file stay in step. The last block ends with the track or at ``end``.

    Args:
        sr: sample rate of the result, in Hz. stream: absolute stream index, None for the default track.
        channel: take this channel alone (0 is left). channels: 1 mixes down (blocks are ``(n,)``), more gives
            ``(n, channels)``. start, end: seconds of the file. block_seconds: length of a block.

    Raises:
        NoSoundTrack: the file has no sound. MediaError: it cannot be decoded, or has no such track or channel.
    """
    track = choose_track(path, stream)
    if channel is not None and not 0 <= channel < track.channels:
        raise MediaError(
            Message(f"The sound track has no channel {channel + 1}", f"音轨没有第 {channel + 1} 声道"),
            Message(f"It has {track.channels}.", f"它有 {track.channels} 个声道。"),
            str(path),
        )
    width = 1 if channel is not None else channels
    block = max(round(block_seconds * sr), 1)
    delivered = False
    with child(
        _reader_arguments(path, settings, track, sr, channel, width, start, end), reads=True
    ) as running:
        for samples in _blocks(running.stdout, block, width):
            delivered = True
            yield samples
        if running.finish() != 0 and not delivered:
            what = Message(
                f"The sound track ({track.codec}) cannot be decoded", f"无法解码音轨({track.codec})"
            )
            raise failure(running, what, f"{path}, stream {track.stream}")


def load_sound(
    path: Path,
    settings: Settings,
    *,
    sr: int,
    stream: int | None = None,
    channel: int | None = None,
    channels: int = 1,
    start: float = 0.0,
    end: float | None = None,
) -> Audio:
    """Like ``read_sound``, all at once: for short pieces (a line, a reference)."""
    blocks = list(
        read_sound(
            path,
            settings,
            sr=sr,
            stream=stream,
            channel=channel,
            channels=channels,
            start=start,
            end=end,
        )
    )
    empty = np.zeros((0,) if channels == 1 or channel is not None else (0, channels), np.float32)
    return Audio(np.concatenate(blocks) if blocks else empty, sr)


def _reader_arguments(
    path: Path,
    settings: Settings,
    track: AudioTrack,
    sr: int,
    channel: int | None,
    channels: int,
    start: float,
    end: float | None,
) -> list[str]:
    seek = max(start - PRE_ROLL, 0.0)
    options = {"ss": f"{seek:.6f}", "noaccurate_seek": None} if seek > 0 else {}
    sound = clock_input(path, **options)[str(track.stream)]
    if channel is not None:
        sound = sound.filter("channelmap", map=channel, channel_layout="mono")
    elif track.channels == 1 and channels == 2:
        sound = sound.filter(
            "channelmap", map="0|0", channel_layout="stereo"
        )  # at full level; mixing would halve it
    first = round(start * sr)
    # Mixed down by the mean of the channels (ffmpeg's own rule for float would let a loud pair clip).
    mix = {"out_chlayout": LAYOUTS[channels], "rematrix_maxval": 1} if channels in LAYOUTS else {}
    clock = max(round((start - CLOCK_AHEAD) * sr), 0)
    sound = sound.filter("aresample", sr, **{"async": 1, "first_pts": clock}, **mix)
    limits = {} if end is None else {"end_pts": first + max(round((end - start) * sr), 0)}
    sound = sound.filter("atrim", start_pts=first, **limits)
    return command(settings, sound.output("pipe:1", format="f32le", ac=channels, ar=sr))


def _blocks(pipe: IO[bytes], block: int, channels: int) -> Iterator[Samples]:
    size = block * channels * BYTES_PER_SAMPLE
    while data := pipe.read(size):
        whole = len(data) - len(data) % (channels * BYTES_PER_SAMPLE)
        samples = np.frombuffer(data[:whole], "<f4").astype(np.float32)
        yield samples if channels == 1 else samples.reshape(-1, channels)


def write_sound(
    path: Path, blocks: Iterable[Samples], sr: int, channels: int = 1, *, expected: int = 0
) -> int:
    """Write blocks as a 16-bit WAV file, whole or not at all; returns the number of samples per channel.

    Args:
        blocks: float32 ``(n,)`` or ``(n, channels)`` in [-1, 1]; beyond that they are clipped.
        expected: how many samples will come, when known: beyond WAV's 4 GB the file becomes RF64.

    Raises:
        DiskFull: no room.
    """
    written = 0
    with (
        part_file(path) as part,
        _wave(part, sr, channels, expected) as file,
        contextlib.closing(_generator(blocks)) as pieces,
    ):
        for samples in pieces:
            file.write(samples)
            written += len(samples)
    return written


def _generator(
    blocks: Iterable[Samples],
) -> Generator[Samples, None, None]:  # closable, so that a reader behind it is too
    yield from blocks


def _wave(part: Path, sr: int, channels: int, expected: int) -> soundfile.SoundFile:
    form = "RF64" if expected * channels * BYTES_PER_WAV_SAMPLE > WAV_LIMIT else "WAV"
    return soundfile.SoundFile(part, "w", sr, channels, subtype="PCM_16", format=form)


def save_audio(path: Path, audio: Audio) -> None:
    """Write sound in memory as a 16-bit WAV file, whole or not at all."""
    channels = 1 if audio.samples.ndim == 1 else audio.samples.shape[1]
    write_sound(path, [audio.samples], audio.sr, channels)
