"""CTranslate2's ``model.bin`` as torch tensors under the names of the usual Whisper checkpoints.

The format (binary version 6, https://github.com/OpenNMT/CTranslate2, ``specs/model_spec.py``): version, name and revision
of the specification; then every variable with name, shape, number format and bytes; then aliases. Linear weights may be
stored as integers beside a ``…_scale``. Queries, keys and values of an attention are one matrix, one below the other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch

from pipelines.errors import Message, WeightsMissing

VERSIONS = (5, 6)  # layouts that differ in nothing that concerns Whisper
SPECIFICATION, REVISION = "WhisperSpec", 3
FORMATS = (torch.float32, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16)
INTEGERS = (torch.int8, torch.int16)
SCALE = "_scale"

Tensors = Mapping[str, torch.Tensor]


def read_variables(path: Path) -> dict[str, torch.Tensor]:
    """Every variable of the file by its own name, integers with a scale turned back into float32.

    Raises:
        WeightsMissing: the file is no Whisper model of CTranslate2, is of an unknown version, or ends too early.
    """
    try:
        with path.open("rb") as file:
            variables = dict(_variables(file))
    except (struct.error, UnicodeDecodeError, IndexError, ValueError) as problem:
        raise _unreadable(path, f"{problem}") from problem
    return {
        name: _dequantised(tensor, variables.get(name + SCALE))
        for name, tensor in variables.items()
        if not name.endswith(SCALE)
    }


def _variables(file: BinaryIO) -> Iterator[tuple[str, torch.Tensor]]:
    version, name = *_numbers(file, "<I"), _text(file)
    (revision,) = _numbers(file, "<I")
    if version not in VERSIONS or name != SPECIFICATION or revision > REVISION:
        raise ValueError(f"{name!r} revision {revision} in binary version {version}")
    found: dict[str, torch.Tensor] = {}
    for _ in range(*_numbers(file, "<I")):
        key = _text(file)
        (rank,) = _numbers(file, "<B")
        shape = _numbers(file, f"<{rank}I")
        code, size = _numbers(file, "<BI")
        found[key] = _tensor(file.read(size), size, FORMATS[code], shape)
        yield key, found[key]
    for _ in range(*_numbers(file, "<I")):
        alias, original = _text(file), _text(file)
        yield alias, found[original]


def _numbers(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))


def _text(file: BinaryIO) -> str:
    (length,) = _numbers(file, "<H")
    return file.read(length)[:-1].decode("utf-8")  # ends with a zero


def _tensor(data: bytes, size: int, kind: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    if len(data) != size:
        raise ValueError("the file ends too early")
    return torch.frombuffer(bytearray(data), dtype=kind).reshape(shape)


def _dequantised(tensor: torch.Tensor, scale: torch.Tensor | None) -> torch.Tensor:
    """int8 has one scale for every row, int16 one for all."""
    if scale is None or tensor.dtype not in INTEGERS:
        return tensor
    return tensor.float() / scale.float().reshape(-1, *[1] * (tensor.dim() - 1))


def _unreadable(path: Path, what: str) -> WeightsMissing:
    return WeightsMissing(
        Message(
            f"{path.name} is not a Whisper model of CTranslate2: {what}",
            f"{path.name} 不是 CTranslate2 格式的 Whisper 模型:{what}",
        ),
        Message(
            "Move it away and fetch it again (System → Weights, or `python app.py weights`).",
            "请将其移走后重新获取(“系统”→“模型文件”,或 `python app.py weights`)。",
        ),
        str(path),
    )


def named_as_checkpoint(variables: Tensors) -> dict[str, torch.Tensor]:
    """The network's tensors under the names of OpenAI's checkpoints as transformers saves them.

    Raises:
        KeyError: a variable is not there.
    """
    named = {"model.decoder.embed_tokens.weight": variables["decoder/embeddings/weight"]}
    for convolution in ("conv1", "conv2"):
        for kind in ("weight", "bias"):
            named[f"model.encoder.{convolution}.{kind}"] = variables[f"encoder/{convolution}/{kind}"]
    for part in ("encoder", "decoder"):
        named |= _norm(variables, f"{part}/layer_norm", f"model.{part}.layer_norm")
        positions = variables[f"{part}/position_encodings/encodings"]
        named[f"model.{part}.embed_positions.weight"] = positions
        for number in range(layers(variables, part)):
            named |= _layer(variables, f"{part}/layer_{number}", f"model.{part}.layers.{number}")
    return named


def layers(variables: Tensors, part: str) -> int:
    """How many layers the encoder or decoder has."""
    return len(
        {name.split("/")[1] for name in variables if name.startswith(f"{part}/layer_") and "ffn" in name}
    )


def _norm(variables: Tensors, source: str, target: str) -> dict[str, torch.Tensor]:
    return {
        f"{target}.weight": variables[f"{source}/gamma"],
        f"{target}.bias": variables[f"{source}/beta"],
    }


def _layer(variables: Tensors, source: str, target: str) -> dict[str, torch.Tensor]:
    named = _attention(variables, f"{source}/self_attention", f"{target}.self_attn")
    if f"{source}/attention/linear_0/weight" in variables:
        named |= _attention(variables, f"{source}/attention", f"{target}.encoder_attn")
    named |= _norm(variables, f"{source}/ffn/layer_norm", f"{target}.final_layer_norm")
    for number, name in enumerate(("fc1", "fc2")):
        for kind in ("weight", "bias"):
            named[f"{target}.{name}.{kind}"] = variables[f"{source}/ffn/linear_{number}/{kind}"]
    return named


def _attention(variables: Tensors, source: str, target: str) -> dict[str, torch.Tensor]:
    """One attention with the norm before it; the rows of fused matrices parted, the keys' bias (all zeros) left out."""
    named = _norm(variables, f"{source}/layer_norm", f"{target}_layer_norm")
    fused_in_one = f"{source}/linear_2/weight" not in variables
    for kind in ("weight", "bias"):
        first = variables[f"{source}/linear_0/{kind}"]
        if fused_in_one:
            query, key, value = first.chunk(3)
            output = variables[f"{source}/linear_1/{kind}"]
        else:
            query = first
            key, value = variables[f"{source}/linear_1/{kind}"].chunk(2)
            output = variables[f"{source}/linear_2/{kind}"]
        parts = {"q_proj": query, "k_proj": key, "v_proj": value, "out_proj": output}
        named |= {f"{target}.{name}.{kind}": tensor for name, tensor in parts.items()}
    del named[f"{target}.k_proj.bias"]
    return named
