"""A translated subtitle file laid over the lines of a transcript."""

from __future__ import annotations

from pipelines.translate.matching import translations_for
from pipelines.types import Segment


def test_cues_go_to_the_line_they_share_most_time_with() -> None:
    lines = [Segment(0, 4, "a"), Segment(4.2, 6, "b"), Segment(10, 12, "c")]
    cues = [
        Segment(2.1, 4.3, "dos"),
        Segment(0, 2, "uno"),
        Segment(4.4, 6.5, "tres\nparte"),
        Segment(20, 21, "fuera"),
    ]
    assert translations_for(lines, cues) == ("uno dos", "tres parte", "")
    assert translations_for([], cues) == ()
