"""The default path needs no torch: a whole dub with torch and torchaudio out of reach of every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg
import pytest

ROOT = Path(__file__).resolve().parents[2]
# Loaded by every interpreter that starts with this folder on its path, the worker's too.
BLOCK = """
import sys
from importlib.machinery import PathFinder


class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in ("torch", "torchaudio")
        return None if hidden else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
LINES = """1
00:00:00,000 --> 00:00:03,200
Estoy en Washington en mi segunda semana.
"""


@pytest.mark.slow
def test_a_dub_without_torch(data: Path, tmp_path: Path) -> None:
    (tmp_path / "block").mkdir()
    (tmp_path / "block" / "sitecustomize.py").write_text(BLOCK, encoding="utf-8")
    (tmp_path / "lines.srt").write_text(LINES, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "block")}
    environment |= {
        f"DUBWRIGHT_{name}": str(tmp_path / name.lower()) for name in ("JOBS", "CACHE", "LOGS", "OUTPUTS")
    }
    seen = subprocess.run(
        [sys.executable, "-c", "import torch"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert seen.returncode != 0 and "No module named 'torch'" in seen.stderr
    clip, whole = tmp_path / "talk.mp4", data / "video" / "talk_512_8s.mp4"
    ffmpeg = [
        imageio_ffmpeg.get_ffmpeg_exe(),
        "-v",
        "error",
        "-i",
        str(whole),
        "-t",
        "3.2",
        "-c",
        "copy",
        str(clip),
    ]
    subprocess.run(ffmpeg, check=True, timeout=60)
    command = [sys.executable, str(ROOT / "app.py"), "dub", str(clip), "--to", "es"]
    command += ["--translation", str(tmp_path / "lines.srt"), "-o", str(tmp_path / "out.mp4"), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert (tmp_path / "out.mp4").stat().st_size > 20_000
