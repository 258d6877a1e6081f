"""The editor's parts as HTML, made on the server in the user's language; everything a person or an engine said is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipelines.cue_checks import CueIssue
from pipelines.doubt import marked
from pipelines.editing import Row
from pipelines.types import Segment
from ui.i18n import escaped, text
from ui.lines import time_text

# Told apart also by people who see few colours; a name stands beside every one of them.
COLOURS = ("#3b82f6", "#f59e0b", "#10b981", "#ec4899", "#8b5cf6", "#ef4444", "#14b8a6", "#a16207")
BUTTONS = (("play", "▶"), ("split", "✂"), ("merge", "⤵"), ("insert", "＋"), ("delete", "✕"))
LIST = "editor-speakers"


def colours(speakers: Sequence[str]) -> dict[str, str]:
    """A colour for each speaker, by order of appearance."""
    return {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(speakers)}


def row_html(
    row: Row, number: int, issues: Sequence[CueIssue], paint: Mapping[str, str], language: str
) -> str:
    """One row that can be edited: times, speaker, text with doubtful words marked, what is wrong with it, buttons."""
    wrong = "".join(
        f'<span class="issue" data-kind="{issue.kind}">⚠ {escaped(issue.message.text(language))}</span>'
        for issue in issues
    )
    times = "".join(
        f'<input class="cue-time" data-field="{name}" value="{time_text(value)}" inputmode="decimal" '
        f'aria-label="{escaped(text(language, f"ui_editor_{name}", number=number))}">'
        for name, value in (("start", row.start), ("end", row.end))
    )
    said = escaped(text(language, "ui_editor_text", number=number))
    return (
        f'<div class="cue{" wrong" if issues else ""}" role="listitem" data-key="{row.key}" '
        f'data-start="{row.start:.3f}" data-end="{row.end:.3f}" style="--speaker:{_colour(row.speaker, paint)}">'
        f'<div class="cue-head"><span class="cue-number">{number}</span>{times}{_speaker(row, number, language)}</div>'
        f'<div class="cue-text" data-field="text" contenteditable="plaintext-only" spellcheck="false" role="textbox" '
        f'aria-multiline="true" aria-label="{said}">{words_html(row, language)}</div>'
        f'<div class="cue-buttons">{_buttons(number, language)}</div>{wrong and f"<div class=cue-issues>{wrong}</div>"}</div>'
    )


def _colour(speaker: str | None, paint: Mapping[str, str]) -> str:
    return paint.get(speaker or "", "transparent")


def _speaker(row: Row, number: int, language: str) -> str:
    name = escaped(text(language, "ui_editor_speaker", number=number))
    return (
        f'<input class="cue-speaker" data-field="speaker" list="{LIST}" value="{escaped(row.speaker or "")}" '
        f'placeholder="{escaped(text(language, "ui_editor_nobody"))}" aria-label="{name}">'
    )


def _buttons(number: int, language: str) -> str:
    made = []
    for name, sign in BUTTONS:
        hint = escaped(text(language, f"ui_editor_{name}", number=number))
        made.append(
            f'<button type="button" data-act="{name}" title="{hint}" aria-label="{hint}">{sign}</button>'
        )
    return "".join(made)


def words_html(row: Row, language: str) -> str:
    """The row's text, words the recogniser was unsure of marked (they say so, not by colour alone)."""
    hint = escaped(text(language, "ui_editor_unsure"))
    made = []
    for piece, unsure in marked(Segment(row.start, row.end, row.text, row.words)):
        word = piece.lstrip() if unsure else ""
        made.append(escaped(piece.removesuffix(word) if word else piece))
        if word:
            made.append(f'<mark class="unsure" title="{hint}">{escaped(word)}</mark>')
    return "".join(made)


def heard_html(segment: Segment, number: int, language: str) -> str:
    """A line of a transcription that is still going on: to read, not to edit."""
    return (
        f'<div class="cue reading" role="listitem" data-start="{segment.start:.3f}" data-end="{segment.end:.3f}" '
        f'data-key="{number}"><div class="cue-head"><span class="cue-number">{number}</span>'
        f'<span class="cue-when">{time_text(segment.start)} – {time_text(segment.end)}</span></div>'
        f'<div class="cue-text">{escaped(segment.shown)}</div></div>'
    )


def speakers_html(speakers: Sequence[str], paint: Mapping[str, str], language: str) -> str:
    """A name to edit for each speaker; the same name for two makes them one."""
    if not speakers:
        return f'<datalist id="{LIST}"></datalist>'
    options = "".join(f'<option value="{escaped(name)}"></option>' for name in speakers)
    names = "".join(
        f'<label class="speaker" style="--speaker:{paint[name]}"><span class="dot" aria-hidden="true"></span>'
        f'<input data-speaker="{escaped(name)}" value="{escaped(name)}" '
        f'aria-label="{escaped(text(language, "ui_editor_rename", name=name))}"></label>'
        for name in speakers
    )
    join = escaped(text(language, "ui_editor_join"))
    return (
        f'<datalist id="{LIST}">{options}</datalist><div class="speakers"><span>{escaped(text(language, "ui_editor_speakers"))}'
        f'</span>{names}<button type="button" data-act="join">{join}</button></div>'
    )


def tools_html(language: str, undo: int, redo: int, wording: str | None) -> str:
    """Undo and redo, find and replace, shift, and the keys; ``wording``: what is shown, where there are two ways."""
    say = {
        name: escaped(text(language, f"ui_editor_{name}"))
        for name in ("undo", "redo", "find", "by", "next", "replace", "case", "shift", "shift_rest", "shift_go",
                     "keys", "keys_help", "add", "wording", "wording_shown", "wording_heard")
    }  # fmt: skip
    chosen = {key: " selected" if wording == key else "" for key in ("shown", "heard")}
    both = "" if wording is None else (
        f'<label>{say["wording"]} <select data-tool="wording"><option value="shown"{chosen["shown"]}>{say["wording_shown"]}'
        f'</option><option value="heard"{chosen["heard"]}>{say["wording_heard"]}</option></select></label>'
    )  # fmt: skip
    keys = "".join(f"<li>{line}</li>" for line in say["keys_help"].split("\n"))
    return (
        '<div class="tools">'
        f'<button type="button" data-act="undo"{"" if undo else " disabled"}>↶ {say["undo"]}</button>'
        f'<button type="button" data-act="redo"{"" if redo else " disabled"}>↷ {say["redo"]}</button>'
        f'<input data-tool="find" placeholder="{say["find"]}" aria-label="{say["find"]}">'
        f'<button type="button" data-act="find-next">{say["next"]}</button>'
        f'<input data-tool="by" placeholder="{say["by"]}" aria-label="{say["by"]}">'
        f'<button type="button" data-act="replace-all">{say["replace"]}</button>'
        f'<label><input type="checkbox" data-tool="match-case"> {say["case"]}</label>'
        f'<label>{say["shift"]} <input data-tool="shift" class="short" value="+0.50"></label>'
        f'<label><input type="checkbox" data-tool="shift-rest"> {say["shift_rest"]}</label>'
        f'<button type="button" data-act="shift">{say["shift_go"]}</button>{both}'
        f"<details><summary>{say['keys']}</summary><ul>{keys}</ul></details></div>"
    )
