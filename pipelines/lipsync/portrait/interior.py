"""The inside of a mouth that the picture does not show: teeth, tongue and depth, drawn in the picture's own light.

Upper teeth stand still in the head and are uncovered by the upper lip; lower teeth and tongue go with the jaw. Sizes are
those of an adult's front teeth over the distance of the outer eye corners (about 90 mm).
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.lipsync.geometry import (
    CORNER_LEFT,
    CORNER_RIGHT,
    EYE_LEFT,
    EYE_RIGHT,
    F32,
    INNER,
    INNER_LOWER,
    INNER_UPPER,
    LIP_TOP,
    opening,
)
from pipelines.lipsync.portrait.eyes import LOWER as EYE_LOWER
from pipelines.lipsync.portrait.eyes import UPPER as EYE_UPPER
from pipelines.lipsync.shape import UPPER_SHARE
from pipelines.lipsync.warp import Picture, Region, region_of
from pipelines.types import Frame

Mask = npt.NDArray[np.uint8]
CHEEKS = (50, 280, 205, 425, 101, 330)
LOWER_LIP = (16, 85, 315, 15, 86, 316)
TEETH_EDGE = 0.030  # below the resting upper lip
# Widths and lengths of the teeth from the middle outwards: widths over half the mouth's width, lengths over the eyes.
WIDTHS = (0.33, 0.25, 0.23, 0.17, 0.14)
LENGTHS = (0.0, -0.005, -0.001, -0.008, -0.012)
LOWER_WIDTHS = (0.21, 0.23, 0.24, 0.2, 0.2)
SHOWN_OPENING, SHOWN_LIGHT = (
    0.05,
    0.70,
)  # a picture with its lips this far apart and so much light there shows teeth


def shows_teeth(picture: Frame, landmarks: F32) -> bool:
    """Whether the picture's own mouth is open and bright inside, compared with the cheeks."""
    if float(opening(landmarks[None])[0]) < SHOWN_OPENING:
        return False
    contour = landmarks[list(INNER)]
    region = region_of(contour, Region(0, 0, picture.shape[1], picture.shape[0]))
    if region.empty:
        return False
    inside = cover_of(contour, region) > 0.9
    if int(inside.sum()) < 12:
        return False
    light = cv2.cvtColor(region.cut(picture), cv2.COLOR_BGR2GRAY)[inside]
    return bool(np.percentile(light, 60) > SHOWN_LIGHT * _light(_cheeks(picture, landmarks)))


