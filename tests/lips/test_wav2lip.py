"""The engine ``wav2lip`` on a real face with weights of random numbers: what it changes, and what it leaves alone."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch

from pipelines import faces, media
from pipelines.backend.outputs import check_pictures
from pipelines.backend.policy import Policy
from pipelines.errors import BadOutput, EngineMissing, NoFace
from pipelines.lipsync import LIP_ENGINES, EngineContext, LipDrive, LipEngine, LipRun, geometry
from pipelines.lipsync.wav2lip import drawing
from pipelines.lipsync.wav2lip.checkpoint import load_generator
from pipelines.lipsync.wav2lip.framing import boxes_of, face_mask, face_picture
from pipelines.lipsync.wav2lip.mel import mel_of_blocks
from pipelines.lipsync.wav2lip.synthesis import Synthesis
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Audio, FaceTrack, Frame, Phone, VideoInfo
from tests.lips.conftest import changed
from tests.lips.phones import SPANISH
from tests.lips.test_ownmouth import face_mask as lower_face

FRAMES = 16
ALWAYS = (Phone(0.0, 20.0, "a"),)  # somebody speaks all the time


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads of torch wait for each other; where other work runs beside the tests, one is quicker."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@dataclass(frozen=True)
class Clip:
    """A short clip of a real face, its track, its frames, and a real recording."""

    info: VideoInfo
    track: FaceTrack
    frames: list[Frame]
    sound: Path

    def drive(self, **more: object) -> LipDrive:
        given: dict[str, object] = {"order": tuple(range(FRAMES)), "phones": ALWAYS, "sound": self.sound}
        return LipDrive(**(given | more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def clip(cut: Callable[..., Path], lips_settings: Settings, data: Path) -> Clip:
    info = media.probe(cut("talk_512_8s", 0, FRAMES / 25, "scale=320:320"))
    (track,) = faces.analyse(info, lips_settings, NullReport())
    frames = list(media.read_frames(info, lips_settings))
    assert len(frames) == FRAMES and bool(np.all(track.found))
    return Clip(info, track, frames, data / "speech" / "en_jfk.flac")


def policy(**values: object) -> Policy:
    return Policy(**({"threads": 1, "batch": 4} | values))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def engine(wav2lip_settings: Settings) -> LipEngine:
    return LIP_ENGINES.get("wav2lip", EngineContext(wav2lip_settings, policy()))


@pytest.fixture(scope="module")
def run(engine: LipEngine, clip: Clip) -> LipRun:
    return engine.sync(clip.info, clip.track, clip.drive(), NullReport())


@pytest.fixture(scope="module")
def drawn(run: LipRun) -> list[Frame]:
    return list(run.frames)


# ------------------------------------------------------------------------------------------------ the picture


def test_only_the_lower_face_changes(clip: Clip, drawn: list[Frame]) -> None:
    boxes = boxes_of(clip.track)
    for number, (before, after) in enumerate(zip(clip.frames, drawn, strict=True)):
        where = changed(before, after)
        assert where.sum() > 2000, "a mouth was drawn"
        assert not where[~lower_face(clip.track, number, before.shape)].any(), number
        x0, y0, x1, y1 = boxes[number].tolist()
        assert not where[: (y0 + y1) // 2 - 2 * (y1 - y0) // 10].any(), "nothing above the nose"
        inside = where[y0:y1, x0:x1]
        assert not inside[:, :2].any() and not inside[:, -2:].any() and not inside[-2:].any(), "no rectangle"


def test_every_pixel_is_the_source_plus_the_masked_difference(
    clip: Clip, drawn: list[Frame], wav2lip_settings: Settings, tmp_path: Path
) -> None:
    """The whole way again, in the plainest form: unfolded network, one face at a time, whole pictures."""
    network = load_generator(wav2lip_settings.weights / "wav2lip" / "wav2lip.pth")
    sound = media.load_sound(clip.sound, wav2lip_settings, sr=16_000).samples
    mel = np.asarray(mel_of_blocks([sound], tmp_path))
    boxes = boxes_of(clip.track)
    for number in (0, 7, 15):
        start = int(Fraction(80 * number, 25))
        heard = torch.from_numpy(mel[start : start + 16].T.copy())[None, None]
        face = face_picture(clip.frames[number], boxes[number])
        whole = torch.from_numpy(face / np.float32(255)).permute(2, 0, 1)[None]
        upper = whole.clone()
        upper[:, :, 48:] = 0
        with torch.inference_mode():
            made = network(heard, torch.cat((upper, whole), 1))[0].permute(1, 2, 0).numpy() * 255
        x0, y0, x1, y1 = boxes[number].tolist()
        size = (x1 - x0, y1 - y0)
        mask = cv2.resize(face_mask(clip.track.landmarks[number], boxes[number]), size)[..., None]
        expected = clip.frames[number].astype(np.float32)
        expected[y0:y1, x0:x1] += mask * cv2.resize(made - face, size)
        expected = np.clip(expected, 0, 255)
        assert float(np.abs(expected - drawn[number]).max()) <= 0.51, number


def test_a_network_that_draws_what_it_sees_changes_nothing(
    engine: LipEngine, clip: Clip, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the picture's own detail is kept, however blurred 96 pixels are."""
    monkeypatch.setattr(Synthesis, "draw", lambda self, sounds, faces: np.stack(faces).astype(np.float32))
    frames = engine.sync(clip.info, clip.track, clip.drive(), NullReport()).frames
    assert all(np.array_equal(one, two) for one, two in zip(frames, clip.frames, strict=True))


