"""Texts of the Voice cloning tab in English and Chinese; ``ui.texts`` holds them with all others."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    # The sample
    "ui_voice_sample": (
        "1 · A sample of the voice: 6 to 15 seconds, one person",
        "1 · 声音样本：6 到 15 秒，一个人",
    ),
    "ui_voice_consent": ("This is my voice, or I may use it", "这是我的声音，或我已获授权"),
    "ui_sample_video": ("…or from a video", "……或取自视频"),
    "ui_sample_start": ("from second", "起（秒）"),
    "ui_sample_end": ("to second (0: end)", "止（秒，0 为结尾）"),
    "ui_sample_used": ("What will be used", "将要使用的部分"),
    "ui_sample_taken": (
        "The sound was taken from the file; its cleanest stretch is used.",
        "已从文件中取出声音，将使用其中最干净的一段。",
    ),
    "ui_sample_speech": ("{speech} s of speech, {used} s used", "语音 {speech} 秒，使用 {used} 秒"),
    "ui_sample_snr": ("{snr} dB over the noise", "信噪比 {snr} dB"),
    "ui_sample_bandwidth": ("up to {khz} kHz", "频带至 {khz} kHz"),
    "ui_sample_clipped": ("{share} % clipped", "削波 {share}%"),
    "ui_sample_room": ("dies away in {decay} s", "衰减 {decay} 秒"),
    "ui_sample_silence": ("{share} % silence", "静音 {share}%"),
    "ui_sample_person": ("{count} person", "{count} 人"),
    "ui_sample_people": ("{count} people", "{count} 人"),
}
