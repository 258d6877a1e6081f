"""Who says a line and in which voice: two people told apart, each dubbed in a voice like their own, and one person left whole."""

from __future__ import annotations

import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from imageio_ffmpeg import get_ffmpeg_exe

from pipelines import media, subtitles
from pipelines.backend.policy import Policy
from pipelines.dub import listening
from pipelines.dub.casting import own_ranges, wanted
from pipelines.dub.lines import speaker_during
from pipelines.dub.options import DubOptions
from pipelines.dub.run import DubRun
from pipelines.files import write_json
from pipelines.progress import NullReport
from pipelines.records import load_plan, save_transcript
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import OWN_VOICE, Audio, DubLine, DubPlan, Segment, Transcript
from pipelines.voice import VOICES, StockVoices, pitch
from tests.dub.conftest import Dubbed, Typed

CLIP = Path(__file__).parents[2] / "examples" / "talker.mp4"
RATE = 48_000
HEARD = Transcript(
    "en",
    (
        Segment(0.0, 4.0, "One.", (), "S1"),
        Segment(4.2, 6.0, "Two.", (), "S2"),
        Segment(7.0, 27.0, "Three.", (), "S1"),
        Segment(27.0, 47.0, "Four.", (), "S1"),
        Segment(50.0, 52.0, "Five.", (), "S2"),
    ),
)
PLAN = DubPlan(
    "en",
    "es",
    60.0,
    tuple(DubLine(n, s.start, s.end, s.text, "Sí.", s.speaker) for n, s in enumerate(HEARD.segments)),
)


def a_run(folder: Path, settings: Settings, **given: object) -> DubRun:
    options = DubOptions(CLIP, "es", **given)  # type: ignore[arg-type]
    return DubRun(
        folder, options, media.probe(CLIP), EngineContext(settings, Policy(threads=2)), NullReport()
    )


def test_a_voice_is_learnt_from_its_speakers_longest_stretches_and_from_nobody_elses() -> None:
    assert own_ranges(PLAN, HEARD, "S2") == [(4.0, 6.3), (49.7, 52.3)], (
        "with the silence around, not with S1's end"
    )
    (only,) = own_ranges(PLAN, HEARD, "S1")
    assert only == (6.7, 36.7), "half a minute; the two lines without a pause are one stretch"
    renamed = replace(PLAN, lines=(replace(PLAN.lines[0], speaker="Anna"), *PLAN.lines[1:]))
    assert own_ranges(renamed, HEARD, "Anna") == [(0.0, 4.2)], (
        "a name of the table's own: where the table has it"
    )
    assert own_ranges(renamed, HEARD, "S1") == [(6.7, 36.7)], "an edited line changes nobody else's voice"
    alone = Transcript("en", tuple(replace(part, speaker=None) for part in HEARD.segments))
    assert own_ranges(PLAN, alone, None) == [(7.0, 37.0)], "one person: the half minute with most speech"


def test_whose_voice_is_wanted(tmp_path: Path, settings: Settings) -> None:
    line = PLAN.lines[0]
    alone, cast = a_run(tmp_path, settings), a_run(tmp_path, settings, voice="Me", cast={"S2": "am_adam"})
    assert wanted(alone, line) == ("own", "S1")
    assert wanted(cast, line) == ("named", "Me") and wanted(cast, PLAN.lines[1]) == ("named", "am_adam")
    assert wanted(cast, replace(line, voice="af_heart")) == ("named", "af_heart")
    assert wanted(cast, replace(line, voice=OWN_VOICE)) == ("own", "S1")
    sampled = a_run(tmp_path, settings, reference=CLIP)
    assert wanted(sampled, line) == ("reference", None)
    assert wanted(sampled, replace(line, voice=OWN_VOICE)) == ("own", "S1")


def test_a_subtitle_cue_is_said_by_who_speaks_most_in_it() -> None:
    assert speaker_during(Segment(3.0, 5.0, ""), HEARD) == "S1"
    assert speaker_during(Segment(3.5, 6.0, ""), HEARD) == "S2"
    assert speaker_during(Segment(48.0, 49.5, ""), HEARD) == "S2", "beside all speech: the nearest"


def test_too_little_of_a_voice_gets_a_stock_voice_of_its_pitch(settings: Settings) -> None:
    engine = VOICES.get("kokoro", EngineContext(settings, Policy(threads=2)))
    assert isinstance(engine, StockVoices)
    low, high = engine.stock_near(115.0, "es"), engine.stock_near(220.0, "es")
    assert low.name in ("em_alex", "em_santa") and high.name == "ef_dora"
    assert engine.stock_near(110.0, "en").name.startswith(("am_", "bm_"))


