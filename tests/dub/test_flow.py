"""Whole dubs of real clips: what comes out, where the lines stand, what is made again and what is not."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import asdict, replace
from pathlib import Path
from typing import ClassVar

import av
import numpy as np
import pytest
import scipy.signal
import soundfile

from pipelines import media
from pipelines.dub import run
from pipelines.dub.casting import Cast
from pipelines.dub.fitting import fit, fitted
from pipelines.dub.options import DubOptions
from pipelines.dub.run import DubRun
from pipelines.errors import InputError, Message, NoSoundTrack, OptionError, TranslatorMissing
from pipelines.files import read_json
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.types import Audio, DubLine
from pipelines.voice import VOICES, StockVoices, pitch
from tests.dub.conftest import Dubbed

pytestmark = pytest.mark.slow
RATE = 48_000


def digests(folder: Path, pattern: str) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob(pattern)}


def stamps(dub: Dubbed) -> dict[str, int]:
    names = ["transcript.json", "translated.json", "dub.wav", "picture.mp4", "dubbed.mp4", "heard.json"]
    return {name: (dub.folder / name).stat().st_mtime_ns for name in names}


def boxes(path: Path) -> list[str]:
    """Names of the top-level boxes of an mp4 file (ISO 14496-12: 4 bytes size, 4 bytes type)."""
    found, data, at = [], path.read_bytes(), 0
    while at + 8 <= len(data):
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8].decode()
        found.append(kind)
        at += int.from_bytes(data[at + 8 : at + 16], "big") if size == 1 else size or len(data)
    return found


@pytest.mark.parametrize(
    ("name", "size", "fps", "frames"),
    [
        ("spanish", (512, 512), 25, 200),
        ("chinese", (1080, 1920), 30, 601),
        ("english", (1080, 1920), 25, 250),
    ],
)
def test_the_result_plays_in_a_browser_and_keeps_size_rate_and_length(
    name: str, size: tuple[int, int], fps: int, frames: int, request: pytest.FixtureRequest
) -> None:
    dub: Dubbed = request.getfixturevalue(name)
    video = dub.folder / dub.result["video"]
    info = media.probe(video)
    source = media.probe(Path(dub.options["input"]))
    assert (info.width, info.height) == size == (source.width, source.height)
    assert info.fps == fps == source.fps
    assert info.frames == source.frames and abs(source.frames - frames) <= 1
    assert (info.codec, info.pixel_format) == ("h264", "yuv420p")
    tracks = [(track.codec, track.language, track.default) for track in info.audio]
    assert tracks[0] == ("aac", {"spanish": "spa", "chinese": "zho", "english": "eng"}[name], True)
    assert len(tracks) == (2 if name == "chinese" else 1)
    assert info.audio[0].duration == pytest.approx(info.frames / fps, abs=1 / fps)
    order = boxes(video)
    assert order.index("moov") < order.index("mdat")  # faststart


def test_the_spanish_dub_has_both_subtitles_and_says_what_they_say(spanish: Dubbed) -> None:
    source = (
        (spanish.folder / spanish.result["subtitles"]["source"])
        .read_text(encoding="utf-8")
        .replace("\n", " ")
    )
    target = (
        (spanish.folder / spanish.result["subtitles"]["target"])
        .read_text(encoding="utf-8")
        .replace("\n", " ")
    )
    assert "second week of new member orientation" in source
    assert "segunda semana" in target and "orientación" in target
    assert spanish.plan.source_language == "en" and spanish.plan.target_language == "es"
    assert spanish.report["loudness"]["lufs"] == pytest.approx(-16.0, abs=0.7)


def whole_sound(path: Path, dub: Dubbed) -> np.ndarray:
    """The first sound track of a file, mono at 48 kHz."""
    return np.asarray(media.load_sound(path, dub.context.settings, sr=RATE).samples, np.float64)


def spoken_lines(dub: Dubbed) -> list[tuple[DubLine, np.ndarray]]:
    """The lines with their sound at 48 kHz."""
    found = []
    for line in dub.plan.lines:
        if line.state == "spoken":
            path = dub.folder / "lines" / f"{line.index + 1:04d}.wav"
            found.append((line, whole_sound(path, dub)))
    return found


def lag(line: np.ndarray, film: np.ndarray, start: float) -> float:
    """Seconds by which a line stands later in the film's sound than ``start``: the peak of their correlation."""
    reach = round(0.3 * RATE)
    first = round(start * RATE) - reach
    padded = np.pad(film, (reach, reach + len(line)))
    part = padded[first + reach : first + reach + len(line) + 2 * reach]
    return (int(np.argmax(scipy.signal.correlate(part, line, "valid"))) - reach) / RATE


