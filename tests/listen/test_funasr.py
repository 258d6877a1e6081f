"""FunASR from local folders: the real architectures with tiny random weights end to end, and every trap around them."""

from __future__ import annotations

import itertools
import shutil
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from pipelines.asr import RECOGNIZERS, EngineContext, Recognition, RecognitionOptions
from pipelines.asr.abilities import abilities
from pipelines.asr.funasr.engine import FunasrModel, told_hotwords
from pipelines.asr.funasr.results import punctuated, words_of
from pipelines.backend.policy import Policy
from pipelines.errors import EngineMissing, NoSoundTrack, OptionError, WeightsMissing
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Segment, Word
from tests.listen import funasr_models
from tests.listen.conftest import RATE

NAMES = ("funasr", "funasr-sensevoice")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of weights with all models."""
    place = tmp_path_factory.mktemp("weights")
    funasr_models.paraformer(place / "funasr-paraformer")
    funasr_models.sensevoice(place / "funasr-sensevoice")
    funasr_models.punctuation(place / "funasr-punc")
    return place


@pytest.fixture
def context(folders: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> EngineContext:
    """With a network that must not be touched."""

    def refuse(*_: Any) -> None:
        raise AssertionError("an engine asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return EngineContext(replace(settings, weights=folders), Policy(threads=1))


def hear(engine: FunasrModel, path: Path, **options: Any) -> tuple[Recognition, list[Segment]]:
    recognition = engine.recognize(path, RecognitionOptions(**options), NullReport())
    return recognition, list(recognition.segments)


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_becomes_words_with_times_and_marks(
    context: EngineContext, data: Path, name: str
) -> None:
    engine = RECOGNIZERS.get(name, context)
    recognition, segments = hear(
        engine, data / "speech" / "zh_asr_example.wav", hotwords=("发展", "http://x.y")
    )
    assert recognition.duration == pytest.approx(5.55, abs=0.01) and recognition.language == "zh"
    words = [word for segment in segments for word in segment.words]
    assert len(words) > 5
    assert all(0 <= word.start <= word.end <= recognition.duration for word in words)
    assert all(a.end <= b.start + 1e-6 for a, b in itertools.pairwise(words))
    text = "".join(segment.text for segment in segments)
    assert set(text) & set("\uff0c\u3002\uff1f\u3001") and "<" not in text


def test_hotwords_reach_the_model(
    context: EngineContext, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = RECOGNIZERS.get("funasr", context)
    told: list[object] = []
    real = engine._model.generate  # type: ignore[attr-defined]

    def watched(**asked: Any) -> Any:
        told.append(asked["hotword"])
        return real(**asked)

    monkeypatch.setattr(engine._model, "generate", watched)  # type: ignore[attr-defined]
    hear(engine, data / "speech" / "zh_hotword.wav", hotwords=("获刑", "肯德基"))  # type: ignore[arg-type]
    assert told == ["获刑 肯德基"]
    assert told_hotwords(()) is None
    assert told_hotwords(("http://evil", "list.txt", "Apollo 11")) == "Apollo 11"
    assert len((told_hotwords(tuple(map(str, range(80)))) or "").split()) == 50


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "sound",
    [np.zeros(3 * RATE), np.full(160, 0.1), np.random.default_rng(0).normal(0, 0.1, 3 * RATE)],
    ids=["silence", "ten milliseconds", "noise"],
)
def test_nothing_is_made_up_where_nobody_speaks(
    context: EngineContext, wav: Callable[..., Path], name: str, sound: np.ndarray[Any, Any]
) -> None:
    recognition, segments = hear(RECOGNIZERS.get(name, context), wav(sound.astype(np.float32)))  # type: ignore[arg-type]
    assert segments == [] and recognition.speech_seconds == 0


def test_long_sounds_are_heard_in_short_windows_on_the_files_clock(
    context: EngineContext, data: Path, tmp_path: Path
) -> None:
    speech, rate = soundfile.read(data / "speech" / "zh_asr_example.wav", dtype="float32")
    path = tmp_path / "list.txt.wav"  # FunASR takes names for lists of files
    gap = np.zeros(3 * rate, np.float32)
    soundfile.write(path, np.concatenate([speech, gap] * 8), rate)
    engine = RECOGNIZERS.get("funasr", context)
    lengths: list[float] = []
    real = engine._heard  # type: ignore[attr-defined]

    def watched(sound: Any, *rest: Any) -> Any:
        lengths.append(len(sound) / RATE)
        return real(sound, *rest)

    engine._heard = watched  # type: ignore[attr-defined]
    _, segments = hear(engine, path, start=8.0)  # type: ignore[arg-type]
    assert max(lengths) <= 28.0 and len(lengths) >= 2
    assert len(segments) == 7 and segments[0].start >= 8.0
    each = (len(speech) + len(gap)) / rate
    assert segments[-1].start - segments[0].start == pytest.approx(6 * each, abs=0.6)


def test_a_file_without_sound_and_a_language_it_does_not_know(context: EngineContext, data: Path) -> None:
    engine = RECOGNIZERS.get("funasr-sensevoice", context)
    with pytest.raises(NoSoundTrack):
        hear(engine, data / "video" / "face_512_silent_3s.mp4")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="Russian"):
        hear(engine, data / "speech" / "zh_hotword.wav", language="ru")  # type: ignore[arg-type]


def test_never_a_silent_fallback_to_the_cpu(context: EngineContext) -> None:
    for device in ("cuda:0", "mps"):
        wanted = EngineContext(context.settings, replace(context.policy, device=device))
        with pytest.raises(EngineMissing, match="cannot run on"):
            RECOGNIZERS.get("funasr", wanted)


def test_a_folder_that_is_not_whole_is_named_at_once(
    context: EngineContext, folders: Path, tmp_path: Path
) -> None:
    assert RECOGNIZERS.state(
        "funasr", EngineContext(replace(context.settings, weights=tmp_path), context.policy)
    ).state == ("missing weights")
    broken = tmp_path / "funasr-paraformer"
    shutil.copytree(folders / "funasr-paraformer", broken)
    (broken / "model.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(WeightsMissing, match="no whole FunASR model") as caught:
        RECOGNIZERS.get("funasr", EngineContext(replace(context.settings, weights=tmp_path), context.policy))
    assert str(broken) in caught.value.where
    (broken / "config.yaml").write_text("model: NoSuchModel\n")
    (tmp_path / "pins.json").unlink(missing_ok=True)
    with pytest.raises(EngineMissing, match="does not know the model NoSuchModel"):
        RECOGNIZERS.get("funasr", EngineContext(replace(context.settings, weights=tmp_path), context.policy))


def test_without_the_punctuation_model_words_come_bare(
    context: EngineContext, folders: Path, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "funasr-paraformer").symlink_to(folders / "funasr-paraformer")
    alone = EngineContext(replace(context.settings, weights=tmp_path), context.policy)
    _, segments = hear(RECOGNIZERS.get("funasr", alone), data / "speech" / "zh_asr_example.wav")  # type: ignore[arg-type]
    assert segments and not set(segments[0].text) & set("\uff0c\u3002\uff1f\u3001")


# ---------------------------------------------------------------------------------------------- answers into words


def test_equal_lists_are_joined_and_others_are_never_zipped() -> None:
    answer = {"text": "我用 iPhone", "timestamp": [[100, 300], [300, 500], [600, 1200]]}
    assert words_of(answer, 2.0) == (Word(0.1, 0.3, "我"), Word(0.3, 0.5, "用"), Word(0.6, 1.2, "iPhone"))
    uneven = words_of({"text": "我用 iPhone", "timestamp": [[100, 300], [300, 900]]}, 2.0)
    assert [word.text for word in uneven] == ["我", "用", "iPhone"]
    assert (uneven[0].start, uneven[-1].end) == (0.1, pytest.approx(0.9))
    late = words_of({"text": "你好", "timestamp": [[1900, 2500], [100, 200]]}, 2.0)
    assert late == (Word(1.9, 2.0, "你"), Word(2.0, 2.0, "好"))


def test_tags_are_taken_off_and_blank_answers_are_nothing() -> None:
    text = "<|zh|><|NEUTRAL|><|Speech|><|withitn|>\u6b22\u8fce\u3002"
    assert [word.text for word in words_of({"text": text}, 1.0)] == ["欢", "迎\u3002"]
    for empty in ({}, {"text": ""}, {"text": "<|nospeech|>", "timestamp": []}, {"text": " \u3002 "}):
        assert words_of(empty, 1.0) == ()


def test_a_punctuation_model_gives_marks_and_nothing_else() -> None:
    words = tuple(Word(n, n + 1.0, text) for n, text in enumerate(["Interview", "with", "王", "五"]))
    assert [w.text for w in punctuated(words, "I nt er view: with 王五\u3002")] == [
        "Interview:",
        "with",
        "王",
        "五\u3002",
    ]
    assert [w.text for w in punctuated(words, "")] == ["Interview", "with", "王", "五"]
    assert punctuated((), "\u3002") == ()


def test_what_the_engines_heed() -> None:
    heeded = {name: {a.name for a in abilities(RECOGNIZERS.info(name)) if a.honoured} for name in NAMES}
    assert "hotwords" in heeded["funasr"] and "hotwords" not in heeded["funasr-sensevoice"]
    assert "language" in heeded["funasr-sensevoice"] and "language" not in heeded["funasr"]
