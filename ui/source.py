"""The dropped file: facts shown at once, and a time estimate for this machine, in the user's words."""

from __future__ import annotations

from pathlib import Path

from pipelines.estimate import estimate
from pipelines.types import VideoInfo
from ui.i18n import escaped, text
from ui.jobs_view import clock
from ui.services import Services

CODECS = {"h264": "H.264", "hevc": "HEVC", "mpeg4": "MPEG-4", "vp8": "VP8", "vp9": "VP9", "av1": "AV1"}


def probe(path: Path) -> VideoInfo:
    """What is in the file.

    Raises:
        MediaError: it cannot be read.
    """
    from pipelines.media import probe as probe_file

    return probe_file(path)


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
    for track in info.audio[:4]:
        name = " ".join(
            part for part in (track.codec.upper(), f"{track.sr / 1000:g} kHz", track.language) if part
        )
        items.append(text(language, "ui_fact_sound", name=name))
    return f'<div class="facts">{"".join(f"<span>{escaped(item)}</span>" for item in items)}</div>'


def estimate_html(services: Services, info: VideoInfo, lips: bool, language: str) -> str:
    """``3:00 ≈ 11 min on this computer``, from earlier jobs here or a first guess."""
    seconds = estimate(services.settings, info, lips)
    key = "ui_estimate_seconds" if seconds < 90 else "ui_estimate_minutes"
    amount = max(5, 5 * round(seconds / 5)) if seconds < 90 else round(seconds / 60)
    return f'<div class="estimate">{escaped(text(language, key, length=clock(info.duration), time=amount))}</div>'
