"""A dub as one ZIP: the film, its lines, every line's sound, subtitles, stems and report, to be kept or handed on."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from pipelines.dub.run import DubRun
from pipelines.files import part_file

PROJECT = "project.zip"
BLOCK = 1 << 20
TEXT = frozenset({".json", ".srt", ".vtt", ".ass", ".html"})  # the others are packed already


def pack(run: DubRun, names: Iterable[str]) -> str:
    """Write ``project.zip`` with these files of the job's folder, all line sounds and what was asked; returns its name.

    The source video is not in it, only its name and hash.
    """
    files = [run.folder / name for name in dict.fromkeys(names)]
    files += sorted((run.folder / "lines").glob("*.wav"))
    asked = {**asdict(run.options), "input": run.options.input.name, "source_sha256": run.source_hash}
    with part_file(run.folder / PROJECT) as part, zipfile.ZipFile(part, "w") as archive:
        archive.writestr("asked.json", json.dumps(asked, ensure_ascii=False, indent=1, default=str))
        for number, path in enumerate(files):
            run.report.step("video", number, len(files), "files")
            _add(run, archive, path)
    return PROJECT


def _add(run: DubRun, archive: zipfile.ZipFile, path: Path) -> None:
    entry = zipfile.ZipInfo.from_file(path, path.relative_to(run.folder).as_posix())
    entry.compress_type = zipfile.ZIP_DEFLATED if path.suffix in TEXT else zipfile.ZIP_STORED
    with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as packed:
        while block := source.read(BLOCK):
            packed.write(block)
            run.report.step("video", 0, None, "files")