@dataclass(frozen=True, slots=True)
class Interior:
    """The mouth's inside for one picture.

    rest: (478, 2) its landmarks. tooth, lip: colours (BGR).
    """

    rest: F32
    tooth: F32
    lip: F32

    def lay(self, under: Picture, corner: F32, contour: F32, strength: float) -> None:
        """Draw it into ``under``, a part of the frame whose left top is ``corner``.

        Args:
            contour: (20, 2) the lips' inner edge in the frame, in the order of ``INNER``.
        """
        bounds = Region(0, 0, under.shape[1], under.shape[0])
        region = region_of(contour - corner, bounds)
        if region.empty:
            return
        cover = cover_of(contour - corner, region)
        if float(cover.max()) < 0.02:
            return
        eyes = float(np.linalg.norm(self.rest[EYE_LEFT] - self.rest[EYE_RIGHT]))
        paint = self._paint(region, corner, contour, eyes)
        here = region.cut(under)
        mixed = here + (cover * np.float32(strength))[..., None] * (paint - here)
        here[:] = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)

    def _paint(self, region: Region, corner: F32, contour: F32, eyes: float) -> F32:
        """(h, w, 3) float colours of the region, as if no lips were there."""
        axis = (self.rest[EYE_RIGHT] - self.rest[EYE_LEFT]) / eyes
        origin = self.rest[LIP_TOP]
        x = np.arange(region.x0, region.x1, dtype=np.float32)[None] + corner[0] - origin[0]
        y = np.arange(region.y0, region.y1, dtype=np.float32)[:, None] + corner[1] - origin[1]
        along, down = (x * axis[0] + y * axis[1]) / eyes, (y * axis[0] - x * axis[1]) / eyes
        upper, lower = self._edges(contour, origin, axis, eyes)
        rest_upper = _local(self.rest[list(INNER_UPPER)], origin, axis, eyes)
        aside = self._aside(along, origin, axis, eyes)
        top, bottom = (np.interp(along, edge[:, 0], edge[:, 1]).astype(np.float32) for edge in (upper, lower))
        resting = 0.6 * np.interp(along, rest_upper[:, 0], rest_upper[:, 1]).astype(np.float32)
        # Where the upper lip would be if the picture's mouth were shut.
        resting += np.float32(UPPER_SHARE * float(opening(self.rest[None])[0]))
        gap = float(np.max(lower[:, 1] - upper[:, 1]))
        soft = max(1.0 / eyes, 0.004)
        paint = self._depth(down, top, bottom, gap)
        paint = _mix(paint, self.lip * np.float32(0.62), 0.8 * self._tongue(aside, down, bottom, gap, soft))
        paint = self._teeth(paint, aside, down - bottom, gap, soft, upper=False)
        paint = self._teeth(paint, aside, down - resting, gap, soft, upper=True)
        # The lips throw a shadow on what lies behind them, most of all the upper one.
        shade = (
            1
            - 0.45 * np.exp(-np.maximum(down - top, 0) / 0.018)
            - 0.25 * np.exp(-np.maximum(bottom - down, 0) / 0.012)
        )
        paint = paint * np.clip(shade, 0.2, 1)[..., None].astype(np.float32)
        return np.asarray(cv2.GaussianBlur(paint, (0, 0), max(0.004 * eyes, 0.6)), np.float32)

    def _edges(self, contour: F32, origin: F32, axis: F32, eyes: float) -> tuple[F32, F32]:
        local = dict(zip(INNER, _local(contour, origin, axis, eyes), strict=True))
        lines = []
        for numbers in (INNER_UPPER, INNER_LOWER):
            line = np.array([local[number] for number in numbers])
            lines.append(line[np.argsort(line[:, 0])])
        return lines[0], lines[1]

    def _aside(self, along: F32, origin: F32, axis: F32, eyes: float) -> F32:
        """−1 at the resting mouth's left corner, 0 in the middle, 1 at its right: in a turned head one side is shorter."""
        ends = _local(self.rest[[CORNER_LEFT, CORNER_RIGHT]], origin, axis, eyes)[:, 0]
        left, right = max(-float(ends[0]), 0.04), max(float(ends[1]), 0.04)
        # Teeth are as wide as they are, however small the mouth is made.
        left, right = (max(side, 0.20 * 2 * side / (left + right)) for side in (left, right))
        return np.asarray(np.where(along < 0, along / left, along / right), np.float32)

    def _depth(self, down: F32, top: F32, bottom: F32, gap: float) -> F32:
        """The throat: dark, darkest in the upper middle, redder towards the lower lip."""
        low = np.clip((down - top) / np.maximum(bottom - top, 1e-3), 0, 1)[..., None]
        dark = self.lip * np.array((0.16, 0.13, 0.19), np.float32)
        red = self.lip * np.array((0.34, 0.28, 0.38), np.float32)
        return np.asarray(dark + (red - dark) * low**2, np.float32)

    def _tongue(self, aside: F32, down: F32, bottom: F32, gap: float, soft: float) -> F32:
        height = min(0.42 * gap, 0.075)
        line = bottom - height * (1 - np.minimum(np.abs(aside) / 0.75, 1) ** 2.4)
        share = np.clip((down - line) / max(0.035, 3 * soft), 0, 1)
        return np.asarray(share * np.clip((gap - 0.05) / 0.06, 0, 1), np.float32)

    def _teeth(self, paint: F32, aside: F32, below: F32, gap: float, soft: float, upper: bool) -> F32:
        """Lay one row of teeth over the paint; ``below`` is the height under its lip's edge, eyes = 1."""
        widths = WIDTHS if upper else LOWER_WIDTHS
        borders = np.concatenate([[0.0], np.cumsum(widths)])
        side = np.abs(aside)
        number = np.clip(np.searchsorted(borders, side, side="right") - 1, 0, len(widths) - 1)
        within = (side - borders[number]) / np.asarray(widths)[number] - 0.5
        round_off = 0.007 * (2 * np.abs(within)) ** 4
        if upper:
            edge = TEETH_EDGE + np.asarray(LENGTHS)[number] - 0.012 * side**2 - round_off
            cover = np.clip((edge - below) / soft + 0.5, 0, 1)
            bright = 1.0
        else:
            shown = 0.016 * float(np.clip((gap - 0.07) / 0.06, 0, 1))
            edge = -shown + 0.012 * side**2 + round_off
            cover = np.clip((below - edge) / soft + 0.5, 0, 1) * (shown > 0)
            bright = 0.68
        between = np.exp(-((((0.5 - np.abs(within)) * np.asarray(widths)[number]) / 0.016) ** 2))
        arch = np.clip(1.08 - 0.75 * side**2, 0.12, 1)
        light = bright * arch * (1 - 0.20 * between)
        cover = cover * np.clip((1.05 - side) / 0.2, 0, 1)
        return _mix(paint, self.tooth * light[..., None].astype(np.float32), cover)


