"""What a user can choose before listening: speech settings, channels, hotwords, characters, marks; and which engine heeds it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines.asr import RECOGNIZERS, EngineContext, RecognitionOptions, VadOptions, vad_options
from pipelines.asr.abilities import LABELS, abilities, unheeded
from pipelines.asr.chinese import in_script, tidy
from pipelines.asr.found import register_found
from pipelines.asr.hearing import find_speech
from pipelines.asr.listener import prompt_for
from pipelines.asr.marks import unpunctuated, without_marks
from pipelines.asr.picture import speech_picture, together
from pipelines.asr.vad import FRAME_SECONDS, speech_map
from pipelines.asr.windows import plan_windows
from pipelines.backend.policy import Policy
from pipelines.doubt import doubtful, marked
from pipelines.errors import InputError, OptionError
from pipelines.history import History
from pipelines.hotwords import Hotword, by_weight, parse_hotwords, read_hotwords
from pipelines.progress import NullReport
from pipelines.records import load_transcript
from pipelines.settings import Settings
from pipelines.speakers import numbered, renamed, speakers_of
from pipelines.transcribe import recognition_options, run
from pipelines.types import Segment, Word
from pipelines.weights import present
from tests.listen.conftest import RATE

# ------------------------------------------------------------------------------------------------ speech settings


def frames(*stretches: tuple[float, float], probability: float = 0.9, duration: float = 20.0) -> np.ndarray:  # type: ignore[type-arg]
    made = np.zeros(int(duration / FRAME_SECONDS), np.float32)
    for start, end in stretches:
        made[round(start / FRAME_SECONDS) : round(end / FRAME_SECONDS)] = probability
    return made


def test_each_speech_setting_does_what_it_says() -> None:
    heard = frames((2.0, 4.0), (4.5, 6.0), (10.0, 10.3))

    def found(**chosen: float) -> list[tuple[float, float]]:
        return [(round(a, 1), round(b, 1)) for a, b in speech_map(heard, 20.0, VadOptions(**chosen)).spans]

    assert found() == [(2.0, 4.0), (4.5, 6.0), (10.0, 10.3)]
    assert found(min_silence=0.6) == [(2.0, 6.0), (10.0, 10.3)]
    assert found(min_speech=0.5) == [(2.0, 4.0), (4.5, 6.0)]
    assert found(threshold=0.95) == []
    pieces = plan_windows(speech_map(heard, 20.0), options=VadOptions(pad_before=1.0, pad_after=0.0))[
        0
    ].pieces
    assert [(a / RATE, b / RATE) for a, b in pieces] == [
        (pytest.approx(1.0, abs=0.04), pytest.approx(6.0, abs=0.04)),
        (pytest.approx(9.0, abs=0.04), pytest.approx(10.3, abs=0.04)),
    ]


def test_wide_pads_never_make_pieces_overlap() -> None:
    speech = speech_map(frames((2.0, 4.0), (6.5, 8.0), (11.0, 12.0)), 20.0)
    for window in plan_windows(speech, options=VadOptions(pad_before=2.0, pad_after=2.0)):
        assert all(b[0] >= a[1] for a, b in zip(window.pieces, window.pieces[1:], strict=False))


@pytest.mark.parametrize(
    "wrong", [{"threshold": 1.5}, {"pad": 1}, {"min_speech": "short"}, {"min_silence": True}]
)
def test_a_speech_setting_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError) as caught:
        vad_options(wrong)
    assert next(iter(wrong)) in caught.value.sentence("zh")


def test_the_picture_of_speech_has_few_columns_for_any_length() -> None:
    long = frames((3600.0, 3700.0), duration=10_800.0)
    levels = np.full(len(long), 0.25, np.float32)
    picture = speech_picture(replace(speech_map(long, 10_800.0), levels=levels), start=5.0)
    assert 1000 < len(picture["peaks"]) == len(picture["speech"]) <= 2000
    assert picture["spans"] == [[pytest.approx(3605.0, abs=0.05), pytest.approx(3705.0, abs=0.05)]]
    loud = [place for place, value in enumerate(picture["speech"]) if value > 0.5]
    share = 10_800 / len(picture["speech"])
    assert (loud[0] * share, loud[-1] * share) == (pytest.approx(3600, abs=6), pytest.approx(3700, abs=6))
    assert set(picture["peaks"]) == {0.25}
    both = together(
        [speech_map(frames((1.0, 3.0)), 20.0), speech_map(frames((2.0, 5.0), duration=10.0), 10.0)]
    )
    assert [(round(a, 1), round(b, 1)) for a, b in both.spans] == [(1.0, 5.0)] and both.duration == 20.0


def test_levels_stand_beside_the_probabilities(wav: Callable[..., Path], settings: Settings) -> None:
    sound = np.zeros(70 * RATE, np.float32)
    sound[65 * RATE : 66 * RATE] = 0.5  # later than two blocks of the reader, which are no whole frames
    speech = find_speech(wav(sound), RecognitionOptions(), settings, NullReport())
    assert len(speech.levels) == len(speech.probabilities)
    loud = np.flatnonzero(speech.levels > 0.25) * FRAME_SECONDS
    assert (loud[0], loud[-1]) == (pytest.approx(65.0, abs=0.04), pytest.approx(66.0, abs=0.04))


# ------------------------------------------------------------------------------------------------ hotwords


def test_hotwords_with_weights_from_a_text() -> None:
    text = "# names\n获刑 20\nApollo 11\nDubwright: 5\nKokoro\t2.5\nKokoro\n,\n零:0\n"
    assert parse_hotwords(text) == (
        Hotword("获刑", 20.0),
        Hotword("Apollo 11"),
        Hotword("Dubwright", 5.0),
        Hotword("Kokoro", 2.5),
    )
    assert by_weight(parse_hotwords(text)) == ("获刑", "Dubwright", "Kokoro", "Apollo 11")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_hotwords_from_a_file_of_any_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "热词.txt"
    path.write_bytes("达摩院 10\r\n滨海新区\r\n语音识别模型很大\r\n".encode(encoding))
    assert [word.text for word in read_hotwords(path)] == ["达摩院", "滨海新区", "语音识别模型很大"]
    assert read_hotwords(path)[0].weight == 10


def test_a_list_of_hotwords_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        read_hotwords(tmp_path / "none.txt")
    (tmp_path / "a.bin").write_bytes(b"\x00\x01\x02\x03" * 10)
    with pytest.raises(InputError, match="not a list of hotwords"):
        read_hotwords(tmp_path / "a.bin")


def test_the_heaviest_hotwords_are_what_whisper_keeps() -> None:
    words = by_weight(parse_hotwords(["a", "b: 3", "c"]))
    assert prompt_for("en", words, "As the doctor said.") == "As the doctor said. b, a, c"
    assert prompt_for("zh", ("获刑",), script="traditional") == "以下是普通話的句子。获刑。"


# ------------------------------------------------------------------------------------------------ how it is written


def test_simplified_and_traditional_characters() -> None:
    assert in_script("獲刑與软件", "simplified") == "获刑与软件"
    assert in_script("获刑与软件", "traditional") == "獲刑與軟件"
    assert in_script("獲刑与", "heard") == "獲刑与"
    assert tidy("头发 很长,是吗?", "traditional") == "頭髮很長\uff0c是嗎\uff1f"  # by phrases: 髮, not 發


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Well, I don't know: it's 3.5% at 10:30!", "Well I don't know it's 3.5% at 10:30"),
        ("forty-two (or 1,000) — e.g. a@b.com.", "forty-two or 1,000 e.g a@b.com"),
        ("欢迎大家\uff0c来体验\u3002", "欢迎大家 来体验"),
        ("价格1,000元\uff0c对吗\uff1f", "价格1,000元 对吗"),
        ("...", ""),
    ],
)
def test_text_without_marks(text: str, bare: str) -> None:
    assert without_marks(text) == bare


def test_a_segment_without_marks_keeps_its_words_times() -> None:
    made = unpunctuated(
        Segment(0, 2, "Well, yes.", (Word(0, 1, "Well,"), Word(1, 2, "yes.", 0.4)), "S1", "Well, yes.")
    )
    assert made == Segment(0, 2, "Well yes", (Word(0, 1, "Well"), Word(1, 2, "yes", 0.4)), "S1", "Well yes")


def test_unsure_words_are_marked_where_they_stand() -> None:
    words = (Word(0, 1, "the", 0.2), Word(1, 2, "cat", 0.9), Word(2, 3, "the", 0.3), Word(3, 4, "mat.", 0.95))
    line = Segment(0, 4, "the cat the mat.", words)
    assert [word.start for word in doubtful(line)] == [0, 2]
    assert marked(line) == [("the", True), (" cat ", False), ("the", True), (" mat.", False)]
    edited = replace(line, text="a dog the mat.")
    assert "".join(text for text, _ in marked(edited)) == "a dog the mat."
    assert ("the", True) in marked(edited)


def test_speakers_are_renamed_and_merged() -> None:
    rows = (Segment(0, 1, "a", speaker="S2"), Segment(1, 2, "b", speaker="S1"), Segment(2, 3, "c"))
    assert speakers_of(rows) == ("S2", "S1")
    assert [row.speaker for row in numbered(rows)] == ["S1", "S2", None]
    assert [row.speaker for row in renamed(rows, {"S2": "Anna", "S1": " Anna "})] == ["Anna", "Anna", None]
    assert [row.speaker for row in renamed(rows, {"S2": ""})] == [None, "S1", None]


# ------------------------------------------------------------------------------------------------ engines


def test_every_engine_says_what_it_heeds_and_why_not() -> None:
    for info in RECOGNIZERS.infos():
        listed = abilities(info)
        assert [ability.name for ability in listed] == list(LABELS)
        assert all(ability.honoured != bool(ability.reason.en and ability.reason.zh) for ability in listed), (
            info.name
        )
    (weights,) = unheeded(RECOGNIZERS.info("whisper"), {"hotword-weights", "hotwords"})
    assert "heaviest" in weights.reason.en and "权重" in weights.reason.zh


def test_a_whisper_folder_of_any_name_is_offered(tmp_path: Path, data: Path) -> None:
    real = Settings.load()
    if not present(real, "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    mine = tmp_path / "我的 model"
    mine.mkdir()
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"):
        (mine / name).symlink_to(real.weights / "whisper-base" / name)
    other = tmp_path / "transformers-whisper"
    other.mkdir()
    (other / "config.json").write_text('{"model_type": "whisper"}')
    for name in ("tokenizer.json", "generation_config.json", "model.safetensors"):
        (other / name).write_text("{}")
    (tmp_path / "some-voice").mkdir()
    settings = replace(real, weights=tmp_path)
    try:
        register_found(settings)
        found = [info.name for info in RECOGNIZERS.infos() if info.name.startswith("whisper:")]
        assert found == ["whisper:transformers-whisper", "whisper:我的 model", "whisper:我的 model-torch"]
        assert RECOGNIZERS.infos()[0].name == "whisper"
        engine = RECOGNIZERS.get("whisper:我的 model", EngineContext(settings, Policy(threads=2)))
        heard = engine.recognize(
            data / "speech" / "en_jfk.flac", RecognitionOptions(language="en", end=3.0), NullReport()
        )
        assert "fellow americans" in " ".join(part.text for part in heard.segments).lower()
    finally:
        register_found(real)
    assert not [info for info in RECOGNIZERS.infos() if "我的" in info.name]


# ------------------------------------------------------------------------------------------------ the flow


@pytest.mark.parametrize(
    "wrong", [{"channel": "left"}, {"channel": -1}, {"script": "old"}, {"vad": {"threshold": 7}}]
)
def test_options_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        recognition_options(wrong)


def test_each_channel_is_a_speaker(data: Path, tmp_path: Path, settings: Settings) -> None:
    """A call recorded with one voice on each side: lines of both in order of time, each with its speaker."""
    if not present(settings, "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    options = {
        "input": str(data / "speech" / "en_stereo_two_speakers.wav"),
        "language": "en",
        "channel": "each",
        "punctuation": False,
        "formats": ["json", "vtt", "csv"],
        "history": True,
    }
    context = EngineContext(settings, Policy(threads=2))
    result = run(tmp_path, options, context, NullReport())
    segments = load_transcript(tmp_path / "transcript.json").segments
    assert result["speakers"] == sorted(result["speakers"]) == ["S1", "S2"]
    assert [s.start for s in segments] == sorted(s.start for s in segments)
    assert not any(set(s.text) & set(",.?!") for s in segments)
    partial = [
        json.loads(line) for line in (tmp_path / "partial.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {line["speaker"] for line in partial} == {"S1", "S2"} and len(partial) == len(segments)
    picture = json.loads((tmp_path / "speech.json").read_text())
    assert (
        picture["spans"] and max(picture["peaks"]) > 0.01 and len(picture["peaks"]) == len(picture["speech"])
    )
    assert "<v S1>" in (tmp_path / "transcript.vtt").read_text()
    assert result["files"]["csv"] == "transcript.csv"
    with History.open(settings) as history:
        assert history.get(result["history"]).segments == segments and history.count() == 1
    assert run(tmp_path, options, context, NullReport()) == result  # once more: nothing is done or kept twice
    with History.open(settings) as history:
        assert history.count() == 1
