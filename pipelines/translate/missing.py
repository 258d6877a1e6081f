"""Nobody translates a pair: the words that say so, and what would help."""

from __future__ import annotations

from pipelines.errors import Message, TranslatorMissing
from pipelines.languages import language_name
from pipelines.translate.packages import package_for


def pair_missing(source: str, target: str) -> TranslatorMissing:
    """The pair cannot be translated here, and what would help."""
    one, other = language_name(source), language_name(target)
    package = package_for(source, target)
    what = Message(
        f"There is no translator from {one.en} to {other.en} on this computer",
        f"本机没有从{one.zh}到{other.zh}的翻译引擎",
    )
    by_hand = Message(
        "type or paste the lines, give a subtitle file with the translation, or the address of a language model.",
        "输入或粘贴译文、提供译文字幕文件,或填写语言模型地址。",
    )
    if package:
        return TranslatorMissing(
            what,
            Message(
                f"On Debian or Ubuntu `sudo apt install {package}` adds one; otherwise {by_hand.en}",
                f"在 Debian 或 Ubuntu 上运行 `sudo apt install {package}` 即可安装;也可以{by_hand.zh}",
            ),
        )
    return TranslatorMissing(what, Message(by_hand.en[0].upper() + by_hand.en[1:], f"请{by_hand.zh}"))
