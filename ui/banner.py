"""One line that tells the truth about this machine; a click opens the table of engines with state and reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipelines.errors import Message
from pipelines.registry import EngineInfo, EngineState, Registry
from ui.i18n import escaped, text
from ui.services import Services

Entry = tuple[Message, EngineInfo, EngineState]
SYSTEM_TAB = "tab-system"
OPEN_SYSTEM = f"document.getElementById('{SYSTEM_TAB}-button').click()"


def engines(services: Services) -> Iterator[Entry]:
    """Every registered engine with the part it plays and its state."""
    from pipelines.asr import RECOGNIZERS
    from pipelines.lipsync import LIP_ENGINES
    from pipelines.translate import TRANSLATORS
    from pipelines.voice import VOICES

    for registry in (RECOGNIZERS, VOICES, LIP_ENGINES, TRANSLATORS):
        for info in registry.infos():
            yield registry.part, info, registry.state(info.name, services.context)


def _row(part: Message, info: EngineInfo, state: EngineState, language: str) -> str:
    kind = "state-ok" if state.ready else "state-no"
    said = f"✓ {text(language, 'ui_engine_ready')}" if state.ready else f"– {state.reason.text(language)}"
    cells = (part.text(language).capitalize(), info.label.text(language))
    terms = f"{info.consequence.text(language)} {info.licence}".strip()
    return (
        "<tr>"
        + "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
        + f'<td class="{kind}">{escaped(said)}</td><td>{escaped(state.todo.text(language))}</td>'
        f"<td>{escaped(terms)}</td></tr>"
    )


def engine_table(entries: list[Entry], language: str) -> str:
    """All engines with state, reason, next step and licence."""
    heads = ("ui_engine_part", "ui_engine", "ui_engine_state", "ui_engine_todo", "ui_engine_licence")
    return _table(
        [text(language, key) for key in heads], [_row(*entry, language) for entry in entries], "engines"
    )


def stage_table(services: Services, language: str) -> str:
    """For every stage of a dub the engine a job takes by itself and the device it really computes on."""
    heads = ("ui_stage", "ui_engine", "ui_stage_device")
    rows = [
        f"<tr><td>{escaped(text(language, stage))}</td><td>{escaped(engine)}</td><td>{escaped(where)}</td></tr>"
        for stage, engine, where in stage_devices(services, language)
    ]
    return _table([text(language, key) for key in heads], rows, "stages")


def stage_devices(services: Services, language: str) -> Iterator[tuple[str, str, str]]:
    """Key of the stage's name, engine, device."""
    from pipelines.asr import RECOGNIZERS
    from pipelines.backend.banner import place
    from pipelines.lipsync import LIP_ENGINES
    from pipelines.translate import TRANSLATORS
    from pipelines.voice import VOICES

    context, found = services.context, services.machine.found
    families: tuple[tuple[str, Registry[Any]], ...] = (
        ("ui_stage_listen", RECOGNIZERS),
        ("ui_stage_translate", TRANSLATORS),
        ("ui_stage_speak", VOICES),
        ("ui_stage_lips", LIP_ENGINES),
    )
    for stage, registry in families:
        info = registry.info(registry.chosen(registry.infos()[0].name, context))
        if stage == "ui_stage_lips":
            yield "ui_stage_faces", "MediaPipe", "CPU"
        yield stage, info.label.text(language), place(info.runs_on, context.policy, found)
    card = context.policy.family != "cpu" and not context.policy.safe_mode
    yield "ui_stage_video", "ffmpeg", text(language, "ui_stage_encoder") if card else "CPU"


def _table(heads: list[str], rows: list[str], kind: str) -> str:
    head = "".join(f"<th>{escaped(title)}</th>" for title in heads)
    return (
        f'<div class="dw-table {kind}" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def mood(services: Services) -> str:
    """``problem`` when a job lost the card or the card fails its test, ``careful`` in safe mode, else ``fine``."""
    machine = services.machine
    failing = any(not device.works for device in machine.found.devices) and not machine.found.works
    if failing or (machine.fallen is not None and machine.fallen.action == "cpu"):
        return "problem"
    unused = machine.policy.family == "cpu" and machine.found.asked and bool(machine.found.hardware.cards)
    return "careful" if machine.policy.safe_mode or machine.fallen or unused else "fine"


def banner_html(services: Services, language: str) -> str:
    """Device, precision, safe mode and ready engines in one line over the folded tables of stages and engines."""
    from pipelines.backend.banner import facts

    policy, entries = services.machine.policy, list(engines(services))
    ready = sum(state.ready for _, _, state in entries)
    fallen = services.machine.fallen
    said = [fact.text(language) for fact in facts(policy, services.machine.found, ready, len(entries))]
    said += [fallen.message.text(language)] if fallen else []
    line = '<span class="dot" aria-hidden="true">·</span>'.join(
        f"<span>{escaped(fact)}</span>" for fact in said
    )
    change = (
        f'<button type="button" class="lg secondary" onclick="{OPEN_SYSTEM}">'
        f"{escaped(text(language, 'ui_banner_change'))}</button>"
    )
    reason = f'<p class="quiet why">{escaped(policy.reason)} {change}</p>'
    return (
        f'<details class="banner {mood(services)}"><summary>{line}'
        f'<span class="more">{escaped(text(language, "ui_banner_details"))}</span></summary>'
        f"{reason}{stage_table(services, language)}{engine_table(entries, language)}</details>"
    )
