"""Which source frame stands at each output frame when sound and video differ in length."""

from __future__ import annotations

from typing import Literal, get_args

Fit = Literal["loop", "pingpong", "freeze", "trim"]
FITS: tuple[Fit, ...] = get_args(Fit)


def frame_order(fit: Fit, source: int, wanted: int) -> tuple[int, ...]:
    """Source frame numbers of the output.

    ``loop`` starts again from the first frame, ``pingpong`` turns round at both ends without showing an end frame
    twice (period 2·(source − 1)), ``freeze`` holds the last frame, ``trim`` ends with the video.

    Args:
        source: frames of the video, at least 1. wanted: frames of the sound.
    """
    if source < 1 or wanted < 0:
        raise ValueError(f"no order of {wanted} out of {source} frames")
    if fit == "loop":
        return tuple(number % source for number in range(wanted))
    if fit == "pingpong":
        period = max(2 * (source - 1), 1)
        return tuple(min(number % period, period - number % period) for number in range(wanted))
    if fit == "freeze":
        return tuple(min(number, source - 1) for number in range(wanted))
    return tuple(range(min(source, wanted)))
