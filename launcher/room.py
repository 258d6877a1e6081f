"""What an install needs from the computer: a folder that can be written, room on the disk, a network."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path

from launcher.words import LauncherError

GB = 1000**3


def check_writable(folder: Path) -> None:
    """Raise when nothing can be written into the application's folder."""
    probe = folder / f".write-test-{uuid.uuid4().hex[:8]}"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise LauncherError(
            f"This folder cannot be written: {folder} ({error.strerror}).\n"
            "Move Dubwright to a folder of your own, or change its owner: "
            f'sudo chown -R "$USER" "{folder}"',
            f"无法写入此文件夹:{folder}({error.strerror})。\n"
            f'请把 Dubwright 移到自己的文件夹,或更改所有者:sudo chown -R "$USER" "{folder}"',
        ) from error


def check_disk(folder: Path, needed: int) -> None:
    """Raise when fewer than ``needed`` bytes are free where ``folder`` is."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise LauncherError(
            f"Not enough room on the disk: {needed / GB:.1f} GB are needed in {folder}, {free / GB:.1f} GB are free.\n"
            "Free some space or move Dubwright to another disk, then run this again.",
            f"磁盘空间不足:{folder} 需要 {needed / GB:.1f} GB,可用 {free / GB:.1f} GB。\n"
            "请释放空间或把 Dubwright 移到其他磁盘,然后重新运行。",
        )


def mirror() -> str:
    """The package index the user set for uv or pip (a mirror, say in China); empty for the tools' own default."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        if os.environ.get(name):
            return os.environ[name]
    done = _pip("config", "get", "global.index-url")
    return done.stdout.strip() if done.returncode == 0 else ""


def online() -> bool:
    """Whether the package index answers, asked through pip itself, so that its mirror, proxy and certificates count.

    Where this Python has no pip the answer is yes: the installer will find out.
    """
    done = _pip("--timeout", "4", "--retries", "0", "index", "versions", "pip")
    return done.returncode == 0 or "No module named pip" in done.stderr


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", *arguments]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=12, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def reachable(address: str, seconds: float = 5.0) -> bool:
    """Whether a server answers at all within ``seconds`` (proxies of the environment are used; any status counts)."""

    def knock() -> bool:
        request = urllib.request.Request(address, method="HEAD", headers={"User-Agent": "dubwright"})
        try:
            urllib.request.urlopen(request, timeout=seconds).close()
        except urllib.error.HTTPError as answer:
            return answer.code < 500 and answer.code != 407
        except (OSError, ValueError):
            return False
        return True

    pool = ThreadPoolExecutor(1)  # a name server that hangs is outside urlopen's timeout
    try:
        return pool.submit(knock).result(timeout=seconds + 1)
    except NotInTime:
        return False
    finally:
        pool.shutdown(wait=False)


def port_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
