"""A dub in one picture: source lines above, dubbed lines below, what does not fit red and named. Pure SVG strings."""

from __future__ import annotations

from pipelines.clock import clock
from pipelines.types import DubLine, DubPlan
from ui.i18n import escaped, text

ROW, GAP, LEFT, AXIS = 30, 8, 6, 18
PIXELS_PER_SECOND, NARROWEST, WIDEST = 26, 1160, 24000


def trouble(line: DubLine, plan: DubPlan) -> str:
    """The text that says what is wrong with a line's place: spoken past the end of the clip, or too long for its time.

    Empty when all is well. A line is never laid over the next one: the plan moves that one instead.
    """
    if line.speak_end <= line.speak_start:
        return ""
    if line.speak_end > plan.duration + 0.025:
        return "ui_timeline_beyond"
    return "ui_timeline_long" if line.needed_speed > 1 else ""


def _box(x: float, y: int, width: float, words: str, hint: str, style: str) -> str:
    shown = max(0, int((width - 8) / 6.4))
    wide = sum(2 if ord(char) > 0x2E7F else 1 for char in words)
    if wide > shown:
        words = words[: max(0, shown * len(words) // max(1, wide) - 1)] + "…" if shown > 3 else ""
    return (
        f'<g><title>{escaped(hint)}</title><rect x="{x:.1f}" y="{y}" width="{max(width, 2):.1f}" height="{ROW}" rx="4" '
        f'{style}/><text x="{x + 4:.1f}" y="{y + ROW / 2 + 4:.0f}" font-size="11" '
        f'fill="var(--body-text-color)">{escaped(words)}</text></g>'
    )


def _axis(duration: float, scale: float) -> str:
    step = next((step for step in (1, 2, 5, 10, 30, 60, 300) if step * scale >= 60), 600)
    marks = []
    for second in range(0, int(duration - 0.3 * step) + 1, step):
        x = LEFT + second * scale
        marks.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{AXIS - 4}" y2="{AXIS + 2 * ROW + GAP}" stroke="currentColor" '
            f'opacity=".15"/><text x="{x + 2:.1f}" y="11" font-size="10" opacity=".65" '
            f'fill="var(--body-text-color)">{clock(second)}</text>'
        )
    return "".join(marks)


def _end(duration: float, scale: float) -> str:
    """Where the video ends, when speech goes on after it."""
    x = LEFT + duration * scale
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{AXIS - 4}" y2="{AXIS + 2 * ROW + GAP}" stroke="var(--dw-bad)" '
        f'stroke-dasharray="4 3"/>'
    )


def _line(line: DubLine, scale: float, wrong: str, language: str) -> str:
    x, width = LEFT + line.start * scale, (line.end - line.start) * scale
    drawn = _box(
        x,
        AXIS,
        width,
        line.source,
        f"{line.index + 1} · {line.source}",
        'fill="var(--background-fill-secondary)" stroke="var(--border-color-primary)"',
    )
    if line.speak_end <= line.speak_start:
        return drawn
    hint = f"{line.index + 1} · {line.text}"
    words, style = line.text, 'fill="var(--color-accent)" fill-opacity=".28" stroke="var(--color-accent)"'
    if wrong:
        words = f"⚠ {text(language, wrong)} · {line.text}"
        hint += f" · {text(language, wrong)}"
        style = 'class="overrun" fill="var(--dw-bad)" fill-opacity=".3" stroke="var(--dw-bad)"'
    x, width = LEFT + line.speak_start * scale, (line.speak_end - line.speak_start) * scale
    return drawn + _box(x, AXIS + ROW + GAP, width, words, hint, style)


def timeline_svg(plan: DubPlan, language: str) -> str:
    """Two rows over a time axis, wide enough to read and scrolled sideways when the clip is long."""
    width = min(WIDEST, max(NARROWEST, plan.duration * PIXELS_PER_SECOND))
    longest = max([plan.duration, 0.1, *(line.speak_end for line in plan.lines)])
    scale = (width - 2 * LEFT) / longest
    body = "".join(_line(line, scale, trouble(line, plan), language) for line in plan.lines)
    body += _end(plan.duration, scale) if longest > plan.duration + 0.025 else ""
    height = AXIS + 2 * ROW + GAP + 4
    name = escaped(text(language, "ui_timeline"))
    return (
        f'<div class="timeline" tabindex="0" role="group" aria-label="{name}"><svg viewBox="0 0 {width:.0f} {height}" role="img" '
        f'aria-label="{name}" style="width:{width:.0f}px">{_axis(longest, scale)}{body}</svg></div>'
    )
