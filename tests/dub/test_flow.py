"""Whole dubs of real clips: what comes out, where the lines stand, what is made again and what is not."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pipelines import media
from pipelines.dub import run
from pipelines.errors import InputError, NoSoundTrack, OptionError, TranslatorMissing
from pipelines.files import read_json
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.types import Audio
from pipelines.voice import pitch
from tests.dub.conftest import Dubbed

pytestmark = pytest.mark.slow


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
    assert [track.codec for track in info.audio] == ["aac"]
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


@pytest.mark.parametrize("name", ["spanish", "chinese", "english"])
def test_every_line_starts_within_25_ms_of_its_plan(name: str, request: pytest.FixtureRequest) -> None:
    dub: Dubbed = request.getfixturevalue(name)
    spoken = [line for line in dub.plan.lines if line.state == "spoken"]
    assert spoken
    for line in spoken:
        samples, rate = soundfile.read(dub.folder / "lines" / f"{line.index + 1:04d}.wav", dtype="float32")
        assert len(samples) / rate == pytest.approx(line.speak_end - line.speak_start, abs=0.025 + 0.1)
        level = np.abs(samples)
        onset = int(np.argmax(level > 0.05 * level.max())) / rate
        assert onset <= 0.075  # edge silence of at most 50 ms and the 25 ms of the plan
    for earlier, later in zip(spoken, spoken[1:], strict=False):  # noqa: RUF007 - the pair reads better so
        assert later.speak_start >= earlier.speak_end


def test_the_sound_is_exactly_as_long_as_the_picture(spanish: Dubbed) -> None:
    sound = soundfile.info(spanish.folder / "dub.wav")
    assert (sound.samplerate, sound.channels, sound.frames) == (48_000, 2, 200 * 48_000 // 25)


def test_nothing_is_made_again_when_nothing_changed(spanish: Dubbed) -> None:
    before = stamps(spanish)
    spanish.again()
    assert stamps(spanish) == before


def test_an_edited_line_is_spoken_again_and_only_that_one(spanish: Dubbed) -> None:
    before = digests(spanish.folder / "lines", "*.wav")
    lines = [asdict(line) for line in spanish.plan.lines]
    assert len(lines) >= 2
    lines[-1]["text"] = "Y además aprendo dónde están los túneles."
    spanish.again(lines=lines)
    after = digests(spanish.folder / "lines", "*.wav")
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {f"{len(lines):04d}.wav"}
    assert "aprendo" in (spanish.folder / "target.srt").read_text(encoding="utf-8")
    spanish.again()  # back to the first words for the other tests


def test_the_reports_say_how_each_line_was_fitted_and_heard(chinese: Dubbed) -> None:
    lines = chinese.report["lines"]
    assert len(lines) == 6
    for line in lines:
        assert 0.7 - 1e-6 <= line["factor"] <= 1.15 + 1e-6
        assert line["speed"] == pytest.approx(1 / line["factor"], abs=0.001)
        assert line["heard"] is not None
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
