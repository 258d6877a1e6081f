"""What was transcribed before: kept in one SQLite file, found again by what was said, reopened, exported, deleted."""

from pipelines.history.store import FILE, Entry, History, Row

__all__ = ["FILE", "Entry", "History", "Row"]
