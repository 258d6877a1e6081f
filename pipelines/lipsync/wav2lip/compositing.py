"""Laying what the network drew into the picture: only the difference, only inside a soft mask, at the picture's size.

The network draws 96 × 96 pixels. Pasted in, they blur the skin and show as a rectangle; here the picture keeps its own
detail and gets what is different: out = source + mask · enlarged(drawn − reduced(source)).
"""

from __future__ import annotations

import cv2
import numpy as np

from pipelines.lipsync.geometry import F32
from pipelines.lipsync.warp import Picture
from pipelines.lipsync.wav2lip.framing import Boxes


def lay_in(frame: Picture, box: Boxes, drawn: F32, face: Picture, mask: F32) -> Picture:
    """A new frame; where the mask is 0, and so everywhere outside the box, it equals the source bit for bit.

    Args:
        frame: (H, W, 3), left as it is. box: (4,) px. mask: (96, 96) in [0, 1].
        drawn: (96, 96, 3) in 0…255. face: (96, 96, 3), what ``frame`` holds in the box.
    """
    result = frame.copy()
    x0, y0, x1, y1 = (int(value) for value in box)
    rows, columns = _covered(mask, y0, y1, 0), _covered(mask, x0, x1, 1)
    change = np.dstack([drawn - face, mask]).astype(np.float32)
    large = cv2.resize(change, (x1 - x0, y1 - y0), interpolation=cv2.INTER_LINEAR)
    top, bottom = max(rows[0], 0), min(rows[1], frame.shape[0])
    left, right = max(columns[0], 0), min(columns[1], frame.shape[1])
    if top >= bottom or left >= right:
        return result
    part = large[top - y0 : bottom - y0, left - x0 : right - x0]
    mixed = part[..., :3] * part[..., 3:]
    mixed += result[top:bottom, left:right]
    result[top:bottom, left:right] = np.clip(np.rint(mixed), 0, 255)
    return result


def _covered(mask: F32, start: int, stop: int, axis: int) -> tuple[int, int]:
    """First and last + 1 row (axis 0) or column of the frame that the mask reaches."""
    used = np.flatnonzero(mask.any(1 - axis))
    if not len(used):
        return start, start
    cell = (stop - start) / mask.shape[axis]
    first, last = start + int((used[0] - 1) * cell), start + int(np.ceil((used[-1] + 2) * cell))
    return max(first, start), min(last, stop)
