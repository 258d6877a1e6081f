"""The flags about the machine, made into the policy that engines keep."""

from __future__ import annotations

import argparse

from pipelines.backend.choice import Asked, choose, torch_build
from pipelines.backend.hardware import read_hardware
from pipelines.backend.policy import Policy
from pipelines.settings import Settings


def choose_policy(arguments: argparse.Namespace, settings: Settings) -> Policy:
    """The policy for this run.

    Raises:
        OptionError: the device asked for cannot be used.
    """
    asked = Asked(arguments.device, arguments.safe_mode, arguments.no_half)
    return choose(read_hardware(), torch_build(), asked, settings.threads)
