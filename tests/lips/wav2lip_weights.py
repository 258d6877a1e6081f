"""Weights for tests: the real network, with random numbers that let sound and face through to a picture with contrast."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from pipelines.lipsync.wav2lip.network import Block, Generator


def random_generator(seed: int = 3) -> Generator:
    """The whole network; normalisations too are unlike the identity, so that a mistake in folding them shows."""
    source = torch.Generator().manual_seed(seed)
    network = Generator().eval().requires_grad_(False)
    for part in network.modules():
        if isinstance(part, nn.Conv2d | nn.ConvTranspose2d):
            reach = part.kernel_size[0] * part.kernel_size[1] / (part.stride[0] * part.stride[1])
            up = isinstance(part, nn.ConvTranspose2d)
            fan = part.in_channels * (reach if up else part.kernel_size[0] * part.kernel_size[1])
            part.weight.normal_(0, (2 / fan) ** 0.5, generator=source)
            assert part.bias is not None
            part.bias.normal_(0, 0.05, generator=source)
        if isinstance(part, nn.BatchNorm2d):
            assert part.running_mean is not None and part.running_var is not None
            part.running_mean.normal_(0, 0.1, generator=source)
            part.running_var.uniform_(1.0, 2.0, generator=source)
            part.weight.uniform_(0.8, 1.2, generator=source)
            part.bias.normal_(0, 0.1, generator=source)
            assert part.num_batches_tracked is not None
            part.num_batches_tracked.fill_(7)
        if isinstance(part, Block) and part.residual:
            part.conv_block[1].weight.mul_(0.3)  # a sum of two signals each time: they would grow without end
    network.output_block[1].weight.mul_(0.1)
    return network


def save_random(path: Path, seed: int = 3) -> Path:
    """A file as people download it, without the optimiser."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"state_dict": random_generator(seed).state_dict(), "global_step": 1}, path)
    return path
