"""From the decoder's probabilities to text: which tokens may come next, beam search, and sampling for retries.

The rules and the search are those of OpenAI's decoder (https://github.com/openai/whisper, ``decoding.py``), which
CTranslate2 keeps too: times in pairs and never backwards, a time where all times together are likelier than any word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pipelines.asr.whisper_torch.network import Cache, Decoder

NEVER = float("-inf")
SEED = 0  # retries sample: the same sound gives the same text


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Tokens without the end mark, and the sum of their log probabilities and the end mark's."""

    tokens: tuple[int, ...]
    log_probability: float

    @property
    def score(self) -> float:
        """Log probability per token."""
        return self.log_probability / max(len(self.tokens), 1)


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be written where.

    Attributes:
        end: the token that ends a text; tokens below it are text.
        first_time: the token of 0.00 s; those from it on are times, those between are marks.
        latest_start: the latest token of time a text may begin with.
        suppressed: tokens that never come; suppressed_first: nor at the beginning.
    """

    end: int
    first_time: int
    latest_start: int
    suppressed: tuple[int, ...]
    suppressed_first: tuple[int, ...]

    def apply(self, logits: Tensor, written: Sequence[Sequence[int]]) -> Tensor:
        """Log probabilities (beams, vocabulary) of what may follow each beam's tokens; the logits are changed."""
        logits[:, list(self.suppressed)] = NEVER
        logits[:, self.first_time - 1] = NEVER  # the mark that there are no times
        if not written[0]:
            logits[:, list(self.suppressed_first)] = NEVER
            logits[:, : self.first_time] = NEVER
            logits[:, self.latest_start + 1 :] = NEVER
            return logits.log_softmax(dim=-1)
        for row, tokens in enumerate(written):
            self._pair(logits[row], tokens)
        log_probabilities = logits.log_softmax(dim=-1)
        times = log_probabilities[:, self.first_time :].logsumexp(dim=-1)
        words = log_probabilities[:, : self.first_time].amax(dim=-1)
        logits[:, : self.first_time].masked_fill_((times > words)[:, None], NEVER)
        return logits.log_softmax(dim=-1)

    def _pair(self, row: Tensor, tokens: Sequence[int]) -> None:
        """After the time that ends a phrase only a time or the end, after that of a beginning no other, none earlier."""
        if tokens[-1] >= self.first_time:
            if len(tokens) < 2 or tokens[-2] >= self.first_time:
                row[self.first_time :] = NEVER
            else:
                row[: self.end] = NEVER
        last = next((token for token in reversed(tokens) if token >= self.first_time), None)
        if last is not None:
            row[self.first_time : last] = NEVER


def beam_search(
    decoder: Decoder, cache: Cache, states: Tensor, rules: Rules, *, beams: int, longest: int
) -> Hypothesis:
    """The best text by probability per token; stops when ``beams`` texts have ended or at ``longest`` tokens.

    Args:
        states: (1, n, width), the decoder's states of the prompt that is in ``cache``.
    """
    written: list[tuple[int, ...]] = [()]
    sums = [0.0]
    ended: dict[tuple[int, ...], float] = {}
    logits = decoder.logits(states[:, -1])
    for _ in range(longest):
        candidates = _candidates(rules.apply(logits, written), sums, beams)
        kept: list[tuple[float, int, int]] = []
        for total, beam, token in candidates:
            if token == rules.end:
                ended.setdefault(written[beam], total)
            else:
                kept.append((total, beam, token))
            if len(kept) == beams:
                break
        if len(ended) >= beams or not kept:
            break
        written = [(*written[beam], token) for _, beam, token in kept]
        sums = [total for total, _, _ in kept]
        logits = _forward(decoder, cache, [(beam, token) for _, beam, token in kept])
    if len(ended) < beams:
        for tokens, total in zip(written, sums, strict=True):
            ended.setdefault(tokens, total)
    return max((Hypothesis(*item) for item in ended.items()), key=lambda found: found.score)


def _candidates(log_probabilities: Tensor, sums: Sequence[float], beams: int) -> list[tuple[float, int, int]]:
    """The likeliest continuations (sum of log probabilities, beam, token): enough for every beam to end once."""
    values, tokens = log_probabilities.topk(beams + 1, dim=-1)
    rows = zip(values.tolist(), tokens.tolist(), strict=True)
    found = [
        (sums[beam] + value, beam, token)
        for beam, (some, their) in enumerate(rows)
        for value, token in zip(some, their, strict=True)
        if value > NEVER
    ]
    return sorted(found, key=lambda item: -item[0])


def _forward(decoder: Decoder, cache: Cache, chosen: Sequence[tuple[int, int]]) -> Tensor:
    """Logits (beams, vocabulary) after each chosen (beam, token)."""
    place = cache.text[0][0].device
    cache.choose(torch.tensor([beam for beam, _ in chosen], device=place))
    states, _ = decoder(torch.tensor([[token] for _, token in chosen], device=place), cache)
    return decoder.logits(states[:, -1])


def sample(
    decoder: Decoder,
    cache: Cache,
    states: Tensor,
    rules: Rules,
    *,
    temperature: float,
    best_of: int,
    longest: int,
) -> Hypothesis:
    """The best of several texts drawn at a temperature; drawn on the CPU, the same on every device."""
    chance = torch.Generator().manual_seed(SEED)
    written: list[tuple[int, ...]] = [()] * best_of
    sums, running = [0.0] * best_of, list(range(best_of))
    logits = decoder.logits(states[:, -1]).expand(best_of, -1).clone()
    rows = [0] * best_of  # a running text's row in the cache
    for _ in range(longest):
        log_probabilities = rules.apply(logits, [written[text] for text in running]).cpu()
        drawn = torch.multinomial((log_probabilities / temperature).softmax(dim=-1), 1, generator=chance)
        tokens = drawn[:, 0].tolist()
        values = log_probabilities.gather(1, drawn)[:, 0].tolist()
        chosen, still = [], []
        for text, row, token, value in zip(running, rows, tokens, values, strict=True):
            sums[text] += value
            if token != rules.end:
                written[text] = (*written[text], token)
                chosen.append((row, token))
                still.append(text)
        if not still:
            break
        running, rows = still, list(range(len(still)))
        logits = _forward(decoder, cache, chosen)
    return max((Hypothesis(*item) for item in zip(written, sums, strict=True)), key=lambda found: found.score)
