"""The engine: languages, enrolment, length and speech, as the protocol in ``pipelines.voice`` asks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pipelines import weights
from pipelines.errors import Message, OptionError
from pipelines.progress import Report
from pipelines.pronunciation import speakable_languages
from pipelines.registry import EngineContext
from pipelines.types import Audio, Phone, Speech, VoiceProfile, Word
from pipelines.voice import LineLength, SpeakOptions
from pipelines.voice.kokoro import durations, packs, spectrum
from pipelines.voice.kokoro.accent import Accent, is_matched, load_accent, save_accent
from pipelines.voice.kokoro.accent import accent as make_accent
from pipelines.voice.kokoro.graph import SECONDS, SR, Floats, Graph
from pipelines.voice.kokoro.line import lines
from pipelines.voice.kokoro.renditions import stored
from pipelines.voice.kokoro.speech import Draft, Spoken, Tuning, draft, speak

NAME = "kokoro"
ACCENTS = 1  # raised when accents are found otherwise, so that kept ones are made anew
GAP = 0.25  # seconds of silence between the pieces of a long text, at natural speed


class Kokoro:
    """Kokoro 82M with voice matching. Loading is lazy: building one costs nothing."""

    def __init__(self, context: EngineContext) -> None:
        self._settings = context.settings
        self._threads = context.policy.threads
        self._accents: dict[str, Accent] = {}

    @cached_property
    def _graph(self) -> Graph:
        return Graph(weights.locate(self._settings, "kokoro"), self._settings.cache, self._threads)

    @cached_property
    def packs(self) -> packs.Packs:
        """The stock voices that are there."""
        return packs.load(weights.locate(self._settings, "kokoro") / "voices")

    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes that can be spoken now."""
        return speakable_languages()

    def stock(self, name: str | None = None, language: str = "en") -> VoiceProfile:
        """A stock voice as it is: by name, or the default one of a language."""
        chosen = name or packs.STOCK.get(language, packs.STOCK["en"])
        return VoiceProfile(
            NAME, chosen, {"style": self.packs.style(chosen)}, {"stock": True, "packs": [chosen]}
        )

    def stock_near(self, hertz: float, language: str) -> VoiceProfile:
        """The native stock voice of a language (any, where it has none) whose median pitch is nearest."""
        table = stored()
        known = [name for name in self.packs.names if name in table.names]
        native = [name for name in known if packs.native_language(name) == language] or known
        pitches = table.pitches[[table.names.index(name) for name in native]]
        nearest = int(np.argmin(np.abs(np.log2(pitches / hertz))))
        return self.stock(native[nearest], language)

    def enroll(self, reference: Audio, name: str, report: Report) -> VoiceProfile:
        """Match a voice to a reference (see ``matching``); the same recording is never matched twice.

        Raises:
            NoSpeech: the reference holds less than 3 s of speech.
        """
        from pipelines.voice.kokoro.matching import enroll

        return enroll(self._graph, self.packs, self._settings.cache / "voices", reference, name, report)

    def length(self, text: str, language: str, voice: VoiceProfile) -> LineLength:
        """Natural length and the range that can be asked for; no sound is made.

        Raises:
            InputError: nothing in the text can be spoken.
        """
        return _range(self._drafts(text, language, voice))

    def speak(
        self, text: str, language: str, voice: VoiceProfile, options: SpeakOptions, report: Report
    ) -> Speech:
        """Say a text: −16 LUFS, true peak −1 dBTP, exactly ``options.seconds`` long when that is set.

        Raises:
            InputError: nothing in the text can be spoken.
            OptionError: the length or speed asked for is out of range.
        """
        drafts = self._drafts(text, language, voice, options.take)
        change = self._accent(voice, language).change
        lengths = _shares(drafts, _asked(drafts, options))
        parts: list[Spoken] = []
        report.step("speak", 0, len(drafts), "parts")
        for done, (one, seconds) in enumerate(zip(drafts, lengths[0], strict=True), start=1):
            parts.append(speak(self._graph, one, seconds, change))
            report.step("speak", done, len(drafts), "parts")
        samples, phones, words = _joined(parts, lengths[1])
        return Speech(_finished(samples, voice), phones, words)

    def _drafts(self, text: str, language: str, voice: VoiceProfile, take: int = 0) -> tuple[Draft, ...]:
        accent = self._accent(voice, language)
        return tuple(
            draft(self._graph, line, accent.style, accent.tuning, take) for line in lines(text, language)
        )

    def _accent(self, voice: VoiceProfile, language: str) -> Accent:
        """How the voice speaks the language; found once for each pair (it takes a few spoken sentences)."""
        if not is_matched(voice):
            return Accent(voice.arrays["style"], _plain_tuning(voice), None)
        key = _accent_key(voice, language)
        if key not in self._accents:
            folder = self._settings.cache / "accents"
            found = load_accent(folder, key)
            if found is None:
                found = make_accent(self._graph, self.packs, voice, language)
                save_accent(folder, key, found)
            self._accents[key] = found
        return self._accents[key]


