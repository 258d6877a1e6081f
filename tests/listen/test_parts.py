"""The parts of listening by themselves: windows, filters, scoring, Chinese, digits, sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipelines.asr.chinese import tidy
from pipelines.asr.filters import Heard, believable
from pipelines.asr.itn import normalised
from pipelines.asr.listener import language_samples
from pipelines.asr.scoring import score
from pipelines.asr.sentences import lines
from pipelines.asr.vad import FRAME_SECONDS, RATE, SpeechMap, speech_map
from pipelines.asr.windows import cut, plan_windows
from pipelines.asr.words import finished
from pipelines.transcribe import hotword_list
from pipelines.types import Segment, Word


def speech_in(*spans: tuple[float, float], duration: float = 60.0) -> SpeechMap:
    frames = np.zeros(int(duration / FRAME_SECONDS), np.float32)
    for start, end in spans:
        frames[round(start / FRAME_SECONDS) : round(end / FRAME_SECONDS)] = 0.99
    return speech_map(frames, duration)


def spoken(*words: tuple[float, float, str]) -> Segment:
    made = tuple(Word(a, b, text) for a, b, text in words)
    return Segment(made[0].start, made[-1].end, "".join(w.text for w in made), made)


def test_speech_begins_and_ends_with_hysteresis() -> None:
    frames = np.array([0.4] * 10 + [0.6] * 20 + [0.4] * 20 + [0.1] * 50 + [0.6, 0.1] + [0.1] * 20, np.float32)
    spans = speech_map(frames, len(frames) * FRAME_SECONDS).spans
    assert spans == ((10 * FRAME_SECONDS, 50 * FRAME_SECONDS),)  # the single loud frame is a click


def test_windows_leave_silence_out_and_map_times_back() -> None:
    windows = plan_windows(speech_in((5, 8), (9, 12), (40, 45)))
    assert len(windows) == 1
    first, second = windows[0].pieces
    assert first == pytest.approx((4.4 * RATE, 12.4 * RATE), abs=FRAME_SECONDS * RATE)
    assert second == pytest.approx((39.4 * RATE, 45.4 * RATE), abs=FRAME_SECONDS * RATE)
    start, end, piece = windows[0].place(9.0, 9.5)  # one second into the second piece
    assert (start, end, piece) == (pytest.approx(40.4, abs=0.04), pytest.approx(40.9, abs=0.04), 1)


def test_long_speech_is_cut_where_it_is_quiet() -> None:
    speech = speech_in((0, 1000), duration=1000.0)
    quiet = speech.probabilities.copy()
    quiet[round(280 / FRAME_SECONDS) : round(281 / FRAME_SECONDS)] = 0.6
    windows = plan_windows(replace(speech, probabilities=quiet))
    assert windows[0].end == pytest.approx(280.5, abs=0.6)
    assert all(w.pieces[-1][1] - w.pieces[0][0] <= 300 * RATE for w in windows)
    assert windows[-1].end == 1000
    assert [w.pieces[0][0] for w in windows[1:]] == [w.pieces[-1][1] for w in windows[:-1]]


def test_cutting_a_stream_gives_exactly_the_windows_samples() -> None:
    sound = np.arange(70 * RATE, dtype=np.float32)
    windows = plan_windows(speech_in((5, 8), (11, 30), (50, 69), duration=70.0), longest=25.0)
    assert len(windows) == 2
    blocks = (sound[i : i + 7777] for i in range(0, len(sound), 7777))
    for window, heard in cut(blocks, windows):
        assert np.array_equal(heard, np.concatenate([sound[a:b] for a, b in window.pieces]))


def test_language_is_asked_at_several_places() -> None:
    samples = language_samples(plan_windows(speech_in((100, 1100), duration=1200.0)))
    assert len(samples) == 4
    assert samples[0].start == pytest.approx(99.4, abs=0.1)
    assert samples[-1].end == pytest.approx(1100.4, abs=0.1)
    assert all(sum(b - a for a, b in s.pieces) <= 30 * RATE for s in samples)


def test_made_up_text_is_dropped_and_real_text_stays() -> None:
    speech = speech_in((1, 5), (20, 21), duration=30.0)
    real = Heard(spoken((1.0, 2.0, " No,"), (2.0, 3.0, " no,"), (3.0, 3.8, " no.")), 0.1, -0.3)
    on_silence = Heard(spoken((10, 12, " Thanks for watching!")), 0.5, -0.3)
    copied = Heard(spoken((4.6, 4.9, " No, no, no.")), 0.98, -0.3)
    looped = Heard(spoken(*((20 + i * 0.07, 20.07 + i * 0.07, "证") for i in range(11))), 0.99, -0.5)
    assert [s.text.strip() for s in believable([real, copied, on_silence, looped], speech)] == ["No, no, no."]


def test_a_stuck_tail_is_cut_off() -> None:
    speech = speech_in((0, 6))
    words = [(0.0, 0.5, "大学"), (0.5, 1.0, "获"), (1.0, 1.4, "刑")] + [
        (4.2 + i * 0.07, 4.27 + i * 0.07, "证") for i in range(11)
    ]
    (kept,) = believable([Heard(spoken(*words), 0.2, -0.5)], speech)
    assert (kept.text, kept.end) == ("大学获刑", 1.4)


def test_the_prompt_is_not_read_back() -> None:
    speech = speech_in((0, 2), (10, 11))
    echo = Heard(spoken((10.0, 10.9, "以下是普通话的句子。")), 0.7, -0.5)
    assert list(believable([echo], speech, "以下是普通话的句子。")) == []


def test_times_are_clamped_ordered_and_drawn_to_the_speech() -> None:
    speech = speech_in((10, 14), duration=14.0)
    late = Heard(spoken((0.5, 10.6, " First"), (10.6, 11.0, " words")), 0.1, -0.2)
    over = Heard(spoken((10.8, 12.0, " then"), (12.0, 18.0, " more")), 0.1, -0.2)
    first, second = believable([late, over], speech)
    assert first.start == pytest.approx(9.9, abs=0.05)
    assert second.start >= first.end
    assert second.end <= 14.0
    assert all(w.end > w.start for s in (first, second) for w in s.words)


def test_pieces_become_words() -> None:
    segment = finished(spoken((0, 1, " forty"), (1, 2, "-two"), (2, 3, " lines.")), "en")
    assert [w.text for w in segment.words] == ["forty-two", "lines."]
    assert segment.text == "forty-two lines."


def test_chinese_text_follows_one_rule() -> None:
    assert tidy("大學生利用漏洞, 免費吃肯德基,獲行.") == "大学生利用漏洞\uff0c免费吃肯德基\uff0c获行\u3002"
    assert tidy("我 想 用iPhone 15 拍照,可以嗎?") == "我想用 iPhone 15拍照\uff0c可以吗\uff1f"
    assert tidy("增长3.5%, 价格1,000元") == "增长3.5%\uff0c价格1,000元"
    assert tidy("Hello, world.") == "Hello, world."
    assert tidy("我們沿著河邊散步,他寫了著名的著作.") == "我们沿着河边散步\uff0c他写了著名的著作\u3002"


def test_scores() -> None:
    assert score("Ask not, what your country can do!", "ask not what your county can", "en").errors == 2
    wrong = score("达摩院推出的模型", "達摩運推出的模型\u3002", "zh")  # script folded, one character wrong
    assert (wrong.errors, wrong.total) == (1, 8)
    assert score("", "made up", "en").rate == 2.0


@pytest.mark.parametrize(
    ("said", "written", "language"),
    [
        ("上午十一点开会\uff0c共有三百二十五人", "上午11点开会\uff0c共有325人", "zh"),
        ("给一三三四五三一二二二一打电话", "给13345312221打电话", "zh"),
        ("十乘二十毫米", "10乘20mm", "zh"),
        ("我们一起去\uff0c一样的", "我们一起去\uff0c一样的", "zh"),
        ("I paid twenty five dollars on May third.", "I paid $25 on May 3rd.", "en"),
        ("No one knows.", "No one knows.", "en"),
        ("tengo veinte", "tengo veinte", "es"),
    ],
)
def test_spoken_numbers_in_digits(said: str, written: str, language: str) -> None:
    assert normalised(said, language) == written


def _talk(text: str, start: float = 0.0, each: float = 0.3) -> Segment:
    words, now = [], start
    for piece in text.split():
        if piece == "|":
            now += 1.0
            continue
        words.append(Word(now, now + each, piece))
        now += each
    return Segment(start, words[-1].end, text.replace("| ", ""), tuple(words))


def test_lines_are_sentences_across_segments() -> None:
    first = _talk("So we went to see Mr. Smith in")
    second = _talk("D.C. for the day. Then we came home", first.end)
    third = _talk("and slept.", second.end)
    assert [line.text for line in lines([first, second, third], "en")] == [
        "So we went to see Mr. Smith in D.C. for the day.",
        "Then we came home and slept.",
    ]


def test_a_pause_ends_a_line_and_short_ones_join() -> None:
    assert [line.text for line in lines([_talk("Oh. I see what you mean now | and then he left")], "en")] == [
        "Oh. I see what you mean now",
        "and then he left",
    ]


def test_long_sentences_part_at_commas() -> None:
    text = "this is a very long sentence that goes on and on, " * 6
    found = list(lines([_talk(text.strip())], "en"))
    assert all(line.end - line.start <= 10 for line in found)
    assert all(line.text.endswith(",") for line in found)
    assert " ".join(line.text for line in found) == text.strip()


def test_lines_keep_speakers_apart_and_segments_without_words() -> None:
    a, b = replace(_talk("Hello there you"), speaker="A"), replace(_talk("good day sir", 1.0), speaker="B")
    bare = Segment(5.0, 6.0, "No words here")
    assert [(x.speaker, x.text) for x in lines([a, b, bare], "en")] == [
        ("A", "Hello there you"),
        ("B", "good day sir"),
        (None, "No words here"),
    ]


def test_hotwords_from_text() -> None:
    assert hotword_list("Dubwright\uff0c Kokoro, Dubwright\n获刑") == ("Dubwright", "Kokoro", "获刑")
    assert hotword_list(None) == ()
