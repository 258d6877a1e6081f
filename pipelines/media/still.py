"""Still pictures: upright by their EXIF rotation, alpha laid on white, as one frame."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from pipelines.errors import MediaError, Message
from pipelines.media.timeline import STILL_RATE
from pipelines.types import Frame, VideoInfo

EXIF_ORIENTATION = 0x0112
CLOCKWISE = {3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}
HEIF_BRANDS = frozenset({b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"heif"})
PICTURE_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
WHITE = (255, 255, 255, 255)


def is_still(path: Path) -> bool:
    """Whether the content (not the name) is one picture; an animated GIF is a video.

    Raises:
        MediaError: a HEIC photo, which nothing here can decode.
    """
    with path.open("rb") as file:
        head = file.read(12)
    if head[4:8] == b"ftyp" and head[8:12] in HEIF_BRANDS:
        raise MediaError(
            Message("HEIC photos cannot be read", "无法读取 HEIC 照片"),
            Message("Save the photo as JPEG or PNG first.", "请先将照片另存为 JPEG 或 PNG。"),
            str(path),
        )
    Image.init()
    try:
        with Image.open(path, formats=PICTURE_FORMATS) as image:
            return image.format in ("WEBP", "MPO") or getattr(image, "n_frames", 1) == 1
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError):
        return False


def probe_still(path: Path) -> VideoInfo:
    """Facts about a picture: one frame, shown for one frame of 25 a second."""
    height, width = load_still(path).shape[
        :2
    ]  # a cut-off picture is told here, not when its face is looked for
    with Image.open(path) as image:
        orientation = int(image.getexif().get(EXIF_ORIENTATION, 1))
        alpha = image.has_transparency_data
        codec, mode = str(image.format).lower(), image.mode
    return VideoInfo(
        path=path,
        duration=float(1 / STILL_RATE),
        fps=Fraction(STILL_RATE),
        width=width,
        height=height,
        frames=1,
        rotation=CLOCKWISE.get(orientation, 0),
        vfr=False,
        audio=(),
        codec=codec,
        pixel_format=mode.lower(),
        hdr=False,
        alpha=alpha,
        still=True,
        color="bt709",
        container="still",
    )


def load_still(path: Path) -> Frame:
    """The picture as a frame: (H, W, 3) BGR, upright.

    Raises:
        MediaError: the picture is cut off or damaged.
    """
    try:
        with Image.open(path) as image:
            upright = ImageOps.exif_transpose(image)
            if upright.has_transparency_data:
                layer = upright.convert("RGBA")
                upright = Image.alpha_composite(Image.new("RGBA", layer.size, WHITE), layer)
            rgb = np.asarray(_eight_bits(upright).convert("RGB"), np.uint8)
    except (OSError, SyntaxError, ValueError, struct.error) as error:  # what Pillow raises on damaged files
        raise MediaError(
            Message("The picture is damaged or cut off", "图片已损坏或不完整"),
            Message("Copy or save it again.", "请重新复制或保存。"),
            str(path),
        ) from error
    return np.ascontiguousarray(rgb[:, :, ::-1])


def _eight_bits(image: Image.Image) -> Image.Image:
    """16-bit grey scaled to 8 bits (Pillow's own conversion would clip it)."""
    if image.mode.startswith("I;16") or image.mode == "I":
        grey = np.asarray(image, np.float64) / 257.0
        return Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8))
    return image
