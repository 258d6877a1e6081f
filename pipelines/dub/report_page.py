"""A dub's report as one HTML file that needs nothing else, in English and Chinese side by side."""

from __future__ import annotations

from html import escape
from typing import Any

from pipelines.clock import clock
from pipelines.dub.check import FLAG_OVER
from pipelines.errors import Message
from pipelines.languages import language_name

HEADS = (
    ("#", ""), ("Time", "时间"), ("Speaker", "说话人"), ("Original", "原文"), ("Dub", "译文"),
    ("Speed", "语速"), ("Start", "起点"), ("Heard back as", "回听结果"), ("Wrong", "误差"),
)  # fmt: skip
STAGES = {
    "listen": Message("Listening", "识别"),
    "translate": Message("Translating", "翻译"),
    "speak": Message("Speaking", "配音"),
    "lips": Message("Syncing lips", "口型"),
    "video": Message("Making the video", "合成"),
}
STYLE = """:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #8886;padding:.35rem .5rem;text-align:left;vertical-align:top}
.look{color:#c22;font-weight:600}.zh{opacity:.7;font-size:.9em}"""


def report_page(report: dict[str, Any], name: str) -> str:
    """The page; ``report`` as ``report.json`` has it, ``name`` of the video."""
    spoken = [language_name(report[f"{role}_language"]) for role in ("source", "target")]
    title = f"{name}: {spoken[0].en} → {spoken[1].en}"
    heads = "".join(f"<th>{_both(Message(en, zh))}</th>" for en, zh in HEADS)
    lines = "".join(_line(line) for line in report["lines"])
    facts = "".join(f"<p>{_both(fact)}</p>" for fact in _facts(report))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>{facts}"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></body></html>\n"
    )


def _both(message: Message) -> str:
    if not message.zh or message.zh == message.en:
        return escape(message.en)
    return f'{escape(message.en)} <span class="zh" lang="zh">{escape(message.zh)}</span>'


def _facts(report: dict[str, Any]) -> list[Message]:
    """What is said above the lines."""
    facts = [Message("Made by a machine: AI-dubbed by Dubwright.", "本视频由 Dubwright 人工智能配音。")]
    loudness, lips = report.get("loudness") or {}, report.get("lips") or {}
    voices = report.get("voices") or [report.get("voice") or {}]
    if loudness.get("lufs") is not None:
        level, peak = loudness["lufs"], loudness["true_peak_db"]
        facts.append(
            Message(f"Loudness {level} LUFS, true peak {peak} dBTP", f"响度 {level} LUFS,真峰值 {peak} dBTP")
        )
    facts += [_voice(voice) for voice in voices if voice.get("similarity") is not None]
    drawn = sum(last - first for first, last in lips.get("synthesised", ()))
    total = report.get("frames")
    if total:
        facts.append(Message(f"Lips moved in {drawn} of {total} frames", f"口型已同步 {drawn}/{total} 帧"))
    facts += [Message(**note) for note in lips.get("notes", ())]
    seconds = report.get("seconds") or {}
    spent = [(STAGES[stage], f"{clock(value)}") for stage, value in seconds.items() if stage in STAGES]
    facts.append(
        Message(
            ", ".join(f"{stage.en} {value}" for stage, value in spent),
            "、".join(f"{stage.zh} {value}" for stage, value in spent),
        )
    )
    return facts


def _voice(voice: dict[str, Any]) -> Message:
    who, alike = voice.get("speaker"), f"{voice['similarity']:.2f}"
    return Message(
        f"{who}: voice {voice['engine']}, similarity to the speaker {alike}"
        if who
        else f"Voice {voice['engine']}, similarity to the speaker {alike}",
        f"{f'{who}：' if who else ''}语音 {voice['engine']},与原声相似度 {alike}",
    )


def _line(line: dict[str, Any]) -> str:
    spoken, rate = line["state"] == "spoken", line.get("error_rate")
    wrong = "" if rate is None else f"{100 * rate:.0f} %"
    cells = (
        str(line["index"] + 1),
        f"{clock(line['start'])}–{clock(line['end'])}",
        line.get("speaker") or "",
        line["source"],
        line["text"] if not line["keep"] else "—",
        f"{line['speed']:.2f}×" if spoken and line["speed"] else "",
        f"{line['start_shift']:+.2f} s" if spoken else "",
        line.get("heard") or "",
    )
    look = ' class="look"' if rate is not None and rate > FLAG_OVER else ""
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + f"<td{look}>{wrong}</td></tr>"
