"""Reading Wav2Lip's weights from any file they are passed around as, without running code that lies in it.

Known forms: a plain dictionary of tensors; the trainer's checkpoint, which holds it under ``state_dict`` beside the
optimiser; either with ``module.`` before each name (trained on several cards); and a TorchScript archive, which newer
downloads from the authors are.
"""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from pipelines.errors import Message, WeightsMissing
from pipelines.lipsync.wav2lip.network import Generator

PREFIX = "module."
NESTED = ("state_dict", "model", "generator")
# Files of the same project or trade that get mixed up with the generator, by a name found in them.
STRANGERS = (
    ("face_encoder.0.conv_block.0.weight", "the lip-sync expert (a judge used in training)"),
    ("binary_pred.0.weight", "the visual quality discriminator (a judge used in training)"),
    ("netcnnlip.0.weight", "SyncNet (a scorer)"),
    ("conv1_1.weight", "the face detector S3FD"),
)
Tensors = dict[str, torch.Tensor]


def load_generator(path: Path) -> Generator:
    """The network of a file, on the CPU in 32-bit numbers, ready for drawing, its normalisations as in the file.

    Raises:
        WeightsMissing: the file is not Wav2Lip's generator; the message says what was found in it.
    """
    tensors = read_tensors(path)
    with torch.device("meta"):
        network = Generator()
    expected = network.state_dict()
    _compare(path, expected, tensors)
    network.load_state_dict(
        {name: _as(tensors[name], value) for name, value in expected.items()}, assign=True
    )
    return network.requires_grad_(False).eval()


def read_tensors(path: Path) -> Tensors:
    """The tensors of a file by their names, without ``module.``.

    Raises:
        WeightsMissing: there are none that can be read.
    """
    content = _read(path)
    for name in NESTED:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
            break
    if not isinstance(content, Mapping):
        raise _wrong(path, f"a {type(content).__name__} instead of named tensors")
    found = {
        str(name).removeprefix(PREFIX): value
        for name, value in content.items()
        if isinstance(value, torch.Tensor)
    }
    if not found:
        raise _wrong(path, f"no tensors, but {', '.join(map(str, list(content)[:5])) or 'nothing'}")
    return found


def _read(path: Path) -> Any:
    try:
        if _is_script(path):
            archive: Any = torch.jit.load(str(path), map_location="cpu")  # type: ignore[no-untyped-call]
            return archive.state_dict()
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as problem:
        raise _wrong(path, problem.strerror or str(problem)) from problem
    except (
        RuntimeError,
        ValueError,
        EOFError,
        KeyError,
        pickle.UnpicklingError,
        zipfile.BadZipFile,
    ) as problem:
        raise _wrong(path, _appearance(path)) from problem


def _is_script(path: Path) -> bool:
    """Whether it is an archive with code in it; torch's own test for TorchScript."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def _appearance(path: Path) -> str:
    """What a file that torch does not read looks like: often a web page or a pointer took the download's place."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(64).lstrip()
    if start[:1] == b"<":
        return f"a web page of {size:,} bytes"
    if start.startswith(b"version https://git-lfs"):
        return "a pointer to the file (Git LFS) instead of the file"
    return f"{size:,} bytes that are no torch file of plain tensors"


def _compare(path: Path, expected: Tensors, found: Tensors) -> None:
    for name, what in STRANGERS:
        if name in found:
            raise _wrong(path, what)
    lacking = [name for name in expected if name not in found]
    surplus = [name for name in found if name not in expected]
    if lacking or surplus:
        said = [
            f"{len(names)} tensors {word} ({', '.join(names[:2])})"
            for names, word in ((lacking, "lacking"), (surplus, "too many"))
            if names
        ]
        raise _wrong(path, " and ".join(said))
    for name, tensor in expected.items():
        if found[name].shape != tensor.shape:
            raise _wrong(path, f"{name} of shape {tuple(found[name].shape)} instead of {tuple(tensor.shape)}")


def _as(tensor: torch.Tensor, model: torch.Tensor) -> torch.Tensor:
    """In the model's number format (files in half precision are about)."""
    return tensor.detach().to(model.dtype).contiguous()


def _wrong(path: Path, what: str) -> WeightsMissing:
    return WeightsMissing(
        Message(
            f"This file is not Wav2Lip's generator: it holds {what}",
            f"该文件不是 Wav2Lip 生成器,其内容为:{what}",
        ),
        Message(
            "Put wav2lip.pth or wav2lip_gan.pth in its place (see weights/README.md).",
            "请换成 wav2lip.pth 或 wav2lip_gan.pth(见 weights/README.md)。",
        ),
        str(path),
    )