def interior_of(picture: Frame, landmarks: F32) -> Interior:
    """The inside in the light and colours of a picture (H, W, 3) with a face (478, 2)."""
    cheeks = _cheeks(picture, landmarks)
    light = max(_light(cheeks), _sclera(picture, landmarks)) * 0.95
    tint = cheeks / max(_light(cheeks), 1.0)
    ivory = np.array((0.95, 1.0, 1.02), np.float32)
    tooth = np.clip(light * ivory * (0.7 + 0.3 * tint), 20, 238).astype(np.float32)
    return Interior(landmarks.astype(np.float32), tooth, _colour(picture, landmarks, LOWER_LIP))


def cover_of(contour: F32, region: Region) -> F32:
    """(h, w) share of each pixel that lies inside the contour (N, 2)."""
    over = 4
    mask: Mask = np.zeros(((region.y1 - region.y0) * over, (region.x1 - region.x0) * over), np.uint8)
    points = (contour - region.corner + 0.5) * over - 0.5
    cv2.fillPoly(mask, [np.round(points * 16).astype(np.int32)], (255,), cv2.LINE_8, 4)
    size = (region.x1 - region.x0, region.y1 - region.y0)
    cover = cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    return np.asarray(cover / 255, np.float32)


def _local(points: F32, origin: F32, axis: F32, eyes: float) -> F32:
    away = points - origin
    along, down = away @ axis, away[:, 1] * axis[0] - away[:, 0] * axis[1]
    return np.asarray(np.stack([along, down], axis=1) / eyes, np.float32)


def _mix(one: F32, other: F32, share: F32) -> F32:
    return np.asarray(one + (other - one) * share[..., None].astype(np.float32), np.float32)


def _light(colour: F32) -> float:
    return float(colour @ np.array((0.114, 0.587, 0.299), np.float32))


def _cheeks(picture: Frame, landmarks: F32) -> F32:
    return _colour(picture, landmarks, CHEEKS)


def _colour(picture: Frame, landmarks: F32, numbers: tuple[int, ...]) -> F32:
    places = np.rint(landmarks[list(numbers)]).astype(int)
    x, y = np.clip(places[:, 0], 0, picture.shape[1] - 1), np.clip(places[:, 1], 0, picture.shape[0] - 1)
    return np.asarray(np.median(picture[y, x].astype(np.float32), axis=0), np.float32)


def _sclera(picture: Frame, landmarks: F32) -> float:
    """The light on the whites of the eyes, which teeth come close to; 0 where they are not to be seen."""
    bounds = Region(0, 0, picture.shape[1], picture.shape[0])
    lights = []
    for up, low in zip(EYE_UPPER, EYE_LOWER, strict=True):
        contour = landmarks[list(up + low[-2:0:-1])]
        region = region_of(contour, bounds)
        if region.empty:
            continue
        inside = cover_of(contour, region) > 0.9
        if int(inside.sum()) >= 12:
            grey = cv2.cvtColor(region.cut(picture), cv2.COLOR_BGR2GRAY)
            lights.append(float(np.percentile(grey[inside], 85)))
    return min(lights) if lights else 0.0
