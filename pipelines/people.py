"""The flow ``people``: who is to be seen in a clip, with a picture of each, to choose who speaks.

Options: ``input`` (video or picture). Result: ``{"people": [{"file", "share", "box"}]}``, the main person first: a PNG in the
folder, the part of the time in which they are seen, and the box (x0, y0, x1, y1 in px) in the frame the picture is from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np

from pipelines import faces, media
from pipelines.errors import InputError, Message
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.types import FaceTrack, Frame

SIZE = 200  # px of a picture's side
AROUND = 1.5  # times the face
LOOKED = 60  # frames among which the best is chosen


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Find the people; what is found is kept for the job that moves their lips.

    Raises:
        InputError: the file is not there. MediaError: it cannot be read. Stopped: the user asked.
    """
    source = Path(str(options["input"]))
    if not source.is_file():
        raise InputError(
            Message("The file is not there", "文件不存在"),
            Message("Check its name and place.", "请检查文件名和位置。"),
            str(source),
        )
    info = media.probe(source)
    found = []
    for number, track in enumerate(faces.analyse(info, context.settings, report), start=1):
        best = best_frame(track)
        (frame,) = media.read_frames(info, context.settings, start=best, count=1)
        box = [round(float(value), 1) for value in track.boxes[best]]
        name = f"person-{number}.png"
        written, data = cv2.imencode(".png", portrait(frame, box))
        if not written:
            raise RuntimeError("a picture of a face could not be encoded")
        (folder / name).write_bytes(data.tobytes())
        share = float(np.asarray(track.found).mean())
        found.append({"file": name, "share": round(share, 4), "box": box})
    return {"people": found}


def best_frame(track: FaceTrack) -> int:
    """The frame in which the person is seen largest, among some spread over their time."""
    seen = np.flatnonzero(np.asarray(track.found))
    looked = seen[np.linspace(0, len(seen) - 1, min(LOOKED, len(seen))).round().astype(int)]
    boxes = np.asarray(track.boxes)[looked]
    return int(looked[np.argmax((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))])


def portrait(frame: Frame, box: list[float]) -> Frame:
    """The face with some room around it, uint8 (SIZE, SIZE, 3); what lies outside of the picture repeats its edge."""
    centre = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    side = max(round(AROUND * max(box[2] - box[0], box[3] - box[1])), 8)
    left, top = round(centre[0] - side / 2), round(centre[1] - side / 2)
    height, width = frame.shape[:2]
    rows = np.clip(np.arange(top, top + side), 0, height - 1)
    columns = np.clip(np.arange(left, left + side), 0, width - 1)
    return np.asarray(
        cv2.resize(frame[rows][:, columns], (SIZE, SIZE), interpolation=cv2.INTER_AREA), np.uint8
    )
