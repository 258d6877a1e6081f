"""Train the phone network on generated speech.

    python -m training.phones.train FOLDER OUT.npz --minutes 30

Files that ``synthesise`` adds to FOLDER while this runs are taken in. Every file in ten is held out and judges the
network; weights are written (float16, as ``pipelines.phones.network`` reads them) every two minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pipelines.phones.classes import COUNT
from pipelines.phones.features import log_mel
from pipelines.phones.network import SAMPLES
from training.phones.examples import Example, crop, example
from training.phones.net import PhoneNet
from training.phones.synthesise import read

Floats = npt.NDArray[np.float32]

BATCH = 16
RATE, DECAY = 3e-3, 1e-2
WARM_UP = 0.04  # of the time
MOUTH = 3.0  # weight of the curves' squared error beside the classes' cross-entropy
SAVE_EVERY = 120.0  # s
HELD_OUT = 10  # every so manieth file judges


def batch(examples: list[Example], rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """``BATCH`` crops."""
    mels, labels, mouths = zip(*(crop(examples, rng) for _ in range(BATCH)), strict=True)
    return (
        torch.from_numpy(np.stack(mels)),
        torch.from_numpy(np.stack(labels)),
        torch.from_numpy(np.stack(mouths)),
    )


class Speech:
    """The clips that are there by now, those to learn from and those to be judged by."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: set[Path] = set()
        self.learn: list[Example] = []
        self.judge: list[Example] = []

    def look(self) -> None:
        """Take in new files."""
        for path in sorted(set(self._folder.glob("*[0-9].npz")) - self._seen):
            self._seen.add(path)
            held_out = int(path.stem.rpartition("-")[2]) % HELD_OUT == 1
            (self.judge if held_out else self.learn).extend(example(clip) for clip in read(path))

    def log_prior(self) -> Floats:
        """How often each class is said."""
        counts = np.ones(COUNT)
        for one in self.learn:
            counts += np.bincount(one.labels, minlength=COUNT)
        return np.asarray(np.log(counts / counts.sum()), np.float32)


def judged(net: PhoneNet, examples: list[Example]) -> str:
    """Accuracy a frame and correlation of the opening on clean held-out clips, in words."""
    net.eval()
    right, total, openings = 0, 0, []
    for one in examples[:60]:
        with torch.no_grad():
            scores, mouth = net(
                torch.from_numpy(log_mel(one.samples))[None, :, : len(one.samples) // SAMPLES * 2]
            )
        count = scores.shape[2]
        right += int((scores[0].argmax(0).numpy() == one.labels[::2][:count]).sum())
        total += count
        openings.append(np.corrcoef(mouth[0, 0].numpy(), one.mouth[0, ::2][:count])[0, 1])
    net.train()
    return f"frames right {right / max(total, 1):.3f}, opening r {np.mean(openings or [np.nan]):.3f}"


def save(net: PhoneNet, path: Path, log_prior: Floats) -> None:
    """Write the weights; a killed run leaves the last whole file."""
    part = path.with_suffix(".part.npz")
    np.savez_compressed(part, **net.arrays(log_prior))
    part.rename(path)


def train(speech: Speech, out: Path, seconds: float, net: PhoneNet, seed: int) -> None:
    """Train for so long, with a rate that rises for a moment and then falls to nothing."""
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(net.parameters(), RATE, weight_decay=DECAY)
    began = saved = time.monotonic()
    losses: list[float] = []
    while (spent := (time.monotonic() - began) / seconds) < 1:
        rate = RATE * min(spent / WARM_UP, 1) * (0.5 + 0.5 * np.cos(np.pi * spent)) + 1e-5
        for group in optimiser.param_groups:
            group["lr"] = rate
        mel, labels, mouth = batch(speech.learn, rng)
        scores, curves = net(mel)
        loss = nn.functional.cross_entropy(scores, labels, label_smoothing=0.05)
        loss = loss + MOUTH * nn.functional.mse_loss(curves, mouth)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        losses.append(loss.item())
        if time.monotonic() - saved > SAVE_EVERY:
            saved = time.monotonic()
            speech.look()
            save(net, out, speech.log_prior())
            print(
                f"{len(losses)} steps, loss {np.mean(losses[-50:]):.3f}, {judged(net, speech.judge)}",
                flush=True,
            )
    save(net, out, speech.log_prior())
    print(f"done after {len(losses)} steps: {judged(net, speech.judge)}")


def main() -> None:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.manual_seed(asked.seed)
    speech = Speech(asked.folder)
    speech.look()
    net = PhoneNet()
    train(speech, asked.out, asked.minutes * 60, net, asked.seed)


if __name__ == "__main__":
    main()
