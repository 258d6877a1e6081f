"""Laying a new mouth into the picture so that no edge shows: colour matched along the seam, feathered, grain kept."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.lipsync.geometry import F32

WORK_WIDTH = 56  # px of the small picture in which the colour difference is spread
STRONGEST = 45.0  # grey levels
Picture = npt.NDArray[np.uint8]


def blend(under: Picture, patch: Picture, alpha: F32) -> Picture:
    """Lay ``patch`` over ``under`` with ``alpha`` (H, W) in [0, 1]; both (H, W, 3)."""
    weight = alpha[..., None]
    mixed = under + (patch + colour_offset(under, patch, alpha) - under) * weight
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def colour_offset(under: Picture, patch: Picture, alpha: F32) -> F32:
    """What to add to the patch, per pixel and channel, so that it meets its surroundings.

    The difference is measured on the feathered skin around the mouth and carried inwards smoothly (a membrane as in
    Pérez et al., Poisson Image Editing, 2003, approximated by normalised Gaussian blurs at two widths).
    """
    height, width = alpha.shape
    scale = min(WORK_WIDTH / width, 1.0)
    size = (max(round(width * scale), 4), max(round(height * scale), 4))
    small_alpha = cv2.resize(alpha, size, interpolation=cv2.INTER_AREA)
    difference = cv2.resize(under, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    difference -= cv2.resize(patch, size, interpolation=cv2.INTER_AREA)
    rim = np.clip(small_alpha / 0.15, 0, 1) * np.clip((0.80 - small_alpha) / 0.3, 0, 1)
    if float(rim.sum()) < 4:
        return np.zeros((height, width, 3), np.float32)
    weight = rim * np.exp(-((np.abs(difference).max(2) / 50) ** 2)) + 1e-6  # nostrils and beards' edges do not count
    near = _spread(difference, weight, size[0] / 14)
    far = _spread(difference, weight, size[0] / 5)
    reach = cv2.GaussianBlur(weight, (0, 0), size[0] / 14)
    share = (reach / (reach + 0.08))[..., None]
    offset = np.clip(near * share + far * (1 - share), -STRONGEST, STRONGEST)
    return cv2.resize(offset, (width, height), interpolation=cv2.INTER_LINEAR).astype(np.float32)


def _spread(values: F32, weight: F32, sigma: float) -> F32:
    total = cv2.GaussianBlur(values * weight[..., None], (0, 0), sigma)
    spread: F32 = total / np.maximum(cv2.GaussianBlur(weight, (0, 0), sigma), 1e-6)[..., None]
    return spread


def sharpness(picture: Picture, weight: F32) -> float:
    """Mean energy of fine detail where ``weight`` is, for matching the patch's blur to the frame's."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32)
    detail = grey - cv2.GaussianBlur(grey, (0, 0), 1.5)
    return float((detail * detail * weight).sum() / max(float(weight.sum()), 1e-6))


def softened(patch: Picture, ratio: float) -> Picture:
    """The patch blurred when the frame it goes into is softer (head in motion, out of focus).

    Args:
        ratio: detail energy of the frame over that of the patch; from about 0.75 up nothing is done.
    """
    if ratio > 0.75:
        return patch
    sigma = float(np.clip(0.55 * np.sqrt(1 / max(ratio, 0.05) - 1), 0.4, 2.5))
    softer: Picture = cv2.GaussianBlur(patch, (0, 0), sigma)
    return softer
