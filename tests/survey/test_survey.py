"""A look at a dropped video: faces and where there are none, speech and its language, music under it; within seconds."""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from imageio_ffmpeg import get_ffmpeg_exe

from pipelines import media
from pipelines.backend.policy import Policy
from pipelines.media.samples import sampled_frames, spread
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.survey.flow import survey
from pipelines.survey.music import LIKELY, RATE, standing_tones
from pipelines.survey.picture import summed_up
from pipelines.survey.sound import ranges_of
from ui.survey import survey_html

SPEECH = ("en_jfk.flac", "en_lj_0003.flac", "en_two_speakers.wav", "zh_asr_example.wav", "zh_voice_ref.wav")


def ffmpeg(*words: object) -> None:
    subprocess.run(
        [get_ffmpeg_exe(), "-v", "error", "-y", *map(str, words)], check=True, stdin=subprocess.DEVNULL
    )


def chords(count: int) -> np.ndarray:  # type: ignore[type-arg]
    """Struck chords, a new one every second: fundamental, third and fifth with two overtones each."""
    chance, out = np.random.default_rng(0), np.zeros(count, np.float32)
    for first in range(0, count, RATE):
        at = np.arange(min(RATE, count - first)) / RATE
        root = 220 * 2 ** (chance.integers(0, 12) / 12)
        tones = [np.sin(2 * np.pi * root * m * k * at) / k for m in (1, 1.26, 1.498) for k in (1, 2, 3)]
        out[first : first + RATE] = sum(tones) * np.minimum(at / 0.02, 1) * np.exp(-at / 1.2)  # type: ignore[call-overload]
    return out


@pytest.mark.parametrize("name", SPEECH)
def test_music_is_heard_under_speech_and_not_in_it(data: Path, settings: Settings, name: str) -> None:
    said = media.load_sound(data / "speech" / name, settings, sr=RATE).samples
    played = chords(len(said))
    played *= float(np.sqrt((said**2).mean() / (played**2).mean()))
    assert standing_tones(said) < LIKELY / 2
    assert standing_tones(said + 0.5 * played) > 2 * LIKELY, "6 dB under the voice"


def test_noise_and_hum_are_no_music() -> None:
    at = np.arange(10 * RATE) / RATE
    hum = np.sin(2 * np.pi * 150 * at) + 0.5 * np.sin(2 * np.pi * 250 * at)
    noise = 0.1 * np.random.default_rng(1).normal(size=len(at))
    assert standing_tones((0.1 * hum).astype(np.float32)) == 0.0
    assert (
        standing_tones(noise.astype(np.float32)) == 0.0 and standing_tones(np.zeros(100, np.float32)) == 0.0
    )


def test_faces_are_counted_by_the_time_they_are_seen() -> None:
    one, none = [0.3], list[float]()
    found = [(0.0, one), (1.0, one), (2.0, none), (3.0, none), (4.0, one), (8.0, [0.3, 0.2]), (9.0, none)]
    faces = summed_up(found, 10.0)
    assert faces.looked == 7 and faces.share == pytest.approx((1.5 + 2.5 + 2.5) / 10)
    assert faces.without == ((2.0, 4.0),), "one picture alone may be a blink of the detector"
    assert faces.people == 2 and faces.width == 0.3
    assert summed_up([(1.0, none), (2.0, none)], 3.0).without == ((0.0, 3.0),)


