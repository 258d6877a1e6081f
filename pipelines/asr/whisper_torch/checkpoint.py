"""A Whisper folder, CTranslate2's or a Hugging Face one, as a network and what has to be known to use it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pipelines.asr.whisper_torch.ctranslate2_file import Tensors, named_as_checkpoint, read_variables
from pipelines.asr.whisper_torch.network import Network, Size
from pipelines.errors import Message, WeightsMissing


@dataclass(frozen=True, slots=True)
class Facts:
    """What a model's folder says beside its weights.

    Attributes:
        alignment_heads: (layer, head) of the decoder whose attention follows the speech.
        languages: tokens of the languages; none: English only.
        suppressed_first: tokens a text does not begin with.
    """

    alignment_heads: tuple[tuple[int, int], ...]
    languages: tuple[int, ...]
    suppressed_first: tuple[int, ...]


def load(folder: Path, device: torch.device, precision: torch.dtype) -> tuple[Network, Facts]:
    """The network on its device, ready to be used.

    Raises:
        WeightsMissing: a file is absent or is not what it should be.
    """
    ours = (folder / "model.bin").is_file()
    facts = _facts(_json(folder / ("config.json" if ours else "generation_config.json")), ours)
    try:
        if ours:
            variables = read_variables(folder / "model.bin")
            tensors = named_as_checkpoint(variables)
            heads = int(variables["decoder/num_heads"])
        else:
            tensors = _safetensors(folder)
            heads = int(_json(folder / "config.json")["decoder_attention_heads"])
        network = _network(tensors, heads, precision)
    except (KeyError, RuntimeError) as problem:
        raise _wrong(folder, str(problem).strip().splitlines()[0][:200]) from problem
    network.requires_grad_(False).eval().to(device)
    return network, _completed(facts, network.size)


def _network(tensors: Tensors, heads: int, precision: torch.dtype) -> Network:
    """A network of the tensors' sizes with these tensors in it, in the number format asked for.

    Raises:
        RuntimeError: a tensor is lacking, left over or of another shape. KeyError: one that tells a size is not there.
    """
    vocabulary, width = tensors["model.decoder.embed_tokens.weight"].shape
    size = Size(
        mels=tensors["model.encoder.conv1.weight"].shape[1],
        width=width,
        heads=heads,
        encoder_layers=_count(tensors, "encoder"),
        decoder_layers=_count(tensors, "decoder"),
        hidden=tensors["model.encoder.layers.0.fc1.weight"].shape[0],
        vocabulary=vocabulary,
        frames=tensors["model.encoder.embed_positions.weight"].shape[0],
        tokens=tensors["model.decoder.embed_positions.weight"].shape[0],
    )
    with torch.device("meta"):
        network = Network(size)
    network.load_state_dict({name: tensor.to(precision) for name, tensor in tensors.items()}, assign=True)
    return network


def _count(tensors: Tensors, part: str) -> int:
    return len({name.split(".")[3] for name in tensors if name.startswith(f"model.{part}.layers.")})


def _safetensors(folder: Path) -> dict[str, torch.Tensor]:
    """All ``*.safetensors`` of a folder (never pickles: they can run code), without the copy of the embedding."""
    from safetensors.torch import load_file

    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise _wrong(folder, "neither model.bin nor *.safetensors")
    tensors = {name: tensor for file in files for name, tensor in load_file(file).items()}
    tensors.pop("proj_out.weight", None)
    return tensors


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise _wrong(path.parent, f"{path.name}: {problem}") from problem
    if not isinstance(found, dict):
        raise _wrong(path.parent, path.name)
    return found


def _facts(found: dict[str, Any], ours: bool) -> Facts:
    languages = found.get("lang_ids") if ours else sorted((found.get("lang_to_id") or {}).values())
    first = found.get("suppress_ids_begin" if ours else "begin_suppress_tokens")
    heads = found.get("alignment_heads") or ()
    return Facts(tuple((layer, head) for layer, head in heads), tuple(languages or ()), tuple(first or ()))


def _completed(facts: Facts, size: Size) -> Facts:
    """Where no heads are named, all of the decoder's upper half follow the speech well enough."""
    if facts.alignment_heads:
        return facts
    upper = range(size.decoder_layers // 2, size.decoder_layers)
    heads = tuple((layer, head) for layer in upper for head in range(size.heads))
    return Facts(heads, facts.languages, facts.suppressed_first)


def _wrong(folder: Path, what: str) -> WeightsMissing:
    return WeightsMissing(
        Message(
            f"This folder holds no Whisper model that can be read: {what}",
            f"该文件夹中没有可读取的 Whisper 模型:{what}",
        ),
        Message(
            "Fetch it again (System → Weights), or choose another folder.",
            "请重新获取(“系统”→“模型文件”)或选择其他文件夹。",
        ),
        str(folder),
    )
