"""What is written becomes what is said: the failures users reported of other programs, language by language."""

from __future__ import annotations

import pytest

from pipelines.text import clauses, clean, normalise, pieces, sentences

ENGLISH = [
    ("text-to-speech and Anti-Gravity", "text-to-speech and Anti-Gravity"),
    ("CosyVoice2 and beta1", "CosyVoice two and beta one"),
    ("v1, v2 and v3", "v one, v two and v three"),
    ("we'll see what's up, don't we?", "we'll see what's up, don't we?"),
    ("we’ll see what’s up", "we'll see what's up"),
    ("It's $3.50.", "It's three dollars and fifty cents."),
    ("It costs $1.01", "It costs one dollar and one cent"),
    ("I paid $5 million", "I paid five million dollars"),
    ("3.2 kg or 3.2g", "three point two kilograms or three point two grams"),
    ("at 5:30 pm", "at five thirty PM"),
    ("on 12/25/2023", "on the twenty fifth of december twenty twenty three"),
    ("in 1984", "in nineteen eighty four"),
    ("the 1990s", "the nineteen nineties"),
    ("they counted 2132 birds", "they counted two thousand one hundred and thirty two birds"),
    ("1,000 or 3000 men", "one thousand or three thousand men"),
    ("50% off", "fifty percent off"),
    ("COVID-19, an F-16", "COVID nineteen, an F sixteen"),
    ("Dr. Smith, No. 5", "Doctor Smith, number five"),
    ("a@b.com", "a at b dot com"),
    ("one -- two", "one, two"),
    ("Hello 😀👍🏽 world!!!", "Hello world!"),
    ("Hi!\nYes\nNo", "Hi! Yes. No"),
    ("7-9 people", "seven to nine people"),
    ("It is -5°C", "It is negative five degrees Celsius"),
    ("-5 to +3", "minus five to plus three"),
    ("Call +1 (555) 123-4567", "Call plus one, five five five, one two three, four five six seven"),
    ("or 555-0199.", "or five five five, zero one nine nine."),
    ("Chapter IV, Louis XIV", "Chapter four, Louis the fourteenth"),
    ("World War II. I went; MIX it", "World War two. I went; MIX it"),
    ("https://example.com/docs?q=1", "example dot com slash docs question mark q equals one"),
    ("version 3.11.2", "version three point eleven point two"),
    ("at 10:05 a.m.", "at ten o five AM"),
    ("a 50/50 chance", "a fifty fifty chance"),
    ("C++, C#, #1", "C plus plus, C sharp, number one"),
    ("The U.S. vs. Mr. Jones etc.", "The US versus Mister Jones et cetera"),
]
CHINESE = [
    ("text-to-speech 和 Anti-Gravity", "text to speech 和 Anti Gravity"),
    ("CosyVoice2 的 beta1 版本", "CosyVoice 二 的 beta 一 版本"),
    ("v1、v2 和 v3导通", "v 一、v 二 和 v 三导通"),
    ("价格是￥12.5，重3.2g", "价格是十二点五元，重三点二克"),
    ("2026/11/30 的气温", "二零二六年十一月三十日 的气温"),
    ("-5℃到8℃，3%", "负五摄氏度到八摄氏度，百分之三"),
    ("COVID-19 有5G", "COVID 十九 有五G"),
    ("￥100-200元", "一百到两百元"),
    ("10:05-11:00", "十点零五分到十一点"),
    ("該公司 2023 年", "该公司二零二三年"),
    ("軟體與後來😀", "软体与后来"),
    ("他——走了--吗", "他,走了,吗"),
    ("电话010-62345678或13812345678", "电话零一零六二三四五六七八或幺三八幺二三四五六七八"),
    ("第IV章，IV期", "第四章，四期"),
    ("v1.2.3版本", "v 一点二点三版本"),
    ("网址是https://www.example.com/a", "网址是www 点 example 点 com 斜杠 a"),
    ("邮箱a@b.com", "邮箱a 艾特 b 点 com"),
    ("¥1,234.56", "一千二百三十四点五六元"),
    ("早上8:30，下午3:05", "早上八点三十分，下午三点零五分"),
    ("3×4=12，1/2杯", "三乘四等于十二，二分之一杯"),
    ("你好👋🏻，約翰", "你好，约翰"),
    ("第3名，100km/h", "第三名，一百公里每小时"),
]
OTHERS = [
    ("es", "El 12/05/2023 a las 15:30", "El doce de mayo de dos mil veintitrés a las quince y treinta"),
    ("es", "pagué 1.500,50 €", "pagué mil quinientos euros con cincuenta"),
    ("es", "Tengo 21 años y -5 °C", "Tengo veintiún años y menos cinco grados"),
    ("es", "1 kg, 3,5 kg, 50%", "un kilo, tres coma cinco kilos, cincuenta por ciento"),
    ("es", "El Sr. López de EE. UU.", "El señor López de Estados Unidos"),
    ("fr", "Le 1/5/2023 à 15h30", "Le premier mai deux mille vingt-trois à quinze heures trente"),
    ("fr", "1 500 € et 3,5 %", "mille cinq cents euros et trois virgule cinq pour cent"),
    ("it", "alle 15:30 ho pagato 1.500 €", "alle quindici e trenta ho pagato millecinquecento euro"),
    ("pt", "R$ 20 às 15:30", "vinte reais às quinze e trinta"),
    ("hi", "₹500 और 50%", "500 रुपये और 50 प्रतिशत"),
    ("ja", "2023年12月5日の午後3時30分に100円", "二千二十三年十二月五日の午後三時三十分に百円"),
]


