"""faster-whisper's model with torch underneath: its windows, retries and word times, our network and search."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tokenizers
import torch
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.utils import get_logger

from pipelines.asr.whisper_torch import checkpoint
from pipelines.asr.whisper_torch.checkpoint import Facts
from pipelines.asr.whisper_torch.decoding import Rules, beam_search, sample
from pipelines.asr.whisper_torch.features import DeviceFeatures
from pipelines.asr.whisper_torch.network import Network
from pipelines.asr.whisper_torch.timing import Path as TimePath
from pipelines.asr.whisper_torch.timing import attention_to_sound, cheapest_path
from pipelines.backend.policy import Policy

Encoded = torch.Tensor  # (1, 1500, width) on the device


@dataclass(frozen=True, slots=True)
class Generated:
    """A text as ``ctranslate2.models.WhisperGenerationResult`` gives it: the score is per token."""

    sequences_ids: list[list[int]]
    scores: list[float]
    no_speech_prob: float


@dataclass(frozen=True, slots=True)
class Aligned:
    """Times as ``ctranslate2.models.WhisperAlignmentResult`` gives them: (token, position of 20 ms) pairs."""

    alignments: TimePath
    text_token_probs: list[float]


class TorchWhisper:
    """What faster-whisper asks of ``ctranslate2.models.Whisper``, computed by torch, one sound at a time."""

    def __init__(self, network: Network, facts: Facts, marks: Tokenizer) -> None:
        self._network = network
        self._facts = facts
        self._marks = marks
        self.is_multilingual = bool(facts.languages)

    @property
    def place(self) -> torch.device:
        """Where the network is."""
        return self._network.decoder.embed_tokens.weight.device

    @torch.inference_mode()
    def encode(self, features: npt.NDArray[np.float32]) -> Encoded:
        """float32 (1, mels, 3000) → (1, 1500, width)."""
        kind = self._network.decoder.embed_tokens.weight.dtype
        encoded: Encoded = self._network.encoder(
            torch.from_numpy(np.ascontiguousarray(features)).to(self.place, kind)
        )
        return encoded

    @torch.inference_mode()
    def detect_language(self, encoded: Encoded) -> list[list[tuple[str, float]]]:
        """Languages as tokens (``<|en|>``) with their probabilities, the likeliest first."""
        decoder, known = self._network.decoder, list(self._facts.languages)
        states, _ = decoder(self._tokens([self._marks.sot]), decoder.open_cache(encoded))
        chances = decoder.logits(states)[0, -1, known].softmax(dim=-1).tolist()
        names = [str(self._marks.tokenizer.id_to_token(token)) for token in known]
        return [sorted(zip(names, chances, strict=True), key=lambda found: -found[1])]

    @torch.inference_mode()
    def generate(
        self,
        encoded: Encoded,
        prompts: Sequence[Sequence[int]],
        *,
        max_length: int,
        suppress_blank: bool,
        suppress_tokens: Sequence[int],
        max_initial_timestamp_index: int,
        beam_size: int,
        num_hypotheses: int = 1,
        sampling_temperature: float = 1.0,
        **_: Any,
    ) -> list[Generated]:
        """The text after the one prompt: by beam search, or with a beam of one the best of several drawn texts."""
        (prompt,) = prompts
        decoder = self._network.decoder
        cache = decoder.open_cache(encoded)
        states, _scores = decoder(self._tokens(prompt), cache)
        begin = decoder.logits(states[0, list(prompt).index(self._marks.sot)])
        first = self._marks.timestamp_begin
        rules = Rules(
            end=self._marks.eot,
            first_time=first,
            latest_start=first + max_initial_timestamp_index,
            suppressed=tuple(suppress_tokens),
            suppressed_first=self._facts.suppressed_first if suppress_blank else (),
        )
        longest = min(max_length // 2, max_length - len(prompt))
        if beam_size > 1:
            found = beam_search(decoder, cache, states, rules, beams=beam_size, longest=longest)
        else:
            found = sample(
                decoder,
                cache,
                states,
                rules,
                temperature=sampling_temperature,
                best_of=num_hypotheses,
                longest=longest,
            )
        silence = float(begin.softmax(dim=-1)[self._marks.no_speech])
        return [Generated([list(found.tokens)], [found.score], silence)]

    @torch.inference_mode()
    def align(
        self,
        encoded: Encoded,
        start: Sequence[int],
        texts: Sequence[Sequence[int]],
        frames: int,
        *,
        median_filter_width: int,
    ) -> list[Aligned]:
        """When each token of the one text is said; ``frames`` of 10 ms hold sound."""
        (text,) = texts
        decoder, marks = self._network.decoder, self._marks
        tokens = self._tokens([*start, marks.no_timestamps, *text, marks.eot])
        states, scores = decoder(tokens, decoder.open_cache(encoded))
        before = len(start)
        chances = decoder.logits(states[0, before : before + len(text)])[:, : marks.eot].softmax(dim=-1)
        spoken = chances.gather(1, self._tokens(text).view(-1, 1))[:, 0].tolist()
        heads = list(self._facts.alignment_heads)
        seen = attention_to_sound(scores, heads, max(frames // 2, 1), median_filter_width)
        return [Aligned(cheapest_path(-seen[before:-1].double().numpy()), spoken)]

    def _tokens(self, tokens: Sequence[int]) -> torch.Tensor:
        return torch.tensor([list(tokens)], dtype=torch.int64, device=self.place)


class TorchWhisperModel(WhisperModel):  # type: ignore[misc]  # faster-whisper ships no types
    """``faster_whisper.WhisperModel`` over ``TorchWhisper``: everything but loading and encoding is its own."""

    def __init__(self, folder: Path, device: torch.device, precision: torch.dtype) -> None:
        self.logger = get_logger()
        self.hf_tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        network, facts = checkpoint.load(folder, device, precision)
        marks = Tokenizer(self.hf_tokenizer, bool(facts.languages), task="transcribe", language="en")
        self.model = TorchWhisper(network, facts, marks)
        self.feature_extractor = DeviceFeatures(network.size.mels, device)
        self.input_stride = 2
        self.frames_per_second = self.feature_extractor.sampling_rate // self.feature_extractor.hop_length
        self.tokens_per_second = self.frames_per_second // self.input_stride
        self.time_precision = 1 / self.tokens_per_second
        self.max_length = network.size.tokens

    def encode(self, features: npt.NDArray[np.float32]) -> Encoded:
        """float32 (mels, 3000) or (1, mels, 3000) → (1, 1500, width)."""
        return self.model.encode(features if features.ndim == 3 else features[None])


def load_model(folder: Path, policy: Policy) -> TorchWhisperModel:
    """A Whisper folder on the policy's device, in its precision and no other.

    Raises:
        WeightsMissing: the folder holds no Whisper. EngineMissing: torchaudio does not fit torch.
    """
    os.environ["HF_HUB_OFFLINE"] = (
        "1"  # faster-whisper brings the hub's library: it must never ask the network
    )
    if policy.family == "cpu":
        torch.set_num_threads(policy.threads)
    return TorchWhisperModel(folder, torch.device(policy.device), getattr(torch, policy.precision))
