"""Step 4: the picture, with the mouth saying the dub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from pipelines import faces, media
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.dub import onscreen
from pipelines.dub.part import outside
from pipelines.dub.run import DubRun
from pipelines.dub.speaking import spoken_phones
from pipelines.errors import Message
from pipelines.files import read_json, write_json
from pipelines.lipsync import LIP_ENGINES, LipDrive, LipReport, LipRun
from pipelines.lipsync.frames import ordered_frames
from pipelines.lipsync.several import together
from pipelines.pieces import Film, film_encoder, make_film
from pipelines.progress import StagePart
from pipelines.types import DubPlan, Frame

PICTURE = "picture.mp4"
LIPS = "lips.json"
STAGE = "lips"
# Where the bar stands when the faces are found, and when the mouths to be drawn are chosen.
FOUND, CHOSEN = 0.3, 0.5


def draw(run: DubRun, plan: DubPlan, sound: Path, frames: int) -> LipReport:
    """Write ``picture.mp4`` (H.264, no sound), ``frames`` long; the last picture is held when the dub is longer.

    Only the pieces whose mouth changed since the last run are drawn; ``measures["drawn_now"]`` says how many frames.
    """
    asked = run.options
    encoder = film_encoder(run.context, run.report)
    key = options_key(
        source=run.source_hash,
        engine=asked.lip_engine if asked.lips else None,
        phones=[asdict(phone) for phone in spoken_phones(run, plan)],
        keep=keep_ranges(run, plan),
        speakers=[line.speaker for line in plan.lines],
        who=asked.who,
        sound=fingerprint(sound),
        frames=frames,
        encoder=encoder.arguments,
    )
    drawn_now = 0

    def make() -> None:
        nonlocal drawn_now
        order = frame_order(run.info.frames, frames)
        lips = synchronise(run, plan, order, sound) if asked.lips else untouched(run, order, ())
        drawn_now = sum(last - first for first, last in write_picture(run, lips, encoder))
        write_json(run.folder / LIPS, asdict(lips.report))

    run_stage(run.folder, STAGE, key, [PICTURE, LIPS], make)
    run.report.step(STAGE, frames, frames, "frames")
    report = report_from(read_json(run.folder / LIPS))
    return replace(report, measures={**report.measures, "drawn_now": float(drawn_now)})


def frame_order(source: int, wanted: int) -> tuple[int, ...]:
    """Every source frame once, then the last one held."""
    return tuple(min(number, source - 1) for number in range(wanted))


def keep_ranges(run: DubRun, plan: DubPlan) -> tuple[tuple[float, float], ...]:
    """Where the original sound stays, and so the original mouth."""
    kept = [(line.start, line.end) for line in plan.lines if line.keep]
    return tuple(sorted([*kept, *outside(run)]))


def synchronise(run: DubRun, plan: DubPlan, order: tuple[int, ...], sound: Path) -> LipRun:
    """Find the faces and hand the clip to the lip engine, once for everybody who speaks in it.

    Without a face, or where nobody is seen speaking, the picture stays as it is.
    """
    total = len(order)
    looking = StagePart(run.report, STAGE, 0, FOUND * total, total, "frames")
    tracks = faces.analyse(run.info, run.context.settings, looking)
    if not tracks:
        note = Message("No face was found: the picture is unchanged", "没有找到人脸:画面保持不变")
        run.report.note(note, "warning")
        return untouched(run, order, (note,))
    cast = onscreen.parts(run, plan, tracks)
    if not cast:
        return untouched(run, order, ())
    engine = LIP_ENGINES.get(run.options.lip_engine, run.context)
    drawn = []
    for place, part in enumerate(cast):
        edges = [FOUND + (CHOSEN - FOUND) * step / len(cast) for step in (place, place + 1)]
        choosing = StagePart(run.report, STAGE, edges[0] * total, edges[1] * total, total, "frames")
        keep = (*keep_ranges(run, plan), *part.others)
        drive = LipDrive(order, spoken_phones(run, part.plan), sound, keep)
        drawn.append(engine.sync(run.info, part.track, drive, choosing))
    return together(
        drawn, lambda first, last: ordered_frames(run.info, order[first:last], run.context.settings)
    )


def untouched(run: DubRun, order: tuple[int, ...], notes: tuple[Message, ...]) -> LipRun:
    """The source's own frames in the order asked for (only the last one may repeat)."""

    info, total = run.info, len(order)

    def frames(first: int, last: int) -> Iterator[Frame]:
        held: Frame | None = None
        start = min(first, info.frames - 1)
        for held in media.read_frames(info, run.context.settings, start=start, count=last - first):
            yield held
            start += 1
        while held is not None and start < last:
            yield held
            start += 1

    report = LipReport((), ((0, total),), notes)
    return LipRun(report, total, frames, lambda first, last: f"untouched {order[first:last]}")


def write_picture(run: DubRun, lips: LipRun, encoder: media.Encoder) -> tuple[tuple[int, int], ...]:
    """Draw and encode what is not there yet; returns the ranges of frames drawn."""
    total, source, engine = lips.total, run.source_hash, run.options.lip_engine

    def signature(first: int, last: int) -> str:
        return options_key(source=source, engine=engine, look=lips.signature(first, last))

    film = Film(run.info, total, lips.draw, signature)
    drawing = StagePart(run.report, STAGE, CHOSEN * total, total, total, "frames")
    return make_film(film, run.folder / PICTURE, run.context.settings, encoder, drawing, STAGE)


def report_from(record: dict[str, object]) -> LipReport:
    """The lip engine's report as it was written."""

    def ranges(name: str) -> tuple[tuple[int, int], ...]:
        found = record[name]
        assert isinstance(found, list)
        return tuple((int(first), int(last)) for first, last in found)

    notes, measures = record["notes"], record["measures"]
    assert isinstance(notes, list) and isinstance(measures, dict)
    return LipReport(
        ranges("synthesised"),
        ranges("passed"),
        tuple(Message(**note) for note in notes),
        {str(name): float(value) for name, value in measures.items()},
    )
