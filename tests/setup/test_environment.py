"""The environment that set-up made: it runs on a bare machine."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

MADE_HERE = (Path(sys.prefix) / "dubwright.json").exists()
pytestmark = pytest.mark.skipif(
    not MADE_HERE, reason="this environment was not made by start_app.sh or run_tests.sh"
)
# Libraries that every Linux has; anything else cv2 loads must come from the packages themselves.
SYSTEM = (
    "ld-linux",
    "libc.",
    "libm.",
    "libdl.",
    "libpthread.",
    "librt.",
    "libgcc_s.",
    "libstdc++.",
    "libz.",
    "libutil.",
)


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cv2_needs_no_libgl() -> None:
    """The desktop builds of OpenCV load libGL and friends, which servers and containers do not have."""
    assert version("opencv-contrib-python-headless") == version("opencv-python") == "4.11.0.86"
    maps = run("import cv2\nprint(cv2.__version__)\nprint(open('/proc/self/maps').read())")
    loaded = {
        line.split(None, 5)[5]
        for line in maps.splitlines()
        if ".so" in line and len(line.split(None, 5)) == 6
    }
    inside = (sys.prefix, sys.base_prefix)
    foreign = {
        path for path in loaded if not path.startswith(inside) and not Path(path).name.startswith(SYSTEM)
    }
    assert not [
        path
        for path in foreign
        if any(word in path for word in ("libGL", "libX", "libxcb", "Qt", "libgthread"))
    ]
    assert maps.startswith("4.11.0")


def test_contrib_and_image_formats_are_in_the_headless_build() -> None:
    out = run(
        "import cv2, numpy as np\n"
        "ok, data = cv2.imencode('.png', np.zeros((4, 4, 3), np.uint8))\n"
        "print(ok, hasattr(cv2, 'ximgproc'), hasattr(cv2, 'face'))"
    )
    assert out.split() == ["True", "True", "True"]


def test_torch_and_torchaudio_are_a_pair() -> None:
    out = run(
        "import torch, torchaudio\nprint(torch.__version__.split('+')[0], torchaudio.__version__.split('+')[0])"
    )
    assert out.split() == ["2.11.0", "2.11.0"]


def test_mediapipes_needs_are_met() -> None:
    assert version("numpy").startswith("1.26.") and int(version("protobuf").partition(".")[0]) < 5
    with pytest.raises(PackageNotFoundError):
        version("opencv-python-headless")
