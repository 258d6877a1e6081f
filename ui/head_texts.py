"""Texts of the Talking head tab, in English and Chinese."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "ui_head_face": ("1 · A face: video or picture", "1 · 人脸：视频或图片"),
    "ui_head_audio": ("2 · What it should say: a sound file", "2 · 要说的内容：声音文件"),
    "ui_head_text": ("…or text, spoken by the voice engine", "……或文字，由语音引擎说出"),
    "ui_head_words": ("Text", "文字"),
    "ui_head_sample": (
        "A sample of the voice, 6 to 15 seconds (empty: a stock voice)",
        "声音样本，6 到 15 秒（留空则用内置声音）",
    ),
    "ui_head_language": ("Language that is spoken", "所说的语言"),
    "ui_head_button": ("3 · Make it talk", "3 · 生成视频"),
    "ui_head_fit": ("When the sound is longer than the video", "声音比视频长时"),
    "ui_head_fit_loop": ("play the video again", "循环播放"),
    "ui_head_fit_pingpong": ("play it backwards and forwards", "来回播放"),
    "ui_head_fit_freeze": ("hold the last picture", "停在最后一帧"),
    "ui_head_fit_trim": ("cut the sound", "截断声音"),
    "ui_head_offset": ("Move the lips against the sound (seconds)", "口型相对声音的偏移（秒）"),
    "ui_head_motion": ("A picture's head moves a little", "图片中的头部轻微摆动"),
    "ui_head_result": ("Video", "视频"),
}
