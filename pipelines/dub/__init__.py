"""The dub: listening, translating, speaking, syncing lips, making the video, over one job folder.

Every step leaves its files in the folder and is skipped when they are there and nothing it depends on has changed.
"""

from pipelines.dub.flow import run

__all__ = ["run"]
