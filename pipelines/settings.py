"""Where things live on this computer: one frozen object, built once at start and handed down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ENCODERS = ("auto", "x264", "hardware")


@dataclass(frozen=True, slots=True)
class Settings:
    """Folders and choices that hold for the whole process.

    Attributes:
        root: the application's folder (the checkout).
        weights: model files; ``outputs``: finished results; ``jobs``: job folders and their index; ``cache``: things
            that can be made again (face tracks, proxies, split graphs); ``logs``: log files.
        ffmpeg: binary to use instead of imageio-ffmpeg's, or None.
        hub: base address of the model hub for downloads the user asks for (a mirror for users in China).
        threads: CPU threads an engine may use.
        encoder: ``x264``, ``hardware`` (the graphics card's, where a trial encode works), or ``auto``: the card's only
            on machines whose card is used for computing.
    """

    root: Path
    weights: Path
    outputs: Path
    jobs: Path
    cache: Path
    logs: Path
    ffmpeg: Path | None = None
    hub: str = "https://huggingface.co"
    threads: int = 2
    encoder: str = "auto"

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Defaults below the application's folder; ``DUBWRIGHT_HOME`` moves all data, single variables one folder.

        Variables: DUBWRIGHT_HOME, DUBWRIGHT_WEIGHTS, DUBWRIGHT_OUTPUTS, DUBWRIGHT_JOBS, DUBWRIGHT_CACHE,
        DUBWRIGHT_LOGS, DUBWRIGHT_FFMPEG, DUBWRIGHT_HUB, DUBWRIGHT_THREADS, DUBWRIGHT_ENCODER.
        """
        env = os.environ if environment is None else environment
        root = Path(__file__).resolve().parent.parent
        home = Path(env.get("DUBWRIGHT_HOME") or root).resolve()

        def folder(name: str) -> Path:
            return Path(env.get(f"DUBWRIGHT_{name.upper()}") or home / name).resolve()

        ffmpeg = env.get("DUBWRIGHT_FFMPEG")
        return cls(
            root=root,
            weights=folder("weights"),
            outputs=folder("outputs"),
            jobs=folder("jobs"),
            cache=folder("cache"),
            logs=folder("logs"),
            ffmpeg=Path(ffmpeg) if ffmpeg else None,
            hub=env.get("DUBWRIGHT_HUB") or "https://huggingface.co",
            threads=int(env.get("DUBWRIGHT_THREADS") or os.cpu_count() or 2),
            encoder=_encoder(env.get("DUBWRIGHT_ENCODER")),
        )


def _encoder(text: str | None) -> str:
    wanted = (text or "auto").strip().lower()
    return wanted if wanted in ENCODERS else "auto"
