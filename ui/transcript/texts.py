"""Texts of the Transcription tab in English and Chinese; ``ui.texts`` holds them with all others."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    # The editor
    "ui_editor_count": ("{rows} rows", "{rows} 行"),
    "ui_editor_wrong": ("{count} to look at", "{count} 行需要检查"),
    "ui_editor_reading": (
        "Listening… {count} lines so far. They can be edited when all is heard.",
        "正在识别……已有 {count} 行，全部识别完后即可编辑。",
    ),
    "ui_editor_gone": (
        "The file this was heard in is not there any more, so it cannot be played.",
        "原文件已不存在，无法播放。",
    ),
    "ui_editor_player": ("Player", "播放器"),
    "ui_editor_start": ("Start of row {number}", "第 {number} 行开始时间"),
    "ui_editor_end": ("End of row {number}", "第 {number} 行结束时间"),
    "ui_editor_text": ("Text of row {number}", "第 {number} 行文字"),
    "ui_editor_speaker": ("Speaker of row {number}", "第 {number} 行说话人"),
    "ui_editor_nobody": ("speaker", "说话人"),
    "ui_editor_play": ("Play row {number} (Alt+P)", "播放第 {number} 行（Alt+P）"),
    "ui_editor_split": (
        "Split row {number} at the cursor (Alt+Enter)",
        "在光标处拆分第 {number} 行（Alt+Enter）",
    ),
    "ui_editor_merge": ("Merge row {number} with the next (Alt+M)", "将第 {number} 行与下一行合并（Alt+M）"),
    "ui_editor_insert": ("Insert a row after row {number} (Alt+N)", "在第 {number} 行后插入（Alt+N）"),
    "ui_editor_delete": ("Delete row {number} (Alt+Backspace)", "删除第 {number} 行（Alt+Backspace）"),
    "ui_editor_unsure": ("The recogniser was not sure of this word", "识别引擎对该词不确定"),
    "ui_editor_speakers": ("Speakers:", "说话人："),
    "ui_editor_rename": (
        "Name of {name}; the name of another speaker makes the two one",
        "{name} 的名字；填写另一说话人的名字即可合并",
    ),
    "ui_editor_join": ("Join neighbouring rows of one speaker", "合并同一说话人的相邻行"),
    "ui_editor_joined": ("{count} rows joined to those before them", "已合并 {count} 行"),
    "ui_editor_undo": ("Undo", "撤销"),
    "ui_editor_redo": ("Redo", "重做"),
    "ui_editor_find": ("Find", "查找"),
    "ui_editor_next": ("Next", "下一个"),
    "ui_editor_by": ("Replace by", "替换为"),
    "ui_editor_replace": ("Replace all", "全部替换"),
    "ui_editor_replaced": ("{count} replaced", "已替换 {count} 处"),
    "ui_editor_case": ("match case", "区分大小写"),
    "ui_editor_shift": ("Move by seconds", "平移秒数"),
    "ui_editor_shift_rest": ("only from the chosen row on", "仅从所选行开始"),
    "ui_editor_shift_go": ("Move", "平移"),
    "ui_editor_shifted": ("Moved by {seconds} s", "已平移 {seconds} 秒"),
    "ui_editor_wording": ("Text", "文本"),
    "ui_editor_wording_shown": ("numbers as digits", "规范化（数字）"),
    "ui_editor_wording_heard": ("as it was heard", "原始识别"),
    "ui_editor_add": ("Add a row", "添加一行"),
    "ui_editor_keys": ("Keys", "快捷键"),
    "ui_editor_keys_help": (
        "Enter: save the row and go to the next\nShift+Enter: a new line\nAlt+↑ / Alt+↓: row above, below\n"
        "Alt+P: play the row, pause\nAlt+[ and Alt+]: row starts, ends where the player is\n"
        "Alt+Enter: split at the cursor\nAlt+M: merge with the next\nAlt+N: insert after\nAlt+Backspace: delete\n"
        "Ctrl+Z, Ctrl+Shift+Z: undo, redo\nEsc: the row as it was",
        "Enter：保存并到下一行\nShift+Enter：换行\nAlt+↑ / Alt+↓：上一行、下一行\nAlt+P：播放该行、暂停\n"
        "Alt+[ 和 Alt+]：以播放位置为开始、结束\nAlt+Enter：在光标处拆分\nAlt+M：与下一行合并\nAlt+N：在后面插入\n"
        "Alt+Backspace：删除\nCtrl+Z、Ctrl+Shift+Z：撤销、重做\nEsc：恢复该行",
    ),
    "ui_editor_saved": (
        "Every change is saved at once, and is what is exported.",
        "每次修改都会立即保存，导出的就是修改后的内容。",
    ),
    "ui_wave": ("Speech: {seconds} of {all} (coloured)", "语音：{all} 中的 {seconds}（着色部分）"),
    # The queue
    "ui_queue_sum": ("{done} of {all} files done", "已完成 {done}/{all} 个文件"),
    "ui_queue_sum_failed": (
        "{done} of {all} files done, {failed} failed",
        "已完成 {done}/{all} 个文件，{failed} 个失败",
    ),
    "ui_queue_open": ("Open", "打开"),
    "ui_queue_stop": ("Stop", "停止"),
    "ui_queue_retry": ("Retry", "重试"),
    "ui_queue_name_open": ("Open {name}", "打开 {name}"),
    "ui_queue_name_stop": ("Stop {name}", "停止 {name}"),
    "ui_queue_name_retry": ("Retry {name}", "重试 {name}"),
    "ui_queue_retry_all": ("Retry what failed", "重试失败的文件"),
    "ui_queue_pack": ("All finished files as a ZIP", "将已完成的文件打包为 ZIP"),
    "ui_queue_packed": ("{count} files packed", "已打包 {count} 个文件"),
    "ui_queue_zip_name": ("transcripts {when}", "文字稿 {when}"),
    "ui_transcribe_below": ("Of a folder: subfolders too", "文件夹：包括子文件夹"),
    "ui_transcribe_channel": ("Channels", "声道"),
    "ui_transcribe_channel_mix": ("all mixed", "混合所有声道"),
    "ui_transcribe_channel_left": ("left only", "仅左声道"),
    "ui_transcribe_channel_right": ("right only", "仅右声道"),
    "ui_transcribe_save_as": ("Save the rows as", "导出格式"),
    "ui_transcribe_save": ("Save these rows", "导出"),
}
