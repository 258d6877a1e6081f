"""What happens when something on the Dub tab is pressed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from pipelines.errors import InputError, Message, PipelineError
from pipelines.jobs import JobSpec
from pipelines.jobs.spec import JobView
from ui import drafts, examples, exporting, languages, lines, notices, results, source, survey
from ui.i18n import escaped, language_of, text
from ui.jobs_view import shown_html
from ui.report import report_html
from ui.services import Services, showable, source_path
from ui.timeline import timeline_svg

# The worker's environment carries it: no record or log shows it.
KEY = "DUBWRIGHT_ENDPOINT_KEY"
PREVIEW_SECONDS, PREVIEW_LEAD = 10.0, 0.3  # length, and what is shown before the first word


@dataclass(frozen=True, slots=True)
class DubHandlers:
    """The tab's handlers; all work is done by jobs."""

    services: Services

    def options(self, given: dict[str, Any]) -> dict[str, Any]:
        """The options of a dub job from the values of ``ui.tabs.dub.Inputs``."""
        same = (
            "source_language",
            "translation",
            "translator",
            "asr_engine",
            "voice_engine",
            "lip_engine",
            "reference",
            "voice",
        )
        endpoint = {"address": (given["address"] or "").strip(), "model": (given["model"] or "").strip()}
        return {
            "input": str(source_path(self.services, given["file"], given["path"])),
            "target_language": given["target"],
            **{name: given[name] or None for name in same},
            "stream": int(given["stream"]) if given["stream"] else None,
            "endpoint": endpoint if endpoint["address"] else None,
            "speakers": int(given["speakers"]) if given["speakers"] else None,
            "start": lines.parse_time(given["start"]) if (given["start"] or "").strip() else None,
            "end": lines.parse_time(given["end"]) if (given["end"] or "").strip() else None,
            "rest": given["rest"] or "keep",
            "keep_background": bool(given["keep_background"]),
            "lines": None,
            "lips": bool(given["lips"]),
            "who": int(given.get("who") or 0) or None,
        }

    def submit(self, request: gr.Request, **given: Any) -> str:
        """Send off a dub; returns the job's id."""
        options = self.options(given)
        return self._send(options, given, "ui_dub_title", request)

    def submit_preview(self, request: gr.Request, **given: Any) -> str:
        """Send off a dub of ten seconds alone, from where the first words are; returns the job's id."""
        options = self.options(given)
        start = options["start"]
        if start is None:
            found = survey.known(self.services, Path(options["input"]), options["stream"])
            begins = ((found or {}).get("sound") or {}).get("begins")
            start = max((begins or 0.0) - PREVIEW_LEAD, 0.0)
        length = source.probe(Path(options["input"])).duration
        start = max(min(start, length - PREVIEW_SECONDS), 0.0)
        short = {**options, "start": start, "end": start + PREVIEW_SECONDS, "rest": "cut"}
        return self._send(short, given, "ui_dub_title_preview", request)

    def _send(self, options: dict[str, Any], given: dict[str, Any], title: str, request: gr.Request) -> str:
        if not given["target"]:
            raise InputError(
                Message("There is no language to dub into yet", "还没有选择配音语言"),
                Message("Choose one from the menu.", "请在菜单中选择。"),
            )
        if not languages.can_be_spoken(given["target"]):
            raise InputError(
                Message("No voice here speaks this language yet", "本机还没有会说该语言的语音"),
                Message("Choose another language.", "请选择其他语言。"),
                languages.name(given["target"], language_of(request)),
            )
        from pipelines.dub import check_input

        check_input(Path(options["input"]))  # now, not when the jobs before it have ended
        language = language_of(request)
        named = text(
            language,
            title,
            name=Path(options["input"]).name,
            target=languages.name(given["target"], language),
        )
        private = {KEY: given["key"]} if given["key"] else None
        spec = JobSpec("dub", options, named)
        if going := self.services.going(spec):
            notices.tell(request, "ui_going_already")
            return going
        return self.services.submit(spec, private)

    def targets(self, language: str) -> list[tuple[str, str]]:
        """Languages to dub into, each with how its translation comes about."""
        return languages.target_choices(self.services, None, language)

    def targets_menu(self, spoken: str, address: str, request: gr.Request) -> gr.Dropdown:
        """The menu again, for another source language or translator."""
        endpoint = {"address": address or ""}
        return gr.Dropdown(
            choices=languages.target_choices(self.services, spoken, language_of(request), endpoint)
        )

    def target_note(
        self, target: str | None, spoken: str, address: str, request: gr.Request
    ) -> tuple[gr.HTML, gr.Button]:
        """What stands in the way of the chosen language; a dub nobody can speak cannot be started."""
        if not target:
            return shown_html(""), gr.Button(interactive=True)
        language, endpoint = language_of(request), {"address": address or ""}
        note = languages.target_note(self.services, target, spoken, language, endpoint)
        kind = "hint" if languages.can_be_spoken(target) else "note"
        shown = f'<div class="problem {kind}">{escaped(note)}</div>' if note else ""
        return shown_html(shown), gr.Button(interactive=languages.can_be_spoken(target))

    def first_targets(self, request: gr.Request) -> dict[str, Any]:
        """The menu when the page opens; which language is chosen at first, the browser knows (``first_choice``)."""
        return gr.update(choices=self.targets(language_of(request)))

    def demonstration(self, request: gr.Request) -> Any:
        """The example when the page was opened by ``start_app.sh --demo`` (``/?demo=1``); else nothing changes."""
        return examples.talker() if _demonstrating(request) else gr.skip()

    def example(self, target: str | None) -> tuple[str, str]:
        """The example's video, and a language it can be dubbed into."""
        return examples.talker(), examples.target(target)

    def facts(self, file: str | None, path: str | None, request: gr.Request) -> tuple[Any, ...]:
        """Facts, time estimate and preview of a newly chosen source; its path is remembered for the preview."""
        if not file and not path:
            nothing, no_choice = shown_html(""), gr.Dropdown(choices=[], value="", visible=False)
            player = gr.Video(value=None, visible=False)
            return nothing, nothing, player, nothing, gr.Timer(active=False), "", no_choice
        chosen, language = source_path(self.services, file, path), language_of(request)
        info = source.probe(chosen)
        told = shown_html(source.facts_html(info, language))
        guess = shown_html(source.estimate_html(self.services, info, True, language))
        tracks = source.track_choices(info, language)
        streams = gr.Dropdown(choices=tracks, value="", visible=len(info.audio) > 1)
        return told, guess, *self.preview(str(chosen), request), str(chosen), streams

    def looking(self, file: str | None, path: str | None, request: gr.Request) -> gr.HTML:
        """What stands where the survey will be told."""
        waiting = text(language_of(request), "ui_survey_looking")
        return shown_html(f'<p class="quiet">{escaped(waiting)}</p>' if file or path else "")

    def survey(
        self, file: str | None, path: str | None, stream: str | None, target: str | None, request: gr.Request
    ) -> gr.HTML:
        """What a look at samples of the video tells; nothing where ``facts`` has said why it cannot be read."""
        if not file and not path:
            return shown_html("")
        try:
            chosen = source_path(self.services, file, path)
            found = survey.survey_of(self.services, chosen, int(stream) if stream else None)
        except PipelineError:
            return shown_html("")
        return shown_html(survey.survey_html(found, language_of(request), target))

    def preview(self, chosen: str, request: gr.Request) -> tuple[Any, ...]:
        """The *before* player, a note while its copy is made, and the timer that asks again."""
        if not chosen:
            return gr.skip(), shown_html(""), gr.Timer(active=False)
        found = self.services.previews.of(source.probe(Path(chosen)))
        if found is None:
            waiting = f'<p class="quiet">{escaped(text(language_of(request), "ui_dub_proxy"))}</p>'
            return gr.Video(value=None, visible=False), shown_html(waiting), gr.Timer(active=True)
        player = gr.Video(value=str(showable(self.services, found)), visible=True)
        return player, shown_html(""), gr.Timer(active=False)

    def show(self, view: JobView, language: str) -> dict[str, Any]:
        """Updates of the results, by the names that the tab gives its components."""
        if not view.ended:
            return {}
        plan = lines.read_plan(view.folder)
        if plan is None:
            return {"lines": gr.Column(visible=False), "timeline": shown_html("")}
        draft = drafts.load(view.folder)
        edited = lines.completed(draft.rows, plan, language) if draft else lines.rows(plan, language)
        table = {"headers": lines.headers(language), "data": edited}
        return {
            **(self._made(view, language) if view.state == "done" else {}),
            "timeline": shown_html(timeline_svg(plan, language)),
            "help": text(language, _help(view)),
            "table": gr.Dataframe(value=table),
            "lines": gr.Column(visible=True),
        }

    def _made(self, view: JobView, language: str) -> dict[str, Any]:
        saved = self.services.save(view)
        video, report = results.made(view, "video"), results.made(view, "report")
        before = self._before(view)
        paths = [str(path) for path in saved.values()]
        return {
            "before": gr.Video(value=before, visible=True) if before else gr.skip(),
            "after": gr.Video(
                value=str(showable(self.services, video)) if video else None, visible=video is not None
            ),
            "export": gr.Accordion(visible=True),
            "folder": gr.Button(visible=self.services.local),
            "saved": shown_html(results.saved_html(list(saved.values())[:1], language)),
            "files": gr.Files(value=paths, visible=bool(paths)),
            "report": shown_html(report_html(report, language) if report else ""),
        }

    def _before(self, view: JobView) -> str | None:
        path = Path(str(view.options["input"]))
        if not path.is_file():
            return None
        found = self.services.previews.of(source.probe(path))
        return str(showable(self.services, found)) if found else None

    def again(self, job_id: str, table: list[lines.Row]) -> str:
        """Dub with the edited lines, in the same job: only what changed is made again."""
        view = self.services.store.view(job_id)
        plan = lines.read_plan(view.folder) if view else None
        if view is None or plan is None:
            return job_id
        asked = self.services.ask_again(job_id, lines=lines.lines_from(table, plan))
        drafts.end(view.folder)
        return asked

    def export(self, **given: Any) -> str:
        """Make a finished dub's other files, in the same job: nothing of the dub itself is made again."""
        return self.services.ask_again(given["job_id"] or "", **exporting.options(given))


def first_choice() -> str:
    """A script that chooses the likeliest language, unless one is chosen already.

    It runs in the browser when the page opens: the server's answer could come after the user has chosen, and undo it.
    """
    likeliest = {
        language: [target, examples.target(target)] for language, target in languages.DEFAULT_TARGET.items()
    }
    return f"""(chosen) => {{
      const page = navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
      const demo = new URLSearchParams(window.location.search).get('demo') === '1';
      return chosen || {json.dumps(likeliest)}[page][demo ? 1 : 0];
    }}"""


def _demonstrating(request: gr.Request) -> bool:
    return bool(request.query_params.get("demo") == "1")


def _help(view: JobView) -> str:
    """The text above the table: what it is for now."""
    if view.error is None or view.error.get("code") != "translator-missing":
        return "ui_dub_lines_help"
    return "ui_dub_lines_by_hand" if view.options.get("translator") == "none" else "ui_dub_lines_missing"
