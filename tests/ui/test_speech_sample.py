"""The sample on the page: what is told about it, once for the same bytes, and the sound of a film as a sample."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import soundfile

from pipelines.errors import NoSpeech
from tests.ui.conftest import asking
from ui import examples
from ui.services import Services
from ui.speech import sample
from ui.speech.sample import SampleHandlers

FOUND: dict[str, Any] = {
    "audio": "used.wav",
    "facts": {"speech": 6.2, "used": 4.9, "snr": 17.4, "bandwidth": 11700.0, "clipped": 0.0123, "silence": 0.07,
              "decay": 0.251, "speakers": [6.2]},
    "remarks": [{"level": "warning", "en": "Loud <b>", "zh": "响"}],
}  # fmt: skip


def test_the_example_is_looked_over_by_a_process_of_its_own_and_only_once(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers = SampleHandlers(services)
    told, used = handlers.look(examples.sample(), 0, 0, asking())
    assert "6.2 s of speech, 4.9 s used" in told.value and "1 person" in told.value
    assert used.visible and soundfile.info(used.value["path"]).duration == pytest.approx(4.9, abs=0.1)
    monkeypatch.setattr(sample, "run_aside", lambda *_: pytest.fail("looked over twice"))
    copy = tmp_path / "another name.wav"
    shutil.copyfile(examples.sample(), copy)
    again, _ = handlers.look(str(copy), None, None, asking("zh"))
    assert "语音 6.2 秒" in again.value


def test_a_sample_that_cannot_be_used_is_refused_in_one_sentence(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.voice.reference import too_little

    def refuse(*_: Any) -> None:
        raise too_little(1.5)

    monkeypatch.setattr(sample, "run_aside", refuse)
    told, used = SampleHandlers(services).look(examples.sample(), 0, 1.5, asking())
    assert "holds 1.5 s of speech, at least 3 s are needed" in told.value and not used.visible
    with pytest.raises(NoSpeech):
        SampleHandlers(services).diagnosed(Path(examples.sample()), 0, 1.5)


def test_every_number_is_told_and_nothing_is_let_through_as_html() -> None:
    html = sample.told_html(FOUND, "en")
    for words in (
        "17 dB over the noise",
        "up to 11.7 kHz",
        "1.2 % clipped",
        "dies away in 0.25 s",
        "7 % silence",
    ):
        assert words in html
    assert "Loud &lt;b&gt;" in html and "problem note" in html
    several = {**FOUND, "facts": {**FOUND["facts"], "speakers": [4.0, 2.0], "decay": None}}
    assert "2 people" in sample.told_html(several, "en") and "dies" not in sample.told_html(several, "en")


def test_the_sound_of_a_film_becomes_the_sample(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(sample.notices, "tell", lambda _, key: said.append(key))
    player, start, end = SampleHandlers(services).from_video(examples.talker(), 2.0, 6.0, asking())
    path = Path(player.value["path"])
    assert soundfile.info(path).duration == pytest.approx(4.0, abs=0.001)
    assert (path.name, start, end, said) == ("talker.wav", 0, 0, ["ui_sample_taken"])
