"""The dub: listening, translating, speaking, syncing lips, making the video, over one job folder.

Every step leaves its files in the folder and is skipped when they are there and nothing it depends on has changed.
"""

from pipelines.dub.flow import check_input, run

__all__ = ["check_input", "run"]
