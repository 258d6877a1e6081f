"""The sound files that speech can be written as, and how loud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.errors import Message, OptionError

EXACT: Mapping[str, dict[str, str | int]] = {"wav": {"acodec": "pcm_s16le"}, "flac": {"acodec": "flac"}}
LOSSY: Mapping[str, dict[str, str | int]] = {
    "mp3": {"acodec": "libmp3lame", "audio_bitrate": "128k"},
    "m4a": {"acodec": "aac", "audio_bitrate": "128k", "movflags": "+faststart"},
    "opus": {"acodec": "libopus", "audio_bitrate": "64k"},
}
FORMATS = (*EXACT, *LOSSY)
OFF = "off"
USUAL = -16.0
LOUDNESS = (USUAL, -14.0, -23.0)  # LUFS: podcasts and the web, streaming services, broadcast (EBU R 128)
LOUDNESS_CHOICES = (*(f"{level:g}" for level in LOUDNESS), OFF)


def asked_format(options: Mapping[str, Any]) -> str:
    """The ``format`` of a job's options.

    Raises:
        OptionError: there is no such format.
    """
    form = str(options.get("format") or "wav")
    if form not in FORMATS:
        raise OptionError(
            Message(f"Sound cannot be written as {form!r}", f"无法写出格式 {form!r}"),
            Message(f"Formats: {', '.join(FORMATS)}.", f"可用格式:{', '.join(FORMATS)}。"),
        )
    return form


def asked_loudness(options: Mapping[str, Any]) -> float | None:
    """The ``loudness`` of a job's options in LUFS, −70 … −5; None: as it is.

    Raises:
        OptionError: it is neither ``off`` nor such a number.
    """
    wish = options.get("loudness")
    if wish == OFF:
        return None
    try:
        lufs = USUAL if wish is None else float(wish)
    except (TypeError, ValueError):
        lufs = 0.0
    if not -70.0 <= lufs <= -5.0:
        raise OptionError(
            Message(f"Speech cannot be made {wish!r} LUFS loud", f"无法达到响度 {wish!r} LUFS"),
            Message(f"Choose from: {', '.join(LOUDNESS_CHOICES)}.", f"可选:{'、'.join(LOUDNESS_CHOICES)}。"),
        )
    return lufs
