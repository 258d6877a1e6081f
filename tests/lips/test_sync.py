"""The flow ``sync``: real sound, real face, real recogniser; a finished mp4."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from PIL import Image

from pipelines import faces, media, phones
from pipelines.asr import RECOGNIZERS, Recognition
from pipelines.backend.policy import Policy
from pipelines.errors import InputError, NoFace, NoSoundTrack, OptionError
from pipelines.lipsync import EngineContext, evaluation, geometry
from pipelines.lipsync.articulation import targets
from pipelines.lipsync.shape import speaker_range
from pipelines.progress import NullReport
from pipelines.records import load_speech_times, save_speech_times
from pipelines.settings import Settings
from pipelines.sync import picture, run, speech
from pipelines.sync.speech import follow_text
from pipelines.types import Phone, Segment, Word
from tests.lips.conftest import Result, source_frames
from tests.lips.phones import SPANISH

Maker = Callable[..., Path]
JFK = "And so my fellow Americans, ask not"


class Stages(NullReport):
    """Remembers the stages in order and the notes."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.notes: list[str] = []

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        if stage not in self.stages:
            self.stages.append(stage)

    def note(self, message: Any, level: str = "hint") -> None:
        self.notes.append(message.en)


@pytest.fixture(scope="module")
def context(lips_settings: Settings) -> EngineContext:
    return EngineContext(lips_settings, Policy())


