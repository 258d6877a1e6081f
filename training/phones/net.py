"""The network of ``pipelines.phones.network`` as torch trains it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pipelines.phones.classes import COUNT
from pipelines.phones.features import BANDS
from pipelines.phones.network import DILATIONS

Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]

WIDTH, TAPS = 128, 3
CURVES = ("opening", "width", "shut")  # of the lips: learnt beside the classes, not kept
BEGINNING = 0.005  # deviation of the stacked layers' first weights: as next to nothing, they learn from the first step


class PhoneNet(nn.Module):
    """Log-mel to class scores and, to learn them the better, mouth curves."""

    def __init__(self) -> None:
        super().__init__()
        self.front = nn.Conv1d(BANDS, WIDTH, 5, stride=2, padding=2)
        self.norms = [nn.BatchNorm1d(WIDTH) for _ in DILATIONS]
        self.blocks = [
            nn.Conv1d(WIDTH, WIDTH, TAPS, padding=TAPS // 2 * gap, dilation=gap) for gap in DILATIONS
        ]
        self.stack = nn.ModuleList([*self.norms, *self.blocks])  # makes the lists' weights known to torch
        for block in self.blocks:
            nn.init.normal_(block.weight, std=BEGINNING)
        self.phones = nn.Conv1d(WIDTH, COUNT, 1)
        self.mouth = nn.Conv1d(WIDTH, len(CURVES), 1)

    def forward(self, mel: Tensor) -> tuple[Tensor, Tensor]:
        """(b, BANDS, 2n) → class scores (b, COUNT, n), curves (b, 3, n)."""
        hidden = self.front(mel)
        for norm, block in zip(self.norms, self.blocks, strict=True):
            hidden = hidden + block(torch.relu(norm(hidden)))
        hidden = torch.relu(hidden)
        return self.phones(hidden), self.mouth(hidden)

    def _layers(self) -> dict[str, nn.Conv1d]:
        named = {"front": self.front, "phones": self.phones}
        return named | {f"block{number}": block for number, block in enumerate(self.blocks)}

    def arrays(self, log_prior: Floats) -> dict[str, Halves]:
        """Weights by the names the product reads, normalisation as a factor and a shift."""
        found: dict[str, npt.NDArray[np.generic]] = {"log_prior": log_prior}
        for name, layer in self._layers().items():
            found[f"{name}.weight"] = layer.weight.detach().numpy()
            found[f"{name}.bias"] = _bias(layer).detach().numpy()
        for number, norm in enumerate(self.norms):
            mean, variance = _moments(norm)
            scale = (norm.weight / torch.sqrt(variance + norm.eps)).detach()
            found[f"block{number}.scale"] = scale.numpy()
            found[f"block{number}.shift"] = (norm.bias - mean * scale).detach().numpy()
        return {name: array.astype(np.float16) for name, array in found.items()}


def _bias(layer: nn.Conv1d) -> Tensor:
    if layer.bias is None:
        raise TypeError("every layer of the network has a bias")
    return layer.bias


def _moments(norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    if norm.running_mean is None or norm.running_var is None:
        raise TypeError("the network's normalisation keeps its moments")
    return norm.running_mean, norm.running_var