def _accent_key(voice: VoiceProfile, language: str) -> str:
    digest = hashlib.sha256(f"{ACCENTS} {language}".encode())
    for name in sorted(voice.arrays):
        digest.update(np.ascontiguousarray(voice.arrays[name]).tobytes())
    return digest.hexdigest()[:32]


def _plain_tuning(voice: VoiceProfile) -> Tuning:
    """Factors on pitch and liveliness that a voice saved by an earlier method carries; none for a stock voice."""

    def fact(key: str) -> float:
        value = voice.facts.get(key, 1.0)
        return float(value) if isinstance(value, int | float) else 1.0

    return Tuning(fact("pitch"), fact("liveliness"), fact("formant"))


def _range(drafts: Sequence[Draft]) -> LineLength:
    gaps = GAP * (len(drafts) - 1)
    natural = sum(one.seconds for one in drafts) + gaps
    shortest = max(durations.SHORTEST * natural, natural - sum(one.slack for one in drafts) - gaps * 0.3)
    return LineLength(natural, shortest, durations.LONGEST * natural)


def _asked(drafts: Sequence[Draft], options: SpeakOptions) -> float | None:
    """Seconds to be met, or None for the natural length."""
    reach = _range(drafts)
    if options.seconds is None:
        if not options.speed > 0:
            raise OptionError(
                Message(f"A speed of {options.speed:g} is impossible", f"语速 {options.speed:g} 无效"),
                Message("1 is natural, 1.25 a quarter faster.", "1 为自然语速,1.25 快四分之一。"),
            )
        if options.speed == 1.0:
            return None
        # A speed is a wish, unlike ``seconds``: beyond the range the nearest length that can be said is taken.
        return float(np.clip(reach.natural / options.speed, reach.shortest, reach.longest))
    if not reach.shortest - SECONDS <= options.seconds <= reach.longest + SECONDS:
        low, high = reach.shortest, reach.longest
        raise OptionError(
            Message(
                f"{options.seconds:.2f} s is out of reach for this line: it can be {low:.2f} to {high:.2f} s long",
                f"这一句无法在 {options.seconds:.2f} 秒内说完:可选 {low:.2f} 到 {high:.2f} 秒",
            ),
            Message(
                "Shorten or lengthen the text, or ask for another length.", "请增删文字,或改用其他时长。"
            ),
        )
    return options.seconds


def _shares(drafts: Sequence[Draft], seconds: float | None) -> tuple[list[float | None], float]:
    """Length of each part and of the gaps between them; all change by the same factor."""
    if seconds is None:
        return [None] * len(drafts), GAP
    factor = seconds / _range(drafts).natural
    parts: list[float | None] = [one.seconds * factor for one in drafts]
    return parts, GAP * factor


def _joined(parts: Sequence[Spoken], gap: float) -> tuple[Floats, tuple[Phone, ...], tuple[Word, ...]]:
    """Parts one after the other with silences between; the sum of the lengths is kept to the sample."""
    pieces: list[Floats] = []
    phones: list[Phone] = []
    words: list[Word] = []
    clock, length = 0.0, 0
    for part in parts:
        phones += [Phone(p.start + clock, p.end + clock, p.symbol) for p in part.phones]
        words += [Word(w.start + clock, w.end + clock, w.text, w.prob) for w in part.words]
        pieces.append(part.samples)
        length += len(part.samples)
        if part is not parts[-1]:
            silent = round(gap * SR)
            pieces.append(np.zeros(silent, np.float32))
            length += silent
        clock = length / SR
    return np.concatenate(pieces), tuple(phones), tuple(words)


def _finished(samples: Floats, voice: VoiceProfile) -> Audio:
    """Loudness and peak set."""
    from pipelines.audio import normalise

    taps = voice.arrays.get("filter")  # of a voice saved by an earlier method
    if taps is not None:
        samples = spectrum.filtered(samples, taps)
    return normalise(Audio(samples, SR))
