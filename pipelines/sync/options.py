"""What a lip-sync job asks for, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import InputError, Message, OptionError
from pipelines.faces import MOST_PEOPLE
from pipelines.sync.order import FITS, Fit

FURTHEST_OFFSET = 2.0  # s


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """The job's options.

    Attributes:
        face: video or picture. audio: what is said, or None when ``text`` is to be spoken.
        text: what is said, when known (with ``audio``: better than hearing it).
        reference: a recording of the voice ``text`` is spoken in, or the name of a saved voice.
        language: ISO 639-1 code of the speech, or None to find out.
        who: the person who speaks, 1 for the one seen longest and largest (0: nobody was chosen, so
            the one whose mouth moves most in the clip).
        offset: seconds by which the mouth is moved against the sound (positive: later).
        head_motion: whether the head of a picture moves a little; a video's moves anyway.
        blinking: whether a picture's eyes shut now and then; drawn lids look rough on made-up or drawn eyes.
    """

    face: Path
    audio: Path | None
    engine: str
    fit: Fit
    offset: float
    text: str
    reference: str
    language: str | None
    voice_engine: str
    who: int = 0
    head_motion: bool = True
    blinking: bool = False

    @classmethod
    def read(cls, options: dict[str, Any]) -> SyncOptions:
        """Check a job's options.

        Raises:
            InputError: a file is missing, or there is nothing to say. OptionError: a value makes no sense.
        """
        face = _file(options.get("face"), Message("There is no face to move", "未指定人脸视频或图片"))
        text = str(options.get("text") or "").strip()
        audio = options.get("audio")
        if not audio and not text:
            raise InputError(
                Message("There is nothing for the face to say", "没有要说的内容"),
                Message("Give a sound file or a text.", "请提供声音文件或文字。"),
            )
        return cls(
            face=face,
            audio=_file(audio, Message("", "")) if audio else None,
            engine=str(options.get("engine") or "ownmouth"),
            fit=_fit(options.get("fit") or "loop"),
            offset=_offset(options.get("offset") or 0.0),
            text=text,
            reference=str(options.get("reference") or ""),
            language=str(options["language"]) if options.get("language") else None,
            voice_engine=str(options.get("voice_engine") or "kokoro"),
            who=_who(options.get("who") or 0),
            head_motion=_switch(options.get("head_motion", True)),
            blinking=_switch(options.get("blinking", False)),
        )


def _file(value: object, missing: Message) -> Path:
    if not value:
        raise InputError(missing, Message("Choose a file.", "请选择文件。"))
    path = Path(str(value)).expanduser()
    if not path.is_file():
        raise InputError(
            Message("There is no such file", "文件不存在"),
            Message("Check the path.", "请检查路径。"),
            str(path),
        )
    return path


def _fit(value: object) -> Fit:
    for fit in FITS:
        if value == fit:
            return fit
    raise OptionError(
        Message(f"There is no fit {value!r}", f"没有适配方式 {value!r}"),
        Message(f"Choose one of: {', '.join(FITS)}.", f"请从中选择:{', '.join(FITS)}。"),
    )


def _who(value: object) -> int:
    text = str(value)
    if not text.isdecimal() or int(text) > MOST_PEOPLE:
        raise OptionError(
            Message(f"There is no person {text!r}", f"没有第 {text!r} 个人"),
            Message(f"Give a number from 1 to {MOST_PEOPLE}.", f"请输入 1 到 {MOST_PEOPLE} 之间的数字。"),
        )
    return int(text)


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise OptionError(
        Message(
            f"Head motion and blinking are on or off, not {value!r}",
            f"头部动作和眨眼只能开或关,不能是 {value!r}",
        ),
        Message("Give true or false.", "请输入 true 或 false。"),
    )


def _offset(value: object) -> float:
    try:
        offset = float(str(value))
    except ValueError:
        offset = math.nan
    if not abs(offset) <= FURTHEST_OFFSET:
        raise OptionError(
            Message(f"An offset of {value} s makes no sense", f"偏移 {value} 秒没有意义"),
            Message("Give a number of seconds between -2 and 2.", "请输入 -2 到 2 之间的秒数。"),
        )
    return offset
