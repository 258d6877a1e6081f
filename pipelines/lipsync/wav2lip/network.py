"""The generator of Wav2Lip (Prajwal et al., A Lip Sync Expert Is All You Need, 2020), written anew from its published layout.

The names of the layers are those of the public checkpoints: 352 tensors, 36 298 035 parameters.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

SIZE = 96  # px, height and width of a face
COLUMNS = 16  # of mel, the sound that one face is drawn from


class Block(nn.Module):
    """Convolution, batch normalisation, the input added where ``residual``, ReLU."""

    def __init__(self, convolution: nn.Conv2d | nn.ConvTranspose2d, *, residual: bool = False) -> None:
        super().__init__()
        self.conv_block = nn.Sequential(convolution, nn.BatchNorm2d(convolution.out_channels))
        self.residual = residual

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, inputs, h, w) → (B, outputs, h', w')."""
        y = self.conv_block(x)
        if self.residual:
            y = y + x
        return torch.relu(y)

    def fold(self) -> None:
        """Put the normalisation into the convolution: the same result (eval mode) in one step less."""
        convolution, norm = self.conv_block
        assert isinstance(convolution, nn.Conv2d | nn.ConvTranspose2d) and isinstance(norm, nn.BatchNorm2d)
        transposed = isinstance(convolution, nn.ConvTranspose2d)
        self.conv_block = nn.Sequential(fuse_conv_bn_eval(convolution, norm, transpose=transposed))


def _plain(inputs: int, outputs: int, kernel: int, stride: int | tuple[int, int], padding: int) -> Block:
    return Block(nn.Conv2d(inputs, outputs, kernel, stride, padding))


def _residual(channels: int, times: int) -> list[Block]:
    return [Block(nn.Conv2d(channels, channels, 3, 1, 1), residual=True) for _ in range(times)]


def _up(inputs: int, outputs: int, residual: int) -> nn.Sequential:
    """Twice the size."""
    doubled = nn.ConvTranspose2d(inputs, outputs, 3, stride=2, padding=1, output_padding=1)
    return nn.Sequential(Block(doubled), *_residual(outputs, residual))


def _face_encoder() -> Iterable[nn.Sequential]:
    yield nn.Sequential(_plain(6, 16, 7, 1, 3))  # 96
    for inputs, residual in ((16, 2), (32, 3), (64, 2), (128, 2), (256, 1)):  # 48, 24, 12, 6, 3
        outputs = 2 * inputs
        yield nn.Sequential(_plain(inputs, outputs, 3, 2, 1), *_residual(outputs, residual))
    yield nn.Sequential(_plain(512, 512, 3, 1, 0), _plain(512, 512, 1, 1, 0))  # 1


def _audio_encoder() -> Iterable[Block]:
    yield _plain(1, 32, 3, 1, 1)  # 80 × 16
    yield from _residual(32, 2)
    yield _plain(32, 64, 3, (3, 1), 1)  # 27 × 16
    yield from _residual(64, 2)
    yield _plain(64, 128, 3, 3, 1)  # 9 × 6
    yield from _residual(128, 2)
    yield _plain(128, 256, 3, (3, 2), 1)  # 3 × 3
    yield from _residual(256, 1)
    yield _plain(256, 512, 3, 1, 0)  # 1
    yield _plain(512, 512, 1, 1, 0)


def _face_decoder() -> Iterable[nn.Sequential]:
    """Inputs are wider than the outputs before them: the encoder's map of the same size is laid beside."""
    yield nn.Sequential(_plain(512, 512, 1, 1, 0))  # 1
    yield nn.Sequential(Block(nn.ConvTranspose2d(1024, 512, 3)), *_residual(512, 1))  # 3
    yield _up(1024, 512, 2)  # 6
    yield _up(768, 384, 2)  # 12
    yield _up(512, 256, 2)  # 24
    yield _up(320, 128, 2)  # 48
    yield _up(160, 64, 2)  # 96


class Generator(nn.Module):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self.face_encoder_blocks = nn.ModuleList(_face_encoder())
        self.audio_encoder = nn.Sequential(*_audio_encoder())
        self.face_decoder_blocks = nn.ModuleList(_face_decoder())
        self.output_block = nn.Sequential(_plain(80, 32, 3, 1, 1), nn.Conv2d(32, 3, 1))

    def forward(self, sound: torch.Tensor, faces: torch.Tensor) -> torch.Tensor:
        """Draw faces.

        Args:
            sound: (B, 1, 80, 16) mel in [−4, 4], see ``mel``.
            faces: (B, 6, 96, 96) in [0, 1]: the face, BGR, with its lower half black, then the whole face.

        Returns:
            (B, 3, 96, 96) in [0, 1], BGR.
        """
        maps = []
        for encode in self.face_encoder_blocks:
            faces = encode(faces)
            maps.append(faces)
        drawn: torch.Tensor = self.audio_encoder(sound)
        for decode in self.face_decoder_blocks:
            drawn = torch.cat((decode(drawn), maps.pop()), dim=1)
        return torch.sigmoid(self.output_block(drawn))

    def fold(self) -> None:
        """Put every normalisation into its convolution; for drawing only, and once."""
        for part in list(self.modules()):
            if isinstance(part, Block):
                part.fold()
