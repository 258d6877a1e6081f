"""The flags about the machine, made into the policy that engines keep."""

from __future__ import annotations

import argparse

from pipelines.backend.policy import Policy, choose
from pipelines.backend.probe import Probe, look
from pipelines.settings import Settings


def choose_policy(arguments: argparse.Namespace, settings: Settings, probe: Probe | None = None) -> Policy:
    """The policy for this run.

    Raises:
        OptionError: the device asked for cannot be used.
    """
    return choose(
        probe or look(settings),
        device=arguments.device,
        safe_mode=arguments.safe_mode,
        no_half=arguments.no_half,
        compile=arguments.compile,
        graphs=arguments.graphs,
        threads=settings.threads,
    )
