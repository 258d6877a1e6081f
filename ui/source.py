"""The dropped file: facts shown at once, a time estimate for this machine, and something the browser can play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.jobs import JobSpec
from pipelines.jobs.spec import JobView
from pipelines.types import VideoInfo
from ui.i18n import escaped, text
from ui.jobs_view import clock
from ui.services import Services

PLAYABLE = {
    ".mp4": {"h264", "av1", "vp9"},
    ".m4v": {"h264"},
    ".mov": {"h264"},
    ".webm": {"vp8", "vp9", "av1"},
}
EIGHT_BIT = {"yuv420p", "yuvj420p"}


def playable(info: VideoInfo) -> bool:
    """Whether every current browser plays this file: container, codec and 8-bit 4:2:0 colour."""
    return info.codec in PLAYABLE.get(info.path.suffix.lower(), set()) and info.pixel_format in EIGHT_BIT


def probe(services: Services, path: Path) -> VideoInfo:
    """What is in the file.

    Raises:
        MediaError: it cannot be read.
    """
    from pipelines.media import probe as probe_file

    return probe_file(path)


def facts_html(info: VideoInfo, language: str) -> str:
    """Length, size, frame rate, sound and peculiarities as a row of small labels."""
    items = [clock(info.duration), f"{info.width}×{info.height}", f"{float(info.fps):.4g} fps", info.codec]
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


def estimate_html(services: Services, info: VideoInfo, options: dict[str, Any], language: str) -> str:
    """``3:00 ≈ 11 min on this computer``, from earlier jobs here or a first guess."""
    from pipelines.estimate import estimate

    seconds = estimate(services.settings, info, options)
    key = "ui_estimate_seconds" if seconds < 90 else "ui_estimate_minutes"
    amount = max(5, 5 * round(seconds / 5)) if seconds < 90 else round(seconds / 60)
    return f'<div class="estimate">{escaped(text(language, key, length=clock(info.duration), time=amount))}</div>'


def find_proxy(services: Services, source: str) -> JobView | None:
    """The newest proxy job of a file that did not fail."""
    views = services.store.list(kinds=("proxy",), limit=200)
    return next((view for view in views if view.options.get("input") == source and view.error is None), None)


def preview(services: Services, info: VideoInfo) -> Path | None:
    """A file that the browser plays: the source, or its H.264 proxy; None while that is being made.

    The proxy is a job like any other; asking again is free.
    """
    if playable(info):
        return info.path
    view = find_proxy(services, str(info.path))
    if view is None:
        services.executor.submit(JobSpec("proxy", {"input": str(info.path)}, info.path.name))
        return None
    return view.folder / str(view.result["video"]) if view.state == "done" else None
