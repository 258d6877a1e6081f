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
    # The text
    "ui_voice_marks": (
        "[0.5s] pause · <行|XING2> or <live|L AY1 V> as it is said · *word* emphasis",
        "[0.5s] 停顿 · <行|XING2> 指定读音 · *word* 强调（英文等）",
    ),
    "ui_reads": ("Reads as: {words}", "读作：{words}"),
    "ui_reads_nothing": ("nothing", "（无可读内容）"),
    "ui_glossary": ("My words: how names are said", "我的词汇：指定读法"),
    "ui_glossary_keep": ("Save the words", "保存词汇"),
    "ui_glossary_kept": ("{count} words are kept", "已保存 {count} 个词"),
    # The voices that are kept
    "ui_voice_whose": ("Whose voice", "使用的声音"),
    "ui_voice_new": ("The sample below", "下方的样本"),
    "ui_dub_own_voice": ("The speaker's own, or the sample below", "说话人自己的声音，或下方的样本"),
    "ui_library": ("My voices: keep, rename, export", "我的声音：保存、改名、导出"),
    "ui_library_name": ("Name", "名称"),
    "ui_library_tags": ("Tags, with commas", "标签（用逗号分隔）"),
    "ui_library_language": ("Language of its preview", "试听语言"),
    "ui_library_keep": ("Keep the sample as a voice", "将样本保存为声音"),
    "ui_library_preview": ("Preview", "试听"),
    "ui_library_change": ("Save name and tags", "保存名称和标签"),
    "ui_library_export": ("Export as a file", "导出为文件"),
    "ui_library_delete": ("Delete", "删除"),
    "ui_library_import": ("Import a voice from a file", "从文件导入声音"),
    "ui_library_sure": ("Delete this voice for good?", "确定永久删除该声音？"),
    "ui_library_spare": ("Keep it", "保留"),
    "ui_library_consent": ("may be used", "已获授权"),
    "ui_library_no_consent": ("⚠ nobody said that it may be used", "⚠ 未确认授权"),
    "ui_library_brought": ("The voice {name} was added", "已添加声音 {name}"),
    "ui_library_kept": ("The voice is kept as **{name}**.", "声音已保存为 **{name}**。"),
    "ui_kind_enrol": ("Voice kept", "保存声音"),
    "ui_sample_people": ("{count} people", "{count} 人"),
}
