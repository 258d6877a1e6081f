"""A text spoken in pieces: cut where a speaker would breathe, each said again alone, joined without clicks, even and exact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import soundfile

from pipelines import speak
from pipelines.audio import loudness, true_peak_db
from pipelines.errors import InputError, OptionError
from pipelines.media import load_sound
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.speak.joining import encode, join, starts_of
from pipelines.speak.pieces import GAP, Piece, given, shares, split
from pipelines.subtitles import read as read_subtitles
from pipelines.voice import LineLength

TEXT = "The train leaves at 9. [0.8s] Please stand behind the line, and keep your bags with you at all times."
SR = 24_000


def test_a_text_is_cut_at_pauses_sentences_and_clauses() -> None:
    assert split("Hi. Yes! [1s] [0.5s] 好的。") == (Piece("Hi. Yes!", pause=1.5), Piece("好的。"))
    long = "This is a sentence of some length, which goes on. " * 12
    parts = split(long)
    assert len(parts) == 3 and all(len(piece.text) <= 240 and piece.text.endswith(".") for piece in parts)
    assert " ".join(piece.text for piece in parts) == long.strip()
    endless = split("word " * 200)
    assert max(len(piece.text) for piece in endless) <= 240
    assert max(len(piece.text) for piece in split("一" * 300)) <= 80
    assert split("😀 。 [1s]") == ()


def test_pieces_come_back_from_the_table() -> None:
    rows = [
        {"text": " a ", "speed": None, "pause": None},
        {"text": ""},
        {"text": "b", "speed": 1.2, "pause": -1},
    ]
    assert given(rows) == (Piece("a"), Piece("b", 1.2, 0.0))


def test_seconds_are_shared_out_within_what_each_piece_can() -> None:
    pieces = (Piece("a"), Piece("b", pause=1.0), Piece("c"))
    lengths = [LineLength(2.0, 1.9, 2.8), LineLength(4.0, 2.8, 5.6), LineLength(1.0, 0.7, 1.4)]
    spoken, gaps = shares(pieces, lengths, 7.0)
    assert sum(spoken) + sum(gaps) == pytest.approx(7.0, abs=1e-9)
    assert gaps[1] == 1.0 and gaps[2] == 0.0 and gaps[0] < GAP
    assert spoken[0] == pytest.approx(1.9) and spoken[1] / 4.0 == pytest.approx(spoken[2] / 1.0, abs=0.01)
    with pytest.raises(OptionError, match=r"it can be 6.57 to 11.15 s long"):
        shares(pieces, lengths, 5.0)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one job that several tests go on with."""
    return tmp_path_factory.mktemp("pieces")


def options(**changed: Any) -> dict[str, Any]:
    return {"text": TEXT, "language": "en", **changed}


def test_pieces_are_joined_with_their_pauses_and_all_times_fit(job: Path, context: EngineContext) -> None:
    result = speak.run(job, options(), context, NullReport())
    samples, sr = soundfile.read(job / result["audio"], dtype="float32")
    first, second = result["pieces"]
    assert (first["text"], first["pause"]) == ("The train leaves at 9.", 0.8) and second["pause"] is None
    length = soundfile.info(job / "pieces" / "0001.wav").duration
    assert second["start"] == pytest.approx(length + 0.8, abs=1e-4) and len(samples) / sr == pytest.approx(
        result["seconds"]
    )
    silent = samples[round((length + 0.01) * sr) : round((second["start"] - 0.01) * sr)]
    assert np.abs(silent).max() == 0
    steps = np.abs(np.diff(samples))
    edges = [round(length * sr), round(second["start"] * sr)]
    assert max(steps[edge - 3 : edge + 3].max() for edge in edges) < 0.005, "no click"
    said = {word["text"]: word["start"] for word in result["words"]}
    assert (
        said["The"]
        < said["train"]
        < length
        < second["start"]
        <= said["Please"]
        < said["times"]
        < result["seconds"]
    )
    assert loudness(samples, sr) == pytest.approx(-16, abs=0.5) and true_peak_db(samples, sr) <= -1.0
    shown = read_subtitles(job / "speech.srt")
    assert shown[0].text == "The train leaves at 9." and shown[0].start == pytest.approx(
        said["The"], abs=0.002
    )


