"""Where an utterance begins and where it is over, from the speech probability of every 32 ms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

BEGINS, ENDS = 0.5, 0.35  # probability (Silero's own rule)
SURE = 3  # frames of speech that begin an utterance: one may be a click
PAUSE = 25  # frames of silence, 0.8 s, that end it
SHORT, LONG_PAUSE = 47, 50  # an utterance below 1.5 s waits 1.6 s: alone, a word or two is often misheard
LONGEST = 625  # frames, 20 s: who speaks on without a pause is cut


@dataclass(slots=True)
class Endpoint:
    """Fed with probabilities in order; frames are counted from the start of the sound.

    Attributes:
        begun: first frame of the utterance that goes on now, or None.
        frames: how many were fed.
    """

    begun: int | None = None
    frames: int = 0
    _loud: int = 0
    _quiet: int = 0

    def feed(self, probabilities: Iterable[float]) -> list[tuple[int, int]]:
        """The utterances that ended within these frames, as [first, last) frames without the pause after them."""
        ended = []
        for probability in probabilities:
            self.frames += 1
            if self.begun is None:
                self._loud = self._loud + 1 if probability >= BEGINS else 0
                if self._loud >= SURE:
                    self.begun, self._quiet = self.frames - self._loud, 0
                continue
            self._quiet = self._quiet + 1 if probability < ENDS else 0
            spoken = self.frames - self._quiet - self.begun
            if (
                self._quiet >= (LONG_PAUSE if spoken < SHORT else PAUSE)
                or self.frames - self.begun >= LONGEST
            ):
                ended.append((self.begun, self.frames - self._quiet))
                self.begun, self._loud = None, 0
        return ended

    def finish(self) -> list[tuple[int, int]]:
        """The utterance that goes on when the sound ends."""
        ended = [] if self.begun is None else [(self.begun, self.frames - self._quiet)]
        self.begun = None
        return ended
