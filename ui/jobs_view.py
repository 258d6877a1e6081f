"""A tab's running job: sent off, watched, stopped, resumed and found again after a reload.

No job lives in a Gradio event: closing the tab ends nothing. The browser remembers the job's id, and a timer that ticks
only while a job runs asks for its state, so a second job started in the same tab simply takes the first one's place.
"""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

import gradio as gr
from gradio.blocks import Block

from pipelines.clock import clock
from pipelines.errors import InputError, PipelineError
from pipelines.estimate import SHORTEST_LESSON
from pipelines.jobs.spec import JobView, StageView
from ui.i18n import escaped, label, language_of, text
from ui.results import size_text
from ui.services import Services
from ui.source import expected_seconds
from ui.texts import TEXTS

P = ParamSpec("P")
R = TypeVar("R")
log = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 0.6
# Stages that are shown before they begin, so that the user sees what is to come.
STAGES: dict[str, tuple[str, ...]] = {"dub": ("listen", "translate", "speak", "lips", "video")}
QUIETLY: dict[str, Any] = {"show_progress": "hidden", "queue": False, "api_visibility": "private"}
ICONS = {"waiting": "○", "running": "◐", "done": "✓", "failed": "✕", "stopped": "■"}

NOTHING_EXPECTED: Mapping[str, float] = MappingProxyType({})

# What a tab shows of a job, by the name of its result component; called at every look, so cheap while the job runs.
Show = Callable[[JobView, str], Mapping[str, Any]]
Updates = dict[Block, Any]


@dataclass(frozen=True, slots=True)
class JobPanel:
    """The components that show one tab's job."""

    name: str
    last: gr.BrowserState
    progress: gr.HTML
    stop: gr.Button
    resume: gr.Button
    timer: gr.Timer

    @property
    def components(self) -> list[Block]:
        """What ``look`` may update, beside the tab's own results."""
        return [self.progress, self.stop, self.resume, self.timer]


@dataclass(frozen=True, slots=True)
class Reopener:
    """How a finished job is shown again in the tab that made it.

    Attributes:
        tab: its id. states: what the tab remembers; the job's id goes into the first, the others are emptied.
        look: fills ``outputs`` from ``states``.
    """

    tab: str
    states: Sequence[Block]
    look: Callable[..., Any]
    outputs: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Follower:
    """How one tab follows its job: its panel, its result components by name, and what they show."""

    services: Services
    panel: JobPanel
    results: Mapping[str, Block]
    show: Show

    @property
    def outputs(self) -> list[Block]:
        """Everything a look may change."""
        return [*self.panel.components, *self.results.values()]

    def look(self, job_id: str, request: gr.Request) -> Updates:
        """Updates of the panel and of the tab's results; an empty panel when there is no such job."""
        panel, language = self.panel, language_of(request)
        view = self.services.executor.view(job_id) if job_id else None
        if view is None:
            hidden = gr.Button(visible=False)
            return {
                panel.progress: empty_html(panel.name, language),
                panel.stop: hidden,
                panel.resume: hidden,
                panel.timer: gr.Timer(active=False),
            }
        return {
            panel.progress: job_html(view, language, expected=expected_seconds(self.services, view)),
            panel.stop: gr.Button(visible=not view.ended),
            panel.resume: gr.Button(visible=worth_resuming(view)),
            panel.timer: gr.Timer(active=not view.ended),
            **{self.results[name]: update for name, update in self.show(view, language).items()},
        }

    def reopener(self, tab: str) -> Reopener:
        """How the Jobs tab shows a job here again."""
        return Reopener(tab, [self.panel.last], self.look, self.outputs)

    def stop(self, job_id: str) -> None:
        """Ask the job to stop."""
        self.services.executor.stop(job_id)

    def resume(self, job_id: str) -> None:
        """Go on with a stopped or failed job; what is finished is not made again."""
        self.services.executor.resume(job_id)

    def connect(self, demo: gr.Blocks) -> None:
        """Wire stop, resume, the timer and the return after a reload."""
        panel, outputs = self.panel, self.outputs
        panel.timer.tick(self.look, panel.last, outputs, **QUIETLY)
        panel.stop.click(plainly(self.stop), panel.last, None, **QUIETLY).then(
            self.look, panel.last, outputs, **QUIETLY
        )
        resumed = panel.resume.click(plainly(self.resume), panel.last, None, **QUIETLY)
        resumed.then(self.look, panel.last, outputs, **QUIETLY)
        # Twice: a job sent off while the first answer was on its way would be hidden by it.
        demo.load(self.look, panel.last, outputs, **QUIETLY).then(self.look, panel.last, outputs, **QUIETLY)
        # What the browser remembers may be read after the page has loaded.
        panel.last.change(self.look, panel.last, outputs, **QUIETLY)

    def start(
        self, button: gr.Button, submit: Callable[..., str], inputs: Mapping[str, Block], api_name: str
    ) -> None:
        """Let ``button`` send off a job: ``submit`` gets ``inputs`` by keyword and returns the job's id."""
        sent = button.click(
            optional(plainly(submit), inputs),
            None,
            self.panel.last,
            inputs_kwargs=dict(inputs),
            api_name=api_name,
            show_progress="hidden",
        )
        sent.success(self.look, self.panel.last, self.outputs, **QUIETLY)


