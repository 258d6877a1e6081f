"""The application as a whole: nothing registered is missing, starting is light, the libraries it is named for do work."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache

import pytest

from pipelines.flows import FLOWS
from tests.setup.test_imports import ROOT, engine_modules, imports, sources, within

HEAVY = (
    "torch",
    "torchaudio",
    "mediapipe",
    "cv2",
    "onnxruntime",
    "ctranslate2",
    "faster_whisper",
    "librosa",
    "transformers",
)
# What each of these does for a user, and where (docs/ARCHITECTURE.md); every place must be reached from a flow or the page,
# and the job itself is done in test_card.py.
CARD = {
    "gradio": ("the page", "ui"),
    "torch": ("Whisper on AMD cards and Apple chips", "pipelines.asr.whisper_torch"),
    "torchaudio": ("what that Whisper hears: log-mel features", "pipelines.asr.whisper_torch"),
    "cv2": ("warps, blending, optical checks", "pipelines.lipsync"),
    "mediapipe": ("faces and their landmarks", "pipelines.faces"),
    "ffmpeg": ("every ffmpeg command line", "pipelines.media"),
    "librosa": ("pitch of the reference and of the dubbed voice", "pipelines.voice"),
}


def test_every_registered_engine_and_flow_has_its_module() -> None:
    for module in engine_modules():
        assert module in sources(), f"{module} is registered but not there"
    for kind, target in FLOWS.items():
        assert target.partition(":")[0] in sources(), f"the flow {kind} is named but not there"


@pytest.mark.parametrize("root", ["ui.server", "commands.main"])
def test_starting_loads_no_engine(root: str) -> None:
    """In a fresh interpreter, importing the page or the command line loads none of the heavy libraries."""
    if root not in sources():
        pytest.fail(f"{root} is not there")
    code = f"import sys, {root}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


@cache
def reached() -> frozenset[str]:
    """Every module that can run: from the flows, the engines, the page, the commands and the probe's child."""
    waiting = [target.partition(":")[0] for target in FLOWS.values()]
    waiting += [
        *engine_modules(),
        "app",
        "ui.server",
        "commands.main",
        "pipelines.jobs.worker",
        "pipelines.backend.trial",
    ]
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in seen or module not in sources():
            continue
        seen.add(module)
        waiting += [*imports(module), *_named(module), module.rpartition(".")[0]]
    return frozenset(seen)


def _named(module: str) -> list[str]:
    """Modules of ours that stand in a string: registrations such as ``pipelines.g2p.mandarin``."""
    tree = ast.parse(sources()[module].read_text(encoding="utf-8"))
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [text.partition(":")[0] for text in texts if text.partition(":")[0] in sources()]


@pytest.mark.parametrize("package", CARD)
def test_the_libraries_on_the_card_do_their_job(package: str) -> None:
    job, place = CARD[package]
    users = [module for module in reached() if any(within(name, package) for name in imports(module))]
    assert [module for module in users if within(module, place)], (
        f"{package} ({job}) is not used in {place}: {users}"
    )
