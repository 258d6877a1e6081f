"""A contact sheet of a talking face: 24 close-ups with the time and the phone that is being said, for a person to look at.

python -m bench.sheet FILM.mp4 OUT.png
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from pipelines import faces, media
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import FaceTrack, Frame, Phone, VideoInfo

COLUMNS, ROWS = 6, 4
CELL = (256, 256)


def contact_sheet(
    film: VideoInfo, track: FaceTrack, phones: Sequence[Phone], settings: Settings
) -> Image.Image:
    """24 frames evenly spread over the film, cut to the lower face."""
    wanted = np.linspace(0, film.frames - 1, COLUMNS * ROWS).astype(int).tolist()
    sheet = Image.new("RGB", (COLUMNS * CELL[0], ROWS * CELL[1]))
    for number, frame in enumerate(media.read_frames(film, settings)):
        if number not in wanted:
            continue
        place = wanted.index(number)
        cell = Image.fromarray(np.ascontiguousarray(_lower_face(frame, track, number)[..., ::-1])).resize(
            CELL
        )
        time = (number + 0.5) / float(film.fps)
        said = next((phone.symbol for phone in phones if phone.start <= time < phone.end), "–")
        ImageDraw.Draw(cell).text((6, 4), f"{time:.2f} s  {said}", fill=(255, 255, 0))
        sheet.paste(cell, (place % COLUMNS * CELL[0], place // COLUMNS * CELL[1]))
    return sheet


def _lower_face(frame: Frame, track: FaceTrack, number: int) -> Frame:
    """A square from the eyes to below the chin; the whole frame where there is no face."""
    if number >= len(track.found) or not track.found[number]:
        return frame
    x0, y0, x1, y1 = np.asarray(track.boxes[number]).tolist()
    half = int(max(x1 - x0, y1 - y0) * 0.42)
    x, y = int((x0 + x1) / 2), int(y0 + 0.68 * (y1 - y0))
    height, width = frame.shape[:2]
    cut = frame[max(y - half, 0) : min(y + half, height), max(x - half, 0) : min(x + half, width)]
    return cut if cut.size else frame


def main() -> None:
    """Command line: the film alone, without its phones."""
    film, out = (Path(word) for word in sys.argv[1:3])
    settings, info = Settings.load(), media.probe(film)
    contact_sheet(info, faces.analyse(info, settings, NullReport())[0], (), settings).save(out)


if __name__ == "__main__":
    main()
