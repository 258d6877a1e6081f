"""Word and phone times: the phone network against known times, beside a recogniser's word times in the same run.

    python -m bench.align [--data FOLDER] [--skip-recogniser]

Three tables. Frames: how many of the network's 20 ms frames are right on spoken lines it was not trained with. Words,
generated: how far word starts lie from the voice engine's own, eight voices, English and Mandarin. Words, real: the
same against starts marked by eye (tests/listen/word_starts.tsv).
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from bench.asr import SAID
from pipelines.asr import RECOGNIZERS, EngineContext, RecognitionOptions, align, said
from pipelines.audio import resample
from pipelines.backend.policy import Policy
from pipelines.media import read_sound
from pipelines.phones import SR, STEP, Heard, classes, hear
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Phone, Segment, Speech
from pipelines.voice import VOICES, SpeakOptions, StockVoices

MARKS = Path(__file__).resolve().parents[1] / "tests" / "listen" / "word_starts.tsv"
REPORT = NullReport()
# Not among the texts of training/phones.
LINES = {
    "en": (
        ("af_bella", "The committee postponed its verdict until the witnesses could be heard again."),
        ("am_michael", "Fifteen volunteers planted cherry trees along the edge of the parking lot."),
        ("bf_emma", "Would anybody object if we moved the piano closer to the fireplace?"),
        ("bm_george", "He claims that the shortest route goes through the tunnel, not over the ridge."),
        ("af_heart", "My laptop froze twice this morning, so I had to write everything by hand."),
        ("am_puck", "Seven swans were sleeping beside the mill when the first boats came by."),
        ("zf_xiaobei", "Good evening, and welcome to another episode of our science programme."),
        ("ef_dora", "She folded the blanket, put out the lamp and closed her eyes."),
    ),
    "zh": (
        ("zf_xiaobei", "我们公司下个月要搬到新的办公大楼。"),
        ("zf_xiaoni", "这位画家的作品在世界各地都很受欢迎。"),
        ("zf_xiaoxiao", "请把这份文件复印三份,然后交给王经理。"),
        ("zf_xiaoyi", "昨天的音乐会真是太精彩了,你应该一起去。"),
        ("zm_yunjian", "由于天气原因,前往广州的列车全部取消。"),
        ("zm_yunxi", "冬天吃火锅,身体一下子就暖和起来了。"),
        ("zm_yunxia", "他每天晚上都要给女儿讲一个睡前故事。"),
        ("af_heart", "虽然路很远,我们还是决定骑自行车去。"),
    ),
    "es": (("ef_dora", "El gobierno anunció que bajará los impuestos a las empresas pequeñas."),),
    "fr": (("ff_siwis", "La bibliothèque restera ouverte pendant toutes les vacances de printemps."),),
    "it": (("if_sara", "Il governo ha promesso nuove scuole per tutti i quartieri della città."),),
    "ja": (("jf_alpha", "新しい美術館は来年の四月に開く予定です。"),),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Starts:
    """Errors of word starts, in seconds, positive: late."""

    ours: list[float]
    recogniser: list[float]

    def row(self, name: str) -> str:
        """One line of a table."""
        return f"{name:22}{len(self.ours):6}  {spread(self.ours)}   {spread(self.recogniser)}"


def spread(errors: Sequence[float]) -> str:
    """Median and 95th percentile of the sizes, and the median itself, in ms."""
    if not errors:
        return f"{'-':>6} {'-':>6} {'-':>6}"
    sizes = np.abs(errors) * 1000
    return f"{np.median(sizes):6.0f} {np.percentile(sizes, 95):6.0f} {np.median(errors) * 1000:+6.0f}"


def spoken(language: str, context: EngineContext) -> Iterable[tuple[str, str, Speech]]:
    """Voice, text and speech of the language's lines."""
    engine = VOICES.get("kokoro", context)
    if not isinstance(engine, StockVoices):
        raise SystemExit("the default voice engine has no stock voices")
    for voice, text in LINES[language]:
        profile = engine.stock(voice, language)
        yield voice, text, engine.speak(text, language, profile, SpeakOptions(), REPORT)


def frames_right(heard: Heard, phones: Sequence[Phone]) -> tuple[int, int]:
    """Frames whose likeliest class is the one that is said, and frames."""
    said = np.zeros(len(heard.scores), np.intp)
    for phone in phones:
        parts = classes(phone.symbol)
        edges = np.linspace(phone.start, phone.end, len(parts) + 1) / STEP
        for part, first, last in zip(parts, edges[:-1], edges[1:], strict=True):
            said[round(first) : round(last)] = part
    return int((heard.scores.argmax(axis=1) == said).sum()), len(said)


def recognised(path: Path, text: str, language: str, context: EngineContext) -> list[float]:
    """Word starts by the recogniser, for the words of the text."""
    engine = RECOGNIZERS.get("whisper", context)
    found = engine.recognize(path, RecognitionOptions(language=language), REPORT)
    words = tuple(word for segment in found.segments for word in said.words_of(segment))
    if not words:
        return []
    return [item.start for item in said.items(Segment(0.0, words[-1].end, text, words), language)]


def on_generated(language: str, context: EngineContext, folder: Path, ask: bool) -> tuple[Starts, float]:
    """Word starts and share of right frames on the language's lines."""
    ours: list[float] = []
    theirs: list[float] = []
    right = total = 0
    for number, (_, text, speech) in enumerate(spoken(language, context)):
        path = folder / f"{language}-{number}.wav"
        soundfile.write(path, speech.audio.samples, speech.audio.sr)
        heard = hear([resample(speech.audio.samples, speech.audio.sr, SR)])
        own = frames_right(heard, speech.phones)
        right, total = right + own[0], total + own[1]
        found = align.align_text(text, language, heard).words
        ours += [word.start - known.start for word, known in zip(found, speech.words, strict=True)]
        starts = recognised(path, text, language, context) if ask else []
        theirs += [start - known.start for start, known in zip(starts, speech.words, strict=False)]
    return Starts(ours, theirs), right / total


def marked(clip: str) -> list[tuple[int, str, float]]:
    """Place, word and start of the marked words of a recording."""
    rows = [line.split("\t") for line in MARKS.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [(int(place), word, float(start)) for name, place, word, start in rows if name == clip]


def on_real(clip: str, data: Path, context: EngineContext, ask: bool) -> Starts:
    """Word starts of one recording against the marks."""
    path, text = data / "speech" / f"{clip}.flac", SAID[f"{clip}.flac"]
    found = align.align_text(text, "en", hear(read_sound(path, context.settings, sr=SR))).words
    theirs = recognised(path, text, "en", context) if ask else []
    marks = marked(clip)
    return Starts(
        [found[place].start - start for place, _, start in marks],
        [theirs[place] - start for place, _, start in marks if place < len(theirs)],
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("DUBWRIGHT_TEST_DATA", "."))
    parser.add_argument("--skip-recogniser", action="store_true")
    asked = parser.parse_args()
    context, ask = EngineContext(Settings.load(), Policy()), not asked.skip_recogniser
    rows = []
    with tempfile.TemporaryDirectory() as place:
        print("frames right")
        for language in LINES:
            starts, right = on_generated(language, context, Path(place), ask)
            print(f"{language:22}{right:6.0%}")
            rows.append(starts.row(f"generated, {language}"))
    rows += [on_real(clip, Path(asked.data), context, ask).row(clip) for clip in ("en_jfk", "en_lj_0001")]
    print("\nword starts, ms off     words  network: median 95 % bias   recogniser: the same")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
