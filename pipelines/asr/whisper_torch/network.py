"""The Whisper network: an encoder of sound and a decoder of text with a cache, for beams that share one sound.

Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", arXiv:2212.04356. Parameters carry the names
of the published checkpoints. Attention is written out as plain products and a softmax: fused kernels are the part of torch
that differs most between AMD, Apple and NVIDIA. All beams share one copy of the sound's keys and values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

FRAMES, TOKENS = 1500, 448  # positions of sound (20 ms each) and of text


@dataclass(frozen=True, slots=True)
class Size:
    """A Whisper's sizes; the vocabulary of 51,865 and more is the multilingual one."""

    mels: int
    width: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    hidden: int
    vocabulary: int
    frames: int = FRAMES
    tokens: int = TOKENS


@dataclass(slots=True)
class Cache:
    """Keys and values of what was decoded, per layer (beams, heads, tokens, head width), and of the sound, shared."""

    sound: list[tuple[Tensor, Tensor]]
    text: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Tokens decoded so far."""
        return self.text[0][0].shape[2] if self.text else 0

    def choose(self, beams: Tensor) -> None:
        """Go on with these beams (int64 numbers, in order, also several times)."""
        self.text = [(keys[beams], values[beams]) for keys, values in self.text]


class Attention(nn.Module):
    """Multi-head attention with Whisper's keys without bias."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width, bias=False)
        self.v_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of (n, time, width): each (n, heads, time, head width)."""
        return self._by_head(self.k_proj(x)), self._by_head(self.v_proj(x))

    def forward(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """(n, time, width) after looking at keys and values, and the scores (n, heads, time, keys) before the softmax."""
        scores = (self._by_head(self.q_proj(x)) * self.scale) @ keys.transpose(-1, -2)
        if mask is not None:
            scores = scores + mask
        found = scores.float().softmax(dim=-1).to(x.dtype) @ values
        return self.out_proj(found.transpose(1, 2).flatten(2)), scores

    def _by_head(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


class EncoderLayer(nn.Module):
    """Self-attention and a small network, each behind a norm and added on."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.self_attn = Attention(size.width, size.heads)
        self.self_attn_layer_norm = nn.LayerNorm(size.width)
        self.fc1 = nn.Linear(size.width, size.hidden)
        self.fc2 = nn.Linear(size.hidden, size.width)
        self.final_layer_norm = nn.LayerNorm(size.width)

    def forward(self, x: Tensor) -> Tensor:
        """(n, time, width) → the same shape."""
        normed = self.self_attn_layer_norm(x)
        x = x + self.self_attn(normed, *self.self_attn.keys_values(normed))[0]
        return self.think(x)

    def think(self, x: Tensor) -> Tensor:
        """The small network over every position."""
        thought: Tensor = self.fc2(functional.gelu(self.fc1(self.final_layer_norm(x))))
        return x + thought


class DecoderLayer(EncoderLayer):
    """An encoder's layer that looks at the sound as well."""

    def __init__(self, size: Size) -> None:
        super().__init__(size)
        self.encoder_attn = Attention(size.width, size.heads)
        self.encoder_attn_layer_norm = nn.LayerNorm(size.width)

    def decode(
        self,
        x: Tensor,
        sound: tuple[Tensor, Tensor],
        before: tuple[Tensor, Tensor] | None,
        mask: Tensor | None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor]:
        """(beams, new tokens, width) → the same, the layer's new cache, and scores (heads, beams · new tokens, frames)."""
        normed = self.self_attn_layer_norm(x)
        keys, values = self.self_attn.keys_values(normed)
        if before is not None:
            keys, values = torch.cat([before[0], keys], dim=2), torch.cat([before[1], values], dim=2)
        x = x + self.self_attn(normed, keys, values, mask)[0]
        # All beams hear the same sound: their queries stand in a row, so that its keys are read once.
        row = self.encoder_attn_layer_norm(x).flatten(0, 1)[None]
        heard, scores = self.encoder_attn(row, *sound)
        return self.think(x + heard.view_as(x)), (keys, values), scores[0]


class Encoder(nn.Module):
    """30 s of log-mel features to 1500 positions."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(size.mels, size.width, kernel_size=3, padding=1)
        self.conv2 = nn.Conv1d(size.width, size.width, kernel_size=3, stride=2, padding=1)
        self.embed_positions = nn.Embedding(size.frames, size.width)
        self.layers = nn.ModuleList(EncoderLayer(size) for _ in range(size.encoder_layers))
        self.layer_norm = nn.LayerNorm(size.width)

    def forward(self, features: Tensor) -> Tensor:
        """(n, mels, 3000) → (n, 1500, width)."""
        x = functional.gelu(self.conv2(functional.gelu(self.conv1(features))))
        x = x.transpose(1, 2) + self.embed_positions.weight
        for layer in self.layers:
            x = layer(x)
        return self.layer_norm(x)  # type: ignore[no-any-return]  # torch types no module's call


class Decoder(nn.Module):
    """Tokens to what comes next, looking at the sound."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(size.vocabulary, size.width)
        self.embed_positions = nn.Embedding(size.tokens, size.width)
        self.layers = nn.ModuleList(DecoderLayer(size) for _ in range(size.decoder_layers))
        self.layer_norm = nn.LayerNorm(size.width)

    def open_cache(self, encoded: Tensor) -> Cache:
        """A cache for decoding one sound, (1, 1500, width)."""
        return Cache([layer.encoder_attn.keys_values(encoded) for layer in self._stack()])

    def _stack(self) -> list[DecoderLayer]:
        return cast("list[DecoderLayer]", list(self.layers))

    def forward(self, tokens: Tensor, cache: Cache) -> tuple[Tensor, list[Tensor]]:
        """States (beams, new tokens, width) after tokens (beams, new tokens), which are added to ``cache``.

        The second result holds, per layer, the scores against the sound: (heads, beams · new tokens, 1500).
        """
        start, count = cache.length, tokens.shape[1]
        x = self.embed_tokens(tokens) + self.embed_positions.weight[start : start + count]
        mask = None
        if count > 1:
            ahead = torch.ones(count, start + count, dtype=torch.bool, device=tokens.device).triu(start + 1)
            mask = torch.zeros_like(ahead, dtype=x.dtype).masked_fill(ahead, float("-inf"))
        kept, scores = [], []
        for number, layer in enumerate(self._stack()):
            before = cache.text[number] if cache.text else None
            x, both, seen = layer.decode(x, cache.sound[number], before, mask)
            kept.append(both)
            scores.append(seen)
        cache.text = kept
        return self.layer_norm(x), scores

    def logits(self, states: Tensor) -> Tensor:
        """(…, width) → (…, vocabulary) in float32; the output layer is the embedding of the tokens."""
        return functional.linear(states, self.embed_tokens.weight).float()


class Network(nn.Module):
    """Encoder and decoder under the names of a checkpoint (``model.encoder…``, ``model.decoder…``)."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.model = nn.ModuleDict({"encoder": Encoder(size), "decoder": Decoder(size)})
        self.size = size

    @property
    def encoder(self) -> Encoder:
        """The part that hears."""
        return self.model["encoder"]  # type: ignore[return-value]

    @property
    def decoder(self) -> Decoder:
        """The part that writes."""
        return self.model["decoder"]  # type: ignore[return-value]