@pytest.fixture(scope="module")
def sound(data: Path, lips_home: Path, lips_settings: Settings) -> Path:
    """4.3 s of a real speech, stereo, 44.1 kHz."""
    path = lips_home / "ask not 肯尼迪.wav"
    source = data / "speech" / "en_jfk.flac"
    command = [
        str(media.ffmpeg_path(lips_settings)),
        "-v",
        "error",
        "-y",
        "-i",
        str(source),
        "-t",
        "4.3",
        str(path),
    ]
    subprocess.run(command, check=True)
    return path


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Spanish line instead of the recogniser, where a test is about the picture."""

    def phones(*_: object) -> tuple[Phone, ...]:
        return SPANISH

    monkeypatch.setattr(speech, "_heard_phones", phones)


@pytest.mark.slow
def test_a_face_says_a_real_recording(
    cut: Maker, sound: Path, tmp_path: Path, context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    face = cut("talk_512_8s", 0, 4.0)  # shorter than the sound
    options = {"face": str(face), "audio": str(sound), "engine": "ownmouth", "fit": "pingpong", "text": JFK}
    report = Stages()
    result = run(tmp_path, options, context, report)
    assert [stage for stage in report.stages if stage in ("listen", "faces", "lips", "video")] == [
        "listen",
        "faces",
        "lips",
        "video",
    ]
    film = media.probe(tmp_path / result["video"])
    assert abs(film.frames - 4.3 * 25) <= 1 and film.fps == 25 and (film.width, film.height) == (512, 512)
    assert (film.audio[0].sr, film.audio[0].channels) == (44100, 2)
    assert result["report"]["frames"] == film.frames and result["report"]["synthesised"] == [[0, film.frames]]
    phones, _ = load_speech_times(tmp_path / "phones.json")
    assert "".join(p.symbol for p in phones).count("m") >= 2  # my, Americans
    (source,) = faces.analyse(media.probe(face), context.settings, NullReport())
    points = np.asarray(source.landmarks)
    span = speaker_range(geometry.opening(points), geometry.width(points))
    sync = evaluation.evaluate(film, span, phones, context.settings, NullReport())
    assert sync.opening_r >= 0.8 and sync.closed >= 0.9 and abs(sync.lag) <= 1, sync

    def never(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(speech, "_heard_phones", never)
    monkeypatch.setattr(picture, "_draw", never)
    monkeypatch.setattr(media, "mux", never)
    assert run(tmp_path, options, context, NullReport()) == result  # everything is there already


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("rate", ["24000/1001", "30", "50"])
def test_the_film_is_as_long_as_the_sound(
    rate: str, cut: Maker, sound: Path, tmp_path: Path, context: EngineContext
) -> None:
    face = cut("face_512_silent_3s", 0, 0.6, f"fps={rate},scale=256:256")
    result = run(tmp_path, {"face": str(face), "audio": str(sound)}, context, NullReport())
    film = media.probe(tmp_path / result["video"])
    assert abs(film.frames - 4.3 * float(film.fps)) <= 1
    assert abs(film.audio[0].duration - 4.3) < 1 / float(film.fps) + 0.03  # one AAC packet


@pytest.mark.usefixtures("heard")
def test_trim_ends_with_the_video_and_an_offset_moves_the_mouth(
    cut: Maker, sound: Path, tmp_path: Path, context: EngineContext
) -> None:
    face = cut("talk_512_8s", 0, 1.2)
    made = {}
    for offset in (0.0, 0.2):
        folder = tmp_path / str(offset)
        folder.mkdir()
        options = {"face": str(face), "audio": str(sound), "fit": "trim", "offset": offset}
        film = media.probe(folder / run(folder, options, context, NullReport())["video"])
        assert film.frames == 30
        made[offset] = geometry.opening(
            np.asarray(faces.analyse(film, context.settings, NullReport())[0].landmarks)
        )
    here, there = made[0.0][3:20], made[0.2][8:25]  # five frames later
    assert np.corrcoef(here, there)[0, 1] > 0.9 > 0.6 > np.corrcoef(here, made[0.2][3:20])[0, 1]


def test_what_cannot_be_done_is_said(
    cut: Maker, sound: Path, tmp_path: Path, data: Path, context: EngineContext, lips_home: Path
) -> None:
    face = cut("talk_512_8s", 0, 1.2)
    nobody = cut("talk_512_8s", 0, 0.8, "crop=120:120:0:0,scale=640:360")
    good = {"face": str(face), "audio": str(sound)}
    for options, error in (
        ({**good, "fit": "stretch"}, OptionError),
        ({**good, "offset": "much"}, OptionError),
        ({**good, "face": str(tmp_path / "absent.mp4")}, InputError),
        ({"face": str(face)}, InputError),
        ({**good, "audio": str(face)}, NoSoundTrack),
    ):
        with pytest.raises(error):
            run(tmp_path, options, context, NullReport())
    save_speech_times(tmp_path / "phones.json", SPANISH, ())
    with pytest.raises(NoFace):
        picture.draw(
            tmp_path,
            speech.SyncOptions.read({**good, "face": str(nobody)}),
            sound,
            1.0,
            SPANISH,
            context,
            NullReport(),
        )


def test_a_known_text_takes_the_place_of_what_was_heard() -> None:
    heard = [Segment(0, 1, " Hello wurld", (Word(0, 0.4, " Hello"), Word(0.5, 1, " wurld")))]
    (segment,) = follow_text(heard, "Hello world")
    assert segment.text == "Hello world" and segment.words == heard[0].words
    assert follow_text(heard, "") == heard and follow_text([], "Hello") == []


class Wordless:
    """The real recogniser, with every word it found taken away: what it gives for singing or a language it does not know."""

    def get(self, name: str, context: EngineContext) -> Wordless:
        self._recognizer = RECOGNIZERS.get(name, context)
        return self

    def recognize(self, *asked: Any) -> Recognition:
        return replace(self._recognizer.recognize(*asked), segments=iter(()))


def wordless(
    folder: Path, samples: npt.NDArray[np.float64], context: EngineContext
) -> tuple[tuple[Phone, ...], Stages]:
    """The phones of a sound (16 kHz, a second of silence put before it) and what was told."""
    path, report = folder / "wordless.wav", Stages()
    soundfile.write(path, np.concatenate([np.zeros(16_000), samples]), 16_000)
    asked = speech.SyncOptions.read({"face": str(path), "audio": str(path)})
    return speech.hear(folder, asked, path, context, report), report


def test_lips_follow_a_voice_without_words(
    tmp_path: Path, sound: Path, context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Speech backwards is nobody's language: the sound itself is followed."""
    monkeypatch.setattr(speech, "RECOGNIZERS", Wordless())
    samples = np.concatenate(list(media.read_sound(sound, context.settings, sr=16_000)))[: 3 * 16_000]
    found, report = wordless(tmp_path, np.asarray(samples[::-1], np.float64), context)
    assert len(found) >= 10 and 1.6 < found[0].start < 2.2  # the pause after "Americans" comes first
    aims = targets(found, 100, Fraction(25))
    assert aims.opening[:20].max() == 0 < aims.opening[30:].max()
    assert np.ptp(aims.opening[30:90]) > 0.4
    assert any("No words were recognised" in note for note in report.notes)


