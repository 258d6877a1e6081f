"""Edited rows of a transcript as files: cut into readable cues where that is asked for, else exactly as they are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

from pipelines.cues import CueRules, cues
from pipelines.files import write_text
from pipelines.subtitles import WITHOUT_CUES, AssStyle, Format, as_text, format_of
from pipelines.types import Segment


def export(
    path: Path,
    rows: Sequence[Segment],
    form: Format | None = None,
    *,
    rules: CueRules | None = None,
    recut: bool = False,
    style: AssStyle | None = None,
    until: float = math.inf,
) -> None:
    """Write rows as a subtitle or transcript file, whole or not at all.

    Args:
        form: by default what the file name asks for. recut: cut the rows into cues by ``rules`` where the format is shown
            against the clock; otherwise every row stays one cue. style: of ASS. until: where the film or sound ends, seconds.
    """
    wanted = form or format_of(path)
    write_text(path, as_text(rows_for(rows, wanted, rules, recut=recut, until=until), wanted, style=style))


def rows_for(
    rows: Sequence[Segment],
    form: Format,
    rules: CueRules | None = None,
    *,
    recut: bool,
    until: float = math.inf,
) -> tuple[Segment, ...]:
    """The rows as one format gets them: the text that is shown, cut into cues where the format wants any."""
    if form in WITHOUT_CUES:
        return tuple(rows)
    shown = [dataclasses.replace(row, text=row.shown, normalised="") for row in rows]
    if not recut:
        return tuple(row for row in shown if row.text.strip())
    rules = rules or CueRules()
    return cues(shown, dataclasses.replace(rules, lines=1) if form == "lrc" else rules, until=until)
