"""Who speaks when: on one voice, on mixes of single voices, on a telephone call, and laid over a transcript's lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pipelines.asr import EngineContext, RecognitionOptions
from pipelines.asr.hearing import find_speech
from pipelines.backend.policy import Policy
from pipelines.diarise import Turn, find_turns, labelled
from pipelines.diarise.clustering import MOST, groups
from pipelines.diarise.scoring import error_rate, read_rttm
from pipelines.diarise.vectors import _features, windows_of
from pipelines.errors import OptionError
from pipelines.progress import NullReport
from pipelines.records import load_transcript
from pipelines.settings import Settings
from pipelines.transcribe import run
from pipelines.types import Segment, Word
from pipelines.voice.dvector import features
from pipelines.weights import present
from tests.listen.conftest import RATE, samples_of

HERE = Path(__file__).parent


def turns_of(path: Path, settings: Settings, count: int | None = None, **options: float) -> tuple[Turn, ...]:
    asked = RecognitionOptions(**options)  # type: ignore[arg-type]
    speech = find_speech(path, asked, settings, NullReport())
    return find_turns(path, asked, speech, settings, NullReport(), count)


def mixed(data: Path, tmp_path: Path, names: Sequence[str]) -> tuple[Path, tuple[Turn, ...]]:
    """Recordings of one voice each, one after the other, and who really speaks when."""
    parts, said, at = [], [], 0.0
    voices = list(dict.fromkeys(name.partition("_0")[0] for name in names))
    for name in names:
        sound = samples_of(data / "speech" / name)
        speaker = voices.index(name.partition("_0")[0])
        said += [Turn(at + first, at + last, speaker) for first, last in loud_stretches(sound)]
        parts += [sound, np.zeros(RATE // 2, np.float32)]
        at += len(sound) / RATE + 0.5
    path = tmp_path / "mix.wav"
    soundfile.write(path, np.concatenate(parts), RATE)
    return path, tuple(said)


def loud_stretches(sound: np.ndarray) -> list[tuple[float, float]]:  # type: ignore[type-arg]
    """Where a recording of one voice is loud, in seconds, by its envelope alone; pauses up to half a second belong to it."""
    peaks = np.abs(sound[: len(sound) // 160 * 160]).reshape(-1, 160).max(axis=1)
    loud = np.flatnonzero(peaks > 0.05 * np.quantile(peaks, 0.99)) / 100
    ends = np.flatnonzero(np.diff(loud) > 0.5)
    return [(float(part[0]), float(part[-1]) + 0.01) for part in np.split(loud, ends + 1) if len(part) > 5]


@pytest.mark.parametrize("name", ["en_jfk.flac", "en_lj_0003.flac", "zh_voice_ref.wav", "zh_asr_example.wav"])
def test_one_voice_is_one_speaker(data: Path, settings: Settings, name: str) -> None:
    turns = turns_of(data / "speech" / name, settings)
    assert {turn.speaker for turn in turns} == {0}


@pytest.mark.parametrize(
    "names",
    [
        ("en_jfk.flac", "en_lj_0001.flac", "en_jfk.flac"),
        (
            "en_voice_ref.wav",
            "zh_asr_example.wav",
            "en_lj_0007.flac",
            "zh_asr_example.wav",
            "en_voice_ref.wav",
        ),
        ("zh_hotword.wav", "zh_asr_example.wav", "zh_bus.wav", "en_jfk.flac"),
    ],
    ids=["two", "three", "four"],
)
def test_mixes_of_single_voices(
    data: Path, tmp_path: Path, settings: Settings, names: tuple[str, ...]
) -> None:
    path, said = mixed(data, tmp_path, names)
    turns = turns_of(path, settings)
    assert len({turn.speaker for turn in turns}) == len({turn.speaker for turn in said})
    rate = error_rate(said, turns)
    assert rate <= 0.15, rate
    assert turns[0].speaker == 0


def test_a_telephone_call_of_two(data: Path, settings: Settings) -> None:
    turns = turns_of(data / "speech" / "en_two_speakers.wav", settings, count=2)
    assert error_rate(read_rttm(HERE / "telephone.rttm"), turns) <= 0.25
    assert {turn.speaker for turn in turns} == {0, 1}


def test_a_range_keeps_the_files_clock(data: Path, tmp_path: Path, settings: Settings) -> None:
    path, said = mixed(data, tmp_path, ("en_jfk.flac", "zh_asr_example.wav"))
    turns = turns_of(path, settings, start=6.0)
    assert turns[0].start >= 6.0 and turns[-1].end == pytest.approx(said[-1].end, abs=0.4)
    change = next(turn.start for turn in turns if turn.speaker == 1)
    assert change == pytest.approx(next(turn.start for turn in said if turn.speaker == 1), abs=0.8)


def test_the_rate_of_errors() -> None:
    said = (Turn(0, 10, 0), Turn(10, 20, 1))
    assert error_rate(said, (Turn(0, 10, 1), Turn(10, 20, 0))) == 0.0
    assert error_rate(said, (Turn(0, 20, 0),)) == pytest.approx(0.5, abs=0.001)
    assert error_rate(said, (Turn(0, 8, 0), Turn(10, 20, 1), Turn(20, 21, 1))) == pytest.approx(
        0.15, abs=0.001
    )
    assert error_rate(said, ()) == 1.0


def test_groups_of_vectors_of_any_number() -> None:
    chance = np.random.default_rng(3)
    centres = chance.normal(size=(3, 64))
    truth = np.repeat([2, 0, 1, 0], [30, 1500, 900, 600])
    vectors = (centres[truth] + 0.3 * chance.normal(size=(len(truth), 64))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert len(truth) > MOST
    expected = np.repeat([0, 1, 2, 1], [30, 1500, 900, 600])
    assert np.array_equal(groups(vectors), expected)
    assert np.array_equal(groups(vectors, 3), expected)
    assert set(groups(vectors, 1)) == {0} and groups(vectors[:1]).tolist() == [0]


def test_a_stray_window_is_no_speaker() -> None:
    chance = np.random.default_rng(4)
    vectors = np.concatenate(
        [np.tile([1.0, 0.0, 0.0], (20, 1)), [[0.0, 0.0, 1.0]], np.tile([0.0, 1.0, 0.0], (9, 1))]
    )
    vectors = (vectors + 0.05 * chance.normal(size=vectors.shape)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert len(set(groups(vectors))) == 2


def test_features_of_a_stream_are_those_of_the_whole() -> None:
    sound = np.random.default_rng(5).normal(0, 0.1, 50_000).astype(np.float32)
    streamed = np.concatenate(list(_features(sound[at : at + 7001] for at in range(0, len(sound), 7001))))
    whole = features(sound)
    assert np.allclose(streamed[: len(whole)], whole, atol=1e-4) and len(streamed) - len(whole) <= 1


def test_windows_cover_the_speech() -> None:
    assert windows_of([(1.0, 1.2)]) == ()
    assert windows_of([(1.0, 1.9), (5.0, 7.3)]) == (
        (1.0, 1.9),
        (5.0, 6.5),
        (5.5, 7.0),
        (pytest.approx(5.8), 7.3),
    )


def line(start: float, text: str, each: float = 0.5) -> Segment:
    pieces = text.split()
    words = tuple(Word(start + n * each, start + (n + 1) * each, piece) for n, piece in enumerate(pieces))
    return Segment(start, words[-1].end, text, words)


def test_a_line_is_parted_where_another_begins_to_speak() -> None:
    segments = (line(0.0, "Are you coming with us yes I am."), Segment(6.0, 7.0, "Bare."))
    turns = (Turn(0.0, 2.6, 3), Turn(2.6, 4.0, 1), Turn(6.5, 7.0, 3))
    assert [(s.speaker, s.text) for s in labelled(segments, turns, "en")] == [
        ("S1", "Are you coming with us"),
        ("S2", "yes I am."),
        ("S1", "Bare."),
    ]


def test_a_single_word_across_an_edge_does_not_part_a_line() -> None:
    turns = (Turn(0.0, 1.0, 0), Turn(1.0, 1.5, 1), Turn(1.5, 3.0, 0))
    assert [s.speaker for s in labelled([line(0.0, "one two three four five")], turns, "en")] == ["S1"]
    assert labelled([line(0.0, "one")], (), "en")[0].speaker is None


@pytest.mark.parametrize("count", [0, -1, 99])
def test_a_number_of_speakers_that_cannot_be(data: Path, settings: Settings, count: int) -> None:
    with pytest.raises(OptionError, match=str(count)):
        turns_of(data / "speech" / "zh_hotword.wav", settings, count)


def test_a_transcript_says_who_speaks(data: Path, tmp_path: Path, settings: Settings) -> None:
    if not present(settings, "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    path, _ = mixed(data, tmp_path, ("en_voice_ref.wav", "en_lj_0007.flac"))
    options = {"input": str(path), "language": "en", "speakers": "auto", "formats": ["json", "vtt"]}
    context = EngineContext(settings, Policy(threads=2))
    result = run(tmp_path, options, context, NullReport())
    assert result["speakers"] == ["S1", "S2"]
    lines = load_transcript(tmp_path / "transcript.json").segments
    assert all("nature" in said.text.lower() for said in lines if said.speaker == "S1")
    assert "bible" in " ".join(said.text.lower() for said in lines if said.speaker == "S2")
    assert "<v S2>" in (tmp_path / "transcript.vtt").read_text(encoding="utf-8")
    with pytest.raises(OptionError, match="many"):
        run(tmp_path, {**options, "speakers": "many"}, context, NullReport())
