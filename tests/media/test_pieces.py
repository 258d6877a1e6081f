"""A film in pieces: joined without touching a picture, only what changed is made again, what is finished is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from pipelines import media
from pipelines.backend.policy import Policy
from pipelines.errors import MediaError, Message, Stopped
from pipelines.media.encoder import x264
from pipelines.pieces import FOLDER, Film, film_encoder, make_film, piece_ranges
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import Frame, VideoInfo
from tests.media.conftest import number_of, numbered

RATES = [Fraction(25), Fraction(30000, 1001), Fraction(24000, 1001), Fraction(60)]


def write(path: Path, numbers: range, fps: Fraction, settings: Settings) -> None:
    with media.FrameWriter(path, 192, 112, fps, settings) as writer:
        for number in numbers:
            writer.write(numbered(number))


@pytest.mark.parametrize("fps", RATES, ids=str)
def test_joined_pieces_show_the_same_pictures_at_the_same_times(
    fps: Fraction, tmp_path: Path, settings: Settings
) -> None:
    pieces, alone = [], []
    for first, last in ((0, 50), (50, 90), (90, 92), (92, 93), (93, 120)):  # also very short ones
        path = tmp_path / f"p {first} 片段.mp4"
        write(path, range(first, last), fps, settings)
        pieces.append((path, last - first))
        alone += list(media.read_frames(media.probe(path), settings))
    out = tmp_path / "joined 🎬.mp4"
    media.join_pieces(pieces, out, fps, NullReport(), "lips")
    info = media.probe(out)
    assert (info.frames, info.fps, info.vfr, info.start) == (120, fps, False, 0.0)
    joined = list(media.read_frames(info, settings))
    assert [number_of(frame) for frame in joined] == list(range(120))
    assert all(np.array_equal(one, two) for one, two in zip(joined, alone, strict=True))
    with av.open(str(out)) as container:
        shown = sorted(packet.pts for packet in container.demux(video=0) if packet.pts is not None)
        tick = 1 / (fps * container.streams.video[0].time_base)
    assert shown == [round(number * tick) for number in range(120)]


def test_a_damaged_or_foreign_piece_is_refused(tmp_path: Path, settings: Settings) -> None:
    one, other, small = (tmp_path / f"{name}.mp4" for name in ("one", "other", "small"))
    write(one, range(10), Fraction(25), settings)
    write(other, range(10), Fraction(25), settings)
    with media.FrameWriter(small, 96, 64, Fraction(25), settings) as writer:
        writer.write(np.zeros((64, 96, 3), np.uint8))
    out = tmp_path / "out.mp4"
    for pieces in ([(one, 10), (other, 11)], [(one, 10), (small, 1)]):
        with pytest.raises(MediaError, match="could not be joined"):
            media.join_pieces(pieces, out, Fraction(25), NullReport(), "lips")
    other.write_bytes(one.read_bytes()[:900])
    with pytest.raises(MediaError, match="could not be joined"):
        media.join_pieces([(one, 10), (other, 10)], out, Fraction(25), NullReport(), "lips")
    assert sorted(path.name for path in tmp_path.glob("*out*")) == []


def test_the_grid_does_not_move() -> None:
    assert piece_ranges(200, Fraction(25)) == ((0, 50), (50, 100), (100, 150), (150, 200))
    assert piece_ranges(210, Fraction(25))[:3] == piece_ranges(200, Fraction(25))[:3]
    assert piece_ranges(210, Fraction(25))[-1] == (150, 210)
    assert piece_ranges(3, Fraction(25)) == ((0, 3),)


class Drawing:
    """A film of numbered pictures that remembers what it was asked to draw."""

    def __init__(self, words: dict[int, str], frames: int = 220) -> None:
        self.words, self.frames, self.drawn = words, frames, []  # type: ignore[var-annotated]

    def draw(self, first: int, last: int) -> Iterator[Frame]:
        for number in range(first, last):
            self.drawn.append(number)
            frame = numbered(number)
            frame[70:, :, 1] = 10 * len(self.words.get(number // 50, ""))
            yield frame

    def signature(self, first: int, last: int) -> str:
        return " ".join(self.words.get(part, "") for part in range(first // 50, (last - 1) // 50 + 1))

    def make(
        self, out: Path, settings: Settings, report: NullReport | None = None
    ) -> tuple[tuple[int, int], ...]:
        info = VideoInfo(out, 0, Fraction(25), 192, 112, 1, 0, False, (), "", "", False, False, False)
        film = Film(info, self.frames, self.draw, self.signature)
        return make_film(film, out, settings, x264(), report or NullReport(), "lips")


def test_only_pieces_that_look_different_are_drawn_again(tmp_path: Path, settings: Settings) -> None:
    out = tmp_path / "picture.mp4"
    assert Drawing({}).make(out, settings) == ((0, 50), (50, 100), (100, 150), (150, 220))
    before = {path.name: path.read_bytes() for path in (tmp_path / FOLDER).glob("*.mp4")}
    pictures = list(media.read_frames(media.probe(out), settings))
    again = Drawing({1: "hola"})
    assert again.make(out, settings) == ((50, 100),)
    assert again.drawn == list(range(50, 100))
    after = {path.name: path.read_bytes() for path in (tmp_path / FOLDER).glob("*.mp4")}
    assert {name for name in after if after[name] != before[name]} == {"0000050.mp4"}
    changed = list(media.read_frames(media.probe(out), settings))
    same = [np.array_equal(one, two) for one, two in zip(pictures, changed, strict=True)]
    assert all(same[:50]) and not any(same[50:100]) and all(same[100:])
    assert Drawing({1: "hola"}).make(out, settings) == ()
    shorter = Drawing({1: "hola"}, frames=100)
    assert shorter.make(out, settings) == () and media.probe(out).frames == 100
    assert sorted(path.name for path in (tmp_path / FOLDER).glob("*.mp4")) == ["0000000.mp4", "0000050.mp4"]


def test_a_film_that_was_stopped_goes_on_with_the_piece_it_was_at(tmp_path: Path, settings: Settings) -> None:
    class Stopping(NullReport):
        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            if done == 120:
                raise Stopped

    out = tmp_path / "picture.mp4"
    with pytest.raises(Stopped):
        Drawing({}).make(out, settings, Stopping())
    assert not out.exists() and not list((tmp_path / FOLDER).glob("*.part"))
    rest = Drawing({})
    assert rest.make(out, settings) == ((100, 150), (150, 220)) and rest.drawn == list(range(100, 220))
    assert [number_of(f) for f in media.read_frames(media.probe(out), settings)] == list(range(220))


class Notes(NullReport):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: Message, level: str = "hint") -> None:
        self.notes.append(message.en)


CARD = """#!/bin/sh
# An ffmpeg on a machine with a graphics card: its encoder is there, and does what x264 does.
for word; do
  case $word in h264_nvenc) word=libx264 ;; p4) word=veryfast ;; -cq) word=-crf ;; -rc) word=-x264-params ;;
    vbr) word=ref=2 ;; esac
  set -- "$@" "$word"; shift
