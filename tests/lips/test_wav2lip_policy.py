"""Every field of the policy, obeyed by a network at work: each test fails when its field is ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pipelines import faces, media
from pipelines.backend.guard import Step
from pipelines.backend.policy import Policy, choose
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.store import JobStore
from pipelines.lipsync import LIP_ENGINES, EngineContext, LipDrive, LipRun
from pipelines.lipsync.wav2lip.framing import boxes_of
from pipelines.lipsync.wav2lip.network import Generator
from pipelines.lipsync.wav2lip.synthesis import Synthesis
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Frame, Phone, VideoInfo
from tests.jobs.conftest import run
from tests.lips.flows import FLOWS
from tests.setup.test_backend import CUDA, RAPHAEL, ROCM, XTX

FRAMES = 8
SAFE = replace(choose(ROCM, environment={}), device="cpu")  # an AMD card, played by the CPU
HALF = replace(choose(ROCM, safe_mode=False, environment={}), device="cpu")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    threads, benchmark = torch.get_num_threads(), torch.backends.cudnn.benchmark
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    torch.backends.cudnn.benchmark = benchmark


@pytest.fixture(scope="module")
def path(wav2lip_settings: Settings) -> Path:
    return wav2lip_settings.weights / "wav2lip" / "wav2lip.pth"


@pytest.fixture(scope="module")
def clip(cut: Callable[..., Path]) -> VideoInfo:
    return media.probe(cut("talk_512_8s", 0, FRAMES / 25, "scale=320:320"))


class Seen(TorchDispatchMode):
    """Number formats of all tensors, devices and batches of all convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.formats: set[torch.dtype] = set()
        self.devices: set[str] = set()
        self.batches: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        tensors = [tensor for tensor in (*args, made) if isinstance(tensor, torch.Tensor)]
        self.formats |= {tensor.dtype for tensor in tensors if tensor.is_floating_point()}
        if "conv" in str(func) and args[0].dim() == 4:
            self.devices.add(args[0].device.type)
            self.batches.add(len(args[0]))
        return made


def seen(path: Path, policy: Policy, count: int = 1) -> Seen:
    """What a drawing of ``count`` faces computes with."""
    source = np.random.default_rng(2)
    synthesis = Synthesis(path, policy)
    with Seen() as found:
        sounds = list(source.random((count, 80, 16), np.float32))
        pictures = list(source.integers(0, 255, (count, 96, 96, 3), np.uint8))
        synthesis.draw(sounds, pictures)
    return found


def test_precision(path: Path) -> None:
    """In safe mode every tensor is 32-bit; outside it the network computes in the format of the policy."""
    assert SAFE.precision == "float32" and HALF.precision == "bfloat16"
    assert seen(path, replace(SAFE, batch=1)).formats == {torch.float32}
    assert torch.bfloat16 in seen(path, replace(HALF, batch=1)).formats
    without = replace(choose(ROCM, safe_mode=False, no_half=True, environment={}), device="cpu", batch=1)
    assert seen(path, without).formats == {torch.float32}


def test_batch(path: Path) -> None:
    """So many at once, never another number: a rest is filled up."""
    assert seen(path, replace(SAFE, batch=3), count=2).batches == {3}
    with pytest.raises(ValueError, match="4 faces in batches of 3"):
        seen(path, replace(SAFE, batch=3), count=4)


def test_device(path: Path) -> None:
    synthesis = Synthesis(path, replace(SAFE, device="meta", batch=1))
    picture, sound = np.zeros((96, 96, 3), np.uint8), np.zeros((80, 16), np.float32)
    with Seen() as found, pytest.raises(NotImplementedError, match="meta tensor"):
        synthesis.draw([sound], [picture])  # nothing that could be fetched was computed
    assert found.devices == {"meta"}