def test_only_a_changed_piece_is_said_again(job: Path, context: EngineContext) -> None:
    before = [(job / "pieces" / name).stat().st_mtime_ns for name in ("0001.wav", "0002.wav")]
    rows = json.loads((job / "speech.json").read_text(encoding="utf-8"))["pieces"]
    rows[1] = {**rows[1], "text": "Stand behind the line.", "speed": 1.2}
    result = speak.run(job, options(pieces=rows), context, NullReport())
    after = [(job / "pieces" / name).stat().st_mtime_ns for name in ("0001.wav", "0002.wav")]
    assert after[0] == before[0] and after[1] > before[1]
    assert [piece["text"] for piece in result["pieces"]] == [
        "The train leaves at 9.",
        "Stand behind the line.",
    ]
    assert [word["text"] for word in result["words"]][-1] == "line"
    moved = speak.run(job, options(pieces=[{**rows[0], "pause": 0.3}, rows[1]]), context, NullReport())
    assert (job / "pieces" / "0002.wav").stat().st_mtime_ns == after[1], "a pause is no speech"
    assert result["seconds"] - moved["seconds"] == pytest.approx(0.5, abs=0.001)


def test_several_pieces_meet_an_exact_length(tmp_path: Path, context: EngineContext) -> None:
    result = speak.run(tmp_path, options(seconds=6.5), context, NullReport())
    assert result["seconds"] == pytest.approx(6.5, abs=0.001) and len(result["pieces"]) == 2


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory, data: Path, context: EngineContext) -> list[Path]:
    """Two pieces of real speech, cut so that their edges are loud."""
    folder, files = tmp_path_factory.mktemp("uneven"), []
    for number, name in enumerate(("en_lj_0001.flac", "en_jfk.flac")):
        sound = load_sound(data / "speech" / name, context.settings, sr=SR, start=1.0, end=6.0)
        files.append(folder / f"{number}.wav")
        soundfile.write(files[-1], sound.samples, SR)
    return files


@pytest.mark.parametrize(
    ("form", "lufs"), [("wav", -14.0), ("flac", -23.0), ("mp3", -16.0), ("m4a", -14.0), ("opus", -16.0)]
)
def test_every_format_is_as_loud_as_asked_below_its_peak_and_says_what_it_is(
    tmp_path: Path, uneven: list[Path], context: EngineContext, form: str, lufs: float
) -> None:
    join(uneven, [0.5, 0.0], tmp_path / "joined.wav", lufs, form, context.settings, NullReport())
    out = tmp_path / f"out.{form}"
    encode(
        tmp_path / "joined.wav",
        out,
        form,
        {"comment": "AI-generated speech: ü 声"},
        context.settings,
        NullReport(),
    )
    sound = load_sound(out, context.settings, sr=48_000)
    assert sound.duration == pytest.approx(10.5, abs=0.06)
    assert loudness(sound.samples, sound.sr) == pytest.approx(lufs, abs=0.5)
    assert true_peak_db(sound.samples, sound.sr) <= -1.0
    with av.open(str(out)) as file:
        stream = file.streams.audio[0]
        found = {**file.metadata, **stream.metadata}
        assert {name.lower(): value for name, value in found.items()}[
            "comment"
        ] == "AI-generated speech: ü 声"
        assert stream.codec_context.name.startswith({"wav": "pcm_s16le", "m4a": "aac"}.get(form, form))


def test_loudness_off_leaves_what_was_said(
    tmp_path: Path, uneven: list[Path], context: EngineContext
) -> None:
    join(uneven, [0.25, 0.0], tmp_path / "joined.wav", None, "wav", context.settings, NullReport())
    starts, seconds = starts_of(uneven, [0.25, 0.0])
    assert starts == [0.0, 5.25] and seconds == 10.25
    joined, _ = soundfile.read(tmp_path / "joined.wav", dtype="float32")
    first, _ = soundfile.read(uneven[0], dtype="float32")
    assert np.abs(joined[: len(first)] - first).max() < 2e-4


def test_what_belongs_beside_the_sound(tmp_path: Path, context: EngineContext) -> None:
    asked = options(text="Yes.", voice="am_michael", format="opus", loudness="off", speed=1.1)
    result = speak.run(tmp_path, asked, context, NullReport())
    assert result["audio"] == "speech.opus" and (tmp_path / "speech.opus").stat().st_size > 1000
    told = json.loads((tmp_path / result["files"]["json"]).read_text(encoding="utf-8"))
    assert told["ai_generated"] is True and told["text"] == "Yes." and told["voice"]["name"] == "am_michael"
    assert told["settings"] == {
        "speed": 1.1, "seconds": None, "seed": None, "emotion": None, "format": "opus", "loudness": None,
    }  # fmt: skip
    wave = json.loads((tmp_path / result["wave"]).read_text(encoding="utf-8"))
    assert (
        len(wave["spans"]) == 1
        and 0.1 < max(wave["peaks"]) <= 1
        and wave["duration"] == pytest.approx(result["seconds"])
    )


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"format": "exe"}, OptionError, "cannot be written as 'exe'"),
        ({"text": "。 [1s]"}, InputError, "nothing to say"),
        ({"seconds": 60.0}, OptionError, "out of reach"),
    ],
)
def test_impossible_wishes(
    tmp_path: Path, context: EngineContext, change: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        speak.run(tmp_path, options(**change), context, NullReport())