def test_a_face_that_leaves_the_picture_is_drawn_as_far_as_it_is_seen(
    engine: LipEngine, clip: Clip, lips_settings: Settings, cut: Callable[..., Path]
) -> None:
    x0, _, x1, y1 = boxes_of(clip.track)[0].tolist()
    shift = np.array([(x0 + x1) / 2, y1 - 290], np.float32)  # the left half and the chin are outside
    track = replace(clip.track, landmarks=np.asarray(clip.track.landmarks) - shift)
    frames = list(engine.sync(clip.info, track, clip.drive(), NullReport()).draw(0, 2))
    where = changed(clip.frames[0], frames[0])
    assert where[:, :20].any() and not where[:, (x1 - x0) // 2 + 2 :].any()


def test_the_box_is_the_detectors_and_the_mask_covers_the_lips(clip: Clip) -> None:
    for number in range(FRAMES):
        points, (x0, y0, x1, y1) = (
            np.asarray(clip.track.landmarks[number]),
            boxes_of(clip.track)[number].tolist(),
        )
        assert abs(x0 - points[:, 0].min()) <= 4 and abs(x1 - points[:, 0].max()) <= 4, "edge to edge"
        assert points[10, 1] < y0 < points[[105, 334], 1].mean(), "from the forehead"
        assert 0.03 < (y1 - points[152, 1]) / (y1 - y0) < 0.07, "to a little below the chin"
        mask = face_mask(points, boxes_of(clip.track)[number])
        places = ((points - (x0, y0)) / (x1 - x0, y1 - y0) * 96).astype(int)
        lips, eyes = (places[list(rows)] for rows in (geometry.LIPS, (33, 133, 362, 263)))
        assert mask[lips[:, 1], lips[:, 0]].min() > 0.98 and mask[eyes[:, 1], eyes[:, 0]].max() == 0


# ------------------------------------------------------------------------------------------ what is left alone


def test_kept_and_faceless_frames_pass_and_mouths_come_and_go_gently(engine: LipEngine, clip: Clip) -> None:
    found = np.ones(FRAMES, np.bool_)
    found[:2] = False
    track = replace(clip.track, found=found)
    run = engine.sync(clip.info, track, clip.drive(keep=((0.55, 9.0),)), NullReport())
    assert run.report.passed == ((0, 2), (13, 16)) and run.report.synthesised == ((2, 13),)
    assert [note.en for note in run.report.notes] == [
        "No face at 0.0-0.1 s: the picture is left as it was there"
    ]
    assert run.report.measures == {"frames": 16.0, "synthesised": 11.0, "passed": 5.0, "mouths": 11.0}
    frames = list(run.frames)
    for number in (0, 1, 13, 14, 15):
        assert np.array_equal(frames[number], clip.frames[number])
    whole = engine.sync(clip.info, clip.track, clip.drive(), NullReport()).draw(0, 8)
    for number, full in enumerate(whole):
        if number in (2, 7):  # a quarter of the full change at first, all of it in the middle
            change = frames[number].astype(float) - clip.frames[number]
            most = full.astype(float) - clip.frames[number]
            share = float((change * most).sum() / (most * most).sum())
            assert share == pytest.approx(0.25 if number == 2 else 1.0, abs=0.02)


def test_a_face_turned_aside_is_left_alone(engine: LipEngine, clip: Clip) -> None:
    landmarks = np.array(clip.track.landmarks)
    landmarks[4:9, 4] = landmarks[4:9, 234]  # the nose's tip at the edge of the face
    run = engine.sync(clip.info, replace(clip.track, landmarks=landmarks), clip.drive(), NullReport())
    assert run.report.passed == ((4, 9),) and "aside at 0.2-0.4 s" in run.report.notes[0].en


def test_a_track_without_a_face_is_refused(engine: LipEngine, clip: Clip) -> None:
    nobody = replace(clip.track, found=np.zeros(FRAMES, np.bool_))
    with pytest.raises(NoFace):
        engine.sync(clip.info, nobody, clip.drive(), NullReport())


# --------------------------------------------------------------------------------------------- order and time


def test_frames_come_in_the_order_asked_for_with_the_sound_of_their_place(
    engine: LipEngine, clip: Clip, drawn: list[Frame]
) -> None:
    backwards = tuple(range(FRAMES))[::-1]
    frames = list(engine.sync(clip.info, clip.track, clip.drive(order=backwards), NullReport()).draw(0, 4))
    for number in (0, 3):
        before = clip.frames[backwards[number]]
        assert 0 < changed(before, frames[number]).mean() < 0.3
    assert not np.array_equal(frames[0], drawn[15]), "the same face, other sound"


def test_an_offset_moves_the_mouth_by_whole_frames(engine: LipEngine, clip: Clip, drawn: list[Frame]) -> None:
    """A still face and a mouth 0.16 s later: the same mouths, four frames later."""
    still = (3,) * FRAMES
    now, later = (
        list(engine.sync(clip.info, clip.track, clip.drive(order=still, offset=o), NullReport()).frames)
        for o in (0.0, 0.16)
    )
    # 80 columns a second do not divide by 25 frames: 5 frames are 16 columns, so 0.16 s are 12.8.
    starts = [[int((Fraction(n, 25) - Fraction(o, 100)) * 80 // 1) for n in range(FRAMES)] for o in (0, 16)]
    pairs = [(a, b) for a in range(FRAMES) for b in range(FRAMES) if starts[0][a] == starts[1][b]]
    assert len(pairs) >= 8 and {b - a for a, b in pairs} == {4}
    assert all(np.array_equal(now[a], later[b]) for a, b in pairs)


def test_a_frame_looks_the_same_in_whatever_stretch_it_is_drawn(run: LipRun, drawn: list[Frame]) -> None:
    for first, last in ((0, 3), (5, 12), (15, 16)):
        alone = list(run.draw(first, last))
        assert len(alone) == last - first
        assert all(np.array_equal(one, two) for one, two in zip(alone, drawn[first:last], strict=True))


def test_only_as_many_frames_wait_as_the_batch_takes(
    run: LipRun, clip: Clip, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def counted(*_: object) -> Iterator[Frame]:
        for number, frame in enumerate(clip.frames):
            read.append(number)
            yield frame

    monkeypatch.setattr(drawing, "ordered_frames", counted)
    ahead = [len(read) - done for done, _ in enumerate(run.frames)]
    assert max(ahead) <= 5 and len(ahead) == FRAMES, "a batch of four and the frame that finds it full"


def test_another_word_changes_the_signature_of_its_frames_alone(
    engine: LipEngine, clip: Clip, tmp_path: Path, wav2lip_settings: Settings
) -> None:
    sound = media.load_sound(clip.sound, wav2lip_settings, sr=16_000)
    edited = sound.samples.copy()
    edited[16_000 * 50 // 100 :] = 0.1
    path = tmp_path / "edited.wav"
    media.save_audio(path, replace(sound, samples=edited))
    same = tmp_path / "same.wav"
    media.save_audio(same, sound)
    one, two = (
        engine.sync(clip.info, clip.track, clip.drive(sound=place), NullReport()) for place in (same, path)
    )
    differ = [n for n in range(FRAMES) if one.signature(n, n + 1) != two.signature(n, n + 1)]
    # Column 39 is the first that touches the edit: its window is centred at 0.4875 s and 0.05 s long.
    assert differ == [n for n in range(FRAMES) if n * 80 // 25 + 15 >= 39]
    frames = zip(one.draw(5, 9), two.draw(5, 9), strict=True)
    assert [n for n, (a, b) in enumerate(frames, start=5) if not np.array_equal(a, b)] == [8]


def test_where_nobody_speaks_no_sound_moves_the_mouth(engine: LipEngine, clip: Clip, tmp_path: Path) -> None:
    silence = tmp_path / "silence.wav"
    media.save_audio(silence, Audio(np.zeros(16_000, np.float32), 16_000))
    nothing = engine.sync(clip.info, clip.track, clip.drive(sound=silence), NullReport())
    music = engine.sync(clip.info, clip.track, clip.drive(phones=()), NullReport())
    assert all(np.array_equal(a, b) for a, b in zip(nothing.draw(0, 5), music.draw(0, 5), strict=True))
    later = tuple(replace(phone, start=phone.start + 0.1, end=phone.end + 0.1) for phone in SPANISH)
    said = engine.sync(clip.info, clip.track, clip.drive(phones=later), NullReport())
    assert said.signature(0, 1) == music.signature(0, 1) and said.signature(9, 10) != music.signature(9, 10)


# ------------------------------------------------------------------------------------------------ safe and sure


def test_results_do_not_depend_on_the_batch(wav2lip_settings: Settings) -> None:
    source = np.random.default_rng(3)
    sounds = list((source.random((7, 80, 16)) * 8 - 4).astype(np.float32))
    pictures = list(source.integers(0, 255, (7, 96, 96, 3), np.uint8))
    path = wav2lip_settings.weights / "wav2lip" / "wav2lip.pth"
    results = []
    for batch in (1, 3, 8):
        synthesis = Synthesis(path, policy(batch=batch))
        parts = [slice(start, start + batch) for start in range(0, 7, batch)]
        results.append(np.concatenate([synthesis.draw(sounds[part], pictures[part]) for part in parts]) / 255)
    assert all(float(np.abs(other - results[0]).max()) <= 1e-5 for other in results[1:])


def test_what_cannot_be_a_face_is_refused(
    engine: LipEngine, clip: Clip, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = Synthesis._computed
    for spoil, said in ((np.nan, "not numbers"), (np.inf, "not numbers"), (None, "one constant value")):

        def wrong(self: Synthesis, sound: torch.Tensor, whole: torch.Tensor, value=spoil) -> np.ndarray:  # type: ignore[no-untyped-def]
            made = computed(self, sound, whole)
            made[1] = 127 if value is None else made[1]
            made[1, 5, 5, 0] = 127 if value is None else value
            return made

        monkeypatch.setattr(Synthesis, "_computed", wrong)
        with pytest.raises(BadOutput, match=said):
            list(engine.sync(clip.info, clip.track, clip.drive(), NullReport()).frames)
    check_pictures(np.random.default_rng(1).random((2, 4, 4, 3)).astype(np.float32))


def test_nothing_is_left_behind(
    engine: LipEngine, clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run = engine.sync(clip.info, clip.track, clip.drive(), NullReport())
    frames = run.frames
    next(frames)
    assert list(tmp_path.glob("wav2lip-*"))
    del run, frames
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_without_weights_it_says_where_they_belong(wav2lip_settings: Settings) -> None:
    context = EngineContext(wav2lip_settings, policy())
    assert LIP_ENGINES.state("wav2lip", context).ready
    state = LIP_ENGINES.state("wav2lip-gan", context)
    assert state.state == "missing weights" and "python app.py weights wav2lip-gan" in state.todo.en
    with pytest.raises(EngineMissing, match="model files missing: wav2lip-gan"):
        LIP_ENGINES.get("wav2lip-gan", context)
    assert "Not for commercial use" in LIP_ENGINES.info("wav2lip").consequence.en
    assert LIP_ENGINES.infos()[0].name == "ownmouth", "the default needs no weights"