def test_threads(path: Path) -> None:
    Synthesis(path, Policy(threads=2))
    assert torch.get_num_threads() == 2
    Synthesis(path, Policy(threads=1))
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        ({}, []),
        ({"compile": True}, [{"mode": "default", "dynamic": False}]),
        ({"graphs": True}, [{"backend": "cudagraphs", "dynamic": False}]),
        ({"compile": True, "graphs": True}, [{"mode": "reduce-overhead", "dynamic": False}]),
    ],
)
def test_compile_and_graphs(
    flags: dict[str, bool], asked: list[dict[str, Any]], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []

    def note(network: Generator, **how: Any) -> Generator:
        compiled.append(how)
        return network

    monkeypatch.setattr(torch, "compile", note)
    Synthesis(path, replace(choose(CUDA, environment={}, **flags), device="cpu"))  # type: ignore[arg-type]
    assert compiled == asked
    Synthesis(path, replace(choose(CUDA, safe_mode=True, environment={}), device="cpu"))
    assert compiled == asked, "not in safe mode"


def test_benchmark(path: Path) -> None:
    Synthesis(path, replace(choose(CUDA, environment={}), device="cpu"))
    assert torch.backends.cudnn.benchmark
    Synthesis(path, SAFE)
    assert not torch.backends.cudnn.benchmark


class Network:
    """Stands in for the drawing and remembers what it was given: it draws what it sees, brightened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.faces: list[Frame] = []
        monkeypatch.setattr(Synthesis, "draw", self.draw)

    def draw(self, sounds: list[np.ndarray], pictures: list[Frame]) -> np.ndarray:
        self.faces += pictures
        return np.stack(pictures).astype(np.float32) + 40


def synced(info: VideoInfo, settings: Settings, policy: Policy, sound: Path) -> LipRun:
    (track,) = faces.analyse(replace(info, fps=Fraction(25)), settings, NullReport())
    drive = LipDrive(tuple(range(FRAMES)), (Phone(0.0, 9.0, "a"),), sound)
    return LIP_ENGINES.get("wav2lip", EngineContext(settings, policy)).sync(info, track, drive, NullReport())


def test_short_side_cap(
    clip: VideoInfo, wav2lip_settings: Settings, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network sees faces of the reduced picture; what it draws is laid into the whole one."""
    assert SAFE.short_side_cap == 720 and HALF.short_side_cap is None
    network = Network(monkeypatch)
    sound = data / "speech" / "en_jfk.flac"
    capped = synced(clip, wav2lip_settings, replace(SAFE, short_side_cap=80), sound)
    (first,) = capped.draw(0, 1)
    free = synced(clip, wav2lip_settings, replace(SAFE, short_side_cap=None), sound)
    next(free.draw(0, 1))
    assert first.shape == (320, 320, 3) and capped.signature(0, 1) != free.signature(0, 1)
    source = next(iter(media.read_frames(clip, wav2lip_settings)))
    (track,) = faces.analyse(clip, wav2lip_settings, NullReport())
    x0, y0, x1, y1 = boxes_of(track)[0].tolist()
    size = (round((x1 - x0) / 4), round((y1 - y0) / 4))  # 320 px to 80
    small = cv2.resize(source[y0:y1, x0:x1], size, interpolation=cv2.INTER_AREA)
    assert max(small.shape[:2]) < 60
    expected = cv2.resize(small, (96, 96), interpolation=cv2.INTER_CUBIC)
    with_cap, without = (network.faces[row].astype(float) for row in (0, 1))
    assert np.abs(with_cap - expected).max() <= 1 < 3 < np.abs(without - expected).mean()


def test_fps_cap(
    clip: VideoInfo, wav2lip_settings: Settings, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 50 frames a second a drawing serves two of them, 25 drawings a second; no frame is left out."""
    assert SAFE.fps_cap == 30 and HALF.fps_cap is None
    fast, sound = replace(clip, fps=Fraction(50)), data / "speech" / "en_jfk.flac"
    drawings = {}
    for name, policy, info in (("safe", SAFE, fast), ("free", HALF, fast), ("slow", SAFE, clip)):
        network = Network(monkeypatch)
        run = synced(info, wav2lip_settings, policy, sound)
        frames = list(run.frames)
        drawings[name] = (len(frames), len(network.faces), int(run.report.measures["mouths"]))
    assert drawings == {"safe": (8, 4, 4), "free": (8, 8, 8), "slow": (8, 8, 8)}


def test_frames_with_one_drawing_are_the_same_wherever_drawing_begins(
    clip: VideoInfo, wav2lip_settings: Settings, data: Path
) -> None:
    run = synced(
        replace(clip, fps=Fraction(50)),
        wav2lip_settings,
        replace(SAFE, batch=2),
        data / "speech" / "en_jfk.flac",
    )
    whole = list(run.frames)
    for first, last in ((1, 2), (3, 6), (7, 8)):
        alone = list(run.draw(first, last))
        assert all(np.array_equal(one, two) for one, two in zip(alone, whole[first:last], strict=True))
        assert len(alone) == last - first


def test_environment_and_a_smaller_batch_in_the_real_worker(
    clip: VideoInfo, wav2lip_settings: Settings, data: Path, tmp_path: Path
) -> None:
    """A card with room for one of two faces: the batch is halved, the job ends well, on the card."""
    both = replace(ROCM, devices=(RAPHAEL, replace(XTX, index=1)))
    policy = replace(choose(both, environment={}), device="cpu", threads=2, batch=2)
    assert {"MIOPEN_FIND_MODE", "HIP_VISIBLE_DEVICES", "OMP_NUM_THREADS"} == set(policy.environment)
    settings = replace(wav2lip_settings, jobs=tmp_path / "jobs")
    steps: list[Step] = []
    executor = LocalExecutor(JobStore(settings), settings, policy=policy, flows=FLOWS, fell_back=steps.append)
    try:
        view = run(
            executor, "small-card", face=str(clip.path), audio=str(data / "speech" / "en_jfk.flac"), room=1
        )
    finally:
        executor.close()
    assert view.state == "done", view.error
    assert (view.folder / "tries.txt").read_text().splitlines() == ["rocm 2", "rocm 1"]
    assert [(step.trouble, step.policy.batch) for step in steps] == [("oom_batch", 1)]
    assert view.notes[0].en == "The graphics card ran out of memory: again with at most 1 at once"
    assert view.result["frames"] == FRAMES
    there = view.result["environment"]
    assert {name: there.get(name) for name in policy.environment} == policy.environment
