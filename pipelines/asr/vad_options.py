"""How strictly speech is told from everything else: the settings of the voice activity gate, with their limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from pipelines.errors import Message, OptionError

Limit = tuple[float, float, float]  # lowest, highest, step of a slider


@dataclass(frozen=True, slots=True)
class VadOptions:
    """Settings of the gate between speech and everything else.

    Attributes:
        threshold: probability in (0, 1) at which a stretch of speech begins; it ends 0.15 below (Silero's own rule).
        min_speech: seconds; shorter stretches are clicks. min_silence: seconds; shorter pauses do not end a stretch.
        pad_before, pad_after: seconds of sound kept around speech: first and last syllables are soft.
    """

    threshold: float = 0.5
    min_speech: float = 0.2
    min_silence: float = 0.3
    pad_before: float = 0.6
    pad_after: float = 0.4

    LIMITS: ClassVar[Mapping[str, Limit]] = {
        "threshold": (0.2, 0.95, 0.05),
        "min_speech": (0.05, 2.0, 0.05),
        "min_silence": (0.1, 2.0, 0.05),
        "pad_before": (0.0, 2.0, 0.1),
        "pad_after": (0.0, 2.0, 0.1),
    }

    def __post_init__(self) -> None:
        for name, (lowest, highest, _) in self.LIMITS.items():
            value = getattr(self, name)
            if not lowest <= value <= highest:
                raise OptionError(
                    Message(
                        f"The speech setting {name} cannot be {value:g}",
                        f"语音检测参数 {name} 不能为 {value:g}",
                    ),
                    Message(
                        f"Choose {lowest:g} to {highest:g}.", f"请在 {lowest:g} 到 {highest:g} 之间选择。"
                    ),
                )

    @property
    def off_threshold(self) -> float:
        """Probability below which a stretch of speech ends."""
        return max(self.threshold - 0.15, 0.05)


def vad_options(values: Mapping[str, Any] | None) -> VadOptions:
    """Settings from a form or a job's options.

    Raises:
        OptionError: an unknown name, no number, or out of its limits.
    """
    known = {field.name for field in fields(VadOptions)}
    numbers = {}
    for name, value in (values or {}).items():
        try:
            if name not in known or isinstance(value, bool):
                raise ValueError
            numbers[name] = float(value)
        except (TypeError, ValueError) as error:
            raise OptionError(
                Message(
                    f"There is no speech setting {name} = {value!r}", f"没有语音检测参数 {name} = {value!r}"
                ),
                Message(
                    f"The settings are {', '.join(VadOptions.LIMITS)}.",
                    f"可用参数:{'、'.join(VadOptions.LIMITS)}。",
                ),
            ) from error
    return VadOptions(**numbers)
