"""Wav2Lip's network, its weights in every form they are passed around in, and the sound as it hears it."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from pipelines.errors import WeightsMissing
from pipelines.lipsync.wav2lip.checkpoint import load_generator
from pipelines.lipsync.wav2lip.mel import FLOOR, Sound, first_column, mel_of_blocks
from pipelines.lipsync.wav2lip.network import Generator
from pipelines.settings import Settings
from tests.lips.wav2lip_weights import random_generator

Tensors = dict[str, torch.Tensor]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads of torch wait for each other; where other work runs beside the tests, one is quicker."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def generator() -> Generator:
    return random_generator()


@pytest.fixture(scope="module")
def given() -> tuple[torch.Tensor, torch.Tensor]:
    """Sound and faces, three of each."""
    source = torch.Generator().manual_seed(5)
    return torch.rand(3, 1, 80, 16, generator=source) * 8 - 4, torch.rand(3, 6, 96, 96, generator=source)


# ----------------------------------------------------------------------------------------------------- network


def test_the_layout_is_that_of_the_public_checkpoints(generator: Generator) -> None:
    tensors = generator.state_dict()
    assert len(tensors) == 352 and sum(p.numel() for p in generator.parameters()) == 36_298_035
    shapes = {
        "face_encoder_blocks.0.0.conv_block.0.weight": (16, 6, 7, 7),
        "face_encoder_blocks.5.1.conv_block.1.running_var": (512,),
        "face_encoder_blocks.6.1.conv_block.0.bias": (512,),
        "audio_encoder.12.conv_block.0.weight": (512, 512, 1, 1),
        "face_decoder_blocks.1.0.conv_block.0.weight": (1024, 512, 3, 3),
        "face_decoder_blocks.6.2.conv_block.1.num_batches_tracked": (),
        "output_block.0.conv_block.0.weight": (32, 80, 3, 3),
        "output_block.1.weight": (3, 32, 1, 1),
    }
    assert {name: tuple(tensors[name].shape) for name in shapes} == shapes


@torch.inference_mode()
def test_every_map_has_the_size_it_should(
    generator: Generator, given: tuple[torch.Tensor, torch.Tensor]
) -> None:
    sound, faces = given
    sizes = []
    for encode in generator.face_encoder_blocks:
        faces = encode(faces)
        sizes.append(tuple(faces.shape[1:]))
    assert sizes == [
        (16, 96, 96), (32, 48, 48), (64, 24, 24), (128, 12, 12), (256, 6, 6), (512, 3, 3), (512, 1, 1)
    ]  # fmt: skip
    heard = []
    for layer in generator.audio_encoder:
        sound = layer(sound)
        heard.append(tuple(sound.shape[2:]))
    assert heard == [*[(80, 16)] * 3, *[(27, 16)] * 3, *[(9, 6)] * 3, *[(3, 3)] * 2, (1, 1), (1, 1)]


@torch.inference_mode()
def test_folding_the_normalisations_changes_nothing(given: tuple[torch.Tensor, torch.Tensor]) -> None:
    network = random_generator()
    before = network(*given)
    network.fold()
    after = network(*given)
    assert not any(isinstance(part, nn.BatchNorm2d) for part in network.modules())
    assert float((before - after).abs().max()) <= 1e-5
    assert float(before.std()) > 0.05, "a network that draws one grey would pass as well"


@torch.inference_mode()
def test_what_is_drawn_depends_on_sound_and_face(
    generator: Generator, given: tuple[torch.Tensor, torch.Tensor]
) -> None:
    sound, faces = given
    drawn = generator(sound, faces)
    assert float((drawn - generator(sound.flip(0), faces)).abs().max()) > 1e-3
    assert float((drawn - generator(sound, faces.flip(0))).abs().max()) > 1e-3


# ----------------------------------------------------------------------------------------------------- weights


def nested(tensors: Tensors) -> dict[str, Any]:
    """As the trainer saves it."""
    optimizer = {"state": {0: {"step": 3, "exp_avg": torch.zeros(4)}}, "param_groups": [{"lr": 1e-4}]}
    return {"state_dict": OrderedDict(tensors), "optimizer": optimizer, "global_step": 3, "global_epoch": 1}


def on_several_cards(tensors: Tensors) -> dict[str, Any]:
    return nested({f"module.{name}": tensor for name, tensor in tensors.items()})


def in_half(tensors: Tensors) -> Tensors:
    return {name: t.half() if t.is_floating_point() else t for name, t in tensors.items()}


@pytest.mark.parametrize(
    ("form", "zipped"), [(dict, True), (nested, False), (on_several_cards, True), (in_half, True)]
)
def test_weights_are_read_in_every_form(
    form: Callable[[Tensors], Any], zipped: bool, generator: Generator, tmp_path: Path
) -> None:
    path = tmp_path / "wav2lip 权重.pth"
    torch.save(form(generator.state_dict()), path, _use_new_zipfile_serialization=zipped)
    _same(load_generator(path), generator, 1e-3 if form is in_half else 0.0)


def test_an_archive_with_code_is_read_for_its_tensors_alone(
    generator: Generator, given: tuple[torch.Tensor, torch.Tensor], tmp_path: Path
) -> None:
    path = tmp_path / "wav2lip.pt"
    with torch.inference_mode():
        torch.jit.trace(generator, given, check_trace=False).save(str(path))
    network = load_generator(path)
    assert type(network) is Generator
    _same(network, generator, 0.0)


def _same(found: Generator, expected: Generator, tolerance: float) -> None:
    assert not found.training
    tensors = found.state_dict()
    for name, tensor in expected.state_dict().items():
        read = tensors[name]
        assert read.dtype == tensor.dtype and read.device.type == "cpu"
        assert float((read - tensor).abs().max()) <= tolerance * max(float(tensor.abs().max()), 1), name


class Evil:
    """Would run code when unpickled."""

    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('code of a weights file ran')",))


def test_what_was_found_in_a_wrong_file_is_said(generator: Generator, tmp_path: Path) -> None:
    tensors = generator.state_dict()
    first = "face_encoder_blocks.0.0.conv_block.0.weight"
    cases: list[tuple[Any, str]] = [
        (Evil(), "bytes that are no torch file of plain tensors"),
        (b"<!DOCTYPE html><title>Sign in</title>", "a web page of 37 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", r"a pointer to the file \(Git LFS\)"),
        (b"", "0 bytes that are no torch file"),
        ([1, 2], "a list instead of named tensors"),
        ({"lr": 1.0, "epoch": 3}, "no tensors, but lr, epoch"),
        ({"conv1_1.weight": torch.zeros(1)}, "the face detector S3FD"),
        (nested({"face_encoder.0.conv_block.0.weight": torch.zeros(1)}), "the lip-sync expert"),
        (
            {name: tensor for name, tensor in tensors.items() if name != first} | {"extra": torch.zeros(1)},
            rf"1 tensors lacking \({first}\) and 1 tensors too many \(extra\)",
        ),
        (tensors | {first: torch.zeros(16, 6, 3, 3)}, r"\(16, 6, 3, 3\) instead of \(16, 6, 7, 7\)"),
    ]
    for number, (content, said) in enumerate(cases):
        path = tmp_path / f"{number}.pth"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            torch.save(content, path)
        with pytest.raises(WeightsMissing, match=said) as caught:
            load_generator(path)
        assert "不是 Wav2Lip" in caught.value.what.zh and caught.value.where == str(path)
        path.unlink()


# ------------------------------------------------------------------------------------------------------- sound


def slaney_bands() -> np.ndarray:
    """(80, 401) triangles of equal area, by Slaney's scale: linear to 1000 Hz, 27 steps to 6400 Hz from there."""

    def to_mel(hz: float) -> float:
        return hz * 3 / 200 if hz < 1000 else 15 + 27 * math.log(hz / 1000) / math.log(6.4)

    def to_hz(mel: float) -> float:
        return mel * 200 / 3 if mel < 15 else 1000 * 6.4 ** ((mel - 15) / 27)

    low, high = to_mel(55), to_mel(7600)
    edges = [to_hz(low + (high - low) * step / 81) for step in range(82)]
    bands = np.zeros((80, 401))
    for band, (left, middle, right) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        for bin in range(401):
            hz = bin * 20.0
            height = min((hz - left) / (middle - left), (right - hz) / (right - middle))
            bands[band, bin] = max(height, 0) * 2 / (right - left)
    return bands


