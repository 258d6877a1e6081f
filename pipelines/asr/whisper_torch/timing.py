"""When each token was said: the cheapest way through the decoder's attention to the sound (dynamic time warping).

After OpenAI's ``timing.py`` (https://github.com/openai/whisper): a few heads of the decoder look where the token is said.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from torch import Tensor, stack
from torch.nn import functional

Path = list[tuple[int, int]]


def attention_to_sound(scores: list[Tensor], heads: list[tuple[int, int]], frames: int, width: int) -> Tensor:
    """Mean attention of the chosen (layer, head) pairs, (tokens, frames): softmax, normalised over tokens, smoothed.

    Args:
        scores: per layer (heads, tokens, 1500) before the softmax.
        frames: positions that hold sound; width: of the median filter in frames, odd.
    """
    chosen = stack([scores[layer][head] for layer, head in heads])[..., :frames].float().softmax(dim=-1)
    deviation = chosen.std(dim=-2, keepdim=True, correction=0)
    normal = ((chosen - chosen.mean(dim=-2, keepdim=True)) / deviation.clamp_min(1e-6)).cpu()
    reach = width // 2
    if frames > reach:
        padded = functional.pad(normal, (reach, reach), mode="reflect")
        normal = padded.unfold(-1, width, 1).median(dim=-1).values
    return normal.mean(dim=0)


def cheapest_path(cost: npt.NDArray[np.float64]) -> Path:
    """(row, column) pairs from the first to the last cell of (rows, columns) with the least total cost.

    Each step goes one row down, one column on, or both. Within a row, going on from column k to j costs the difference of
    the row's running sums, so that a whole row is computed at once.
    """
    total = np.full((cost.shape[0] + 1, cost.shape[1] + 1), np.inf)
    total[0, 0] = 0.0
    for row, line in enumerate(cost):
        entered = np.minimum(total[row, :-1], total[row, 1:])
        sums = np.cumsum(line)
        total[row + 1, 1:] = np.minimum.accumulate(entered - (sums - line)) + sums
    return _back(total)


def _back(total: npt.NDArray[np.float64]) -> Path:
    row, column = total.shape[0] - 1, total.shape[1] - 1
    path: Path = []
    while row > 0 and column > 0:
        path.append((row - 1, column - 1))
        both, up, along = total[row - 1, column - 1], total[row - 1, column], total[row, column - 1]
        if both <= up and both <= along:
            row, column = row - 1, column - 1
        elif up < along:
            row -= 1
        else:
            column -= 1
    return path[::-1]
