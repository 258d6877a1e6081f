"""The sound as a picture: its loudness over time, and over it where speech was found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.clock import clock
from ui.i18n import escaped, text

WIDTH, HEIGHT = 1000, 72
BARS = 500


def read(path: Path | None) -> dict[str, Any] | None:
    """The picture's facts (``speech.json`` of a transcription), None while they are not there."""
    if path is None or not path.is_file():
        return None
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def wave_html(facts: dict[str, Any] | None, language: str) -> str:
    """Bars of loudness, bands where there is speech, marks of time; a click on it goes there in the player."""
    if not facts or not facts.get("duration"):
        return ""
    start, length = float(facts.get("start") or 0.0), float(facts["duration"])
    spans = facts.get("spans") or []
    spoken = sum(last - first for first, last in spans)
    name = text(language, "ui_wave", seconds=clock(spoken), all=clock(length))
    bands = "".join(
        f'<rect class="band" x="{WIDTH * (first - start) / length:.1f}" y="0" '
        f'width="{max(1.0, WIDTH * (last - first) / length):.1f}" height="{HEIGHT}"/>'
        for first, last in spans
    )
    return (
        f'<div class="wave" data-start="{start:.3f}" data-length="{length:.3f}"><svg viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'preserveAspectRatio="none" role="img" aria-label="{escaped(name)}">{bands}{_bars(facts.get("peaks") or ())}'
        f'{_line(facts.get("speech") or ())}</svg><div class="wave-now"></div></div>'
        f'<p class="quiet wave-said">{escaped(name)}</p>'
    )


def _bars(peaks: Sequence[float]) -> str:
    """One path for all bars, the loudest sample of each; the peaks are scaled so that the loudest fills the picture."""
    top = max(peaks, default=0.0)
    if top <= 0:
        return ""
    count = min(BARS, len(peaks))
    moves = []
    for bar in range(count):
        piece = peaks[bar * len(peaks) // count : (bar + 1) * len(peaks) // count]
        half = max(0.5, HEIGHT / 2 * max(piece) / top * 0.95)
        moves.append(f"M{(bar + 0.5) * WIDTH / count:.1f} {HEIGHT / 2 - half:.1f}V{HEIGHT / 2 + half:.1f}")
    return f'<path class="bars" d="{"".join(moves)}" stroke-width="{0.6 * WIDTH / count:.2f}"/>'


def _line(speech: Sequence[float]) -> str:
    """The probability of speech, 1 at the top."""
    if len(speech) < 2:
        return ""
    count = min(BARS, len(speech))
    values = [max(speech[n * len(speech) // count : (n + 1) * len(speech) // count]) for n in range(count)]
    points = " ".join(
        f"{(n + 0.5) * WIDTH / count:.1f},{HEIGHT - 1 - (HEIGHT - 2) * v:.1f}" for n, v in enumerate(values)
    )
    return f'<polyline class="chance" points="{points}"/>'
