"""A reference recording looked over: where the speech is, how clean it is, and its best stretch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.errors import Message, NoSpeech
from pipelines.types import Audio
from pipelines.voice.dvector import SR as VAD_SR
from pipelines.voice.dvector import to_mono

Floats = npt.NDArray[np.float32]

SR = 24000
NEEDED = 3.0  # seconds of speech below which a voice cannot be told
BEST = 12.0  # seconds of speech that are enough
APART = 4.0  # seconds of silence that part two takes
LENGTH_WORTH = 10.0  # dB of cleanness that 12 s are worth over none
JOIN = 0.02  # cross-fade where stretches are put together


@dataclass(frozen=True, slots=True)
class Reference:
    """The cleanest stretches of somebody's speech, pauses taken out.

    speech: mono float32 at 24 kHz; seconds of it; snr in dB (speech over the pauses' noise, 60 at most); bandwidth in
    Hz up to which there is signal; clipped: share of samples at full scale; start, end: where it stands in the source.
    """

    speech: Floats
    seconds: float
    snr: float
    bandwidth: float
    clipped: float
    start: float
    end: float

    @property
    def audio(self) -> Audio:
        """The speech as Audio."""
        return Audio(self.speech, SR)


def stretches(samples: Floats) -> list[tuple[float, float]]:
    """Where somebody speaks in 16 kHz mono sound, in seconds (Silero VAD v6, inside faster-whisper)."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(
        threshold=0.5, min_speech_duration_ms=200, min_silence_duration_ms=150, speech_pad_ms=30
    )
    return [(s["start"] / VAD_SR, s["end"] / VAD_SR) for s in get_speech_timestamps(samples, options)]


def _noise_power(samples: Floats, spoken: list[tuple[float, float]]) -> float | None:
    """Mean power of the pauses (their quiet half), None when there is no pause to measure."""
    quiet = np.ones(len(samples), bool)
    for start, end in spoken:
        quiet[int((start - 0.05) * VAD_SR) if start > 0.05 else 0 : int((end + 0.05) * VAD_SR)] = False
    left = samples[quiet]
    if len(left) < 0.2 * VAD_SR:
        return None
    block = VAD_SR // 50
    power = (left[: len(left) // block * block].reshape(-1, block).astype(np.float64) ** 2).mean(axis=1)
    return float(np.sort(power)[: max(1, len(power) // 2)].mean())


def _snr(samples: Floats, spoken: list[tuple[float, float]]) -> float:
    """Speech over noise in dB; without pauses the quietest tenth of the speech stands for the noise."""
    block = VAD_SR // 50
    talk = np.concatenate([samples[int(a * VAD_SR) : int(b * VAD_SR)] for a, b in spoken])
    power = (talk[: len(talk) // block * block].reshape(-1, block).astype(np.float64) ** 2).mean(axis=1)
    noise = _noise_power(samples, spoken)
    if noise is None:
        noise = float(np.quantile(power, 0.05))
    return float(np.clip(10 * np.log10((power.mean() + 1e-12) / (noise + 1e-12)), 0, 60))


def bandwidth(speech: Floats, sr: int = SR) -> float:
    """Frequency in Hz up to which the speech reaches: below it the level stays within 60 dB of the loudest band and above
    the floor left by a sampling rate or a codec."""
    from scipy.signal import welch

    frequencies, power = welch(speech, sr, nperseg=1024)
    level = 10 * np.log10(power + 1e-14)
    smooth = np.convolve(np.pad(level, 4, "edge"), np.ones(9) / 9, "valid")
    floor = max(smooth.max() - 60, smooth[-40:-8].min() + 6)
    above = np.flatnonzero(smooth > floor)
    return float(frequencies[above[-1]]) if len(above) else sr / 2


def _evenness(samples: Floats, stretch: tuple[float, float]) -> float:
    """Level of a stretch in dB over its quietest tenth, at most 40: the gaps between words show the noise."""
    block = VAD_SR // 100
    talk = samples[int(stretch[0] * VAD_SR) : int(stretch[1] * VAD_SR)]
    power = (talk[: len(talk) // block * block].reshape(-1, block).astype(np.float64) ** 2).mean(axis=1)
    return float(min(10 * np.log10((power.mean() + 1e-12) / (np.quantile(power, 0.1) + 1e-12)), 40))


def _best_run(spoken: list[tuple[float, float]], samples: Floats) -> list[tuple[float, float]]:
    """Neighbouring stretches of together 3 to 12 s, the cleanest; of equally clean ones the longer."""
    clean = [_evenness(samples, stretch) for stretch in spoken]
    best: tuple[float, list[tuple[float, float]]] = (-np.inf, spoken)
    for first in range(len(spoken)):
        run: list[tuple[float, float]] = []
        length = weighted = 0.0
        for (start, end), quality in zip(spoken[first:], clean[first:], strict=True):
            if run and start - run[-1][1] > APART:
                break
            run.append((start, min(end, start + BEST - length)))
            part = run[-1][1] - start
            length, weighted = length + part, weighted + part * quality
            score = weighted / length + LENGTH_WORTH * length / BEST
            if length >= min(NEEDED, sum(b - a for a, b in spoken)) and score > best[0]:
                best = (score, list(run))
            if length >= BEST - 0.05:
                break
    return best[1]


def _joined(samples: Floats, run: list[tuple[float, float]]) -> Floats:
    fade = round(JOIN * SR)
    ramp = np.linspace(0, 1, fade, dtype=np.float32)
    out = np.zeros(0, np.float32)
    for start, end in run:
        piece = samples[int(start * SR) : int(end * SR)].copy()
        if len(piece) <= 2 * fade:
            continue
        if len(out):
            out[-fade:] = out[-fade:] * ramp[::-1] + piece[:fade] * ramp
            piece = piece[fade:]
        out = np.concatenate([out, piece])
    return out


def too_little(seconds: float) -> NoSpeech:
    """The error for a sample with so many seconds of speech."""
    return NoSpeech(
        Message(
            f"The voice sample holds {seconds:.1f} s of speech, at least {NEEDED:.0f} s are needed",
            f"参考音频中只有 {seconds:.1f} 秒语音,至少需要 {NEEDED:.0f} 秒",
        ),
        Message(
            "Give 5 to 15 s of one person talking, without music.",
            "请提供 5 到 15 秒单人讲话、没有音乐的录音。",
        ),
    )


def prepare(audio: Audio) -> Reference:
    """Find the speech and keep up to 12 s of it, the cleanest.

    Raises:
        NoSpeech: less than 3 s of speech.
    """
    thin = to_mono(audio, VAD_SR)
    spoken = stretches(thin)
    seconds = sum(end - start for start, end in spoken)
    if seconds < NEEDED:
        raise too_little(seconds)
    run = _best_run(spoken, thin)
    full = to_mono(audio, SR)
    speech = _joined(full, run)
    return Reference(
        speech=speech,
        seconds=len(speech) / SR,
        snr=_snr(thin, run),
        bandwidth=min(bandwidth(speech), audio.sr / 2),
        clipped=float((np.abs(full) > 0.985).mean()),
        start=run[0][0],
        end=run[-1][1],
    )
