"""The doctor's findings as text to paste into a report, without what identifies a person or a computer."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Sequence
from pathlib import Path

from pipelines.backend.rows import Row, render

SHORTEST = 3  # letters of a name that is replaced: shorter ones stand inside ordinary words
SERIALS = (
    re.compile(r"\bGPU-[0-9a-fA-F]{8}[0-9a-fA-F-]*"),  # NVIDIA and AMD
    re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE),
    re.compile(r"\b(?:[0-9A-F]{2}:){5}[0-9A-F]{2}\b", re.IGNORECASE),  # network cards
    re.compile(r"\b0x[0-9a-f]{12,16}\b", re.IGNORECASE),  # unique_id of AMD's driver
    re.compile(r"(?<=serial)\W{1,3}[\w-]+", re.IGNORECASE),
)


def report(
    sentence: str,
    rows: Sequence[Row],
    *,
    home: Path | None = None,
    user: str | None = None,
    host: str | None = None,
) -> str:
    """The banner's sentence and all rows in English, cleaned.

    Args:
        home, user, host: what is taken out; by default this computer's.
    """
    return anonymous(
        f"{sentence}\n\n{render(tuple(rows), 'en')}",
        Path.home() if home is None else home,
        _user() if user is None else user,
        socket.gethostname() if host is None else host,
    )


def anonymous(text: str, home: Path, user: str, host: str) -> str:
    """``text`` with the home folder as ``~`` and names and serial numbers replaced."""
    if len(str(home)) > 1:
        text = re.sub(rf"{re.escape(str(home))}(?=[/\\\s:;,)]|$)", "~", text)
    for name, instead in ((user, "USER"), (host, "HOST")):
        if len(name) >= SHORTEST:
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", instead, text)
    for pattern in SERIALS:
        text = pattern.sub(lambda found: " …" if found.group(0)[0] in " :=" else "…", text)
    return text


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's number without a name
        return ""
