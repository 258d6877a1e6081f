"""The dropped file: facts shown at once, and a time estimate for this machine, in the user's words."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.clock import clock
from pipelines.errors import PipelineError
from pipelines.estimate import estimate, stage_seconds
from pipelines.jobs.spec import JobView
from pipelines.types import AudioTrack, VideoInfo
from ui import languages
from ui.i18n import escaped, text
from ui.services import Services

MOST_STREAMS = 64  # what a program may name; on the page only those of the file are to be seen
CODECS = {"h264": "H.264", "hevc": "HEVC", "mpeg4": "MPEG-4", "vp8": "VP8", "vp9": "VP9", "av1": "AV1"}


def probe(path: Path) -> VideoInfo:
    """What is in the file.

    Raises:
        MediaError: it cannot be read.
    """
    stamp = path.stat() if path.is_file() else None
    return _probed(path, (stamp.st_mtime_ns, stamp.st_size) if stamp else None)


@functools.lru_cache(maxsize=32)
def _probed(path: Path, changed: tuple[int, int] | None) -> VideoInfo:
    """Once for each state of a file: a running job is looked at twice a second."""
    from pipelines.media import probe as probe_file

    return probe_file(path)


def expected_seconds(services: Services, view: JobView) -> dict[str, float]:
    """How long each stage of a running dub should take on this machine; empty for other jobs and lost sources."""
    if view.kind != "dub" or view.state != "running":
        return {}
    try:
        info = probe(Path(str(view.options["input"])))
    except PipelineError:
        return {}
    return stage_seconds(services.settings, part_of(info, view.options), bool(view.options.get("lips", True)))


def part_of(info: VideoInfo, options: Mapping[str, Any]) -> VideoInfo:
    """The video as long as the part of it that is dubbed."""
    start, end = options.get("start") or 0.0, options.get("end") or info.duration
    seconds = max(min(end, info.duration) - start, 0.0)
    return replace(info, duration=seconds, frames=round(seconds * info.fps))


def facts_html(info: VideoInfo, language: str) -> str:
    """Length, size, frame rate, sound and peculiarities as a row of small labels."""
    items = [
        clock(info.duration),
        f"{info.width}×{info.height}",
        f"{float(info.fps):.4g} fps",
        CODECS.get(info.codec, info.codec),
    ]
    if info.vfr:
        items.append(text(language, "ui_fact_vfr", fps=f"{float(info.fps):.4g}"))
    if info.hdr:
        items.append("HDR")
    if not info.audio:
        items.append(text(language, "ui_fact_silent"))
    items += [text(language, "ui_fact_sound", name=track_name(track, language)) for track in info.audio[:4]]
    return f'<div class="facts">{"".join(f"<span>{escaped(item)}</span>" for item in items)}</div>'


def track_name(track: AudioTrack, language: str) -> str:
    """A sound track as people tell it from the others: language, title, kind."""
    spoken = languages.tagged(track.language, language)
    return " ".join(
        part for part in (spoken, track.title, track.codec.upper(), f"{track.sr / 1000:g} kHz") if part
    )


def track_choices(info: VideoInfo, language: str) -> list[tuple[str, str]]:
    """The sound tracks of a video to choose from; the empty choice is the file's default one."""
    return tracks_menu(info.audio, language)


def tracks_menu(tracks: Sequence[AudioTrack], language: str) -> list[tuple[str, str]]:
    """Sound tracks to choose from; the empty choice is the default one."""
    if not tracks:
        return []
    default = next((track for track in tracks if track.default), tracks[0])
    first = text(language, "ui_dub_stream_default", name=track_name(default, language))
    return [(first, ""), *((track_name(track, language), str(track.stream)) for track in tracks)]


def estimate_html(services: Services, info: VideoInfo, lips: bool, language: str) -> str:
    """``3:00 ≈ 11 min on this computer``, from earlier jobs here or a first guess."""
    seconds = estimate(services.settings, info, lips)
    key = "ui_estimate_seconds" if seconds < 90 else "ui_estimate_minutes"
    amount = max(5, 5 * round(seconds / 5)) if seconds < 90 else round(seconds / 60)
    return f'<div class="estimate">{escaped(text(language, key, length=clock(info.duration), time=amount))}</div>'
