"""Voice vectors into groups: how many there are when nobody says it, and the best parting into a given number.

Automatic: agglomerative, by the mean likeness of all pairs, until no two groups are alike enough; groups that hardly speak are no
speakers of their own. A given number: spectral, after Ng, Jordan and Weiss (2002), on the likenesses.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Mean cosine of two groups' windows: of strangers at most 0.35, of one person parted in two at least 0.46 (measured on the
# sample recordings).
ALIKE = 0.42
SMALLEST = 4  # windows of a speaker when the number is automatic: about three seconds of speech
MOST = 2000  # windows that are compared with each other; those of a longer file join the nearest group

Floats = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


def groups(vectors: Floats, count: int | None = None) -> Labels:
    """The group of each vector, numbered in order of first appearance.

    Args:
        vectors: unit vectors (n, width). count: number of groups, None to find it.
    """
    if len(vectors) < 2 or count == 1:
        return np.zeros(len(vectors), np.int64)
    chosen = np.unique(np.linspace(0, len(vectors) - 1, MOST).round().astype(int))
    sample = vectors[chosen]
    labels = _automatic(sample) if count is None else _spectral(sample, min(count, len(sample)))
    if len(chosen) < len(vectors):
        labels = _nearest(vectors, sample, labels)
    return _in_order(labels)


def _automatic(vectors: Floats) -> Labels:
    from scipy.cluster.hierarchy import fcluster, linkage

    tree = linkage(vectors, method="average", metric="cosine")
    labels = np.asarray(fcluster(tree, 1.0 - ALIKE, criterion="distance"), np.int64)
    sizes = {int(label): int((labels == label).sum()) for label in np.unique(labels)}
    enough = min(SMALLEST, max(sizes.values()))
    kept = [label for label, size in sizes.items() if size >= enough]
    large = np.isin(labels, kept)
    return labels if large.all() else _nearest(vectors, vectors[large], labels[large])


def _spectral(vectors: Floats, count: int) -> Labels:
    from scipy.cluster.vq import kmeans2

    likeness = np.clip(vectors @ vectors.T, 0, 1) ** 2
    scale = 1 / np.sqrt(likeness.sum(axis=1))
    _, axes = np.linalg.eigh(likeness * scale[:, None] * scale[None, :])
    rows = axes[:, -count:]
    rows = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-12)
    best: tuple[float, Labels] | None = None
    for seed in range(8):
        centres, labels = kmeans2(rows.astype(np.float64), count, minit="++", seed=seed)
        spread = float(np.square(rows - centres[labels]).sum())
        if len(np.unique(labels)) == count and (best is None or spread < best[0]):
            best = spread, np.asarray(labels, np.int64)
    return best[1] if best else np.zeros(len(vectors), np.int64)


def _nearest(vectors: Floats, known: Floats, labels: Labels) -> Labels:
    """Each vector's group: the one whose mean it is most like."""
    names = np.unique(labels)
    centres = np.stack([known[labels == name].mean(axis=0) for name in names])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True) + 1e-12
    return np.asarray(names[np.argmax(vectors @ centres.T, axis=1)], np.int64)


def _in_order(labels: Labels) -> Labels:
    names = {int(label): place for place, label in enumerate(dict.fromkeys(labels.tolist()))}
    return np.array([names[int(label)] for label in labels], np.int64)
