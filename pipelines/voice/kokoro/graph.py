"""Kokoro's ONNX graph, opened: durations, pitch and energy come out, may be changed, and go back in.

The published graph (tokens, style, speed → audio) is cut once into three that give the same samples to the bit when
nothing is changed: *plan* (text → frames per token), *curves* (frames → pitch and energy), *sound* (all → samples).
The parts lie in the cache, named after the weights file they were cut from.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipelines.errors import Message, WeightsMissing
from pipelines.files import part_file
from pipelines.g2p.symbols import SYMBOLS

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Floats = npt.NDArray[np.float32]

SR = 24000
FRAME = 600  # samples of one duration frame: 25 ms
SECONDS = FRAME / SR
MOST = 510  # phonemes the text encoder takes at once
FORMAT = 1  # of the parts in the cache
MODEL = "kokoro-v1.0.int8.onnx"

# Names inside the export kokoro-v1.0 (thewh1teagle/kokoro-onnx).
LENGTHS = "/encoder/Div_output_0"
FRAMES = "/encoder/Round_output_0"
HIDDEN = "/encoder/predictor/text_encoder/Concat_4_output_0"
TEXT = "/encoder/text_encoder/Transpose_2_output_0"
PITCH = "/encoder/F0_proj/Conv_output_0"
ENERGY = "/encoder/N_proj/Conv_output_0"
PARTS = {
    "plan": (("tokens", "style", "speed"), (LENGTHS, HIDDEN, TEXT)),
    "curves": ((HIDDEN, FRAMES, "style"), (PITCH, ENERGY)),
    "sound": ((TEXT, FRAMES, PITCH, ENERGY, "style"), ("audio",)),
}
SHAPES = {
    FRAMES: (1, "tokens"), HIDDEN: (1, "tokens", 640), TEXT: (1, 512, "tokens"),
    PITCH: (1, 1, "halves"), ENERGY: (1, 1, "halves"), LENGTHS: (1, "tokens"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """What the text encoder says about a line of n phonemes.

    lengths: float32 (n + 2,), natural frames per token, not rounded; first and last are the pauses around the line.
    hidden, text: inner features, float32 (1, n + 2, 640) and (1, 512, n + 2).
    style: float32 (1, 256), the row of the voice that was used.
    """

    lengths: Floats
    hidden: Floats
    text: Floats
    style: Floats


@dataclass(frozen=True, slots=True)
class Curves:
    """Pitch in Hz (below about 20: unvoiced) and log energy, float32 (2 × frames,), one value per 12.5 ms."""

    pitch: Floats
    energy: Floats


def cut(model: Path, folder: Path) -> None:
    """Write plan.onnx, curves.onnx and sound.onnx into ``folder`` (all or none of the names appear)."""
    import onnx
    from onnx import TensorProto, helper
    from onnx.utils import Extractor

    whole = onnx.load(str(model))
    for name, shape in SHAPES.items():
        for info in [info for info in whole.graph.value_info if info.name == name]:
            whole.graph.value_info.remove(info)
        whole.graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)))
    extractor = Extractor(whole)
    for part, (inputs, outputs) in PARTS.items():
        with part_file(folder / f"{part}.onnx") as path:
            onnx.save(extractor.extract_model(list(inputs), list(outputs)), str(path))


class Graph:
    """The three parts, each loaded when first used."""

    def __init__(self, weights: Path, cache: Path, threads: int) -> None:
        self._weights = weights
        self._cache = cache
        self._threads = threads
        self.ids = _vocabulary(weights / "vocab.json")

    @cached_property
    def _folder(self) -> Path:
        model = self._weights / MODEL
        facts = model.stat()
        key = hashlib.sha256(f"{FORMAT} {facts.st_size} {facts.st_mtime_ns}".encode()).hexdigest()[:16]
        folder = self._cache / "kokoro" / key
        if not all((folder / f"{part}.onnx").is_file() for part in PARTS):
            cut(model, folder)
        return folder

    def _session(self, part: str) -> InferenceSession:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = 3
        # Threads that wait for work by spinning take the processor from Whisper, ffmpeg and the face search.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(
            str(self._folder / f"{part}.onnx"), options, providers=["CPUExecutionProvider"]
        )

    @cached_property
    def _plan(self) -> InferenceSession:
        return self._session("plan")

    @cached_property
    def _curves(self) -> InferenceSession:
        return self._session("curves")

    @cached_property
    def _sound(self) -> InferenceSession:
        return self._session("sound")

    def plan(self, symbols: tuple[str, ...], style: Floats) -> Plan:
        """Natural lengths of 1 to 510 symbols in the style of one voice row, float32 (256,)."""
        tokens = np.array([[0, *(self.ids[symbol] for symbol in symbols), 0]], np.int64)
        row = style.reshape(1, 256).astype(np.float32)
        feed = {"tokens": tokens, "style": row, "speed": np.ones(1, np.float32)}
        lengths, hidden, text = self._plan.run(None, feed)
        return Plan(lengths.ravel(), hidden, text, row)

    def curves(self, plan: Plan, frames: Floats) -> Curves:
        """Pitch and energy for whole frames per token, float32 (n + 2,)."""
        feed = {HIDDEN: plan.hidden, FRAMES: frames.reshape(1, -1).astype(np.float32), "style": plan.style}
        pitch, energy = self._curves.run(None, feed)
        return Curves(pitch.ravel(), energy.ravel())

    def sound(self, plan: Plan, frames: Floats, curves: Curves) -> Floats:
        """Samples at 24 kHz, exactly 600 per frame."""
        feed = {
            TEXT: plan.text,
            FRAMES: frames.reshape(1, -1).astype(np.float32),
            PITCH: curves.pitch.reshape(1, 1, -1),
            ENERGY: curves.energy.reshape(1, 1, -1),
            "style": plan.style,
        }
        return np.asarray(self._sound.run(None, feed)[0].ravel(), np.float32)


def _vocabulary(path: Path) -> dict[str, int]:
    """Symbol → token id.

    Raises:
        WeightsMissing: the file is not there or is not that of Kokoro v1.0.
    """
    try:
        ids = {
            str(symbol): int(number)
            for symbol, number in json.loads(path.read_text("utf-8"))["vocab"].items()
        }
    except (OSError, ValueError, KeyError) as error:
        raise _wrong(path) from error
    if set(ids) != SYMBOLS:
        raise _wrong(path)
    return ids


def _wrong(path: Path) -> WeightsMissing:
    return WeightsMissing(
        Message(
            "The symbol table of Kokoro is missing or of another version", "Kokoro 的符号表缺失或版本不符"
        ),
        Message(
            "Run `bash start_app.sh --setup-only` again.", "请重新运行 `bash start_app.sh --setup-only`。"
        ),
        str(path),
    )
