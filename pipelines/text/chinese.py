"""Chinese and Japanese: simplified characters for the speech model, and signs the grammars misread."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pipelines.text.roman import value

if TYPE_CHECKING:
    from opencc import OpenCC

UNITS = {
    "kg": "千克", "mg": "毫克", "g": "克", "km/h": "公里每小时", "km": "公里", "cm": "厘米", "mm": "毫米", "m": "米",
    "ml": "毫升", "L": "升", "GB": "吉字节", "MB": "兆字节", "kHz": "千赫", "Hz": "赫兹", "kW": "千瓦", "V": "伏",
}  # fmt: skip
UNIT = re.compile(
    r"(?<![A-Za-z\d.])(\d+(?:\.\d+)?)\s?("
    + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    + r")(?![A-Za-z/])"
)
HAN = r"\u4e00-\u9fff"
GAP = re.compile(rf"(?<=\d)\s+(?=[年月日号时点分秒元块个万亿千百岁人次])|(?<=[{HAN}])\s+(?=\d)")
LETTER_NUMBER = re.compile(r"(?<=[A-Za-z])[-_]?(?=\d)")
RANGE = re.compile(r"(?<=[\d℃%])\s?[-–~～]\s?(?=[￥¥$€]?\d)(?!\d+[-–]\d)")
NOT_A_RANGE = re.compile(r"\d{2,4}-\d{1,2}-\d{1,2}|\d{3,4}-\d{7,8}|\d+-\d+-\d+")
ADDRESS = re.compile(
    r"https?://[^\s，。；！？（）\u4e00-\u9fff]+|[A-Za-z0-9.+_-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}|www\.[A-Za-z0-9./-]+"
)
ADDRESS_SIGNS = {
    ".": "点",
    "/": "斜杠",
    "@": "艾特",
    "_": "下划线",
    "-": "杠",
    "?": "问号",
    "=": "等于",
    "&": "和",
}
CHAPTER = re.compile(
    r"(?<=第)[IVX]+(?=[章节卷部回幕编条期级代届])|(?<![A-Za-z])[IVX]+(?=[期级型类](?!\w*[A-Za-z]))"
)
GROUPED = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)")
VERSION = re.compile(r"(?<![\d.])\d+(?:\.\d+){2,}(?![\d.])")
JOINT = re.compile(r"(?<=[A-Za-z])-(?=[A-Za-z])")


@cache
def _converter() -> OpenCC:
    from opencc import OpenCC

    # Not t2s: that leaves the particle of 沿著 as it is, which mainland readers and the voices know as 着.
    return OpenCC("tw2s")


def simplified(text: str) -> str:
    """Traditional to simplified characters, phrase by phrase (OpenCC); the voices were trained on simplified text."""
    return str(_converter().convert(text))


def _address(match: re.Match[str]) -> str:
    """Web and mail addresses: their signs by name, the rest as words."""
    said = re.sub(r"^https?://", "", match[0])
    for sign, name in ADDRESS_SIGNS.items():
        said = said.replace(sign, f" {name} ")
    return said


def prepare_chinese(text: str) -> str:
    """Spell out what WeText's Chinese grammar misreads: hyphens, ranges, units, letter-and-number names."""
    text = ADDRESS.sub(_address, text)
    text = CHAPTER.sub(lambda match: str(value(match[0])), text)
    text = GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    text = VERSION.sub(lambda match: match[0].replace(".", "点"), text)
    text = JOINT.sub(" ", text)
    text = LETTER_NUMBER.sub(" ", text)
    if not NOT_A_RANGE.search(text):
        text = RANGE.sub("到", text)
    text = re.sub(r"[￥¥](?=\d[\d.,]*(?:到[\d.,]+)?\s?元)", "", text)
    text = UNIT.sub(lambda match: match[1] + UNITS[match[2]], text)
    text = GAP.sub("", text)
    return re.sub(r"(?<=[A-Za-z])\s?&\s?(?=[A-Za-z])", " and ", text)


def prepare_japanese(text: str) -> str:
    """Readings WeText's Japanese grammar misses: ranges and joints between letters."""
    text = JOINT.sub(" ", text)
    return re.sub(r"(?<=\d)\s?[-–~～〜]\s?(?=\d)", "から", text) if not NOT_A_RANGE.search(text) else text
