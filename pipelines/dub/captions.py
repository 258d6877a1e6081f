"""The subtitles of a dub: files of both languages, tracks to be switched on, and one drawn into the picture."""

from __future__ import annotations

from pathlib import Path

import pysubs2

from pipelines import exports, media, subtitles
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.cues import cues
from pipelines.dub.options import ROLES
from pipelines.dub.run import DubRun
from pipelines.dub.soundtrack import total_frames
from pipelines.dub.speaking import times_file
from pipelines.files import write_text
from pipelines.languages import language_name
from pipelines.progress import PartOf
from pipelines.records import load_speech_times
from pipelines.subtitles import EXTENSIONS, format_of
from pipelines.types import DubLine, DubPlan, Segment, Word

BURNED = "burned.mp4"
ORIGINAL_STYLE = "Original"  # of the source's lines where both languages are drawn
MAIN = "srt"


def spoken_segment(run: DubRun, line: DubLine) -> Segment:
    """A dubbed line with the times of its words on the video's clock, so that its cues follow the voice."""
    _, words = load_speech_times(times_file(run, line))
    shifted = tuple(
        Word(word.start + line.speak_start, word.end + line.speak_start, word.text, word.prob)
        for word in words
    )
    return Segment(line.speak_start, line.speak_end, line.text, shifted, line.speaker)


def rows(run: DubRun, plan: DubPlan) -> dict[str, tuple[Segment, ...]]:
    """What is said, by role: ``target`` as it is spoken in the dub, ``source`` as it was."""
    target = [spoken_segment(run, line) for line in plan.lines if line.state == "spoken"]
    source = [
        Segment(line.start, line.end, line.source, (), line.speaker) for line in plan.lines if line.source
    ]
    return {"target": tuple(target), "source": tuple(source)}


def write_files(run: DubRun, plan: DubPlan) -> dict[str, dict[str, str]]:
    """Write the subtitle files; returns the result's ``subtitles`` (SRT by role) and ``more_subtitles`` (others by name)."""
    ends = float(total_frames(run, plan) / run.info.fps)
    formats = dict.fromkeys((MAIN, *run.options.subtitle_formats))
    names: dict[str, dict[str, str]] = {"subtitles": {}, "more_subtitles": {}}
    for role, said in rows(run, plan).items():
        for form in formats:
            path = run.folder / f"{role}.{EXTENSIONS[format_of(Path(f'x.{form}'))]}"
            exports.export(path, said, recut=True, until=ends)
            if form == MAIN:
                names["subtitles"][role] = path.name
            else:
                names["more_subtitles"][path.name] = path.name
    return names


def tracks(run: DubRun, plan: DubPlan) -> tuple[media.SubtitleTrack, ...]:
    """Soft subtitles in the languages asked for, where something is written in them."""
    spoken = {"target": plan.target_language, "source": plan.source_language}
    files = [
        (run.folder / f"{role}.{MAIN}", spoken[role]) for role in ROLES.get(run.options.soft_subtitles, ())
    ]
    return tuple(
        media.SubtitleTrack(path, language, language_name(language).en)
        for path, language in files
        if path.read_text(encoding="utf-8").strip()
    )


def drawn(run: DubRun, plan: DubPlan, picture: Path) -> Path:
    """The picture with the subtitles that were asked for drawn into it, or as it was."""
    roles = ROLES.get(run.options.burned_subtitles, ())
    if not roles:
        return picture
    ends = float(total_frames(run, plan) / run.info.fps)
    said = rows(run, plan)
    styled = styled_subtitles({role: cues(said[role], until=ends) for role in roles})
    path = run.folder / "burned.ass"
    key = options_key(picture=fingerprint(picture), subtitles=styled)

    def make() -> None:
        write_text(path, styled)
        media.burn_in(picture, path, run.folder / BURNED, run.context.settings, PartOf(run.report, "video"))

    run_stage(run.folder, "burn", key, [BURNED], make)
    return run.folder / BURNED


def styled_subtitles(said: dict[str, tuple[Segment, ...]]) -> str:
    """An ASS file with the dub's lines below and, where both are drawn, the original's above, smaller."""
    if len(said) == 1:
        return subtitles.as_text(next(iter(said.values())), "ass")
    below = pysubs2.SSAFile.from_string(subtitles.as_text(said["target"], "ass"))
    smaller = subtitles.AssStyle(size=46, position="top")
    above = pysubs2.SSAFile.from_string(subtitles.as_text(said["source"], "ass", style=smaller))
    above.rename_style("Default", ORIGINAL_STYLE)
    below.import_styles(above)
    below.events += above.events
    return str(below.to_string("ass"))
