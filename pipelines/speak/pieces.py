"""A text cut into the pieces it is spoken in, and how long each may take when the whole has to have a length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.errors import Message, OptionError
from pipelines.text import pieces as packed
from pipelines.text.marks import between_pauses
from pipelines.text.scripts import HAN, KANA, SPEAKABLE
from pipelines.voice import LineLength

LONGEST = 240  # letters of a piece; a Chinese or Japanese character counts three
GAP = 0.25  # seconds of silence between two pieces at natural speed
STEP = 0.025  # seconds a length may miss its range by: it is then met by the engine's own tolerance


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text: ``speed`` beside the whole's; ``pause``: seconds of silence after it, None for the usual gap."""

    text: str
    speed: float = 1.0
    pause: float | None = None


def split(text: str) -> tuple[Piece, ...]:
    """Cut at pause marks, then after sentences (short ones stay together), long ones at clauses, then between words."""
    found: list[Piece] = []
    for stretch, pause in between_pauses(text):
        parts = [part for part in packed(stretch, _size, LONGEST) if SPEAKABLE.search(part)]
        found += [Piece(part) for part in parts]
        if pause and found:
            before = found[-1].pause or 0.0
            found[-1] = Piece(found[-1].text, pause=before + pause)
    return tuple(found)


def _size(text: str) -> int:
    return len(text) + 2 * (len(HAN.findall(text)) + len(KANA.findall(text)))


def given(records: Sequence[dict[str, Any]]) -> tuple[Piece, ...]:
    """Pieces as they were edited in the table: ``text``, ``speed``, ``pause``; empty ones are left out."""
    return tuple(
        Piece(
            str(record["text"]).strip(),
            float(record.get("speed") or 1.0),
            None if record.get("pause") is None else max(float(record["pause"]), 0.0),
        )
        for record in records
        if str(record.get("text") or "").strip()
    )


def shares(
    pieces: Sequence[Piece], lengths: Sequence[LineLength], seconds: float
) -> tuple[list[float], list[float]]:
    """Seconds of every piece and of the silence after it, so that all together take ``seconds``.

    Pieces and usual gaps change by one factor as far as each piece's range allows; pauses that were asked for stay.

    Raises:
        OptionError: out of reach, with the range that is possible.
    """
    asked = sum(piece.pause or 0.0 for piece in pieces[:-1])
    usual = [0.0 if piece.pause is not None else GAP for piece in pieces[:-1]]
    low = sum(one.shortest for one in lengths) + asked + 0.7 * sum(usual)
    high = sum(one.longest for one in lengths) + asked + 1.4 * sum(usual)
    if not low - STEP <= seconds <= high + STEP:
        raise OptionError(
            Message(
                f"{seconds:.2f} s is out of reach for this text: it can be {low:.2f} to {high:.2f} s long",
                f"这段文字无法在 {seconds:.2f} 秒内说完:可选 {low:.2f} 到 {high:.2f} 秒",
            ),
            Message(
                "Shorten or lengthen the text, or ask for another length.", "请增删文字,或改用其他时长。"
            ),
        )
    floor, roof = 0.0, 4.0
    for _ in range(60):
        factor = (floor + roof) / 2
        if _total(lengths, usual, factor) < seconds - asked:
            floor = factor
        else:
            roof = factor
    spoken = [_within(one, roof) for one in lengths]
    gaps = [
        _gap(gap, roof) if piece.pause is None else piece.pause
        for piece, gap in zip(pieces, usual, strict=False)
    ]
    spoken[-1] += seconds - sum(spoken) - sum(gaps)  # what rounding leaves
    return spoken, [*gaps, 0.0]


def _within(length: LineLength, factor: float) -> float:
    return min(max(length.natural * factor, length.shortest), length.longest)


def _gap(gap: float, factor: float) -> float:
    return gap * min(max(factor, 0.7), 1.4)


def _total(lengths: Sequence[LineLength], gaps: Sequence[float], factor: float) -> float:
    return sum(_within(one, factor) for one in lengths) + sum(_gap(gap, factor) for gap in gaps)
