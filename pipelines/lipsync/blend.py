"""Laying a new mouth into the picture so that no edge shows: colour matched along the seam, feathered, grain kept."""

from __future__ import annotations

import cv2
import numpy as np

from pipelines.lipsync.geometry import F32
from pipelines.lipsync.warp import Picture

WORK_WIDTH = 56  # px of the small picture in which the colour difference is spread
STRONGEST = 45.0  # grey levels


def blend(under: Picture, patch: Picture, alpha: F32) -> Picture:
    """Lay ``patch`` over ``under`` with ``alpha`` (H, W) in [0, 1]; both (H, W, 3). Where alpha is 0, ``under`` stays."""
    mixed = patch + colour_offset(under, patch, alpha)
    mixed -= under
    mixed *= alpha[..., None]
    mixed += under
    np.rint(mixed, out=mixed)
    np.clip(mixed, 0, 255, out=mixed)
    return mixed.astype(np.uint8)


def colour_offset(under: Picture, patch: Picture, alpha: F32) -> F32:
    """What to add to the patch, per pixel and channel, so that it meets its surroundings.

    The difference is measured on the feathered skin around the mouth and carried inwards smoothly (a membrane as in
    Pérez et al., Poisson Image Editing, 2003, approximated by normalised Gaussian blurs at two widths).
    """
    height, width = alpha.shape
    scale = min(WORK_WIDTH / width, 1.0)
    size = (max(round(width * scale), 4), max(round(height * scale), 4))
    small_alpha = np.asarray(cv2.resize(alpha, size, interpolation=cv2.INTER_AREA), np.float32)
    difference = np.asarray(cv2.resize(under, size, interpolation=cv2.INTER_AREA), np.float32)
    difference -= cv2.resize(patch, size, interpolation=cv2.INTER_AREA)
    rim = np.clip(small_alpha / 0.15, 0, 1) * np.clip((0.80 - small_alpha) / 0.3, 0, 1)
    if float(rim.sum()) < 4:
        return np.zeros((height, width, 3), np.float32)
    # Nostrils and the edges of beards, where the two pictures show different things, do not count.
    weight = rim * np.exp(-((np.abs(difference).max(2) / 50) ** 2)) + np.float32(1e-6)
    near = _spread(difference, weight, size[0] / 14)
    far = _spread(difference, weight, size[0] / 5)
    reach = cv2.GaussianBlur(weight, (0, 0), size[0] / 14)
    share = (reach / (reach + np.float32(0.08)))[..., None]
    offset = np.clip(near * share + far * (1 - share), -STRONGEST, STRONGEST)
    return np.asarray(cv2.resize(offset, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def _spread(values: F32, weight: F32, sigma: float) -> F32:
    total = cv2.GaussianBlur(values * weight[..., None], (0, 0), sigma)
    spread = total / np.maximum(cv2.GaussianBlur(weight, (0, 0), sigma), 1e-6)[..., None]
    return np.asarray(spread, np.float32)


def as_soft(patch: Picture, under: Picture, alpha: F32) -> Picture:
    """The patch blurred where its surroundings are softer (the head moves, the focus is elsewhere); else as it is.

    Compared is the energy of fine detail on the skin that both pictures show.
    """
    rim = ((alpha > 0.15) & (alpha < 0.85)).astype(np.float32)
    total = float(rim.sum())
    if total < 50:
        return patch
    ratio = (_detail(under, rim) / total + 1) / (_detail(patch, rim) / total + 1)
    if ratio > 0.75:
        return patch
    sigma = float(np.clip(0.55 * np.sqrt(1 / max(ratio, 0.05) - 1), 0.4, 2.5))
    return np.asarray(cv2.GaussianBlur(patch, (0, 0), sigma), np.uint8)


def _detail(picture: Picture, weight: F32) -> float:
    green = picture[..., 1].astype(np.float32)
    fine = green - cv2.GaussianBlur(green, (0, 0), 1.5)
    return float((fine * fine * weight).sum())
