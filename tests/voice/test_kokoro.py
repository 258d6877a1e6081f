"""The voice engine with its real weights: exact length, times, level, range of requests, long and odd texts."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines import audio as sound
from pipelines import weights
from pipelines.errors import InputError, OptionError
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.types import Audio, Speech
from pipelines.voice import SpeakOptions, pitch
from pipelines.voice.kokoro import Kokoro, line, speech
from pipelines.voice.kokoro import engine as module
from pipelines.voice.kokoro.graph import MODEL, MOST, SECONDS, Curves
from tests.voice.conftest import heard

REPORT = NullReport()
TEXT = "Bring the box back to the table, Peter, and tell the others that we are ready."


def say(engine: Kokoro, text: str, language: str = "en", **options: float) -> Speech:
    return engine.speak(text, language, engine.stock(language=language), SpeakOptions(**options), REPORT)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def natural(engine: Kokoro) -> Speech:
    return say(engine, TEXT)


def test_the_three_parts_are_the_whole_graph(engine: Kokoro, context: EngineContext) -> None:
    import onnxruntime

    symbols = line.lines("Stop it.", "en")[0].symbols
    style = engine.packs.style("af_heart")[len(symbols) - 1]
    graph = engine._graph
    plan = graph.plan(symbols, style)
    frames = np.maximum(np.round(plan.lengths), 1).astype(np.float32)
    samples = graph.sound(plan, frames, graph.curves(plan, frames))
    model = weights.locate(context.settings, "kokoro") / MODEL
    whole = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    tokens = np.array([[0, *(graph.ids[symbol] for symbol in symbols), 0]], np.int64)
    expected = whole.run(None, {"tokens": tokens, "style": style[None], "speed": np.ones(1, np.float32)})[
        0
    ].ravel()
    assert len(samples) == len(expected) == frames.sum() * 600
    assert np.abs(samples - expected).max() < 1e-4
    assert np.abs(expected).max() > 0.05


def test_natural_length_is_known_before_speaking(engine: Kokoro, natural: Speech) -> None:
    length = engine.length(TEXT, "en", engine.stock())
    assert natural.audio.duration == pytest.approx(length.natural, abs=0.06)
    assert 3.0 < length.natural < 6.0
    assert length.shortest == pytest.approx(0.7 * length.natural, rel=0.1)
    assert length.longest == pytest.approx(1.4 * length.natural)


@pytest.fixture(scope="module", params=[0.75, 1.3])
def changed(request: pytest.FixtureRequest, engine: Kokoro, natural: Speech) -> tuple[float, Speech]:
    asked = natural.audio.duration * request.param
    return asked, say(engine, TEXT, seconds=asked)


def test_seconds_are_met(natural: Speech, changed: tuple[float, Speech]) -> None:
    asked, spoken = changed
    start, end = heard(spoken.audio)
    assert end - start == pytest.approx(asked, abs=0.025)
    assert spoken.phones[-1].end - spoken.phones[0].start == pytest.approx(asked, abs=0.025)
    assert spoken.audio.duration == pytest.approx(asked, abs=1 / 24000)
    assert start <= 0.05 and spoken.audio.duration - end <= 0.05
    assert [phone.symbol for phone in spoken.phones] == [phone.symbol for phone in natural.phones]


def test_pitch_stays_when_the_length_changes(natural: Speech, changed: tuple[float, Speech]) -> None:
    """In the geometric mean: of three seconds the tracker's median moves by 4 % with the frames it takes for voiced."""
    assert mean_pitch(changed[1]) == pytest.approx(mean_pitch(natural), rel=0.03)


def mean_pitch(spoken: Speech) -> float:
    found = pitch.track(spoken.audio)
    found = found[np.abs(np.log2(found / np.median(found))) < 0.8]
    return float(np.exp(np.log(found).mean()))