def plainly(handler: Callable[P, R]) -> Callable[P, R]:
    """A handler whose errors reach the user as one sentence in their language; the log gets the rest."""

    @functools.wraps(handler)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = (*args, *kwargs.values())
        language = language_of(next((item for item in given if isinstance(item, gr.Request)), None))
        try:
            return handler(*args, **kwargs)
        except PipelineError as error:
            log.info("Refused: %s", error)
            raise gr.Error(
                error.sentence(language), title=text(language, "ui_problem"), print_exception=False
            ) from error
        except gr.Error:
            raise
        except Exception as error:
            log.exception("A handler of the page failed")
            raise gr.Error(text(language, "ui_unexpected"), print_exception=False) from error

    return call


def optional(handler: Callable[P, R], names: Iterable[str]) -> Callable[P, R]:
    """Spell out the ``**given`` of a handler, each None at first: a program need not name what the page leaves empty."""
    given = inspect.signature(handler).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in given):
        kept = [one for one in given if one.kind is not one.VAR_KEYWORD]
        spelled = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]
        vars(handler)["__signature__"] = inspect.Signature([*kept, *spelled])
    return handler


def job_panel(services: Services, name: str) -> JobPanel:
    """Lay out the panel; ``name`` (the tab's) tells its memory in the browser from the other tabs'."""
    progress = gr.HTML(visible=True, elem_id=f"{name}-progress")
    with gr.Row():
        stop = gr.Button(label("ui_stop"), variant="stop", visible=False, elem_id=f"{name}-stop")
        resume = gr.Button(label("ui_resume"), visible=False, elem_id=f"{name}-resume")
    last = gr.BrowserState("", storage_key=f"dubwright-{name}", secret=services.browser_secret)
    return JobPanel(name, last, progress, stop, resume, gr.Timer(SECONDS_BETWEEN_LOOKS, active=False))


def waits_for_words(view: JobView) -> bool:
    """Whether a dub has come to the point where a person writes the translation: a pause by design, no failure."""
    return (
        view.state == "failed" and view.error is not None and view.error.get("code") == "translator-missing"
    )


def worth_resuming(view: JobView) -> bool:
    """Whether doing the same again may end better: not where something that was given cannot be used."""
    if view.state == "stopped":
        return True
    refused = view.error is not None and view.error.get("exit_code") == InputError.exit_code
    return view.state == "failed" and not refused and not waits_for_words(view)


def stage_name(name: str, language: str) -> str:
    """A stage as people call it."""
    key = f"ui_stage_{name}"
    return text(language, key) if key in TEXTS else name.replace("-", " ").capitalize()


def _stage_state(view: JobView, index: int, count: int) -> str:
    if view.state == "done" or index < count - 1:
        return "done"
    if waits_for_words(view):  # what was heard stands in the table
        return "done" if view.stages[index].name == "listen" else "waiting"
    return {"failed": "failed", "stopped": "stopped"}.get(view.state, "running")


def _left(stage: StageView) -> float | None:
    if not stage.total or stage.done <= 0 or stage.seconds < 2:
        return None
    return stage.seconds * max(0.0, stage.total - stage.done) / stage.done


def _count(stage: StageView, language: str) -> str:
    key = f"ui_unit_{stage.unit}"
    unit = text(language, key) if key in TEXTS else stage.unit
    if stage.unit == "B":
        return " / ".join(size_text(amount) for amount in (stage.done, stage.total) if amount is not None)
    if stage.unit == "s":
        return f"{clock(stage.done)} / {clock(stage.total)}" if stage.total else clock(stage.done)
    if stage.total is None:
        return f"{stage.done:g} {unit}".strip() if stage.done else ""
    return f"{stage.done:g} / {stage.total:g} {unit}".strip()


def _stage_row(name: str, state: str, stage: StageView | None, language: str) -> str:
    known = stage is not None and stage.total
    share = 1.0 if state == "done" else min(1.0, stage.done / stage.total) if stage and stage.total else 0.0
    count = _count(stage, language) if stage else ""
    left = _left(stage) if stage and state == "running" else None
    if left is not None:
        count += " · " + text(language, "ui_left", time=clock(left))
    elif stage and state == "done" and stage.seconds >= 1:
        count += f" · {clock(stage.seconds)}" if count else clock(stage.seconds)
    fill = " unknown" if state == "running" and not known else ""
    width = "" if fill else f' style="width:{100 * share:.1f}%"'
    title = escaped(stage_name(name, language))
    return (
        f'<div class="stage {state}"><span aria-hidden="true">{ICONS[state]}</span><span>{title}</span>'
        f'<div class="track" role="progressbar" aria-label="{title}" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{100 * share:.0f}"><div class="fill{fill}"{width}></div></div>'
        f'<span class="count">{escaped(count)}</span></div>'
    )


