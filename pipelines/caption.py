"""The flow that puts edited rows into their video: drawn into the picture, or as a subtitle track that can be turned off.

Options: ``input`` (the video), ``rows`` (list of segments as ``pipelines.records`` has them), ``how`` (``burned``, ``mp4``,
``mkv``), ``language``, ``style`` (fields of ``AssStyle``). Result: ``{"video": name}``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines import subtitles
from pipelines.asr import EngineContext
from pipelines.errors import InputError, Message, OptionError
from pipelines.media import SubtitleTrack, add_soft, burn_in
from pipelines.progress import Report
from pipelines.records import segment_from

WAYS = ("burned", "mp4", "mkv")


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Make the video with these very rows; they are not cut or timed anew.

    Raises:
        InputError: the video is gone, or there are no rows. OptionError: no such way. MediaError, DiskFull.
    """
    source, how = Path(options["input"]), str(options.get("how"))
    rows = [segment_from(row) for row in options.get("rows") or ()]
    if how not in WAYS:
        raise OptionError(
            Message(f"Subtitles cannot be put in as {how!r}", f"无法以 {how!r} 方式添加字幕"),
            Message(f"Choose from {', '.join(WAYS)}.", f"请从 {', '.join(WAYS)} 中选择。"),
        )
    if not rows or not source.is_file():
        raise InputError(
            Message("There is no video or no row with text", "没有视频或没有带文字的行"),
            Message("Choose the video again.", "请重新选择视频。"),
            str(source),
        )
    if how == "burned":
        drawn, name = folder / "rows.ass", "burned.mp4"
        subtitles.write(drawn, rows, "ass", style=subtitles.ass_style(options.get("style")))
        burn_in(source, drawn, folder / name, context.settings, report)
    else:
        plain, name = folder / "rows.srt", f"subtitled.{how}"
        subtitles.write(plain, rows, "srt")
        track = SubtitleTrack(plain, str(options.get("language") or "und"))
        add_soft(source, [track], folder / name, context.settings, report)
    return {"video": name}