def test_music_moves_no_mouth(
    tmp_path: Path, context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chords sound like vowels to the network of phones."""
    monkeypatch.setattr(speech, "RECOGNIZERS", Wordless())
    time = np.arange(6 * 16_000) / 16_000
    chords = sum(
        np.sin(2 * np.pi * pitch * overtone * time) / overtone
        for pitch in (220.0, 277.2, 329.6)
        for overtone in range(1, 7)
    )
    chords = 0.1 * np.asarray(chords) * (1 - 0.8 * (time % 1))
    assert phones.decode(phones.hear(iter([np.asarray(chords, np.float32)])))
    found, report = wordless(tmp_path, chords, context)
    assert found == () and report.notes == []


def test_lips_rest_in_the_pauses_of_a_speech(tmp_path: Path, data: Path, context: EngineContext) -> None:
    audio = data / "speech" / "en_jfk.flac"
    asked = speech.SyncOptions.read({"face": str(audio), "audio": str(audio), "language": "en"})
    spoken = speech.hear(tmp_path, asked, audio, context, Stages())
    rests = [p for p in spoken if (p.end > 2.4 and p.start < 3.2) or (p.end > 4.5 and p.start < 5.3)]
    assert len(spoken) > 40 and rests == []


def test_a_text_is_spoken_in_its_own_language(tmp_path: Path, context: EngineContext) -> None:
    """Latin letters alone do not make it English."""
    face = tmp_path / "face.png"
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(face)
    said = {}
    for language in (None, "it", "en"):
        folder = tmp_path / str(language)
        options = {"face": str(face), "text": "Buongiorno, che bella giornata.", "language": language}
        _, phones = speech.speak(folder, speech.SyncOptions.read(options), context, NullReport())
        said[language] = [phone.symbol for phone in phones]
    assert said[None] == said["it"] != said["en"]


@pytest.mark.slow
def test_a_picture_says_a_text(
    spoken: Result, tmp_path: Path, lips_home: Path, lips_settings: Settings, context: EngineContext
) -> None:
    """Text and a stock voice: the phones come from the voice engine itself, the length from its sound."""
    picture_file = lips_home / "portrait for text.png"
    shut = int(geometry.opening(np.asarray(spoken.track.landmarks)).argmin())
    Image.fromarray(source_frames(spoken, lips_settings)[shut][..., ::-1]).save(picture_file)
    options = {
        "face": str(picture_file),
        "audio": None,
        "text": "Maybe my baby bought a map.",
        "language": "en",
    }
    result = run(tmp_path, options, context, NullReport())
    film = media.probe(tmp_path / result["video"])
    phones, words = load_speech_times(tmp_path / "phones.json")
    assert "map" in words[-1].text and sum(p.symbol[-1] in "pbm" for p in phones) >= 7
    assert abs(film.frames / 25 - result["report"]["seconds"]) <= 0.04
    (face,) = faces.analyse(media.probe(picture_file), lips_settings, NullReport())
    points = np.asarray(face.landmarks)
    span = speaker_range(geometry.opening(points), geometry.width(points))
    sync = evaluation.evaluate(film, span, phones, lips_settings, NullReport())
    assert sync.closed >= 0.9 and sync.opening_r >= 0.7, sync
