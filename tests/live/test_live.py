"""Live hearing: where utterances begin and end, exactly; and real speech through the real worker."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from imageio_ffmpeg import get_ffmpeg_exe

from pipelines import weights
from pipelines.asr.scoring import score
from pipelines.backend.policy import Policy
from pipelines.backend.probe import Probe
from pipelines.errors import InputError
from pipelines.live.endpoint import LONG_PAUSE, LONGEST, PAUSE, SHORT, Endpoint
from pipelines.settings import Settings
from ui.machine import Machine
from ui.transcript.live import MOST, LiveSessions

LOUD, QUIET = 0.9, 0.1
RATE = 16_000
PATIENCE = 180.0
SPOKEN = "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country."


def test_an_utterance_begins_with_three_frames_and_ends_with_a_pause() -> None:
    endpoint = Endpoint()
    assert endpoint.feed([QUIET] * 5 + [LOUD] * 2 + [QUIET] * 5 + [LOUD] * SHORT) == []
    assert endpoint.begun == 12
    assert endpoint.feed([QUIET] * (PAUSE - 1) + [LOUD] * 4) == [], "a short pause ends nothing"
    begun_to = 5 + 2 + 5 + SHORT + PAUSE - 1 + 4
    assert endpoint.feed([QUIET] * PAUSE) == [(12, begun_to)]
    assert endpoint.begun is None and endpoint.finish() == []


def test_a_word_or_two_wait_for_what_follows() -> None:
    endpoint = Endpoint()
    assert endpoint.feed([LOUD] * 20 + [QUIET] * (LONG_PAUSE - 1) + [LOUD] * 30) == []
    assert endpoint.feed([QUIET] * PAUSE) == [(0, 20 + LONG_PAUSE - 1 + 30)]
    assert endpoint.feed([LOUD] * 20 + [QUIET] * LONG_PAUSE) == [
        (20 + LONG_PAUSE - 1 + 30 + PAUSE, 20 + LONG_PAUSE - 1 + 30 + PAUSE + 20)
    ]


def test_who_does_not_pause_is_cut_and_the_end_of_the_sound_ends_the_utterance() -> None:
    endpoint = Endpoint()
    assert endpoint.feed([LOUD] * (LONGEST + 10)) == [(0, LONGEST)]
    assert endpoint.finish() == [(LONGEST, LONGEST + 10)]
    between = Endpoint()
    assert between.feed([LOUD] * 3 + [0.4] * 100) == [] and between.begun == 0, (
        "neither loud nor quiet goes on"
    )


@pytest.fixture
def sessions(settings: Settings) -> LiveSessions:
    if not weights.present(settings, "whisper-base"):
        pytest.skip("the default weights are not there: whisper-base (bash start_app.sh --setup-only)")
    made = LiveSessions(settings, Machine(Probe(), Policy(threads=2)))
    yield made  # type: ignore[misc]
    made.close()


def test_speech_is_heard_piece_by_piece_and_the_recording_is_kept(
    sessions: LiveSessions, settings: Settings, data: Path, tmp_path: Path
) -> None:
    """At 44.1 kHz, as microphones give it; words come before the sound is over, and none of the silence."""
    samples, rate = soundfile.read(data / "speech" / "en_jfk.flac", dtype="int16", always_2d=True)
    silence = np.zeros(rate, np.int16)
    sound = np.concatenate([silence, samples[:, 0], silence])
    name = sessions.begin("whisper", "en")
    piece = rate // 3
    for first in range(0, len(sound), piece):
        sessions.hear(name, rate, sound[first : first + piece].tobytes())
    end = time.monotonic() + PATIENCE
    while not (heard := sessions.hear(name, rate, b"")).get("finals"):
        assert time.monotonic() < end, heard
        time.sleep(0.1)
    assert not heard["ended"]
    while not (heard := sessions.finish(name)).get("ended"):
        assert time.monotonic() < end, heard
        time.sleep(0.1)
    words = " ".join(one["text"] for one in heard["finals"])
    assert score(SPOKEN, words, "en").errors <= 4, words
    starts = [one["start"] for one in heard["finals"]]
    assert starts == sorted(starts) and 1.0 <= starts[0] <= 1.7
    recorded = sessions.recording(name, tmp_path)
    info = soundfile.info(recorded)
    assert (info.samplerate, info.channels) == (RATE, 1)
    assert abs(info.duration - len(sound) / rate) < 0.1
    sessions.close()
    assert recorded.is_file() and not list((settings.cache / "live").iterdir())


def test_no_more_sessions_than_the_machine_takes(sessions: LiveSessions) -> None:
    for _ in range(MOST):
        sessions.begin("whisper", "en")
    with pytest.raises(InputError, match="heard already"):
        sessions.begin("whisper", "en")
    with pytest.raises(InputError, match="recording is over"):
        sessions.hear("unknown", RATE, b"")


def test_sound_of_sessions_nobody_has_any_more_is_removed(settings: Settings) -> None:
    old, new = (settings.cache / "live" / name for name in ("old", "new"))
    for folder, age in ((old, 90_000), (new, 3_600)):
        folder.mkdir(parents=True)
        (folder / "sound.pcm").write_bytes(b"1234")
        os.utime(folder, (time.time() - age,) * 2)
    LiveSessions(settings, Machine(Probe(), Policy(threads=2)))
    assert not old.exists() and (new / "sound.pcm").is_file()


def fake_microphone(source: Path, folder: Path) -> Path:
    """A recording with a second of silence before it, as Chromium's fake microphone takes it."""
    path = folder / "microphone.wav"
    command = [
        get_ffmpeg_exe(),
        "-v",
        "error",
        "-y",
        "-i",
        str(source),
        "-af",
        "adelay=1000|1000,apad=pad_dur=2",
    ]
    subprocess.run([*command, "-ar", "48000", "-ac", "1", str(path)], check=True, stdin=subprocess.DEVNULL)
    return path