@pytest.mark.parametrize("factor", [0.75, 0.9, 1.3])
def test_the_median_of_the_pitch_that_is_sounded_stays(
    engine: Kokoro, natural: Speech, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it goes into the graph, without a tracker's mistakes."""
    sounded: list[float] = []
    tune = speech.tuned

    def noted(draft: speech.Draft, curves: Curves) -> Curves:
        made = tune(draft, curves)
        sounded.append(speech.median_pitch(made) or 0.0)
        return made

    monkeypatch.setattr(speech, "tuned", noted)
    say(engine, TEXT)
    say(engine, TEXT, seconds=natural.audio.duration * factor)
    assert len(sounded) >= 2
    assert sounded[1:] == pytest.approx([sounded[0]] * len(sounded[1:]), rel=0.02)


def test_vowels_carry_the_change(natural: Speech, changed: tuple[float, Speech]) -> None:
    factor = changed[0] / natural.audio.duration

    def share(spoken: Speech, letters: str) -> float:
        return sum(p.end - p.start for p in spoken.phones if any(letter in p.symbol for letter in letters))

    vowels, consonants = (share(changed[1], kind) / share(natural, kind) for kind in ("ɪAiɑæɛə", "bktðszɹ"))
    assert abs(vowels - 1) > abs(consonants - 1)
    assert (vowels - 1) * (factor - 1) > 0


def test_level_and_peak(natural: Speech) -> None:
    assert sound.loudness(natural.audio.samples, natural.audio.sr) == pytest.approx(-16, abs=0.5)
    assert sound.true_peak_db(natural.audio.samples, natural.audio.sr) <= -1.0 + 0.05


def test_phones_and_words_stand_where_they_sound(natural: Speech) -> None:
    words = [word.text for word in natural.words]
    assert words == TEXT.replace(",", "").replace(".", "").split()
    for one, two in zip(natural.phones, natural.phones[1:], strict=False):
        assert one.start < one.end <= two.start + 1e-9
    assert {"b", "ɹ", "ˈɑ"} <= {phone.symbol for phone in natural.phones}
    # Closures are quiet, vowels are loud: the level inside each says whether the clock is right.
    level = _levels(natural.audio)
    vowels = [phone for phone in natural.phones if phone.symbol[-1] in "ɑæAiə"]
    closures = [phone for phone in natural.phones[1:] if phone.symbol in "ptkb"]

    def mean(phones: list[object], shift: float) -> float:
        return float(np.mean([_at(level, (p.start + p.end) / 2 + shift) for p in phones]))  # type: ignore[attr-defined]

    contrast = {
        shift: mean(list(vowels), shift) - mean(list(closures), shift) for shift in (-0.08, 0.0, 0.08)
    }
    assert contrast[0.0] > 10
    assert contrast[0.0] > contrast[-0.08] and contrast[0.0] > contrast[0.08]


def _levels(audio: Audio) -> np.ndarray:  # type: ignore[type-arg]
    hop = audio.sr // 100
    frames = audio.samples[: len(audio.samples) // hop * hop].reshape(-1, hop)
    return 10 * np.log10((frames**2).mean(axis=1) + 1e-8)


def _at(level: np.ndarray, seconds: float) -> float:  # type: ignore[type-arg]
    return float(level[int(np.clip(seconds * 100, 0, len(level) - 1))])


def test_a_pause_is_a_gap_between_phones(natural: Speech) -> None:
    gaps = [
        two.start - one.end
        for one, two in zip(natural.phones, natural.phones[1:], strict=False)
        if two.start - one.end > 0.001
    ]
    level = _levels(natural.audio)
    assert len(gaps) <= 2  # at the commas and nowhere else
    for one, two in zip(natural.phones, natural.phones[1:], strict=False):
        if two.start - one.end > 0.08:
            assert _at(level, (one.end + two.start) / 2) < level.max() - 40


def test_out_of_range_is_refused_with_the_range(engine: Kokoro) -> None:
    length = engine.length(TEXT, "en", engine.stock())
    for seconds in (length.shortest * 0.8, length.longest * 1.2):
        with pytest.raises(OptionError, match="it can be"):
            say(engine, TEXT, seconds=seconds)


@pytest.mark.parametrize("text", ["", "  ", "。", "😀", "...", "?!"])
def test_nothing_to_say_is_an_input_error(engine: Kokoro, text: str) -> None:
    with pytest.raises(InputError, match="nothing to say"):
        engine.length(text, "en", engine.stock())


def test_unknown_voice_is_refused_with_the_list(engine: Kokoro) -> None:
    with pytest.raises(OptionError, match="af_heart"):
        engine.stock("nobody")


def test_any_text_fits_the_graph(engine: Kokoro) -> None:
    texts = {
        "en": "it was the best of times, it was the worst of times, " * 40 + "end",
        "zh": "这是一个没有标点的很长的段落" * 30,
        "es": "palabra " * 300,
    }
    for language, text in texts.items():
        found = line.lines(text, language)
        assert len(found) > 1
        assert max(len(one.symbols) for one in found) <= MOST
        words = "".join(word.text for one in found for word in one.words if not word.mark)
        assert words == "".join(c for c in text if c.isalnum())


def test_long_text_is_joined_without_clicks(engine: Kokoro, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "LIMIT", 24)
    text = "One small step. Then two more steps."
    length = engine.length(text, "en", engine.stock())
    spoken = say(engine, text, seconds=length.natural * 1.1)
    assert [word.text for word in spoken.words] == ["One", "small", "step", "Then", "two", "more", "steps"]
    assert spoken.audio.duration == pytest.approx(length.natural * 1.1, abs=0.001)
    pause = (spoken.words[2].end + spoken.words[3].start) / 2
    middle = int(pause * spoken.audio.sr)
    assert np.abs(spoken.audio.samples[middle - 600 : middle + 600]).max() < 1e-3
    for edge in (0, -1):
        assert abs(spoken.audio.samples[edge]) < 1e-3


def test_one_word_and_one_letter_are_spoken(engine: Kokoro) -> None:
    for text in ("Hi!", "a"):
        spoken = say(engine, text)
        assert 0.1 < spoken.audio.duration < 1.2
        assert np.isfinite(spoken.audio.samples).all()
        assert sound.loudness(spoken.audio.samples, 24000) == pytest.approx(-16, abs=1.0)


def test_speed_beyond_the_range_takes_the_nearest(engine: Kokoro) -> None:
    length = engine.length("Good morning.", "en", engine.stock())
    fast = say(engine, "Good morning.", speed=4.0)
    assert fast.audio.duration == pytest.approx(length.shortest, abs=0.001)


def test_shares_of_a_long_text_keep_one_pace() -> None:
    assert SECONDS == 0.025
    assert module.GAP > 0 and speech.EDGES < 0.05


def test_a_take_is_another_rendition_of_the_same_length_and_repeats_itself(
    engine: Kokoro, natural: Speech
) -> None:
    seconds = natural.audio.duration
    first, second, again = (say(engine, TEXT, seconds=seconds, take=take) for take in (0, 1, 1))
    assert len(first.audio.samples) == pytest.approx(len(second.audio.samples), abs=0.03 * second.audio.sr)
    assert np.array_equal(second.audio.samples, again.audio.samples)
    count = min(len(first.audio.samples), len(second.audio.samples))
    assert abs(np.corrcoef(first.audio.samples[:count], second.audio.samples[:count])[0, 1]) < 0.9
