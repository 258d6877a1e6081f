"""The picture of a lip-sync job: frames of the right number, drawn by the lip engine, encoded as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipelines import faces, media
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.errors import Message, NoFace
from pipelines.faces.motion import liveliest
from pipelines.files import read_json, write_json
from pipelines.lipsync import LIP_ENGINES, LipDrive
from pipelines.pieces import Film, film_encoder, make_film
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.sync.options import SyncOptions
from pipelines.sync.order import frame_order
from pipelines.types import FaceTrack, Phone, VideoInfo

PICTURE = "picture.mp4"
LIPS = "lips.json"


def draw(
    folder: Path,
    asked: SyncOptions,
    sound: Path,
    seconds: float,
    phones: tuple[Phone, ...],
    context: EngineContext,
    report: Report,
) -> dict[str, Any]:
    """Write ``picture.mp4`` without sound, as long as the sound (to the frame); returns the lip engine's report.

    Raises:
        NoFace: nobody is to be seen in the whole clip.
    """
    info = media.probe(asked.face)
    encoder = film_encoder(context, report)
    key = options_key(
        face=fingerprint(asked.face),
        sound=fingerprint(sound),
        engine=asked.engine,
        fit=asked.fit,
        offset=asked.offset,
        who=asked.who,
        head_motion=asked.head_motion and info.still,
        blinking=asked.blinking and info.still,
        phones=[asdict(phone) for phone in phones],
        encoder=encoder.arguments,
        version=3,
    )

    def make() -> None:
        wanted = max(round(seconds * info.fps), 1)
        fit = "freeze" if info.still else asked.fit
        order = frame_order(fit, info.frames, wanted)
        record = _draw(
            folder / PICTURE,
            asked,
            info,
            LipDrive(
                order,
                phones,
                sound,
                offset=asked.offset,
                head_motion=asked.head_motion,
                blinking=asked.blinking,
            ),
            encoder,
            context,
            report,
        )
        write_json(folder / LIPS, record)

    run_stage(folder, "video", key, [PICTURE, LIPS], make)
    record: dict[str, Any] = read_json(folder / LIPS)
    return record


def _draw(
    path: Path,
    asked: SyncOptions,
    info: VideoInfo,
    drive: LipDrive,
    encoder: media.Encoder,
    context: EngineContext,
    report: Report,
) -> dict[str, Any]:
    tracks = faces.analyse(info, context.settings, report)
    if not tracks:
        raise NoFace(
            Message("No face was found in this picture or video", "在该图片或视频中未找到人脸"),
            Message("Choose another clip, or a closer view.", "请换一段视频,或选择更近的镜头。"),
            info.path.name,
        )
    who = asked.who or likely_speaker(tracks, float(info.fps), report)
    lips = LIP_ENGINES.get(asked.engine, context).sync(info, faces.person(tracks, who), drive, report)
    source = fingerprint(info.path)

    def signature(first: int, last: int) -> str:
        return options_key(source=source, engine=asked.engine, look=lips.signature(first, last))

    make_film(Film(info, lips.total, lips.draw, signature), path, context.settings, encoder, report, "video")
    return {
        **asdict(lips.report),
        "frames": lips.total,
        "fps": str(info.fps),
        "people": len(tracks),
        "who": who,
    }


def likely_speaker(tracks: Sequence[FaceTrack], fps: float, report: Report) -> int:
    """The person, counted from 1, who seems to talk in the clip itself; tells it where there are several."""
    who = liveliest(tracks, fps) + 1
    if len(tracks) > 1:
        report.note(
            Message(
                f"{len(tracks)} people were found: number {who} by size speaks, judged by how the mouths move in this clip."
                " Another one can be chosen.",
                f"找到 {len(tracks)} 人：根据嘴部动作判断，由按大小排列的第 {who} 位说话。也可另选一位。",
            )
        )
    return who
