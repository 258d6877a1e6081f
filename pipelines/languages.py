"""Languages by ISO 639-1 code (three letters where there is no shorter one): their names in both interface languages."""

from __future__ import annotations

from pipelines.errors import Message, OptionError

_TABLE = """
af Afrikaans 南非荷兰语|am Amharic 阿姆哈拉语|ar Arabic 阿拉伯语|as Assamese 阿萨姆语
az Azerbaijani 阿塞拜疆语|ba Bashkir 巴什基尔语|be Belarusian 白俄罗斯语|bg Bulgarian 保加利亚语
bn Bengali 孟加拉语|bo Tibetan 藏语|br Breton 布列塔尼语|bs Bosnian 波斯尼亚语|ca Catalan 加泰罗尼亚语
cs Czech 捷克语|cy Welsh 威尔士语|da Danish 丹麦语|de German 德语|el Greek 希腊语|en English 英语
eo Esperanto 世界语|es Spanish 西班牙语|et Estonian 爱沙尼亚语|eu Basque 巴斯克语|fa Persian 波斯语
fi Finnish 芬兰语|fo Faroese 法罗语|fr French 法语|ga Irish 爱尔兰语|gl Galician 加利西亚语
gu Gujarati 古吉拉特语|ha Hausa 豪萨语|haw Hawaiian 夏威夷语|he Hebrew 希伯来语|hi Hindi 印地语
hr Croatian 克罗地亚语|ht Haitian_Creole 海地克里奥尔语|hu Hungarian 匈牙利语|hy Armenian 亚美尼亚语
id Indonesian 印尼语|is Icelandic 冰岛语|it Italian 意大利语|ja Japanese 日语|jv Javanese 爪哇语
ka Georgian 格鲁吉亚语|kk Kazakh 哈萨克语|km Khmer 高棉语|kn Kannada 卡纳达语|ko Korean 韩语|la Latin 拉丁语
lb Luxembourgish 卢森堡语|ln Lingala 林加拉语|lo Lao 老挝语|lt Lithuanian 立陶宛语|lv Latvian 拉脱维亚语
mg Malagasy 马尔加什语|mi Maori 毛利语|mk Macedonian 马其顿语|ml Malayalam 马拉雅拉姆语|mn Mongolian 蒙古语
mr Marathi 马拉地语|ms Malay 马来语|mt Maltese 马耳他语|my Burmese 缅甸语|nb Norwegian_Bokmål 书面挪威语
ne Nepali 尼泊尔语|nl Dutch 荷兰语|nn Norwegian_Nynorsk 新挪威语|no Norwegian 挪威语|oc Occitan 奥克语
pa Punjabi 旁遮普语|pl Polish 波兰语|ps Pashto 普什图语|pt Portuguese 葡萄牙语|ro Romanian 罗马尼亚语
ru Russian 俄语|sa Sanskrit 梵语|sc Sardinian 撒丁语|sd Sindhi 信德语|si Sinhala 僧伽罗语
sk Slovak 斯洛伐克语|sl Slovenian 斯洛文尼亚语|sn Shona 绍纳语|so Somali 索马里语|sq Albanian 阿尔巴尼亚语
sr Serbian 塞尔维亚语|su Sundanese 巽他语|sv Swedish 瑞典语|sw Swahili 斯瓦希里语|ta Tamil 泰米尔语
te Telugu 泰卢固语|tg Tajik 塔吉克语|th Thai 泰语|tk Turkmen 土库曼语|tl Tagalog 他加禄语
tr Turkish 土耳其语|tt Tatar 鞑靼语|uk Ukrainian 乌克兰语|ur Urdu 乌尔都语|uz Uzbek 乌兹别克语
vi Vietnamese 越南语|yi Yiddish 意第绪语|yo Yoruba 约鲁巴语|yue Cantonese 粤语|zh Chinese 中文
"""
NAMES: dict[str, Message] = {
    code: Message(en.replace("_", " "), zh)
    for code, en, zh in (
        entry.split() for line in _TABLE.split("\n") for entry in line.split("|") if entry.strip()
    )
}
# Codes in use elsewhere: ISO 639-2/3 and Whisper's own spellings.
_OTHER_CODES = {
    "jw": "jv", "iw": "he", "in": "id", "cmn": "zh", "zho": "zh", "chi": "zh", "eng": "en", "spa": "es", "fra": "fr",
    "fre": "fr", "deu": "de", "ger": "de", "ita": "it", "por": "pt", "rus": "ru", "jpn": "ja", "kor": "ko", "hin": "hi",
    "cat": "ca", "glg": "gl", "eus": "eu", "nld": "nl", "dut": "nl", "ara": "ar", "ukr": "uk", "pol": "pl", "swe": "sv",
    "dan": "da", "nob": "nb", "nno": "nn", "oci": "oc", "ron": "ro", "rum": "ro", "arg": "an", "ast": "ast", "epo": "eo",
    "isl": "is", "mkd": "mk", "bul": "bg", "bre": "br", "cym": "cy", "srd": "sc", "hbs": "sh", "slv": "sl", "kaz": "kk",
    "tat": "tt", "bel": "be", "mlt": "mt", "ind": "id", "msa": "ms", "zsm": "ms", "urd": "ur", "afr": "af", "tur": "tr",
    "ces": "cs", "cze": "cs", "hun": "hu", "fin": "fi", "ell": "el", "vie": "vi", "tha": "th", "fas": "fa", "heb": "he",
}  # fmt: skip
UNSPACED: frozenset[str] = frozenset(
    {"zh", "yue", "ja", "th", "lo", "my", "km", "bo"}
)  # written without spaces


def language_code(text: str) -> str:
    """The code for what a user or a file says: ``zh-CN``, ``eng``, ``Spanish``, ``西班牙语`` … as ``zh``, ``en``, ``es``.

    Raises:
        OptionError: no language goes by that code or name.
    """
    wanted = text.strip()
    short = wanted.replace("_", "-").split("-")[0].lower()
    short = _OTHER_CODES.get(short, short)
    if short in NAMES:
        return short
    for code, name in NAMES.items():
        if wanted.lower() == name.en.lower() or wanted == name.zh:
            return code
    raise OptionError(
        Message(f"{text!r} is not a language this program knows", f"无法识别语言“{text}”"),
        Message("Use a code such as en, zh, es, fr, ja.", "请使用语言代码,例如 en、zh、es、fr、ja。"),
    )


def language_name(code: str) -> Message:
    """Its name in English and Chinese; an unknown code stands for itself."""
    return NAMES.get(code, Message(code, code))