def test_pictures_come_spread_upright_and_with_their_times(tmp_path: Path) -> None:
    """A film whose grey tells the time, key frames 1 s apart, shown turned by a quarter; cut off by the time allowed."""
    film, turned = tmp_path / "grey.mp4", tmp_path / "turned.mp4"
    ramp = "nullsrc=s=96x64:r=10:d=12,geq=lum='20+T*16':cb=128:cr=128"
    ffmpeg("-f", "lavfi", "-i", ramp, "-c:v", "libx264", "-g", "10", "-pix_fmt", "yuv420p", film)
    ffmpeg("-display_rotation", "90", "-i", film, "-c", "copy", turned)
    found = list(sampled_frames(media.probe(turned), 40, 20.0))
    assert {frame.shape for _, frame in found} == {(96, 64, 3)} and len({at for at, _ in found}) == len(
        found
    ) >= 30
    for at, frame in found:
        assert float(frame.mean()) == pytest.approx((20 + 16 * at - 16) * 255 / 219, abs=4), at
    first = [at for at, _ in found[:4]]
    assert max(first) - min(first) >= 6, first
    assert len(list(sampled_frames(media.probe(turned), 40, 0.0))) == 1
    assert spread(5) == [0, 4, 2, 1, 3]


def test_of_a_long_sound_stretches_are_heard() -> None:
    assert ranges_of(60.0) == [(0.0, 60.0)]
    assert ranges_of(3600.0)[0] == (0.0, 15.0) and ranges_of(3600.0)[-1] == (3585.0, 3600.0)
    assert sum(end - start for start, end in ranges_of(3600.0)) == 75.0


@pytest.mark.slow
def test_a_real_clip_with_a_stretch_without_a_face(data: Path, tmp_path: Path, settings: Settings) -> None:
    film = tmp_path / "film.mp4"
    cut = "[0:v]fps=25,setsar=1[a];color=c=gray:s=512x512:r=25:d=4[b];[a][b]concat=n=2[v];[0:a]apad=pad_dur=4[s]"
    ffmpeg(
        "-i",
        data / "video/talk_512_8s.mp4",
        "-filter_complex",
        cut,
        "-map",
        "[v]",
        "-map",
        "[s]",
        "-t",
        "12",
        film,
    )
    started = time.monotonic()
    found = survey(media.probe(film), None, EngineContext(settings, Policy(threads=2)), NullReport())
    assert time.monotonic() - started < 20, "about 5 s on two free cores"
    assert found.sound is not None and found.sound.language == "en"
    assert found.sound.speech == pytest.approx(7.3 / 12, abs=0.08) and found.sound.begins == pytest.approx(
        0.1, abs=0.3
    )
    assert found.faces.people == 1 and found.faces.share == pytest.approx(8 / 12, abs=0.06)
    ((start, end),) = found.faces.without
    assert start == pytest.approx(8.0, abs=0.6) and end == pytest.approx(12.0, abs=0.1)
    told = survey_html(asdict(found), "en")
    assert re.search("1 face, 6[5-9] % of the time; none 0:08–0:12: the original picture is kept there", told)
    assert "% of the time, in English" in told and "music" not in told
    assert "语言为英语" in survey_html(asdict(found), "zh")
    assert "spoken in the video already" in survey_html(asdict(found), "en", target="en")
    assert "spoken in the video already" not in survey_html(asdict(found), "en", target="es")


def test_what_is_wrong_is_said_in_words() -> None:
    faces = {"looked": 20, "share": 0.0, "people": 0, "without": [[0.0, 9.0]], "width": 0.0}
    sound = {"looked": 9.0, "speech": 0.5, "begins": 1.0, "language": None, "music": 0.4, "noise": 5.0}
    told = survey_html({"faces": faces, "sound": sound}, "en")
    assert "No face was seen" in told and "There seems to be music" in told and "noisy" not in told
    quiet = {**sound, "speech": 0.0, "begins": None, "music": 0.0}
    assert "No speech was heard" in survey_html({"faces": faces, "sound": quiet}, "en")
    small = {**faces, "share": 0.996, "people": 2, "without": [], "width": 0.05}
    told = survey_html({"faces": small, "sound": {**sound, "music": 0.0}}, "en")
    assert (
        "Up to 2 faces at once; a face 100 % of the time" in told
        and "small in the picture" in told
        and "noisy" in told
    )
    assert "From samples: 20 pictures" in survey_html({"faces": small, "sound": None}, "en")
