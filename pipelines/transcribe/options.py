"""What a job or the command line asks of a transcription, checked and in the recognisers' own terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

from pipelines.asr import RecognitionOptions, Script, vad_options
from pipelines.diarise import MOST_SPEAKERS
from pipelines.errors import Message, OptionError
from pipelines.hotwords import by_weight, parse_hotwords
from pipelines.languages import language_code

EACH = "each"  # every channel of the track is a speaker
AUTO = "auto"  # find out how many speak
Channel = int | Literal["each"] | None
Speakers = int | Literal["auto"] | None


def recognition_options(options: Mapping[str, Any]) -> RecognitionOptions:
    """The engine's options from the flow's; ``channel`` is left out where every channel is heard by itself.

    Raises:
        OptionError: an unknown language or script, a speech setting out of its limits, or a range that is none.
    """
    language = options.get("language")
    start, end = float(options.get("start") or 0.0), options.get("end")
    if start < 0 or (end is not None and float(end) <= start):
        raise OptionError(
            Message(f"The range {start} to {end} s is empty", f"时间范围 {start}–{end} 秒为空"),
            Message("Give an end after the start.", "结束时间必须晚于开始时间。"),
        )
    channel = channel_of(options)
    return RecognitionOptions(
        language=None if language in (None, "", "auto") else language_code(language),
        stream=options.get("stream"),
        channel=channel if isinstance(channel, int) else None,
        start=start,
        end=None if end is None else float(end),
        hotwords=hotword_list(options.get("hotwords")),
        prompt=str(options.get("prompt") or ""),
        vad=vad_options(options.get("vad")),
        script=_script(options.get("script")),
    )


def channel_of(options: Mapping[str, Any]) -> Channel:
    """None for a mix of all, 0, 1… for one alone, or ``each``.

    Raises:
        OptionError: something else.
    """
    value = options.get("channel")
    if (
        value is None
        or value == EACH
        or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)
    ):
        return cast("Channel", value)
    raise OptionError(
        Message(f"There is no channel {value!r}", f"没有声道 {value!r}"),
        Message(
            f"Give 0 for the left one, 1 for the right one, or {EACH!r}.",
            f"0 为左声道,1 为右声道,或使用 {EACH!r}。",
        ),
    )


def speakers_of(options: Mapping[str, Any]) -> Speakers:
    """None where nobody asked who speaks, ``auto``, or how many speak.

    Raises:
        OptionError: something else.
    """
    value = options.get("speakers")
    if value in (None, "", "off", False):
        return None
    if value == AUTO or (
        isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_SPEAKERS
    ):
        return cast("Speakers", value)
    raise OptionError(
        Message(f"There cannot be {value!r} speakers", f"说话人数不能为 {value!r}"),
        Message(f"Give off, auto or 1 to {MOST_SPEAKERS}.", f"请填写 off、auto 或 1 到 {MOST_SPEAKERS}。"),
    )


def known_text(options: Mapping[str, Any]) -> str:
    """What is known to be said, or an empty text.

    Raises:
        OptionError: every channel is to be heard by itself: nobody knows whose text it is.
    """
    text = str(options.get("text") or "").strip()
    if text and channel_of(options) == EACH:
        raise OptionError(
            Message("A known text needs one sound to be put on", "已知文字只能对应一路声音"),
            Message("Choose a mix of the channels, or one of them.", "请选择混音或某一个声道。"),
        )
    return text


def _script(value: str | None) -> Script:
    if value in (None, ""):
        return "simplified"
    if value in get_args(Script):
        return cast("Script", value)
    raise OptionError(
        Message(f"Chinese cannot be written as {value!r}", f"中文字形不能为 {value!r}"),
        Message(
            f"Choose from {', '.join(get_args(Script))}.", f"请从 {', '.join(get_args(Script))} 中选择。"
        ),
    )


def hotword_list(value: str | list[str] | None) -> tuple[str, ...]:
    """Hotwords from a list or from a text, the heaviest first; doubles are dropped."""
    return by_weight(parse_hotwords(value))