done
exec "REAL" "$@"
"""


def test_the_graphics_card_encodes_where_it_is_wanted_and_works(tmp_path: Path, settings: Settings) -> None:
    card = tmp_path / "ffmpeg"
    card.write_text(CARD.replace("REAL", str(media.ffmpeg_path(settings))), encoding="utf-8")
    card.chmod(0o755)
    gpu, cpu = Policy(family="cuda", device="cuda:0"), Policy()
    cases = [
        (replace(settings, ffmpeg=card), cpu, "libx264", ""),  # no card is used on this machine
        (replace(settings, ffmpeg=card), gpu, "h264_nvenc", "by the graphics card"),
        (replace(settings, ffmpeg=card), replace(gpu, safe_mode=True), "libx264", ""),
        (replace(settings, ffmpeg=card, encoder="hardware"), cpu, "h264_nvenc", "by the graphics card"),
        (replace(settings, ffmpeg=card, encoder="x264"), gpu, "libx264", ""),
    ]
    if not os.access("/dev/dri", os.R_OK) and not os.access("/dev/nvidiactl", os.R_OK):
        cases += [
            (settings, gpu, "libx264", ""),  # the trial encode fails
            (replace(settings, encoder="hardware"), cpu, "libx264", "No hardware encoder works"),
        ]
    for chosen, policy, name, said in cases:
        report = Notes()
        encoder = film_encoder(EngineContext(chosen, policy), report)
        assert encoder.name == name and said in " ".join(report.notes) and bool(said) == bool(report.notes)
    encoder = film_encoder(EngineContext(cases[1][0], gpu), NullReport())
    info = VideoInfo(card, 0, Fraction(25), 192, 112, 1, 0, False, (), "", "", False, False, False)
    film = Film(info, 60, Drawing({}).draw, Drawing({}).signature)
    make_film(film, tmp_path / "film.mp4", cases[1][0], encoder, NullReport(), "lips")
    assert [number_of(f) for f in media.read_frames(media.probe(tmp_path / "film.mp4"), settings)] == list(
        range(60)
    )


def test_the_encoder_is_a_setting() -> None:
    asked = {
        text: Settings.load({"DUBWRIGHT_ENCODER": text}).encoder for text in ("x264", "hardware", "", "odd")
    }
    assert asked == {"x264": "x264", "hardware": "hardware", "": "auto", "odd": "auto"}
