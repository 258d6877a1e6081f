"""One line that tells the truth about this machine; a click opens the table of engines with state and reason."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.errors import Message
from pipelines.registry import EngineInfo, EngineState
from ui.i18n import escaped, text
from ui.services import Services

Entry = tuple[Message, EngineInfo, EngineState]


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
    said = f"✓ {text(language, 'ui_engine_ready')}" if state.ready else f"– {state.reason.text(language)}"
    kind = "state-ok" if state.ready else "state-no"
    cells = (part.text(language).capitalize(), info.label.text(language))
    return (
        "<tr>"
        + "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
        + f'<td class="{kind}">{escaped(said)}</td><td>{escaped(info.licence)}</td></tr>'
    )


def engine_table(entries: list[Entry], language: str) -> str:
    """All engines as an HTML table."""
    heads = ("ui_engine_part", "ui_engine", "ui_engine_state", "ui_engine_licence")
    head = "".join(f"<th>{escaped(text(language, key))}</th>" for key in heads)
    rows = "".join(_row(*entry, language) for entry in entries)
    return f'<div class="dw-table" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def banner_html(services: Services, language: str) -> str:
    """Device, precision, safe mode and ready engines in one line over the folded table."""
    from pipelines.backend.banner import device_name

    policy, entries = services.machine.policy, list(engines(services))
    ready = sum(state.ready for _, _, state in entries)
    precision = text(language, f"ui_precision_{policy.precision}")
    facts = [
        device_name(policy, services.machine.found),
        precision,
        text(language, "ui_banner_safe" if policy.safe_mode else "ui_banner_full"),
        text(language, "ui_banner_ready", ready=ready, all=len(entries)),
    ]
    line = '<span class="dot" aria-hidden="true">·</span>'.join(
        f"<span>{escaped(fact)}</span>" for fact in facts
    )
    reason = f'<p class="quiet" style="padding:0 14px">{escaped(policy.reason)}</p>' if policy.reason else ""
    return (
        f'<details class="banner"><summary>{line}<span class="more">{escaped(text(language, "ui_banner_details"))}'
        f"</span></summary>{reason}{engine_table(entries, language)}</details>"
    )