@pytest.mark.parametrize("name", ["spanish", "chinese", "english"])
def test_every_line_starts_within_25_ms_of_its_plan_in_the_finished_video(
    name: str, request: pytest.FixtureRequest
) -> None:
    dub: Dubbed = request.getfixturevalue(name)
    film = whole_sound(dub.folder / dub.result["video"], dub)
    spoken = spoken_lines(dub)
    assert len(spoken) >= 2
    for line, sound in spoken:
        assert len(sound) / RATE == pytest.approx(line.speak_end - line.speak_start, abs=0.025 + 0.1)
        assert abs(lag(sound, film, line.speak_start)) <= 0.025, line
        assert abs(lag(sound, film, line.speak_start + 0.1)) > 0.025  # the measure can fail
        level = np.abs(sound)
        onset = int(np.argmax(level > 0.05 * level.max())) / RATE
        assert onset <= 0.075  # edge silence of at most 50 ms and the 25 ms of the plan
    for (earlier, _), (later, _) in itertools.pairwise(spoken):
        assert later.speak_start >= earlier.speak_end


def gain_db(mixed: np.ndarray, original: np.ndarray) -> float:
    """How loud the original is in the mix: least squares."""
    return float(20 * np.log10(max(mixed @ original / (original @ original), 1e-4)))


def test_the_original_stays_under_the_dub_and_makes_room_for_it(chinese: Dubbed) -> None:
    """12 dB down under speech and in short pauses, which lie between most lines of this clip; gone when not asked for."""
    film, original = (
        whole_sound(path, chinese) for path in (chinese.folder / "dub.wav", Path(chinese.options["input"]))
    )
    lines = spoken_lines(chinese)
    under, quiet = film.copy(), []
    for line, sound in lines:
        first = round(line.speak_start * RATE)
        under[first : first + len(sound)] -= sound[: len(under) - first]
    for (earlier, _), (later, _) in itertools.pairwise(lines):
        pause = slice(round(earlier.speak_end * RATE), round(later.speak_start * RATE))
        if 0.1 < later.speak_start - earlier.speak_end < 0.6:  # longer ones come up again
            quiet.append(gain_db(film[pause], original[pause]))
    assert quiet and all(-13.5 <= level <= -10.5 for level in quiet), quiet
    for line, _ in lines:
        here = slice(round((line.speak_start + 0.1) * RATE), round((line.speak_end - 0.1) * RATE))
        assert -13.5 <= gain_db(under[here], original[here]) <= -10.5, line


