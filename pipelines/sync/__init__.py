"""The flow ``sync``: the face of a video or a picture says another sound track, or a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.progress import Report
from pipelines.registry import EngineContext

__all__ = ["run"]


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """See ``pipelines.sync.flow.run``."""
    from pipelines.sync.flow import run as flow

    return flow(folder, options, context, report)
