"""A sample of a voice, looked over before it is learnt: whose speech is in it, how good it is, and what of it is used."""

from __future__ import annotations

from pipelines.sample.diagnosis import Diagnosis, diagnose
from pipelines.sample.flow import run
from pipelines.sample.learning import learn, load_sample

__all__ = ["Diagnosis", "diagnose", "learn", "load_sample", "run"]
