"""A drawn woman who can speak: the example clip shows nobody, so nobody's rights are touched.

Every frame is painted from smooth curves and soft shading on a canvas twice the size and scaled down. The mouth follows
three numbers (open, wide, round), the eyes blink, the head sways a little.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

SIZE, SCALE = 512, 2
Points = npt.NDArray[np.float64]
Canvas = npt.NDArray[np.float32]
SKIN, SHADE, LIGHT = (188, 208, 240), (138, 160, 205), (212, 226, 250)  # BGR
HAIR, HAIR_LIGHT = (38, 48, 72), (70, 92, 130)
LIP_UP, LIP_LOW, MOUTH, TEETH, TONGUE = (
    (98, 92, 184),
    (118, 112, 206),
    (38, 26, 66),
    (232, 236, 240),
    (110, 100, 190),
)
IRIS, SHIRT, BACK_TOP, BACK_LOW = (96, 110, 70), (150, 108, 62), (206, 196, 178), (176, 160, 140)


@dataclass(frozen=True, slots=True)
class Pose:
    """One frame: ``jaw``, ``wide``, ``round`` and ``lids`` from 0 to 1 (lids 1: shut), head offset in pixels, roll in degrees."""

    jaw: float = 0.0
    wide: float = 0.0
    round: float = 0.0
    lids: float = 0.0
    brows: float = 0.0
    x: float = 0.0
    y: float = 0.0
    roll: float = 0.0


def curve(points: Sequence[tuple[float, float]], closed: bool = True, steps: int = 16) -> Points:
    """A smooth line through the points (Catmull-Rom)."""
    p = np.asarray(points, float)
    p = np.concatenate([p[-1:], p, p[:2]]) if closed else np.concatenate([p[:1], p, p[-1:]])
    t = np.linspace(0, 1, steps, endpoint=False)[:, None]
    pieces = [
        0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
        for a, b, c, d in zip(p, p[1:], p[2:], p[3:], strict=False)
    ]
    return np.concatenate(pieces if closed else [*pieces, p[-1:]])


def mirrored(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The same points on the other side of the face, in the same sense of turning."""
    return [(SIZE - x, y) for x, y in reversed(points)]


@dataclass(frozen=True, slots=True)
class Cover:
    """Coverage 0..1 of a shape, in the part of the canvas where it is."""

    rows: slice
    columns: slice
    amount: Canvas

    def whole(self) -> Canvas:
        """On the whole canvas."""
        canvas = np.zeros((SIZE * SCALE, SIZE * SCALE), np.float32)
        canvas[self.rows, self.columns] = self.amount
        return canvas


def _room(shape: Points, margin: float) -> tuple[slice, slice]:
    low = np.floor((shape.min(0) - margin) * SCALE).astype(int).clip(0, SIZE * SCALE - 1)
    high = np.ceil((shape.max(0) + margin) * SCALE).astype(int).clip(1, SIZE * SCALE)
    return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))


def _cover(
    shape: Points, margin: float, soft: float, fill: Callable[[npt.NDArray[np.uint8], Points], None]
) -> Cover:
    rows, columns = _room(shape, margin + 3 * soft + 2)
    drawn = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.uint8)
    fill(drawn, shape * SCALE - (columns.start, rows.start))
    amount = drawn.astype(np.float32) / 255
    return Cover(rows, columns, cv2.GaussianBlur(amount, (0, 0), soft * SCALE) if soft else amount)