@pytest.mark.parametrize(("written", "said"), ENGLISH)
def test_english(written: str, said: str) -> None:
    assert normalise(written, "en") == said


@pytest.mark.parametrize(("written", "said"), CHINESE)
def test_chinese(written: str, said: str) -> None:
    assert normalise(written, "zh") == said


@pytest.mark.parametrize(("language", "written", "said"), OTHERS)
def test_other_languages(language: str, written: str, said: str) -> None:
    assert normalise(written, language) == said


def test_numbers_are_read_in_the_language_of_their_clause() -> None:
    said = normalise("revenue in 2023 reached 2132; 该公司 2023 年营收达到 2132 万元", "zh")
    assert said == (
        "revenue in twenty twenty three reached two thousand one hundred and thirty two; "
        "该公司二零二三年营收达到两千一百三十二万元"
    )


@pytest.mark.parametrize("language", ["en", "zh", "es", "ja"])
@pytest.mark.parametrize("text", ["", "   ", "。", "...", "😀👍", "--", "?!", "\n\n", "«»", "\u200b\ufeff"])
def test_nothing_to_say_is_empty(language: str, text: str) -> None:
    assert normalise(text, language) == ""


def test_no_digit_is_left_where_a_grammar_exists() -> None:
    text = "0 1 2 10 007 99 1,234 56.78 12:34 5% $6 2024 3rd 4x4 A1 1st 10-20 2/3 9.9.9 10000000"
    for language in ("en", "zh", "es", "fr", "it", "pt"):
        assert not any(character.isdigit() for character in normalise(text, language)), language


def test_clean_keeps_words_of_every_script_and_drops_what_is_invisible() -> None:
    assert clean("नमस्ते\u200b café ①  é\u0301") == "नमस्ते café ① é\u0301"
    assert clean("“Hi” — he said…and left") == "“Hi”, he said… and left"


def test_clauses_follow_the_script() -> None:
    found = [
        (clause.text, clause.language)
        for clause in clauses("我用 iPhone 15, 很好。That is all, folks.", "zh")
    ]
    assert found == [("我用 iPhone 15,很好。", "zh"), ("That is all, folks.", "en")]


def test_sentences_know_abbreviations_and_numbers() -> None:
    assert sentences("Dr. Smith paid 3.5 dollars. He left! Did he? Yes.") == (
        "Dr. Smith paid 3.5 dollars.",
        "He left!",
        "Did he?",
        "Yes.",
    )
    assert sentences("你好。今天好吗？“好。”走吧") == ("你好。", "今天好吗？", "“好。”", "走吧")


def test_pieces_never_exceed_the_limit_and_lose_nothing() -> None:
    text = "一" * 150 + "。" + "word " * 90 + "end. Short one. " + "a, b; c: " * 30
    parts = pieces(text, len, 60)
    assert max(map(len, parts)) <= 60
    assert "".join("".join(parts).split()) == "".join(text.split())
