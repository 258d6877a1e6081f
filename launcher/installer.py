"""uv or pip, and how a step of the set-up is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from launcher import room

# Where systems keep certificates; uv takes its own unless told, and those do not know a company's proxy.
CERTIFICATES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


def uv_on_path() -> str | None:
    found = shutil.which("uv")
    return found if found and run_step([found, "--version"], quiet=True).returncode == 0 else None


def run_step(
    command: Sequence[str | Path],
    *,
    quiet: bool = False,
    extra: dict[str, str] | None = None,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a step; its own progress goes to the terminal unless ``quiet``."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH")
    }
    try:
        return subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            capture_output=quiet,
            text=True,
            errors="replace",
            env={**environment, **(extra or {})},
            cwd=folder,
            check=False,
        )
    except OSError as error:
        return subprocess.CompletedProcess(list(command), 127, "", str(error))


@dataclass(frozen=True, slots=True)
class Installer:
    """uv where it is to be had (an order of magnitude quicker), else pip; both install into the plan's environment."""

    command: tuple[str, ...]
    uv: bool
    mirror: str
    offline: bool

    @classmethod
    def find(cls, folder: Path, *, offline: bool) -> Installer:
        """uv of the computer, uv of the environment (put there by pip), or pip."""
        mirror = room.mirror()
        uv = uv_on_path() or cls._uv_inside(folder, offline)
        if uv:
            return cls(
                (uv, "pip", "install", "--python", str(folder / "bin" / "python")), True, mirror, offline
            )
        return cls((str(folder / "bin" / "python"), "-m", "pip", "install"), False, mirror, offline)

    @staticmethod
    def _uv_inside(folder: Path, offline: bool) -> str | None:
        inside = folder / "bin" / "uv"
        if not inside.exists() and not offline:
            run_step([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "uv"], quiet=True)
        return (
            str(inside)
            if inside.exists() and run_step([inside, "--version"], quiet=True).returncode == 0
            else None
        )

    def install(self, *arguments: str | Path) -> bool:
        """Install requirements; returns whether it went well."""
        extra = {"UV_DEFAULT_INDEX": self.mirror} if self.uv and self.mirror else {}
        if self.uv and any(Path(store).exists() for store in CERTIFICATES):
            extra |= {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}  # the name before uv 0.11
        offline = ("--offline",) if self.uv and self.offline else ()
        return run_step([*self.command, *offline, *arguments], extra=extra).returncode == 0