def mask(shape: Points, soft: float = 0.0) -> Cover:
    """A closed shape, its edge blurred by ``soft`` pixels."""

    def fill(drawn: npt.NDArray[np.uint8], points: Points) -> None:
        cv2.fillPoly(drawn, [np.round(points * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)

    return _cover(shape, 0.0, soft, fill)


def stroke(shape: Points, width: float, soft: float = 0.0) -> Cover:
    """A line, thick in the middle and thin at its ends."""

    def fill(drawn: npt.NDArray[np.uint8], points: Points) -> None:
        share = np.sin(np.linspace(0.12, np.pi - 0.12, len(points)))
        for start, end, part in zip(points, points[1:], share, strict=False):
            one, two = (tuple(int(v) for v in np.round(q * 16)) for q in (start, end))
            cv2.line(drawn, one, two, 255, max(1, round(width * SCALE * float(part))), cv2.LINE_AA, 4)

    return _cover(shape, width, soft, fill)


def paint(
    canvas: Canvas, cover: Cover, colour: Sequence[float], strength: float = 1.0, within: Canvas | None = None
) -> None:
    """Lay a colour over the canvas where ``cover`` says, ``within`` another shape."""
    amount = cover.amount * strength
    if within is not None:
        amount = amount * within[cover.rows, cover.columns]
    part = canvas[cover.rows, cover.columns]
    part += (np.asarray(colour, np.float32) - part) * amount[..., None]


def ellipse(x: float, y: float, rx: float, ry: float, turn: float = 0.0) -> Points:
    """An ellipse as a closed shape; ``turn`` in degrees."""
    a = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    u, v = rx * np.cos(a), ry * np.sin(a)
    return np.stack([x + u * c - v * s, y + u * s + v * c], 1)


def backdrop() -> Canvas:
    """A plain wall with a soft light; it does not move."""
    rows = np.linspace(0, 1, SIZE * SCALE, dtype=np.float32)[:, None, None]
    wall = np.asarray(BACK_TOP, np.float32) * (1 - rows) + np.asarray(BACK_LOW, np.float32) * rows
    canvas = np.repeat(wall, SIZE * SCALE, 1)
    paint(canvas, mask(ellipse(150, 130, 150, 130), 60), (232, 226, 214), 0.55)
    paint(canvas, mask(ellipse(430, 420, 140, 190), 60), (150, 132, 112), 0.35)
    return canvas


def body(canvas: Canvas) -> None:
    """Long hair behind, neck and shoulders."""
    behind = curve(
        [
            (148, 250),
            (158, 150),
            (206, 82),
            (256, 66),
            (306, 82),
            (354, 150),
            (364, 250),
            (372, 372),
            (352, 436),
            (160, 436),
            (140, 372),
        ]
    )
    paint(canvas, mask(behind, 2.0), HAIR)
    paint(
        canvas, mask(curve([(165, 300), (158, 360), (168, 420), (190, 430), (182, 350)]), 6), HAIR_LIGHT, 0.35
    )
    neck = curve([(214, 340), (212, 410), (186, 446), (256, 490), (326, 446), (300, 410), (298, 340)])
    paint(canvas, mask(neck, 0.8), SKIN)
    paint(
        canvas,
        mask(curve([(206, 360), (256, 436), (306, 360), (300, 410), (256, 446), (212, 410)]), 9),
        SHADE,
        0.75,
    )
    shirt = curve(
        [
            (30, 540),
            (58, 470),
            (130, 438),
            (192, 424),
            (256, 484),
            (320, 424),
            (382, 438),
            (454, 470),
            (482, 540),
        ]
    )
    paint(canvas, mask(shirt, 1.0), SHIRT)
    paint(
        canvas,
        mask(curve([(60, 540), (84, 480), (140, 452), (190, 440), (200, 540)]), 14),
        (176, 134, 84),
        0.6,
    )
    paint(
        canvas,
        stroke(curve([(192, 424), (222, 466), (256, 486), (290, 466), (320, 424)], False), 5, 0.6),
        (116, 80, 42),
    )


def head_shape(jaw: float) -> Points:
    """The outline of the face; the chin goes down with the jaw."""
    d = 15 * jaw
    left = [
        (256, 396 + d),
        (222, 388 + d),
        (190, 356 + 0.6 * d),
        (172, 312 + 0.25 * d),
        (164, 256),
        (168, 196),
        (196, 138),
        (256, 112),
    ]
    return curve([*left, *mirrored(left[1:-1])])


def head(canvas: Canvas, pose: Pose) -> None:
    """Face, ears, shading and the hair in front."""
    for x, turn in ((162, -8), (350, 8)):
        paint(canvas, mask(ellipse(x, 258, 13, 27, turn), 0.8), SKIN)
        paint(canvas, mask(ellipse(x, 260, 7, 17, turn), 3), SHADE, 0.7)
    outline = head_shape(pose.jaw)
    inside = mask(outline, 0.8)
    paint(canvas, inside, SKIN)
    whole = inside.whole()
    shading = [
        (ellipse(350, 270, 40, 140), 26, SHADE, 0.85),
        (ellipse(160, 300, 22, 110), 20, SHADE, 0.5),
        (ellipse(256, 404 + 15 * pose.jaw, 80, 22), 16, SHADE, 0.7),
        (ellipse(228, 170, 60, 38), 26, LIGHT, 0.8),
        (ellipse(206, 290, 26, 20), 14, LIGHT, 0.7),
        (ellipse(252, 372 + 13 * pose.jaw, 20, 12), 9, LIGHT, 0.6),
        (ellipse(202, 300, 26, 18), 16, (150, 160, 236), 0.35),
        (ellipse(310, 300, 26, 18), 16, (150, 160, 236), 0.35),
    ]
    for shape, soft, colour, strength in shading:
        paint(canvas, mask(shape, soft), colour, strength, whole)


def fringe(canvas: Canvas) -> None:
    """Hair over the forehead and beside the cheeks."""
    left = curve(
        [
            (256, 92),
            (214, 96),
            (178, 130),
            (158, 190),
            (152, 270),
            (160, 330),
            (172, 300),
            (176, 240),
            (188, 196),
            (222, 160),
            (270, 128),
        ]
    )
    right = curve(
        [
            (246, 92),
            (300, 94),
            (338, 132),
            (356, 194),
            (362, 272),
            (354, 330),
            (342, 300),
            (338, 244),
            (328, 200),
            (304, 158),
            (262, 128),
        ]
    )
    for side in (left, right):
        paint(canvas, mask(side, 1.2), HAIR)
    for points in (
        [(244, 100), (206, 120), (180, 168), (166, 236)],
        [(256, 104), (222, 126), (194, 166), (180, 212)],
        [(268, 102), (306, 120), (334, 168), (348, 236)],
    ):
        paint(canvas, stroke(curve(points, False), 5, 2.0), HAIR_LIGHT, 0.5)


def eye(canvas: Canvas, x: float, pose: Pose, left: bool) -> None:
    """One eye with lids, lashes, iris and brow."""
    turn = 1 if left else -1
    open_ = 12.5 * (1 - pose.lids)
    corners = [
        (x - 26, 246 + (1 if left else -1)),
        (x - 12, 241 - open_ * 0.75),
        (x + 2, 239.5 - open_ * 0.85 + 5),
        (x + 14, 242 - open_ * 0.6),
        (x + 26, 246 - (1 if left else -1)),
        (x + 12, 250 + 2 * (1 - pose.lids)),
        (x - 10, 250 + 2.5 * (1 - pose.lids)),
    ]
    shape = curve(corners)
    paint(canvas, mask(ellipse(x, 240, 34, 20), 7), SHADE, 0.45)
    if pose.lids < 0.85:
        white = mask(shape, 0.4)
        paint(canvas, white, (238, 240, 242))
        ball = white.whole()
        paint(canvas, mask(ellipse(x + 1, 243.5, 11.5, 11.5), 0.5), IRIS, within=ball)
        paint(canvas, mask(ellipse(x + 1, 243.5, 8.5, 8.5), 2.0), (130, 150, 104), 0.7, within=ball)
        paint(canvas, mask(ellipse(x + 1, 243.5, 5.2, 5.2), 0.5), (18, 18, 22), within=ball)
        paint(canvas, mask(ellipse(x - 3, 239.5, 2.6, 2.6), 0.4), (255, 255, 255), within=ball)
        paint(canvas, mask(ellipse(x, 236, 28, 5), 3), (150, 150, 160), 0.6, within=ball)
    upper = curve(corners[:5], False)
    paint(canvas, stroke(upper, 3.6, 0.4), (30, 30, 44))
    paint(
        canvas,
        stroke(curve([corners[4], corners[5], corners[6], corners[0]], False), 1.6, 0.6),
        (90, 98, 140),
        0.7,
    )
    paint(canvas, stroke(upper - np.array([0.0, 8.0]), 1.8, 1.2), SHADE, 0.9)
    lift = 4 * pose.brows
    brow = [
        (x - 33 * turn, 219 - lift),
        (x - 15 * turn, 207 - lift),
        (x + 8 * turn, 209 - lift),
        (x + 30 * turn, 216 - lift),
    ]
    paint(canvas, stroke(curve(brow, False), 7.5, 1.1), (44, 54, 80), 0.9)


def nose(canvas: Canvas) -> None:
    """Bridge, tip, wings and nostrils."""
    paint(canvas, stroke(curve([(274, 236), (270, 270), (280, 298)], False), 12, 7), SHADE, 0.6)
    paint(canvas, stroke(curve([(252, 216), (252, 262), (253, 292)], False), 10, 5), LIGHT, 0.8)
    paint(canvas, mask(ellipse(254, 298, 12, 9), 4), LIGHT, 0.8)
    paint(
        canvas,
        stroke(curve([(232, 306), (240, 314), (256, 316), (272, 314), (280, 306)], False), 6, 3),
        SHADE,
        0.9,
    )
    for x, turn in ((244, 12), (268, -12)):
        paint(canvas, mask(ellipse(x, 310, 5.5, 2.8, turn), 1.0), (70, 80, 128), 0.9)
    paint(canvas, stroke(curve([(229, 296), (226, 305), (232, 312)], False), 3, 1.5), SHADE, 0.9)
    paint(canvas, stroke(curve([(283, 296), (286, 305), (280, 312)], False), 3, 1.5), SHADE, 0.9)


def mouth(canvas: Canvas, pose: Pose) -> None:
    """Lips, and behind them teeth and tongue when they part."""
    half = 33 + 6 * pose.wide - 11 * pose.round
    gap_up, gap_low = 2.5 * pose.jaw + 1.5 * pose.round, 23 * pose.jaw + 4 * pose.round
    top, low = 9.5 + 2.5 * pose.round, 12.5 + 2.5 * pose.round
    y = 346 + 2.0 * pose.jaw
    corner = y - 3.0 + 3.5 * pose.jaw - 2 * pose.wide
    inner_up = [
        (256 - half + 3, corner),
        (256 - half * 0.45, y - gap_up),
        (256, y - gap_up + 1),
        (256 + half * 0.45, y - gap_up),
        (256 + half - 3, corner),
    ]
    inner_low = [
        (256 + half - 3, corner),
        (256 + half * 0.45, y + gap_low * 0.9),
        (256, y + gap_low),
        (256 - half * 0.45, y + gap_low * 0.9),
        (256 - half + 3, corner),
    ]
    outer_up = [
        (256 - half, corner),
        (256 - half * 0.55, y - gap_up - top * 0.8),
        (256 - 8, y - gap_up - top),
        (256, y - gap_up - top + 2.5),
        (256 + 8, y - gap_up - top),
        (256 + half * 0.55, y - gap_up - top * 0.8),
        (256 + half, corner),
    ]
    outer_low = [
        (256 + half, corner),
        (256 + half * 0.55, y + gap_low + low * 0.85),
        (256, y + gap_low + low),
        (256 - half * 0.55, y + gap_low + low * 0.85),
        (256 - half, corner),
    ]
    a, b, c, d = (curve(points, False) for points in (inner_up, inner_low, outer_up, outer_low))
    paint(canvas, mask(ellipse(256, y + gap_low + low + 8, 26, 6), 4), SHADE, 0.75)
    hole = mask(np.concatenate([a, b]), 0.5)
    if pose.jaw + pose.round > 0.03:
        paint(canvas, hole, MOUTH)
        room = hole.whole()
        paint(
            canvas,
            mask(ellipse(256, y - gap_up - 1, half * 0.72, 4 + 5.5 * pose.jaw), 0.8),
            TEETH,
            0.96,
            room,
        )
        paint(
            canvas, mask(ellipse(256, y + gap_low + 1, half * 0.55, 9 * pose.jaw + 1), 2.0), TONGUE, 0.9, room
        )
    paint(canvas, mask(np.concatenate([c, a[::-1]]), 0.5), LIP_UP)
    paint(canvas, mask(np.concatenate([d, b[::-1]]), 0.5), LIP_LOW)
    paint(canvas, mask(ellipse(250, y + gap_low + low * 0.5, half * 0.4, 2.6), 2.0), (180, 176, 236), 0.7)
    paint(canvas, stroke(a, 2.2, 0.6), (62, 50, 120), 0.8)


JAW_STEPS = 24


@functools.lru_cache(maxsize=JAW_STEPS + 1)
def _without_eyes_and_mouth(step: int) -> Canvas:
    canvas = backdrop()
    body(canvas)
    head(canvas, Pose(jaw=step / JAW_STEPS))
    nose(canvas)
    return canvas


def draw(pose: Pose) -> npt.NDArray[np.uint8]:
    """One frame, uint8 (512, 512, 3) BGR."""
    front = _without_eyes_and_mouth(round(pose.jaw * JAW_STEPS)).copy()
    mouth(front, pose)
    for x, left in ((208, True), (304, False)):
        eye(front, x, pose, left)
    fringe(front)
    turn = cv2.getRotationMatrix2D((256 * SCALE, 470 * SCALE), pose.roll, 1.0)
    turn[:, 2] += (pose.x * SCALE, pose.y * SCALE)
    size = (SIZE * SCALE, SIZE * SCALE)
    moved = cv2.warpAffine(front, turn, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    small = cv2.resize(moved, (SIZE, SIZE), interpolation=cv2.INTER_AREA)
    return np.clip(small + 0.5, 0, 255).astype(np.uint8)