def test_the_sound_is_exactly_as_long_as_the_picture(spanish: Dubbed) -> None:
    sound = soundfile.info(spanish.folder / "dub.wav")
    assert (sound.samplerate, sound.channels, sound.frames) == (48_000, 2, 200 * 48_000 // 25)


def test_the_video_carries_both_subtitles_and_the_original_sound_when_asked_to(chinese: Dubbed) -> None:
    video = chinese.folder / chinese.result["video"]
    with av.open(str(video)) as container:
        found = [(one.type, one.metadata.get("language")) for one in container.streams]
    assert found == [
        *(("video", "und"), ("audio", "zho"), ("audio", "eng")),
        *(("subtitle", "zho"), ("subtitle", "eng")),
    ]
    assert media.probe(video).audio[1].title == "Original (English)"
    second = media.load_sound(video, chinese.context.settings, sr=16_000, stream=2).samples
    source = media.load_sound(Path(chinese.options["input"]), chinese.context.settings, sr=16_000).samples
    count = min(len(second), len(source))
    assert np.corrcoef(second[:count], source[:count])[0, 1] > 0.99


def test_nothing_is_made_again_when_nothing_changed(spanish: Dubbed) -> None:
    before = stamps(spanish)
    spanish.again()
    assert stamps(spanish) == before


def test_of_an_edited_line_only_its_sound_and_its_frames_are_made_again(spanish: Dubbed) -> None:
    before, pieces = digests(spanish.folder / "lines", "*.wav"), digests(spanish.folder / "pieces", "*.mp4")
    lines = [asdict(line) for line in spanish.plan.lines]
    assert len(lines) >= 2
    old = (lines[-1]["speak_start"], lines[-1]["speak_end"])
    lines[-1]["text"] = "Y además aprendo dónde están los túneles."
    edited = spanish.again(lines=lines)
    after = digests(spanish.folder / "lines", "*.wav")
    assert {name for name in after if after[name] != before.get(name)} == {f"{len(lines):04d}.wav"}
    assert "aprendo" in (spanish.folder / "target.srt").read_text(encoding="utf-8")
    new = edited.plan.lines[-1]
    touched = {  # pieces of two seconds that the old and the new line reach, with half a second of transition
        f"{first:07d}.mp4"
        for first in range(0, 200, 50)
        if (first + 50) / 25 > min(old[0], new.speak_start) - 0.5
        and first / 25 < max(old[1], new.speak_end) + 0.5
    }
    drawn = digests(spanish.folder / "pieces", "*.mp4")
    again = {name for name in drawn if drawn[name] != pieces[name]}
    assert again and again <= touched < set(pieces)
    assert edited.report["lips"]["measures"]["drawn_now"] == 50 * len(again)
    unedited = spanish.again()  # back to the first words for the other tests
    assert digests(spanish.folder / "pieces", "*.mp4") == pieces
    assert unedited.report["lips"]["measures"]["drawn_now"] == 50 * len(again)


def test_a_line_too_long_for_its_time_says_by_how_much(spanish: Dubbed, tmp_path: Path) -> None:
    """The plan of step 3 on a real voice: the fields of the table, and the sentence for the user."""

    class Notes(NullReport):
        notes: ClassVar[list[str]] = []

        def note(self, message: Message, level: str = "hint") -> None:
            self.notes.append(message.en)

    asked = DubOptions.from_json(spanish.options)
    run = DubRun(tmp_path, asked, media.probe(asked.input), spanish.context, Notes())
    first, *_, last = spanish.plan.lines
    text = "Además de aprender dónde están las cosas y cómo usar los túneles largos y oscuros de aquí."
    long = replace(first, end=first.start + 2.0, text=text)
    plan = replace(spanish.plan, lines=(long, replace(last, start=first.start + 2.1)))
    voice = VOICES.get("kokoro", spanish.context)
    assert isinstance(voice, StockVoices)
    stock = voice.stock(None, "es")
    fits = fit(run, plan, Cast({line.index: stock for line in plan.lines}))
    shown = fitted(long, fits[long.index])
    assert 1.5 < shown.needed_speed < 4 and 5 <= shown.shorten_by <= 14
    assert (
        f"Line 1 would need {shown.needed_speed:.1f}×: shorten it by about {shown.shorten_by} words"
        in Notes.notes
    )
    later = fits[last.index].start - plan.lines[1].start
    assert any(f"line {last.index + 1} {later:.1f} s later" in note for note in Notes.notes), Notes.notes


def test_the_reports_say_how_each_line_was_fitted_and_heard(chinese: Dubbed) -> None:
    lines = chinese.report["lines"]
    assert len(lines) == 6
    for line in lines:
        assert 0.7 - 1e-6 <= line["factor"] <= 1.15 + 1e-6
        assert line["speed"] == pytest.approx(1 / line["factor"], abs=0.001)
        assert line["heard"] is not None
        assert line["start_shift"] == pytest.approx(line["speak_start"] - line["start"], abs=0.002)
        assert line["needed_speed"] >= 1.0 and (line["needed_speed"] > 1) == (line["shorten_by"] > 0)
    voice, loudness = chinese.report["voice"], chinese.report["loudness"]
    assert (voice["engine"], voice["kind"]) == ("kokoro", "matched") and 0.3 < voice["similarity"] <= 1
    assert abs(12 * np.log2(voice["pitch"] / voice["own_pitch"])) <= 3
    assert loudness["lufs"] == pytest.approx(-16.0, abs=2.5) and -9 < loudness["true_peak_db"] <= -0.9
    rates = [line["error_rate"] for line in lines]
    assert float(np.mean(rates)) <= 0.15, [(line["text"], line["heard"]) for line in lines]


def test_a_man_is_dubbed_with_a_man_s_pitch(chinese: Dubbed) -> None:
    settings = chinese.context.settings
    own = pitch.measure(media.load_sound(Path(chinese.options["input"]), settings, sr=16_000))
    spoken = [line for line in chinese.plan.lines if line.state == "spoken"]
    sounds = [soundfile.read(chinese.folder / "lines" / f"{line.index + 1:04d}.wav") for line in spoken]
    joined = np.concatenate([samples for samples, _ in sounds]).astype(np.float32)
    dubbed = pitch.measure(Audio(joined, sounds[0][1]))
    assert own is not None and dubbed is not None
    assert abs(12 * np.log2(dubbed.median / own.median)) <= 2.0, (own, dubbed)


def test_russian_is_recognised_as_the_source(english: Dubbed) -> None:
    assert english.plan.source_language == "ru"
    assert "привет" in (english.folder / "source.srt").read_text(encoding="utf-8").lower()


def test_a_kept_line_keeps_the_original_sound_and_mouth(
    spanish: Dubbed, dub_context: EngineContext, tmp_path: Path
) -> None:
    lines = [asdict(line) for line in spanish.plan.lines]
    lines[0]["keep"] = True
    run(tmp_path, {**spanish.options, "lines": lines}, dub_context, NullReport())
    start, end = lines[0]["start"], min(lines[0]["end"], 4.0)
    original = media.load_sound(
        Path(spanish.options["input"]), dub_context.settings, sr=48_000, start=start, end=end
    )
    dubbed, _ = soundfile.read(tmp_path / "dub.wav", dtype="float32")
    piece = dubbed[round(start * 48_000) :][: len(original.samples)].mean(axis=1)
    similarity = np.corrcoef(piece, original.samples)[0, 1]
    assert similarity > 0.99
    first, last = read_json(tmp_path / "lips.json")["passed"][0]
    assert first <= round(start * 25) + 6 and last >= round(end * 25) - 6


def test_without_a_translator_it_stops_before_speaking_and_keeps_the_table(
    data: Path, dub_context: EngineContext, tmp_path: Path
) -> None:
    options = {
        "input": str(data / "video/talk_512_8s.mp4"),
        "target_language": "fr",
        "translator": "none",
    }
    with pytest.raises(TranslatorMissing) as stopped:
        run(tmp_path, options, dub_context, NullReport())
    assert stopped.value.exit_code == 3 and "lines 1" in stopped.value.where
    lines = read_json(tmp_path / "lines.json")["lines"]
    assert "orientation" in lines[0]["source"] and lines[0]["text"] == ""
    assert not (tmp_path / "lines").exists()


def test_what_cannot_be_dubbed_is_refused_in_plain_words(
    data: Path, dub_context: EngineContext, tmp_path: Path
) -> None:
    silent = {"input": str(data / "video/face_512_silent_3s.mp4"), "target_language": "es"}
    with pytest.raises(NoSoundTrack, match="no sound track"):
        run(tmp_path, silent, dub_context, NullReport())
    with pytest.raises(InputError, match="no such file"):
        run(
            tmp_path,
            {"input": str(tmp_path / "nothing.mp4"), "target_language": "es"},
            dub_context,
            NullReport(),
        )
    with pytest.raises(OptionError, match="has no option colour"):
        run(tmp_path, {**silent, "colour": 1}, dub_context, NullReport())
    same = {"input": str(data / "video/talk_512_8s.mp4"), "target_language": "en", "source_language": "en"}
    with pytest.raises(OptionError, match="already spoken"):
        run(tmp_path, same, dub_context, NullReport())
