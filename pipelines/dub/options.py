"""What a dub can be asked for, checked once at the door."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pipelines.errors import InputError, Message, OptionError
from pipelines.records import line_from
from pipelines.types import DubLine

# Which languages are meant: the dub's, the video's, or both.
ROLES: dict[str | None, tuple[str, ...]] = {
    "target": ("target",),
    "source": ("source",),
    "both": ("target", "source"),
}
FORMATS = ("srt", "vtt", "ass")
RESTS = ("keep", "cut")


@dataclass(frozen=True, slots=True)
class DubOptions:
    """Options of the ``dub`` flow, as they travel in a JobSpec.

    Attributes:
        input: the talking video.
        target_language: ISO 639-1 code of the dub.
        source_language: what is spoken, or None to detect it.
        translation: subtitle file whose cues are the lines of the dub, or None.
        lines: lines as edited in the table, or None; they take the place of transcript and translation.
        translator: engine name, ``auto`` (whatever is ready) or ``none`` (the lines are typed).
        endpoint: address and model of an OpenAI-compatible translator (its key never travels here).
        stream: absolute index of the sound track to dub, or None for the default one.
        reference: sound or video with the voice to speak in, or None for the video's own.
        voice: id of a saved voice, or None.
        speakers: how many people speak in the video, None to find out.
        cast: kept or stock voices by speaker (``S1``, ``S2``… in the order in which they first speak); who is not in it
            speaks in ``voice``, ``reference`` or a voice of their own.
        start, end: seconds of the video between which it is dubbed; None for its own start and end.
        rest: what becomes of the video outside of them: ``keep`` leaves it as it is, ``cut`` leaves it out.
        who: the person whose mouth says all lines, 1 for the one seen longest and largest; None: whoever is seen saying them.
        keep_background: lay the original sound, ducked, under the dub.
        lips: False leaves the picture as it is.
        soft_subtitles: subtitles put into the video to be switched on in a player: a key of ``ROLES`` or None.
        burned_subtitles: subtitles drawn into the picture: a key of ``ROLES`` or None.
        subtitle_formats: files of both languages beside the SRT that is always written: ``vtt``, ``ass``.
        original_track: put the original sound into the video as a second track.
        mkv: write the video as mkv too.
        stems: write the dubbed voice alone and the original sound as WAV files.
        project: pack all that was made into a ZIP.
    """

    input: Path
    target_language: str
    source_language: str | None = None
    translation: Path | None = None
    lines: tuple[DubLine, ...] | None = None
    translator: str = "auto"
    endpoint: dict[str, str] = field(default_factory=dict)
    stream: int | None = None
    asr_engine: str = "whisper"
    voice_engine: str = "kokoro"
    lip_engine: str = "ownmouth"
    reference: Path | None = None
    voice: str | None = None
    speakers: int | None = None
    cast: dict[str, str] = field(default_factory=dict)
    start: float | None = None
    end: float | None = None
    rest: str = "keep"
    who: int | None = None
    keep_background: bool = False
    lips: bool = True
    soft_subtitles: str | None = None
    burned_subtitles: str | None = None
    subtitle_formats: tuple[str, ...] = ()
    original_track: bool = False
    mkv: bool = False
    stems: bool = False
    project: bool = False

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> DubOptions:
        """Read a JobSpec's options; absent and null ones take their defaults.

        Raises:
            OptionError: an unknown option, or one that must be given is not. InputError: a file is not there.
        """
        known = {entry.name for entry in fields(cls)}
        unknown = sorted(set(record) - known)
        if unknown:
            listed = ", ".join(unknown)
            raise OptionError(Message(f"A dub has no option {listed}", f"配音没有选项 {listed}"))
        given = {key: value for key, value in record.items() if value is not None}
        for name in ("input", "target_language"):
            if not given.get(name):
                raise OptionError(
                    Message(f"A dub needs {name}", f"配音缺少 {name}"),
                    Message("Choose a video and a language.", "请选择视频和语言。"),
                )
        for name in ("input", "translation", "reference"):
            if name in given:
                given[name] = Path(given[name])
        for name in ("input", "translation", "reference"):
            if name in given and not given[name].is_file():
                raise InputError(
                    Message("There is no such file", "文件不存在"),
                    Message("Check the name and choose it again.", "请检查文件名后重新选择。"),
                    str(given[name]),
                )
        _check_subtitles(given)
        if given.get("rest", "keep") not in RESTS:
            raise OptionError(
                Message(
                    f"The rest of the video cannot be {given['rest']!r}", f"其余部分不能为 {given['rest']!r}"
                ),
                Message(f"Choose one of: {', '.join(RESTS)}.", f"可选:{'、'.join(RESTS)}。"),
            )
        if "lines" in given:
            given["lines"] = tuple(line_from(entry) for entry in given["lines"])
        return cls(**given)


def _check_subtitles(given: dict[str, Any]) -> None:
    """Bring the choices of subtitles into form; before there was a choice of languages, true meant both.

    Raises:
        OptionError: a choice there is not.
    """
    for name in ("soft_subtitles", "burned_subtitles"):
        chosen = "both" if given.get(name) is True else given.get(name) or None
        given[name] = chosen
        if chosen is not None and chosen not in ROLES:
            listed = ", ".join(str(role) for role in ROLES)
            raise OptionError(
                Message(f"Subtitles cannot be in {chosen!r}", f"字幕语言不能为 {chosen!r}"),
                Message(f"Choose one of: {listed}.", f"可选:{listed}。"),
            )
    given["subtitle_formats"] = tuple(given.get("subtitle_formats", ()))
    for form in given["subtitle_formats"]:
        if form not in FORMATS:
            raise OptionError(
                Message(
                    f"The subtitles of a dub cannot be written as {form!r}", f"配音字幕不能写成 {form!r}"
                ),
                Message(f"Choose from: {', '.join(FORMATS)}.", f"可选:{'、'.join(FORMATS)}。"),
            )
