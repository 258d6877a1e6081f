"""Stills, transparency, HDR and colours: what comes out of the reader, pixel by pixel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pipelines.errors import MediaError
from pipelines.media import FrameWriter, probe, read_frames
from pipelines.settings import Settings
from tests.media.conftest import Make, Run

RED, GREEN, BLUE, WHITE = (220, 30, 40), (30, 200, 60), (20, 60, 210), (240, 240, 240)


def _corners(width: int = 61, height: int = 41) -> Image.Image:
    """RGB picture with four coloured quarters: red, green / blue, white."""
    picture = np.zeros((height, width, 3), np.uint8)
    top, left = height // 2, width // 2
    picture[:top, :left], picture[:top, left:] = RED, GREEN
    picture[top:, :left], picture[top:, left:] = BLUE, WHITE
    return Image.fromarray(picture)


def _rgb(frame: np.ndarray, row: int, column: int) -> list[int]:
    return [int(value) for value in frame[row, column, ::-1]]


@pytest.mark.parametrize("suffix", ["png", "bmp", "webp", "tif", "gif", "jpg"])
def test_still_pictures(suffix: str, tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / f"头像 🙂.{suffix}"
    _corners().save(
        path, **({"lossless": True} if suffix == "webp" else {"quality": 98} if suffix == "jpg" else {})
    )
    info = probe(path)
    assert (info.width, info.height, info.frames, info.still) == (61, 41, 1, True)
    (frame,) = read_frames(info, settings)
    assert frame.shape == (41, 61, 3)
    assert frame.dtype == np.uint8
    for (row, column), color in {(5, 5): RED, (5, 55): GREEN, (35, 5): BLUE, (35, 55): WHITE}.items():
        assert _rgb(frame, row, column) == pytest.approx(color, abs=0 if suffix != "jpg" else 8)
    assert list(read_frames(info, settings, start=1)) == []


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_rotation(orientation: int, tmp_path: Path, settings: Settings) -> None:
    """Whatever the camera held, the face stands upright: all eight EXIF orientations show the same picture."""
    undo = {
        2: [Image.Transpose.FLIP_LEFT_RIGHT],
        3: [Image.Transpose.ROTATE_180],
        4: [Image.Transpose.FLIP_TOP_BOTTOM],
        5: [Image.Transpose.TRANSPOSE],
        6: [Image.Transpose.ROTATE_90],
        7: [Image.Transpose.TRANSVERSE],
        8: [Image.Transpose.ROTATE_270],
    }
    stored = _corners()
    for step in undo.get(orientation, []):
        stored = stored.transpose(step)
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "photo.jpg"
    stored.save(path, quality=98, exif=exif)
    info = probe(path)
    assert (info.width, info.height) == (61, 41)
    (frame,) = read_frames(info, settings)
    assert frame.shape == (41, 61, 3)
    assert _rgb(frame, 5, 5) == pytest.approx(RED, abs=8)
    assert _rgb(frame, 35, 55) == pytest.approx(WHITE, abs=8)


def test_transparent_png_lies_on_white(tmp_path: Path, settings: Settings) -> None:
    pixels = np.zeros((40, 60, 4), np.uint8)
    pixels[:, 20:40] = (200, 100, 50, 128)
    pixels[:, 40:] = (200, 100, 50, 255)
    path = tmp_path / "cut-out.png"
    Image.fromarray(pixels).save(path)
    info = probe(path)
    assert info.alpha
    (frame,) = read_frames(info, settings)
    assert _rgb(frame, 10, 5) == [255, 255, 255]
    assert _rgb(frame, 10, 30) == pytest.approx([227, 177, 152], abs=1)
    assert _rgb(frame, 10, 50) == [200, 100, 50]


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("alpha.mov", ("-c:v", "png", "-pix_fmt", "rgba")),
        ("alpha4444.mov", ("-c:v", "prores_ks", "-profile:v", "4444", "-pix_fmt", "yuva444p10le")),
        ("alpha.webm", ("-c:v", "libvpx-vp9", "-pix_fmt", "yuva420p", "-crf", "10", "-b:v", "0")),
    ],
)
def test_transparent_video_lies_on_white(
    name: str, codec: tuple[str, ...], tmp_path: Path, ffmpeg: Run, settings: Settings
) -> None:
    pixels = np.zeros((64, 96, 4), np.uint8)
    pixels[:, 48:] = (40, 90, 200, 255)
    path = tmp_path / name
    ffmpeg(
        *("-f", "rawvideo", "-pix_fmt", "rgba", "-s", "96x64", "-r", "25", "-i", "pipe:0", *codec, path),
        feed=pixels.tobytes() * 6,
    )
    info = probe(path)
    assert info.alpha
    frames = list(read_frames(info, settings))
    assert len(frames) == info.frames == 6
    assert _rgb(frames[3], 30, 12) == pytest.approx([255, 255, 255], abs=4)
    assert _rgb(frames[3], 30, 84) == pytest.approx([40, 90, 200], abs=8)


def _patches(path: Path, ffmpeg: Run, transfer: str, levels: tuple[int, ...]) -> None:
    """A 10-bit HDR video of grey patches at the given 10-bit luma codes, tagged as a phone tags it."""
    luma = np.repeat(np.asarray(levels, "<u2"), 32)[None, :].repeat(64, axis=0)
    width = luma.shape[1]
    chroma = np.full((32, width // 2), 512, "<u2")
    raw = luma.tobytes() + chroma.tobytes() * 2
    params = f"log-level=none:colorprim=bt2020:transfer={transfer}:colormatrix=bt2020nc"
    ffmpeg(
        *("-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-s", f"{width}x64", "-r", "25", "-i", "pipe:0"),
        *("-vf", f"setparams=colorspace=bt2020nc:color_primaries=bt2020:color_trc={transfer}:range=tv"),
        *("-c:v", "libx265", "-x265-params", params, "-crf", "8", "-tag:v", "hvc1", path),
        feed=raw * 5,
    )


@pytest.mark.parametrize(
    ("transfer", "levels"),
    [
        ("smpte2084", (64, 394, 573, 723, 940)),  # 0, 26 (mid grey), 203 (white), 1000, 10000 cd/m²
        ("arib-std-b67", (64, 397, 721, 800, 940)),  # 0 %, 38 % (mid grey), 75 % (white), brighter
    ],
)
def test_hdr_is_tone_mapped(
    transfer: str, levels: tuple[int, ...], tmp_path: Path, ffmpeg: Run, settings: Settings
) -> None:
    """Mid grey stays mid grey and HDR's reference white stays bright: neither washed out nor dark."""
    path = tmp_path / "iphone.mov"
    _patches(path, ffmpeg, transfer, levels)
    info = probe(path)
    assert (info.hdr, info.color, info.pixel_format) == (True, "bt709", "yuv420p10le")
    frame = list(read_frames(info, settings))[2]
    greys = [int(frame[30, 32 * patch + 16].mean()) for patch in range(5)]
    neutral = max(int(np.ptp(frame[30, 32 * patch + 16].astype(int))) for patch in range(5))
    assert neutral <= 3
    black, middle, white, bright, most = greys
    assert black <= 6
    assert 85 <= middle <= 150, greys
    assert 180 <= white <= 240, greys
    assert white <= bright <= most
    assert most >= 225


