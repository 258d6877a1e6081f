"""What the page tells about a dropped video after a look at samples of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.artifacts import options_key
from pipelines.clock import clock
from pipelines.files import read_json, write_json
from ui import languages
from ui.aside import run_aside
from ui.i18n import escaped, text
from ui.services import Services

VERSION, RESULT = 1, "survey.json"
LISTED = 4
FEW = 0.995  # share of the time with a face from which it is always there
SMALL = 0.08  # width of a face, as a share of the picture's shorter side, under which lips are hardly seen
MUSIC = 0.2  # share of the time with standing tones from which music is likely
NOISY = 12.0  # dB from the words down to what is between them
LITTLE = 0.1  # share of the time with speech that is hardly worth a dub


def survey_of(services: Services, path: Path, stream: int | None) -> dict[str, Any]:
    """The survey of a file, made once for each state of it.

    Raises:
        PipelineError: it cannot be looked at.
    """
    place = _place(services, path, stream)
    if not (place / RESULT).is_file():
        write_json(
            place / RESULT, run_aside(services, "survey", {"input": str(path), "stream": stream}, place)
        )
    return _read(place)


def known(services: Services, path: Path, stream: int | None) -> dict[str, Any] | None:
    """The survey, if it has been made."""
    place = _place(services, path, stream)
    return _read(place) if (place / RESULT).is_file() else None


def _read(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_json(place / RESULT)
    return found


def _place(services: Services, path: Path, stream: int | None) -> Path:
    stamp = path.stat()
    key = options_key(
        path=str(path), changed=stamp.st_mtime_ns, size=stamp.st_size, stream=stream, version=VERSION
    )
    return services.uploads / f"survey-{key[:32]}"


def survey_html(found: dict[str, Any], language: str, target: str | None = None) -> str:
    """One sentence each for faces and speech, and what to be warned of; ``target`` is the language of the dub."""
    told: list[str] = []
    warnings: list[str] = []
    faces, sound = found["faces"], found["sound"]
    (told if faces["share"] > 0 else warnings).append(faces_text(faces, language))
    if 0 < faces["width"] < SMALL:
        warnings.append(text(language, "ui_survey_small"))
    if sound is not None:
        (told if sound["speech"] > LITTLE else warnings).append(speech_text(sound, language))
        if target and sound["language"] == target:
            warnings.append(text(language, "ui_target_same"))
        if sound["music"] >= MUSIC:
            warnings.append(text(language, "ui_survey_music"))
        elif sound["noise"] is not None and sound["noise"] < NOISY:
            warnings.append(text(language, "ui_survey_noisy"))
        looked = text(language, "ui_survey_looked", pictures=faces["looked"], seconds=clock(sound["looked"]))
    else:
        looked = text(language, "ui_survey_looked_only", pictures=faces["looked"])
    shown = "".join(f'<p class="quiet">{escaped(sentence)}</p>' for sentence in (*told, looked))
    return shown + "".join(f'<div class="problem note">{escaped(sentence)}</div>' for sentence in warnings)


def faces_text(faces: dict[str, Any], language: str) -> str:
    """“1 face in 97 % of the time; none 1:12–1:14: the original picture is kept there”."""
    if not faces["share"]:
        return text(language, "ui_survey_no_face")
    share = min(round(100 * faces["share"]), 99) if faces["share"] < FEW else 100
    said = text(
        language,
        "ui_survey_face" if faces["people"] == 1 else "ui_survey_faces",
        count=faces["people"],
        share=share,
    )
    if not faces["without"]:
        return said
    listed = ", ".join(f"{clock(start)}–{clock(end)}" for start, end in faces["without"][:LISTED])
    more = " …" if len(faces["without"]) > LISTED else ""
    return said + text(language, "ui_survey_without", times=listed + more)


def speech_text(sound: dict[str, Any], language: str) -> str:
    """How much is spoken, and in which language."""
    if sound["begins"] is None:
        return text(language, "ui_survey_silent")
    share = max(round(100 * sound["speech"]), 1)
    if not sound["language"]:
        return text(language, "ui_survey_speech", share=share)
    return text(
        language, "ui_survey_speech_in", share=share, spoken=languages.name(sound["language"], language)
    )
