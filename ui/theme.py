"""How the page looks: the system's own fonts (no font is ever fetched), a few lines of CSS on theme variables."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

CSS = """
.gradio-container {width: 100% !important; max-width: min(1280px, 100vw) !important; margin: 0 auto !important;}
.gradio-container .main, .gradio-container .wrap, .gradio-container .contain {min-width: 0; max-width: 100%;}
#banner .html-container, #dub-progress .html-container, #voice-progress .html-container,
#transcribe-progress .html-container, #head-progress .html-container, #dub-timeline .html-container,
#dub-report .html-container, #dub-facts .html-container {padding: 0;}
#header {align-items: center; gap: 8px 16px; flex-wrap: nowrap;}
#heading h1 {margin: 0 0 2px; font-size: 1.5rem; letter-spacing: -0.01em;}
#heading p {margin: 0; color: var(--body-text-color-subdued); font-size: .92rem;}
.file-drop .label-wrap, #dub-file, #head-file, #transcribe-file {min-height: 0;}
#language {max-width: 124px; min-width: 112px !important; flex: 0 0 auto;}
.banner {border: 1px solid var(--border-color-primary); border-radius: var(--radius-lg);
  background: var(--background-fill-secondary); padding: 0; font-size: .9rem;}
.banner.fine {border-left: 5px solid #2e8b57;}
.banner.careful {border-left: 5px solid #c98a00;}
.banner.problem {border-left: 5px solid #c62f2f;}
.banner summary {cursor: pointer; padding: 8px 14px; list-style: none; display: flex; flex-wrap: wrap; gap: 4px 12px;}
.banner summary::-webkit-details-marker {display: none;}
.banner summary .dot {color: var(--body-text-color-subdued);}
.banner .why {padding: 0 14px; display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center;}
.banner .why button {color: var(--link-text-color); text-decoration: underline; cursor: pointer;}
.banner summary .more {margin-left: auto; color: var(--link-text-color); text-decoration: underline;}
.dw-table {overflow-x: auto; padding: 0 14px 12px;}
.dw-table table {border-collapse: collapse; width: 100%; font-size: .88rem;}
.dw-table table, .dw-table thead, .dw-table tbody, .dw-table tr {border: none !important;}
.dw-table table th, .dw-table table td {text-align: left; padding: 6px 14px 6px 0 !important; vertical-align: top;
  border: none !important; border-top: 1px solid var(--border-color-primary) !important;}
.dw-table table th {font-weight: 600; border-top: none !important;}
.dw-table table code {overflow-wrap: anywhere; font-size: .82rem;}
.state-bad {color: var(--dw-bad);} .verdict {font-weight: 600; margin: 4px 14px 8px;}
.made .label-clear-button {display: none;}
ul[role=listbox] li[aria-label*="✕"] {opacity: .5;}
.state-ok {color: var(--dw-good);} .state-no {color: var(--dw-warn);}
:root {--dw-good: #15803d; --dw-warn: #b45309; --dw-bad: #b91c1c;}
.dark {--dw-good: #4ade80; --dw-warn: #fbbf24; --dw-bad: #f87171;}
.facts {display: flex; flex-wrap: wrap; gap: 6px;}
.facts span {background: var(--background-fill-secondary); border: 1px solid var(--border-color-primary);
  border-radius: 999px; padding: 2px 10px; font-size: .86rem; white-space: nowrap;}
.estimate {font-size: .95rem; text-align: center;}
.job {border: 1px solid var(--border-color-primary); border-radius: var(--radius-lg); padding: 12px 14px;}
.job .head {display: flex; flex-wrap: wrap; justify-content: space-between; gap: 4px 12px; margin-bottom: 8px;
  font-weight: 600;}
.job .times {font-weight: 400; color: var(--body-text-color-subdued); font-variant-numeric: tabular-nums;}
.job.empty {border-style: dashed; color: var(--body-text-color-subdued); min-height: 150px; display: flex;
  align-items: center; justify-content: center; text-align: center;}
.job.empty p {max-width: 38em;}
.stage {display: grid; grid-template-columns: 1.4em 9.5em 1fr 14em;
  align-items: center; gap: 2px 8px; font-size: .9rem; padding: 3px 0;}
.stage .count {color: var(--body-text-color-subdued); font-variant-numeric: tabular-nums; text-align: right;}
.stage .track {height: 7px; border-radius: 4px; background: var(--border-color-primary); overflow: hidden;}
.stage .fill {height: 100%; background: var(--color-accent); border-radius: 4px; transition: width .4s linear;}
.stage .fill.unknown {width: 30%; animation: dw-slide 1.4s ease-in-out infinite alternate;}
.stage.waiting {opacity: .55;}
.stage.done .fill {background: var(--dw-good);}
@keyframes dw-slide {from {margin-left: 0;} to {margin-left: 70%;}}
@media (prefers-reduced-motion: reduce) {.stage .fill, .stage .fill.unknown {animation: none; transition: none;}}
.problem {border-left: 4px solid var(--dw-bad); padding: 8px 12px; margin-top: 8px; border-radius: 4px;
  background: var(--background-fill-secondary);}
.problem.note {border-color: var(--dw-warn);}
.problem.hint {border-color: var(--color-accent);}
.inset {padding: 0 14px; margin: 2px 0;}
.reads {color: var(--body-text-color-subdued); font-size: .92rem; max-height: 9em; overflow: auto; padding: 0 14px;}
.quiet {color: var(--body-text-color-subdued); font-size: .88rem;}
.timeline svg {width: 100%; height: auto; display: block;}
.timeline {overflow-x: auto;}
.loglines {max-height: 420px; overflow: auto; font: .8rem/1.45 ui-monospace, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere;}
@media (max-width: 640px) {
  .gradio-container {padding: 8px !important;}
  .dw-table table {min-width: 42em;}
  .stage {grid-template-columns: 1.4em 1fr auto;}
  .stage .track {grid-column: 1 / -1; grid-row: 2;}
}
"""
CSS += (Path(__file__).resolve().parent / "transcript" / "editor.css").read_text(encoding="utf-8")


def make_theme() -> gr.themes.Base:
    """Soft with system fonts: Gradio's default theme would name web fonts."""
    return gr.themes.Soft(
        primary_hue="indigo",
        font=["system-ui", "Noto Sans CJK SC", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    ).set(
        block_title_background_fill="none",
        block_title_background_fill_dark="none",
        block_title_text_color="*body_text_color",
        block_title_text_color_dark="*body_text_color",
        block_title_padding="0",
        block_title_text_weight="600",
        block_label_text_color="*body_text_color",
        block_label_text_color_dark="*body_text_color",
        block_label_background_fill="*background_fill_secondary",
        block_label_background_fill_dark="*background_fill_secondary",
        # Soft draws white on white: what can be ticked, typed into or pressed needs an edge, quiet words 4.5:1.
        body_text_color_subdued="*neutral_500",
        body_text_color_subdued_dark="*neutral_400",
        checkbox_border_color="*neutral_400",
        checkbox_border_color_dark="*neutral_500",
        input_border_width="1px",
        input_border_color="*neutral_300",
        input_border_color_dark="*neutral_600",
        button_border_width="1px",
        button_secondary_border_color="*neutral_300",
        button_secondary_border_color_dark="*neutral_600",
    )
