"""Languages as the menus show them."""

from __future__ import annotations

from ui.i18n import text

NAMES: dict[str, tuple[str, str]] = {
    "en": ("English", "英语"),
    "zh": ("Chinese", "中文"),
    "es": ("Spanish", "西班牙语"),
    "fr": ("French", "法语"),
    "it": ("Italian", "意大利语"),
    "pt": ("Portuguese", "葡萄牙语"),
    "hi": ("Hindi", "印地语"),
    "ja": ("Japanese", "日语"),
    "de": ("German", "德语"),
    "ru": ("Russian", "俄语"),
    "ko": ("Korean", "韩语"),
    "ar": ("Arabic", "阿拉伯语"),
    "nl": ("Dutch", "荷兰语"),
    "pl": ("Polish", "波兰语"),
    "tr": ("Turkish", "土耳其语"),
    "uk": ("Ukrainian", "乌克兰语"),
    "vi": ("Vietnamese", "越南语"),
    "id": ("Indonesian", "印尼语"),
    "th": ("Thai", "泰语"),
    "ca": ("Catalan", "加泰罗尼亚语"),
}
AUTOMATIC = ""


def name(code: str, language: str) -> str:
    """A language's name in the interface language; an unknown code stands for itself."""
    en, zh = NAMES.get(code, (code, code))
    return zh if language == "zh" else en


def spoken_choices(language: str, codes: tuple[str, ...] = tuple(NAMES)) -> list[tuple[str, str]]:
    """Menu of the languages that may be heard, automatic first."""
    return [(text(language, "ui_automatic"), AUTOMATIC), *((name(code, language), code) for code in codes)]