@pytest.mark.parametrize("name", ["talk_512_8s.mp4", "talk_room_20s.mp4", "talk_outdoor_10s.mp4"])
def test_one_person_stays_one(data: Path, tmp_path: Path, settings: Settings, name: str) -> None:
    """The stretches of speech of a real clip as its lines; nothing is recognised here."""
    from pipelines.asr import RecognitionOptions
    from pipelines.asr.hearing import find_speech

    film = data / "video" / name
    speech = find_speech(film, RecognitionOptions(), settings, NullReport())
    heard = Transcript("en", tuple(Segment(start, end, "Words.") for start, end in speech.spans))
    save_transcript(tmp_path / listening.LISTENED, heard)
    write_json(tmp_path / listening.SPEECH, {"spans": speech.spans, "duration": speech.duration})
    run = a_run(tmp_path, settings)
    run = replace(run, options=replace(run.options, input=film))
    assert listening.tell_apart(run, heard) == heard
    forced = replace(run, options=replace(run.options, speakers=1))
    assert listening.tell_apart(forced, heard) == heard


@pytest.fixture(scope="module")
def conversation(data: Path, dub_context: EngineContext, typed: Typed) -> Dubbed:
    """A woman, a man, the woman again, in English; dubbed into Spanish from a subtitle file, the picture left alone."""
    recordings = ("speech/en_lj_0007.flac", "video/talk_room_20s.mp4", "speech/en_lj_0003.flac")
    texts = (
        "El primer libro impreso con tipos móviles.",
        "Llegamos por la mañana y había mucha gente. Después comimos algo y volvimos a casa.",
        "Los chinos tallaban la madera.",
    )
    parts, cues, at = [], [], 0.0
    for recording, text in zip(recordings, texts, strict=True):
        sound = media.load_sound(data / recording, dub_context.settings, sr=RATE, end=12.0).samples
        cues.append(Segment(at + 0.1, at + 7.0, text))
        parts += [sound, np.zeros(RATE // 2, np.float32)]
        at += len(sound) / RATE + 0.5
    sound_file, film, srt = (typed.folder / f"conversation.{ending}" for ending in ("wav", "mp4", "srt"))
    soundfile.write(sound_file, np.concatenate(parts), RATE)
    subtitles.write(srt, cues, "srt")
    picture = ["-f", "lavfi", "-i", "color=c=gray:s=64x64:r=25", "-i", str(sound_file), "-shortest"]
    coded = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"]
    subprocess.run(
        [get_ffmpeg_exe(), "-v", "error", "-y", *picture, *coded, str(film)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return typed.dub(film, "es", dub_context, "--translation", str(srt), "--no-lips")


def pitch_of(dub: Dubbed, index: int) -> float:
    samples, rate = soundfile.read(dub.folder / "lines" / f"{index + 1:04d}.wav", dtype="float32")
    found = pitch.measure(Audio(samples, rate))
    assert found is not None
    return found.median


@pytest.mark.slow
def test_a_woman_s_lines_get_a_woman_s_pitch_and_a_man_s_a_man_s(conversation: Dubbed) -> None:
    assert [line.speaker for line in conversation.plan.lines] == ["S1", "S2", "S1"]
    voices = {voice["speaker"]: voice for voice in conversation.report["voices"]}
    assert {name: voice["lines"] for name, voice in voices.items()} == {"S1": [0, 2], "S2": [1]}
    woman, man, again = (pitch_of(conversation, index) for index in range(3))
    assert min(woman, again) > 190 and man < 190 and min(woman, again) > 1.2 * man, (woman, man, again)
    for name, heard in (("S1", woman), ("S2", man)):
        assert abs(12 * np.log2(heard / voices[name]["own_pitch"])) <= 3.0, (name, heard, voices[name])
    assert conversation.report["voice"] == voices["S2"], "whose lines are longest"


@pytest.mark.slow
def test_another_speaker_for_one_line_changes_that_line_alone(conversation: Dubbed) -> None:
    before = {path.name: path.read_bytes() for path in (conversation.folder / "lines").glob("*.wav")}
    lines = [asdict(line) for line in load_plan(conversation.folder / "lines.json").lines]
    lines[2]["speaker"] = "S2"
    edited = conversation.again(lines=lines)
    after = {path.name: path.read_bytes() for path in (edited.folder / "lines").glob("*.wav")}
    assert {name for name in after if after[name] != before[name]} == {"0003.wav"}
    assert pitch_of(edited, 2) < 190
    stock = conversation.again(lines=[*lines[:2], {**lines[2], "voice": "af_heart"}])
    assert [voice["name"] for voice in stock.report["voices"] if voice["lines"] == [2]] == ["af_heart"]
