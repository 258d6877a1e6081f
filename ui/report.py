"""A dub's report for people: how every line was fitted and heard back, what happened to the picture, where time went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.clock import clock
from pipelines.files import read_json
from ui.i18n import escaped, text
from ui.jobs_view import stage_name
from ui.system_html import table

UNSURE = 0.15  # share of words or characters heard wrong above which a line is worth listening to


def report_html(path: Path, language: str) -> str:
    """The report folded under one line that says the essential."""
    report = read_json(path)
    lines = [line for line in report.get("lines", ()) if line.get("state") == "spoken"]
    unsure = [line for line in lines if (line.get("error_rate") or 0.0) > UNSURE]
    headline = text(language, "ui_report_line", lines=len(lines), unsure=len(unsure))
    body = (
        _lips(report.get("lips") or {}, report.get("frames"), language)
        + _sound(_voices(report), report.get("loudness") or {}, language)
        + _times(report.get("seconds") or {}, language)
    )
    return (
        f'<details class="banner report"><summary><strong>{escaped(text(language, "ui_dub_report"))}</strong>'
        f"<span>{escaped(headline)}</span></summary>{body}{_lines(lines, language)}</details>"
    )


def _lips(lips: dict[str, Any], frames: int | None, language: str) -> str:
    drawn = sum(last - first for first, last in lips.get("synthesised", ()))
    if not frames:
        return ""
    said = text(language, "ui_report_lips", drawn=drawn, frames=frames)
    notes = [
        note["zh" if language == "zh" else "en"] for note in lips.get("notes", ()) if isinstance(note, dict)
    ]
    now = (lips.get("measures") or {}).get("drawn_now", frames)
    if now < frames:
        notes.insert(0, text(language, "ui_report_again", drawn=int(now), frames=frames))
    return "".join(f'<p class="quiet inset">{escaped(sentence)}</p>' for sentence in (said, *notes))


def _voices(report: dict[str, Any]) -> list[dict[str, Any]]:
    """One a speaker; a report of an earlier version knows one voice or none."""
    return report.get("voices") or [voice for voice in [report.get("voice")] if voice]


def _sound(voices: list[dict[str, Any]], loudness: dict[str, Any], language: str) -> str:
    """Whose voices speak and how near they came; how loud the dub is."""
    said = [_voice(voice, language) for voice in voices]
    if loudness.get("lufs") is not None:
        level = text(language, "ui_report_loudness", lufs=loudness["lufs"], peak=loudness["true_peak_db"])
        if len(said) == 1:
            said[0] += f" · {level}"
        else:
            said.append(level)
    return "".join(f'<p class="quiet inset">{escaped(sentence)}</p>' for sentence in said)


def _voice(voice: dict[str, Any], language: str) -> str:
    said = [text(language, f"ui_report_voice_{voice['kind']}", name=voice["name"], engine=voice["engine"])]
    if voice.get("similarity") is not None:
        said.append(text(language, "ui_report_similarity", value=f"{voice['similarity']:.2f}"))
    if voice.get("pitch") and voice.get("own_pitch"):
        said.append(
            text(language, "ui_report_pitch", dub=round(voice["pitch"]), own=round(voice["own_pitch"]))
        )
    who = f"{voice['speaker']}: " if voice.get("speaker") else ""
    return who + " · ".join(said)


def _times(seconds: dict[str, float], language: str) -> str:
    spent = " · ".join(f"{stage_name(stage, language)} {clock(value)}" for stage, value in seconds.items())
    return f'<p class="quiet inset">{escaped(spent)}</p>' if spent else ""


def _lines(lines: list[dict[str, Any]], language: str) -> str:
    heads = [text(language, f"ui_report_{name}") for name in ("number", "speed", "heard", "wrong")]
    rows = [_line(line, language) for line in lines]
    return table(heads, rows, text(language, "ui_dub_report"))


def _line(line: dict[str, Any], language: str) -> str:
    rate, speed = line.get("error_rate"), line.get("speed")
    wrong = "–" if rate is None else f"{100 * rate:.0f} %"
    if (rate or 0.0) > UNSURE:
        wrong += " · " + text(language, "ui_report_listen")
    kind = "state-no" if (rate or 0.0) > UNSURE else ""
    cells = (str(line["index"] + 1), f"{speed:.2f}×" if speed else "–", line.get("heard") or "–")
    return (
        "<tr>"
        + "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
        + f'<td class="{kind}">{escaped(wrong)}</td></tr>'
    )
