"""How styled subtitles look: font, colours, place; as an ASS style, a style of its own for every coloured speaker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import pysubs2

from pipelines.errors import Message, OptionError

Position = Literal["bottom", "middle", "top"]
PLAY_SIZE = (1920, 1080)  # the picture that sizes and margins are given for; players scale from it
COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
ALIGNMENTS: dict[str, pysubs2.Alignment] = {
    "bottom": pysubs2.Alignment.BOTTOM_CENTER,
    "middle": pysubs2.Alignment.MIDDLE_CENTER,
    "top": pysubs2.Alignment.TOP_CENTER,
}
LINED, BOXED = 1, 3  # ASS border styles: an outline around the letters, or a box behind them


@dataclass(frozen=True, slots=True)
class AssStyle:
    """Look of subtitles; sizes and margins in pixels of a picture 1080 high, colours as ``#RRGGBB``.

    ``speaker_colours`` gives a speaker's lines another colour of letters. ``box`` puts a box of the outline's colour behind the
    text instead of an outline around its letters.
    """

    font: str = "Arial"
    size: int = 60
    colour: str = "#FFFFFF"
    outline_colour: str = "#000000"
    outline: float = 3
    shadow: float = 1
    bold: bool = False
    position: Position = "bottom"
    margin: int = 54
    box: bool = False
    speaker_colours: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for colour in (self.colour, self.outline_colour, *self.speaker_colours.values()):
            if not COLOUR.fullmatch(colour):
                raise _wrong("colour", colour, "#RRGGBB")
        if self.position not in ALIGNMENTS:
            raise _wrong("position", self.position, ", ".join(ALIGNMENTS))
        if not 8 <= self.size <= 300:
            raise _wrong("size", self.size, "8–300")
        if not self.font.strip() or "," in self.font or "\n" in self.font:
            raise _wrong("font", self.font, "Arial, Noto Sans CJK SC…")


def ass_style(values: Mapping[str, Any] | None) -> AssStyle:
    """A style from a form or a job's options.

    Raises:
        OptionError: an unknown name or a value that cannot be.
    """
    known = {entry.name for entry in fields(AssStyle)}
    for name in values or {}:
        if name not in known:
            raise _wrong("style", name, ", ".join(sorted(known)))
    return AssStyle(**(values or {}))


def _wrong(name: str, value: object, allowed: str) -> OptionError:
    return OptionError(
        Message(f"The subtitle {name} cannot be {value!r}", f"字幕样式 {name} 不能为 {value!r}"),
        Message(f"Allowed: {allowed}.", f"可用:{allowed}。"),
    )


def styled_file(style: AssStyle) -> pysubs2.SSAFile:
    """An empty ASS file with the styles ``Default`` and one for every coloured speaker (``style_name``)."""
    file = pysubs2.SSAFile()
    width, height = PLAY_SIZE
    file.info |= {
        "PlayResX": str(width),
        "PlayResY": str(height),
        "WrapStyle": "0",
        "ScaledBorderAndShadow": "yes",
    }
    file.styles["Default"] = _pysubs2_style(style, style.colour)
    for speaker, colour in style.speaker_colours.items():
        file.styles[style_name(style, speaker)] = _pysubs2_style(style, colour)
    return file


def style_name(style: AssStyle, speaker: str | None) -> str:
    """The name of the style that a speaker's lines have."""
    if speaker is None or speaker not in style.speaker_colours:
        return "Default"
    return f"Speaker {list(style.speaker_colours).index(speaker) + 1}"


def _pysubs2_style(style: AssStyle, colour: str) -> pysubs2.SSAStyle:
    return pysubs2.SSAStyle(
        fontname=style.font,
        fontsize=style.size,
        bold=style.bold,
        primarycolor=_colour(colour),
        outlinecolor=_colour(style.outline_colour),
        backcolor=_colour(style.outline_colour),
        borderstyle=BOXED if style.box else LINED,
        outline=style.outline,
        shadow=style.shadow,
        alignment=ALIGNMENTS[style.position],
        marginv=style.margin,
        marginl=60,
        marginr=60,
    )


def _colour(text: str) -> pysubs2.Color:
    return pysubs2.Color(*bytes.fromhex(text[1:]))