@pytest.mark.parametrize("size", [(320, 240), (1280, 720)])
@pytest.mark.parametrize("tags", [None, "bt709", "smpte170m"])
def test_colours_survive_reading_and_writing(
    size: tuple[int, int], tags: str | None, tmp_path: Path, ffmpeg: Run, settings: Settings
) -> None:
    """Luma and chroma of the written file equal the source's: no matrix swapped, no brightness lost, tags told."""
    source, copy = tmp_path / "source.mkv", tmp_path / "copy.mp4"
    width, height = size
    matrix = tags or ("bt709" if width == 1280 else "smpte170m")
    across, down = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    smooth = np.stack([255 * across, 255 * down, 255 * (1 - across) * (1 - down)], -1).astype(np.uint8)
    told = tags or "unknown"
    ffmpeg(
        *("-f", "rawvideo", "-pix_fmt", "bgr24", "-s", f"{width}x{height}", "-r", "25", "-i", "pipe:0"),
        "-vf",
        f"scale=flags=accurate_rnd+full_chroma_int:out_color_matrix={matrix}:out_range=tv,format=yuv420p,"
        f"setparams=colorspace={told}:color_primaries={told}:color_trc={told}:range={'tv' if tags else 'unknown'}",
        *("-c:v", "libx264", "-qp", "0", source),
        feed=smooth.tobytes() * 3,
    )
    info = probe(source)
    assert info.color == matrix
    read = next(read_frames(info, settings)).astype(int)
    assert np.percentile(np.abs(read - smooth), 99) <= 4
    with FrameWriter(copy, width, height, info.fps, settings, crf=1, color=info.color) as writer:
        for frame in read_frames(info, settings):
            writer.write(frame)
    assert probe(copy).color == info.color
    before, after = _planes(source, ffmpeg, tmp_path, size), _planes(copy, ffmpeg, tmp_path, size)
    assert abs(float((after - before).mean())) < 0.1
    assert np.abs(after - before).max() <= 4


def _planes(path: Path, ffmpeg: Run, folder: Path, size: tuple[int, int]) -> np.ndarray:
    raw = folder / "planes.yuv"
    ffmpeg("-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "yuv420p", raw)
    return np.fromfile(raw, np.uint8).astype(np.int16)


def test_full_range_camera_picture(numbered_video: Make, settings: Settings) -> None:
    """Motion JPEG uses the full range: black is 0, and it is not read as 16."""
    info = probe(numbered_video("camera.mov", 3, 25, ("-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p")))
    frame = next(read_frames(info, settings))
    assert frame[100, 100].tolist() == pytest.approx([0, 110, 130], abs=4)


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_cut_off_still(suffix: str, tmp_path: Path) -> None:
    whole, path = tmp_path / f"whole.{suffix}", tmp_path / f"cut.{suffix}"
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (90, 90, 3), np.uint8)).save(whole)
    path.write_bytes(whole.read_bytes()[:4000])
    with pytest.raises(MediaError, match="damaged or cut off"):
        probe(path)


def test_heic_photo_is_named(tmp_path: Path) -> None:
    path = tmp_path / "IMG_0001.HEIC"
    path.write_bytes(b"\x00\x00\x00\x24ftypheic" + bytes(200))
    with pytest.raises(MediaError, match="HEIC"):
        probe(path)