def described_mel(sound: np.ndarray) -> np.ndarray:
    """The described formula by torch's transform, in double precision: (80, T)."""
    emphasised = torch.from_numpy(np.concatenate([sound[:1], sound[1:] - 0.97 * sound[:-1]]))
    window = torch.hann_window(800, dtype=torch.float64)
    spectrum = torch.stft(
        emphasised, 800, 200, 800, window, center=True, pad_mode="reflect", return_complex=True
    )
    decibels = 20 * np.log10(np.maximum(slaney_bands() @ spectrum.abs().numpy(), 1e-5)) - 20
    return np.clip(8 * (decibels + 100) / 100 - 4, -4, 4)


@pytest.fixture(scope="module")
def speech(data: Path) -> np.ndarray:
    """Twelve seconds of a real recording with a tone and digital silence behind it, 16 kHz."""
    from pipelines.media import load_sound

    said = load_sound(data / "speech" / "en_jfk.flac", Settings.load(), sr=16_000).samples
    tone = 0.9 * np.sin(np.arange(16_000) * (2 * np.pi * 440 / 16_000))
    return np.concatenate([said, tone, np.zeros(8_123)]).astype(np.float32)


def cut_up(sound: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (sound[start : start + size] for start in range(0, len(sound), size))


@pytest.mark.parametrize("size", [777, 100_000, 10**9], ids=["crumbs", "blocks", "whole"])
def test_the_mel_is_the_described_one(size: int, speech: np.ndarray, tmp_path: Path) -> None:
    found = mel_of_blocks(cut_up(speech, size), tmp_path)
    expected = described_mel(speech.astype(np.float64)).T
    assert found.shape == expected.shape == (1 + len(speech) // 200, 80)
    assert float(np.abs(found - expected).max()) < 2e-3
    assert found.min() == FLOOR == expected.min() and found.max() > 1.0


def test_a_sound_of_nothing_has_no_columns(tmp_path: Path) -> None:
    for count in (0, 1, 400):
        assert mel_of_blocks([np.zeros(count, np.float32)], tmp_path).shape == (0, 80)


def test_windows_keep_time_at_every_rate() -> None:
    """Frame i begins at ⌊80 i / fps⌋, exactly, after three hours too; a later mouth hears earlier sound."""
    assert [first_column(i, Fraction(25)) for i in range(6)] == [0, 3, 6, 9, 12, 16]
    for rate in (Fraction(24000, 1001), Fraction(30000, 1001), Fraction(60000, 1001), Fraction(50)):
        frame = round(3 * 3600 * rate)
        assert first_column(frame, rate) == frame * 80 * rate.denominator // rate.numerator
    assert first_column(0, Fraction(25), Fraction(1, 10)) == -8
    assert first_column(25, Fraction(25), Fraction(-1, 10)) == 88


def test_beyond_the_sound_and_between_words_there_is_silence() -> None:
    mel = np.arange(20, dtype=np.float32)[:, None].repeat(80, axis=1)
    silent = np.zeros(20, np.bool_)
    silent[5:8] = True
    sound = Sound(mel, silent)
    assert sound.window(4, 16)[0].tolist() == [4, -4, -4, -4, *range(8, 20)]
    assert sound.window(12, 16)[79].tolist() == [*range(12, 20), *[-4] * 8]
    assert sound.window(-3, 16)[0].tolist() == [-4, -4, -4, *range(5), -4, -4, -4, *range(8, 13)]
    assert (sound.window(-40, 16) == -4).all() and (sound.window(100, 16) == -4).all()