def _rows(view: JobView, language: str) -> str:
    """The planned stages in their order, then those nobody planned; one that was passed over was finished before."""
    states: dict[str, tuple[str, StageView | None]] = {
        stage.name: (_stage_state(view, index, len(view.stages)), stage)
        for index, stage in enumerate(view.stages)
    }
    planned = STAGES.get(view.kind, ())
    reached = max((place for place, name in enumerate(planned) if name in states), default=-1)
    for place, name in enumerate(planned):
        states.setdefault(name, ("done" if place < reached or view.state == "done" else "waiting", None))
    ordered = [*planned, *(name for name in states if name not in planned)]
    return "".join(_stage_row(name, *states[name], language) for name in ordered)


def error_sentence(view: JobView, language: str) -> str:
    """The error of a failed job as one sentence; never a traceback."""
    if view.error is None:
        return ""
    return PipelineError.from_record(view.error).sentence(language)


def empty_html(name: str, language: str) -> str:
    """What stands where the job will be shown, before there is one."""
    words = escaped(text(language, f"ui_empty_{name}"))
    if not words:
        return ""
    return f'<div class="job empty"><p>{words}</p></div>'


def shown_html(html: str) -> gr.HTML:
    """An HTML block that takes no room while it is empty."""
    return gr.HTML(value=html, visible=bool(html))


def seconds_left(view: JobView, expected: Mapping[str, float]) -> float | None:
    """Seconds until the job is done: the rest of the running stage as it goes, the others as ``expected`` by stage.

    What is expected is stretched as the finished stages were: a machine busy with other things is slower today.
    """
    if not expected or not view.stages:
        return None
    running, pace = view.stages[-1], _pace(view, expected)
    order = list(expected)
    coming = order[order.index(running.name) + 1 :] if running.name in order else []
    own = _left(running)
    if own is None:
        own = max(0.0, pace * expected.get(running.name, 0.0) - running.seconds)
    return own + pace * sum(expected[stage] for stage in coming)


def _pace(view: JobView, expected: Mapping[str, float]) -> float:
    """Time the finished stages took over what was expected; those skipped because their work was there say nothing."""
    worked = [
        stage for stage in view.stages[:-1] if stage.name in expected and stage.seconds >= SHORTEST_LESSON
    ]
    hoped = sum(expected[stage.name] for stage in worked)
    return min(max(sum(stage.seconds for stage in worked) / hoped, 0.3), 10.0) if hoped > 0 else 1.0


def _about_left(seconds: float, language: str) -> str:
    if seconds >= 90:
        return text(language, "ui_left_minutes", time=round(seconds / 60))
    return text(language, "ui_left_seconds", time=5 * max(1, round(seconds / 5)))


def _times(view: JobView, language: str, now: float | None, expected: Mapping[str, float]) -> str:
    if view.started is None:
        return text(language, "ui_ahead", count=view.ahead) if view.ahead else ""
    until = view.finished or (time.time() if now is None else now)
    elapsed = text(language, "ui_elapsed", time=clock(until - view.started))
    left = seconds_left(view, expected) if view.state == "running" else None
    return elapsed if left is None else f"{elapsed} · {_about_left(left, language)}"


def job_html(
    view: JobView, language: str, now: float | None = None, expected: Mapping[str, float] = NOTHING_EXPECTED
) -> str:
    """The job's card: its name and state, a bar for each stage with counts and times, notes, and the error.

    With ``expected`` seconds by stage it also says how long the whole job will take yet.
    """
    paused = waits_for_words(view)
    state = "ui_state_words" if paused else f"ui_state_{view.state}"
    parts = [
        f'<div class="head" role="status"><span>{escaped(text(language, state))}'
        f" · {escaped(view.title or view.kind)}</span>"
        f'<span class="times">{escaped(_times(view, language, now, expected))}</span></div>',
        _rows(view, language),
    ]
    for note in view.notes:
        kind = "note" if note.level == "warning" else "hint"
        parts.append(f'<div class="problem {kind}">{escaped(note.zh if language == "zh" else note.en)}</div>')
    if view.error is not None and view.state == "failed":
        kind = " hint" if paused else ""
        parts.append(
            f'<div class="problem{kind}" role="alert">{escaped(error_sentence(view, language))}</div>'
        )
    return f'<div class="job" data-job="{escaped(view.id)}" data-state="{view.state}">{"".join(parts)}</div>'
