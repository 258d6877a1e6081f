"""This computer as the page knows it, and how engines are to run on it: the choice can change while the page is open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from pipelines.backend.guard import Step
from pipelines.backend.policy import Policy, choose
from pipelines.backend.readings import Reading, read_cards
from ui.kept import Kept

if TYPE_CHECKING:
    from pipelines.backend.probe import Probe

CARD_SECONDS = 5.0  # the cards' tools are not asked more often, however many pages and scrapers look


class Machine:
    """The probe's answer and the policy in force; jobs that start after a change follow it.

    Attributes:
        readings: memory, load, temperature and power of the cards at this moment (a few seconds old at most).
    """

    def __init__(
        self, found: Probe, policy: Policy, cards: Callable[[], tuple[Reading, ...]] = read_cards
    ) -> None:
        self.found = found
        self.readings = Kept(cards, CARD_SECONDS)
        self._policy = policy
        self._guard = threading.Lock()
        self._fallen: Step | None = None

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        with self._guard:
            return self._policy

    @property
    def fallen(self) -> Step | None:
        """The last step that a job had to take down the ladder; None after the user has chosen anew."""
        return self._fallen

    def fall_back(self, step: Step) -> None:
        """Remember a step for the banner; after a failure that will come again, later jobs keep off the card too."""
        with self._guard:
            self._fallen = step
            if step.lasts:
                self._policy = step.policy

    def devices(self) -> list[tuple[str, str]]:
        """What engines may run on: (name, value for ``choose``)."""
        cards = [(device.name, f"cuda:{device.index}") for device in self.found.devices if device.works]
        return [*cards, ("CPU", "cpu")]

    def switch(self, device: str, safe_mode: bool | None, no_half: bool) -> Policy:
        """Choose anew; the rest of the policy follows from the machine.

        Raises:
            OptionError: the device cannot be used.
        """
        chosen = choose(
            self.found, device=device, safe_mode=safe_mode, no_half=no_half, threads=self.policy.threads
        )
        with self._guard:
            self._policy, self._fallen = chosen, None
        return chosen
